"""GraphLabeler: learning, certificates, what it shows of a prediction, bad input, scikit-learn's rules."""

import pickle
from functools import cache

import numpy as np
import pytest
from estimators.problems import CHECKS_WITHOUT_DATA
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags

from maxmargin import GraphLabeler
from maxmargin.tasks import Nodes, Weighted


def stripes(n=12, size=8, n_labels=2, seed=0, noise=1.0):
    """Noisy images of horizontal stripes: a pixel's neighbours beside it have its label, those below may not."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        truth = np.repeat(rng.integers(0, n_labels, size), size).reshape(size, size)
        image = np.eye(n_labels)[truth] + noise * rng.normal(size=(size, size, n_labels))
        X.append(Nodes.grid(image))
        Y.append(truth)
    return X, Y


X, Y = stripes()
NEW, TRUTH = stripes(seed=1)


@cache
def trained():
    return GraphLabeler(C=1.0, directed=False).fit(X, Y)


def alone(graphs):
    """The same without edges."""
    return [Nodes(x.features, []) for x in graphs]


def test_neighbours_help():
    assert trained().certificate_.converged
    single = GraphLabeler(C=1.0).fit(alone(X), Y)
    assert single.certificate_.exact
    assert trained().score(NEW, TRUTH) > single.score(alone(NEW), TRUTH) + 0.1
    right, down = trained().edge_coef_
    assert right[0, 0] + right[1, 1] - right[0, 1] - right[1, 0] > 5 * abs(down[0, 0] + down[1, 1] - 2 * down[0, 1])


def test_predictions_have_the_shape_of_the_grid():
    found = trained().predict(NEW)
    assert [z.shape for z in found] == [(8, 8)] * len(NEW)
    assert found[0].dtype == Y[0].dtype
    right = np.mean([np.mean(z == y) for z, y in zip(found, TRUTH, strict=True)])
    assert trained().score(NEW, TRUTH) == pytest.approx(right)


def test_weights_have_names():
    assert trained().classes_ == [0, 1]
    assert trained().coef_.shape == (2, 2)
    assert trained().edge_coef_.shape == (2, 2, 2)
    assert trained().n_features_in_ == 2
    np.testing.assert_array_equal(trained().edge_coef_, trained().edge_coef_.transpose(0, 2, 1))
    nodes, edges = trained().weights_["nodes"], trained().weights_["edges"]
    np.testing.assert_array_equal(nodes, trained().coef_)
    np.testing.assert_array_equal(edges, trained().edge_coef_)
    assert nodes.axes == ("label", "feature")
    assert edges.axes == ("feature", "first_label", "second_label")
    assert edges["down", 0, 1] == trained().edge_coef_[1, 0, 1]


def test_every_weight_is_shown():
    names = np.array(["sky", "sea", "sand"])
    data, labels = stripes(4, 4, 3)
    data = [Nodes(np.hstack([x.features, np.ones((16, 1))]), x.edges, x.edge_features) for x in data]
    model = GraphLabeler(C=1.0, max_passes=5).fit(data, [names[y] for y in labels])
    nodes, edges = model.weights_["nodes"], model.weights_["edges"]
    assert (nodes.shape, edges.shape) == ((3, 4), (2, 3, 3))
    assert sorted([*np.ravel(nodes), *np.ravel(edges)]) == sorted(model.w_)
    score = nodes["sea", 3] + edges[0, "sea", "sky"]  # one edge between two nodes that have their last feature alone
    x = Nodes([[0, 0, 0, 1], [0, 0, 0, 0]], [(0, 1)], [[1, 0]])
    assert model.task_.psi(x, ["sea", "sky"]) @ model.w_ == pytest.approx(score)
    for weight in model.top_weights("sea", 5):
        assert "label=sea" in weight.name
    largest = model.top_weights(n=1)[0]
    assert abs(largest.weight) == np.abs(model.w_).max()
    with pytest.raises(ValueError, match="no weight belongs to the label 'wood'"):
        model.top_weights("wood")


def test_edge_features_have_names_where_all_graphs_agree():
    image, y = np.arange(4.0).reshape(2, 2), [[0, 1, 0, 1]]
    grid, constant = Nodes.grid(image), Nodes.grid(image, edge_features="constant")
    plain = Nodes(grid.features, grid.edges, grid.edge_features)

    def names(*graphs):
        return GraphLabeler(C=1.0).fit(graphs, y * len(graphs)).weights_["edges"].names[0]

    assert names(grid, Nodes([[1.0]] * 4, []), grid.subgraph([0, 1, 2, 3])) == ["right", "down"]
    assert names(constant) == ["constant"]
    assert names(plain, grid) == names(plain) == [0, 1]


def test_scores_of_predictions_are_those_of_the_weights():
    for x, z, bound in zip(NEW, trained().predict(NEW), trained().predict_bounds(NEW), strict=True):
        z = z.ravel()
        ends = z[x.edges]
        score = (x.features @ trained().coef_.T)[np.arange(len(z)), z].sum()
        score += sum(row @ trained().edge_coef_[:, a, b] for row, (a, b) in zip(x.edge_features, ends, strict=True))
        assert bound.score == pytest.approx(score)
        assert bound.upper >= bound.score - 1e-9


def test_bounds_of_attracting_neighbours_are_tight():
    """Two labels whose neighbours attract each other: a minimum cut finds the best labelling, and proves it."""
    model = clone(trained()).set_params(method="roof_dual").fit(X, Y)
    assert model.certificate_.method == "min-cut with roof duality"
    assert model.certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.02)
    for bound in model.predict_bounds(NEW):
        assert bound.upper == pytest.approx(bound.score)
        assert bound.method == "min-cut with roof duality"


@pytest.mark.parametrize("method", ["relaxation", "expansion", "auto"])
def test_three_labels(method):
    data, labels = stripes(8, 6, 3)
    model = GraphLabeler(C=1.0, directed=False, method=method, max_passes=40).fit(data, labels)
    new, truth = stripes(8, 6, 3, seed=1)
    single = GraphLabeler(C=1.0).fit(alone(data), labels)
    assert model.score(new, truth) > single.score(alone(new), truth) + 0.05
    certificate = model.certificate_
    assert certificate.dual <= certificate.primal + 1e-9
    if method == "expansion":
        assert certificate.search == "undergenerating"
        assert certificate.method == "α-expansion"
        assert all(bound.upper >= bound.score for bound in model.predict_bounds(new))
    else:
        assert certificate.method in ("LP relaxation", "junction tree")
        assert all(bound.score - 1e-9 <= bound.upper <= bound.score * 1.1 for bound in model.predict_bounds(new))


def test_tuples_and_lists_train_the_same_model():
    tuples = [(x.features, x.edges, x.edge_features) for x in X]
    model = clone(trained()).fit(tuples, [y.ravel().tolist() for y in Y])
    np.testing.assert_array_equal(model.w_, trained().w_)
    assert model.predict(tuples)[0].shape == (64,)
    np.testing.assert_array_equal(model.predict(X)[0], trained().predict(X)[0])


def test_sparse_features():
    packed = [Nodes(sparse.csr_array(x.features), x.edges, x.edge_features) for x in X]
    model = clone(trained()).fit(packed, Y)
    np.testing.assert_array_equal(model.w_, trained().w_)


def test_names_for_labels():
    names = np.array(["sky", "water"])
    model = clone(trained()).fit(X, [names[y] for y in Y])
    assert model.classes_ == ["sky", "water"]
    np.testing.assert_array_equal(model.predict(NEW)[0], names[trained().predict(NEW)[0]])
    named = clone(trained()).set_params(classes=["water", "sky"]).fit(X, [names[y] for y in Y])
    assert named.classes_ == ["water", "sky"]
    assert named.certificate_.primal == pytest.approx(model.certificate_.primal, rel=0.02)


def test_costs_move_the_boundary():
    shares = []
    for cost in (0.2, 1.0, 5.0):
        model = clone(trained()).set_params(costs={1: cost}).fit(X, Y)
        shares.append(np.mean([z.mean() for z in model.predict(NEW)]))
    assert shares == sorted(shares)
    assert shares[2] > shares[0]


def test_costs_of_single_nodes():
    """Nodes without a cost may be wrong: what the labels say there is learnt no more."""
    flipped = [np.where(np.arange(64).reshape(8, 8) % 8 < 2, 1 - y, y) for y in Y]
    free = [(np.arange(64) % 8 >= 2).astype(float).reshape(8, 8) for _ in Y]
    plain = clone(trained()).fit(X, flipped)
    spared = clone(trained()).fit(X, [Weighted(y, c) for y, c in zip(flipped, free, strict=True)])
    assert spared.certificate_.primal < plain.certificate_.primal


def test_unlabelled_nodes_are_left_out():
    holes = [y.astype(object) for y in Y]
    for i, y in enumerate(holes):
        y[i % 8, :4] = None
    with pytest.raises(ValueError, match=r"graph 0: node 0 has no label \(None\), like 4 of its 64 nodes"):
        clone(trained()).fit(X, holes)
    model = clone(trained()).set_params(unlabelled="leave_out").fit(X, holes)
    assert model.score(NEW, TRUTH) > 0.85
    known = [np.array([label is not None for label in y.ravel()]) for y in holes]
    parts = [x.subgraph(keep) for x, keep in zip(X, known, strict=True)]
    labels = [y.ravel()[keep].astype(int) for y, keep in zip(holes, known, strict=True)]
    np.testing.assert_array_equal(clone(trained()).fit(parts, labels).w_, model.w_)
    right = sum(int((z.ravel()[keep] == y).sum()) for z, keep, y in zip(model.predict(X), known, labels, strict=True))
    assert model.score(X, holes) == right / sum(map(len, labels))


def test_scores_count_unseen_labels_as_wrong():
    assert trained().score([X[0]], [np.full((8, 8), 7)]) == 0
    with pytest.raises(ValueError, match="no labelled nodes given"):
        trained().score([X[0]], [[None] * 64])
    with pytest.raises(ValueError, match="X has 2 graphs but Y has 1"):
        trained().score(X[:2], Y[:1])
    with pytest.raises(ValueError, match="graph 0: it has 64 nodes but 3 labels"):
        trained().score([X[0]], [[0, 1, 0]])


def test_sample_weights_count_graphs():
    counts = np.arange(len(X)) % 3
    repeated = [i for i, count in enumerate(counts) for _ in range(count)]
    weighted = clone(trained()).set_params(tol=1e-3).fit(X, Y, sample_weight=counts)
    plain = clone(trained()).set_params(tol=1e-3).fit([X[i] for i in repeated], [Y[i] for i in repeated])
    assert weighted.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=3e-3)


@pytest.mark.parametrize("solver", ["bcfw", "n_slack", "one_slack", "bundle"])
def test_every_certified_solver_trains(solver):
    model = clone(trained()).set_params(solver=solver).fit(X, Y)
    assert model.certificate_.converged
    assert model.certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.03)


def test_online_training():
    model = GraphLabeler(C=1.0, solver="perceptron", classes=[0, 1], directed=False)
    for begin in (0, 4, 8):
        model.partial_fit(X[begin : begin + 4], Y[begin : begin + 4])
    assert model.score(NEW, TRUTH) > 0.8


def test_threads_change_nothing():
    np.testing.assert_array_equal(clone(trained()).set_params(n_jobs=2).fit(X, Y).w_, trained().w_)


def test_path_and_warm_start():
    models = clone(trained()).fit_path(X, Y, [0.1, 1.0])
    assert models[1].certificate_.primal == pytest.approx(trained().certificate_.primal, rel=0.02)
    model = clone(trained()).set_params(warm_start=True).fit(X, Y)
    passes = model.certificate_.passes
    assert model.fit(X, Y).certificate_.passes < passes


def test_certify_agrees_with_training():
    assert trained().certify(X, Y).primal == pytest.approx(trained().certificate_.primal)


def test_one_feature_for_all_edges():
    """The two directions of a stripe are the same to a model without directions."""
    plain = [Nodes(x.features, x.edges) for x in X]
    model = clone(trained()).fit(plain, Y)
    assert model.edge_coef_.shape == (1, 2, 2)
    assert model.score([Nodes(x.features, x.edges) for x in NEW], TRUTH) < trained().score(NEW, TRUTH)


# --- scikit-learn's rules


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_checks_of_scikit_learn_that_need_no_data(check):
    check("GraphLabeler", GraphLabeler())


def test_tags():
    tags = get_tags(GraphLabeler())
    assert tags.target_tags.required
    assert not tags.input_tags.two_d_array


def test_grid_search_and_pickle():
    search = GridSearchCV(GraphLabeler(directed=False), {"C": [0.01, 1.0], "directed": [True, False]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.8
    assert cross_val_score(trained(), X, Y, cv=3).mean() > 0.8
    again = pickle.loads(pickle.dumps(trained()))
    np.testing.assert_array_equal(again.predict(NEW)[0], trained().predict(NEW)[0])


def test_unfitted():
    with pytest.raises(NotFittedError):
        GraphLabeler().predict(X)
    with pytest.raises(NotFittedError):
        GraphLabeler().predict_bounds(X)


# --- bad input


def test_faults_are_named():
    with pytest.raises(ValueError, match="X has 12 examples but Y has 11"):
        GraphLabeler().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="X is of type Nodes; expected a list of graphs"):
        GraphLabeler().fit(X[0], Y[0].ravel())
    with pytest.raises(ValueError, match=r"graph 0: .*array of shape \(8, 8\); for an image use Nodes.grid"):
        GraphLabeler().fit([np.eye(8)], [Y[0]])
    with pytest.raises(ValueError, match="only one class was found"):
        GraphLabeler().fit(X, [np.zeros((8, 8), dtype=int)] * 12)
    with pytest.raises(ValueError, match="graph 1 has 3 features per node; expected 2 as in training"):
        trained().predict([X[0], Nodes(np.ones((4, 3)), [])])
    with pytest.raises(TypeError, match="GraphLabeler has no parameter 'loss'"):
        GraphLabeler(loss="hamming")
    with pytest.raises(ValueError, match=r"graph \d+: .*prefers different labels"):
        GraphLabeler(method="min_cut", C=100.0).fit(X, [(np.indices((8, 8)).sum(axis=0) % 2)] * 12)


def test_relaxations_are_solved_finely_enough_for_easy_data():
    """Where nearly nothing is violated, a fixed tolerance would be all that is measured."""
    rng = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(4):
        y = np.kron(rng.integers(0, 3, (2, 2)), np.ones((4, 4), dtype=int))
        X.append(Nodes.grid(np.eye(3)[y] + 0.2 * rng.standard_normal((8, 8, 3))))
        Y.append(y)
    model = GraphLabeler(C=1000, method="relaxation").fit(X, Y)
    assert model.certificate_.converged
    assert model.score(X, Y) == 1.0


def test_masked_labels_are_not_known():
    X = [Nodes(np.eye(2)[[0, 1, 0]], [(0, 1), (1, 2)])] * 2
    masked = np.ma.array([0, 1, 1], mask=[False, False, True])
    with pytest.raises(ValueError, match=r"graph 0: node 2 has no label \(None\)"):
        GraphLabeler().fit(X, [masked] * 2)
    hidden = GraphLabeler(unlabelled="leave_out").fit(X, [masked] * 2)
    plain = GraphLabeler(unlabelled="leave_out").fit(X, [[0, 1, None]] * 2)
    assert np.array_equal(hidden.w_, plain.w_)


def test_no_label_at_all():
    with pytest.raises(ValueError, match="no node of any graph has a label"):
        GraphLabeler(unlabelled="leave_out").fit([Nodes(np.eye(2), [(0, 1)])], [[None, None]])
