"""TaxonomySVC: scikit-learn's checks, its relation to MulticlassSVC, and what a taxonomy is good for."""

import pickle

import numpy as np
import pytest
from proofs import prove_every_weight_has_a_name
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from benchmarks.loaders import load_imclef07a
from maxmargin import MulticlassSVC, TaxonomySVC
from maxmargin.metrics import tree_loss

# Three levels, 2 × 2 × 2 leaves; the leaf "qsv" is the path "q.qs.qsv".
PATHS = [f"{a}.{a}{b}.{a}{b}{c}" for a in "pq" for b in "rs" for c in "uv"]
PARENTS = {name: name[:-1] or "life" for path in PATHS for name in path.split(".")}


def problem(n, seed=0):
    """Every node has a direction, and an example lies where the directions on its path lead, with noise."""
    rng = np.random.default_rng(0)
    directions = {name: 2.0 ** (1 - len(name)) * 2 * rng.standard_normal(6) for name in PARENTS}
    centres = {path: sum(directions[name] for name in path.split(".")) for path in PATHS}
    rng = np.random.default_rng(seed)
    labels = rng.choice(PATHS, n)
    return np.array([centres[path] for path in labels]) + rng.standard_normal((n, 6)), labels


def leaves(paths):
    return np.array([path.split(".")[-1] for path in paths])


X, y = problem(120)
X_test, y_test = problem(1000, seed=1)
LEAVES = leaves(y)


def test_nothing_shared_and_equal_costs_are_multiclass_svc():
    options = {"C": 10.0, "tol": 1e-8}
    plain = MulticlassSVC(**options).fit(X, y)
    for model in (
        TaxonomySVC(".", 0, "error", **options),
        TaxonomySVC(**options),
        TaxonomySVC(PARENTS, 0, "error", **options),
    ):
        labels = LEAVES if model.taxonomy is PARENTS else y
        model.fit(X, labels)
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-3)
        np.testing.assert_allclose(model.intercept_, plain.intercept_, atol=1e-3)
        assert model.certificate_.primal == pytest.approx(plain.certificate_.primal)


def test_spellings_of_one_taxonomy_give_one_model():
    models = [
        TaxonomySVC(PARENTS),
        TaxonomySVC([(parent, child) for child, parent in PARENTS.items()]),
        TaxonomySVC({child: [parent] for child, parent in PARENTS.items()}),
        TaxonomySVC({child: None if parent == "life" else parent for child, parent in PARENTS.items()}),
    ]
    first = models[0].fit(X, LEAVES)
    for model in models[1:]:
        np.testing.assert_array_equal(model.fit(X, LEAVES).w_, first.w_)
    paths = TaxonomySVC(".").fit(X, y)
    np.testing.assert_array_equal(leaves(paths.predict(X)), first.predict(X))


def test_weights_are_of_the_kept_objective():
    model = TaxonomySVC(".", C=10.0).fit(X, y)
    assert list(model.classes_) == sorted(PATHS)
    assert list(model.nodes_) == sorted({".".join(path.split(".")[:k]) for path in PATHS for k in (1, 2, 3)})
    assert model.coef_.shape == (14, 6)
    own = X @ model.coef_.T + model.intercept_
    marks = [[1.0 if v == k else 0.5 * k.startswith(v) for v in model.nodes_] for k in model.classes_]
    scores = own @ np.transpose(marks)
    np.testing.assert_allclose(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(scores, axis=1)])
    cost = np.array([[tree_loss([a], [b], ".") for b in model.classes_] for a in y])
    right = scores[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    hinges = np.max(cost + scores - right[:, None], axis=1)
    objective = 0.5 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2)) + 10.0 * np.mean(hinges)
    assert model.certificate_.primal == pytest.approx(objective)
    assert model.certificate_.relative_gap <= 1e-3


def test_weights_by_name():
    model = TaxonomySVC(PARENTS).fit(X, LEAVES)
    prove_every_weight_has_a_name(model)
    features, intercept = model.weights_["features"], model.weights_["intercept"]
    assert dict(zip(features.axes, features.names, strict=True)) == {"feature": [*range(6)], "node": [*model.nodes_]}
    for v, node in enumerate(model.nodes_):
        assert features[4, node] == model.coef_[v, 4]
        assert intercept[node] == model.intercept_[v]
    assert all("node=pr" in name for name, _ in model.top_weights("pr", 7))  # an inner node
    assert len(model.top_weights("pr", 100)) == 7


