"""Local search by large moves (α-expansion), for any number of labels and any scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.structures.graphs.compiled.cut_arrays import CutArrays
from maxmargin.structures.graphs.compiled.sorted_arcs import SortedArcs
from maxmargin.structures.graphs.inference.model import Answer, Labels, PairwiseModel

LEAST_GAIN = 1e-12  # relative to the largest score; smaller gains are rounding errors


def best_expansion(
    model: PairwiseModel, start: Any = None, upper: float = np.inf, arcs: SortedArcs | None = None
) -> Answer:
    """Find a labelling that no α-expansion improves, i.e. no change of any set of nodes to one common label.

    Every move is a problem with two labels, solved by a cut. If the scores do not allow a cut, roof duality moves the
    nodes that it decides, which may not be the best move. No move lowers the score, so the result is at least as good
    as the start.

    Written as energies, E = -score, let unary energies be >= 0 and pair energies be metrics: 0 between equal labels,
    positive and symmetric between different ones, with the triangle inequality. Then E(found) <= 2 c E(best), where c
    is the largest ratio of two energies of different labels on one edge (Boykov, Veksler and Zabih 2001); c = 1 for
    Potts scores. For other scores nothing is proved.

    Parameters
    ----------
    model : PairwiseModel
        The model.
    start : array of int or None
        Labels to begin with; by default the best label of each node alone.
    upper : float
        An upper bound on all labellings that is known from elsewhere.
    arcs : SortedArcs or None
        `SortedArcs.of` the graph, if it is known already.

    Returns
    -------
    Answer.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import PairwiseModel, best_expansion
    >>> model = PairwiseModel.of([[1.0, 0.0], [0.0, 0.2]], [(0, 1)], [np.eye(2)])
    >>> best_expansion(model).labels.tolist()
    [0, 0]

    See Also
    --------
    best_relaxation : a relaxation with a proved bound.
    """
    from maxmargin.structures.graphs.compiled.expansion import expand

    n, m = model.n_nodes, model.n_edges
    labels = _start(model, start)
    arcs = SortedArcs.of(n, model.edges) if arcs is None else arcs
    least = LEAST_GAIN * max(np.abs(model.unary).max(initial=0.0), np.abs(model.pair).max(initial=0.0))
    move, decided = (np.empty((n, 2)), np.empty((m, 2, 2))), np.empty(n, dtype=np.int32)
    expand(*model, tuple(arcs), least, labels, *move, tuple(CutArrays.of(n, m)), decided)
    value = model.value(labels)
    return Answer(labels, value, max(value, float(upper)))


def _start(model: PairwiseModel, start: Any) -> Labels:
    """Return a copy of the labels to begin with."""
    if start is None:
        return model.unary.argmax(axis=1).astype(np.int32)
    labels = np.array(start)
    if labels.shape != (model.n_nodes,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"start has shape {labels.shape} and type {labels.dtype}; expected {model.n_nodes} integers")
    if len(labels) and not 0 <= labels.min() <= labels.max() < model.n_labels:
        raise ValueError(f"start has labels from {labels.min()} to {labels.max()}; expected 0 to {model.n_labels - 1}")
    return labels.astype(np.int32)
