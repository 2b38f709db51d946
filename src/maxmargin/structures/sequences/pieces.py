"""The features of a labelled sequence, position by position and transition by transition."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_whole
from maxmargin.inputs.labels.labels import label_numbers
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.structures.sequences.given_labels import split_costs
from maxmargin.structures.sequences.transition_features import features_at_pairs


def chain_pieces(task: Any, x: Any, z: Any) -> Pieces:
    """Return Ψ(x, z) of a Chain; the first position has the weight of the start, and the last one that of the end."""
    rows = sparse.coo_array(task.packer_.pack([x]).matrix)
    labels = label_numbers(split_costs(z)[0], task.numbers_)
    n, K = rows.shape[0], task.n_labels_
    if len(labels) != n:
        raise ValueError(f"the output has {len(labels)} labels for {n} positions; expected one label for each")
    first, column, at = task.first_, rows.col.astype(np.int64), rows.row.astype(np.int64)
    features = first + column * K + labels[at]
    units = [Unit("position", t) for t in range(n)] + [Unit("transition", (t - 1, t)) for t in range(1, n)]
    if task.histories_ is None:
        links = labels[:-1].astype(np.int64) * K + labels[1:]
        ends = [K**2 + labels[0], K**2 + K + labels[-1]]
        owners = np.concatenate([[0, n - 1], n + np.arange(n - 1), at])
        numbers = np.concatenate([np.ones(2 + len(links)), rows.data])
        return Pieces(units, owners.astype(np.int64), np.concatenate([ends, links, features]).astype(np.int64), numbers)
    windows = task.histories_.windows(labels.tolist())
    known = {unit: k for k, unit in enumerate(units)}
    of_windows = [known.setdefault(unit, len(known)) for unit in _window_units(n, task.histories_.order)]
    at_pairs, values = features_at_pairs(rows, labels, task.chosen_, task.histories_)
    paired: NDArray[np.bool_] = np.isin(rows.col, task.chosen_) & (at > 0)
    owners = np.concatenate([of_windows, n - 1 + at[paired], at])
    numbers = np.concatenate([np.ones(len(windows)), values, rows.data])
    indices = np.concatenate([windows, at_pairs, features])
    return Pieces(list(known), owners.astype(np.int64), indices.astype(np.int64), numbers)


def given_output(task: Any, w: Array, x: Any, z: Any) -> list[Hashable]:
    """Return the label sequence that z describes: all labels, or the best one with the labels that z has.

    In a list, None stands for any label; a dict has the labels of some positions.
    """
    scored = task.scored([x])
    n = int(scored.bounds[-1])
    if isinstance(z, Mapping):
        wrong = [t for t in z if not is_whole(t) or not 0 <= t < n]
        if wrong:
            raise ValueError(f"the output has a label for position {wrong[0]!r}; expected positions from 0 to {n - 1}")
        z = [z.get(t) for t in range(n)]
    labels = list(split_costs(z)[0])
    if len(labels) != n:
        raise ValueError(f"the output has {len(labels)} labels for {n} positions; expected one label for each")
    scores = scored.scores(w)
    for t, label in enumerate(labels):
        if label is not None:
            allowed = label_numbers(list(label) if isinstance(label, set | frozenset) else [label], task.numbers_)
            scores.unary[t, np.setdiff1d(np.arange(task.n_labels_), allowed)] = -np.inf
    best = scored.best_of_own(scores)
    if not np.isfinite(best.values).all():
        raise ValueError(f"the output {z!r} has no score, because this model forbids transitions that it needs")
    return task.names.named(best.found)


def _window_units(n: int, order: int) -> list[Unit]:
    """Return the positions of the windows of Histories.windows, which may begin and end one place outside."""
    units = []
    for size in range(2, order + 2):
        for begin in range(-1, n + 2 - size):
            inside = tuple(range(max(begin, 0), min(begin + size, n)))
            kind = "position" if len(inside) == 1 else "transition" if len(inside) == 2 else "run"
            units.append(Unit(kind, inside[0] if len(inside) == 1 else inside))
    return units
