"""Any matrix that does not change when inner nodes are renamed has the eigenspaces that InnerArcs finds."""

from itertools import permutations

import numpy as np
import pytest
from counting.sets.checks import CLOSE

from maxmargin.counting.sets.inner_arcs import InnerArcs


def renamed(n, marked, ends):
    """The order of coordinates (marked ones, ends, inner arcs) after each renaming of n nodes."""
    inner = [(u, v) for u in range(n) for v in range(n) if u != v]
    number = {arc: marked + ends * n + k for k, arc in enumerate(inner)}
    for order in permutations(range(n)):
        yield [
            *range(marked),
            *(marked + end * n + order[v] for end in range(ends) for v in range(n)),
            *(number[order[u], order[v]] for u, v in inner),
        ]


@pytest.mark.parametrize("n", range(2, 6))
@pytest.mark.parametrize(("marked", "ends"), [(0, 1), (1, 2), (2, 3), (0, 0)])
def test_all_invariant_matrices(n, marked, ends):
    start = marked + ends * n
    arcs = InnerArcs(
        n,
        list(range(marked)),
        [marked + n * k + np.arange(n) for k in range(ends)],
        np.arange(start, start + n * (n - 1)),
    )
    rng = np.random.default_rng(n)
    root = rng.normal(size=(arcs.dim, arcs.dim))
    orders = list(renamed(n, marked, ends))
    S = sum((root @ root.T)[np.ix_(order, order)] for order in orders) / len(orders)
    spaces = arcs.spectrum(lambda F: F @ S)
    eye = np.eye(arcs.dim)
    P = [space.project(eye) for space in spaces]
    np.testing.assert_allclose(sum(P), eye, **CLOSE)
    np.testing.assert_allclose(sum(space.value * part for space, part in zip(spaces, P, strict=True)), S, **CLOSE)
    for i, first in enumerate(P):
        for j, second in enumerate(P):
            np.testing.assert_allclose(first @ second, first if i == j else 0 * first, **CLOSE)
    assert len(spaces) <= marked + ends + 1 + ends + 2 + 2
