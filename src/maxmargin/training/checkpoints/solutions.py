"""Solutions of finished trainings as plain data, without their cuts and dual points."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.files.fields import NumberArray, Real
from maxmargin.base.files.objects import fields_of, restored
from maxmargin.problem.dual.objective import Certificate
from maxmargin.solvers.latent_runs import ROUNDS, Round
from maxmargin.solvers.solution import Solution

FIELDS = {"w", "certificate", "C", "history", "rounds", "risk"}


def plain_solution(solution: Solution) -> dict[str, Any]:
    """Return a solution as plain data."""
    certificate = {name: getattr(solution.certificate, name) for name in fields_of(Certificate) or ()}
    return {
        "w": solution.w,
        "certificate": {**certificate, "search": str(certificate["search"])},
        "C": solution.C,
        "history": ROUNDS.left(solution.history),
        "rounds": [each._asdict() for each in solution.rounds],
        "risk": solution.risk,
    }


def read_solution(found: Any, dim: int) -> Solution:
    """Return a solution with weights of this length from the data of a file."""
    if not isinstance(found, dict) or set(found) != FIELDS or not isinstance(found["rounds"], list):
        raise ValueError("the checkpoint has a finished training run without a solution")
    return Solution(
        w=NumberArray(float, dim).read(found["w"], None),
        certificate=_restored(Certificate, found["certificate"]),
        C=Real(least=0, finite=False).read(found["C"], None),
        history=ROUNDS.refilled(found["history"], None, None),
        rounds=[_restored(Round, each) for each in found["rounds"]],
        risk=float(np.float64(Real(finite=False).read(found["risk"], None))),
    )


def _restored(kind: type, found: Any) -> Any:
    if not isinstance(found, dict):
        raise ValueError(f"the checkpoint has no {kind.__name__}")
    return restored(kind, fields_of(kind) or {}, found)
