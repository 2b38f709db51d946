import numpy as np
import pytest
from example_tasks import ANIMALS
from hypothesis import given
from hypothesis import strategies as st
from proofs import prove_training_is_optimal
from scipy import sparse
from strategies import costs, whole
from thorough import examples

from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.tasks import Multiclass, Taxonomy
from maxmargin.testing import check_task

RNG = np.random.default_rng(0)
X = RNG.integers(-2, 3, (8, 3)).astype(float)
Y = ["cat", "dog", "cow", "oak", "cat", "cow", "dog", "oak"]
ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
sharings = pytest.mark.parametrize("sharing", [0, 0.5, 1])


@sharings
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("loss", [{}, {"measure": "error"}, {"costs": {"cat": 2.0}}], ids=str)
@pytest.mark.parametrize("predict_at", ["leaves", "nodes"])
def test_keeps_the_contract(sharing, kind, loss, predict_at):
    labels = Y if predict_at == "leaves" else [*Y[:5], "animal", "top", "plant"]
    check_task(Taxonomy(ANIMALS, sharing=sharing, predict_at=predict_at, **loss), kind(X), labels, trials=1)


@st.composite
def taxonomies(draw):
    """A task over a lattice in which not every class need occur, and its data."""
    n_nodes = draw(st.integers(3, 7))
    parents = {k: draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=2)) for k in range(1, n_nodes)}
    leaves = sorted(set(range(n_nodes)) - {parent for several in parents.values() for parent in several})
    predict_at = draw(st.sampled_from(["leaves", "nodes"])) if len(leaves) > 1 else "nodes"
    classes = leaves if predict_at == "leaves" else list(range(n_nodes))
    measure, cost = draw(st.sampled_from(["tree", "error"])), draw(st.none() | costs(len(classes)))
    spelling = parents if draw(st.booleans()) else [(parent, k) for k in parents for parent in parents[k]]
    n, n_features = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    labels = draw(st.lists(st.sampled_from(classes), min_size=n, max_size=n))
    task = Taxonomy(spelling, None, draw(st.sampled_from([0, 0.5, 1, 2])), measure, cost, predict_at)
    return task, draw(whole((n, n_features), -2, 2)), labels


@examples(10, 30)
@given(taxonomies())
def test_keeps_the_contract_on_anything(problem):
    check_task(*problem, trials=1)


@examples(8, 15)
@given(taxonomies(), st.sampled_from(ALL), st.sampled_from([0.1, 5.0]))
def test_training_equals_the_qp_over_all_constraints(problem, formulation, C):
    prove_training_is_optimal(*problem, C, formulation)


@pytest.mark.parametrize("formulation", ALL, ids=str)
@pytest.mark.parametrize(
    ("task", "flat"),
    [
        (Taxonomy(ANIMALS, sharing=0, measure="error"), Multiclass()),
        (Taxonomy(None), Multiclass()),  # all classes below one root: there is nothing to share
        (Taxonomy(ANIMALS, sharing=0), Multiclass(costs=[[0, 2, 1, 3], [2, 0, 2, 2], [1, 2, 0, 3], [3, 2, 3, 0]])),
        (Taxonomy(ANIMALS, sharing=0, costs={"cat": 2.0}), Multiclass(costs={"cat": 2.0})),
    ],
    ids=["flat and 0/1", "no taxonomy", "flat and tree", "flat and price list"],
)
def test_flat_is_multiclass(task, flat, formulation):
    oracles = []
    for each in (task, flat):
        each.setup(X, Y)
        oracles.append(Oracle(each.pack(X, Y), formulation))
    assert task.dim == flat.dim
    for _ in range(5):
        w = RNG.standard_normal(task.dim)
        one, other = (oracle.mean_plane(w) for oracle in oracles)
        np.testing.assert_allclose(one.a, other.a)
        assert (one.offset, one.risk) == pytest.approx((other.offset, other.risk))
        assert task.decode(w, X) == flat.decode(w, X)


@pytest.mark.parametrize("sharing", [0.5, 1])
def test_score_of_a_class_is_the_sum_over_its_path(sharing):
    task = Taxonomy(ANIMALS, sharing=sharing)
    task.setup(X, Y)
    assert list(task.nodes_) == ["animal", "cat", "cow", "dog", "oak", "pet", "plant"]  # without the root
    w = RNG.standard_normal(task.dim)
    at = dict(zip(task.nodes_, (X @ w.reshape(3, 7)).T, strict=True))
    paths = {
        "cat": sharing * at["animal"] + sharing * at["pet"] + at["cat"],
        "oak": sharing * at["plant"] + at["oak"],
        "cow": sharing * at["animal"] + at["cow"],
    }
    for label, score in paths.items():
        np.testing.assert_allclose(task.scores(w, X)[:, task.classes_.index(label)], score)


