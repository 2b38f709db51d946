"""Alignment of two sequences: which of their positions correspond."""
