"""One model, two ways: a linear model of exactly mapped inputs, and the kernel in the dual."""

import numpy as np
import pytest
from kernel_problems import ALL, chain_data, multiclass_data
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from maxmargin import MeasureSVC, MulticlassSVC, Ranker, SequenceLabeler, TaxonomySVC
from maxmargin.inputs.tokens.tokens import Sequences
from maxmargin.kernels import RBF, KernelMap, Polynomial

KERNELS = [RBF(0.4), Polynomial(2, gamma=1.0, coef0=1.0)]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
TREE = {0: "low", 1: "low", 2: "high", "low": None, "high": None}


def both(model, kernel, X, y, **fit):
    """The two fitted models, of which both objectives are certified to the same tolerance."""
    dual = type(model)(**{**model.get_params(), "kernel": kernel}).fit(X, y, **fit)
    mapping = KernelMap(kernel, "exact").fit(X)
    mapped = type(model)(**model.get_params()).fit(mapping.transform(X), y, **fit)
    one, other = dual.certificate_, mapped.certificate_
    assert one.converged
    assert other.converged
    assert one.primal == pytest.approx(other.primal, rel=2 * model.tol)
    assert one.dual <= other.primal * (1 + 1e-9)
    assert other.dual <= one.primal * (1 + 1e-9)
    return dual, mapped, mapping


def assert_near(found, expected, share=0.01):
    """Scores of two optima that are equal up to the tolerance of training."""
    assert np.abs(found - expected).max() < share * np.abs(expected).max()


@kernels
@pytest.mark.parametrize("formulation", ALL, ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_classes(kernel, formulation, fit_intercept):
    X, y = multiclass_data(n=30, ties=False)
    new = multiclass_data(n=50, seed=1, ties=False)[0]
    model = MulticlassSVC(
        C=20.0,
        fit_intercept=fit_intercept,
        rescaling=formulation.rescaling,
        slack=formulation.slack,
        tol=1e-6,
        max_passes=5000,
    )
    dual, mapped, mapping = both(model, kernel, X, y)
    scores = dual.decision_function(new)
    assert_near(mapped.decision_function(mapping.transform(new)), scores)
    sure = np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0] > 0.02 * np.abs(scores).max()
    assert sure.mean() > 0.8
    assert np.array_equal(mapped.predict(mapping.transform(new))[sure], dual.predict(new)[sure])


@kernels
def test_a_taxonomy(kernel):
    X, y = multiclass_data(n=30, ties=False)
    new = multiclass_data(n=50, seed=1, ties=False)[0]
    dual, mapped, mapping = both(TaxonomySVC(TREE, C=20.0, tol=1e-6, max_passes=5000), kernel, X, y)
    assert_near(mapped.decision_function(mapping.transform(new)), dual.decision_function(new))


@kernels
@pytest.mark.parametrize("packed", [False, True])
def test_sequences(kernel, packed):
    X, Y = chain_data((4, 1, 3, 6, 2, 5, 4), n_classes=3, ties=False)
    new = chain_data((3, 5, 2, 4) * 4, seed=1, ties=False)[0]
    if packed:
        X, new = ([sparse.csr_array(x) for x in each] for each in (X, new))
    dual, mapped, mapping = both(SequenceLabeler(C=20.0, tol=1e-6, max_passes=5000), kernel, X, Y)
    assert isinstance(mapping.transform(new), list if packed else Sequences)
    assert_near(mapped.decision_function(mapping.transform(new)), dual.decision_function(new))
    agreement = [a == b for a, b in zip(mapped.predict(mapping.transform(new)), dual.predict(new), strict=True)]
    assert np.mean(agreement) > 0.9
    np.testing.assert_allclose(mapped.weights_["transitions"], dual.weights_["transitions"], atol=0.02)


def test_tokens():
    rng = np.random.default_rng(0)
    words = ["a", "b", "c", "d"]
    X = [[{"word": words[k], "long": k > 1} for k in rng.integers(0, 4, 5)] for _ in range(8)]
    Y = [[int(token["word"] in "ad") for token in x] for x in X]  # no linear function of single features
    dual, mapped, mapping = both(SequenceLabeler(C=20.0, tol=1e-5, max_passes=5000), Polynomial(2, 1.0, 1.0), X, Y)
    assert mapped.predict(mapping.transform(X)) == dual.predict(X) == Y
    assert mapping.n_components_ <= 4  # as there are different tokens


@kernels
def test_a_measure_and_a_ranking(kernel):
    X, y = multiclass_data(n=24, n_classes=2, ties=False)
    new = multiclass_data(n=20, seed=1, ties=False)[0]
    dual, mapped, mapping = both(
        MeasureSVC("f1", C=20.0, tol=1e-5, max_passes=5000, train_for="measure", cut="trained"), kernel, X, y
    )
    assert_near(mapped.decision_function(mapping.transform(new)), dual.decision_function(new), 0.03)
    qid = np.arange(24) // 6
    dual, mapped, mapping = both(Ranker("map", C=20.0, tol=1e-5, max_passes=5000), kernel, X, y, qid=qid)
    assert_near(mapped.predict(mapping.transform(new)), dual.predict(new), 0.03)


def test_in_a_pipeline_and_a_search():
    X, Y = chain_data((4, 3, 3, 6, 2, 5, 4, 4), n_classes=2, ties=False)
    X = list(X)
    pipeline = make_pipeline(KernelMap("rbf"), SequenceLabeler(C=20.0))
    search = GridSearchCV(pipeline, {"kernelmap__kernel": [RBF(0.1), RBF(1.0)]}, cv=2).fit(X, Y)
    assert 0 <= search.best_score_ <= 1
    assert [len(z) for z in search.predict(X)] == [len(y) for y in Y]


def test_a_coarse_map_is_another_model_and_says_so():
    X, y = multiclass_data(n=60, ties=False)
    exact, coarse = (KernelMap(RBF(2.0), n_components=n).fit(X) for n in (60, 5))
    assert exact.error_ < 1e-9 < 1e-2 < coarse.error_
    fine, rough = (
        MulticlassSVC(C=100.0).fit(each.transform(X), y).score(each.transform(X), y) for each in (exact, coarse)
    )
    assert fine > rough
