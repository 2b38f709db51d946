"""Solvers that come along: the best set of parts for given costs, for a dozen well-known kinds of sets."""
