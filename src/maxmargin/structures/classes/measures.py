"""The tree loss, a measure of hierarchical classification."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from maxmargin.inputs.labels.hierarchy import read_hierarchy
from maxmargin.inputs.labels.labels import in_order, plain


def tree_loss(y_true: Sequence[Hashable], y_pred: Sequence[Hashable], taxonomy: Any) -> float:
    """Compute the mean height of the first common ancestor of the true and the predicted class.

    The height is counted in edges: 0 for a right class, 1 for a wrong one with the right parent, and so on
    (Tsochantaridis et al. 2004, section 4.2); if the two are not equally deep below that ancestor, the larger number
    counts. make_scorer(tree_loss, taxonomy=..., greater_is_better=False) makes a scorer of it.

    Parameters
    ----------
    y_true, y_pred : sequence
        The true and the predicted classes, any nodes of the taxonomy.
    taxonomy : dict, list of pairs or str
        The tree or lattice of classes, as for TaxonomySVC.

    Returns
    -------
    float
        0 is best.

    See Also
    --------
    maxmargin.TaxonomySVC : A classifier that minimises it.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> tree = {"cat": "animal", "dog": "animal", "animal": None, "fern": None}
    >>> metrics.tree_loss(["cat", "cat"], ["dog", "fern"], tree)
    1.5
    """
    if len(y_true) != len(y_pred):
        raise ValueError(
            f"There are {len(y_true)} true but {len(y_pred)} predicted classes; expected one prediction per truth."
        )
    if len(y_true) == 0:
        raise ValueError("There are no classes to compare; expected at least one.")
    hierarchy = read_hierarchy(taxonomy, chain(y_true, y_pred), "label")
    nodes = set(hierarchy.nodes)
    for i, pair in enumerate(zip(y_true, y_pred, strict=True)):
        for label in pair:
            if label not in nodes:
                raise ValueError(f"Example {i}: the class {plain(label)!r} is not a node of the taxonomy.")
    classes = in_order(chain(y_true, y_pred))
    number, losses = {label: k for k, label in enumerate(classes)}, hierarchy.losses(classes)
    return float(np.mean([losses[number[a], number[b]] for a, b in zip(y_true, y_pred, strict=True)]))
