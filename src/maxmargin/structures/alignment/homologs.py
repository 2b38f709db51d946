"""Homologs: the choice of the sequence that is homologous to a given one, by the score of its best alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.base.files.fields import Part
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.base.named_weights import Weights
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.problem.contract.task import Task
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.encoded import EncodedPair, PreparedWeights
from maxmargin.structures.alignment.plane_rows import difference, stacked
from maxmargin.structures.alignment.scored_pairs import BestAlignment, best_alignments
from maxmargin.structures.alignment.task import Alignment, check_letters
from maxmargin.structures.alignment.views import Entries


class Aligned(NamedTuple):
    """A candidate and its alignment with the native sequence."""

    candidate: int
    alignment: Any  # in any form that PairwiseAlignment.of takes


class Homologs(Task):
    """The task of finding a homolog: x = (native, candidates), y = Aligned(number of the homolog, its alignment).

        ⟨w, Ψ(x, z)⟩ = ⟨w, Ψ_alignment((native, candidate), alignment)⟩,      Δ(y, z) = 1 unless the candidate is
        correct

    (Tsochantaridis et al. 2004, section 4.4). An output z is any candidate in any alignment. The score of a candidate
    is the score of its best alignment. In training the homolog in its known alignment competes with all alignments of
    the other candidates; other alignments of the homolog are neither mistakes nor rivals.

    Parameters
    ----------
    alignment : Alignment or None
        The Alignment that scores candidates; None is Alignment(mode="local").

    See Also
    --------
    maxmargin.HomologRanker : the estimator.
    """

    saved: ClassVar[Fields] = {
        "alignment_": Part(Alignment),
        "dim": Derived(lambda task: task.alignment_.dim),
    }

    def __init__(self, alignment: Alignment | None = None):
        self.alignment = alignment

    def setup(self, X: Sequence[Any], Y: Any = None) -> None:
        self.alignment_ = Alignment(mode="local") if self.alignment is None else clone(self.alignment)
        self.alignment_.setup([pair for i, x in enumerate(X) for pair in _pairs(x, i)])
        self.dim, self.bounds_ = self.alignment_.dim, self.alignment_.bounds_

    # --- the plain form

    def psi(self, x: Any, z: Aligned) -> Entries:
        return self.alignment_.psi(_pairs(x, 0)[z[0]], z[1])

    def complete(self, w: Array, x: Any, y: Any) -> Aligned:
        """Return a candidate with its alignment, which is the best one if only the number of the candidate is given."""
        pairs = _pairs(x, 0)
        k = candidate_number(y, len(pairs), 0)
        return Aligned(k, self.alignment_.argmax(w, pairs[k])) if is_whole(y) else Aligned(k, y[1])

    def pieces(self, x: Any, z: Aligned) -> Pieces:
        """Return Ψ(x, z) by the aligned pairs and skipped residues of the candidate."""
        return self.alignment_.pieces(_pairs(x, 0)[z[0]], z[1])

    def loss(self, y: Aligned, z: Aligned) -> float:
        return float(y[0] != z[0])

    def argmax(self, w: Array, x: Any, y: Any = None) -> Aligned:
        codes, weights = self.encode(x, 0), self.alignment_.prepared(w)
        if y is None:
            return self.best(weights, codes).aligned(codes)
        truth = self.truth(codes, x, y, 0)
        rival = self.best(weights, codes, truth.candidate)
        return rival.aligned(codes) if rival.score + 1.0 > truth.score(w) else Aligned(*y)

    def outputs(self, x: Any) -> Iterator[Aligned]:
        for k, pair in enumerate(_pairs(x, 0)):
            for alignment in self.alignment_.outputs(pair):
                yield Aligned(k, alignment)

    # --- examples in the form that compiled functions read

    def encode(self, x: Any, i: int) -> list[EncodedPair]:
        """Return example i encoded: the native sequence with every candidate."""
        codes = []
        for k, pair in enumerate(_pairs(x, i)):
            try:
                codes.append(self.alignment_.encode(pair, i))
            except ValueError as error:
                raise ValueError(f"candidate {k}: {error}") from None
        return codes

    def truth(self, codes: list[EncodedPair], x: Any, y: Any, i: int) -> TrueHomolog:
        """Return the homolog of example i and Ψ of its known alignment."""
        if is_whole(y):
            raise ValueError(f"Y[{i}] is {type(y).__name__}; expected (number of the homolog, its alignment)")
        index = candidate_number(y, len(codes), i)
        check_letters((x[0], x[1][index]), y[1], i)
        alignment = PairwiseAlignment.of(y[1], codes[index].lengths, f"the alignment of example {i}")
        return TrueHomolog(index, self.alignment_.features_of(codes[index], alignment.pairs))

    def best(self, weights: PreparedWeights, codes: list[EncodedPair], without: int | None = None) -> BestCandidate:
        """Return the candidate with the highest score, except candidate `without`."""
        best = BestCandidate(-1, BestAlignment(-np.inf, np.zeros((0, 2), dtype=np.int64)))
        among = [k for k in range(len(codes)) if k != without]
        scored = (self.alignment_.scored_pair(weights, codes[k], None, 0.0) for k in among)
        for k, found in zip(among, best_alignments(scored, self.alignment_.mode_), strict=True):
            if found.score > best.score:
                best = BestCandidate(k, found)
        return best

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> HomologBatch:
        codes = [self.encode(x, i) for i, x in enumerate(X)]
        truths = [self.truth(code, x, y, i) for i, (code, x, y) in enumerate(zip(codes, X, Y, strict=True))]
        return HomologBatch(self, codes, truths)

    def decode(self, w: Array, X: Sequence[Any]) -> list[Aligned]:
        weights = self.alignment_.prepared(w)
        return [self.best(weights, codes).aligned(codes) for codes in (self.encode(x, i) for i, x in enumerate(X))]

    def named_weights(self, w: Array) -> dict[str, Weights]:
        """Return the named weights, which are the weights of the alignment task."""
        return self.alignment_.named_weights(w)

    def candidate_scores(self, w: Array, X: Sequence[Any]) -> list[Array]:
        """Return the score of each candidate, for every x."""
        weights, best = self.alignment_.prepared(w), self.alignment_.best
        return [np.array([best(weights, code, None, 0.0).score for code in self.encode(x, i)]) for i, x in enumerate(X)]


class BestCandidate(NamedTuple):
    """The candidate that aligns best with a sequence."""

    candidate: int  # its number, or -1 if there are no candidates
    found: BestAlignment  # its best alignment, with the score

    @property
    def score(self) -> float:
        return self.found.score

    def aligned(self, codes: list[EncodedPair]) -> Aligned:
        return Aligned(self.candidate, codes[self.candidate].alignment(self.found.pairs))


class TrueHomolog(NamedTuple):
    """The candidate that is known to be related to a sequence."""

    candidate: int  # its number
    psi: Entries  # Ψ of its known alignment

    def score(self, w: Array) -> float:
        return float(np.dot(w[self.psi[0]], self.psi[1]))


class HomologBatch(Batch, RescaledSearch):
    """Encoded examples, one list of candidates each."""

    call_cost = 1000.0  # one alignment per candidate, compared with one visit of a plane

    def __init__(self, task: Homologs, codes: list[list[EncodedPair]], truths: list[TrueHomolog]):
        super().__init__(task, len(codes))
        self.codes, self.truths = codes, truths

    def __iter__(self) -> Iterator[tuple[list[EncodedPair], TrueHomolog]]:
        return ((self.codes[i], self.truths[i]) for i in self.ids)

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        lam = self.loss_weights(augment)
        return self._planes_of(w, lambda j, margin: bool(lam[j] - margin > 0))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search exactly: the loss is 1 for all rivals, so the one with the highest score is violated most."""
        return self._planes_of(w, lambda _, margin: bool(formulation.value(1.0, margin) > 0))

    def _planes_of(self, w: Array, violated: Callable[[int, float], bool]) -> Planes:
        """Return the planes of the best rivals if violated(example, margin), otherwise of the truths."""
        weights = self.task.alignment_.prepared(w)
        loss, rows = np.zeros(len(self)), []
        for j, (codes, truth) in enumerate(self):
            rival = self.task.best(weights, codes, truth.candidate)
            if rival.candidate >= 0 and violated(j, truth.score(w) - rival.score):
                loss[j] = 1.0
                found = self.task.alignment_.features_of(codes[rival.candidate], rival.found.pairs)
                rows.append(difference(truth.psi, found, self.dim))
            else:
                rows.append((truth.psi[0][:0], truth.psi[1][:0]))
        return Planes(stacked(rows, self.dim), loss)


