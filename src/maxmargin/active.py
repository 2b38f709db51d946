"""Active learning: which sequences to label next."""

from maxmargin.training.next_to_label import next_to_label

__all__ = ["next_to_label"]
