"""The base of all figures, and the figures of training."""
