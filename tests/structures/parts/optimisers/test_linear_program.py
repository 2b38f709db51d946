"""LinearProgram against its corners, or all of its whole points."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from structures.parts.optimisers.proofs_of_solvers import cost_rows

from maxmargin.optimisers import LinearProgram
from maxmargin.structures.parts.optimisers import linear_program
from maxmargin.structures.parts.optimisers.kept_program import installed

WITHIN = 1e-6


def corners(A_ub, b_ub, low, high):
    """Feasible points where n constraints are tight."""
    n = A_ub.shape[1]
    rows, sides = np.vstack([A_ub, np.eye(n), -np.eye(n)]), np.concatenate([b_ub, np.full(n, high), np.full(n, -low)])
    found = []
    for tight in map(list, combinations(range(len(rows)), n)):
        if abs(np.linalg.det(rows[tight])) > 1e-9:
            z = np.linalg.solve(rows[tight], sides[tight])
            if (rows @ z <= sides + 1e-9).all():
                found.append(z)
    return np.array(found).reshape(-1, n)


@pytest.fixture(scope="module", params=["scipy", "highspy"])
def software(request):
    if request.param == "highspy" and not installed():
        pytest.skip("highspy is not installed")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(linear_program, "installed", lambda: request.param == "highspy")
        yield


def drawn_program(data, n):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    m = data.draw(st.integers(0, 3))
    return rng.integers(-3, 4, (m, n)).astype(float), rng.integers(-2, 6, m).astype(float)


def best_value(outputs, costs, sense):
    return (outputs @ costs).min() if sense == "min" else (outputs @ costs).max()


@pytest.mark.parametrize("sense", ["min", "max"])
@given(data=st.data(), n=st.integers(1, 3))
def test_corners(software, sense, data, n):
    A, b = drawn_program(data, n)
    outputs = corners(A, b, -1.0, 2.0)
    assume(len(outputs))
    solver = LinearProgram(sparse.csr_array(A), b, bounds=[(-1, 2)] * n, sense=sense)
    costs = data.draw(cost_rows(n))
    for c, z in zip(costs, solver.solve_many(costs), strict=True):
        solver.check(z)
        assert c @ z == pytest.approx(best_value(outputs, c, sense), abs=WITHIN * np.abs(c).max())
        np.testing.assert_array_equal(solver(c), z)


@pytest.mark.parametrize("sense", ["min", "max"])
@given(data=st.data(), n=st.integers(1, 4))
def test_whole_points(sense, data, n):
    A, b = drawn_program(data, n)
    every = np.array(list(product(range(-1, 3), repeat=n)), dtype=float)
    outputs = every[(every @ A.T <= b).all(axis=1)]
    assume(len(outputs))
    solver = LinearProgram(A, b, bounds=[(-1, 2)] * n, integrality=1, sense=sense)
    costs = data.draw(cost_rows(n))
    for c, z in zip(costs, solver.solve_many(costs), strict=True):
        assert (outputs == z).all(axis=1).any()
        solver.check(z)
        assert c @ z == pytest.approx(best_value(outputs, c, sense), abs=WITHIN * np.abs(c).max())


def test_equations(software):
    """A distribution over three parts, of which two get at most a half."""
    solver = LinearProgram([[1, 1, 0]], [0.5], [[1, 1, 1]], [1])
    np.testing.assert_allclose(solver([1, 2, 3]), [0.5, 0, 0.5])
    np.testing.assert_allclose(solver.set_params(sense="max")([1, 2, 3]), [0, 0, 1])


def test_answers_do_not_depend_on_what_was_asked_before(software):
    """Also where there are many best corners."""
    size, rng = 6, np.random.default_rng(0)
    A = np.vstack([np.kron(np.eye(size), np.ones(size)), np.kron(np.ones(size), np.eye(size))])
    costs = rng.integers(0, 2, (20, size * size)).astype(float)
    asked = LinearProgram(A_eq=A, b_eq=np.ones(2 * size))
    for c in costs:
        np.testing.assert_array_equal(asked(c), LinearProgram(A_eq=A, b_eq=np.ones(2 * size))(c))


def test_no_best_solution(software):
    with pytest.raises(ValueError, match=r"no best solution: .*[Ii]nfeasible"):
        LinearProgram([[1.0]], [-1])
    with pytest.raises(ValueError, match=r"no best solution: .*[Uu]nbounded"):
        LinearProgram([[1.0, -1.0]], [1])([-1, -1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "the number of parts is unknown"),
        ({"A_ub": [[1, 2]]}, "A_ub is given without b_ub"),
        ({"b_eq": [1]}, "b_eq is given without A_eq"),
        ({"A_ub": [[1, 2]], "b_ub": [1, 2]}, r"b_ub has shape \(2,\); expected \(1,\), one for every row of A_ub"),
        ({"A_ub": [[1, np.nan]], "b_ub": [1]}, "there is nan in A_ub; expected finite numbers"),
        ({"A_ub": [[1, 2]], "b_ub": [1], "A_eq": [[1]], "b_eq": [1]}, "2 in A_ub, 1 in A_eq"),
        ({"A_ub": [[1, 2]], "b_ub": [1], "bounds": (1, 0)}, "the bounds of part 0 are 1.0 and 0.0; expected low <= hi"),
        ({"A_ub": [[1, 2]], "b_ub": [1], "bounds": (0, np.nan)}, "the bounds of part 0 are 0.0 and nan"),
        ({"A_ub": [[1, 2]], "b_ub": [1], "bounds": 3}, r"bounds have shape \(\); expected \(low, high\)"),
        ({"A_ub": [[1, 2]], "b_ub": [1], "integrality": 2}, "integrality is 2; expected 0"),
        ({"A_ub": [[1, 2]], "b_ub": [1], "integrality": [1, 0, 1]}, r"integrality has shape \(3,\)"),
        ({"A_ub": [[1, 2]], "b_ub": [1], "sense": "least"}, "sense must be 'min' or 'max', got 'least'"),
    ],
)
def test_what_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        LinearProgram(**parameters)


def test_what_violates_constraints_is_named():
    solver = LinearProgram([[1, 1]], [2], [[1, -1]], [0], integrality=[1, 0])
    solver.check([1, 1])
    with pytest.raises(ValueError, match=r"part 1 has z = -1.0; expected 0.0 <= z <= inf"):
        solver.check([0, -1])
    with pytest.raises(ValueError, match=r"part 0 has z = 0.5; expected a whole number"):
        solver.check([0.5, 0.5])
    with pytest.raises(ValueError, match="row 0 of A_ub adds up to 4; expected at most 2"):
        solver.check([2, 2])
    with pytest.raises(ValueError, match="row 0 of A_eq adds up to 1; expected 0"):
        solver.check([1, 0])
