"""Search the best outputs of a fitted model."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.base.progress_line import LiveLine
from maxmargin.inputs.packed.packed_data import PackedData


def decoded(model: Any, X: Any) -> Any:
    """Return the best output of every x, found by the task of a fitted model; show progress if it is verbose."""
    check_is_fitted(model)
    if isinstance(X, PackedData):
        raise ValueError(f"packed {X.kind} are for training only: give a list of inputs to predict")
    with LiveLine(model.verbose, "searching the best outputs"):
        return model.task_.decode(model.w_, X)
