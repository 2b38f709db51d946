"""One class of several: alone, in a taxonomy, in an order."""
