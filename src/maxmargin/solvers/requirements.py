"""The requirements of solvers on a problem, and the error that says what is missing and which solvers would work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

from maxmargin.problem.contract.capabilities.descriptions import DESCRIPTIONS
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.signed_losses import SignedLosses
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.oracle.soft_oracle import SoftOracle


class Requirement(NamedTuple):
    """A property that a solver needs of a problem, besides a kind of oracle and capabilities of the batch."""

    needs: str  # the words after "needs" in a message
    met: Callable[[RiskOracle, float], bool]  # returns whether the problem with this C has the property


FINITE_C = Requirement("a finite C", lambda oracle, C: isfinite(C))
FREE_WEIGHTS = Requirement("weights without bounds and without a prior", lambda oracle, C: oracle.geometry is None)

Requirements = tuple[Requirement | type, ...]  # types are kinds of oracles, or capabilities of batches

ORACLES: Mapping[type, str] = MappingProxyType(
    {
        Oracle: "the most violated outputs of single examples, which a smooth objective does not have",
        SoftOracle: "a smooth objective, 'likelihood' or 'softmax_margin'",
    }
)  # the words after "needs" for each kind of oracle


def check_requirements(
    name: str, requires: Requirements, oracle: RiskOracle, C: float, known: Mapping[str, Any]
) -> None:
    """Raise ValueError if a solver cannot train this problem, and name the solvers that can.

    Parameters
    ----------
    name : str
        The solver's name for users.
    requires : Requirements
        The solver's requirements.
    oracle, C : RiskOracle and float
        The problem.
    known : mapping
        Solver classes by name.
    """
    if oracle.geometry is not None and not isfinite(C):
        raise ValueError("a hard margin (C = inf) takes neither bounds nor a prior; use a large finite C")
    if isinstance(oracle, SoftOracle) and not isfinite(C):
        raise ValueError("a smooth objective needs a finite C")
    _check_losses(name, oracle)
    missing = _missing(requires, oracle, C)
    if missing:
        others = [n for n, kind in known.items() if not kind.wraps and not _missing(kind.requires, oracle, C)]
        remedy = f"; use solver={listed(others)}" if others else ""
        raise ValueError(f"solver {name!r} needs {', and '.join(missing)}{remedy}")


def check_latent(inner: Any, oracle: RiskOracle, C: float, known: Mapping[str, Any]) -> None:
    """Raise ValueError if a solver cannot train the convex problems of latent training."""
    if not inner.certified or inner.wraps:
        names = [name for name, kind in known.items() if kind.certified and not kind.wraps]
        names = [name for name in names if SoftOracle not in known[name].requires]
        raise ValueError(
            f"latent training needs an inner solver with a certificate, not {inner!r}; use inner={listed(names)}"
        )
    if oracle.batch.offers(Latent) is not None and not isfinite(C):
        raise ValueError("latent training needs a finite C; it has no hard margin")


def _check_losses(name: str, oracle: RiskOracle) -> None:
    """Raise ValueError if slacks are to be rescaled or squared, and losses may be negative."""
    signed = oracle.batch.offers(SignedLosses)
    if signed is not None and isinstance(oracle, Oracle) and not oracle.formulation.plain:
        raise ValueError(
            f"solver {name!r} needs {DESCRIPTIONS[RescaledSearch]}, which {oracle.batch.name} does not have here, "
            f'because {signed.why_signed()}; use rescaling="margin" and slack="l1"'
        )


def _missing(requires: Requirements, oracle: RiskOracle, C: float) -> list[str]:
    """Return the words for everything that is needed and missing."""
    found = []
    for each in requires:
        if isinstance(each, Requirement):
            if not each.met(oracle, C):
                found.append(each.needs)
        elif each in ORACLES:
            if not isinstance(oracle, each):
                found.append(ORACLES[each])
        elif oracle.batch.offers(each) is None:
            found.append(f"{DESCRIPTIONS[each]}, which {oracle.batch.name} does not have here")
    return found


def listed(names: Sequence[str]) -> str:
    """Return names in quotes, with "or" before the last."""
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
