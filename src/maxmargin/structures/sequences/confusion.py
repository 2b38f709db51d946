"""Which labels of positions are taken for which others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from maxmargin.inputs.labels.confusion import LabelConfusion
from maxmargin.structures.sequences.reports import judged_positions


def label_confusion(truth: Sequence[Sequence[Any]], found: Sequence[Sequence[Hashable]]) -> LabelConfusion:
    """How often every label was predicted as every other, over the positions of all sequences.

    A position with None, or with a set of several labels, is left out.
    """
    return LabelConfusion.of(judged_positions(truth, found))
