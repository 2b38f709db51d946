from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import whole
from structures.ranking.compiled import ranking_twin as twin
from thorough import examples

from maxmargin.structures.ranking.compiled.ranking import (
    insertion_gain,
    swap_for_average_precision,
    swap_for_gains,
    swap_pairs,
)
from maxmargin.structures.ranking.gain_batch import GainScratch
from maxmargin.structures.ranking.orders import discounts


class Queries(NamedTuple):
    """Rows in segments, the highest level first, each sorted by score."""

    sizes: list[list[int]]  # rows per segment, per query
    scores: np.ndarray
    segments: np.ndarray
    segment_bounds: np.ndarray
    lam: np.ndarray

    def each(self):
        """Of every query the slice of its rows, their levels and scores."""
        end = 0
        for sizes in self.sizes:
            rows = slice(end, end + sum(sizes))
            end = rows.stop
            yield rows, [-s for s, size in enumerate(sizes) for _ in range(size)], self.scores[rows].tolist()

    @property
    def pairs(self):
        return np.array([len(twin.swapped_pairs(levels, scores, 0.0)[0]) for _, levels, scores in self.each()], float)


@st.composite
def queries(draw, most_rows=4, most_segments=3):
    """Queries of one segment are those without pairs."""
    sizes = draw(
        st.lists(st.lists(st.integers(1, most_rows), min_size=1, max_size=most_segments), min_size=1, max_size=3)
    )
    lengths = [length for own in sizes for length in own]
    scores = [np.sort(draw(whole(length, -4, 4)))[::-1] / 2 for length in lengths]
    lam = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(sizes), max_size=len(sizes)))
    segments = np.append(0, np.cumsum(list(map(len, sizes))))
    return Queries(sizes, np.concatenate(scores), segments, np.append(0, np.cumsum(lengths)), np.array(lam))


@given(queries(), st.data())
def test_swapped_pairs(drawn, data):
    n, total = len(drawn.sizes), len(drawn.scores)
    weights = data.draw(whole(total, 1, 3)) if data.draw(st.booleans()) else np.ones(total)
    weighted = [
        sum(weights[rows][i] * weights[rows][j] for i, j in twin.swapped_pairs(levels, scores, 0.0)[0])
        for rows, levels, scores in drawn.each()
    ]
    found = np.zeros(total), np.empty(total), np.empty(n), np.empty(n)
    none, same, weighted = np.zeros(n, dtype=np.int64), np.zeros(0), np.array(weighted, float)
    swap_pairs(drawn.lam, none, drawn.scores, weights, same, drawn.segments, drawn.segment_bounds, weighted, *found)
    coefficients, _, losses, margins = found
    for g, (rows, levels, scores) in enumerate(drawn.each()):
        _, below, _ = twin.swapped_pairs(levels, scores, drawn.lam[g])
        share = weighted[g] or 1.0
        own = weights[rows]
        expected = twin.coefficients(len(scores), below, own)
        np.testing.assert_allclose(coefficients[rows], np.array(expected) / share, atol=1e-12)
        assert losses[g] == pytest.approx(sum(own[i] * own[j] for i, j in below) / share)
        assert margins[g] == pytest.approx(twin.margin(scores, below, own) / share, abs=1e-12)


@given(queries(), st.data())
def test_some_of_the_tied_pairs_are_swapped(drawn, data):
    n, total, pairs = len(drawn.sizes), len(drawn.scores), drawn.pairs
    tied = [twin.swapped_pairs(levels, s, drawn.lam[g])[2] for g, (_, levels, s) in enumerate(drawn.each())]
    ties = np.array([data.draw(st.integers(0, len(each))) for each in tied], dtype=np.int64)
    coefficients, losses, margins = np.zeros(total), np.empty(n), np.empty(n)
    ones, marks = np.ones(total), np.empty(total)
    swap_pairs(
        drawn.lam, ties, drawn.scores, ones, np.zeros(0), drawn.segments, drawn.segment_bounds, pairs,
        coefficients, marks, losses, margins,
    )  # fmt: skip
    for g, (rows, levels, scores) in enumerate(drawn.each()):
        _, below, _ = twin.swapped_pairs(levels, scores, drawn.lam[g])
        share, units = pairs[g] or 1.0, [1.0] * len(scores)
        assert losses[g] == pytest.approx((len(below) + ties[g]) / share)
        expected = (twin.margin(scores, below, units) + ties[g] * drawn.lam[g]) / share
        assert margins[g] == pytest.approx(expected, abs=1e-12)
        # which of the tied pairs does not matter; that the coefficients are those of as many swaps does
        assert coefficients[rows] @ scores == pytest.approx(expected, abs=1e-12)
        assert coefficients[rows].sum() == pytest.approx(0, abs=1e-12)
        more = coefficients[rows] * share - twin.coefficients(len(scores), below, units)
        assert more.clip(0).sum() <= ties[g] + 1e-9
        if ties[g] == len(tied[g]):
            every = twin.coefficients(len(scores), below + tied[g], units)
            np.testing.assert_allclose(coefficients[rows] * share, every, atol=1e-9)


