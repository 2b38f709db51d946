"""Oracle: task × data × executor -> planes. It is all that a solver may touch of the problem.

A solver asks for cuts of single examples (`planes`), for one averaged cut (`mean_plane`), or for the risk. The oracle
translates the formulation (margin or slack rescaling, plain or squared slacks) into what the task's decoder can do,
counts the decoder calls, spreads them over the executor and checks the promise that every plane is >= 0.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.atoms import AtomRows
from maxmargin.errors import TaskError
from maxmargin.executors import Executor, Serial
from maxmargin.objective import Formulation, primal
from maxmargin.rescaling import search
from maxmargin.task import Array, Batch, Planes, Rows, Task

CHUNK = 512  # examples per call in a full pass: bounds the memory that rows of planes take


class MeanPlane(NamedTuple):
    """The cut  w -> offset - ⟨a, w⟩ <= R(w)  of the whole risk, tight at the point where it was asked for."""

    a: Array
    offset: float
    risk: float  # R at that point, as the objective is measured: see Cuts
    row: AtomRows | None = None  # a as one combination of atoms, where that is the shorter form
    truths: Array | None = None  # (n,) the factor of every Ψ(x, truth) in a, where truths may change (latent tasks)
    planes: Planes | None = None  # of a sample: those of its examples


class Cuts(NamedTuple):
    """Planes whose height is the violation.

    Solvers measure the objective by what an undergenerating search found, which is all that they can act on, and by
    what is proved otherwise.
    """

    planes: Planes
    heights: Array  # of the planes where they were asked for
    measured: Array  # each example's largest violation, as the objective is measured
    proved: Array  # upper bounds on it; inf where nothing is proved


class Oracle:
    """n examples seen through their most violated outputs."""

    def __init__(
        self,
        task: Task,
        batch: Batch,
        formulation: Formulation | None = None,
        sample_weight: Any = None,
        executor: Executor | None = None,
    ):
        self.task, self.batch = task, batch
        self.formulation = formulation or Formulation()
        self.executor = executor or Serial()
        self.n = len(batch)
        self.dim = task.dim if batch.kernel is None else batch.kernel.dim
        self.weights = normalised_weights(sample_weight, self.n)
        self.calls = 0
        self._lam = np.ones(self.n)  # where the last rescaling search of each example ended

    @property
    def search(self) -> str:
        """What the decoder finds on these data: see Task.search."""
        return self.batch.search or self.task.search

    def inner(self, v: Array, w: Array) -> float:
        """⟨v, w⟩: with a kernel, weights are coefficients, and the product is not that of the two arrays."""
        return float(np.dot(v, w)) if self.batch.kernel is None else self.batch.kernel.inner(v, w)

    def objective(self, w: Array, risk: float, C: float) -> float:
        """P(w) from its measured risk."""
        return primal(self.inner(w, w), risk, C)

    def planes(self, w: Array, index: NDArray[np.intp], scale: float = 1.0) -> Planes:
        """The most violated cut of each example in `index` at scale·w (without forming that vector, where possible)."""
        return self._cuts(w, index, scale).planes

    def predicted_planes(self, w: Array, index: NDArray[np.intp]) -> Rows:
        """Ψ(x, y) - Ψ(x, z) for the plain prediction z, without loss and rescaling.

        A hint of loss makes a tie with the truth a mistake, or nothing could be learnt from w = 0, where all is tied.
        """
        self.calls += len(index)
        return self.task.planes(w, self.batch.take(index), augment=1e-12).dpsi

    def slacks(self, w: Array) -> Array:
        """ξᵢ(w) for every example; an upper bound where the search is not exact, unless it is undergenerating."""
        return self._every("measured", w)

    def risk(self, w: Array) -> float:
        """R(w), the weighted mean penalty of these slacks."""
        return self._mean_penalty(self.slacks(w))

    def proved_risk(self, w: Array) -> float:
        """R(w) is proved to be no higher than this; inf where nothing is proved."""
        return self._mean_penalty(self._every("proved", w))

    def _every(self, which: str, w: Array) -> Array:
        return np.concatenate([np.maximum(getattr(self._cuts(w, index), which), 0) for index in self._chunks()])

    def _mean_penalty(self, slacks: Array) -> float:
        counting = self.weights > 0  # an example without weight may have no bound
        return float(np.dot(self.weights[counting], self.formulation.penalty(slacks[counting])) / self.n)

    def mean_plane(self, w: Array, sample: NDArray[np.intp] | None = None) -> MeanPlane:
        """The risk linearised at w: for plain slacks the mean of the examples' cuts, for squared ones its tangent.

        Over a sample of the examples it is an estimate of that, and no bound on anything.
        """
        a, offset, risk = np.zeros(self.dim), 0.0, 0.0
        parts: list[AtomRows] = []
        sampled: list[Planes] = []
        n = self.n if sample is None else len(sample)
        truths = np.zeros(self.n) if self.task.latent and sample is None else None
        for index in self._chunks(sample):
            cuts = self._cuts(w, index)
            heights = np.maximum(cuts.heights, 0)
            share = self.weights[index] / n * (heights > 0)  # a cut below the truth's 0 is no cut
            risk += float(np.dot(self.weights[index], self.formulation.penalty(np.maximum(cuts.measured, 0)))) / n
            if self.formulation.squared:
                share = share * heights
                offset -= 0.5 * float(np.dot(share, heights))
            offset += float(np.dot(share, cuts.planes.loss))
            if truths is not None:
                truths[index] = share * self.formulation.truths(cuts.planes.loss)
            rows = AtomRows.of(cuts.planes.dpsi)
            rows.add_to(a, share)
            if rows.atoms.shorter_than_weights:
                parts.append(rows.scaled(share))
            if sample is not None:
                sampled.append(Planes(rows, cuts.planes.loss))
        planes = Planes.stack(sampled) if sampled else None
        return MeanPlane(a, offset, risk, AtomRows.stack(parts).summed() if parts else None, truths, planes)

    def completed(self, w: Array) -> Oracle:
        """The same data with every label completed to the output that explains it best at w (latent tasks)."""
        return self._of(self.task.completed(w, self.batch))

    def guessed(self, rng: np.random.Generator) -> Oracle:
        """The same data with every label completed somehow, before there are weights (latent tasks)."""
        return self._of(self.task.guessed(rng, self.batch))

    def shifts_to(self, after: Oracle) -> AtomRows:
        """By how much Ψ of every truth changes from this completion to that one."""
        return AtomRows.of(self.task.shifts(self.batch, after.batch))

    def _of(self, batch: Batch) -> Oracle:
        oracle = copy(self)
        oracle.batch, oracle._lam = batch, self._lam.copy()
        return oracle

    def _chunks(self, sample: NDArray[np.intp] | None = None) -> list[NDArray[np.intp]]:
        chosen = np.arange(self.n) if sample is None else sample
        return [chosen[start : start + CHUNK] for start in range(0, len(chosen), CHUNK)]

    def _cuts(self, w: Array, index: NDArray[np.intp], scale: float = 1.0) -> Cuts:
        self.calls += len(index)
        if scale != 1 and not self.formulation.plain:
            w, scale = scale * w, 1.0
        workers = min(self.executor.workers, max(1, len(index) // 4))
        parts = np.array_split(index, workers) if workers > 1 else [index]
        results = list(self.executor.map(self._part, parts, w, scale))
        if len(results) == 1:
            return results[0]
        dpsi = AtomRows.stack([part.planes.dpsi for part in results])
        loss = np.concatenate([part.planes.loss for part in results])
        return Cuts(Planes(dpsi, loss), *(np.concatenate([part[k] for part in results]) for k in (1, 2, 3)))

    def _part(self, index: NDArray[np.intp], w: Array, scale: float) -> Cuts:
        """Cuts of these examples, in the calling thread."""
        batch = self.batch.take(index)
        if self.formulation.plain:
            planes = self.task.planes(w, batch, augment=1.0 / scale).over_atoms()
        else:
            exact = self.task.rescaled_planes(w, batch, self.formulation)
            if exact is None:
                found = search(self.task, self.formulation, w, batch, self._lam[index])
                self._lam[index] = found.lam
                heights = found.cuts.values(w)
                self._check_promise(batch, found.cuts, found.upper)
                return Cuts(found.cuts, heights, heights if self._estimates else found.upper, found.upper)
            planes = self.formulation.cuts(exact.over_atoms())
            heights = planes.values(w)
            self._check_promise(batch, planes, heights)
            return Cuts(planes, heights, heights, heights)
        heights = planes.loss - scale * (planes.dpsi @ w)
        self._check_promise(batch, planes, heights)
        if planes.upper is None:
            return Cuts(planes, heights, heights, np.full(len(heights), np.inf) if self._estimates else heights)
        proved = np.maximum(scale * planes.upper, heights)
        return Cuts(planes, heights, heights if self._estimates else proved, proved)

    @property
    def _estimates(self) -> bool:
        """Whether the objective is only estimated, by what an undergenerating search finds."""
        return self.search == "undergenerating"

    def _check_promise(self, batch: Batch, planes: Planes, heights: Array) -> None:
        """The truth has height 0, so an exact decoder never returns less: anything else is the task's fault."""
        if heights.min(initial=0.0) >= 0:  # the usual case; false for NaN
            return
        if np.isnan(heights).any():
            i = batch.ids[int(np.flatnonzero(np.isnan(heights))[0])]
            raise TaskError(f"the plane of example {i} is NaN: psi or loss is not finite, or the weights overflowed")
        if self.task.search != "exact" or self.search != "exact":
            return
        allowed = -1e-7 * (1 + 2 * np.abs(planes.loss) + np.abs(heights))
        if (heights < allowed).any():
            j = int(np.argmin(heights - allowed))
            raise TaskError(
                f"{type(self.task).__name__} broke its promise on example {batch.ids[j]}: argmax(w, x, y) "
                f"returned an output with ⟨w, psi⟩ + loss lower than the truth's by {-heights[j]:.6g}. "
                "It must maximise that sum (or the task must declare search = 'undergenerating')"
            )


def normalised_weights(sample_weight: Any, n: int) -> Array:
    """Sample weights scaled to sum to n, so that C keeps multiplying a mean."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},), one weight per example")
    if not np.isfinite(weights).all() or (weights < 0).any():
        i = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise ValueError(f"sample_weight[{i}] is {weights[i]}; weights must be finite and >= 0")
    if weights.sum() == 0:
        raise ValueError("all sample weights are zero: there is nothing to learn from")
    return weights * (n / weights.sum())
