import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from strategies import multiclass_data
from thorough import examples

from maxmargin import MulticlassSVC
from maxmargin.tasks import Multiclass
from maxmargin.testing import check_task

RNG = np.random.default_rng(0)
X = RNG.integers(-2, 3, (9, 4)).astype(float)
Y = ["b", "a", "c", "a", "b", "c", "a", "a", "b"]
COSTS = [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("costs", [None, {"a": 2.0}, COSTS])
def test_keeps_the_contract(kind, costs):
    check_task(Multiclass(costs=costs), kind(X), Y, trials=1)


@examples(6, 15)
@given(multiclass_data())
def test_keeps_the_contract_on_anything(problem):
    check_task(*problem, trials=1)


def test_class_that_is_not_in_the_data():
    task = Multiclass(classes=["a", "b", "c", "d"])
    check_task(task, X, Y, trials=1)
    task.setup(X, Y)
    assert task.outputs(X[0]) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("labels", [[1, "one"] * 4 + [1], [True, False] * 4 + [True], [(0, 1), (1, 0)] * 4 + [(0, 1)]])
def test_labels_of_any_hashable_kind(labels):
    check_task(Multiclass(), X, labels, trials=1)


def test_examples_without_features():
    check_task(Multiclass(), np.zeros((3, 2)), [0, 1, 2], trials=1)


def test_costs_by_label_are_the_costs_of_missing_it():
    task = Multiclass(costs={"a": 5.0})
    task.setup(X, Y)
    assert [task.loss("a", "b"), task.loss("b", "a"), task.loss("a", "a")] == [5.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1], [1, 0]], r"shape \(2, 2\); expected \(3, 3\)"),
        ([[0, 1, 1], [-1, 0, 1], [1, 1, 0]], "finite and >= 0"),
        ([[0, np.nan, 1], [1, 0, 1], [1, 1, 0]], "finite and >= 0"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "diagonal"),
        ({"z": 2.0}, "'z', which is not one of the classes"),
    ],
)
def test_costs_that_make_no_sense(costs, message):
    with pytest.raises(ValueError, match=message):
        Multiclass(costs=costs).setup(X, Y)


def test_label_that_is_not_a_class():
    task = Multiclass(classes=["a", "b"])
    task.setup(X, Y)
    with pytest.raises(ValueError, match="'c' is not one of the classes"):
        task.pack(X, Y)


def test_labels_that_are_numbers():
    task, labels = Multiclass(classes=[7, 3, 5]), np.array([5, 5, 3, 7, 3, 5, 7, 7, 3])
    task.setup(X, labels)
    np.testing.assert_array_equal(task.pack(X, labels).labels, [2, 2, 1, 0, 1, 2, 0, 0, 1])
    labels[[4, 6]] = 9, 1
    with pytest.raises(ValueError, match=r"example 4: the label 9 is not one of the classes \(7, 3, 5\)"):
        task.pack(X, labels)


def test_numbers_that_are_no_neighbours():
    """A sparse matrix may be a view of every other number of an array."""
    A = sparse.csr_array(np.random.default_rng(0).standard_normal((12, 3)))
    view = sparse.csr_array((np.repeat(A.data, 2)[::2], A.indices, A.indptr), shape=A.shape)
    y = np.arange(12) % 3
    one, other = (MulticlassSVC(fit_intercept=False, random_state=0).fit(X, y) for X in (A, view))
    np.testing.assert_array_equal(one.w_, other.w_)
