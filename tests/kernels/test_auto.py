"""Auto: the dual or a map by size, the same model either way where the map is exact, and which of them it was."""

import pickle
from functools import partial

import numpy as np
import pytest
from kernel_problems import TREE, chain_data, multiclass_data
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from maxmargin import MeasureSVC, MulticlassSVC, OrdinalSVC, Ranker, SequenceLabeler, StructuredSVM, TaxonomySVC
from maxmargin.errors import TaskError
from maxmargin.kernels import RBF, Auto, KernelMap, Polynomial, Precomputed
from maxmargin.tasks import Multiclass

X, Y = multiclass_data(n=30, ties=False)
NEW = multiclass_data(n=50, seed=1, ties=False)[0]
SMALL = 8 * 29**2 / 2**20  # megabytes for the kernel matrix of 29 units
MODELS = [
    partial(MulticlassSVC, C=20.0, tol=1e-6),
    partial(MulticlassSVC, C=20.0, tol=1e-6, fit_intercept=False),
    partial(TaxonomySVC, TREE, C=20.0, tol=1e-6),
    partial(OrdinalSVC, C=20.0, tol=1e-6),
]


@pytest.mark.parametrize("n", [1, 29, 30, 1000])
def test_the_dual_is_for_what_has_room(n):
    chosen = Auto(RBF(0.3, cache_mb=SMALL)).chosen_for(n)
    assert isinstance(chosen, RBF if n <= 29 else KernelMap)
    kernel = chosen if n <= 29 else chosen.kernel
    assert kernel.gamma == 0.3


def test_the_limit_of_the_default():
    assert isinstance(Auto().chosen_for(11585), RBF)
    assert isinstance(Auto().chosen_for(11586), KernelMap)
    assert isinstance(Auto("precomputed").chosen_for(10**6), Precomputed)


def test_a_map_says_how_to_map():
    given = KernelMap(RBF(0.3, cache_mb=SMALL), n_components=7, landmarks="uniform")
    chosen = Auto(given).chosen_for(30)
    assert chosen.get_params()["n_components"] == 7
    assert chosen is not given
    assert Auto(given).chosen_for(29).gamma == 0.3


@pytest.mark.parametrize("make", MODELS, ids=lambda make: f"{make.func.__name__}{make.keywords}")
@pytest.mark.parametrize("packed", [False, True])
def test_an_exact_map_inside_is_the_dual(make, packed):
    wrap = sparse.csr_array if packed else np.asarray
    kernel = Polynomial(2, gamma=1.0, coef0=1.0)
    dual, mapped = (make(kernel=each).fit(wrap(X), Y) for each in (Auto(kernel), KernelMap(kernel)))
    assert dual.certificate_.primal == pytest.approx(mapped.certificate_.primal, rel=2e-6)
    scores = dual.decision_function(wrap(NEW))
    assert mapped.decision_function(wrap(NEW)) == pytest.approx(scores, abs=0.01 * np.abs(scores).max())
    assert dual.certificate_.method == "kernel in the dual"
    assert mapped.certificate_.method == mapped.kernel_map_.about
    assert "exact map of the kernel" in str(mapped.certificate_)
    assert hasattr(dual, "support_")
    assert not hasattr(dual, "kernel_map_")
    assert not hasattr(mapped, "support_")


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_map_inside_is_a_map_in_front(fit_intercept):
    kernel = Auto(KernelMap(RBF(0.4, cache_mb=SMALL), n_components=12))
    model = MulticlassSVC(C=20.0, kernel=kernel, fit_intercept=fit_intercept).fit(X, Y)
    mapping = KernelMap(RBF(0.4), n_components=12).fit(X)
    front = MulticlassSVC(C=20.0, fit_intercept=fit_intercept).fit(mapping.transform(X), Y)
    assert model.kernel_map_.method_ == "nystroem"
    assert f"12 features, mean error {mapping.error_:.2g}" in str(model.certificate_)
    assert model.certificate_.primal == pytest.approx(front.certificate_.primal, rel=1e-9)
    assert model.decision_function(NEW) == pytest.approx(front.decision_function(mapping.transform(NEW)), rel=1e-6)


