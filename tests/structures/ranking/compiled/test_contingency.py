import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.ranking.compiled import contingency_twin as twin
from thorough import examples

from maxmargin.problem.dual.objective import Formulation
from maxmargin.structures.ranking.compiled.contingency import (
    cumulate,
    table_differences,
    top_of_line,
    violation,
    worst_in_rows,
    worst_on_lines,
)
from maxmargin.structures.ranking.contingency_batch import SampleLines

KINDS = [(False, False), (True, False), (False, True), (True, True)]  # slack, squared
kinds = pytest.mark.parametrize(("slack", "squared"), KINDS)
quarters = st.integers(0, 8).map(lambda value: value / 4)


@st.composite
def samples(draw, most=8, least=0):
    """Scores of positive and of negative examples, each from high to low; some so large that slack has no violation."""
    scale = draw(st.sampled_from([0.25, 1.0]))
    return tuple(np.sort(draw(whole(draw(st.integers(least, most)), -4, 4)))[::-1] * scale for _ in range(2))


def sums(positive, negative):
    lost, won = np.empty(len(positive) + 1), np.empty(len(negative) + 1)
    cumulate(np.concatenate([positive, negative]), len(positive), lost, won)
    return lost, won


@given(samples())
def test_cumulated_scores(drawn):
    positive, negative = drawn
    lost, won = sums(positive, negative)
    for a, b in twin.tables(positive, negative):
        assert lost[a] + won[b] == -twin.margin(positive, negative, a, b)


@kinds
@given(loss=quarters, h=st.integers(-8, 8).map(float), lam=quarters)
def test_violation(slack, squared, loss, h, lam):
    assert violation(loss, h, lam, slack, squared) == twin.violation(loss, -h, lam, slack, squared)
    formulation = Formulation("slack" if slack else "margin", "l2" if squared else "l1")
    assert violation(loss, h, 1.0, slack, squared) == formulation.value(loss, -h)


@kinds
@examples(40, 150)
@given(drawn=samples(most=12), data=st.data())
def test_top_of_a_line(slack, squared, drawn, data):
    """From any guess, for any m and any loss that is linear along the line."""
    positive, negative = drawn
    P, Q = map(len, drawn)
    m = data.draw(st.integers(0, P + Q))
    alpha, beta = data.draw(st.just(0.0) | quarters), data.draw(quarters)
    lam = data.draw(quarters) if not slack else 1.0
    low, high = max(0, m - Q), min(m, P)
    losses = {(a, m - a): alpha + beta * (high - a) for a in range(low, high + 1)}
    lost, won = sums(positive, negative)
    best = twin.best_violation(positive, negative, losses, lam, slack, squared)
    for guess in range(-1, P + 2):
        a = top_of_line(low, high, guess, m, alpha, beta, lost, won, lam, slack, squared)
        assert low <= a <= high
        found = twin.violation(losses[a, m - a], twin.margin(positive, negative, a, m - a), lam, slack, squared)
        if not slack or best > 0:  # below 0 the truth is the better candidate
            assert found == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("squared", [False, True])
def test_way_back_from_where_nothing_is_violated(squared):
    """Slack rescaling: at a = 2, 3, 4 the products are -2, -2, 0, but at a = 0 it is 4."""
    lost, won = sums(np.ones(8), np.full(5, 2.0))
    for guess in range(6):
        assert top_of_line(0, 4, guess, 4, 0.0, 1.0, lost, won, 1.0, True, squared) == 0


