"""Solvers by name: a file's name is its solver's name for users."""

from __future__ import annotations

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

CONVEX: dict[str, type[Solver]] = {
    "bcfw": BCFW,
    "n_slack": NSlack,
    "one_slack": OneSlack,
    "bundle": Bundle,
    "sampled_cuts": SampledCuts,
    "subgradient": Subgradient,
    "perceptron": Perceptron,
}  # of problems without hidden parts

SMOOTH: dict[str, type[Solver]] = {
    "exponentiated_gradient": ExponentiatedGradient,
    "lbfgs": LBFGS,
}  # of smooth objectives alone


def solver_among(solver: str | Solver, known: dict[str, type[Solver]]) -> Solver:
    """The solver itself, or a new one of that name."""
    if isinstance(solver, Solver):
        return solver
    if not isinstance(solver, str) or solver not in known:
        raise ValueError(f"unknown solver {solver!r}; expected one of {', '.join(known)}, or a Solver object")
    return known[solver]()
