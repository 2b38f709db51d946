"""Where grids begin and end, and that neither the scale of the features nor a prior changes what is learnt on them."""

import numpy as np
import pytest
from digest_groups.data import chains, table
from sklearn.base import clone

import maxmargin as mm
from maxmargin.errors import NothingLearnt
from maxmargin.training.tuning.grid import FIRST, FITTED, MOST, STEP, Grid

A, B = table(n=60, n_classes=3)
X, Y = chains(n=20)


def first_model(model, X, Y):
    """Where the grid begins, and the model there."""
    found = []

    def values(oracle):
        found.append(Grid.of(oracle))
        yield found[0].first

    (trained,) = model.path(X, Y, values)
    return found[0], trained


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (mm.MulticlassSVC(tol=1e-8), (A, B)),
        (mm.MulticlassSVC(tol=1e-8, slack="l2"), (A, B)),
        (mm.MulticlassSVC(tol=1e-8, rescaling="slack"), (A, B)),
        (mm.MulticlassSVC(tol=1e-8, kernel="rbf"), (A, B)),
        (mm.SequenceLabeler(tol=1e-8), (X, Y)),
        (mm.SequenceLabeler(tol=1e-8, per="position"), (X, Y)),
        (mm.OrdinalSVC([0, 1, 2], tol=1e-8), (A, B)),
    ],
    ids=["plain", "squared", "rescaled", "kernel", "sequences", "positions", "ordinal"],
)
def test_the_first_model_lowers_the_risk_a_little(model, data):
    grid, trained = first_model(model, *data)
    fallen = 1 - trained.solution_.risk / grid.risk
    assert 0.3 * FIRST < fallen < 1.5 * FIRST  # g is nearly the shortest, so the fall is nearly that of (1)
    assert grid.first == trained.solution_.C


def test_around_a_prior_and_within_bounds():
    prior = mm.MulticlassSVC(C=1.0, fit_intercept=False).fit(A, B).w_
    grid, trained = first_model(mm.MulticlassSVC(fit_intercept=False, prior=prior, tol=1e-6), A, B)
    assert 0.3 * FIRST < 1 - trained.solution_.risk / grid.risk < 1.5 * FIRST
    assert 0 < trained.solution_.norm < 0.5 * np.linalg.norm(prior)
    grid, trained = first_model(mm.MulticlassSVC(fit_intercept=False, bounds=(0, None), tol=1e-6), A, B)
    assert 0.1 * FIRST < 1 - trained.solution_.risk / grid.risk < 1.5 * FIRST
    with pytest.warns(NothingLearnt):
        fixed = first_model(mm.MulticlassSVC(fit_intercept=False, bounds=(0, 0)), A, B)[0]
    assert fixed.first == 1.0  # nothing moves, so that any C will do


UNSCALED = mm.Tuned(mm.MulticlassSVC(fit_intercept=False, tol=0.01), cv=2, patience=1, n_jobs=1)


@pytest.fixture(scope="module")
def unscaled():
    return clone(UNSCALED).fit(A, B)


@pytest.mark.parametrize("power", [-27, -3, 27])
def test_scales_of_features(unscaled, power):
    """From 1e-8 to 1e8, in powers of two, so that models are the same to the last digit."""
    scale = 2.0**power
    found = clone(UNSCALED).fit(scale * A, B)
    assert found.best_C_ * scale**2 == pytest.approx(unscaled.best_C_, rel=1e-9)
    np.testing.assert_array_equal(found.results_["mean_score"], unscaled.results_["mean_score"])
    np.testing.assert_array_equal(found.predict(scale * A), unscaled.predict(A))


def test_steps_and_end():
    found = mm.Tuned(mm.MulticlassSVC(tol=0.01), cv=2, patience=None).fit(A, B)
    C, loss = found.results_["C"], found.results_["training_loss"]
    np.testing.assert_allclose(C[1:] / C[:-1], STEP)
    assert 3 < len(C) <= MOST
    assert (np.diff(loss) < 1e-2).all()
    at_first = first_model(mm.MulticlassSVC(), A, B)[0].risk
    grid = Grid(1.0, at_first)
    means = found.results_["mean_score"]
    ends = [
        k > 1 and grid.has_learnt(loss[: k + 1].tolist()) and means[k - 1 : k + 1].max() <= means[: k - 1].max()
        for k in range(len(C))
    ]
    assert ends == [False] * (len(C) - 1) + [True]


def test_what_is_fitted_ends_the_grid():
    grid = Grid(1.0, 2.0)
    assert grid.has_learnt([1.0, 0.9 * FITTED * 2.0])
    assert not grid.has_learnt([2.0, 2.0, 2.0])  # which has not begun
    assert grid.has_learnt([0.5, 0.499, 0.498])
    assert not grid.has_learnt([0.5, 0.45, 0.4])


def test_no_risk_to_begin_with():
    prior = mm.MulticlassSVC(C=1e6, fit_intercept=False).fit(np.eye(3) * 5, [0, 1, 2]).w_ * 9
    grid, _ = first_model(mm.MulticlassSVC(fit_intercept=False, prior=prior), np.eye(3) * 5, [0, 1, 2])
    assert grid.first == 1.0