def test_sharing_helps_where_examples_are_few():
    """The four columns of the paper's table, in small: two examples per class."""
    found = dict.fromkeys([(a, c) for a in (0, 1) for c in ("error", "tree")], 0.0)
    for seed in range(5):
        few, labels = problem(16, seed=10 + seed)
        for sharing, measure in found:
            model = TaxonomySVC(PARENTS, sharing, measure, C=10.0).fit(few, leaves(labels))
            found[sharing, measure] += tree_loss(leaves(y_test), model.predict(X_test), PARENTS) / 5
    assert found[1, "tree"] < found[1, "error"] < found[0, "error"]


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["l1", "l2"])
def test_solvers_agree_in_all_formulations(rescaling, slack):
    options = {"taxonomy": ".", "C": 5.0, "rescaling": rescaling, "slack": slack}
    exact = TaxonomySVC(solver="one_slack", tol=1e-5, **options).fit(X, y).certificate_
    default = TaxonomySVC(**options).fit(X, y).certificate_
    assert exact.converged
    assert exact.exact
    assert default.dual <= exact.primal * (1 + 1e-9)
    assert exact.dual * (1 - 1e-9) <= default.primal <= exact.primal * 1.001


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows(kind):
    np.testing.assert_allclose(TaxonomySVC(".").fit(kind(X), y).w_, TaxonomySVC(".").fit(X, y).w_, rtol=1e-9)


def test_any_cost_of_classes():
    by_name = TaxonomySVC(PARENTS, costs={"pru": 5.0}).fit(X, LEAVES)
    matrix = np.where(np.eye(8), 0.0, np.where(by_name.classes_ == "pru", 5.0, 1.0)[:, None])
    np.testing.assert_array_equal(TaxonomySVC(PARENTS, costs=matrix).fit(X, LEAVES).w_, by_name.w_)


# --- what can be predicted


def test_leaves_without_examples_are_classes():
    model = TaxonomySVC({**PARENTS, "new": "pr"}).fit(X, LEAVES)
    assert "new" in model.classes_
    assert model.decision_function(X).shape == (len(X), 9)


def test_prediction_at_any_node():
    labels = LEAVES.astype(object)
    labels[::5] = [PARENTS[leaf] for leaf in LEAVES[::5]]
    labels[::20] = "life"
    labels = labels.astype(str)
    model = TaxonomySVC(PARENTS, predict_at="nodes", C=1e3).fit(X, labels)
    assert set(model.classes_) == {*PARENTS, "life"}
    assert "life" not in model.nodes_  # its score is the 0 that others are compared with
    assert len(set(model.predict(X)) - set(LEAVES)) > 0
    with pytest.raises(
        ValueError, match="example 0: the label 'life' is an inner node of the taxonomy; expected a leaf"
    ):
        TaxonomySVC(PARENTS).fit(X, labels)
    paths = TaxonomySVC(".", predict_at="nodes").fit(X, y)
    assert len(paths.classes_) == 14


def test_two_leaves_have_one_score():
    keep = np.char.startswith(y, "p.pr.")
    model = TaxonomySVC(".").fit(X[keep], y[keep])
    scores = model.decision_function(X[keep])
    assert scores.shape == (keep.sum(),)
    np.testing.assert_array_equal(model.predict(X[keep]), model.classes_[(scores > 0).astype(int)])
    assert list(model.nodes_) == list(model.classes_)  # what is above both tells nothing


@pytest.mark.parametrize("kind", [np.int8, np.int64, float])
def test_kinds_of_numbers_as_labels(kind):
    digits, numbers = load_digits(return_X_y=True)
    digits, numbers = digits[:200] / 16, numbers[:200].astype(kind)
    names = {k: "round" if k in (0, 6, 8, 9) else "open" for k in range(10)} | {"round": None, "open": None}
    model = TaxonomySVC(names).fit(digits, numbers)
    assert model.classes_.dtype == model.predict(digits).dtype == numbers.dtype
    assert list(model.classes_) == list(range(10))
    assert model.score(digits, numbers) > 0.95


# --- bad input


