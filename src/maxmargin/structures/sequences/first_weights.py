"""Initial weights for chains with missing labels, learnt from the stretches of known labels."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from maxmargin.base.arrays import Array
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.solvers import CCCP, Solver, as_solver
from maxmargin.structures.sequences.batch import ChainBatch
from maxmargin.training.options import seed_of
from maxmargin.training.problem import Problem
from maxmargin.training.progress import watching

FIRST_TOL = 0.05  # relative gap of the initial model, which only completes labels


def weights_of_stretches(problem: Problem, solver: Solver, C: float, random_state: Any) -> Array | None:
    """Train on the stretches of known labels, each as a sequence of its own; return None if there are none.

    solver : the solver; for a CCCP, its inner solver is used.
    """
    batch, oracle = problem.batch, problem.oracle
    assert isinstance(batch, ChainBatch)
    stretches, owners = batch.stretches()
    if len(stretches) == 0:
        return None
    known = Oracle(
        stretches,
        oracle.formulation,
        oracle.weights[owners],
        oracle.placement.executor,
        oracle.geometry,
        memory=oracle.memory,
    )
    inner: Solver = clone(as_solver(solver.inner)) if isinstance(solver, CCCP) else solver
    share = oracle.weights[owners].sum() / oracle.n  # the share of C, which multiplies a mean over whole sequences
    watch, seed = watching(problem.line, inner), seed_of(random_state)
    solution = inner.solve(known, C * share, callback=watch, seed=seed)
    if solution.error is not None:
        raise solution.error
    return solution.w
