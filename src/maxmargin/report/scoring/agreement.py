"""The share of right labels, over examples that have many of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Agreement(NamedTuple):
    """How many labels of an example are right, of how many that are known."""

    right: int
    known: int


def share_right(
    predictions: Sequence[Any], Y: Sequence[Any], agreement: Callable[[Any, Any], Agreement], example: str, unit: str
) -> float:
    """The share of labelled units that are right, over all examples: every unit counts the same.

    agreement : compares the prediction of one example with its y; its ValueErrors are told with the example's number.
    example, unit : what these are called in messages, e.g. "graph" and "node".
    """
    if len(predictions) != len(Y):
        raise ValueError(f"X has {len(predictions)} {example}s but Y has {len(Y)}")
    right, known = 0, 0
    for i, (found, y) in enumerate(zip(predictions, Y, strict=True)):
        try:
            here = agreement(found, y)
        except ValueError as error:
            raise ValueError(f"{example} {i}: {error}") from None
        right, known = right + here.right, known + here.known
    if known == 0:
        raise ValueError(f"no labelled {unit}s given: there is nothing to score")
    return right / known
