"""Observed: the labels of decisions, given as costs or as decisions, in the form that training uses.

    measure       Y                          the truth y         Δ(z)                            score of z
    "regret"      costs c                    z* = the best at c   σ c·(z - z*), the regret        -2σ ĉ·z       (1)
    "parts"       decisions of 0 and 1       Y                    Σ_p |z_p - y_p|                 -σ ĉ·z        (2)

σ is 1 if the optimiser minimises and -1 if it maximises. Both Δ are linear in the decision, Δ(z) = a·(z - y), with
a = σc in (1) and a_p = 1 - 2y_p in (2), because z_p is 0 or 1. (1) is the loss SPO+ of Elmachtoub and Grigas (2022):

    max_z [(c - 2ĉ)·z] + 2ĉ·z* - c·z* = max_z [Δ(z) + ⟨w, Ψ(z) - Ψ(z*)⟩],

and (2) the augmented suboptimality loss of Zattoni Scroccaro, Atasoy and Mohajerin Esfahani (2023). Without the margin
Δ, max_z ĉ·(y - z) would have its minimum 0 at w = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.matrices import LARGEST
from maxmargin.structures.decisions.answers import Optimisers

FACTORS = {"regret": 2.0, "parts": 1.0}  # κ, the factor of -σ ĉ·z in the score
ROUNDING = 1e-9  # regrets below this share of the total magnitude of costs count as 0


class Observed(NamedTuple):
    """Label of a decision problem: the right decision y and the coefficients a of the loss Δ(z) = a·(z - y).

    Attributes
    ----------
    decision : array of shape (P,)
        The right decision; NaN for parts that are not known.
    added : array of shape (P,)
        The increase of the loss per unit of every part; 0 for parts that are not known.

    See Also
    --------
    Decisions : The task whose labels these are.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> tasks.Observed(decision=np.array([1.0, 0.0]), added=np.array([-1.0, 1.0])).size
    2
    """

    decision: Array
    added: Array

    @property
    def size(self) -> int:
        """The number of parts."""
        return len(self.decision)


def checked_measure(measure: Any) -> str:
    """Return the name of a measure after checking it."""
    if measure == "suboptimality":
        raise ValueError(
            'measure="suboptimality" (how much better than the observed decision another one is at the predicted '
            "costs) is lowest if all predicted costs are 0, so nothing would be learnt. Use measure="
            '"parts", which asks for a margin that grows with the number of parts that differ'
        )
    if measure not in FACTORS:
        raise ValueError(f"measure must be one of {', '.join(map(repr, FACTORS))}, got {measure!r}")
    return str(measure)


def part_counts(Y: Any) -> NDArray[np.int64]:
    """Return the number of parts of every label."""
    if isinstance(Y, np.ndarray) and Y.ndim == 2:
        return np.full(len(Y), Y.shape[1], dtype=np.int64)
    counts = []
    for i, y in enumerate(Y):
        shape = (y.size,) if isinstance(y, Observed) else np.shape(y)
        if len(shape) != 1:
            raise ValueError(f"Y of example {i} has shape {shape}; expected one number per part")
        counts.append(shape[0])
    return np.array(counts, dtype=np.int64)


def observed(Y: Sequence[Any], sizes: NDArray[np.int64], measure: str, optimisers: Optimisers) -> Observed:
    """Return the labels of all examples, concatenated in flat arrays."""
    given = [y for y in Y if isinstance(y, Observed)]
    if len(given) == len(Y) > 0:
        return Observed(np.concatenate([y.decision for y in given]), np.concatenate([y.added for y in given]))
    values = np.concatenate([_numbers(y, i) for i, y in enumerate(Y)]) if len(Y) else np.zeros(0)
    where, has = ("costs", "have") if measure == "regret" else ("decision", "has")
    good = np.abs(values) <= LARGEST if measure == "regret" else np.isnan(values) | (values == 0) | (values == 1)
    if not good.all():
        bad = int(np.argmin(good))
        i = int(np.searchsorted(np.cumsum(sizes), bad, side="right"))
        p = bad - int(np.cumsum(sizes)[i] - sizes[i])
        expected = "a finite number" if measure == "regret" else "0 or 1, or NaN where it is not known"
        raise ValueError(f"the {where} in Y of example {i} {has} {values[bad]} at part {p}; expected {expected}")
    if measure == "regret":
        return Observed(optimisers.answers(values, sizes, range(len(sizes))), optimisers.sign * values)
    return Observed(values, np.where(np.isnan(values), 0.0, 1 - 2 * values))


def split(labels: Observed, sizes: NDArray[np.int64]) -> list[Observed]:
    """Split concatenated labels into one label per example."""
    ends = np.cumsum(sizes)[:-1]
    return [Observed(*both) for both in zip(*(np.split(values, ends) for values in labels), strict=True)]


def _numbers(y: Any, i: int) -> Array:
    try:
        return np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"Y of example {i} is {y!r}; expected one number per part") from None
