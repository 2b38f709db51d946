from itertools import product

import numpy as np
from counting.graph_strategies import rooted_digraphs
from counting.sets.checks import CLOSE
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.matrix_tree import TreeLaw, unreachable


def trees(n, tails, heads):
    """All trees as rows of arcs: one arc into every node but 0, without a cycle."""
    entering = [np.flatnonzero(heads == m) for m in range(1, n)]
    for chosen in product(*entering):
        if not unreachable(n, tails[list(chosen)], heads[list(chosen)]):
            row = np.zeros(len(tails))
            row[list(chosen)] = 1.0
            yield row


def arrays(arcs):
    return np.array(arcs, dtype=np.intp).reshape(-1, 2).T


@given(rooted_digraphs(), st.data())
def test_moments_of_weighted_trees(digraph, data):
    n, arcs = digraph
    arcs = [*arcs, *((v, 0) for v in data.draw(st.sets(st.integers(1, n - 1))))]  # into the root: in no tree
    tails, heads = arrays(arcs)
    weights = np.array(data.draw(st.lists(st.integers(1, 6), min_size=len(arcs), max_size=len(arcs)))) / 3
    rows = np.array(list(trees(n, tails, heads)))
    p = np.prod(np.where(rows > 0, weights, 1.0), axis=1)
    law = TreeLaw(n, tails, heads, weights)
    np.testing.assert_allclose(law.log_total, np.log(p.sum()), **CLOSE)
    p /= p.sum()
    mean = p @ rows
    np.testing.assert_allclose(law.mean(), mean, **CLOSE)
    expected = (rows - mean).T @ ((rows - mean) * p[:, None])
    np.testing.assert_allclose(law.cov_apply(np.eye(len(arcs))), expected, **CLOSE)


def test_many_rows_are_worked_on_in_parts(monkeypatch):
    tails, heads = arrays([(0, 1), (0, 2), (1, 2), (2, 1)])
    F = np.random.default_rng(0).normal(size=(7, 4))
    at_once = TreeLaw(3, tails, heads).cov_apply(F)
    monkeypatch.setattr("maxmargin.counting.sets.matrix_tree.CELLS", 20)
    np.testing.assert_allclose(TreeLaw(3, tails, heads).cov_apply(F), at_once, rtol=1e-12)


def test_samples_follow_the_weights():
    tails, heads = arrays([(0, 1), (0, 2), (1, 2), (2, 1)])
    law = TreeLaw(3, tails, heads, np.array([1.0, 2.0, 3.0, 4.0]))
    rng, counts = np.random.default_rng(0), {}
    for _ in range(3000):
        tree = tuple(law.sample(rng).tolist())
        counts[tree] = counts.get(tree, 0) + 1
    expected = {(0, 1): 1 * 2 / 13, (0, 2): 1 * 3 / 13, (3, 1): 4 * 2 / 13}
    assert counts.keys() == expected.keys()
    for tree, p in expected.items():
        assert abs(counts[tree] - 3000 * p) < 5 * np.sqrt(3000 * p * (1 - p))


def test_what_cannot_be_reached():
    assert unreachable(5, *arrays([(0, 2), (2, 3), (1, 3), (4, 0)])) == [1, 4]
    assert unreachable(2, *arrays([])) == [1]
