"""The dual point of multiclass problems: all K - 1 planes of an example are known, so a visit solves its block exactly.

    maximise  D(α) = Σᵢₖ αᵢₖ Δ(yᵢ, k) - ½‖w‖²,   w = Σᵢₖ αᵢₖ xᵢ ⊗ (e_yᵢ - e_k)
    subject to α >= 0, Σₖ αᵢₖ <= capᵢ = C vᵢ / n                          (Crammer and Singer 2001, section 4)

The planes of xᵢ have the Gram matrix ‖xᵢ‖² (I + 11'), whatever the costs are. Given the heights h of all wrong labels
at w, the best weights of example i for fixed weights of all other examples are the projection of α + h / ‖xᵢ‖² onto a
simplex with one more weight for the truth. It takes a few steps of O(K) (Michelot 1986; Keerthi et al. 2008 for
liblinear).
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import NumberArray, Real
from maxmargin.base.files.objects import Fields
from maxmargin.base.rounding import gamma
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.dual.block_dual import CALL, BlockDual, Decoder, Report, count_moved
from maxmargin.problem.dual.caps import largest_multiple
from maxmargin.problem.dual.dual_problem import DualProblem
from maxmargin.problem.dual.known_planes import JointSize, KnownPlanes
from maxmargin.problem.dual.proof import Proof
from maxmargin.problem.planes.atoms import AtomRows, Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.classes.compiled.class_arrays import ClassProblem

SHARE = 0.003  # examples that gained more than this share of the average gain are visited again


class LabelledRows(NamedTuple):
    """Examples with one label each."""

    atoms: Atoms  # the features of units at each label
    units: NDArray[np.int64]  # the unit of each example
    truths: Labels  # the true label of each example
    cost: Array  # (K, K), cost[true, predicted]


class ClassDual(BlockDual):
    """BlockDual of classes for plain slacks and finite C, which stores α for all wrong labels and no planes."""

    learnt: ClassVar[Fields] = {"alpha": NumberArray(float, "n", "n_classes", least=0), "_least": Real(least=0)}

    def __init__(self, classes: LabelledRows, problem: DualProblem):
        super().__init__(classes.atoms.dim, problem)
        self.classes = classes
        self.alpha = problem.limits.memory.zeros((self.n, len(classes.cost)), np.float64)
        self._squares = classes.atoms.lengths**2
        self.vectors.average_if_cheap(classes.atoms, classes.units)
        self._least = 0.0  # the least gain after which an example is visited again

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes.cost)

    @property
    def alpha_sums(self) -> Array:
        return np.asarray(self.alpha.sum(axis=1))

    def search(self, oracle: Decoder, order: NDArray[np.intp], block: int) -> Report:
        """Visit these examples one after the other; `block` is ignored, since each visit uses the current Σ α a."""
        report = self._visit(oracle, order)
        self.vectors.begin_mean()
        return report

    def revisit(self, oracle: Decoder, rng: np.random.Generator) -> Report:
        """Visit again the examples that gained most in the last visits."""
        report = self._visit(oracle, rng.permutation(self.movers))
        self.vectors.extend_mean()
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
        moved = count_moved(self.movers, report[GAIN], self.dual)
        return Report(report[PENALTY], moved, report[GAIN], work=len(order) / self.n)

    def _improve(self, order: NDArray[np.intp], report: Array) -> None:
        """Solve the blocks of these examples; see `visit_classes`."""
        from maxmargin.structures.classes.compiled.class_dual import visit_classes

        K, atoms, free = self.n_classes, self.classes.atoms.arrays, self.vectors.free
        scratch = np.empty((4, K)), np.empty(K, dtype=np.uint64)
        limits = self.vectors.bounds
        visit_classes(order, self._arrays, atoms, self.alpha, free, limits, *scratch, self._least, report)

    @property
    def _arrays(self) -> ClassProblem:
        of = self.classes
        return ClassProblem(of.units, of.truths, of.cost, of.atoms.lengths, self._squares, self.cap)

    @cached_property
    def _largest(self) -> Planes:
        """Return two planes, for the longest x and for the most expensive mistake, between any two labels."""
        of = self.classes
        units = of.units[[int(np.argmax(self._squares[of.units])), int(np.argmax(of.cost.max(axis=1)[of.truths]))]]
        K = len(of.cost)
        indices = (units[:, None] * K + np.array([0, 1])).ravel().astype(np.int32)
        rows = AtomRows(of.atoms, np.array([0, 2, 4], dtype=np.int32), indices, np.tile([1.0, -1.0], 2))
        return Planes(rows, np.full(2, of.cost[of.truths].max()))

    def refresh(self) -> None:
        linear = self._sum_up()
        self.dual = linear - self.vectors.settle()

    def _sum_up(self) -> float:
        """Compute Σ α a anew from α, and return Σ α b."""
        self.vectors.sums[:] = 0.0
        linear, *_ = self._totals(self.vectors.sums)
        return linear

    def _linear(self) -> float:
        return float(np.einsum("ik,ik", self.alpha, self.classes.cost[self.classes.truths]))

    def proof(self) -> Proof:
        w = np.zeros(self.dim)
        linear, losses, mass, entries, excess = self._totals(w)
        # Scaling α down to its caps reduces the linear part by at most this share.
        linear -= (excess + gamma(self.alpha.shape[1] + 2)) * abs(linear)
        terms = entries + self.classes.atoms.terms
        return Proof(linear, losses * (1 + gamma(entries)), w, mass, terms, excess=excess)

    def _totals(self, sums: Array) -> tuple[float, float, float, int, float]:
        """Add Σ α a to an array, and return the other terms of D(α); see `class_totals`."""
        from maxmargin.structures.classes.compiled.class_dual import class_totals

        return class_totals(self._arrays, self.classes.atoms.arrays, self.alpha, sums, np.empty(self.n_classes))

    def slacks(self, w: Array, gains: Array | None = None) -> Array:
        """Return, for every example, the height at w of the highest plane over all labels, which is at least 0."""
        of, heights = self.classes, self._scores(w)
        heights -= heights[np.arange(self.n), of.truths][:, None]
        heights += of.cost[of.truths]
        highest = heights.max(axis=1)
        return np.maximum(highest if gains is None else highest - gains, 0.0)

    def _scores(self, w: Array) -> Array:
        return self.classes.atoms.scores(w, self.classes.units)

    def move_to(self, problem: DualProblem) -> None:
        if self.vectors.behind:
            self.refresh()
        self.problem, self.cap = problem, problem.caps
        limit = largest_multiple(self.alpha_sums, self.cap)
        self.alpha *= self.vectors.best_multiple(self._linear(), 0.0, limit)
        self.vectors.set_geometry(problem.geometry)
        self.refresh()
        self.vectors.begin_mean()

    # --- all blocks at once (solvers/joint_rounds.py)

    def known_planes(self) -> KnownPlanes:
        """Return the planes of positive weight."""
        of = self.classes
        owners, labels = np.nonzero(self.alpha * (self.cap > 0)[:, None])
        truths = of.truths[owners]
        rows = self._rows(owners, truths, labels.astype(np.int32))
        slots = owners * len(of.cost) + labels
        return KnownPlanes(slots, owners, rows, of.cost[truths, labels], self.alpha.ravel()[slots])

    def _rows(self, owners: NDArray[np.intp], truths: Labels, labels: Labels) -> AtomRows:
        """Return the planes of these examples and labels."""
        of = self.classes
        first = of.units[owners] * len(of.cost)
        indices = np.stack([first + truths, first + labels], axis=1).ravel().astype(np.int32)
        indptr = np.arange(0, 2 * len(owners) + 1, 2, dtype=np.int32)
        return AtomRows(of.atoms, indptr, indices, np.tile([1.0, -1.0], len(owners)))

    @property
    def joint_size(self) -> JointSize:
        counts = np.count_nonzero(self.alpha[self.cap > 0], axis=1)
        return JointSize(int(counts.sum()), int(np.count_nonzero(counts)))

    @property
    def visit_work(self) -> float:
        # A visit computes the scores of all labels with vector operations; updates of w cost as much again.
        return 0.5 * self.classes.atoms.n_entries * len(self.classes.cost) + 100.0 * self.n + CALL