@kinds
@examples(20, 40)
@given(groups=st.lists(samples(least=1, most=6), min_size=1, max_size=3), data=st.data())
def test_worst_on_lines(slack, squared, groups, data):
    """Several groups with a few lines each, of which some may have none."""
    sizes, alpha, beta, line_bounds, losses = [], [], [], [0], []
    for positive, negative in groups:
        n, losses_here = len(positive) + len(negative), {}
        for m in sorted(data.draw(st.sets(st.integers(0, n), max_size=5))):
            sizes.append(m)
            alpha.append(data.draw(quarters))
            beta.append(data.draw(quarters))
            for a in range(max(0, m - len(negative)), min(m, len(positive)) + 1):
                losses_here[a, m - a] = alpha[-1] + beta[-1] * (min(m, len(positive)) - a)
        line_bounds.append(len(sizes))
        losses.append(losses_here)
    scores = np.concatenate([np.concatenate(group) for group in groups])
    bounds = np.append(0, np.cumsum([len(p) + len(q) for p, q in groups]))
    positives = np.array([len(p) for p, _ in groups])
    lam = np.array([1.0 if slack else data.draw(quarters) for _ in groups])
    n, scratch = len(groups), np.diff(bounds).max() + 1
    tp, fp, loss = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    of_lines = np.array(sizes, dtype=np.int64), np.array(alpha, dtype=float), np.array(beta, dtype=float)
    lines = SampleLines(np.array(line_bounds), *of_lines, np.zeros(n, dtype=np.int64), np.zeros(n))
    sums_of_scores = np.empty(scratch), np.empty(scratch)
    worst_on_lines(scores, bounds, positives, lines, lam, slack, squared, *sums_of_scores, tp, fp, loss)
    for g, (positive, negative) in enumerate(groups):
        own = twin.margin(positive, negative, tp[g], fp[g])
        best = max(0.0, twin.best_violation(positive, negative, losses[g], lam[g], slack, squared))
        assert twin.violation(loss[g], own, lam[g], slack, squared) == pytest.approx(best, abs=1e-12)
        truth = (tp[g], fp[g]) == (len(positive), 0)
        assert loss[g] == losses[g].get((tp[g], fp[g]), None) or (truth and loss[g] == 0)


@kinds
@examples(20, 40)
@given(drawn=samples(least=1, most=5), data=st.data())
def test_worst_in_rows(slack, squared, drawn, data):
    """A table in two pieces, with any losses."""
    positive, negative = drawn
    P, Q = map(len, drawn)
    table = data.draw(whole((P + 1, Q + 1), 0, 8)) / 4
    lam = 1.0 if slack else data.draw(quarters)
    cut = data.draw(st.integers(0, P + 1))
    lost, won = sums(positive, negative)
    best, at = np.zeros(1), np.array([P, 0])
    worst_in_rows(table[:cut], 0, lam, slack, squared, lost, won, best, at)
    worst_in_rows(table[cut:], cut, lam, slack, squared, lost, won, best, at)
    losses = {(a, b): table[a, b] for a, b in twin.tables(positive, negative)}
    expected = max(0.0, twin.best_violation(positive, negative, losses, lam, slack, squared))
    assert best[0] == pytest.approx(expected, abs=1e-12)
    if best[0] > 0:
        own = twin.margin(positive, negative, *at)
        assert twin.violation(table[tuple(at)], own, lam, slack, squared) == pytest.approx(best[0], abs=1e-12)


@given(st.lists(samples(most=4), min_size=1, max_size=3), st.data())
def test_differences_of_tables(groups, data):
    bounds = np.append(0, np.cumsum([len(p) + len(q) for p, q in groups]))
    rows = data.draw(st.permutations(range(int(bounds[-1]))))
    positives = np.array([len(p) for p, _ in groups])
    tp = np.array([data.draw(st.integers(0, len(p))) for p, _ in groups])
    fp = np.array([data.draw(st.integers(0, len(q))) for _, q in groups])
    found = int(np.sum(positives - tp + fp))
    indptr, indices, values = (
        np.zeros(len(groups) + 1, dtype=np.int32),
        np.empty(found, dtype=np.int32),
        np.empty(found),
    )
    table_differences(np.array(rows, dtype=np.int64), bounds, positives, tp, fp, 0.5, indptr, indices, values)
    assert indptr[-1] == found
    for g in range(len(groups)):
        own = slice(indptr[g], indptr[g + 1])
        first = bounds[g] + positives[g]
        missed = {rows[i]: 0.5 for i in range(bounds[g] + tp[g], first)}
        false = {rows[j]: -0.5 for j in range(first, first + fp[g])}
        assert dict(zip(indices[own].tolist(), values[own].tolist(), strict=True)) == missed | false
