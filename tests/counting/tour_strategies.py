"""Whole-numbered scores of arcs, with ties, and cycles over some of the nodes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from strategies import whole


def squares(least: int, most: int) -> st.SearchStrategy:
    """(n, n) matrices with a zero diagonal."""
    return st.integers(least, most).flatmap(lambda n: whole((n, n)).map(lambda W: W * (1 - np.eye(n))))


@st.composite
def started(draw, least=2, most=7, shortest=2):
    """Scores, bounds on the length of cycles and one of these cycles."""
    W = draw(squares(max(least, shortest), most))
    bounds = sorted(draw(st.lists(st.integers(shortest, len(W)), min_size=2, max_size=2)))
    size = draw(st.integers(*bounds))
    cycle = draw(st.permutations(range(len(W))))[:size]
    return W, bounds[0], bounds[1], cycle
