"""Losses of binary predictions as functions of the contingency table (true and false positives and negatives).

With P positive and Q negative examples a prediction has a true and b false positives, m = a + b in total. Every loss
here is 0 at the truth (a = P, b = 0) and at least 0 elsewhere. Most of them are cheap to search because for a fixed
number m of predicted positives the loss is linear in a,

    Δ(a, m - a) = alpha_m + beta_m · (min(m, P) - a),    alpha_m, beta_m >= 0.                                  (1)

The measures at k fix m = k; those of quantification (estimating the share of positives) depend on m alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_real, is_whole
from maxmargin.base.errors import TaskError

Counts = NDArray[np.int64]
TableLoss = Callable[[Any, Any, Any, Any], Any]

EXPECTED = (
    "It must take four arrays of counts, tp, fp, fn and tn, and return a loss for each element: np.where and "
    "np.maximum instead of if and max"
)

CELLS = 2_000_000  # cells of a loss table that are evaluated at once
KEPT = 10_000_000  # cells of the largest table that is kept


class LossLines(NamedTuple):
    """The loss (1) for each allowed number m of predicted positives."""

    sizes: Counts  # the numbers m
    alpha: Array  # the coefficient α of (1) for each m
    beta: Array  # the coefficient β of (1) for each m

    def steepest(self, P: int, Q: int) -> float:
        """Bound the increase of the loss by one more false positive; inf if not all numbers m are allowed."""
        if not np.array_equal(self.sizes, np.arange(P + Q + 1)):
            return np.inf
        least, most = np.maximum(self.sizes + 1 - Q, 0)[:-1], np.minimum(self.sizes, P)  # true positives
        change = [
            self.alpha[1:] + self.beta[1:] * (most[1:] - a) - self.alpha[:-1] - self.beta[:-1] * (most[:-1] - a)
            for a in (least, most[:-1])  # the increase is linear between these
        ]
        allowed = least <= most[:-1]
        return float(np.max(np.maximum(*change)[allowed], initial=0.0)) * (1 + 1e-9) + 1e-15


class Measure(NamedTuple):
    """Measure of binary predictions, given by a loss(tp, fp, fn, tn) of arrays."""

    loss: TableLoss
    linear: bool | None = True  # whether (1) holds; None if unknown
    size: Callable[[int], int] | None = None  # the only allowed number m of predicted positives, as a function of P
    per_positive: bool = True  # whether joint features are divided by the number of positive examples, or of all
    value: TableLoss | None = None  # the number to report, if that is not minus the loss
    separable: bool = False  # the loss is a sum over examples, so that examples may have any weights

    def worth(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        """Return the number to report; higher is better."""
        return -np.asarray(self.loss(tp, fp, fn, tn)) if self.value is None else self.value(tp, fp, fn, tn)

    def lines(self, P: int, Q: int) -> LossLines:
        """Return the coefficients of the loss along a + b = m for P positive and Q negative examples."""
        sizes = np.arange(P + Q + 1) if self.size is None else np.array([min(self.size(P), P + Q)])
        low, high = np.maximum(sizes - Q, 0), np.minimum(sizes, P)
        first, last = self.table(low, sizes - low, P, Q), self.table(high, sizes - high, P, Q)
        beta = np.maximum((first - last) / np.maximum(high - low, 1), 0)  # linear: any two points will do
        return LossLines(sizes, last, beta)

    def on_lines(self, P: int, Q: int) -> bool:
        """Return whether (1) holds for all tables of P and Q examples; tries all of them unless `linear` says so."""
        if self.linear is not None:
            return self.linear
        sizes, *terms = self.lines(P, Q)
        # row a of each window holds the entries for m = a, …, a + Q
        alpha, beta, most = (sliding_window_view(each, Q + 1) for each in (*terms, np.minimum(sizes, P)))
        for first, table in self.blocks(P, Q):
            rows = slice(first, first + len(table))
            expected = alpha[rows] + beta[rows] * (most[rows] - np.arange(P + 1)[rows, None])
            if np.max(np.abs(table - expected)) > 1e-12 * (1 + np.max(table)):
                return False
        return True

    def blocks(self, P: int, Q: int) -> Iterator[tuple[int, Array]]:
        """Yield the losses of all tables in blocks of rows a = first, first + 1, …, each with b = 0 … Q."""
        height = max(1, CELLS // (Q + 1))
        for first in range(0, P + 1, height):
            a = np.arange(first, min(first + height, P + 1))
            yield first, np.ascontiguousarray(self.table(a[:, None], np.arange(Q + 1)[None, :], P, Q))

    def kept_blocks(self, P: int, Q: int) -> list[tuple[int, Array]] | None:
        """Return all blocks, or None if they are too large to keep."""
        return list(self.blocks(P, Q)) if (P + 1) * (Q + 1) <= KEPT else None

    def table(self, a: Counts, b: Counts, P: int, Q: int) -> Array:
        """Compute the losses of predictions with a true and b false positives."""
        a, b = np.broadcast_arrays(a, b)
        counts = [np.array(each) for each in (a, b, P - a, Q - b)]  # copies: a user's function may change them
        try:
            losses = np.array(self.loss(*counts), dtype=float)
        except Exception as error:
            error.add_note(f"maxmargin: raised by the measure. {EXPECTED}")
            raise
        if losses.shape != a.shape:
            raise TaskError(
                f"measure(tp, fp, fn, tn) returned an array of shape {losses.shape} for counts of shape {a.shape}. "
                f"{EXPECTED}"
            )
        if not (losses.min(initial=0.0) >= 0 and losses.max(initial=0.0) < np.inf):  # false for NaN too
            at = tuple(np.argwhere(~(np.isfinite(losses) & (losses >= 0)))[0])
            raise TaskError(
                f"measure(tp={a[at]}, fp={b[at]}, fn={P - a[at]}, tn={Q - b[at]}) is {losses[at]}; "
                "a loss must be a finite number >= 0"
            )
        return losses

    def check_truth(self, P: int, Q: int) -> None:
        """Raise a TaskError unless a perfect prediction costs nothing."""
        right = float(self.table(np.array([P, P]), np.array([0, 0]), P, Q)[0])  # two, to see that arrays work
        if abs(right) > 1e-12:
            raise TaskError(
                f"measure(tp={P}, fp=0, fn=0, tn={Q}) is {right}; the loss of a perfect prediction must be 0"
            )


def _fbeta(beta: float) -> Measure:
    weight = beta * beta

    def value(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return (1 + weight) * tp / ((1 + weight) * tp + weight * fn + fp)

    return Measure(lambda *table: 1 - value(*table), value=value)


def _error() -> Measure:
    return Measure(lambda tp, fp, fn, tn: (fp + fn) / (tp + fp + fn + tn), per_positive=False, separable=True)


def _balanced_error() -> Measure:
    return Measure(lambda tp, fp, fn, tn: 0.5 * (fn / (tp + fn) + fp / (fp + tn)), separable=True)


def _precision_at(k: int) -> Measure:
    def loss(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        shown = np.minimum(k, tp + fp + fn + tn)
        return np.maximum(np.minimum(shown, tp + fn) - tp, 0) / shown

    return Measure(loss, size=lambda P: k, value=lambda tp, fp, fn, tn: tp / (tp + fp))


def _recall_at(k: int) -> Measure:
    def loss(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return np.maximum(np.minimum(k, tp + fn) - tp, 0) / (tp + fn)

    return Measure(loss, size=lambda P: k, value=_recall)


def _prbep() -> Measure:
    return Measure(lambda tp, fp, fn, tn: fn / (tp + fn), size=lambda P: P, value=_recall)


def _recall(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return tp / (tp + fn)


def _kld(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Compute the divergence of the predicted from the true class shares, each smoothed by half an example."""
    n = tp + fp + fn + tn
    total = 0.0
    for true, found in ((tp + fn, tp + fp), (fp + tn, fn + tn)):
        p, q = (true + 0.5) / (n + 1), (found + 0.5) / (n + 1)
        total = total + p * np.log(p / q)
    return np.maximum(total, 0)


