"""The table against trying all matchings, the linear programs against the table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from thorough import examples

from maxmargin.counting.decoders import matching
from maxmargin.counting.decoders.matching import best_matching, matching_by_cuts, matching_by_table


def value(scores, pairs):
    ends = [v for pair in pairs for v in pair]
    assert len(set(ends)) == len(ends)
    assert all(u < v for u, v in pairs)
    return sum(scores[u, v] for u, v in pairs)


def best_value(scores, left, perfect):
    """By trying everything."""
    if not left:
        return 0.0
    u, *others = left
    values = [] if perfect else [best_value(scores, others, perfect)]
    for v in others:
        values.append(scores[u, v] + best_value(scores, [each for each in others if each != v], perfect))
    return max(values, default=-np.inf)


@st.composite
def problems(draw, most):
    """A symmetric matrix, for an even number of vertices if the matching must be perfect."""
    perfect = draw(st.booleans())
    n = draw(st.integers(1, most // 2)) * 2 if perfect else draw(st.integers(2, most))
    upper = np.triu(draw(whole((n, n), -1, 4)), 1)
    return upper + upper.T, perfect


@given(problems(7))
def test_the_table_is_as_good_as_trying_everything(problem):
    scores, perfect = problem
    assert value(scores, matching_by_table(scores, perfect)) == best_value(scores, list(range(len(scores))), perfect)


@given(problems(11))
@examples(20, 60)
def test_programs_are_as_good_as_the_table(problem):
    scores, perfect = problem
    found = matching_by_cuts(scores, perfect)
    assert found.exact
    assert value(scores, found.pairs) == value(scores, matching_by_table(scores, perfect))
    assert not perfect or 2 * len(found.pairs) == len(scores)


@pytest.mark.parametrize("perfect", [False, True])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_scale_of_scores_does_not_matter(perfect, scale):
    scores = scale * np.random.default_rng(0).normal(size=(18, 18))
    scores += scores.T
    expected = value(scores, matching_by_table(scores, perfect))
    np.testing.assert_allclose(value(scores, matching_by_cuts(scores, perfect).pairs), expected, rtol=1e-9)


def odd_rings():
    """Two triangles of good edges, bad ones between them: without odd sets all good edges would be taken by half."""
    scores = np.full((6, 6), -2.0)
    scores[:3, :3] = scores[3:, 3:] = 2.0
    return scores


@pytest.mark.parametrize(("perfect", "best"), [(False, 4.0), (True, 2.0)])
@pytest.mark.parametrize("odd_sets", [True, False])
def test_halves_are_cut_off_or_made_whole(monkeypatch, perfect, best, odd_sets):
    solved, solve = [], matching._Program.solve
    monkeypatch.setattr(
        matching._Program, "solve", lambda self, integral: solved.append(integral) or solve(self, integral)
    )
    if not odd_sets:
        monkeypatch.setattr(matching._Program, "cut_off", lambda self, x: False)
    found = matching_by_cuts(odd_rings(), perfect)
    assert solved == ([False, False] if odd_sets else [False, True])
    assert found.exact
    assert value(odd_rings(), found.pairs) == best


def test_nothing_is_worth_it():
    assert best_matching(-np.ones((30, 30)), perfect=False) == ([], True)
    assert best_matching(np.zeros((5, 5)), perfect=False) == ([], True)


def test_large_graphs_are_searched_by_programs():
    scores = np.random.default_rng(1).normal(size=(40, 40))
    scores += scores.T
    found = best_matching(scores, perfect=True)
    assert found.exact
    assert len(found.pairs) == 20
    # No exchange of two edges is better.
    for a, (u, v) in enumerate(found.pairs):
        for x, y in found.pairs[:a]:
            now = scores[u, v] + scores[x, y]
            assert now >= max(scores[u, x] + scores[v, y], scores[u, y] + scores[v, x]) - 1e-9
