"""Clusterer(linkage="correlation"): learning with both methods and measures, what it shows, bad options."""

import pickle
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from structures.clustering.walks import as_arrays, walks

from maxmargin import Clusterer
from maxmargin.base.search import Search
from maxmargin.plotting import ClusterDisplay
from maxmargin.solvers import CCCP
from maxmargin.structures.clustering.measures import b_cubed, mitre_loss, pair_loss
from maxmargin.tasks import Pairs

X, Y = walks()
NEW, TRUTH = walks(20, seed=1)


@cache
def trained():
    return Clusterer(linkage="correlation").fit(X, Y)


SMALL = [i for i, x in enumerate(X) if len(x) <= 10]  # quick to relax


def small(method="relaxed", **options):
    return Clusterer("correlation", method=method, **options).fit([X[i] for i in SMALL], [Y[i] for i in SMALL])


def test_learns_to_cluster():
    certificate = trained().certificate_
    assert certificate.converged
    assert (certificate.search, certificate.exact, certificate.method) == (
        Search.UNDERGENERATING,
        False,
        "greedy merges and moves",
    )
    assert certificate.dual <= certificate.primal <= certificate.upper < 1.1 * certificate.primal
    assert trained().score(X, Y) > 0.9
    found = trained().predict(NEW)
    assert trained().score(NEW, TRUTH) == b_cubed(TRUTH, found).f1 > 0.9
    alone, one = [np.arange(len(y)) for y in TRUTH], [np.zeros(len(y)) for y in TRUTH]
    assert pair_loss(TRUTH, found) < 0.5 * min(pair_loss(TRUTH, alone), pair_loss(TRUTH, one))
    distance, colour, noise = trained().coef_
    assert distance < 0
    assert colour < 0
    assert abs(noise) < 0.2 * abs(colour)
    assert trained().intercept_ > 0
    assert not hasattr(trained(), "rounds_")  # nothing is hidden


def test_mitre_loss():
    model = Clusterer("correlation", measure="mitre", C=100.0).fit(X, Y)
    assert model.certificate_.converged
    assert model.certificate_.upper < np.inf
    assert mitre_loss(TRUTH, model.predict(NEW)) < 0.1


def test_relaxed_training():
    relaxed, greedy = small(), small("greedy")
    certificate = relaxed.certificate_
    assert certificate.converged
    assert certificate.search in (Search.OVERGENERATING, Search.EXACT)
    assert certificate.method.startswith("LP relaxation, fractional on ")
    # the relaxed problem is above the true one, of which the greedy search sees a part
    assert certificate.primal >= greedy.certificate_.dual
    assert relaxed.score([X[i] for i in SMALL], [Y[i] for i in SMALL]) > 0.8
    assert all(labels.dtype == np.int64 for labels in relaxed.predict(NEW))


def test_links_are_the_pairs_in_one_cluster():
    scores = trained().decision_function(NEW)
    for x, labels, links, values in zip(NEW, trained().predict(NEW), trained().links(NEW), scores, strict=True):
        expected = {(i, j): v for (i, j), v in zip(x.pairs.tolist(), values, strict=True) if labels[i] == labels[j]}
        assert {(link.first, link.second): link.score for link in links} == expected
        assert [link.score for link in links] == sorted(expected.values(), reverse=True)
        np.testing.assert_allclose(values, x.features @ trained().coef_ + trained().intercept_)


def test_weights_have_names():
    assert trained().weights_["features"][1] == trained().coef_[1]
    assert trained().weights_["intercept"]["constant"] == trained().intercept_
    assert [each.weight for each in trained().top_weights(n=4)] == sorted(trained().w_, key=abs, reverse=True)


def test_display():
    plt.switch_backend("agg")
    display = ClusterDisplay.from_estimator(trained(), NEW[0], TRUTH[0]).plot()
    assert display.labels.tolist() == trained().predict(NEW[:1])[0].tolist()
    assert len(display.links) == sum(NEW[0].inside(display.labels))
    plt.close("all")


def test_spellings_of_the_data_train_the_same_model():
    np.testing.assert_array_equal(clone(trained()).fit(as_arrays(X), Y).w_, trained().w_)
    packed = [Pairs(x.n_items, x.pairs, sparse.csr_array(x.features)) for x in X]
    model = clone(trained()).fit(packed, Y)
    assert model.certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.02)
    np.testing.assert_allclose(model.decision_function(packed)[0], model.decision_function(X)[0])


def test_threads_change_nothing():
    np.testing.assert_array_equal(clone(trained()).set_params(n_jobs=2).fit(X, Y).w_, trained().w_)


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", CCCP(inner="one_slack")], ids=str)
def test_certified_solvers_agree(solver):
    model = Clusterer("correlation", solver=solver).fit(X, Y)
    assert model.certificate_.dual <= trained().certificate_.primal * (1 + 1e-9)
    assert model.certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.05)


