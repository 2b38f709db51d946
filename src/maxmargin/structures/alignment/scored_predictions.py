"""Predictions of alignment models for examples whose true outputs are known."""

from __future__ import annotations

from typing import Any


def predictions_for(model: Any, X: Any, Y: Any) -> Any:
    """Return the predictions for X; raise a ValueError unless Y has a truth for each, and there is at least one."""
    found = model.predict(X)
    if len(found) != len(Y):
        raise ValueError(f"X has {len(found)} examples but Y has {len(Y)}; expected as many true outputs as examples")
    if not len(found):
        raise ValueError("X is empty, so there is nothing to score; expected at least one example")
    return found
