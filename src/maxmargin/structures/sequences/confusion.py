"""Confusion between the labels of positions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.structures.sequences.reports import labelled_positions


def label_confusion(truth: Sequence[Sequence[Any]], found: Sequence[Sequence[Hashable]]) -> LabelConfusion:
    """Count how often every label was predicted as every other, over the positions of all sequences.

    Positions whose true label is None or a set of several labels are left out.

    Parameters
    ----------
    truth, found : sequence
        The true and the predicted labels of all sequences.

    Returns
    -------
    LabelConfusion, with the matrix of counts and the most frequent mistakes.

    Examples
    --------
    >>> from maxmargin.metrics import label_confusion
    >>> label_confusion([["N", "V"]], [["N", "N"]]).mistakes(1)
    [Mistake(true='V', predicted='N', times=1)]

    See Also
    --------
    label_report : precision and recall of every label.
    """
    return LabelConfusion.of(labelled_positions(truth, found))
