"""Labelled segments of sequences."""
