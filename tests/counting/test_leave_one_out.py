"""Values at examples that were left out, against as many refits; λ that is chosen by them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from thorough import examples

from maxmargin import CountingClassifier, CountingMultilabel, CountingPredictor, RoutePredictor
from maxmargin.counting import penalty
from maxmargin.counting.closed_form import ClosedForm
from maxmargin.counting.sets.assignments import Assignments
from maxmargin.counting.sets.classes import Classes
from maxmargin.counting.sets.cycles import CyclicPermutations
from maxmargin.counting.sets.graphs import Cliques
from maxmargin.counting.sets.orders import Permutations
from maxmargin.counting.sets.paths import Paths
from maxmargin.counting.sets.spanning_trees import SpanningTrees
from maxmargin.counting.sets.subsets import AllSubsets, Subsets
from maxmargin.counting.similarities import SimilarityForm

SETS = [
    Classes(3),
    Subsets(4, 2),
    AllSubsets(3),
    Permutations(4),
    CyclicPermutations(5),
    Assignments(3, 3),
    Paths(4),  # d = 16
    Cliques(4),
]
FORMS = [ClosedForm, SimilarityForm]


def drawn(outputs, n, p, seed):
    """Inputs and outputs."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), [outputs.sample(rng) for _ in range(n)]


def refitted(kind, outputs, K, C, lam):
    """f(xᵢ) of a model trained on all examples but i, for every i."""
    found = np.zeros(C.shape)
    for i in range(len(C)):
        rest = np.delete(np.arange(len(C)), i)
        found[i] = K[i, rest] @ kind.of(K[np.ix_(rest, rest)], C[rest], outputs.cov_spectrum()).solve(lam)
    return found


def check(kind, outputs, X, Y, power, scale):
    X = scale * X
    K, C = X @ X.T, outputs.feature_rows(Y) - outputs.mean()
    lam = 10.0**power * max(float(np.linalg.eigvalsh(K)[-1]), scale**2)
    found = kind.of(K, C, outputs.cov_spectrum()).left_out(lam)
    expected = refitted(kind, outputs, K, C, lam)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max(initial=1e-300))


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("outputs", SETS, ids=str)
@examples(5, 12)
@given(
    n=st.integers(2, 12),
    p=st.integers(1, 8),
    power=st.integers(-6, 3),
    scale=st.sampled_from([1e-8, 1e-3, 1.0, 1e8]),
    seed=st.integers(0, 10**6),
)
def test_values_are_those_of_refits(kind, outputs, n, p, power, scale, seed):
    """Fewer features than examples, and more; fewer coordinates of outputs than examples, and more."""
    check(kind, outputs, *drawn(outputs, n, p, seed), power, scale)


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("outputs", SETS[3:6], ids=str)
def test_degenerate_examples(kind, outputs):
    X, Y = drawn(outputs, 6, 2, seed=0)
    twins = [0, 0, 1, 1, 1, 2]
    check(kind, outputs, X[twins], [Y[i] for i in twins], -2, 1.0)  # equal examples
    check(kind, outputs, X[twins], Y, -2, 1.0)  # equal inputs with different outputs
    check(kind, outputs, np.ones((6, 1)), Y, -1, 1.0)  # an input that tells nothing
    check(kind, outputs, X, [Y[0]] * 6, -1, 1.0)  # one output
    check(kind, outputs, np.zeros((6, 1)), Y, 0, 1.0)
    check(kind, outputs, X[:1], Y[:1], 0, 1.0)


def test_many_examples():
    outputs = Permutations(5)
    check(ClosedForm, outputs, *drawn(outputs, 60, 4, seed=1), -3, 1.0)


