"""How many links of an assignment are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.report.scoring.scorer import Scorer
from maxmargin.structures.assignment.frames import read_columns


class LinkScores(NamedTuple):
    """Over all examples together; a ratio without anything to count is 0."""

    rows: float  # of the rows, those with the right column, or rightly alone
    precision: float  # of the links that were found, the true ones
    recall: float  # of the true links, those that were found
    f1: float  # the harmonic mean of the two
    exact_match: float  # of the examples, those without a mistake


def link_scores(truth: Sequence[Any], found: Sequence[Any]) -> LinkScores:
    """Agreement of assignments with the truth; each is a list with the column of every row, -1 for none."""
    if len(truth) != len(found):
        raise ValueError(f"There are {len(truth)} true assignments but {len(found)} predicted ones.")
    if len(truth) == 0:
        raise ValueError("no examples given: there is nothing to score")
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
