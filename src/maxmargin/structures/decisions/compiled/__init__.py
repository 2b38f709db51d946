"""Compiled inner loops of decisions."""
