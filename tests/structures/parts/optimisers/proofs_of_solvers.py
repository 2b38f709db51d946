"""A solver against the list of all of its outputs."""

import pickle

import numpy as np
from hypothesis import strategies as st
from sklearn.base import clone


@st.composite
def cost_rows(draw, n_parts, nonnegative=False):
    """Some rows of costs: small whole numbers, so that there are ties, or real ones from 1e-8 to 1e8."""
    n = draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        costs = rng.integers(-3, 4, (n, n_parts)).astype(float)
    else:
        costs = rng.standard_normal((n, n_parts)) * 10.0 ** draw(st.integers(-8, 8))
    return np.abs(costs) if nonnegative else costs


def prove(solver, outputs, costs, within=1e-12):
    """The value of every answer is the best of all outputs, and an answer is an output; ties may be anyone's."""
    outputs = np.array(outputs, dtype=float)
    assert outputs.shape[1:] == (solver.n_parts,)
    sign = 1 if solver.sense == "min" else -1
    found = solver.solve_many(costs)
    assert found.shape == costs.shape
    for c, z in zip(costs, found, strict=True):
        solver.check(z)
        assert (outputs == z).all(axis=1).any()
        best = (sign * (outputs @ c)).min()
        assert sign * (c @ z) <= best + within * np.abs(outputs @ np.abs(c)).max()
        np.testing.assert_array_equal(solver(c), z)
    prove_check(solver, outputs)
    if solver.same_size:
        assert len(set(outputs.sum(axis=1))) == 1
    for copy in (clone(solver), pickle.loads(pickle.dumps(solver))):
        assert type(copy) is type(solver)
        np.testing.assert_array_equal(copy.solve_many(costs), found)
    assert len(repr(solver)) < 2000


def prove_check(solver, outputs):
    """`check` accepts all outputs, and of their neighbours those alone."""
    listed = {tuple(z) for z in outputs}
    for z in outputs[:5]:
        solver.check(z)
        for p in range(len(z)):
            other = z.copy()
            other[p] = 1 - other[p]
            if tuple(other) in listed:
                solver.check(other)
            else:
                try:
                    solver.check(other)
                except ValueError:
                    continue
                raise AssertionError(f"{other} passed as an output")


def vectors(sets, n_parts):
    """Sets of parts as vectors of 0 and 1."""
    found = np.zeros((len(sets), n_parts))
    for row, parts in zip(found, sets, strict=True):
        row[list(parts)] = 1
    return found
