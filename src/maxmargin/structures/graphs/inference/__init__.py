"""The best labelling of a graph with scores of nodes and edges: one file per method."""
