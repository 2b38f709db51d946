"""Packed sequences, fully or partially labelled, as tasks over chains read them."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.atoms import Atoms
from maxmargin.inputs.labels import Labels
from maxmargin.kernels.units import AtomBatch
from maxmargin.task import Array


class View(NamedTuple):
    """The units of a batch's sequences in a row, sequence j at bounds[j]:bounds[j + 1]."""

    units: NDArray[np.int64]
    bounds: NDArray[np.int64]


class ChainBatch(AtomBatch):
    """Sequences of units: sequence i owns units offsets[i]:offsets[i + 1]."""

    call_cost = 6.0  # measured on letters and chunking; compiled decoders are almost as fast as the cache

    def __init__(
        self,
        atoms: Atoms,
        offsets: NDArray[np.int64],
        rows: Labels,
        costs: Array,
        allowed: NDArray[np.bool_],
        cost: Array,
        whole_losses: bool,
    ):
        self.atoms, self.offsets = atoms, offsets
        self.rows = rows  # of every unit, what is known of its label: a row of `allowed`; the first K are the labels
        self.allowed, self.cost = allowed, cost  # (R, K) each: which labels may stand there, and what the others cost
        self.costs = costs  # by which factor mistakes at a unit cost more
        self.whole_losses = whole_losses  # slack rescaling can be exact
        self.labels = rows  # the truth: what is known, completed where that leaves it open
        self.longest = int(np.max(np.diff(offsets), initial=0))
        self.ids = np.arange(len(offsets) - 1)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Of every unit: whether exactly one label may stand there."""
        return np.asarray(self.rows < self.allowed.shape[1])

    def take(self, index: NDArray[np.intp]) -> ChainBatch:
        taken = copy(self)
        taken.ids = self.ids[index]
        return taken

    def with_labels(self, labels: Labels) -> ChainBatch:
        """Another completion."""
        completed = copy(self)
        completed.labels = labels
        return completed

    def teaching(self) -> NDArray[np.intp]:
        tells = ~np.asarray(self.allowed.all(axis=1))[self.rows]
        return np.flatnonzero(np.logical_or.reduceat(tells, self.offsets[:-1])[self.ids])

    def stretches(self) -> tuple[ChainBatch, NDArray[np.intp]]:
        """The stretches of known labels as sequences of their own, and the position in this batch of their owners."""
        known = self.known
        borders = np.flatnonzero(known[1:] != known[:-1]) + 1
        offsets = np.union1d(self.offsets, borders)
        owner = np.searchsorted(self.offsets, offsets[:-1], side="right") - 1
        place = np.full(len(self.offsets) - 1, -1)
        place[self.ids] = np.arange(len(self))
        ids = np.flatnonzero(known[offsets[:-1]] & (place[owner] >= 0))
        cut = copy(self)
        cut.offsets, cut.ids, cut.labels = offsets, ids, self.rows
        return cut, place[owner[ids]]

    def view(self) -> View:
        from maxmargin.structures.sequences.compiled import chain

        bounds = np.empty(len(self) + 1, dtype=np.int64)
        units = np.empty(len(self) * self.longest, dtype=np.int64)
        chain.unroll(self.offsets, self.ids, bounds, units)
        return View(units[: bounds[-1]], bounds)
