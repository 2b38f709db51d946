"""The objective that multiclass solvers are compared by, so that no solver marks its own work."""

from __future__ import annotations

from typing import Any

import numpy as np


def crammer_singer(coef: np.ndarray, intercept: np.ndarray, X: Any, y: np.ndarray, c: float) -> float:
    """1/2 ||(coef, intercept)||² + c · Σᵢ max_k (s_ik + [k ≠ yᵢ]) - s_iyᵢ,  scores s = X coefᵀ + intercept.

    The objective of Crammer and Singer ("On the algorithmic implementation of multiclass kernel-based vector
    machines", JMLR 2001) as liblinear solves it: the intercept is the weight of a constant feature 1, hence
    penalised, and ``c`` multiplies a sum. ``y`` holds the row numbers of the true classes in ``coef``.
    """
    scores = np.asarray(X @ coef.T) + intercept
    rows = np.arange(len(y))
    true_scores = scores[rows, y]
    scores += 1.0
    scores[rows, y] = true_scores
    hinges = scores.max(axis=1) - true_scores
    return float(0.5 * (np.sum(coef**2) + np.sum(intercept**2)) + c * hinges.sum())
