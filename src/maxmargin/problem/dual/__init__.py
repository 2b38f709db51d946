"""The objective, its dual points, and the geometry of the weights."""