@given(queries(), st.data(), st.sampled_from([1e-8, 1.0, 1e8]))
def test_pairs_weighed_by_gains(drawn, data, scale):
    """Whatever the scale of gains and scores; a difference of gains is the weight of a pair, and its margin."""
    n, total = len(drawn.sizes), len(drawn.scores)
    weights = data.draw(whole(total, 1, 3))
    gains = [np.sort(data.draw(st.permutations(range(8)))[: len(own)])[::-1] * scale for own in drawn.sizes]
    pairs, expected = [], []
    for g, (rows, _, scores) in enumerate(drawn.each()):
        of_rows = np.repeat(gains[g], drawn.sizes[g])
        pairs.append(twin.weight_of_gains(of_rows, weights[rows]))
        expected.append(twin.swapped_by_gains(of_rows, [s * scale for s in scores], weights[rows], drawn.lam[g]))
    coefficients, marks, losses, margins = np.zeros(total), np.empty(total), np.empty(n), np.empty(n)
    swap_pairs(
        drawn.lam, np.zeros(n, dtype=np.int64), drawn.scores * scale, weights, np.concatenate(gains), drawn.segments,
        drawn.segment_bounds, np.array(pairs, float), coefficients, marks, losses, margins,
    )  # fmt: skip
    for g, (rows, _, _) in enumerate(drawn.each()):
        share, (own, loss, margin) = pairs[g] or 1.0, expected[g]
        np.testing.assert_allclose(coefficients[rows], np.array(own) / share, atol=1e-12)
        assert losses[g] == pytest.approx(loss / share, rel=1e-12)
        assert margins[g] == pytest.approx(margin / share, rel=1e-12, abs=1e-12 * scale)


@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_gain_of_an_insertion(R, N, data):
    relevant = np.sort(data.draw(whole(R, -4, 4)))[::-1]
    suffix = np.append(0.0, np.append(np.cumsum(relevant[::-1])[::-1], 0.0))  # from 1 to R + 1
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, R + N + 1)))
    lam, score = data.draw(st.sampled_from([0.0, 0.5, 1.0])), float(data.draw(st.integers(-4, 4)))
    for j in range(1, N + 1):
        for k in range(1, R + 2):
            expected = twin.insertion_gain(j, k, relevant, score, N, lam)
            assert insertion_gain(j, k, R, N, lam, score, suffix, harmonic) == pytest.approx(expected, abs=1e-12)


def assert_worst(drawn, coefficients, losses, loss_of, exact=1e-9):
    """The ranking found violates as much as any that keeps rows of a level by score, and has the loss it says."""
    for g, (rows, levels, scores) in enumerate(drawn.each()):
        heights = [0.0]
        units = [1.0] * len(scores)
        known = []
        if len(drawn.sizes[g]) > 1:
            for order in twin.interleavings(drawn.sizes[g]):
                pairs, swapped = twin.swapped_by(levels, order)
                loss = loss_of(g, order)
                heights.append(drawn.lam[g] * loss - twin.margin(scores, swapped, units) / len(pairs))
                known.append([*(np.array(twin.coefficients(len(scores), swapped, units)) / len(pairs)), loss])
        else:
            known.append([0.0] * (len(scores) + 1))
        found = drawn.lam[g] * losses[g] - coefficients[rows] @ scores
        assert found == pytest.approx(max(heights), abs=exact)
        away = np.abs(np.array(known) - [*coefficients[rows], losses[g]]).max(axis=1)
        assert away.min() < exact  # it is a ranking, and its loss is right


@examples(33, 100)
@given(queries(most_segments=2))
def test_average_precision(drawn):
    longest = max(map(sum, drawn.sizes))
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, longest + 1)))
    coefficients, losses = np.zeros(len(drawn.scores)), np.empty(len(drawn.sizes))
    suffix, above = np.empty(longest + 2), np.empty(longest + 2, dtype=np.int64)
    swap_for_average_precision(
        drawn.lam, drawn.scores, drawn.segments, drawn.segment_bounds, harmonic, suffix, above, coefficients, losses
    )

    def loss_of(g, order):
        return 1 - twin.average_precision([row < drawn.sizes[g][0] for row in order])

    assert_worst(drawn, coefficients, losses, loss_of)


@examples(33, 100)
@given(queries(most_rows=3), st.sampled_from([None, 1, 2, 4, 20]), st.data())
def test_gains(drawn, k, data):
    """Levels need not follow each other: any falling gains, the last of which may be 0."""
    n, total = len(drawn.sizes), len(drawn.scores)
    gains, ideal = [], []
    for sizes in drawn.sizes:
        levels = sorted(data.draw(st.sets(st.integers(0, 5), min_size=len(sizes), max_size=len(sizes))), reverse=True)
        levels[0] = max(levels[0], 1)
        ideal.append(
            twin.dcg([2.0**level - 1 for level, size in zip(levels, sizes, strict=True) for _ in range(size)], k)
        )
        gains.append([(2.0**level - 1) / ideal[-1] for level in levels])
    states = max(int(np.prod(np.array(sizes) + 1)) for sizes in drawn.sizes)
    most = max(map(len, drawn.sizes))
    coefficients, losses = np.zeros(total), np.empty(n)
    given, paid = (drawn.lam, drawn.scores, drawn.segments), discounts(max(map(sum, drawn.sizes)), k)
    scratch = GainScratch.of(total, most, states)
    swap_for_gains(
        *given, drawn.segment_bounds, drawn.pairs, np.concatenate(gains), paid, scratch, coefficients, losses
    )

    def loss_of(g, order):
        of_rows = [gain for gain, size in zip(gains[g], drawn.sizes[g], strict=True) for _ in range(size)]
        return 1 - twin.dcg([of_rows[row] for row in order], k)

    assert_worst(drawn, coefficients, losses, loss_of)
