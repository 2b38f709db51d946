"""Sums over alignments: against a list of them, on scores of all sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment.compiled import alignment_twin as twin
from structures.alignment.compiled.test_alignment import MODES, problems
from thorough import examples

from maxmargin.structures.alignment.alignment_sums import SummedAlignment
from maxmargin.structures.alignment.compiled.alignment_arrays import ScoredPair

scales = st.sampled_from([1e-8, 0.3, 1.0, 300.0, 1e8])


def summed(drawn, scale, price):
    """The drawn problem with scores of this scale, its sums, and all alignments with scores and probabilities."""
    drawn = drawn._replace(S=scale * drawn.S, of_a=scale * drawn.of_a, of_b=scale * drawn.of_b)
    right, price = (drawn.low, drawn.high), scale * price
    found = SummedAlignment(ScoredPair(*drawn.scored, *right, price, *drawn.tables), MODES.index(drawn.mode))
    listed = list(twin.alignments(*drawn.S.shape))
    S = twin.augmented(drawn.S, drawn.low, drawn.high, price)
    scores = np.array([twin.score(S, drawn.of_a, drawn.of_b, drawn.mode, pairs) for pairs in listed])
    masses = np.exp(scores - scores.max())
    return drawn, found, listed, scores.max() + np.log(masses.sum()), masses / masses.sum()


@examples(32, 80)
@given(problems(), scales, st.sampled_from([0.0, 0.7]))
def test_sums_are_those_over_all_alignments(drawn, scale, price):
    drawn, found, listed, log_z, p = summed(drawn, scale, price)
    assert found.log_z == pytest.approx(log_z, rel=1e-12, abs=1e-12)
    shares, entropy = found.spread()
    near = 1e-9 + 1e-13 * scale
    assert entropy == pytest.approx(-np.dot(p[p > 0], np.log(p[p > 0])), abs=30 * near)
    expected, used = np.zeros_like(shares), [np.zeros_like(table) for table in drawn.tables]
    for pairs, share in zip(listed, p, strict=True):
        for i, j in pairs:
            expected[i, j] += share
        for sequence, residues, place in twin.gaps(*drawn.S.shape, drawn.mode, pairs):
            for t, residue in enumerate(residues):
                used[sequence][min(t, 1), residue] += share
                used[1 - sequence][2 + min(t, 1), place] += share
    np.testing.assert_allclose(shares, expected, atol=near)
    for counted, table in zip(found.used, used, strict=True):
        np.testing.assert_allclose(counted[:4], table[:4], atol=10 * near)


@examples(8, 20)
@given(problems((3, 3)), st.sampled_from([0.3, 1e8]))
def test_alignments_are_drawn_with_their_probability(drawn, scale):
    _, found, listed, _, p = summed(drawn, scale, 0.0)
    numbers = {tuple(pairs): k for k, pairs in enumerate(listed)}
    rng, counts, n = np.random.default_rng(0), np.zeros(len(listed)), 300
    for _ in range(n):
        counts[numbers[tuple(map(tuple, found.drawn(rng).tolist()))]] += 1
    assert (np.abs(counts / n - p) <= 6 * np.sqrt(p * (1 - p) / n) + 6 / n).all()
