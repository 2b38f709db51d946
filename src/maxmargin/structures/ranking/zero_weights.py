"""What may help where the best that training for a measure can do is where it began."""

from __future__ import annotations

from typing import Any


def remedy_for_zero(measure: Any) -> str:
    """Of estimators that are trained for a measure of many rows at once."""
    return (
        f"Measure {measure!r} has that where the highest scores of negative examples outweigh those of the positive "
        "ones. Try another measure ('roc_auc' and 'error' are sums over pairs and examples), other features, a smaller "
        "tol, or (if it is small) a larger C"
    )
