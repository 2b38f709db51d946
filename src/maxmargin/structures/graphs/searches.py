"""Searches for the best labelling of one graph at given weights: how finely it is solved."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.inference.model import ROUNDING, Accuracy, Answer, PairwiseModel
from maxmargin.structures.graphs.inference.plan import Plan

FINE = 1e-4  # relaxations are solved up to this share of the largest loss,
NEAR = 1e-3  # and up to this share of the violation that was found, where that is less
NEWS = 1.0  # and up to this share of what is found above all that was known before, if that is more
LEAST = 1e-2  # a loss of less weight than this is a hint in a search for the prediction, and no measure of it


def tolerance(most: float, lam: float = 1.0) -> float:
    """How near to its optimum a relaxation is solved, where `most` is the largest loss and lam its weight."""
    return FINE * float(most) * (lam if lam > LEAST else 1.0)


def solved(plan: Plan, model: PairwiseModel, tol: float | Accuracy, i: int, warm: Array | None = None) -> Answer:
    """The answer for graph i; a relaxation is solved up to tol, beginning with the messages `warm`."""
    try:
        return plan.solve(model, warm, tol)
    except ValueError as error:
        way_out = ", with method='roof_dual' or 'auto'" if plan.method == "min_cut" else ""
        raise ValueError(f"graph {i}: {error}{way_out}") from None


def accuracy(most: float, lam: float, truth: float, known: float = np.inf) -> Accuracy:
    """How near to its optimum a relaxation is solved in training.

    most, lam : the largest loss, and its weight
    truth : the score of the true labels; where little is violated, `tolerance` would be all that is measured
    known : that of the best output that training knows already

    An example adds to the duality gap at least what its most violated output is above all that are known. The measured
    violation may be too large by the share NEWS of that, which makes the gap wider by this share at most. A search that
    has found news is soon followed by another, so that it need not be the last word.
    """
    least = ROUNDING * max(1.0, abs(truth))
    return Accuracy(tolerance(most, lam), truth, NEAR, known, NEWS, least)
