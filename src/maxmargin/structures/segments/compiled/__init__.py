"""Compiled searches and sums over segmentations."""
