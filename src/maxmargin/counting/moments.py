"""Moments: the means and covariances of the output sets of all examples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.output_set import OutputSet


class Moments:
    """The moments of the output sets of n examples.

    All examples share one set, or each has its own; equal sets are grouped.
    """

    def __init__(self, sets: OutputSet | Sequence[OutputSet], n: int):
        self.groups: list[tuple[OutputSet, Index]] = []
        if isinstance(sets, OutputSet):
            self.groups.append((sets, np.arange(n)))
        else:
            if len(sets) != n:
                raise ValueError(f"{len(sets)} output sets were given for {n} examples")
            objects = {id(each): each for each in sets}
            keys = {number: _state(each) for number, each in objects.items()}
            different: dict[Hashable, tuple[OutputSet, list[int]]] = {}
            for i, each in enumerate(sets):
                different.setdefault(keys[id(each)], (each, []))[1].append(i)
            self.groups += [(each, np.array(members)) for each, members in different.values()]
        self.common = self.groups[0][0] if len(self.groups) == 1 else None
        dims = sorted({each.dim for each, _ in self.groups})
        if len(dims) > 1:
            raise ValueError(f"output sets of different examples must have features of one length, got {dims}")
        self.dim, self.n = dims[0], n
        self.repeats = max(each.repeats for each, _ in self.groups)
        self.uniform = all(each.uniform for each, _ in self.groups)

    def part(self, members: Index) -> Moments:
        """Return the moments of some examples."""
        if self.common is not None:
            return Moments(self.common, len(members))
        sets: list[OutputSet] = [self.groups[0][0]] * self.n
        for each, own in self.groups:
            for i in own.tolist():
                sets[i] = each
        return Moments([sets[i] for i in members.tolist()], len(members))

    def means(self) -> Array:
        """Return the (n, d) means μᵢ."""
        means = np.empty((self.n, self.dim))
        for each, members in self.groups:
            means[members] = each.mean()
        return means

    def apply(self, F: Array) -> Array:
        """Multiply row i by Sᵢ, for all i."""
        if self.common is not None:
            return self.common.cov_apply(F)
        result = np.empty_like(F)
        for each, members in self.groups:
            result[members] = each.cov_apply(F[members])
        return result

    def mean_squares(self) -> Array:
        """Return the (n,) upper bounds on E‖φ‖²."""
        squares = np.empty(self.n)
        for each, members in self.groups:
            squares[members] = each.mean_square()
        return squares

    def inverse_sizes(self) -> Array:
        """Return the (n,) numbers 1/|Yᵢ|, or 0 if they underflow."""
        sizes = np.empty(self.n)
        for each, members in self.groups:
            sizes[members] = np.exp(-each.log_size())
        return sizes


def _state(outputs: OutputSet) -> Hashable:
    """Return a key that is equal for equal output sets; the identity of a set if its parameters cannot be compared."""
    kind = type(outputs)
    parameters = sorted(
        (name, value)
        for name, value in vars(outputs).items()
        # Cached properties follow from the other attributes.
        if not isinstance(getattr(kind, name, None), cached_property)
    )
    try:
        state = (kind, *((name, _frozen(value)) for name, value in parameters))
        hash(state)
    except TypeError:
        return id(outputs)
    return state


def _frozen(value: Any) -> Any:
    """Convert lists and dicts to tuples, so that they can be keys."""
    if isinstance(value, list | tuple):
        return type(value).__name__, *map(_frozen, value)
    if isinstance(value, dict):
        return "dict", *((key, _frozen(each)) for key, each in value.items())
    return value
