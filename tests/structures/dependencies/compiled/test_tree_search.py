"""Searches against enumeration: all trees of up to five words, with one root or more, projective or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from structures.dependencies.tree_lists import all_heads, total
from thorough import examples

from maxmargin.structures.dependencies.compiled.arborescence import best_arborescence, contraction
from maxmargin.structures.dependencies.compiled.eisner import best_projective, span_scores
from maxmargin.structures.dependencies.heads import first_crossing

SCALES = [1e-8, 1e-3, 1.0, 1e3, 1e8]


def found_heads(scores, single_root, projective, room=0):
    """What the kernels find, with scratch for `room` more words."""
    n = len(scores) - 1
    scratch = (span_scores if projective else contraction)(n + room)
    scratch.scores[: n + 1, : n + 1] = scores
    heads = np.empty(n, dtype=np.int32)
    (best_projective if projective else best_arborescence)(n, single_root, scratch, heads)
    return tuple(heads.tolist())


@st.composite
def tables(draw):
    n = draw(st.integers(1, 5))
    if draw(st.booleans()):  # whole numbers have ties
        return draw(arrays(float, (n + 1, n + 1), elements=st.integers(-3, 3).map(float)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scales = draw(st.lists(st.sampled_from(SCALES), min_size=1, max_size=2))  # small and large ones in one table
    return rng.standard_normal((n + 1, n + 1)) * rng.choice(scales, (n + 1, n + 1))


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
@examples(100, 1000)
@given(scores=tables(), room=st.integers(0, 2))
def test_no_tree_is_better(scores, single_root, projective, room):
    listed = all_heads(len(scores) - 1, single_root, projective)
    heads = found_heads(scores, single_root, projective, room)
    assert heads in listed
    best = max(total(scores, each) for each in listed)
    assert total(scores, heads) == pytest.approx(best, rel=1e-12, abs=1e-13 * np.abs(scores).max())


@pytest.mark.parametrize("n", [10, 30, 60])
@pytest.mark.parametrize("single_root", [False, True])
def test_longer_sentences_against_linear_programs(n, single_root):
    """A flow from the root to every word needs arcs: the program of Magnanti and Wolsey, whose corners are trees."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    if n > 10:
        n = n // 3  # n³ variables
    rng = np.random.default_rng(n)
    scores = rng.standard_normal((n + 1, n + 1))
    arcs = [(h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m]
    number = {arc: k for k, arc in enumerate(arcs)}
    n_arcs, flow = len(arcs), lambda k, arc: len(arcs) * k + number[arc]  # commodity k = 1 … n, after the arcs
    equal, below = [], []
    rights = []
    for m in range(1, n + 1):
        equal += [(len(rights), number[h, m], 1.0) for h in range(n + 1) if h != m]
        rights.append(1.0)
    if single_root:
        equal += [(len(rights), number[0, m], 1.0) for m in range(1, n + 1)]
        rights.append(1.0)
    for k in range(1, n + 1):
        for v in range(1, n + 1):
            equal += [(len(rights), flow(k, arc), 1.0 if arc[1] == v else -1.0) for arc in arcs if v in arc]
            rights.append(1.0 if v == k else 0.0)
        below += [((k - 1) * n_arcs + number[arc], flow(k, arc), 1.0) for arc in arcs]
        below += [((k - 1) * n_arcs + number[arc], number[arc], -1.0) for arc in arcs]
    size = n_arcs * (n + 1)

    def matrix(entries, rows):
        i, j, values = zip(*entries, strict=True)
        return coo_array((values, (i, j)), shape=(rows, size)).tocsr()

    costs = np.zeros(size)
    costs[:n_arcs] = [-scores[arc] for arc in arcs]
    solved = linprog(costs, matrix(below, n * n_arcs), np.zeros(n * n_arcs), matrix(equal, len(rights)), rights)
    assert total(scores, found_heads(scores, single_root, False)) == pytest.approx(-solved.fun, rel=1e-7)


@given(st.data())
def test_crossings_are_what_projective_trees_have_not(data):
    n = data.draw(st.integers(1, 5))
    heads = data.draw(st.sampled_from(all_heads(n, False)))
    assert (first_crossing(heads) is None) == (heads in all_heads(n, False, True))
