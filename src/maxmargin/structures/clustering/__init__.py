"""Clusters of items, from features of pairs of items."""
