"""The objective, its dual and the certificate: the only place where they are written.

    P(w) = ½‖w‖² + C · R(w),     R(w) = (1/n) Σᵢ vᵢ ξᵢ(w)          slack="l1"
                                 R(w) = (1/2n) Σᵢ vᵢ ξᵢ(w)²        slack="l2"

with sample weights vᵢ that sum to n and ξᵢ(w) = max_z Hᵢ(z; w), the largest violation. With m = ⟨w, δΨᵢ(z)⟩:

    rescaling   slack   H(Δ, m)        as a cut b - ⟨a, w⟩
    margin      l1      Δ - m          a = δΨ       b = Δ
    slack       l1      Δ(1 - m)       a = Δ δΨ     b = Δ
    margin      l2      √Δ - m         a = δΨ       b = √Δ
    slack       l2      √Δ(1 - m)      a = √Δ δΨ    b = √Δ

(Tsochantaridis et al. 2004; Joachims et al. 2009, Eq. 5-6). In terms of cuts all four share one dual over αᵢₖ >= 0:

    D(α) = Σ α b - ½‖w‖²,  w = Σ α a,  Σₖ αᵢₖ <= C vᵢ/n            slack="l1"
    D(α) = Σ α b - ½‖w‖² - Σᵢ (Σₖ αᵢₖ)² / (2 C vᵢ/n)               slack="l2"

and D(α) <= min P <= P(w) for every feasible α and every w: that is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any, ClassVar

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Flag, Member, OneOf, Real, Text, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.base.search import Search
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes


@dataclass(frozen=True)
class Formulation:
    """The violation that is measured (rescaling) and its penalty (slack)."""

    rescaling: str = "margin"
    slack: str = "l1"

    def __post_init__(self) -> None:
        if self.rescaling not in ("margin", "slack"):
            raise ValueError(f"rescaling must be 'margin' or 'slack', got {self.rescaling!r}")
        if self.slack not in ("l1", "l2"):
            raise ValueError(f"slack must be 'l1' or 'l2', got {self.slack!r}")

    @property
    def plain(self) -> bool:
        """True if the violation is Δ - m, which the loss-augmented decoder maximises in one call."""
        return self.rescaling == "margin" and self.slack == "l1"

    @property
    def squared(self) -> bool:
        return self.slack == "l2"

    def value(self, loss: Any, margin: Any) -> Any:
        """Return H(Δ, m), the violation."""
        scale = np.sqrt(loss) if self.squared else loss
        return scale * (1.0 - margin) if self.rescaling == "slack" else scale - margin

    def cuts(self, planes: Planes) -> Planes:
        """Return the planes rescaled so that their height is the violation H."""
        if self.plain:
            return planes
        offset = np.sqrt(planes.loss) if self.squared else planes.loss
        if self.rescaling == "margin":
            return Planes(planes.dpsi, offset, lengths=planes.lengths)
        lengths = None if planes.lengths is None else planes.lengths * np.maximum(offset, 1.0)
        return Planes(AtomRows.of(planes.dpsi).scaled(offset), offset, lengths=lengths)

    def truths(self, offsets: Array) -> Array:
        """Return the factor of Ψ(x, truth) in the vectors of cuts with these offsets b: 1, or b (see the table)."""
        return offsets if self.rescaling == "slack" else np.ones(len(offsets))

    def penalty(self, slacks: Array) -> Array:
        """Return the contribution of each example to R(w) before weighting: ξ or ½ξ²."""
        return 0.5 * slacks**2 if self.squared else slacks


def primal(squared_norm: float, risk: float, C: float) -> float:
    """Return P(w), given ‖w‖² and the measured risk; with C = inf, any remaining risk is infinitely bad."""
    penalty = C * risk if isfinite(C) else (inf if risk > 0 else 0.0)
    return 0.5 * squared_norm + penalty


def relative_gap(primal: float, dual: float) -> float:
    """Return (P - D) / P, the share of the objective that is not proved necessary; inf if one is unknown."""
    if not (isfinite(primal) and isfinite(dual)):
        return inf
    if primal <= 0:
        return 0.0 if dual >= primal == 0 else inf  # an objective is a sum of squares and losses
    return max(primal - dual, 0.0) / primal


@dataclass(frozen=True)
class Certificate:
    """A proof of how close a trained model is to the optimum.

    Parameters
    ----------
    primal : float
        The objective of the returned weights, measured with an oracle call for every example.
    dual : float
        A lower bound on every objective value, from a feasible dual point.
    converged : bool
        Whether relative_gap <= tol or, if a prior fits perfectly, the objective consists of rounding errors only.
    passes : float
        Oracle calls divided by the number of examples.
    seconds, cpu_seconds : float
        The elapsed time and the processor time of training.
    stop_reason : str
        Why training ended, in words.
    rounds : int or None
        The number of rounds of latent training, where `dual` bounds only the convex problem of the last round.
    search : Search
        The guarantee of the decoder. If it is "undergenerating", `primal` is an estimate from below, and `dual` is
        still a bound; if "overgenerating", both refer to the relaxed problem, an upper bound on the true one.
    method : str
        A description of the search.
    upper : float or None
        A proved upper bound on the objective; None if `primal` itself is proved.
    """

    primal: float
    dual: float
    converged: bool
    passes: float
    seconds: float
    cpu_seconds: float
    stop_reason: str
    rounds: int | None = None
    search: Search = Search.EXACT
    method: str = ""
    upper: float | None = None

    saved: ClassVar[Fields] = {
        "primal": Real(finite=False),
        "dual": Real(finite=False),
        "converged": Flag(),
        "passes": Real(least=0, finite=False),
        "seconds": Real(least=0),
        "cpu_seconds": Real(),
        "stop_reason": Text(),
        "rounds": OneOf(None, Whole()),
        "search": Member(Search),
        "method": Text(),
        "upper": OneOf(None, Real(finite=False)),
    }

    @property
    def exact(self) -> bool:
        """True if primal and dual are proved bounds for the problem itself."""
        return self.search is Search.EXACT

    @property
    def proved_gap(self) -> float:
        """The relative gap with the proved bound instead of the estimate; inf if nothing is proved."""
        return relative_gap(self.primal if self.upper is None else self.upper, self.dual)

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.primal, self.dual)

    def explained(self) -> list[str]:
        """Return the meaning of the certificate, in sentences for readers who are new to it."""
        if isnan(self.primal):
            return [f"Nothing is proved of these weights: {self.stop_reason}. certify(X, Y) finds out."]
        left = f"what is left to gain is at most {100 * self.relative_gap:.3g}% of it"
        if self.rounds is None and self.exact and isfinite(self.relative_gap):
            said = f"No weights at all can have one below {self.dual:.6g}: {left}."
        elif isfinite(self.relative_gap):
            said = f"The lower bound is {self.dual:.6g}, a relative gap of {100 * self.relative_gap:.3g}%."
        else:
            said = (
                "No lower bound is proved, so how far that is from the best one is not known; certify(X, Y) finds out."
            )
        sentences = [f"Training ended with weights whose objective is {self.primal:.6g}. {said}"]
        if self.rounds is not None:
            sentences.append(
                "The training labels leave something out. The bound holds for the hidden parts as the last of "
                f"{self.rounds} round{'' if self.rounds == 1 else 's'} has filled them in: it proves a local optimum."
            )
        if self.search is Search.OVERGENERATING:
            sentences.append(
                "The search was a relaxation: both numbers are of the relaxed problem, whose objective is never below "
                "the true one."
            )
        elif not self.exact:
            proved = "" if self.upper is None or not isfinite(self.upper) else f"; proved is at most {self.upper:.6g}"
            sentences.append(
                f"The search may miss the worst outputs, so that the objective is an estimate from below{proved}."
            )
        how = "It converged" if self.converged else f"It stopped above the gap that was asked for ({self.stop_reason})"
        by = f" by {self.method}" if self.method else ""
        sentences.append(
            f"{how} after {self.passes:.1f} passes{by} and {self.seconds:.3g} s; a pass is a search for every example."
        )
        sentences.append("All of this is about training, not about new data: the scores are about these.")
        return sentences

    def __str__(self) -> str:
        bound = (
            f"relative gap {100 * self.relative_gap:.3g}%"
            if isfinite(self.relative_gap)
            else "no bound on the distance to the optimum"
        )
        if self.rounds is not None:
            bound += (
                " with the hidden parts fixed, a local optimum" if self.converged else " with the hidden parts fixed"
            )
            bound += f" after {self.rounds} round{'' if self.rounds == 1 else 's'}"
        by = f"{self.method}; " if self.method else ""
        return (
            f"objective {self.primal:.6g}, lower bound {self.dual:.6g}: {bound}{self._doubt()} "
            f"({by}{self.passes:.1f} passes, {self.seconds:.2f} s, {self.stop_reason})"
        )

    def _doubt(self) -> str:
        if self.exact:
            return ""
        if self.search is Search.OVERGENERATING:
            return "; of the relaxed problem, whose objective is never below the true one"
        known = ", and nothing bounds the objective from above"
        if self.upper is not None and isfinite(self.upper):
            known = f"; proved is that the objective is at most {self.upper:.6g}"
            if isfinite(self.dual):
                known += f", a gap of {100 * self.proved_gap:.3g}%"
        return f"; not certified, because the search may miss the worst outputs{known}"