def _nkld(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return np.tanh(0.5 * _kld(tp, fp, fn, tn))  # 2 / (1 + exp(-KLD)) - 1


def _absolute_error(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    return np.abs(fp - fn) / (tp + fp + fn + tn)


def _relative_absolute_error(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Average the relative error of the class share over both classes, smoothed as in `_kld`."""
    return 0.5 * np.abs(fp - fn) * (1 / (tp + fn + 0.5) + 1 / (fp + tn + 0.5))


def _q_measure(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Compute 1 - the harmonic mean of recall and 1 - |fp - fn| / max(P, Q) (Barranquero, Diez and del Coz 2015)."""
    recall = tp / (tp + fn)
    quantified = 1 - np.abs(fp - fn) / np.maximum(tp + fn, fp + tn)
    return 1 - 2 * recall * quantified / np.maximum(recall + quantified, 1e-300)


FIXED: dict[str, Measure] = {
    "error": _error(),
    "balanced_error": _balanced_error(),
    "f1": _fbeta(1.0),
    "prbep": _prbep(),
    "kld": Measure(_kld),
    "nkld": Measure(_nkld),
    "absolute_error": Measure(_absolute_error),
    "relative_absolute_error": Measure(_relative_absolute_error),
    "q": Measure(_q_measure, linear=False, value=lambda *table: 1 - _q_measure(*table)),
}
AT_K: dict[str, Callable[[int], Measure]] = {"precision_at_k": _precision_at, "recall_at_k": _recall_at}
NAMES = (*FIXED, "fbeta", *AT_K)


def measure_of(measure: Any, k: Any = None, beta: Any = 1.0) -> Measure:
    """Return the measure of this name, or of a user's own loss(tp, fp, fn, tn)."""
    if callable(measure):
        return Measure(measure, linear=None)
    if not isinstance(measure, str) or measure not in NAMES:
        raise ValueError(f"measure must be one of {', '.join(map(repr, NAMES))} or a function, got {measure!r}")
    if measure in AT_K:
        return AT_K[measure](checked_k(k, measure))
    if measure == "fbeta":
        if not is_real(beta) or not 0 < float(beta) < np.inf:
            raise ValueError(f"beta must be a positive number, got {beta!r}")
        return _fbeta(float(beta))
    return FIXED[measure]


def checked_k(k: Any, measure: str) -> int:
    """Return k after checking that it is a positive whole number."""
    if not is_whole(k) or k <= 0:
        raise ValueError(f"measure {measure!r} needs k, a positive whole number, got {k!r}")
    return int(k)
