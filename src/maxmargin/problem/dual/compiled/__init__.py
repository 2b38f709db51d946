"""Compiled inner loops over dual points."""
