"""Checkpoints: an interrupted fit continues, and ends with the same model to the last bit."""