def test_common_attributes_are_counted_by_psi():
    """⟨Λ(y), Λ(z)⟩ is the number of common predecessors (below the root)."""
    task = Taxonomy(ANIMALS, predict_at="nodes")
    task.setup(np.ones((2, 1)), ["cat", "top"])
    psi = {label: np.bincount(task.psi(np.ones(1), label)[0], minlength=task.dim) for label in task.classes_}
    assert [psi["cat"] @ psi[other] for other in ("cat", "dog", "pet", "cow", "oak", "top")] == [3, 2, 2, 1, 0, 0]


def test_a_class_with_two_parents_has_the_weights_of_both():
    task = Taxonomy({"bat": ["mammal", "flying"], "cat": "mammal", "bee": "flying", "mammal": None, "flying": None})
    check_task(task, X, ["bat", "cat", "bee", "cat", "bat", "bee", "bee", "cat"], trials=1)


def test_paths_as_labels():
    labels = ["6.2.0", "6.2.1", "7.1.0", "6.2.0", "7.1.1", "7.1.0", "6.3.0", "8"]
    check_task(Taxonomy("."), X, labels, trials=1)
    check_task(Taxonomy(".", predict_at="nodes"), X, [*labels[:-1], "6.2"], trials=1)
    task = Taxonomy(".", classes=[*labels, "9.1"])
    check_task(task, X, labels, trials=1)
    task.setup(X, labels)
    assert task.classes_[-1] == "9.1"


def test_leaves_of_numbers_below_nodes_with_names():
    task = Taxonomy({0: "even", 2: "even", 1: "odd", 3: "odd", "even": None, "odd": None})
    check_task(task, X, [0, 1, 2, 3, 0, 1, 2, 3], trials=1)
    task.setup(X, np.array([0, 1, 2, 3, 0, 1, 2, 3]))
    assert task.labels_.tolist() == [0, 1, 2, 3]
    assert task.labels_.dtype == int
    assert task.nodes_.tolist() == ["even", "odd", 0, 2, 1, 3]  # names and numbers have no common order


WRONG = [
    (Taxonomy({**ANIMALS, "top": "cat"}), Y, "the taxonomy has a cycle: "),
    (Taxonomy({**ANIMALS, "elm": "tree"}), Y, "the taxonomy has 2 roots, nodes without a parent: 'top', 'tree'"),
    (Taxonomy(ANIMALS), [*Y[:6], "elk", "cat"], "example 6: the label 'elk' is not one of the classes .'cat', 'cow'"),
    (
        Taxonomy(ANIMALS),
        [*Y[:3], "pet", *Y[4:]],
        "example 3: the label 'pet' is an inner node of the taxonomy; expected a",
    ),
    (Taxonomy("."), ["a.b", "a.b.c", "a.d", "e"] * 2, "example 0: the label 'a.b' is an inner node of the taxonomy"),
    (Taxonomy("."), ["a.b", "a.c", "a.d", 7] * 2, "example 3: the label 7 is not a string; taxonomy='.' reads 'a.b'"),
    (Taxonomy(".", classes=["a.b", "c..d"]), Y, "class 1: the label 'c..d' has an empty part"),
    (Taxonomy(ANIMALS, classes=["cat", "dog"]), Y, "this taxonomy names its classes itself"),
    (Taxonomy({"cat": "pet", "pet": "animal"}), ["cat"] * 8, r"only one class was found \(\['cat'\]\)"),
    (Taxonomy(), ["cat"] * 8, r"only one class was found \(\['cat'\]\)"),
    (Taxonomy(ANIMALS, sharing=-1), Y, r"sharing must be a number >= 0 \(0 shares nothing, 1 all\), got -1"),
    (Taxonomy(ANIMALS, predict_at="root"), Y, "predict_at must be 'leaves' or 'nodes', got 'root'"),
    (Taxonomy(ANIMALS, measure="height"), Y, "measure must be 'tree' or 'error', got 'height'"),
    (Taxonomy(ANIMALS, measure=None), Y, "measure must be 'tree' or 'error', got None"),
    (Taxonomy(ANIMALS, costs="tree"), Y, "costs must be None, a dict or a matrix of numbers, got 'tree'"),
    (Taxonomy(ANIMALS, costs={"pet": 2.0}), Y, "costs names the label 'pet', which is not one of the classes"),
    (Taxonomy(ANIMALS, costs=np.zeros((7, 7))), Y, r"the cost matrix has shape \(7, 7\); expected \(4, 4\)"),
    (Taxonomy(ANIMALS, costs=-np.ones((4, 4))), Y, "costs must be finite and >= 0"),
]


@pytest.mark.parametrize(("task", "labels", "message"), WRONG, ids=[case[2] for case in WRONG])
def test_bad_input(task, labels, message):
    def prepare():
        task.setup(X, labels)
        task.pack(X, labels)

    with pytest.raises(ValueError, match=message):
        prepare()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (X.tolist(), r"X must be a dense or sparse \(examples, features\) matrix"),
        (X[:0], "no examples given: X has 0 rows"),
    ],
)
def test_bad_matrices(matrix, message):
    with pytest.raises(ValueError, match=message):
        Taxonomy(ANIMALS).setup(matrix, Y[: len(matrix)])
