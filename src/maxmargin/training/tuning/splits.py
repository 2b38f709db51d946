"""Which examples are trained on and which are judged by, in every fold; and how what is given of them is split."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import type_of_target

from maxmargin.base.checks import check_whole, is_whole
from maxmargin.training.options import n_examples, seed_of

Split = tuple[Any, Any]  # the numbers of the examples to train on, and of those to judge by


def splits_of(estimator: Any, cv: Any, y: Any, groups: Any, random_state: Any) -> list[Split]:
    """So many shuffled folds, stratified for classifiers, with whole groups; or what a splitter or a list says."""
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
            raise ValueError(f"fold {k} of cv has {len(train)} examples to train and {len(test)} to judge by")
    return found


def part_of(value: Any, index: Any, n: int) -> Any:
    """What is given of these examples, if there is an entry for each of n; otherwise all of it."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        each = len(shape) > 0 and shape[0] == n
    else:
        each = hasattr(value, "__len__") and not isinstance(value, str | bytes | dict) and len(value) == n
    return _safe_indexing(value, index) if each else value
