"""Inputs that several structures share: labels, tokens, matrices, file readers and packed data."""
