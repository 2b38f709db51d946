"""Which positions of two sequences belong together."""
