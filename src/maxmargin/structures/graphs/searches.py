"""Searches for the best labelling of one graph at given weights: which scores it has, and how finely it is solved."""

from __future__ import annotations

import numpy as np

from maxmargin.arrays import Array
from maxmargin.structures.graphs.inference.model import ROUNDING, Answer, PairwiseModel
from maxmargin.structures.graphs.inference.plan import Plan

FINE = 1e-4  # relaxations are solved up to this share of the largest loss,
NEAR = 1e-3  # and up to this share of the violation that was found, where that is less
LEAST = 1e-2  # a loss of less weight than this is a hint in a search for the prediction, and no measure of it


def pair_scores(W: Array, edge_features: Array) -> Array:
    """(E, K, K) the scores of all label pairs at all edges."""
    if not len(edge_features):  # without edges nothing tells how many features they would have
        return np.empty((0, *W.shape[1:]))
    n_labels = W.shape[1]
    return (edge_features @ W.reshape(len(W), n_labels**2)).reshape(-1, n_labels, n_labels)


def tolerance(most: float, lam: float = 1.0) -> float:
    """How near to its optimum a relaxation is solved, where `most` is the largest loss and lam its weight."""
    return FINE * float(most) * (lam if lam > LEAST else 1.0)


def solved(plan: Plan, model: PairwiseModel, tol: float, i: int, warm: Array | None = None) -> Answer:
    """The answer for graph i; a relaxation is solved up to tol, beginning with the messages `warm`."""
    try:
        return plan.solve(model, warm, tol)
    except ValueError as error:
        way_out = ", with method='roof_dual' or 'auto'" if plan.method == "min_cut" else ""
        raise ValueError(f"graph {i}: {error}{way_out}") from None


def refined(plan: Plan, model: PairwiseModel, tol: float, i: int, warm: Array | None, truth: float) -> Answer:
    """The answer up to tol, or nearer where little is violated: there tol would be all that is measured.

    `truth` is the score of the true labels.
    """
    answer = solved(plan, model, tol, i, warm)
    least = ROUNDING * max(1.0, abs(truth))
    while plan.method == "relaxation" and tol > least:
        known = max((answer.relaxed or answer).value, truth)
        if answer.upper - known <= max(NEAR * (known - truth), least):
            break
        tol = max(0.1 * tol, least)
        answer = solved(plan, model, tol, i, answer.messages)
    return answer