WRONG = [
    ({**PARENTS, "life": "pru"}, LEAVES, "the taxonomy has a cycle: "),
    (
        {**PARENTS, "virus": "other"},
        LEAVES,
        "the taxonomy has 2 roots, nodes without a parent: 'life', 'other'; expected one",
    ),
    (
        PARENTS,
        [*LEAVES[:7], "elk", *LEAVES[8:]],
        "example 7: the label 'elk' is not one of the classes .'pru', 'prv', ",
    ),
    (
        PARENTS,
        [*LEAVES[:7], "pr", *LEAVES[8:]],
        "example 7: the label 'pr' is an inner node of the taxonomy; expected a leaf",
    ),
    (".", [*y[:7], "p.pr", *y[8:]], "example 7: the label 'p.pr' is an inner node of the taxonomy"),
    (".", [*y[:7], "p..u", *y[8:]], "example 7: the label 'p..u' has an empty part; taxonomy='.' reads 'a.b'"),
    (".", np.arange(len(y)) % 3, "example 0: the label 0 is not a string; taxonomy='.' reads 'a.b'"),
    (3, y, "taxonomy is 3; expected {child: parent}"),
]


@pytest.mark.parametrize(("taxonomy", "labels", "message"), WRONG, ids=[case[2] for case in WRONG])
def test_bad_input(taxonomy, labels, message):
    model = TaxonomySVC(taxonomy)
    for train in (model.fit, lambda X, y: model.fit_path(X, y, [1.0])):
        with pytest.raises(ValueError, match=message):
            train(X, labels)
    assert not hasattr(model, "w_")


def test_unfitted():
    model = TaxonomySVC()
    for name in ("classes_", "nodes_", "coef_"):
        assert not hasattr(model, name)
    with pytest.raises(NotFittedError):
        model.predict(X)


# --- training and tools


def test_partial_fit():
    model = TaxonomySVC(".", solver="perceptron")
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        model.partial_fit(X[:5], y[:5])
    for _ in range(10):
        model.partial_fit(X[:5], y[:5], classes=PATHS).partial_fit(X[5:], y[5:])
    assert model.score(X, y) > 0.5
    with pytest.raises(ValueError, match="classes differs from the classes of the first call"):
        model.partial_fit(X, y, classes=PATHS[1:])
    named = TaxonomySVC(PARENTS, solver="perceptron").partial_fit(X[:5], LEAVES[:5])
    assert len(named.classes_) == 8
    with pytest.raises(ValueError, match="example 1: the label 'pr' is an inner node"):
        named.partial_fit(X[:2], ["pru", "pr"])


def test_path_certify_and_pickle():
    path = TaxonomySVC(".").fit_path(X, y, [0.1, 10.0])
    assert path[1].certify(X, y).primal == pytest.approx(path[1].certificate_.primal)
    copy = pickle.loads(pickle.dumps(path[1]))
    np.testing.assert_array_equal(copy.predict(X), path[1].predict(X))
    np.testing.assert_array_equal(clone(copy).fit(X, y).w_, TaxonomySVC(".", C=10.0).fit(X, y).w_)
    warm = TaxonomySVC(".", warm_start=True).fit(X, y)
    assert warm.fit(X, y).certificate_.passes < TaxonomySVC(".").fit(X, y).certificate_.passes


def test_threads_change_nothing():
    np.testing.assert_array_equal(TaxonomySVC(".", n_jobs=2).fit(X, y).w_, TaxonomySVC(".").fit(X, y).w_)


def test_grid_search_over_the_columns_of_the_table():
    grid = {"sharing": [0, 1], "measure": ["error", "tree"], "C": [0.1, 10.0]}
    scorer = make_scorer(tree_loss, taxonomy=".", greater_is_better=False)
    search = GridSearchCV(TaxonomySVC(".", tol=1e-2), grid, scoring=scorer, cv=3).fit(X, y)
    assert search.best_params_["C"] == 10.0
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.data
def test_imclef07a():
    """Each model with the C that has the lowest tree loss on a fifth of the training images."""
    rows, labels = load_imclef07a("train")
    scaler = StandardScaler().fit(rows)
    test_rows, truth = load_imclef07a("test")
    flat = TaxonomySVC("/", 0, "error", C=100.0)
    model = TaxonomySVC("/", C=1000.0)
    found = {}
    for each in (flat, model):
        each.fit(scaler.transform(rows), labels)
        assert each.certificate_.relative_gap <= 1e-3
        found[each] = tree_loss(truth, each.predict(scaler.transform(test_rows)), "/")
    assert found[model] < found[flat] < 0.5
