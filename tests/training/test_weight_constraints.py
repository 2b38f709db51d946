"""bounds= and prior= by names of weights, and what is wrong with them."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import maxmargin as mm
from maxmargin.tasks import Graph
from maxmargin.testing import check_task

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.array(["a", "b", "c"])[np.argmax(X + RNG.normal(size=(30, 3)), axis=1)]
MODEL = mm.MulticlassSVC(C=10)


def test_names_of_arrays_and_of_single_weights():
    bounds = {"features": (-0.2, None), ("features", 1, "b"): (0.7, 0.7), ("intercept", None): (None, 0)}
    model = clone(MODEL).set_params(bounds=bounds).fit(X, Y)
    features, intercept = model.weights_["features"], model.weights_["intercept"]
    assert features.values.min() >= -0.2
    assert features[1, "b"] == 0.7
    assert intercept.values.max() <= 0
    assert model.certificate_.converged


def test_a_prior_by_names_is_where_little_weight_of_the_data_ends():
    prior = {("features", None, "a"): [1.0, 2.0, 3.0], "intercept": -1}
    model = clone(MODEL).set_params(C=1e-6, prior=prior).fit(X, Y)
    np.testing.assert_allclose(model.weights_["features"].values[:, 0], [1, 2, 3], atol=1e-5)
    np.testing.assert_allclose(model.weights_["intercept"].values, -1, atol=1e-5)
    np.testing.assert_allclose(model.weights_["features"].values[:, 1:], 0, atol=1e-5)


@pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")  # bounds may leave nothing to learn
def test_weights_that_are_shown_with_the_other_sign():
    """Of two classes, where positives come first or last."""
    for labels in ([0, 1], ["yes", "no"]):
        y = np.where(X[:, 0] > 0, labels[0], labels[1])
        free = mm.MeasureSVC("f1", C=10).fit(X, y)
        shown = free.weights_["features"].values
        for sign, limit in ((1, (0, None)), (-1, (None, 0))):
            model = mm.MeasureSVC("f1", C=10, bounds={"features": limit}).fit(X, y)
            assert (sign * model.weights_["features"].values >= 0).all()
        assert np.abs(shown).max() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": 3}, r"bounds must be a pair \(low, high\), with None for no limit; got 3"),
        ({"bounds": (1, 2, 3)}, "must be a pair"),
        ({"bounds": (1, 0)}, "bounds of features: feature=0, label=a contradict each other: at least 1 and at most 0"),
        ({"bounds": ([1.0, 2.0], None)}, r"has shape \(2,\); expected a number, or an array of shape \(12,\)"),
        ({"bounds": (np.nan, None)}, "must not be NaN"),
        ({"bounds": ("low", None)}, "must be numbers, got 'low'"),
        ({"bounds": {"edges": (0, 1)}}, "there are no weights 'edges'; there are 'features', 'intercept'"),
        ({"bounds": {("features", 0): (0, 1)}}, r"expected a name \(or None for all\) for each of feature, label"),
        ({"bounds": {("features", 0, "d"): (0, 1)}}, "there is no label 'd'"),
        ({"prior": np.inf}, "prior must be finite numbers"),
        ({"prior": 1e200}, "prior must be finite numbers"),
        ({"prior": True}, "prior must be numbers, got True"),
        ({"prior": {"features": None}}, "must be numbers, got None"),
        ({"bounds": (np.inf, None)}, "bounds allows no finite weights: at least inf"),
        ({"bounds": (None, -np.inf)}, "allows no finite weights"),
        ({"bounds": {(): (0, 1)}}, r"there are no weights \(\)"),
        ({"prior": np.ones(3)}, r"prior has shape \(3,\); expected a number, or an array of shape \(12,\)"),
        ({"prior": "BLOSUM62"}, "prior must be numbers, got 'BLOSUM62'"),
        ({"prior": 1.0, "kernel": "rbf"}, "with a kernel does not have"),
        ({"prior": 1.0, "C": np.inf}, "hard margin"),
        (
            {"prior": 1.0, "solver": "perceptron"},
            "solver 'perceptron' needs weights without bounds and without a prior; use solver='bcfw'",
        ),
    ],
)
def test_what_makes_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        clone(MODEL).set_params(**options).fit(X, Y)


def test_a_prior_that_fits_already_ends_at_once_and_says_nothing():
    separable = (np.eye(3)[np.arange(30) % 3], np.arange(30) % 3)
    first = mm.MulticlassSVC(C=1000, tol=1e-6).fit(*separable)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = mm.MulticlassSVC(C=1e-3, prior=2 * first.w_).fit(*separable)
    assert again.certificate_.converged
    np.testing.assert_allclose(again.w_, 2 * first.w_, atol=1e-9)


def test_warm_starts_know_their_bounds():
    model = mm.MulticlassSVC(C=10, warm_start=True, bounds=(-0.1, 0.1)).fit(X, Y)
    model.set_params(bounds=(0, None)).fit(X, Y)
    assert model.w_.min() >= 0
    assert model.w_.max() > 0.1
    cold = mm.MulticlassSVC(C=10, bounds=(0, None)).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-2)


@pytest.mark.slow
def test_a_path_within_bounds():
    for model in mm.SequenceLabeler(bounds=(-0.5, 0.2)).fit_path([X[:15], X[15:]], [Y[:15], Y[15:]], [0.1, 1, 100]):
        assert model.certificate_.converged
        assert model.w_.min() >= -0.5
        assert model.w_.max() <= 0.2


def test_certify_wants_weights_within_bounds():
    model = mm.MulticlassSVC().fit(X, Y).set_params(bounds=(0, None))
    with pytest.raises(ValueError, match="violate its bounds"):
        model.certify(X, Y)


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
def test_rounding_that_is_large_is_no_convergence(solver):
    features, prior = [[0, -5e7], [-2.3e8, 0], [9e7, 1e8]], np.array([220.0, 190, -20, -20])
    model = mm.MulticlassSVC(C=1e6, solver=solver, fit_intercept=False, prior=prior, max_passes=50)
    assert not model.fit(features, [0, 1, 0]).certificate_.converged


@pytest.mark.parametrize("solver", ["n_slack", "one_slack", "bundle"])
def test_a_large_C_within_narrow_bounds(solver):  # noqa: N802 - the parameter's name
    i, features = np.inf, [[62.0, -1], [-22, 150], [149, -29]]
    bounds = (np.array([-i, 0, -i, -1e-5]), np.array([1e-5, 0, 1e-5, 1e-5]))
    model = mm.MulticlassSVC(C=1e5, solver=solver, fit_intercept=False, bounds=bounds, max_passes=60)
    assert model.fit(features, [0, 1, 0]).certificate_.converged
    assert model.certificate_.primal == pytest.approx(0.4994, rel=1e-3)


# --- structures that ask for them

GRIDS = [mm.tasks.Nodes.grid(RNG.normal(size=(4, 4, 2))) for _ in range(6)]
LABELS = [(x.features[:, 0] + 0.5 * RNG.normal(size=16) > 0).astype(int).reshape(4, 4) for x in GRIDS]


def test_attractive_edges_are_searched_by_exact_cuts():
    model = mm.GraphLabeler(attractive=True).fit(GRIDS, LABELS)
    assert model.certificate_.exact
    assert model.certificate_.method == "min-cut"
    tables = model.edge_coef_
    assert (tables[:, 0, 0] + tables[:, 1, 1] >= tables[:, 0, 1] + tables[:, 1, 0] - 1e-12).all()
    free = mm.GraphLabeler().fit(GRIDS, LABELS)
    assert model.certificate_.primal >= free.certificate_.dual


def test_attractive_edges_need_features_without_a_sign():
    x = (np.ones((3, 1)), [(0, 1), (1, 2), (2, 0)], [[1.0], [-1.0], [0.0]])
    with pytest.raises(ValueError, match=r"graph 0: edge 1 has the features \[-1.0\]; attractive=True needs"):
        mm.GraphLabeler(attractive=True).fit([x], [[0, 1, 1]])


def test_one_weight_has_one_prior():
    with pytest.raises(ValueError, match="has different values for entries that share one weight"):
        mm.GraphLabeler(directed=False, prior={"edges": [[[0, 1.0], [5.0, 0]]] * 2}).fit(GRIDS, LABELS)


def test_three_labels_may_attract_too():
    labels = [y + (x.features[:, 1].reshape(4, 4) > 1) for x, y in zip(GRIDS, LABELS, strict=True)]
    model = mm.GraphLabeler(attractive=True).fit(GRIDS, labels)
    assert (model.edge_coef_[:, ~np.eye(3, dtype=bool)] <= 0).all()


def test_the_plain_task_keeps_its_promises_without_bounds():
    check_task(Graph(), [(np.ones((2, 1)), [(0, 1)])] * 2, [[0, 1], [1, 1]])


PAIRS, ALIGNED = mm.datasets.mutated_pairs(6, length=12, seed=0)


def test_a_published_matrix_as_the_prior():
    pytest.importorskip("Bio")
    model = mm.Aligner(prior="BLOSUM62", C=1e-6, alphabet="ACDEFGHIKLMNPQRSTVWY", unknown="ignore").fit(
        [("ACDEW", "ACEW"), ("WWC", "WC")], [[(0, 0), (1, 1), (3, 2), (4, 3)], [(0, 0), (2, 1)]]
    )
    letters = model.alphabet_
    w, c = letters.index("W"), letters.index("C")
    unit = (
        model.gap_extend_
    )  # a published matrix is as long as suits the pairs: see structures/alignment/prior_length.py
    assert unit > 0
    assert model.substitution_matrix_[w, w] / unit == pytest.approx(11, abs=1e-2)
    assert model.substitution_matrix_[w, c] / unit == pytest.approx(-2, abs=1e-2)
    assert model.gap_open_ / unit == pytest.approx(11, abs=1e-2)


def test_a_model_as_the_prior_and_gaps_without_reward():
    first = mm.Aligner(max_passes=20).fit(PAIRS, ALIGNED)
    again = mm.Aligner(prior=first, C=1e-9).fit(PAIRS, ALIGNED)
    np.testing.assert_allclose(again.w_, first.w_, atol=1e-6)
    kept = mm.Aligner(nonnegative_gaps=True, max_passes=20).fit(PAIRS, ALIGNED)
    assert kept.gap_open_ >= 0
    assert kept.gap_extend_ >= 0
    with pytest.raises(ValueError, match="expected one of 'BLOSUM62'"):
        mm.Aligner(prior="BLOSUM1").fit(PAIRS, ALIGNED)


def test_homologs_take_a_prior_too():
    X = [("ACDE", ["ACE", "FFFF"]), ("FGAC", ["DDDD", "FGC"])]
    Y = [(0, [(0, 0), (1, 1), (3, 2)]), (1, [(0, 0), (1, 1), (3, 2)])]
    prior = mm.Aligner.from_matrix({(a, b): float(a == b) for a in "ACDEFG" for b in "ACDEFG"}, 2.0, 1.0)
    model = mm.HomologRanker(prior=prior, C=1e-9, nonnegative_gaps=True).fit(X, Y)
    scores, gaps = model.weights_["residue × residue"], model.weights_["gaps"]
    assert scores["A", "A"] > 0
    assert scores["A", "C"] / scores["A", "A"] == pytest.approx(0.0, abs=1e-6)
    assert gaps["open"] / scores["A", "A"] == pytest.approx(-2.0, abs=1e-6)
