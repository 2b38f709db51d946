"""The dual point of classes: all K - 1 planes of an example are known, so that a visit solves its block at once.

    maximise  D(α) = Σᵢₖ αᵢₖ Δ(yᵢ, k) - ½‖w‖²,   w = Σᵢₖ αᵢₖ xᵢ ⊗ (e_yᵢ - e_k)
    subject to α >= 0, Σₖ αᵢₖ <= capᵢ = C vᵢ / n                          (Crammer and Singer 2001, section 4)

The planes of xᵢ have the products ‖xᵢ‖² (I + 11'), whatever the costs are. So with the heights h of all wrong labels at
w, the best weights of example i with all others as they are, are the projection of α + h / ‖xᵢ‖² onto the simplex with
one more weight, the truth's: O(K) for the few steps that it takes (Michelot 1986; in liblinear, Keerthi et al. 2008).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import NumberArray, Real
from maxmargin.base.files.objects import Fields
from maxmargin.base.memory_budget import zeros
from maxmargin.base.rounding import gamma
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.dual.block_dual import CALL, BlockDual, Decoder, Proof, Remembered, Report, caps
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes

SHARE = 0.003  # who gained more than this share of what a visit gained on average is visited again


class LabelledRows(NamedTuple):
    """Examples with one label each."""

    atoms: Atoms  # the features of units at each label
    units: NDArray[np.int64]  # those of the examples
    truths: Labels
    cost: Array  # (K, K), of a mistake


class ClassDual(BlockDual):
    """α of all wrong labels, for plain slacks under a finite C. No plane is ever written down."""

    confinable = True
    learnt: ClassVar[Fields] = {"alpha": NumberArray(float, "n", "n_classes", least=0), "_least": Real(least=0)}

    def __init__(self, classes: LabelledRows, weights: Array, formulation: Formulation, C: float, **limits: Any):
        super().__init__(classes.atoms.dim, weights, formulation, C, **limits)
        self.classes = classes
        self.alpha = zeros((self.n, len(classes.cost)), np.float64)
        self._squares = classes.atoms.lengths**2
        self.average(classes.atoms, classes.units)
        self._least = 0.0  # what somebody gained who is visited again

    @property
    def n_classes(self) -> int:
        return len(self.classes.cost)

    @property
    def alpha_sums(self) -> Array:
        return np.asarray(self.alpha.sum(axis=1))

    def search(self, oracle: Decoder, order: NDArray[np.intp], block: int) -> Report:
        """Every visit sees the newest Σ α a; `block` means nothing here."""
        report = self._visit(oracle, order)
        self._after_search()
        return report

    def revisit(self, oracle: Decoder, rng: np.random.Generator) -> Report:
        """Visit those again who have just gained most."""
        report = self._visit(oracle, rng.permutation(self.movers))
        self._after_revisit()
        return report

    @property
    def calls_again(self) -> int:
        return len(self.movers)

    def _visit(self, oracle: Decoder, order: NDArray[np.intp]) -> Report:
        from maxmargin.structures.classes.compiled.class_dual import GAIN, MOVED, PENALTY

        if not len(order):
            return Report(0.0, 0, 0.0, work=0.0)
        oracle.searched(len(order), self._largest)
        report = np.zeros(3)
        self._improve(order, report)
        self.movers, self._least = order[: int(report[MOVED])], SHARE * report[GAIN] / len(order)
        self.dual += report[GAIN]
        return Report(report[PENALTY], self._moved(report[GAIN]), report[GAIN], work=len(order) / self.n)

    def _improve(self, order: NDArray[np.intp], report: Array) -> None:
        """Solve the blocks of these examples; see `visit_classes`."""
        from maxmargin.structures.classes.compiled.class_dual import visit_classes

        of = self.classes
        visit_classes(
            order,
            of.units,
            of.truths,
            of.cost,
            self._squares,
            self.cap,
            of.atoms.arrays,
            self.alpha,
            self._free,
            self._limits,
            np.empty((4, len(of.cost))),
            np.empty(len(of.cost), dtype=np.uint64),
            self._least,
            report,
        )

    @cached_property
    def _largest(self) -> Planes:
        """The plane of the longest x, and that of the dearest mistake, of any two labels."""
        of = self.classes
        units = of.units[[int(np.argmax(self._squares[of.units])), int(np.argmax(of.cost.max(axis=1)[of.truths]))]]
        K = len(of.cost)
        indices = (units[:, None] * K + np.array([0, 1])).ravel().astype(np.int32)
        rows = AtomRows(of.atoms, np.array([0, 2, 4], dtype=np.int32), indices, np.tile([1.0, -1.0], 2))
        return Planes(rows, np.full(2, of.cost[of.truths].max()))

    def refresh(self) -> None:
        self.sums[:] = 0.0
        linear, *_ = self._totals(self.sums)
        self._settle()
        self.dual = linear - self._potential()

    def _linear(self) -> float:
        return float(np.einsum("ik,ik", self.alpha, self.classes.cost[self.classes.truths]))

    def proof(self) -> Proof:
        w = np.zeros(self.dim)
        linear, losses, mass, entries, excess = self._totals(w)
        # The multiple of α that keeps to its caps has at least this much of the linear part.
        linear -= (excess + gamma(self.alpha.shape[1] + 2)) * abs(linear)
        terms = entries + self.classes.atoms.terms
        return Proof(linear, losses * (1 + gamma(entries)), w, mass, terms, excess=excess)

    def _totals(self, w: Array) -> tuple[float, float, float, int, float]:
        from maxmargin.structures.classes.compiled.class_dual import class_totals

        of = self.classes
        lengths, row = of.atoms.lengths, np.empty(len(of.cost))
        return class_totals(of.units, of.truths, of.cost, lengths, self.cap, of.atoms.arrays, self.alpha, w, row)

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """Of all labels."""
        of, heights = self.classes, self._scores(w)
        heights -= heights[np.arange(self.n), of.truths][:, None]
        heights += of.cost[of.truths]
        highest = heights.max(axis=1)
        return np.maximum(highest if gains is None else highest - gains, 0.0)

    def _scores(self, w: Array) -> Array:
        return self.classes.atoms.scores(w, self.classes.units)

    def move_to(self, weights: Array, C: float) -> None:
        """By the best multiple of α that keeps to the new caps."""
        self._know_sums()
        self.weights, self.C, self.cap = weights, C, caps(weights, C)
        self.alpha *= self.best_multiple(self._linear(), 0.0, self.alpha_sums)
        self.refresh()
        self._after_search()

    # --- all blocks at once (solvers/joint_rounds.py)

    def remembered(self) -> Remembered:
        """The planes that carry weight."""
        of = self.classes
        owners, labels = np.nonzero(self.alpha * (self.cap > 0)[:, None])
        truths = of.truths[owners]
        rows = self._rows(owners, truths, labels.astype(np.int32))
        return Remembered(owners * len(of.cost) + labels, owners, rows, of.cost[truths, labels])

    def _rows(self, owners: NDArray[np.intp], truths: Labels, labels: Labels) -> AtomRows:
        """The planes of these examples and labels."""
        of = self.classes
        first = of.units[owners] * len(of.cost)
        indices = np.stack([first + truths, first + labels], axis=1).ravel().astype(np.int32)
        indptr = np.arange(0, 2 * len(owners) + 1, 2, dtype=np.int32)
        return AtomRows(of.atoms, indptr, indices, np.tile([1.0, -1.0], len(owners)))

    def alpha_of(self, planes: Remembered) -> Array:
        return self.alpha.ravel()[planes.slots]

    @property
    def size(self) -> tuple[int, int]:
        counts = np.count_nonzero(self.alpha[self.cap > 0], axis=1)
        return int(counts.sum()), int(np.count_nonzero(counts))

    @property
    def visit_work(self) -> float:
        """All scores of everyone, in vector operations, and as much again for what is added to w."""
        return 0.5 * self.classes.atoms.n_entries * len(self.classes.cost) + 100.0 * self.n + CALL
