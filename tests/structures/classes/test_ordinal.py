import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import prove_training_is_optimal
from scipy import sparse
from strategies import costs, whole
from thorough import examples

from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.tasks import Ordinal, Taxonomy
from maxmargin.testing import check_task

RNG = np.random.default_rng(0)
X = RNG.integers(-2, 3, (9, 3)).astype(float)
Y = ["poor", "good", "fair", "poor", "fair", "good", "best", "good", "fair"]
ORDER = ["poor", "fair", "good", "best"]
ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]
both_models = pytest.mark.parametrize("directions", ["shared", "separate"])


@both_models
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("loss", [{}, {"measure": "error"}, {"costs": {"best": 3.0}}], ids=str)
def test_keeps_the_contract(directions, kind, loss):
    check_task(Ordinal(ORDER, directions, **loss), kind(X), Y, trials=1)


@st.composite
def ordinal_data(draw):
    """A task in which not every class need occur, and its data."""
    n, n_features, n_classes = draw(st.integers(1, 4)), draw(st.integers(1, 2)), draw(st.integers(2, 5))
    measure, cost = draw(st.sampled_from(["distance", "error"])), draw(st.none() | costs(n_classes))
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    order = draw(st.permutations(range(n_classes)))
    task = Ordinal(order, draw(st.sampled_from(["shared", "separate"])), measure, cost)
    return task, draw(whole((n, n_features), -2, 2)), labels


@examples(12, 30)
@given(ordinal_data())
def test_keeps_the_contract_on_anything(problem):
    check_task(*problem, trials=1)


@examples(6, 15)
@given(ordinal_data(), st.sampled_from(ALL), st.sampled_from([0.1, 5.0]))
def test_training_equals_the_qp_over_all_constraints(problem, formulation, C):
    prove_training_is_optimal(*problem, C, formulation)


@pytest.mark.parametrize("formulation", ALL, ids=str)
def test_separate_directions_are_a_taxonomy_that_is_a_chain(formulation):
    """The thresholds are the weights of a constant feature there."""
    task = Ordinal(ORDER, "separate")
    chain = Taxonomy({"fair": "poor", "good": "fair", "best": "good"}, sharing=1, predict_at="nodes")
    wider = np.column_stack([X, np.ones(len(X))])
    task.setup(X, Y)
    chain.setup(wider, Y)
    steps = [list(chain.nodes_).index(label) for label in ORDER[1:]]
    for _ in range(5):
        directions, intercepts = RNG.standard_normal((3, 3)), RNG.standard_normal(3)
        w = np.concatenate([intercepts, directions.ravel()])
        other = np.empty((4, 3))
        other[:, steps] = np.vstack([directions, intercepts])
        risk = Oracle(task.pack(X, Y), formulation).risk(w)
        assert Oracle(chain.pack(wider, Y), formulation).risk(other.ravel()) == pytest.approx(risk)
        assert task.decode(w, X) == chain.decode(other.ravel(), wider)


def test_one_direction_and_thresholds_in_order_are_the_usual_model():
    """The class is then the number of thresholds that ⟨u, x⟩ exceeds."""
    task = Ordinal(ORDER)
    task.setup(X, Y)
    u, thresholds = RNG.standard_normal(3), np.array([-1.0, 0.2, 0.9])
    w = np.concatenate([-thresholds, u])
    assert task.decode(w, X) == [ORDER[k] for k in np.sum((X @ u)[:, None] > thresholds, axis=1)]


def test_loss_is_the_distance_of_ranks():
    task = Ordinal(ORDER)
    task.setup(X, Y)
    assert [task.loss("fair", z) for z in ORDER] == [1, 0, 1, 2]
    task = Ordinal()
    task.setup(X, np.arange(9) % 3)
    np.testing.assert_array_equal(task.cost_, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])


def test_classes_that_are_not_in_the_data():
    task = Ordinal([0, 1, 2, 3, 4])
    check_task(task, X, [0, 1, 3, 3, 1, 0, 3, 1, 0], trials=1)


WRONG = [
    (Ordinal(ORDER), [*Y[:8], "bad"], "example 8: the label 'bad' is not one of the classes .'poor', 'fair'"),
    (Ordinal([*ORDER, "poor"]), Y, "classes contains a label twice"),
    (Ordinal(["poor"]), Y, "only one class was found"),
    (Ordinal(), ["poor"] * 9, "only one class was found"),
    (Ordinal(ORDER, directions="both"), Y, "directions must be 'shared' or 'separate', got 'both'"),
    (Ordinal(ORDER, measure="tree"), Y, "measure must be 'distance' or 'error', got 'tree'"),
    (Ordinal(ORDER, costs="distance"), Y, "costs must be None, a dict or a matrix of numbers, got 'distance'"),
    (Ordinal(ORDER, costs={"bad": 1.0}), Y, "costs names the label 'bad'"),
    (Ordinal(ORDER, costs=np.zeros((3, 3))), Y, r"the cost matrix has shape \(3, 3\); expected \(4, 4\)"),
]


@pytest.mark.parametrize(("task", "labels", "message"), WRONG, ids=[case[2] for case in WRONG])
def test_bad_input(task, labels, message):
    def prepare():
        task.setup(X, labels)
        task.pack(X, labels)

    with pytest.raises(ValueError, match=message):
        prepare()
