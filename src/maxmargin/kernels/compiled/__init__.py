"""Compiled inner loops of the kernel dual."""
