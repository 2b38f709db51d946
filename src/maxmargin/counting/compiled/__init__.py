"""Compiled inner loops of the decoders."""
