"""Accuracy over the labels of examples that have many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Agreement(NamedTuple):
    """The agreement of the predicted labels of an example with its true labels."""

    right: int  # the number of labels that are predicted correctly
    known: int  # the number of true labels that are known


def share_right(
    predictions: Sequence[Any], Y: Sequence[Any], agreement: Callable[[Any, Any], Agreement], example: str, unit: str
) -> float:
    """Return the share of labelled units that are correct, over all examples; every unit has the same weight.

    agreement : compares the prediction of one example with its y; the example is named in its errors.
    example, unit : their names in errors, e.g. "graph" and "node".
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
