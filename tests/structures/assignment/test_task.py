"""Links: matchings against enumeration, the contract of tasks, training against all constraints, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from thorough import examples

from maxmargin.problem.dual.objective import Formulation
from maxmargin.solvers import BCFW, OneSlack
from maxmargin.structures.assignment.task import best_columns, columns_of, part_numbers
from maxmargin.tasks import Frames, Links
from maxmargin.testing import brute_force, check_solver, check_task

ALL = [Formulation(rescaling, slack) for rescaling in ("margin", "slack") for slack in ("l1", "l2")]


def all_columns(n, m):
    """All assignments, row by row."""
    if n == 0:
        yield []
        return
    for rest in all_columns(n - 1, m):
        for column in range(-1, m):
            if column < 0 or column not in rest:
                yield [*rest, column]


def value(scores, columns, n, m):
    """The sum of the scores of an output's parts, counted one by one."""
    total = sum(scores[i * m + j] if j >= 0 else scores[n * m + i] for i, j in enumerate(columns))
    return total + sum(scores[n * m + n + j] for j in range(m) if j not in columns)


@examples(150, 1500)
@given(
    n=st.integers(0, 4),
    m=st.integers(0, 4),
    seed=st.integers(0, 10**6),
    whole=st.booleans(),
    scales=st.lists(st.sampled_from([1e-8, 1.0, 1e8]), min_size=1, max_size=2),
)
def test_no_assignment_is_better(n, m, seed, whole, scales):
    rng = np.random.default_rng(seed)
    size = n * m + n + m
    scores = rng.integers(-3, 4, size).astype(float) if whole else rng.standard_normal(size)
    scores *= scales[0] if whole else rng.choice(scales, size)
    found = best_columns(scores, n, m)
    listed = list(all_columns(n, m))
    assert found.tolist() in listed
    best = max(value(scores, columns, n, m) for columns in listed)
    assert value(scores, found.tolist(), n, m) == pytest.approx(best, rel=1e-12, abs=1e-14 * np.abs(scores).sum())


@given(n=st.integers(0, 3), m=st.integers(0, 3), data=st.data())
def test_parts_and_columns(n, m, data):
    columns = np.array(data.draw(st.sampled_from(list(all_columns(n, m)))), dtype=np.int64)
    parts = part_numbers(columns, m)
    assert len(parts) == np.sum(columns >= 0) + np.sum(columns < 0) + m - np.sum(columns >= 0)
    np.testing.assert_array_equal(columns_of(parts, n, m), columns)


def drawn(n_examples=5, seed=0, alone=False):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n_examples):
        n, m = rng.integers(1, 4, 2)
        pairs = rng.standard_normal((n, m, 2))
        X.append(Frames(pairs, rng.standard_normal((n, 1)), rng.standard_normal((m, 2))) if alone else pairs)
        listed = list(all_columns(n, m))
        Y.append(np.array(listed[rng.integers(len(listed))]))
    return X, Y


@pytest.mark.parametrize("measure", ["hamming", "share"])
@pytest.mark.parametrize("alone", [False, True])
def test_contract(measure, alone):
    X, Y = drawn(alone=alone)
    task = Links(measure=measure, most_decodes=10_000)
    check_task(
        task, X, Y, trials=1, outputs=lambda x: map(np.array, all_columns(*np.shape(getattr(x, "pairs", x))[:2]))
    )


def test_outputs_are_all_assignments():
    X, Y = drawn()
    task = Links()
    task.setup(X, Y)
    for x in X:
        assert sorted(z.tolist() for z in task.outputs(x)) == sorted(all_columns(*x.shape[:2]))


@pytest.mark.parametrize("formulation", ALL, ids=str)
@pytest.mark.parametrize("alone", [False, True])
def test_training_ends_at_the_optimum_of_all_constraints(formulation, alone):
    X, Y = drawn(4, seed=3, alone=alone)
    task = Links(most_decodes=10_000)
    optimum = brute_force(task, X, Y, 2.0, formulation).value
    for solver in (BCFW(tol=1e-5), OneSlack(tol=1e-5)):
        certificate = check_solver(solver, task, X, Y, 2.0, formulation).certificate
        assert certificate.converged
        assert certificate.dual <= optimum * (1 + 1e-7) + 1e-9
        assert optimum <= certificate.primal * (1 + 1e-7) + 1e-9


def test_losses():
    task = Links()
    assert task.loss([0, 1, -1], [0, 1, -1]) == 0
    assert task.loss([0, 1, -1], [1, 0, -1]) == 4  # two are wrong, two are missed
    assert task.loss([0, 1, -1], [0, -1, -1]) == 1
    assert task.loss([0, 1, -1], [0, 1, 2]) == 1
    assert Links(measure="share").loss([0, 1], [1, 0]) == 1


PAIRS = np.zeros((2, 3, 1))
BAD_LABELS = {
    "short": ([0], "the label of example 0 has 1 columns; expected 2, one for every row"),
    "too large": ([0, 3], "row 1 has the column 3; expected a column from 0 to 2, or -1 for a row that stays alone"),
    "too small": ([0, -2], "row 1 has the column -2"),
    "twice": ([1, 1], "the rows 0 and 1 both have the column 1; expected each column once"),
    "floats": ([0.0, 1.0], "expected the number of a column for every row, or -1"),
    "a table": ([[0, 1]], "expected the number of a column for every row"),
}


@pytest.mark.parametrize("case", BAD_LABELS)
def test_bad_labels(case):
    y, message = BAD_LABELS[case]
    with pytest.raises(ValueError, match=message):
        Links().setup_and_pack([PAIRS], [y])


BAD_INPUTS = {
    "flat": (
        np.zeros((2, 3)),
        "example 1: features of pairs have shape \\(2, 3\\); expected \\(rows, columns, features\\)",
    ),
    "text": ([[["a"]]], "example 1: features of pairs are not numbers"),
    "nan": (
        np.full((2, 3, 1), np.nan),
        "example 1: features of pairs have nan at \\(0, 0, 0\\); expected finite numbers",
    ),
    "more features": (
        np.zeros((2, 3, 2)),
        "example 1 has the features 2 of pairs, 0 of rows alone, 0 of columns alone",
    ),
    "rows": (
        Frames(PAIRS, np.zeros((3, 1))),
        "example 1: features of rows have shape \\(3, 1\\); expected \\(2, features\\)",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_inputs(case):
    x, message = BAD_INPUTS[case]
    with pytest.raises(ValueError, match=message):
        Links().setup_and_pack([PAIRS, x], [[0, 1], [0, 1]])


def test_bad_options_and_functions():
    with pytest.raises(ValueError, match="measure must be one of 'hamming', 'share', got 'f1'"):
        Links(measure="f1").setup([PAIRS], [[0, 1]])
    with pytest.raises(TypeError, match="features must be None or a function"):
        Links(features=3).setup([PAIRS], [[0, 1]])
    task = Links(features=lambda rows, columns: PAIRS)
    with pytest.raises(ValueError, match="example 0 has 1 rows and 3 columns, but features for 2 and 3"):
        task.setup([([1], [1, 2, 3])], [[0]])
    with pytest.raises(ValueError, match="expected two lists of items"):
        task.setup([3], [[0]])
