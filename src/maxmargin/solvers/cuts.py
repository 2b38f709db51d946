"""The cuts of the whole risk that 1-slack and bundle methods collect, with their Gram matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import Each, NumberArray, OneOf
from maxmargin.base.files.learnt import Inner, Learnt
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import UNLIMITED, MemoryBudget
from maxmargin.base.rounding import lowered_dual
from maxmargin.problem.oracle.mean_plane import MeanPlane
from maxmargin.problem.oracle.risk_oracle import RiskOracle
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.plane_sizes import CutSize
from maxmargin.solvers.cut_vectors import CutVectors
from maxmargin.solvers.learnt_cuts import read_size


class LearntSizes(Learnt):
    """The sizes of all cuts of an owner, which bound rounding errors."""

    def left(self, value: list[CutSize]) -> Any:
        return [list(size) for size in value]

    def refilled(self, found: Any, current: Any, owner: Any) -> list[CutSize]:
        if not isinstance(found, list) or len(found) != owner.vectors.m:
            raise ValueError(f"expected the sizes of {owner.vectors.m} cuts")
        return list(map(read_size, found))


class Cuts:
    """Cuts  w -> offset - ⟨a, w⟩ <= R(w), each with the number of rounds for which it has carried no weight."""

    learnt: ClassVar[Fields] = {
        "vectors": Inner(),
        "offset": NumberArray(float, "vectors.m"),
        "gram": NumberArray(float, "vectors.m", "vectors.m"),
        "alpha": NumberArray(float, "vectors.m", least=0),
        "idle": NumberArray(int, "vectors.m", least=0),
        "sizes": LearntSizes(),
        "truths": Each(OneOf(None, NumberArray(float, None)), size="vectors.m"),
    }

    def __init__(
        self, columns_wanted: bool = False, atoms: Atoms | None = None, memory: MemoryBudget = UNLIMITED
    ) -> None:
        self.vectors = CutVectors(columns_wanted, atoms, memory)
        self.offset = np.zeros(0)
        self.gram = np.zeros((0, 0))
        self.alpha = np.zeros(0)
        self.idle = np.zeros(0, dtype=int)
        self.sizes: list[CutSize] = []  # bound rounding errors
        self._combined: tuple[Array, Array] | None = None  # weights and their combination
        self.truths: list[Array | None] = []  # for each cut, the factors of Ψ(x, truth), if truths may change

    def _check_learnt(self) -> None:
        self._combined = None
        if len({0 if each is None else len(each) for each in self.truths}) > 1:
            raise ValueError("expected a factor of every truth in all cuts, or in none")

    def __len__(self) -> int:
        return len(self.offset)

    def add(self, plane: MeanPlane) -> None:
        products = self.vectors.add(plane)
        m = len(self)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m], gram[m], gram[:, m] = self.gram, products, products
        self.gram = gram
        self.offset = np.append(self.offset, plane.offset)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)
        self.truths.append(plane.truths)
        self.sizes.append(plane.size)

    def weigh(self, alpha: Array) -> None:
        """Set the dual weights, and count for how long cuts have had none."""
        self.alpha = alpha
        self.idle = np.where(alpha > 0, 0, self.idle + 1)

    def drop_idle(self, patience: int) -> NDArray[np.intp]:
        """Drop cuts that have had no weight for `patience` rounds, in batches, because it copies the others.

        Return the numbers of the cuts that stay.
        """
        keep = np.flatnonzero(self.idle <= patience)
        if len(self) - len(keep) <= len(self) // 16:
            return np.arange(len(self))
        self.vectors.keep(keep)
        self.offset, self.alpha, self.idle = self.offset[keep], self.alpha[keep], self.idle[keep]
        self.gram = self.gram[np.ix_(keep, keep)]
        self.truths = [self.truths[t] for t in keep]
        self.sizes = [self.sizes[t] for t in keep]
        return keep

    def shift(self, rows: AtomRows) -> None:
        """Adapt the cuts to truths whose Ψ have changed by these rows, one per example.

        A cut is a sum of planes Δ - ⟨w, Ψ(x, truth) - Ψ(x, z)⟩ whose losses do not depend on the hidden part of the
        truth: with the new truths, it is a cut of the new problem.
        """
        if len(self):
            factors, lengths = np.array(self.truths), rows.sizes
            self.gram = self.vectors.move(factors, rows)
            self._combined = None
            moved = np.abs(factors) @ lengths
            self.sizes = [s.plus(a, 0.0, len(lengths)) for s, a in zip(self.sizes, moved, strict=True)]

    def combined(self, dim: int) -> Array:
        """Return Σ α a."""
        if self._combined is None or self._combined[0] is not self.alpha:
            self._combined = self.alpha, self.vectors.combined(self.alpha, dim)
        return self._combined[1]

    def dots(self, v: Array) -> Array:
        """Return ⟨a, v⟩ of every cut."""
        return self.vectors.dots(v)

    def risk(self, w: Array, gains: Array | None = None) -> float:
        """Return the highest cut at w, a lower bound on R(w); gains: as in Memory."""
        heights = self.offset - self.dots(w)
        if gains is not None and len(self):
            heights = heights - np.array(self.truths) @ gains
        return max(0.0, float(np.max(heights, initial=0.0)))

    def slacks(self, w: Array) -> None:
        """Return None, because cuts are sums over all examples."""

    def point(self, oracle: RiskOracle) -> Array:
        """Return the w that the weights α determine."""
        return oracle.space.point(self.combined(oracle.dim))

    def bound(self, oracle: RiskOracle, most: float = 1.0) -> float:
        """Return Σ α offset - ½‖Σ α a‖², not rounded up: a lower bound for any α >= 0 with Σ α <= C.

        It is the best value over the multiples of α with factors from 0 to `most`. The norm is computed from the vector
        itself: in αᵀGα, terms that cancel leave rounding errors that can exceed the result.
        """
        used = np.flatnonzero(self.alpha)
        if not len(used):
            return oracle.space.least
        s, linear = self.combined(oracle.dim), float(np.dot(self.alpha, self.offset))
        mass, losses, terms = np.array([self.sizes[t] for t in used]).T
        terms = terms.max() + len(used) + 8
        if oracle.geometry is not None:
            factor = most * oracle.geometry.best_share(most * linear, 0.0, np.zeros(oracle.dim), most * s)
            weight = factor * self.alpha[used]
            return oracle.geometry.lowered_dual(factor * linear, weight @ losses, factor * s, weight @ mass, terms)
        square = oracle.space.square(s)
        factor = max(0.0, min(most, linear / square if square > 0 else most))
        weight = factor * self.alpha[used]
        return lowered_dual(factor * linear, weight @ losses, factor**2 * square, weight @ mass, terms)


def known_cuts(oracle: RiskOracle, start: Any) -> Cuts:
    """Return the cuts of an earlier solution, if it has any, or an empty collection for this oracle."""
    known = None if start is None else start.memory
    if not isinstance(known, Cuts):
        return Cuts(oracle.geometry is not None, oracle.batch.plane_atoms, oracle.memory)
    known.vectors.memory = oracle.memory
    return known
