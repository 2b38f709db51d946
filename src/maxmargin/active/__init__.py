"""Active learning: which sequences to label next."""

from maxmargin.active.next_to_label import next_to_label

__all__ = ["next_to_label"]
