"""Transfer of the weights of an earlier model to a new one with the same labels and features, and more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.structures.sequences.histories import Histories, renumbered
from maxmargin.structures.sequences.task import Chain


def carried_over(task: Chain, earlier: Chain, w: Array) -> Array:
    """Return the weights w of the earlier Chain as weights of the new one: 0 for labels and features that are new."""
    if earlier.order > task.order:
        raise ValueError(
            f"the earlier model has order={earlier.order}; expected at most {task.order}, the order of this model"
        )
    weights, numbers = np.zeros(task.dim), np.array([task.numbers_[label] for label in earlier.classes_])
    (T, s, f), (old_T, old_s, old_f) = task.cut(weights), earlier.cut(w)
    T[np.ix_(numbers, numbers)], s[numbers], f[numbers] = old_T, old_s, old_f
    old_U = earlier.parts(w)["features"]
    task.parts(weights)["features"][: len(old_U), numbers] = old_U
    if earlier.histories_ is not None:
        _carry_runs(task, earlier, earlier.histories_, w, weights, numbers)
    return weights


def _carry_runs(
    task: Chain, earlier: Chain, old: Histories, w: Array, weights: Array, numbers: NDArray[np.int64]
) -> None:
    """Write the weights of runs of labels and of features at pairs of labels into `weights`."""
    new, K, old_K = task.histories_, task.n_labels_, earlier.n_labels_
    missing = np.setdiff1d(earlier.chosen_, task.chosen_)
    if new is None or len(missing):
        raise ValueError(
            "the earlier model has transition_features that this one does not have; give at least the same"
        )
    for n, start, end in old.kinds:
        codes = old.ngrams[n - 1]
        carried = renumbered(codes, n, old_K, numbers, K)
        known = np.isin(carried, new.ngrams[n - 1])
        weights[new.place(carried[known], n, start, end)] = w[old.place(codes[known], n, start, end)]
    if len(earlier.chosen_):
        carried = renumbered(old.pairs, 2, old_K, numbers, K)
        known = np.isin(carried, new.pairs)
        rows, columns = np.searchsorted(task.chosen_, earlier.chosen_), np.searchsorted(new.pairs, carried[known])
        of_pairs = earlier.parts(w)["transition_features"]
        task.parts(weights)["transition_features"][np.ix_(rows, columns)] = of_pairs[:, known]
