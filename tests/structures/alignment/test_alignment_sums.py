"""Sums over alignments: against enumeration, for all modes, gaps and features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures.alignment.test_task import FEATURES, MODES, RICH, X, Y, problems
from thorough import examples

from maxmargin.problem.contract.tangents import Softness
from maxmargin.structures.alignment.substitution import PairFeatures
from maxmargin.tasks import Alignment, Gaps
from maxmargin.testing import check_sums

modes = pytest.mark.parametrize("mode", MODES)


class Signed(PairFeatures):
    """A map of one's own, with no more than the three methods that it needs."""

    size = 2

    def fit(self, X, columns, symmetric):
        pass

    def scores(self, w, code):
        return sum(w[k] * self.each(code)[k] for k in range(2))

    def counts(self, code, pairs):
        return np.array([each[pairs[:, 0], pairs[:, 1]].sum() for each in self.each(code)])

    def each(self, x):
        same = np.array([[float(a == b) for b in x[1]["residue"]] for a in x[0]["residue"]])
        return [same, -2.0 * np.ones_like(same)]


@modes
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_sums_are_those_over_all_alignments(mode, scale):
    check_sums(Alignment(mode=mode), X, Y, trials=1, scale=scale, samples=30 if scale == 1 else 0)


@modes
@pytest.mark.parametrize("gaps", ["linear", Gaps("affine", "residue", "residue")], ids=str)
def test_sums_with_other_gaps(mode, gaps):
    check_sums(Alignment(mode=mode, gaps=gaps, symmetric=mode != "local", max_shift=1), X, Y, trials=1, samples=0)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("features", [*FEATURES.values(), Signed()], ids=[*FEATURES, "own"])
def test_sums_with_other_features(features, symmetric):
    check_sums(Alignment(features=features, symmetric=symmetric), RICH[:3], Y[:3], trials=1, samples=0)


@examples(6, 15)
@given(problems(), st.floats(-8, 8))
def test_sums_on_anything(problem, log_scale):
    check_sums(*problem, trials=1, scale=10.0**log_scale, samples=0)


def test_marginals_are_those_of_all_alignments():
    task = Alignment("overlap")
    task.setup(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    for x, found in zip(X, task.sums(w, X).marginals(), strict=True):
        listed = list(task.outputs(x))
        p = np.exp(task.sums(w, [x] * len(listed)).log_probabilities(listed))
        expected = np.zeros_like(found)
        for z, share in zip(listed, p, strict=True):
            expected[z.pairs[:, 0], z.pairs[:, 1]] += share
        np.testing.assert_allclose(found, expected, atol=1e-12)
    with pytest.raises(ValueError, match="5 pairs of sequences but 1 alignments"):
        task.sums(w, X).log_probabilities(Y[:1])


def test_parts_of_a_batch_have_the_tangents_of_the_whole():
    task = Alignment("local")
    batch = task.setup_and_pack(X, Y)
    w, weights = np.random.default_rng(0).standard_normal(task.dim), np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    whole, parts = np.zeros((2, task.dim))
    slacks = batch.add_tangents(w, weights, Softness(2.0, 1.0), whole).slacks
    for index in np.array([3, 0]), np.array([1, 2, 4]):
        found = batch.take(index).add_tangents(w, weights[index], Softness(2.0, 1.0), parts)
        np.testing.assert_array_equal(found.slacks, slacks[index])
    np.testing.assert_allclose(whole, parts, atol=1e-12)
