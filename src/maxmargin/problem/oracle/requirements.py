"""The requirements of solvers, and the error that a user sees where a problem does not meet one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from maxmargin.problem.contract.capabilities.descriptions import required
from maxmargin.problem.contract.capabilities.distribution_dual import DistributionDual
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.soft_oracle import SoftOracle


class OracleKind(NamedTuple):
    """The words for a kind of oracle in the message about a problem that has another kind."""

    need: str  # to follow "needs"
    instead: str  # what the user can do


ORACLES: Mapping[type[RiskOracle], OracleKind] = MappingProxyType(
    {
        Oracle: OracleKind(
            "the most violated outputs of single examples, which smooth objectives do not have",
            "use solver='exponentiated_gradient', 'lbfgs', 'bundle' or 'one_slack'",
        ),
        SoftOracle: OracleKind(
            "a smooth objective, 'likelihood' or 'softmax_margin'", "for the hinge use solver='bcfw'"
        ),
    }
)
INSTEAD: Mapping[type, str] = MappingProxyType({DistributionDual: "use solver='lbfgs'"})


def check_requirements(oracle: RiskOracle, requires: Sequence[type], who: str) -> None:
    """Raise the ValueError that says what `who`, a solver, needs and this problem does not have.

    Requirements are kinds of oracles, and capabilities of batches.
    """
    for requirement in requires:
        kind = ORACLES.get(requirement)
        if kind is None:
            required(oracle.batch, requirement, who, INSTEAD.get(requirement, "choose another solver"))
        elif not isinstance(oracle, requirement):
            raise ValueError(f"{who} needs {kind.need}; {kind.instead}")
