"""Trainers: one file per algorithm. A solver can be named by its file name."""

from __future__ import annotations

from maxmargin.solvers.base import Record, Solution, Solver, Step
from maxmargin.solvers.bcfw import BCFW
from maxmargin.solvers.bundle import Bundle
from maxmargin.solvers.cccp import CCCP, Round
from maxmargin.solvers.n_slack import NSlack
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.perceptron import Perceptron
from maxmargin.solvers.sampled_cuts import SampledCuts
from maxmargin.solvers.subgradient import Subgradient

SOLVERS: dict[str, type[Solver]] = {
    "bcfw": BCFW,
    "n_slack": NSlack,
    "one_slack": OneSlack,
    "bundle": Bundle,
    "sampled_cuts": SampledCuts,
    "subgradient": Subgradient,
    "perceptron": Perceptron,
    "cccp": CCCP,
}


def as_solver(solver: str | Solver) -> Solver:
    """The solver itself, or a new one of that name."""
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; known are {', '.join(SOLVERS)}, or pass a Solver object")
    return SOLVERS[solver]()


__all__ = [
    "BCFW",
    "CCCP",
    "SOLVERS",
    "Bundle",
    "NSlack",
    "OneSlack",
    "Perceptron",
    "Record",
    "Round",
    "SampledCuts",
    "Solution",
    "Solver",
    "Step",
    "Subgradient",
    "as_solver",
]
