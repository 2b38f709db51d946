"""Contradictions in a certificate: a bound above the objective, or an objective without proof."""

from __future__ import annotations

from maxmargin.base.arrays import Array
from maxmargin.base.errors import SolverError
from maxmargin.problem.oracle.risk_oracle import RiskOracle


def deny_contradiction(primal: float, dual: float, solver: str, task: str) -> None:
    """Raise an error if a bound lies above a measured objective: one of the two is wrong."""
    if dual > primal:
        raise SolverError(
            f"{solver} states that no weights have an objective below {dual:.9g}, but {primal:.9g} was measured: a "
            f"fault of this solver, or of {task}, whose decoder returned too little. Compare with another solver, and "
            "check the task (testing.check_task)"
        )


def proved_primal(oracle: RiskOracle, w: Array, C: float) -> float:
    """Return an upper bound on P(w), for searches that only estimate P(w) from below; inf if nothing is proved."""
    return oracle.objective(w, oracle.proved_risk(w), C)
