"""Checkpoints: a fit that was stopped goes on, and ends with the same model to the last bit."""