@pytest.mark.parametrize("solver", ["perceptron", "subgradient"])
def test_online_solvers_train(solver):
    model = Clusterer("correlation", solver=solver, max_passes=30).fit(X, Y)
    assert model.score(X, Y) > 0.7


@pytest.mark.parametrize(("rescaling", "slack"), [("slack", "l1"), ("margin", "l2"), ("slack", "l2")])
def test_every_formulation_trains(rescaling, slack):
    model = Clusterer("correlation", C=1.0, rescaling=rescaling, slack=slack, max_passes=100).fit(X, Y)
    assert model.certificate_.dual <= model.certificate_.upper
    assert model.score(X, Y) > 0.8


def test_sets_weigh_as_much_as_they_have_items():
    """Sets of twice as many items and pairs have twice the loss, so that half of C does the same."""
    model = Clusterer("correlation", fit_intercept=False, C=5.0, tol=1e-4)
    once = [Pairs(2, [[0, 1]], [[1.0, 0]]), Pairs(2, [[0, 1]], [[0, 1.0]])]
    twice = [Pairs(4, [[0, 1], [2, 3]], np.tile(x.features, (2, 1))) for x in once]
    truth = [[0, 0], [0, 1]]
    doubled = [[0, 0, 1, 1], [0, 1, 2, 3]]
    few, many = model.fit(once, truth).certificate_, clone(model).set_params(C=2.5).fit(twice, doubled).certificate_
    assert few.primal == pytest.approx(many.primal, rel=1e-3)


def test_candidates_keep_large_sets_small():
    """300 items in groups of ten, of which each is compared with some others of its neighbourhood."""
    rng = np.random.default_rng(0)

    def example():
        labels = np.arange(300) // 10
        pairs = [(i, i + step) for i in range(300) for step in range(1, 8) if i + step < 300]
        same = np.array([labels[i] == labels[j] for i, j in pairs])
        return Pairs(300, pairs, (same + rng.normal(size=len(pairs)) * 0.5)[:, None]), labels

    train, test = example(), example()
    model = Clusterer("correlation").fit([train[0]], [train[1]])
    assert model.score([test[0]], [test[1]]) > 0.8


def test_path_and_pickles():
    models = Clusterer("correlation").fit_path(X, Y, [1.0, 10.0])
    assert models[1].certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.02)
    copy = pickle.loads(pickle.dumps(trained()))
    assert [labels.tolist() for labels in copy.predict(NEW)] == [labels.tolist() for labels in trained().predict(NEW)]


def test_model_selection_over_both_linkages():
    grid = [
        {"linkage": ["forest"], "penalty": [1.0, 3.0]},
        {"linkage": ["correlation"], "measure": ["pairs", "mitre"]},
    ]
    search = GridSearchCV(Clusterer(), grid, cv=3).fit(X, Y)
    assert len(search.cv_results_["params"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "method must be one of 'greedy', 'relaxed', got 'exact'"),
        ({"measure": "b_cubed"}, "measure must be one of 'pairs', 'mitre', got 'b_cubed'"),
        ({"method": "relaxed", "measure": "mitre"}, "the MITRE loss is not linear in the pairs"),
        ({"penalty": 3.0}, "penalty=3.0 belongs to linkage='forest'; linkage='correlation' takes method and measure"),
        (
            {"start": "chain"},
            "start='chain' belongs to linkage='forest'; linkage='correlation' takes method and measure",
        ),
        ({"start": np.zeros(2)}, r"start=array\(\[0., 0.\]\) belongs to linkage='forest'"),
        (
            {"linkage": "forest", "measure": "mitre"},
            "measure='mitre' belongs to linkage='correlation'; linkage='forest' takes penalty and start",
        ),
        ({"linkage": "forest", "method": "relaxed"}, "method='relaxed' belongs to linkage='correlation'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        Clusterer(**{"linkage": "correlation", **options}).fit(X, Y)


def test_bad_data():
    asymmetric = np.arange(8.0).reshape(2, 2, 2)
    with pytest.raises(
        ValueError, match=r"example 0: feature 0 of the pair \(0, 1\) is 2 but the feature of \(1, 0\) is 4"
    ):
        Clusterer("correlation").fit([asymmetric], [[0, 0]])
    large = [Pairs(101, [[0, 1]], [[1.0, 0, 0]])]
    with pytest.raises(ValueError, match="example 0 has 101 items; method='relaxed' takes at most 100"):
        Clusterer("correlation", method="relaxed").fit(large, [np.zeros(101)])
    with pytest.raises(ValueError, match="example 1 has 5 features per pair; expected 3 as in training"):
        trained().predict([X[0], np.zeros((2, 2, 5))])


def test_item_alone_is_a_cluster():
    assert [labels.tolist() for labels in trained().predict([Pairs(1, [], []), Pairs(2, [], [])])] == [[0], [0, 1]]
