import numpy as np
import pytest
from counting.dense_training import trained
from counting.sets.checks import check_best, check_samples, check_set, rejects, scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.counting.sets.classes import Classes, OrderedClasses


@pytest.mark.parametrize("d", [1, 2, 3, 7, 30])
def test_classes_keep_the_contract(d):
    check_set(Classes(d))


@pytest.mark.parametrize("d", [2, 3, 4, 17, 18, 40])
def test_levels_keep_the_contract(d):
    check_set(OrderedClasses(d))


@pytest.mark.parametrize("outputs", [Classes(["cat", "dog", ("a", 1)]), OrderedClasses(("low", "mid", "high", "top"))])
def test_items_have_names(outputs):
    check_set(outputs)
    check_samples(outputs, uniform=True)
    assert list(outputs.outputs()) == list(getattr(outputs, "classes", getattr(outputs, "levels", None)))


@given(st.integers(1, 6).flatmap(scores))
def test_the_best_class_is_found(f):
    assert check_best(Classes(len(f)), f).exact


@given(st.integers(1, 6).flatmap(scores))
def test_the_best_level_is_found(f):
    assert check_best(OrderedClasses(len(f) + 1), f).exact


def test_features_of_levels_are_thresholds():
    np.testing.assert_array_equal([OrderedClasses(4).features(y) for y in range(4)], np.tri(4, 3, -1))


def test_many_levels_stay_accurate():
    outputs = OrderedClasses(100_000)
    variance = outputs.cov_apply(np.ones((1, outputs.dim))).sum()  # of the level itself
    np.testing.assert_allclose(variance, (100_000**2 - 1) / 12, rtol=1e-10)
    assert outputs.cov_spectrum() is None


def test_what_is_no_member_is_explained():
    rejects(Classes(3), 3, "3 is not one of the classes", "0 … 2")
    rejects(Classes(3), -1, "-1 is not one of the classes")
    rejects(Classes(3), True, "True is not one of the classes")
    rejects(Classes(["a", "b"]), 0, "0 is not one of the classes", "'a', 'b'")
    rejects(Classes(["a", "b"]), ["a"], "['a'] is not one of the classes")
    rejects(OrderedClasses(["low", "high"]), "mid", "'mid' is not one of the levels", "'low', 'high'")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Classes(0), "there must be at least 1 class, got 0"),
        (lambda: Classes(2.5), "the classes are given as 2.5; expected the number of classes or a sequence"),
        (lambda: Classes(True), "the classes are given as True"),
        (lambda: Classes({"a", "b"}), "expected the number of classes or a sequence of their names"),
        (lambda: Classes(iter("ab")), "expected the number of classes or a sequence of their names"),
        (lambda: Classes(["a", "b", "a"]), "class 'a' is named twice"),
        (lambda: Classes([["a"], ["b"]]), "the name of a class cannot be used"),
        (lambda: OrderedClasses(1), "there must be at least 2 levels, got 1"),
    ],
)
def test_bad_parameters_are_explained(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_changed_parameter_is_noticed():
    outputs = Classes(3)
    assert outputs.dim == 3
    outputs.set_params(classes=5)
    assert outputs.dim == 5
    assert outputs.features(4)[4] == 1


def test_numpy_items_are_plain():
    outputs = Classes(np.array(["a", "b"]))
    assert outputs.features(np.str_("b"))[1] == 1
    assert type(outputs.decode(np.array([0.0, 1.0])).y) is str


def test_training_of_three_classes():
    W, objective = trained(Classes(3), np.array([[1.0, 0], [0, 1], [1, 1]]), [[0], [1], [2]], lam=1.0)
    a, b, c = 0.1403508772, -0.2280701754, 0.0877192982
    np.testing.assert_allclose(W, [[a, b, c], [b, a, c]], atol=1e-10)
    np.testing.assert_allclose(objective, -0.228070175439, atol=1e-12)
