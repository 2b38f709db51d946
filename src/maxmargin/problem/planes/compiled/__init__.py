"""Compiled inner loops over rows of atoms."""
