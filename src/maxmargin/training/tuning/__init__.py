"""Choosing C by cross-validation along warm-started paths."""
