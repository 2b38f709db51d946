"""Training labels that the model could not predict: forbidden transitions, and unseen runs of labels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.errors import InvalidLabels, warn_caller
from maxmargin.inputs.labels.labels import Labels
from maxmargin.inputs.tokens.transitions import chunk_scheme
from maxmargin.structures.sequences.histories import Histories
from maxmargin.structures.sequences.links import ChainLinks
from maxmargin.structures.sequences.partial_labels import LabelPositions

AT_ONCE = 2**14  # sequences that are processed together, so that temporary arrays stay small


class TransitionRules(NamedTuple):
    """The forbidden transitions between labels, and the treatment of training labels that contain one."""

    links: ChainLinks  # 0 if a link is allowed, -inf if it is forbidden
    classes: Sequence[Hashable]  # the labels
    forbidden: Any  # as the user gave it
    invalid: str  # "error", "repair" or "drop"

    def kept(self, given: LabelPositions) -> Labels:
        """Return the numbers of labels without the labels of bad sequences, or raise a ValueError.

        A dropped sequence becomes one without labels. Positions with missing labels are not checked: their completion
        will show whether some labels are allowed there.
        """
        rows, offsets, choices = given
        if not any(np.isinf(each).any() for each in self.links):
            return rows
        at, kinds = self._broken(rows, offsets)
        if len(at) == 0:
            return rows
        owner = np.searchsorted(offsets, at, side="right") - 1
        first = self._message(rows, int(at[0]), int(owner[0]), int(at[0] - offsets[owner[0]]), bool(kinds[0, 0]))
        if self.invalid != "drop":
            raise ValueError(f"{first}; {self._remedy()}")
        dropped, rows = np.unique(owner), rows.copy()
        for i in dropped:
            rows[offsets[i] : offsets[i + 1]] = choices.read([None])[0]
        warn_caller(
            f"{len(dropped)} of {len(offsets) - 1} sequences were left out, because their labels have a forbidden "
            f"transition (the first: {first})",
            InvalidLabels,
        )
        return rows

    def _message(self, rows: Labels, t: int, i: int, position: int, before: bool) -> str:
        """Return a message that says which rule the label of unit t, at this position of sequence i, breaks."""
        what = "come last"
        if before:
            what = f"follow {self.classes[rows[t - 1]]!r}" if position else "come first"
        rule = f" in {self.forbidden}" if chunk_scheme(self.forbidden) is not None else ", as forbidden says"
        return f"sequence {i}, position {position}: {self.classes[rows[t]]!r} may not {what}{rule}"

    def _remedy(self) -> str:
        remedy = "leave out such sequences with invalid='drop'"
        if chunk_scheme(self.forbidden) is not None and self.invalid == "error":
            remedy = f"repair such labels with invalid='repair', or {remedy}"
        return remedy

    def _broken(self, rows: Labels, offsets: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the units whose label may not follow the one before or may not be last, and which of the two it is."""
        T, s, f = self.links
        at, kinds = [np.zeros(0, dtype=np.intp)], [np.zeros((0, 2), dtype=bool)]
        for k in range(0, len(offsets) - 1, AT_ONCE):
            bounds = offsets[k : k + AT_ONCE + 1]
            some = rows[bounds[0] : bounds[-1]]
            known = some < len(s)
            labels, first, last = np.where(known, some, 0), bounds[:-1] - bounds[0], bounds[1:] - 1 - bounds[0]
            bad = np.zeros((len(some), 2), dtype=bool)
            bad[1:, 0] = np.isinf(T[labels[:-1], labels[1:]]) & known[:-1] & known[1:]
            bad[first, 0] = np.isinf(s[labels[first]]) & known[first]
            bad[last, 1] = np.isinf(f[labels[last]]) & known[last]
            at.append(np.flatnonzero(bad.any(axis=1)) + bounds[0])
            kinds.append(bad[bad.any(axis=1)])
        return np.concatenate(at), np.concatenate(kinds)


class SeenRuns(NamedTuple):
    """The runs of labels seen in training, for ngrams="observed", which allows no others."""

    links: ChainLinks  # -inf for runs of two labels that do not occur in training, 0 for others
    histories: Histories | None  # for longer runs
    order: int  # the number of labels before a position that matter
    classes: Sequence[Hashable]  # the labels

    def check(self, rows: Labels, offsets: NDArray[np.int64]) -> None:
        """Raise a ValueError if labels contain a run that training has not seen, and so are not an output."""
        t = self._first_unseen(rows, offsets)
        if t < 0:
            return
        i = int(np.searchsorted(offsets, t, side="right")) - 1
        numbers = rows[max(t - self.order, int(offsets[i])) : t + 1]
        run = tuple(self.classes[k] for k in numbers.tolist())
        raise ValueError(
            f"sequence {i}, position {t - offsets[i]}: the labels {run!r} do not occur in the first training data, "
            "and ngrams='observed' allows only runs that occur there; give ngrams='all'"
        )

    def _first_unseen(self, rows: Labels, offsets: NDArray[np.int64]) -> int:
        """Return the first unit whose label ends an unseen run; -1 if there is none."""
        T, s, _ = self.links
        if self.histories is not None:
            from maxmargin.structures.sequences.compiled.histories import first_refused

            return int(first_refused(self.histories.steps, len(s), offsets, rows))
        known = rows < len(s)
        labels, unseen = np.where(known, rows, 0), np.zeros(len(rows), dtype=bool)
        unseen[1:] = np.isinf(T[labels[:-1], labels[1:]]) & known[:-1] & known[1:]
        unseen[offsets[:-1]] = np.isinf(s[labels[offsets[:-1]]]) & known[offsets[:-1]]
        return int(np.argmax(unseen)) if unseen.any() else -1


def deny_impossible(scores: Array, pruned: bool) -> None:
    """Raise a ValueError if the best label sequence, or the sum over all, has no finite score.

    pruned : True if runs of labels that training has not seen are forbidden
    """
    impossible = np.flatnonzero(~np.isfinite(scores))
    if len(impossible):
        what = "every label sequence of its length contains a forbidden transition"
        if pruned:
            what += ", or a run of labels that training has not seen; ngrams='all' allows such runs"
        raise ValueError(f"sequence {impossible[0]}: {what}")
