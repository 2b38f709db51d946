"""The problem of counting-based training: a regularised least squares fit of all margins at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.arrays import Array
from maxmargin.counting.sets.output_set import OutputSet


class Moments:
    """The output sets of the examples: one that all share, or one each, of which equal ones are taken together."""

    def __init__(self, sets: OutputSet | Sequence[OutputSet], n: int):
        self.groups: list[tuple[OutputSet, NDArray[np.intp]]] = []
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

    def means(self) -> Array:
        """(n, d): μᵢ."""
        means = np.empty((self.n, self.dim))
        for each, members in self.groups:
            means[members] = each.mean()
        return means

    def apply(self, F: Array) -> Array:
        """Row i times Sᵢ."""
        if self.common is not None:
            return self.common.cov_apply(F)
        result = np.empty_like(F)
        for each, members in self.groups:
            result[members] = each.cov_apply(F[members])
        return result

    def inverse_sizes(self) -> Array:
        """(n,): 1/|Yᵢ|, 0 where that is less than the smallest number."""
        sizes = np.empty(self.n)
        for each, members in self.groups:
            sizes[members] = np.exp(-each.log_size())
        return sizes


@dataclass
class Problem:
    """Minimise over the functions f with values fᵢ = f(xᵢ) in R^d (Gärtner and Vembu 2009, Eq. 2-3, normalised by |Y|)

        J = λ‖f‖² + Σᵢ { Σ_{y in Yᵢ} [½ fᵢᵀ Sᵢ fᵢ + ½⟨fᵢ, c_y⟩² - ⟨fᵢ, c_y⟩] - (1/|Y|)(nᵢ Qᵢ - Fᵢ²) },            (1)

    with c_y = φ(y) - μᵢ, Fᵢ = Σ_y ⟨fᵢ, φ(y)⟩, Qᵢ = Σ_y ⟨fᵢ, φ(y)⟩². For one output per example the bracket is

        ½ E_z[(1 - ⟨fᵢ, φ(y)⟩ + ⟨fᵢ, φ(z)⟩)²] - ½,     z uniform in Y:                                            (2)

    least squares of the margins of y over all outputs at once, with target 1. J is quadratic, and stationarity in the
    kernel form F = K A is the linear system

        2λ A + [ nᵢ fᵢ Sᵢ + Σ_y c_y ⟨c_y, fᵢ⟩ - (2/|Y|) Σ_y (nᵢ⟨fᵢ, φ_y⟩ - Fᵢ) φ_y ]ᵢ = [ Σ_y c_y ]ᵢ.            (3)

    A pair (example, output) is a row; `owner` says whose it is.
    """

    moments: Moments
    rows: Array  # (R, d) φ(y)
    owner: NDArray[np.intp]  # (R,) sorted
    lam: float

    def __post_init__(self) -> None:
        self.first = np.searchsorted(self.owner, np.arange(self.moments.n))  # row of every example
        self.counts = np.bincount(self.owner, minlength=self.moments.n).astype(float)
        self.centred = self.rows - self.moments.means()[self.owner]
        sizes = self.moments.inverse_sizes() if (self.counts > 1).any() else np.zeros(self.moments.n)
        self.inverse = np.where(self.counts > 1, sizes, 0.0)  # for one output the last term of (1) is 0

    @property
    def single(self) -> bool:
        """Whether every example has one output."""
        return bool((self.counts == 1).all())

    def summed(self, values: Array) -> Array:
        """Sums of rows over the outputs of every example."""
        if self.single:
            return values
        return np.asarray(np.add.reduceat(values, self.first, axis=0))

    def curvature(self, F: Array) -> Array:
        """The bracket of (3): the Hessian of the loss, without λ, applied to values F (n, d)."""
        mine = F[self.owner]
        along = np.einsum("rd,rd->r", self.centred, mine)
        result = self.counts[:, None] * self.moments.apply(F) + self.summed(along[:, None] * self.centred)
        if self.inverse.any():
            scores = np.einsum("rd,rd->r", self.rows, mine)
            spread = self.counts[self.owner] * scores - self.summed(scores)[self.owner]
            result -= 2 * self.inverse[:, None] * self.summed(spread[:, None] * self.rows)
        return result

    def target(self) -> Array:
        """The right side of (3)."""
        return self.summed(self.centred)

    def value(self, F: Array, norm: float) -> float:
        """J of (1), from the values F = f(xᵢ) and ‖f‖²."""
        return float(self.lam * norm + 0.5 * np.vdot(F, self.curvature(F)) - np.vdot(F, self.target()))

    def residual(self, A: Array, F: Array) -> float:
        """How far A with F = K A is from solving (3), relative to the right side."""
        target = self.target()
        missed = 2 * self.lam * A + self.curvature(F) - target
        return float(np.linalg.norm(missed) / max(float(np.linalg.norm(target)), 1e-300))


def as_rows(moments: Moments, Y: Sequence[Any], several: bool) -> tuple[Array, NDArray[np.intp]]:
    """φ of all outputs, and the example that each belongs to."""
    owner: list[int] = []
    rows: list[Array] = []
    sets = {}
    for each, members in moments.groups:
        sets.update(dict.fromkeys(members.tolist(), each))
    for i, y in enumerate(Y):
        if several and (isinstance(y, str) or not isinstance(y, Iterable)):
            raise ValueError(f"example {i} has {y!r}; expected a list of outputs, because of several=True")
        outputs = list(y) if several else [y]
        if not outputs:
            raise ValueError(f"example {i} has no output; expected at least one")
        for output in outputs:
            try:
                rows.append(sets[i].features(output))
            except (ValueError, TypeError) as error:
                raise ValueError(f"example {i}: {error}") from None
            owner.append(i)
        seen: dict[bytes, int] = {}
        for k, phi in enumerate(rows[len(rows) - len(outputs) :]):
            other = seen.setdefault((phi + 0.0).tobytes(), k)
            if other < k:
                raise ValueError(
                    f"outputs {other} and {k} of example {i} have the same features; expected different outputs"
                )
    return np.array(rows), np.array(owner, dtype=np.intp)


def _state(outputs: OutputSet) -> Hashable:
    """What makes a set what it is, equal for equal sets; its identity where that cannot be compared."""
    kind = type(outputs)
    kept = sorted(
        (name, value)
        for name, value in vars(outputs).items()
        if not isinstance(getattr(kind, name, None), cached_property)  # those follow from the others
    )
    try:
        state = (kind, *((name, _frozen(value)) for name, value in kept))
        hash(state)
    except TypeError:
        return id(outputs)
    return state


def _frozen(value: Any) -> Any:
    """Lists and mappings as tuples, so that they can be keys."""
    if isinstance(value, list | tuple):
        return type(value).__name__, *map(_frozen, value)
    if isinstance(value, dict):
        return "dict", *((key, _frozen(each)) for key, each in value.items())
    return value
