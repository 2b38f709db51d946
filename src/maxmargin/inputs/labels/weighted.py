"""Labels whose mistakes cost more at some positions than at others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple


class Weighted(NamedTuple):
    """Labels of a sequence or graph with a cost factor for every position.

    Examples
    --------
    >>> from maxmargin.tasks import Weighted
    >>> Weighted(labels=["N", "V"], costs=[1.0, 2.0]).costs
    [1.0, 2.0]
    """

    labels: Sequence[Hashable]
    costs: Sequence[float]
