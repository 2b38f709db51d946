"""Search the most violated output of slack rescaling and squared slacks with the margin decoder alone.

The violation is a function V(Δ, m) that rises with the loss and falls with the margin m = ⟨w, δΨ⟩ (see objective.py),
but the decoder maximises λΔ - m. For every λ > 0 it gives F(λ) = max_z (λΔ - m), and with it two numbers: V at the z
that it found (a valid cut) and an upper bound on V over all z, because every (Δ, m) lies in the half-plane λΔ - m <= F:

    slack  l1   Δ(1 - m)    <=  (1 + F)² / 4λ                      level curve of slope λ at  λ = (1 - m)/Δ
    slack  l2   √Δ(1 - m)   <=  ⅔(1 + F) · √((1 + F)/3λ)                                     λ = (1 - m)/2Δ
    margin l2   √Δ - m      <=  F + 1/4λ                                                     λ = 1/2√Δ

Bisection on log λ closes the gap between the two if the maximiser is on the convex hull of {(Δ, m)}; if it is not, the
cut stays valid and the upper bound keeps the certificate honest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes

MAX_DECODES = 12  # per example and search; the bracket is then narrower than 1% of λ
CLOSED = 1e-3  # relative distance between value and bound at which an example is done


class Rescaled(NamedTuple):
    """The result of a search, for every example."""

    cuts: Planes  # height = violation
    upper: Array  # proved upper bound on the largest violation of each example
    lam: Array  # the final λ, a good start for the next search
    relaxed: NDArray[np.bool_] | None = None  # from a relaxation: see Planes


def search_rescaled(batch: Batch, formulation: Formulation, w: Array, lam: Array) -> Rescaled:
    """Find the best cut of every example by a bracketing search on λ, started from `lam`."""
    n = len(batch)
    best, upper = np.zeros(n), np.full(n, np.inf)  # the truth itself is always an output, with violation 0
    proves = batch.search.proves
    relaxed: NDArray[np.bool_] | None = None
    low, high, lam, best_lam = np.zeros(n), np.full(n, np.inf), lam.copy(), lam.copy()
    rows: list[Planes] = []
    chosen, stacked = np.zeros(n, dtype=np.intp), 1
    active = np.arange(n)
    for _ in range(MAX_DECODES):
        planes = batch.take(active).planes(w, lam[active]).over_atoms()
        margin = planes.dpsi @ w
        value = formulation.value(planes.loss, margin)
        better = value > best[active]
        best[active[better]] = value[better]
        best_lam[active[better]] = lam[active[better]]
        chosen[active[better]] = stacked + np.flatnonzero(better)
        rows.append(planes)
        if planes.relaxed is not None:
            relaxed = np.zeros(n, dtype=bool) if relaxed is None else relaxed
            relaxed[active] |= planes.relaxed
        stacked += len(active)
        highest = lam[active] * planes.loss - margin if planes.upper is None else planes.upper
        if proves or planes.upper is not None:
            upper[active] = np.minimum(upper[active], _bound(formulation, highest, lam[active]))
        up = tangent(formulation, planes.loss, margin) > lam[active]
        low[active[up]], high[active[~up]] = lam[active[up]], lam[active[~up]]
        open_ = upper[active] - best[active] > CLOSED * best[active]
        open_ &= high[active] > 1.01 * low[active]
        active = active[open_]
        if not len(active):
            break
        lam[active] = _next(low[active], high[active])
    return Rescaled(formulation.cuts(_select(rows, chosen)), np.maximum(upper, best), best_lam, relaxed)


def _next(low: Array, high: Array) -> Array:
    """Widen the bracket by 4 until it has two ends, then halve it on the log scale."""
    with np.errstate(invalid="ignore"):
        middle = np.sqrt(low * high)
    return np.where(low == 0, high / 4, np.where(np.isinf(high), low * 4, middle))


def tangent(formulation: Formulation, loss: Array, margin: Array) -> Array:
    """Return the λ at which the level curve of V through (Δ, m) touches the half-plane."""
    with np.errstate(divide="ignore"):
        if formulation.rescaling == "margin":
            return np.asarray(0.5 / np.sqrt(loss))
        return np.where(loss > 0, (1 - margin) / np.maximum(loss, 1e-300) / (2 if formulation.squared else 1), np.inf)


def _bound(formulation: Formulation, decoded: Array, lam: Array) -> Array:
    if formulation.rescaling == "margin":
        return decoded + 0.25 / lam
    total = 1 + np.maximum(decoded, 0)  # the truth has λΔ - m = 0, so F >= 0
    return 2 / 3 * total * np.sqrt(total / (3 * lam)) if formulation.squared else total**2 / (4 * lam)


def _select(parts: list[Planes], chosen: NDArray[np.intp]) -> Planes:
    """Stack the chosen rows; row 0 is the truth's plane, which is zero, and the rows of the parts follow."""
    rows = [AtomRows.of(part.dpsi) for part in parts]
    truth = AtomRows(rows[0].atoms, np.zeros(2, dtype=np.int32), rows[0].indices[:0], rows[0].values[:0])
    stack = AtomRows.stack([truth, *rows])
    return Planes(stack.take(chosen), np.concatenate([[0.0], *(part.loss for part in parts)])[chosen])
