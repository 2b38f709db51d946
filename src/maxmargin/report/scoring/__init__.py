"""Scores of predictions that several structures share."""
