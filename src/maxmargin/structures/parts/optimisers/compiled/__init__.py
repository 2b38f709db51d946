"""Compiled searches for all rows of a matrix of costs in one call."""
