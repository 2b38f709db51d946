"""Features of a position that have a weight for each pair of labels: the one before and its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.inputs.labels.labels import Labels
from maxmargin.inputs.tokens.tokens import SequencePacker
from maxmargin.structures.sequences.compiled.step_arrays import PairRows
from maxmargin.structures.sequences.histories import Histories


def chosen_features(given: Any, packer: SequencePacker) -> NDArray[np.int64]:
    """Return the columns that `transition_features` names: None, True (all), column numbers, or prefixes of names."""
    if given is None:
        return np.zeros(0, dtype=np.int64)
    if given is True:
        return np.arange(packer.n_features)
    what = "transition_features must be True, or a list of column numbers or of prefixes of feature names"
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
        raise ValueError(f"{what}, got {given!r}")
    if all(map(is_whole, given)):
        if packer.vocabulary is not None:
            raise ValueError(
                "transition_features has column numbers; expected names, because token features have names"
            )
        wrong = [j for j in given if not 0 <= j < packer.n_features]
        if wrong:
            raise ValueError(f"transition_features names column {wrong[0]}; there are {packer.n_features} columns")
        return np.unique(np.asarray(given, dtype=np.int64))
    if not all(isinstance(name, str) for name in given):
        raise ValueError(f"{what}, got {given!r}")
    names = packer.feature_names
    if names is None:
        why = "columns of matrices have none: give their numbers"
        if packer.vocabulary is not None:
            why = "hash_bits keeps none: leave it out, or give transition_features=True"
        raise ValueError(f"transition_features chooses features by their names, and {why}")
    for beginning in given:
        if not any(name.startswith(beginning) for name in names):
            raise ValueError(
                f"transition_features names {beginning!r}, but no feature of the training data begins with it"
            )
    begins = tuple(given)
    return np.flatnonzero(np.fromiter((name.startswith(begins) for name in names), dtype=bool, count=len(names)))


def features_at_pairs(
    rows: sparse.coo_array, labels: Labels, chosen: NDArray[np.int64], histories: Histories
) -> tuple[NDArray[np.int64], Array]:
    """Return the coordinates and values of the chosen features of a sequence at its pairs of labels."""
    pairs = np.searchsorted(histories.pairs, labels[:-1].astype(np.int64) * histories.n_labels + labels[1:])
    paired = np.isin(rows.col, chosen) & (rows.row > 0)
    columns = np.searchsorted(chosen, rows.col[paired])
    return histories.dim + columns * len(histories.pairs) + pairs[rows.row[paired] - 1], rows.data[paired]


def pair_rows(matrix: Any, chosen: NDArray[np.int64], n_pairs: int) -> PairRows:
    """Return the chosen columns of all units."""
    if len(chosen) == 0 or n_pairs == 0:
        return PairRows(0, np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    rows = sparse.csr_array(matrix[:, chosen], dtype=np.float64)
    return PairRows(n_pairs, rows.indptr.astype(np.int64), rows.indices.astype(np.int64) * n_pairs, rows.data)
