"""Solvers: training algorithms, one file each. A solver can be named by its file name."""

from __future__ import annotations

from maxmargin.solvers.base import Solver
from maxmargin.solvers.bcfw import BCFW
from maxmargin.solvers.bundle import Bundle
from maxmargin.solvers.cccp import CCCP
from maxmargin.solvers.exponentiated_gradient import ExponentiatedGradient
from maxmargin.solvers.history import Record
from maxmargin.solvers.latent_runs import Round
from maxmargin.solvers.lbfgs import LBFGS
from maxmargin.solvers.n_slack import NSlack
from maxmargin.solvers.named import CONVEX, SMOOTH, solver_among
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.perceptron import Perceptron
from maxmargin.solvers.sampled_cuts import SampledCuts
from maxmargin.solvers.solution import Solution
from maxmargin.solvers.steps import Step
from maxmargin.solvers.subgradient import Subgradient

SOLVERS: dict[str, type[Solver]] = {**CONVEX, "cccp": CCCP}


def as_solver(solver: str | Solver) -> Solver:
    """Return a solver object unchanged, or a new solver of the given name.

    Parameters
    ----------
    solver : str or Solver
        A name, such as "bcfw" or the name of your own `class Mine(Solver, name="mine")`, or a solver object.

    Returns
    -------
    Solver.

    Examples
    --------
    >>> from maxmargin.solvers import as_solver
    >>> type(as_solver("bcfw")).__name__
    'BCFW'
    """
    return solver_among(solver, {**SOLVERS, **SMOOTH, **Solver.known})


__all__ = [
    "BCFW",
    "CCCP",
    "LBFGS",
    "SMOOTH",
    "SOLVERS",
    "Bundle",
    "ExponentiatedGradient",
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
