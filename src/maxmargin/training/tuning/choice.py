"""The choice of C from the scores of all folds: when to stop trying larger values, and which value to choose."""

from __future__ import annotations

from math import sqrt
from typing import Any, Literal, get_args

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.training.tuning.folds import Trained

Rule = Literal["best", "one_standard_error"]

RULES = get_args(Rule)


class Tried:
    """The models that were trained for every C so far: one on all data, which comes first, and one per fold."""

    def __init__(self) -> None:
        self.rows: list[list[Trained]] = []

    def add(self, row: list[Trained]) -> None:
        """Add the models of one more C."""
        self.rows.append(row)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def scores(self) -> Array:
        """The scores of the models, an array with a row for every C and a column for every fold."""
        return np.array([[each.score for each in row[1:]] for row in self.rows])

    @property
    def means(self) -> Array:
        return self.scores.mean(axis=1)

    @property
    def standard_errors(self) -> Array:
        """The standard errors of the means, estimated from the differences between folds; nan for a single fold."""
        scores = self.scores
        if scores.shape[1] < 2:
            return np.full(len(scores), np.nan)
        return np.std(scores, axis=1, ddof=1) / sqrt(scores.shape[1])

    @property
    def has_risen(self) -> bool:
        """True if one of the last two values of C has a better mean score than all before them."""
        means = self.means
        return len(means) < 3 or bool(means[-2:].max() > means[:-2].max())

    def has_fallen(self, patience: int | None) -> bool:
        """Return whether the mean scores of the last `patience` values of C are all clearly below an earlier one.

        The difference must exceed the standard error of the best, because at the beginning of a path scores fluctuate.
        """
        if patience is None or len(self) <= patience:
            return False
        means = self.means
        best = int(np.argmax(means[:-patience]))
        chance = np.nan_to_num(self.standard_errors[best])
        return bool(np.all(means[-patience:] < means[best] - chance))

    def order(self, rule: str) -> list[int]:
        """Return all rows in the order of preference: by the mean score, with ties in favour of the smaller C.

        The rule "one_standard_error" puts the values of C within one standard error of the best first, smallest first.
        """
        means = self.means
        ranked = [int(k) for k in np.argsort(-means, kind="stable")]
        if rule == "best":
            return ranked
        best = ranked[0]
        near = np.flatnonzero(means >= means[best] - self.standard_errors[best]).tolist()
        return near + [k for k in ranked if k not in near]

    def results(self) -> dict[str, Any]:
        """Return the columns of a table with a row for every C."""
        rows, scores = self.rows, self.scores
        return {
            "C": np.array([row[0].C for row in rows]),
            "mean_score": self.means,
            "standard_error": self.standard_errors,
            **{f"fold_{k}_score": scores[:, k] for k in range(scores.shape[1])},
            "training_loss": np.array([row[0].risk for row in rows]),
            "norm": np.array([row[0].norm for row in rows]),
            "seconds": np.array([sum(each.seconds for each in row) for row in rows]),
            "passes": np.array([sum(each.passes for each in row) for row in rows]),
            "gap": np.array([max(each.gap for each in row) for row in rows]),
            "converged": np.array([all(each.converged for each in row) for row in rows]),
            "zeros": np.array([sum(each.zero for each in row) for row in rows]),
        }
