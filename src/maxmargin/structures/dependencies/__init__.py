"""Dependency trees: the head of every word of a sentence, with a label or without."""
