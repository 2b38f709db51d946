"""Kinds of counts that cky_counts.py can keep. They have a file of their own, so that reading them compiles nothing."""

BRACKETS, HAMMING, ZERO_ONE, K_BEST = range(4)
