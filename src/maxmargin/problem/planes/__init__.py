"""Cutting planes: how they are stored and how large they are."""
