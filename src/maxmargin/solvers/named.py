"""Solvers by name, which each class declares: `class BCFW(Solver, name="bcfw")`."""

from __future__ import annotations

from typing import Literal

from maxmargin.problem.oracle.soft_oracle import SoftOracle
from maxmargin.solvers.base import Solver
from maxmargin.solvers.bcfw import BCFW
from maxmargin.solvers.bundle import Bundle
from maxmargin.solvers.exponentiated_gradient import ExponentiatedGradient
from maxmargin.solvers.lbfgs import LBFGS
from maxmargin.solvers.n_slack import NSlack
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.perceptron import Perceptron
from maxmargin.solvers.sampled_cuts import SampledCuts
from maxmargin.solvers.subgradient import Subgradient

# The names for editors and type checkers; a test compares them with those of the classes.
SolverName = Literal[
    "bcfw",
    "bundle",
    "cccp",
    "exponentiated_gradient",
    "lbfgs",
    "n_slack",
    "one_slack",
    "perceptron",
    "sampled_cuts",
    "subgradient",
]

KINDS: tuple[type[Solver], ...] = (
    BCFW, NSlack, OneSlack, Bundle, SampledCuts, Subgradient, Perceptron, ExponentiatedGradient, LBFGS,
)  # fmt: skip
SMOOTH: dict[str, type[Solver]] = {kind.name: kind for kind in KINDS if SoftOracle in kind.requires}
CONVEX: dict[str, type[Solver]] = {kind.name: kind for kind in KINDS if kind.name not in SMOOTH}


def solver_among(solver: str | Solver, known: dict[str, type[Solver]]) -> Solver:
    """Return a solver object unchanged, or a new solver of the given name."""
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str) or solver not in known:
        raise ValueError(f"unknown solver {solver!r}; expected one of {', '.join(known)}, or a Solver object")
    return known[solver]()