def candidate_number(y: Any, n_candidates: int, i: int) -> int:
    """Return the number of the homolog of example i, which y gives alone or with its alignment."""
    if is_whole(y):
        number = int(y)
    elif not isinstance(y, tuple | list) or len(y) != 2:
        found = f"{type(y).__name__} of {len(y)}" if isinstance(y, tuple | list) else type(y).__name__
        raise ValueError(f"Y[{i}] is {found}; expected (number of the homolog, its alignment)")
    elif not is_whole(y[0]):
        raise ValueError(
            f"Y[{i}] begins with {y[0]!r:.60}; expected a whole number, the number of the homolog, and then its "
            "alignment"
        )
    else:
        number = int(y[0])
    if not 0 <= number < n_candidates:
        raise ValueError(f"Y[{i}] names candidate {number}; example {i} has {n_candidates} candidates")
    return number


def _pairs(x: Any, i: int) -> list[tuple[Any, Any]]:
    """Return the native sequence paired with every candidate."""
    if not isinstance(x, tuple | list) or len(x) != 2 or not isinstance(x[1], tuple | list):
        raise ValueError(f"example {i} is not a pair (native sequence, list of candidates)")
    if not x[1]:
        raise ValueError(f"example {i} has no candidates")
    return [(x[0], candidate) for candidate in x[1]]
