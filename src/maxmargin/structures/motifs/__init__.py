"""Motifs of unknown place in strings."""
