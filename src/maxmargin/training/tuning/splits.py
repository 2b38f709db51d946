"""The examples that every fold of a cross-validation trains and tests on, and the data of these examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target

from maxmargin.base.checks import check_whole, is_whole
from maxmargin.training.options import n_examples, seed_of

Split = tuple[Any, Any]  # the numbers of the examples to train on, and of the examples to test on


def splits_of(estimator: Any, cv: Any, y: Any, groups: Any, random_state: Any) -> list[Split]:
    """Return shuffled folds, stratified for classifiers, with whole groups; or the folds of a splitter or a list."""
    n = n_examples(y, "y")
    if groups is not None and n_examples(groups, "groups") != n:
        raise ValueError(f"X has {n} examples but groups has {n_examples(groups, 'groups')}")
    if is_whole(cv):
        check_whole("cv", cv, least=2)
        stratify = is_classifier(estimator) and type_of_target(y) in ("binary", "multiclass")
        kinds = (KFold, StratifiedKFold) if groups is None else (GroupKFold, StratifiedGroupKFold)
        splitter = kinds[stratify](cv, shuffle=True, random_state=seed_of(random_state))
    else:
        splitter = check_cv(cv)
    found = list(splitter.split(np.zeros(n), y, groups))
    if not found:
        raise ValueError("cv has no folds; expected at least one")
    for k, (train, test) in enumerate(found):
        if len(train) == 0 or len(test) == 0:
            raise ValueError(f"fold {k} of cv has {len(train)} examples to train and {len(test)} to validate on")
    return found


def rows_of(value: Any, index: Any) -> Any:
    """Return the entries of a list, an array, a sparse matrix or a table at these positions, as the same kind."""
    rows = np.asarray(index)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    if hasattr(value, "iloc"):
        return value.iloc[rows]
    return value[rows] if hasattr(value, "shape") else [value[i] for i in rows]


def examples_of(estimator: Any, X: Any, y: Any, index: Any, trained_on: Any) -> Split:
    """Return inputs and outputs of these examples; of a kernel matrix, the columns of the training examples.

    trained_on : the training examples, or None if these examples are themselves the training examples.
    """
    outputs = None if y is None else rows_of(y, index)
    if not get_tags(estimator).input_tags.pairwise:
        return rows_of(X, index), outputs
    if getattr(X, "ndim", 0) != 2 or X.shape[0] != X.shape[1]:
        raise ValueError("X must be a square kernel matrix, because the estimator takes kernel values of pairs")
    return X[np.ix_(index, index if trained_on is None else trained_on)], outputs


def part_of(value: Any, index: Any, n: int) -> Any:
    """Return the entries of a value for some of n examples, or the value itself if it does not have n entries."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        each = len(shape) > 0 and shape[0] == n
    else:
        each = hasattr(value, "__len__") and not isinstance(value, str | bytes | dict) and len(value) == n
    return rows_of(value, index) if each else value
