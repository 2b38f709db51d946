"""Compiled inner loops of charts."""
