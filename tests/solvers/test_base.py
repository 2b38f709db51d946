"""The loop around every algorithm: which point it keeps, and that this is nobody else's array."""

import numpy as np
import pytest

from maxmargin.problem.dual.plane_dual import PlaneDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers.base import Solver
from maxmargin.solvers.cuts import Cuts
from maxmargin.solvers.steps import Memory, ShiftingMemory, Step
from maxmargin.structures.classes.class_dual import ClassDual
from maxmargin.structures.sequences.chain_flows import ChainFlows
from maxmargin.tasks import Chain


class Walker(Solver):
    """Goes through given multiples of a direction in one array, and leaves a bad one in it at the end."""

    certified = False
    factors: tuple = (1.0,)

    def steps(self, oracle, C, seed, start):
        direction = np.linspace(-1.0, 1.0, oracle.dim)
        w = np.zeros(oracle.dim)
        for factor in self.factors:
            np.copyto(w, factor * direction)
            yield Step(w, memory=w)
        w[:] = 1e3  # far worse


class Breaker(Walker):
    """Fails at last."""

    def steps(self, oracle, C, seed, start):
        yield from super().steps(oracle, C, seed, start)
        raise FloatingPointError("at last")


def problem():
    task = Chain()
    return Oracle(task.setup_and_pack([np.eye(3), np.eye(3)[:2]], [[0, 1, 1], [1, 0]]))


@pytest.mark.parametrize("kind", [Walker, Breaker])
@pytest.mark.parametrize("factors", [(0.1,), (5.0, 0.1, 3.0), (5.0, 4.0, 0.1), (0.1, 5.0, 4.0), (5.0, 4.0, 3.0, 2.0)])
def test_the_best_point_is_kept(factors, kind):
    oracle = problem()
    direction = np.linspace(-1.0, 1.0, oracle.dim)
    values = [oracle.objective(f * direction, oracle.risk(f * direction), 1.0) for f in factors]
    solution = kind(factors=factors).solve(oracle, 1.0)
    np.testing.assert_array_equal(solution.w, factors[int(np.argmin(values))] * direction)
    assert solution.certificate.primal == min(values)
    assert (solution.error is None) == (kind is Walker)
    assert not np.shares_memory(solution.w, solution.memory)


def test_the_callback_may_end_it():
    """At the point that was just measured, which goes on to belong to the algorithm."""
    oracle = problem()
    for stop in range(1, 4):
        seen: list[float] = []
        factors = (5.0, 4.0, 3.0, 2.0)
        solution = Walker(factors=factors).solve(
            oracle, 1.0, callback=lambda r, s=stop, n=seen: n.append(0) or len(n) == s
        )
        np.testing.assert_array_equal(solution.w, factors[stop - 1] * np.linspace(-1.0, 1.0, oracle.dim))
        assert not np.shares_memory(solution.w, solution.memory)


@pytest.mark.parametrize("kind", [PlaneDual, ClassDual, ChainFlows, Cuts])
def test_what_solvers_remember_is_compared_with_what_is_measured(kind):
    """A memory without `risk` and `slacks` would be left out of these comparisons, silently."""
    assert issubclass(kind, Memory)
    assert issubclass(kind, ShiftingMemory) == (kind in (PlaneDual, Cuts))
