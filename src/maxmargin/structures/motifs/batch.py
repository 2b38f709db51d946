"""MotifBatch: packed strings with labels and the current windows of the motif."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.latent import Latent
from maxmargin.problem.contract.capabilities.prediction_form import PredictionForm, TrainedModel
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.motifs.scored_windows import ScoredWindows
from maxmargin.structures.motifs.sites import best_sites
from maxmargin.structures.motifs.windows import ChosenWindows, IntArray, Windows
from maxmargin.structures.motifs.words import first_motif


class MotifBatch(Batch, Latent, PredictionForm, RescaledSearch):
    """Batch of strings; `has` marks those with the motif, `windows` are its current positions, both for all `data`."""

    task: ScoredWindows

    def __init__(self, task: ScoredWindows, data: Windows, has: NDArray[np.bool_]):
        super().__init__(task, len(has))
        self.data, self.has, self.windows = data, has, ChosenWindows.none(len(has))

    @property
    def labels(self) -> NDArray[np.bool_]:
        """A mask of the examples of this batch that have the motif."""
        return self.has[self.ids]

    @property
    def positive(self) -> IntArray:
        """The numbers of the examples with the motif."""
        return self.ids[self.labels]

    @property
    def negative(self) -> IntArray:
        """The numbers of the examples without the motif."""
        return self.ids[~self.labels]

    @property
    def truth(self) -> ChosenWindows:
        """The windows of the examples of this batch."""
        return ChosenWindows(self.windows.starts[self.ids], self.windows.strands[self.ids])

    def with_windows(self, ids: IntArray, starts: IntArray, strands: IntArray) -> MotifBatch:
        """Return a batch with other windows in the examples of these numbers."""
        all_starts, all_strands = self.windows.starts.copy(), self.windows.strands.copy()
        all_starts[ids], all_strands[ids] = starts, strands
        changed = copy(self)
        changed.windows = ChosenWindows(all_starts, all_strands)
        return changed

    # --- search

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        found, labels = self.task.best_windows(w, self.data, self.ids), self.labels
        present = found.gains + np.where(labels, -1.0, 1.0) * augment > 0
        return Planes(self._from_truth(found.windows.where(present)), (present != labels).astype(float))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Return rescaled planes; losses are 0 or 1, so squared slacks change nothing and only wrong classes count."""
        if formulation.rescaling == "margin":
            return self.planes(w)
        found = self.task.best_windows(w, self.data, self.ids)
        labels, truth = self.labels, self.truth
        right = self.task.differences(self.data, truth, ChosenWindows.none(len(self))) @ w  # 0 without the motif
        violated = 1 - (right - np.where(labels, 0.0, found.gains)) > 0
        wrong = found.windows.where(~labels)
        chosen = ChosenWindows(
            np.where(violated, wrong.starts, truth.starts), np.where(violated, wrong.strands, truth.strands)
        )
        return Planes(self._from_truth(chosen), violated.astype(float))

    def _from_truth(self, windows: ChosenWindows) -> AtomRows:
        """Return Ψ of the truths minus Ψ of these windows."""
        return self.task.differences(self.data, self.truth, windows)

    # --- latent positions

    def completed(self, w: Array) -> MotifBatch:
        positive = self.positive
        found = self.task.best_windows(w, self.data, positive)
        return self.with_windows(positive, *found.windows)

    def guessed(self, rng: np.random.Generator) -> MotifBatch:
        """Return a batch with the initial windows of the option `start`."""
        if self.task.first_weights_ is not None:
            return self.completed(self.task.first_weights_)
        if self.task.start == "windows" or not self.labels.any():
            return self.anywhere(rng)
        return self.completed(first_motif(self.task, self.data, self.positive, self.negative, rng))

    def anywhere(self, rng: np.random.Generator) -> MotifBatch:
        """Return a batch with a uniformly drawn window in every string that has a motif."""
        positive = self.positive
        starts = self.data.nth(positive, rng.integers(self.data.counts[positive]))
        return self.with_windows(positive, starts, rng.integers(self.task.strands, size=len(positive)))

    def shifts_to(self, after: MotifBatch) -> AtomRows:
        return after._from_truth(self.truth)

    # --- after training

    def trained_model(self, w: Array) -> TrainedModel:
        """Return the task and w, with the sites of the motif and the letter statistics of strings without it."""
        sites = best_sites(self.task, w, self.data, self.positive)
        return TrainedModel(self.task, w, {"sites_": sites, **self._background(w)})

    def _background(self, w: Array) -> dict[str, Any]:
        """Return the frequency of every letter in strings without the motif, and its mean weight in the background."""
        strings, size = self.data.strings, len(self.task.alphabet_)
        without = np.zeros(len(strings), dtype=bool)
        without[self.negative] = True
        read = np.repeat(without, np.diff(strings.begins)) & (strings.codes >= 0)
        letters = strings.codes[read]
        counts = np.bincount(letters, minlength=size)
        totals = np.bincount(letters, self.task.context_weights(w)[self.data.contexts[read]], minlength=size)
        return {
            "background_frequencies_": counts / max(counts.sum(), 1),
            "letter_weights_": totals / np.maximum(counts, 1),
        }
