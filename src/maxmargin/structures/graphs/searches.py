"""The accuracy of searches for the best labelling of one graph at given weights."""

from __future__ import annotations

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.graphs.inference.model import ROUNDING, Accuracy, Answer, PairwiseModel
from maxmargin.structures.graphs.inference.plan import Plan

FINE = 1e-4  # relaxations are solved up to this share of the largest loss,
NEAR = 1e-3  # and up to this share of the violation that was found, where that is less
NEWS = 1.0  # or up to this share of the improvement over all known outputs, if that is more
LEAST = 1e-2  # a loss of less weight than this is a hint in a search for the prediction, and no measure of it


def tolerance(most: float, lam: float = 1.0) -> float:
    """Return how close to its optimum a relaxation is solved, where `most` is the largest loss and lam its weight."""
    return FINE * float(most) * (lam if lam > LEAST else 1.0)


def solved(plan: Plan, model: PairwiseModel, tol: float | Accuracy, i: int, warm: Array | None = None) -> Answer:
    """Return the answer for graph i; a relaxation is solved up to tol, beginning with the messages `warm`."""
    try:
        return plan.solve(model, warm, tol)
    except ValueError as error:
        way_out = ", with method='roof_dual' or 'auto'" if plan.method == "min_cut" else ""
        raise ValueError(f"graph {i}: {error}{way_out}") from None


def accuracy(most: float, lam: float, truth: float, known: float = np.inf) -> Accuracy:
    """Return how close to its optimum a relaxation is solved in training.

    most, lam : the largest loss, and its weight.
    truth : the score of the true labels; if the violation is small, `tolerance` alone would be too coarse.
    known : the score of the best output that training has found already.

    An example contributes to the duality gap at least the amount by which its most violated output exceeds all known
    ones. The measured violation may be too large by the share NEWS of that, which widens the gap by at most this share.
    A search that has found a new output is soon followed by another, so it need not be the most accurate.
    """
    least = ROUNDING * max(1.0, abs(truth))
    return Accuracy(tolerance(most, lam), truth, NEAR, known, NEWS, least)
