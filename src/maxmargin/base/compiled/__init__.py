"""The decorator of compiled functions and the instructions that they share; importing these modules imports numba."""
