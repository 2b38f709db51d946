"""Measures of assignments: the share of rows and links that are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.report.scoring.scorer import Scorer
from maxmargin.structures.assignment.frames import read_columns


class LinkScores(NamedTuple):
    """Scores of assignments over all examples together; a ratio with nothing to count is 0.

    Attributes
    ----------
    rows : float
        The share of rows with the right column, or rightly unlinked.
    precision, recall, f1 : float
        The share of predicted links that are true, the share of true links that are predicted, and their harmonic mean.
    exact_match : float
        The share of examples without a mistake.

    See Also
    --------
    link_scores : Computes them.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.link_scores([[0, 1]], [[0, -1]]).precision
    1.0
    """

    rows: float
    precision: float
    recall: float
    f1: float
    exact_match: float


def link_scores(truth: Sequence[Any], found: Sequence[Any]) -> LinkScores:
    """Compare predicted assignments with the true ones.

    Parameters
    ----------
    truth, found : sequence of assignments
        Each lists the column of every row, -1 for none.

    Returns
    -------
    LinkScores

    See Also
    --------
    maxmargin.Assigner : Predicts assignments.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> scores = metrics.link_scores([[0, 1], [1, 0]], [[0, -1], [1, 0]])
    >>> scores.rows, scores.recall, scores.exact_match
    (0.75, 0.75, 0.5)
    """
    if len(truth) != len(found):
        raise ValueError(
            f"There are {len(truth)} true assignments but {len(found)} predicted ones; expected one per example."
        )
    if len(truth) == 0:
        raise ValueError("no examples given: there is nothing to score; expected at least one")
    pairs = []
    for i, (y, z) in enumerate(zip(truth, found, strict=True)):
        true = read_columns(y, len(y), None, f"The true assignment of example {i}")
        pairs.append((true, read_columns(z, len(true), None, f"The predicted assignment of example {i}")))
    true, other = (np.concatenate(each) for each in zip(*pairs, strict=True))
    right, n_true, n_found = int(np.sum((true == other) & (true >= 0))), int(np.sum(true >= 0)), int(np.sum(other >= 0))
    return LinkScores(
        rows=float(np.mean(true == other)) if len(true) else 0.0,
        precision=right / n_found if n_found else 0.0,
        recall=right / n_true if n_true else 0.0,
        f1=2 * right / (n_true + n_found) if n_true + n_found else 0.0,
        exact_match=float(np.mean([np.array_equal(y, z) for y, z in pairs])),
    )


link_f1_scorer = Scorer(link_scores, "f1")
