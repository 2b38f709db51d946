"""Advice for the case that w = 0 is the optimum of training for a measure."""

from __future__ import annotations

from typing import Any


def remedy_for_zero(measure: Any) -> str:
    """Return the advice for estimators that are trained for a measure of many rows at once."""
    return (
        f"With measure {measure!r} this happens if the highest scores of negative examples outweigh those of the "
        "positive ones. Try another measure ('roc_auc' and 'error' are sums over pairs and examples), other features, "
        "a smaller tol, or (if it is small) a larger C"
    )
