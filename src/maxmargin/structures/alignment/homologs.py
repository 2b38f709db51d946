"""Homologs: which of several sequences is related to a given one, by the score of its best alignment with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from maxmargin.arrays import Array
from maxmargin.batch import Batch
from maxmargin.objective import Formulation
from maxmargin.planes import Planes
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.task import Alignment, Best, Code, check_letters, difference, stacked
from maxmargin.structures.alignment.views import Entries
from maxmargin.task import Task


class Aligned(NamedTuple):
    """One of the candidates, and how it is aligned with the native sequence."""

    candidate: int
    alignment: Any  # whatever PairwiseAlignment.of takes


class Homologs(Task):
    """x = (native, candidates), y = Aligned(number of the homolog, its alignment), z = any candidate in any alignment.

        ⟨w, Ψ(x, z)⟩ = ⟨w, Ψ_alignment((native, candidate), alignment)⟩,      Δ(y, z) = 1 unless the candidate is right

    (Tsochantaridis et al. 2004, section 4.4). The score of a candidate is that of its best alignment. In training the
    homolog in its known alignment competes with all alignments of the other candidates; other alignments of the
    homolog are no mistakes and no rivals.

    alignment : the Alignment that scores candidates; None is Alignment(mode="local").
    """

    def __init__(self, alignment: Alignment | None = None):
        self.alignment = alignment

    def setup(self, X: Sequence[Any], Y: Any = None) -> None:
        self.alignment_ = Alignment(mode="local") if self.alignment is None else clone(self.alignment)
        self.alignment_.setup([pair for i, x in enumerate(X) for pair in _pairs(x, i)])
        self.dim = self.alignment_.dim

    # --- the plain form

    def psi(self, x: Any, z: Aligned) -> Entries:
        return self.alignment_.psi(_pairs(x, 0)[z[0]], z[1])

    def loss(self, y: Aligned, z: Aligned) -> float:
        return float(y[0] != z[0])

    def argmax(self, w: Array, x: Any, y: Any = None) -> Aligned:
        codes = self.encode(x, 0)
        if y is None:
            return self.best(w, codes).aligned(codes)
        truth = self.truth(codes, x, y, 0)
        rival = self.best(w, codes, truth.candidate)
        return rival.aligned(codes) if rival.score + 1.0 > truth.score(w) else Aligned(*y)

    def outputs(self, x: Any) -> Iterator[Aligned]:
        for k, pair in enumerate(_pairs(x, 0)):
            for alignment in self.alignment_.outputs(pair):
                yield Aligned(k, alignment)

    # --- examples in the form of the kernels

    def encode(self, x: Any, i: int) -> list[Code]:
        """Example i: the native sequence beside every candidate."""
        codes = []
        for k, pair in enumerate(_pairs(x, i)):
            try:
                codes.append(self.alignment_.encode(pair, i))
            except ValueError as error:
                raise ValueError(f"candidate {k}: {error}") from None
        return codes

    def truth(self, codes: list[Code], x: Any, y: Any, i: int) -> Truth:
        """What is right in example i."""
        if isinstance(y, Integral):
            raise ValueError(f"Y[{i}] is {type(y).__name__}; expected (number of the homolog, its alignment)")
        index = candidate_number(y, len(codes), i)
        check_letters((x[0], x[1][index]), y[1], i)
        alignment = PairwiseAlignment.of(y[1], codes[index].lengths, f"the alignment of example {i}")
        return Truth(index, self.alignment_.features_of(codes[index], alignment.pairs))

    def best(self, w: Array, codes: list[Code], without: int | None = None) -> Winner:
        """The candidate with the highest score, one left out."""
        weights = self.alignment_.weights(w)
        winner = Winner(-1, Best(-np.inf, np.zeros((0, 2), dtype=np.int64)))
        for k, code in enumerate(codes):
            if k != without:
                found = self.alignment_.best(weights, code, None, 0.0)
                if found.score > winner.found.score:
                    winner = Winner(k, found)
        return winner

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> HomologBatch:
        codes = [self.encode(x, i) for i, x in enumerate(X)]
        truths = [self.truth(code, x, y, i) for i, (code, x, y) in enumerate(zip(codes, X, Y, strict=True))]
        return HomologBatch(codes, truths, np.arange(len(codes)))

    def decode(self, w: Array, X: Sequence[Any]) -> list[Aligned]:
        codes = [self.encode(x, i) for i, x in enumerate(X)]
        return [self.best(w, code).aligned(code) for code in codes]

    def candidate_scores(self, w: Array, X: Sequence[Any]) -> list[Array]:
        """For every x the score of each candidate."""
        weights, best = self.alignment_.weights(w), self.alignment_.best
        return [np.array([best(weights, code, None, 0.0).score for code in self.encode(x, i)]) for i, x in enumerate(X)]

    def planes(self, w: Array, batch: HomologBatch, augment: float | Array = 1.0) -> Planes:
        lam = np.broadcast_to(np.asarray(augment, dtype=float), len(batch))
        return self._planes(w, batch, lambda j, margin: lam[j] - margin > 0)

    def rescaled_planes(self, w: Array, batch: HomologBatch, formulation: Formulation) -> Planes:
        """Exact: the loss is 1 for all rivals, so that the one with the highest score is violated most."""
        return self._planes(w, batch, lambda j, margin: formulation.value(1.0, margin) > 0)

    def _planes(self, w: Array, batch: HomologBatch, violated: Any) -> Planes:
        loss, rows = np.zeros(len(batch)), []
        for j, (codes, truth) in enumerate(batch):
            rival = self.best(w, codes, truth.candidate)
            if rival.candidate >= 0 and violated(j, truth.score(w) - rival.score):
                loss[j] = 1.0
                rows.append(
                    difference(truth.psi, self.alignment_.features_of(codes[rival.candidate], rival.found.pairs))
                )
            else:
                rows.append((truth.psi[0][:0], truth.psi[1][:0]))
        return Planes(stacked(rows, self.dim), loss)


class Winner(NamedTuple):
    """The best of some candidates; candidate -1 if there are none."""

    candidate: int
    found: Best

    @property
    def score(self) -> float:
        return self.found.score

    def aligned(self, codes: list[Code]) -> Aligned:
        return Aligned(self.candidate, codes[self.candidate].alignment(self.found.pairs))


class Truth(NamedTuple):
    """The homolog and Ψ of its known alignment."""

    candidate: int
    psi: Entries

    def score(self, w: Array) -> float:
        return float(np.dot(w[self.psi[0]], self.psi[1]))


class HomologBatch(Batch):
    """Encoded examples, one list of candidates each."""

    call_cost = 1000.0  # one alignment per candidate, against one visit of a plane

    def __init__(self, codes: list[list[Code]], truths: list[Truth], ids: NDArray[np.intp]):
        self.codes, self.truths, self.ids = codes, truths, ids

    def take(self, index: NDArray[np.intp]) -> HomologBatch:
        return HomologBatch(self.codes, self.truths, self.ids[index])

    def __iter__(self) -> Iterator[tuple[list[Code], Truth]]:
        return ((self.codes[i], self.truths[i]) for i in self.ids)


def candidate_number(y: Any, n_candidates: int, i: int) -> int:
    """The homolog of example i, which y names beside its alignment or alone."""
    if isinstance(y, Integral):
        number = int(y)
    elif not isinstance(y, tuple | list) or len(y) != 2:
        found = f"{type(y).__name__} of {len(y)}" if isinstance(y, tuple | list) else type(y).__name__
        raise ValueError(f"Y[{i}] is {found}; expected (number of the homolog, its alignment)")
    elif not isinstance(y[0], Integral):
        raise ValueError(
            f"Y[{i}] begins with {y[0]!r:.60}; expected a whole number, that of the homolog, and then its alignment"
        )
    else:
        number = int(y[0])
    if not 0 <= number < n_candidates:
        raise ValueError(f"Y[{i}] names candidate {number}; example {i} has {n_candidates} candidates")
    return number


def _pairs(x: Any, i: int) -> list[tuple[Any, Any]]:
    """The native sequence with every candidate."""
    if not isinstance(x, tuple | list) or len(x) != 2 or not isinstance(x[1], tuple | list):
        raise ValueError(f"example {i} is not a pair (native sequence, list of candidates)")
    if not x[1]:
        raise ValueError(f"example {i} has no candidates")
    return [(x[0], candidate) for candidate in x[1]]
