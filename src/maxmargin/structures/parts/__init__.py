"""Sets of scored parts, with a decoder of the user's own: trees, matchings, paths, any optimiser."""
