"""Scorer: a measure of predictions in the form that GridSearchCV takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Scorer:
    """A scorer(estimator, X, Y) for `scoring=`: a measure of the estimator's predictions, for which higher is better.

    Parameters
    ----------
    measure : function of (truth, found), two sequences with one output per example
        A function of maxmargin.metrics, for example.
    part : str or None
        The name of the number to use, if a measure has several.
    sign : 1 or -1
        -1 for a loss, for which lower is better.
    options : dict
        Keywords for the measure.

    Examples
    --------
    >>> from maxmargin.metrics import Scorer, chunk_f1
    >>> scorer = Scorer(chunk_f1, part="f1")

    See Also
    --------
    maxmargin.metrics : the measures.
    """

    def __init__(self, measure: Callable[..., Any], part: str | None = None, sign: int = 1, **options: Any):
        if sign not in (1, -1):
            raise ValueError(f"sign must be 1 (higher is better) or -1 (a loss), got {sign!r}")
        self.measure, self.part, self.sign, self.options = measure, part, sign, options

    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        return self.value(Y, estimator.predict(X))

    def value(self, truth: Any, found: Any) -> float:
        """Return the number for given predictions, negative for a loss."""
        value = self.measure(truth, found, **self.options)
        return self.sign * float(value if self.part is None else getattr(value, self.part))

    def __repr__(self) -> str:
        name = getattr(self.measure, "__name__", repr(self.measure))
        options = {"part": self.part, "sign": self.sign} | self.options
        default = {"part": None, "sign": 1}
        shown = [f"{key}={value!r}" for key, value in options.items() if default.get(key, options) != value]
        return f"Scorer({', '.join([name, *shown])})"


def exact_match(truth: Sequence[Any], found: Sequence[Any]) -> float:
    """Return the share of outputs that are completely correct; it does not depend on a loss.

    Parameters
    ----------
    truth, found : sequence
        Sequences with one output per example.

    Returns
    -------
    float between 0 and 1.

    Examples
    --------
    >>> from maxmargin.metrics import exact_match
    >>> exact_match([["N", "V"], ["N"]], [["N", "V"], ["V"]])
    0.5
    """
    if len(truth) != len(found):
        raise ValueError(f"There are {len(truth)} true but {len(found)} predicted outputs.")
    if len(truth) == 0:
        raise ValueError("no examples given: there is nothing to score")
    return float(np.mean([equal_outputs(y, z) for y, z in zip(truth, found, strict=True)]))


def equal_outputs(y: Any, z: Any) -> bool:
    """Return whether two outputs of any kind are equal."""
    if isinstance(y, np.ndarray) or isinstance(z, np.ndarray):
        return bool(np.array_equal(np.asarray(y), np.asarray(z)))
    if isinstance(y, list | tuple) and isinstance(z, list | tuple):  # label sequences may be lists or tuples
        return len(y) == len(z) and all(map(equal_outputs, y, z))
    return bool(y == z)


exact_match_scorer = Scorer(exact_match)
