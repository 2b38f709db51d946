"""Say so where the best that training for a measure can do is where it began."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from maxmargin.errors import NothingLearnt
from maxmargin.trainer import Trainer


def warn_of_zero(model: Trainer, measure: Any) -> None:
    """Warn of a converged model that is w = 0, and of the reason."""
    if not np.any(model.w_) and model.certificate_.converged:
        if model.certificate_.primal == 0:
            reason = "it is the same for all models of these data"
        else:
            reason = (
                "on these features the highest scores of negative examples outweigh those of the positive ones, "
                "whatever the weights. Try another measure ('roc_auc' and 'error' are sums over pairs and examples), "
                "other features, or (if it is small) a larger C"
            )
        warnings.warn(
            f"measure {measure!r} has its optimum at w = 0 for C = {model.C:g}: {reason}",
            NothingLearnt,
            stacklevel=3,  # where `fit` was called
        )
