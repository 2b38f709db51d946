"""What cky_counts.py can count of a derivation. Not a kernel, so that it can be read without compiling anything."""

BRACKETS, HAMMING, ZERO_ONE, K_BEST = range(4)
