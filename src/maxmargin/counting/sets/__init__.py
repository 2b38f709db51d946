"""Output sets whose moments are known in closed form, one family per file."""
