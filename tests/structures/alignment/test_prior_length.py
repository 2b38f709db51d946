"""How long a published matrix is as a prior: against a fine grid, at any scale, and where nothing helps."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

import maxmargin as mm
from maxmargin.structures.alignment.prior_length import POWERS, gained, with_best_length
from maxmargin.tasks import Alignment

PAIRS, ALIGNED = mm.datasets.mutated_pairs(12, length=20, seed=0)


def packed(Y=ALIGNED):
    task = Alignment("global")
    return task.setup_and_pack(PAIRS, Y)


def usual(batch, scale=1.0):
    """5 for equal letters, -4 for others; gaps cost 10 and 1."""
    model = mm.Aligner.from_matrix(np.where(np.eye(4), 5.0, -4.0), 10.0, 1.0, "global", alphabet="ACGT")
    return scale * model.w_


def test_no_multiple_is_better_but_those_between_two_powers():
    batch = packed()
    w = usual(batch)
    found = gained(with_best_length(w, batch), batch)
    assert found > 0
    between = max(gained(t * w, batch) for t in np.geomspace(2.0 ** POWERS[0], 2.0 ** POWERS[-1], 200) / 10)
    powers = max(gained(2.0**k * w / 10, batch) for k in POWERS)
    assert found == powers
    assert found <= between <= 1.5 * found


def test_gains_are_those_of_hinges_by_enumeration():
    X, Y = [("ACG", "AG"), ("CA", "CCA")], [[(0, 0), (2, 1)], [(0, 1), (1, 2)]]
    task = Alignment("global", alphabet="ACGT")
    batch = task.setup_and_pack(X, Y)
    w = 0.1 * mm.Aligner.from_matrix(np.where(np.eye(4), 5.0, -4.0), 10.0, 1.0, "global", alphabet="ACGT").w_

    def score(x, z):
        places, values = task.psi(x, z)
        return np.dot(w[places], values)

    hinges = [
        max(task.loss(y, z) + score(x, z) for z in task.outputs(x)) - score(x, y) for x, y in zip(X, Y, strict=True)
    ]
    assert gained(w, batch) == pytest.approx(sum(max(0.0, 1.0 - h) for h in hinges))


@given(st.integers(-26, 26))
@examples(5, 10)
def test_the_scale_of_a_matrix_does_not_matter(k):
    batch = packed()
    np.testing.assert_array_equal(with_best_length(usual(batch, 2.0**k), batch), with_best_length(usual(batch), batch))


def test_a_prior_that_contradicts_all_pairs_is_left_alone_and_said():
    batch = packed()
    w = -usual(batch)
    with pytest.warns(UserWarning, match="any scale, so"):
        np.testing.assert_array_equal(with_best_length(w, batch), w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(with_best_length(0 * w, batch), 0 * w)


def test_learnt_scores_keep_their_length():
    first = mm.Aligner("global", max_passes=20, random_state=0).fit(PAIRS, ALIGNED)
    given_one = mm.Aligner("global", prior=first, C=1e-9).fit(PAIRS, ALIGNED)
    np.testing.assert_allclose(given_one.w_, first.w_, atol=1e-6)
