"""Chu, Liu and Edmonds' algorithm against trying every choice of heads."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole

from maxmargin.counting.decoders.arborescence import best_heads


def is_tree(heads):
    for node in range(1, len(heads) + 1):
        for _ in range(len(heads)):
            node = heads[node - 1] if node else 0
        if node:
            return False
    return True


def value(scores, heads):
    return sum(scores[head, node] for node, head in enumerate(heads, start=1))


def best_value(scores):
    n = len(scores)
    return max(value(scores, heads) for heads in product(range(n), repeat=n - 1) if is_tree(heads))


@given(st.integers(2, 5).flatmap(lambda n: whole((n, n))))
def test_as_good_as_every_choice(scores):
    heads = best_heads(scores)
    assert is_tree(heads)
    assert value(scores, heads) == best_value(scores)


@given(st.data())
def test_missing_arcs_are_not_taken(data):
    n = data.draw(st.integers(2, 5))
    scores = np.where(data.draw(whole((n, n), 0, 1)) > 0, data.draw(whole((n, n))), -np.inf)
    for node in range(1, n):  # a tree there is
        scores[data.draw(st.integers(0, node - 1)), node] = data.draw(st.integers(-3, 3))
    heads = best_heads(scores)
    assert is_tree(heads)
    assert value(scores, heads) == best_value(scores) > -np.inf


def test_cycles_in_cycles():
    n = 41  # every node likes its neighbours best, the nearer the root the less: contraction after contraction
    scores = np.full((n, n), -1000.0)
    for node in range(1, n - 1):
        scores[node, node + 1], scores[node + 1, node] = node, node
    scores[0, 1:] = -(np.arange(1.0, n) ** 2)
    heads = best_heads(scores)
    assert is_tree(heads)
    # The root has one node only; from it all others follow along the line, at the same price wherever it is.
    by_root = [scores[0, r] + sum(range(1, n - 1)) for r in range(1, n)]
    assert value(scores, heads) == max(by_root)


def test_scores_are_not_changed():
    scores = np.random.default_rng(0).normal(size=(6, 6))
    before = scores.copy()
    best_heads(scores)
    np.testing.assert_array_equal(scores, before)