def test_sequences():
    given, labels = chain_data((4, 1, 3, 6, 2, 5, 4), n_classes=3, ties=False)
    new = chain_data((3, 5, 2, 4), seed=1, ties=False)[0]
    kernel = RBF(0.4)
    dual, mapped = (SequenceLabeler(C=20.0, tol=1e-6, kernel=k).fit(given, labels) for k in (kernel, KernelMap(kernel)))
    assert dual.certificate_.primal == pytest.approx(mapped.certificate_.primal, rel=2e-6)
    assert mapped.decision_function(new) == pytest.approx(dual.decision_function(new), abs=0.05)
    assert mapped.predict(new) == dual.predict(new)
    assert "features" not in mapped.weights_
    np.testing.assert_allclose(mapped.weights_["transitions"], dual.weights_["transitions"], atol=0.02)
    assert mapped.certify(given, labels, tol=1e-4).primal == pytest.approx(mapped.certificate_.primal, rel=1e-9)


def test_measures_and_rankings():
    y, qid, mapping = np.arange(30) % 2, np.arange(30) // 6, KernelMap(RBF(0.4))
    one, other = (
        MeasureSVC("f1", C=20.0, tol=1e-5, kernel=k, train_for="measure", cut="trained").fit(X, y)
        for k in (RBF(0.4), mapping)
    )
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-5)
    one, other = (Ranker("map", C=20.0, tol=1e-5, kernel=k).fit(X, y, qid) for k in (RBF(0.4), mapping))
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=2e-5)


def test_by_name():
    dual = MulticlassSVC(C=20.0, kernel="auto", tol=1e-6).fit(X, Y)
    expected = MulticlassSVC(C=20.0, kernel="rbf", tol=1e-6).fit(X, Y)
    assert np.array_equal(dual.decision_function(NEW), expected.decision_function(NEW))
    assert "kernel in the dual" in str(dual.certificate_)


def test_models_with_a_map_pickle_clone_and_are_searched():
    model = MulticlassSVC(C=20.0, kernel=KernelMap(RBF(0.4), n_components=9)).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(NEW), model.decision_function(NEW))
    assert not hasattr(model.kernel, "kernel_")  # the object given is not the one that was fitted
    assert np.array_equal(clone(model).fit(X, Y).decision_function(NEW), model.decision_function(NEW))
    search = GridSearchCV(clone(model), {"kernel__kernel__gamma": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert search.best_estimator_.kernel_map_.kernel_.gamma_ in (0.1, 1.0)
    refitted = model.set_params(kernel=None).fit(X, Y)
    assert not hasattr(refitted, "kernel_map_")
    assert refitted.certificate_.method == ""


def test_what_has_no_meaning_with_a_map():
    model = MulticlassSVC(kernel=KernelMap(RBF(0.4))).fit(X, Y)
    with pytest.raises(
        AttributeError, match="has no weights of features: its model is made of the features that kernel"
    ):
        model.coef_  # noqa: B018
    task = StructuredSVM(Multiclass(kernel=KernelMap(RBF(0.4)))).fit(X, Y).task_
    with pytest.raises(TaskError, match=r"with a kernel there is no psi\(x, z\)"):
        task.psi(X[0], Y[0])


def test_precomputed_matrices_are_said_to_be_such():
    for kernel in ("precomputed", Auto("precomputed"), KernelMap("precomputed"), Auto(KernelMap("precomputed"))):
        assert MulticlassSVC(kernel=kernel).__sklearn_tags__().input_tags.pairwise
    for kernel in (None, "rbf", "auto", Auto(), KernelMap()):
        assert not MulticlassSVC(kernel=kernel).__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("kernel", ["gauss", Auto("gauss"), KernelMap("gauss"), Auto(Auto()), KernelMap(Auto()), Auto])
def test_what_is_no_kernel(kernel):
    with pytest.raises(ValueError, match="kernel must be None, one of 'linear'"):
        MulticlassSVC(kernel=kernel).fit(X, Y)
