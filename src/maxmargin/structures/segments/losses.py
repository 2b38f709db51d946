"""Losses Δ(y, z) of segmentations: y has g segments, z has q segments, and m of these are right.

    "tokens"      Σ_t cost[y_t, z_t] over types of tokens; if the types agree and only one of y and z begins a segment
                  at t, the least cost of a wrong type there
    "segments"    Σ price over the segments in only one of y and z: g + q - 2m if all prices are 1
    "f1"          1 - 2m / (g + q), where q counts as at most 4g + 16; 0 if both have no segments. With more than 25
                  true segments (g + q - 2m) / 2g, which is the same if q = g

The first two are sums over the pieces of z and are added to scores; the third is searched in a table over (m, q), whose
size limits q and g.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import cost_matrix
from maxmargin.structures.segments.spans import OUTSIDE, Codes, SegmentEnds

SegmentMeasure = Literal["tokens", "segments", "f1"]
MEASURES = get_args(SegmentMeasure)
MOST_TRUE = 25  # the most true segments for which "f1" is searched in a table


class Segmented(NamedTuple):
    """Segmentations of concatenated sequences, none of them empty, sequence j at bounds[j]:bounds[j + 1]."""

    codes: Codes  # the code of every token
    ends: SegmentEnds  # the segments, by their ends
    bounds: NDArray[np.int64]  # (sequences + 1,): where each sequence begins

    @classmethod
    def of(cls, codes: Codes, bounds: NDArray[np.int64]) -> Segmented:
        return cls(codes, SegmentEnds.of(codes, bounds), bounds)

    def totals(self, each: Array) -> Array:
        """Sum one number per token over every sequence."""
        return np.asarray(np.add.reduceat(each, self.bounds[:-1]))


class TokenLoss:
    """Loss Σ_t cost[y_t, z_t], as a table over codes."""

    counted = False  # whether the loss is a function of (g, m, q)

    def __init__(self, costs: Any, classes: Sequence[Hashable]):
        cost = cost_matrix(costs, [OUTSIDE, *classes])
        n = len(classes)
        types = np.array([0, *(k + 1 for k in range(n) for _ in range(2))])
        self.price = cost[np.ix_(types, types)]
        least = np.min(cost + np.where(np.eye(n + 1), np.inf, 0.0), axis=1)
        for k in range(n):
            self.price[2 * k + 1, 2 * k + 2] = self.price[2 * k + 2, 2 * k + 1] = least[k + 1]
        self.largest = float(cost.max())
        # added to the columns of token scores: "any" has the price of continuing a segment, "first" the difference
        self.added = np.zeros((2 * n + 1, 1 + 3 * n))
        self.added[:, 0] = self.price[:, 0]
        self.added[:, 1::3] = self.price[:, 2::2]
        self.added[:, 2::3] = self.price[:, 1::2] - self.price[:, 2::2]

    def add(self, scale: Array, truth: Segmented, tokens: Array, S: Array | None) -> None:
        """Add scale[t] Δ, without its constant, to the scores of tokens or, if S is given, to those of segments."""
        if S is None:
            tokens += scale[:, None] * self.added[truth.codes]

    def constants(self, truth: Segmented) -> Array:
        """Return the constant of Δ of every sequence, which `add` leaves out."""
        return np.zeros(len(truth.bounds) - 1)

    def of(self, truth: Segmented, found: Segmented) -> Array:
        """Compute Δ of every sequence."""
        return truth.totals(self.price[truth.codes, found.codes])


class SegmentLoss:
    """Loss by prices of missed and wrong segments."""

    def __init__(self, costs: Any, classes: Sequence[Hashable]):
        if costs is not None and not isinstance(costs, Mapping):
            raise ValueError(f"measure='segments' takes costs as a dict {{label: price of a segment}}, got {costs!r}")
        unknown = [label for label in costs or () if label not in set(classes)]
        if unknown:
            raise ValueError(f"costs names the label {unknown[0]!r}, which is not one of the classes {list(classes)}")
        prices = [(costs or {}).get(label, 1.0) for label in classes]
        self.prices = np.array(prices, dtype=float)
        if not np.isfinite(self.prices).all() or (self.prices < 0).any():
            raise ValueError(f"costs must be finite and >= 0, got {costs!r}")
        self.largest = float(self.prices.max())
        self.counted = bool((self.prices == 1).all())

    def add(self, scale: Array, truth: Segmented, tokens: Array, S: Array | None) -> None:
        if S is None:
            return
        S += scale[:, None, None] * self.prices
        at = np.flatnonzero(truth.ends.lengths)
        labels = truth.ends.labels[at]
        S[at, truth.ends.lengths[at] - 1, labels] -= 2 * scale[at] * self.prices[labels]

    def constants(self, truth: Segmented) -> Array:
        return truth.totals(self._each(truth))

    def of(self, truth: Segmented, found: Segmented) -> Array:
        right = (truth.ends.lengths == found.ends.lengths) & (truth.ends.labels == found.ends.labels)
        each = np.where(right, 0.0, self._each(truth) + self._each(found))
        return truth.totals(each)

    def by_counts(self, g: int, m: NDArray[Any], q: NDArray[Any]) -> Array:
        """Compute Δ from counts."""
        return g + q - 2.0 * m

    def most_counted(self, g: int, length: int) -> int:
        """Return the q from which on Δ is constant."""
        return length

    def _each(self, some: Segmented) -> Array:
        return np.where(some.ends.lengths > 0, self.prices[some.ends.labels], 0.0)


class F1Loss(SegmentLoss):
    """Loss 1 - F1 of every sequence."""

    def __init__(self, costs: Any, classes: Sequence[Hashable]):
        if costs is not None:
            raise ValueError("measure='f1' gives all segments equal weight; costs are for 'tokens' and 'segments' only")
        super().__init__(None, classes)

    def of(self, truth: Segmented, found: Segmented) -> Array:
        right = (truth.ends.lengths == found.ends.lengths) & (truth.ends.labels == found.ends.labels)
        is_true, is_found = truth.ends.lengths > 0, found.ends.lengths > 0
        g, q, m = (truth.totals(each.astype(float)) for each in (is_true, is_found, right & is_true))
        return np.array([float(self.by_counts(int(a), b, c)) for a, b, c in zip(g, m, q, strict=True)])

    def by_counts(self, g: int, m: NDArray[Any], q: NDArray[Any]) -> Array:
        if g > MOST_TRUE:
            return (g + q - 2.0 * m) / (2 * g)
        return np.where(g + q > 0, 1.0 - 2.0 * m / np.maximum(g + np.minimum(q, 4 * g + 16), 1), 0.0)

    def most_counted(self, g: int, length: int) -> int:
        if g > MOST_TRUE:
            return length
        return min(length, 4 * g + 16 if g else 1)


def make_loss(measure: str, costs: Any, classes: Sequence[Hashable]) -> TokenLoss | SegmentLoss:
    """Return the loss of this name."""
    kinds: dict[str, type[TokenLoss] | type[SegmentLoss]] = dict(
        zip(MEASURES, (TokenLoss, SegmentLoss, F1Loss), strict=True)
    )
    if measure not in kinds:
        raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {measure!r}")
    return kinds[measure](costs, classes)
