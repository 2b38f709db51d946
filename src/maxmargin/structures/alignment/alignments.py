"""PairwiseAlignment: the corresponding positions of two sequences."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

PairArray = NDArray[np.int64]
GAPS = "-."


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseAlignment:
    """An alignment: pairs (i, j) of positions in a sequence of n and one of m residues, strictly increasing in both.

    It is immutable, and equal to another alignment with the same content. Residues in no pair are aligned to gaps; the
    order of the gaps of the two sequences between two pairs is not part of an alignment.

    Parameters
    ----------
    pairs : array of shape (k, 2)
        The aligned positions (i, j), counted from 0.
    lengths : pair of int
        (n, m), the lengths of the two sequences.
    trusted : array of bool, shape (k,), or None
        The pairs that a loss may count. Reference alignments are often certain of some columns only. None trusts all
        pairs.

    Examples
    --------
    >>> from maxmargin import PairwiseAlignment
    >>> PairwiseAlignment.from_gapped("AC-G", "A-TG").pairs.tolist()
    [[0, 0], [2, 2]]

    See Also
    --------
    Aligner : learns to predict alignments.
    """

    pairs: PairArray
    lengths: tuple[int, int]
    trusted: NDArray[np.bool_] = None  # type: ignore[assignment]  # given or made below, never None afterwards

    def __post_init__(self) -> None:
        lengths = _checked_lengths(self.lengths)
        pairs = _checked_pairs(self.pairs, lengths)
        trusted = np.ones(len(pairs), dtype=bool) if self.trusted is None else np.array(self.trusted)
        if trusted.shape != (len(pairs),) or trusted.dtype != bool:
            raise ValueError(
                f"trusted has shape {trusted.shape} and type {trusted.dtype}; "
                f"expected {len(pairs)} truth values, one per pair"
            )
        for array in (pairs, trusted):
            array.flags.writeable = False
        for name, value in (("pairs", pairs), ("lengths", lengths), ("trusted", trusted)):
            object.__setattr__(self, name, value)

    @classmethod
    def from_gapped(cls, a: str, b: str, gaps: str = GAPS, lowercase_untrusted: bool = False) -> PairwiseAlignment:
        """Make an alignment from two rows of equal length in which the letters of `gaps` are gaps.

        Columns with a gap in both rows (as in two rows of a larger alignment) are left out. With lowercase_untrusted, a
        pair is trusted only if neither of its letters is lower-case.
        """
        if len(a) != len(b):
            raise ValueError(f"the first row has {len(a)} columns and the second {len(b)}; expected equally many")
        first, second = (np.array([letter not in gaps for letter in row], dtype=bool) for row in (a, b))
        both = first & second
        pairs = np.column_stack([(np.cumsum(row) - 1)[both] for row in (first, second)])
        trusted = np.ones(len(pairs), dtype=bool)
        if lowercase_untrusted:
            trusted = np.array([not (a[c].islower() or b[c].islower()) for c in np.flatnonzero(both)], dtype=bool)
        return cls(pairs, (int(first.sum()), int(second.sum())), trusted)

    @classmethod
    def of(cls, y: Any, lengths: tuple[int, int], name: str = "alignment") -> PairwiseAlignment:
        """Make an alignment of two sequences of these lengths from any of its accepted forms.

        y is a PairwiseAlignment, a list or (k, 2) array of pairs, or two gapped strings (with "-" or "." for gaps).
        `name` begins the message of errors.
        """
        try:
            if isinstance(y, PairwiseAlignment):
                found = y
            elif isinstance(y, list | tuple) and len(y) == 2 and all(isinstance(row, str) for row in y):
                found = cls.from_gapped(str(y[0]), str(y[1]))
            else:
                found = cls(y, lengths)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if found.lengths != tuple(lengths):
            raise ValueError(
                f"{name} aligns sequences of {found.lengths[0]} and {found.lengths[1]} residues; "
                f"expected {lengths[0]} and {lengths[1]}"
            )
        return found

    @classmethod
    def unchecked(cls, pairs: PairArray, lengths: tuple[int, int]) -> PairwiseAlignment:
        """Make an alignment from the result of a decoder, without checks."""
        alignment = object.__new__(cls)
        for name, value in (("pairs", pairs), ("lengths", lengths), ("trusted", np.ones(len(pairs), dtype=bool))):
            object.__setattr__(alignment, name, value)
        pairs.flags.writeable = alignment.trusted.flags.writeable = False
        return alignment

    def gapped(self, a: str, b: str, gap: str = "-") -> tuple[str, str]:
        """Return the two sequences as rows of equal length.

        Between two pairs, the skipped residues of `a` come before the skipped residues of `b`.
        """
        for sequence, length, which in ((a, self.lengths[0], "first"), (b, self.lengths[1], "second")):
            if len(sequence) != length:
                raise ValueError(f"the {which} sequence has {len(sequence)} residues; the alignment has {length}")
        rows: tuple[list[str], list[str]] = [], []
        i = j = 0
        for p, q in [*self.pairs.tolist(), self.lengths]:
            rows[0].append(a[i:p] + gap * (q - j) + a[p : p + 1])
            rows[1].append(gap * (p - i) + b[j:q] + b[q : q + 1])
            i, j = p + 1, q + 1
        return "".join(rows[0]), "".join(rows[1])

    def agreement(self, truth: PairwiseAlignment, max_shift: int = 0) -> float:
        """Return Q, the share of truth's trusted pairs (i, j) for which i is aligned within max_shift of j.

        Q and Q4 of the literature on protein alignment have max_shift 0 and 4. Positions of the first sequence are
        compared, so for max_shift > 0 the roles of the two sequences differ.
        """
        if self.lengths != truth.lengths:
            raise ValueError(
                f"alignments of sequences with {self.lengths} and {truth.lengths} residues cannot be compared"
            )
        asked = truth.pairs[truth.trusted]
        if not len(asked):
            raise ValueError("the true alignment has no trusted pair, so recall is not defined")
        # Farther away than any position.
        partner = np.full(self.lengths[0], -1 - max_shift - self.lengths[1], dtype=np.int64)
        partner[self.pairs[:, 0]] = self.pairs[:, 1]
        return float(np.mean(np.abs(partner[asked[:, 0]] - asked[:, 1]) <= max_shift))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairwiseAlignment):
            return NotImplemented
        return (
            self.lengths == other.lengths
            and np.array_equal(self.pairs, other.pairs)
            and np.array_equal(self.trusted, other.trusted)
        )

    def __hash__(self) -> int:
        return hash((self.lengths, self.pairs.tobytes(), self.trusted.tobytes()))

    def __repr__(self) -> str:
        doubtful = len(self.pairs) - int(self.trusted.sum())
        note = f", {doubtful} of them not trusted" if doubtful else ""
        return f"<PairwiseAlignment of {self.lengths[0]} and {self.lengths[1]} residues: {len(self.pairs)} pairs{note}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return PairwiseAlignment, (self.pairs, self.lengths, self.trusted)  # so that copies are read-only, too


def _checked_lengths(lengths: Any) -> tuple[int, int]:
    try:
        n, m = map(index, lengths)
    except (TypeError, ValueError):
        raise ValueError(f"lengths are {lengths!r:.60}; expected two whole numbers of residues, (n, m)") from None
    if n < 0 or m < 0:
        raise ValueError(f"lengths are {n} and {m}; expected numbers of residues")
    return n, m


def _checked_pairs(pairs: Any, lengths: tuple[int, int]) -> PairArray:
    """Return the pairs as a (k, 2) array of whole numbers; raise a ValueError unless they are an alignment."""
    try:
        given = np.asarray(pairs)
    except ValueError:  # the rows have different lengths
        given = np.zeros(0, dtype=object)
    if given.shape == (0,) and given.dtype != object:
        given = given.reshape(0, 2)
    if given.ndim != 2 or given.shape[1] != 2 or (given.size and given.dtype.kind not in "iu"):
        kind = f"{type(pairs).__name__}" + (f" of shape {given.shape}, {given.dtype}" if given.dtype != object else "")
        raise ValueError(f"got {kind}; expected pairs (i, j) of positions, or two gapped strings")
    found = np.array(given, dtype=np.int64)
    for side, (which, length) in enumerate(zip(("first", "second"), lengths, strict=True)):
        column = found[:, side]
        outside = np.flatnonzero((column < 0) | (column >= length))
        if len(outside):
            k = outside[0]
            raise ValueError(
                f"pair {k} is ({found[k, 0]}, {found[k, 1]}), but the {which} sequence has the positions 0 to "
                f"{length - 1}"
            )
        back = np.flatnonzero(np.diff(column) <= 0)
        if len(back):
            k = back[0]
            raise ValueError(
                f"pair {k} is ({found[k, 0]}, {found[k, 1]}) and pair {k + 1} ({found[k + 1, 0]}, {found[k + 1, 1]}); "
                "both positions must increase from pair to pair"
            )
    return found
