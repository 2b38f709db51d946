"""Gaps: the scores of residues that an alignment skips.

The first residue i of a gap scores `open`, every further one `extend`, plus weights of the skipped residue and of its
neighbours in the other sequence:

    open + ⟨u_open, V_i⟩ + ⟨v_open, B_{j-1} + B_j⟩        extend + ⟨u_extend, V_i⟩ + ⟨v_extend, B_{j-1} + B_j⟩

with a view V of the skipped residue and a view B of the two residues of the other sequence between which the gap lies
(one at the ends).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.files.fields import OneOf, Part, Text
from maxmargin.base.files.objects import Dropped, Fields
from maxmargin.base.named_weights import Weights
from maxmargin.structures.alignment.columns import SIDES, Codes, Columns, EncodedSequence
from maxmargin.structures.alignment.views import Entries, View, as_view, view_width

GapKind = Literal["affine", "linear"]
KINDS = get_args(GapKind)


class Gaps:
    """The feature map of gaps.

    Parameters
    ----------
    kind : str
        "affine" (opening a gap has weights of its own) or "linear" (every skipped residue has the same weights).
    skipped : str, View or None
        A view of the skipped residue, or None if gap scores do not depend on it.
    beside : str, View or None
        A view of the residues of the other sequence between which the gap lies, or None.

    Examples
    --------
    >>> from maxmargin import Aligner
    >>> from maxmargin.tasks import Gaps
    >>> aligner = Aligner(gaps=Gaps("linear", skipped="residue"))

    See Also
    --------
    Alignment : the task that uses it.
    """

    saved: ClassVar[Fields] = {
        "kind": Text(*KINDS),
        "skipped": OneOf(None, Part(View)),
        "beside": OneOf(None, Part(View)),
        **dict.fromkeys(("columns", "symmetric", "n_skipped", "n_beside", "shape", "size"), Dropped()),  # see `fit`
    }

    def __init__(self, kind: GapKind = "affine", skipped: str | View | None = None, beside: str | View | None = None):
        if kind not in KINDS:
            raise ValueError(f"gaps must be one of {', '.join(map(repr, KINDS))} or Gaps(...), got {kind!r}")
        self.kind = kind
        self.skipped: View | None = None if skipped is None else as_view(skipped)
        self.beside: View | None = None if beside is None else as_view(beside)

    def __repr__(self) -> str:
        views = (("skipped", self.skipped), ("beside", self.beside))
        return (
            f"Gaps({', '.join([repr(self.kind), *(f'{name}={view!r}' for name, view in views if view is not None)])})"
        )

    def fit(self, columns: Columns, symmetric: bool) -> None:
        """Lay out the weights: (1 or 2 sequences, 1 or 2 kinds, 1 + skipped + beside)."""
        self.columns, self.symmetric = columns, symmetric
        self.n_skipped, self.n_beside = (
            0 if view is None else view_width(view, columns) for view in (self.skipped, self.beside)
        )
        kinds = 2 if self.kind == "affine" else 1
        self.shape = (1 if symmetric else 2, kinds, 1 + self.n_skipped + self.n_beside)
        self.size = int(np.prod(self.shape))

    def encode(self, sides: tuple[EncodedSequence, EncodedSequence]) -> list[tuple[Any, Any]]:
        """Return, for each sequence, its features as skipped residues (with a constant) and as neighbours of gaps."""
        return [(self._skipped(side), self._beside(side)) for side in sides]

    def scores(self, w: Array, code: list[tuple[Any, Any]]) -> tuple[Array, Array]:
        """Return the gap scores of both sequences, which compiled/alignment.py calls of_a and of_b."""
        W = w.reshape(self.shape)
        first, second = W[0], W[-1]  # weights of gaps that skip residues of a and of b
        return self._table(code[0], first, second), self._table(code[1], second, first)

    def counts(self, code: list[tuple[Any, Any]], paid: Codes) -> Entries:
        """Return Σ features over skipped residues.

        A residue is a row (sequence, residue, position in the other sequence, 0 for the first of a gap and else 1).
        """
        n_sequences, n_kinds, width = self.shape
        own, kind = (paid[:, 0] if n_sequences == 2 else 0), (paid[:, 3] if n_kinds == 2 else 0)
        block = np.broadcast_to(own * n_kinds + kind, len(paid))
        if width == 1:
            return block, np.ones(len(block))
        total = np.zeros((n_sequences * n_kinds, width))
        for sequence in (0, 1):
            mine = paid[:, 0] == sequence
            rows = [code[sequence][0][paid[mine, 1]]]
            if self.n_beside:
                rows.append(code[1 - sequence][1][paid[mine, 2]])
            np.add.at(total, block[mine], np.hstack(rows))
        return np.arange(total.size), total.ravel()

    def expected(self, code: list[tuple[Any, Any]], used: tuple[Array, Array]) -> Array:
        """Return Σ features, for each sequence, in which entry [row, i] of `scores` counts used[row, i] times."""
        total = np.zeros(self.shape)
        for (skipped, beside), table, own, others in zip(code, used, (0, -1), (-1, 0), strict=True):
            width = skipped.shape[1]
            for kind, row in ((0, 0), (-1, 1)):
                total[own, kind, :width] += table[row, :-1] @ skipped
                if beside is not None:
                    total[others, kind, width:] += table[2 + row] @ beside
        return total.ravel()

    def longest(self, code: list[tuple[Any, Any]]) -> float:
        """Return an upper bound on the norm of the features of a skipped residue."""
        return max(_longest_row(skipped) for skipped, _ in code) + max(_longest_row(beside) for _, beside in code)

    def named_weights(self, w: Array) -> dict[str, Weights]:
        """Return the weights of gaps, and the weights of the views, each by kind: "open" and "extend" (or "gap").

        In a model that is not symmetric the first axis is the sequence that is skipped.
        """
        W = w.reshape(self.shape)
        axes: dict[str, Sequence[str]] = {"kind": ("open", "extend") if self.kind == "affine" else ("gap",)}
        if self.symmetric:
            W = W[0]
        else:
            axes = {"sequence": SIDES, **axes}
        named = {"gaps": Weights(W[..., 0], **axes)}
        if self.skipped is not None:
            names = self.skipped.names(self.columns)
            named[f"gaps, skipped {self.skipped}"] = Weights(W[..., 1 : 1 + self.n_skipped], **axes, skipped=names)
        if self.beside is not None:
            names = self.beside.names(self.columns)
            named[f"gaps, beside {self.beside}"] = Weights(W[..., 1 + self.n_skipped :], **axes, beside=names)
        return named

    def _skipped(self, side: EncodedSequence) -> Array:
        constant = np.ones((side.length, 1))
        return (
            constant
            if self.skipped is None
            else np.hstack([constant, self.skipped.features(side, self.columns).dense()])
        )

    def _beside(self, side: EncodedSequence) -> Array | None:
        """Return a matrix whose row j has the features of both neighbours of a gap before position j."""
        if self.beside is None:
            return None
        rows = self.beside.features(side, self.columns).dense()
        places = np.zeros((len(rows) + 1, rows.shape[1]))
        places[:-1] += rows
        places[1:] += rows
        return places

    def _table(self, code: tuple[Any, Any], own: Array, others: Array) -> Array:
        """Return the scores of skipping residues of this sequence, and of gaps of the other one next to them."""
        skipped, beside = code
        n = len(skipped)
        table = np.zeros((5, n + 1))
        table[0, :n], table[1, :n] = skipped @ own[0, : skipped.shape[1]], skipped @ own[-1, : skipped.shape[1]]
        if beside is not None:
            table[2], table[3] = beside @ others[0, 1 + self.n_skipped :], beside @ others[-1, 1 + self.n_skipped :]
        np.cumsum(table[1, :n], out=table[4, 1:])
        return table


def _longest_row(rows: Array | None) -> float:
    return 0.0 if rows is None else float(np.sqrt(np.max(np.sum(rows * rows, axis=1), initial=0.0)))


def as_gaps(gaps: Any) -> Gaps:
    """Return the feature map that `gaps` names."""
    if isinstance(gaps, Gaps):
        return copy(gaps)  # fit sets all learnt attributes again
    return Gaps(gaps)
