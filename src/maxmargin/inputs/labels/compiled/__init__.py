"""Compiled inner loops over labelled units."""