@pytest.mark.parametrize("target", ["margin", "similarity"])
@pytest.mark.parametrize(
    "outputs", [Permutations(4), SpanningTrees(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])], ids=str
)
def test_the_chosen_penalty_is_the_best_of_the_grid(outputs, target):
    """Against models of all λ for every example, or part, that is left out: in closed form, and without one."""
    X, Y = drawn(outputs, 15, 3, seed=2)
    model = CountingPredictor(outputs, target=target).fit(X, Y)
    closed = outputs.cov_spectrum() is not None
    assert model.chosen_by_ == f"chosen by leaving out {'each' if closed else 'parts'} of 15 examples"
    rng = np.random.default_rng(0)
    parts = [[i] for i in range(15)] if closed else np.array_split(rng.permutation(15), penalty.PARTS)
    C = outputs.feature_rows(Y) - outputs.mean()
    scale = outputs.repeats * np.linalg.eigvalsh(X @ X.T)[-1] * (C**2).sum(1).mean() / 2
    grid = [scale * 10.0**power for power in penalty.POWERS]
    every = outputs.feature_rows(list(outputs.outputs()))
    losses = np.zeros(len(grid))
    for held in parts:
        rest = np.setdiff1d(np.arange(15), held)
        known = CountingPredictor(outputs, target=target, tol=1e-10).fit_path(X[rest], [Y[i] for i in rest], grid)
        for k, step in enumerate(known):
            for f, c in zip(step.decision_function(X[held]), C[held], strict=True):
                scores = every @ f
                if target == "similarity":
                    losses[k] += np.mean(((every - outputs.mean()) @ (c - f)) ** 2)
                    continue
                losses[k] += norm.sf((c + outputs.mean()) @ f, scores.mean(), scores.std())
    best = grid[int(np.argmin(losses))]
    assert model.alpha_ / best == pytest.approx(1.0, rel=1e-3) or model.alpha_ / best == pytest.approx(
        10 ** (0.5 if model.alpha_ > best else -0.5), rel=1e-3
    )
    np.testing.assert_array_equal(
        model.coef_, CountingPredictor(outputs, alpha=model.alpha_, target=target).fit(X, Y).coef_
    )


@pytest.mark.parametrize("target", ["margin", "similarity"])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_the_choice_knows_no_scale(kernel, target):
    outputs = Permutations(4)
    X, Y = drawn(outputs, 20, 3, seed=3)
    options = {"kernel": kernel, "degree": 2, "gamma": 1.0, "coef0": 0.0, "target": target}
    expected = CountingPredictor(outputs, **options).fit(X, Y)
    for scale in (1e-8, 1e8):
        found = CountingPredictor(outputs, **options).fit(scale * X, Y)
        np.testing.assert_allclose(
            found.decision_function(scale * X), expected.decision_function(X), rtol=1e-5, atol=1e-8
        )


def test_every_estimator_chooses(monkeypatch):
    monkeypatch.setattr(penalty, "SAMPLE", 25)  # and from a sample
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    for model, Y in [
        (CountingClassifier(), X[:, 0] > 0),
        (CountingMultilabel(), (X > 0).astype(int)),
        (RoutePredictor(), [[0, 1, 2] if x[0] > 0 else [2, 0] for x in X]),
        (CountingPredictor(Classes(2)), (X[:, 0] > 0).astype(int).tolist()),
    ]:
        assert model.alpha == "loo"
        assert model.fit(X, Y).chosen_by_ == "chosen by leaving out each of 25 examples"
        assert model.alpha_ > 0
        assert model.set_params(alpha=2.0).fit(X, Y).alpha_ == 2.0
        assert model.chosen_by_ == "given"
    several = CountingPredictor(Classes(3)).fit(X, [[0, 1] if x[0] > 0 else [2] for x in X], several=True)
    assert several.chosen_by_ == "chosen by leaving out parts of 25 examples"


def test_nothing_to_choose_by():
    """One example, or inputs that are all zero: the paper's λ."""
    for X in ([[1.0, 2.0]], np.zeros((4, 2))):
        model = CountingPredictor(Classes(2)).fit(X, [0, 1, 0, 1][: len(X)])
        assert (model.alpha_, model.chosen_by_) == (1.0, "the mean number of correct outputs")


@pytest.mark.parametrize("alpha", ["auto", "LOO", ""])
def test_unknown_words_are_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha \(λ\) must be a positive number"):
        CountingPredictor(Classes(2), alpha=alpha).fit([[1.0], [2.0]], [0, 1])
