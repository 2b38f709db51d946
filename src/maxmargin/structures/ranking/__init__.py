"""Rows of a sample, labelled or ordered for a measure of the whole sample."""
