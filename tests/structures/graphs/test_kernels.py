"""GraphLabeler with kernels of nodes: the linear kernel is the linear model, an exact map is the dual."""

import pickle

import numpy as np
import pytest

from maxmargin import GraphLabeler
from maxmargin.kernels import RBF, KernelMap
from maxmargin.tasks import Nodes

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.errors.NothingLearnt")  # random data teach nothing


def rings(n_graphs, seed, n_labels=2):
    """Rings of nodes on a plane; labels go round the centre, which no linear function of the place can tell."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n_graphs):
        places = rng.normal(size=(7, 2))
        labels = np.minimum((np.hypot(*places.T) * 1.2).astype(int), n_labels - 1)
        edges = [(i, (i + 1) % 7) for i in range(7)] + ([(0, 3), (1, 5)] if n_labels == 3 else [])
        X.append(Nodes(places, edges))
        Y.append(labels)
    return X, Y


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
@pytest.mark.parametrize("method", ["auto", "relaxation"])
def test_the_linear_kernel_is_the_linear_model(solver, method):
    X, Y = rings(8, 0, 3)
    linear, dual = (
        GraphLabeler(C=5, kernel=kernel, solver=solver, method=method, tol=1e-4).fit(X, Y)
        for kernel in (None, "linear")
    )
    assert dual.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=3e-4)
    assert linear.certificate_.dual <= dual.certificate_.primal * (1 + 1e-9)
    assert dual.certificate_.dual <= linear.certificate_.primal * (1 + 1e-9)


def test_an_exact_map_is_the_dual():
    X, Y = rings(10, 1)
    new, _ = rings(10, 2)
    dual = GraphLabeler(C=20, kernel=RBF(1.0), tol=1e-5).fit(X, Y)
    mapped = GraphLabeler(C=20, kernel=KernelMap(RBF(1.0), method="exact"), tol=1e-5).fit(X, Y)
    assert mapped.certificate_.primal == pytest.approx(dual.certificate_.primal, rel=1e-4)
    for one, other in zip(dual.predict_bounds(new), mapped.predict_bounds(new), strict=True):
        assert one.score == pytest.approx(other.score, rel=0.02, abs=0.02)


def test_what_a_kernel_is_good_for():
    X, Y = rings(60, 3)
    new, truth = rings(60, 4)
    linear, kernel = (GraphLabeler(C=30, kernel=kernel).fit(X, Y) for kernel in (None, "rbf"))
    assert kernel.score(new, truth) > linear.score(new, truth) + 0.1
    assert 0 < len(kernel.support_) <= 60 * 7
    assert "kernel in the dual" in kernel.certificate_.method
    with pytest.raises(AttributeError, match="with a kernel has no weights of features"):
        kernel.coef_  # noqa: B018
    assert kernel.edge_coef_.shape == (1, 2, 2)
    assert list(kernel.weights_) == ["edges"]
    again = pickle.loads(pickle.dumps(kernel))
    assert all(np.array_equal(a, b) for a, b in zip(again.predict(new), kernel.predict(new), strict=True))


def test_nodes_that_are_left_out_are_no_support():
    X, Y = rings(10, 5)
    holes = [[None if i == 2 else label for i, label in enumerate(y.tolist())] for y in Y]
    left_out = GraphLabeler(C=5, kernel="rbf", unlabelled="leave_out").fit(X, holes)
    keep = np.arange(7) != 2
    alone = GraphLabeler(C=5, kernel="rbf").fit([x.subgraph(keep) for x in X], [y[keep] for y in Y])
    assert left_out.certificate_.primal == pytest.approx(alone.certificate_.primal)
    assert max(left_out.support_) < 10 * 6
