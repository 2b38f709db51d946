"""Searches for the best output, as functions of arrays."""
