"""LabelerWeights: the weights of a linear labeler of sequences, as the last layer of a neural network and its head."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array


class LabelerWeights(NamedTuple):
    """The weights of a linear model of label sequences: those of a linear layer, and those of a chain.

    They go both ways between `maxmargin.SequenceLabeler`, whose training is certified, and a network, whose last
    layer and head have the same scores.

    Parameters
    ----------
    features : array (F, K)
        The score of label k by feature f, at [f, k].
    transitions : array (K, K)
        The score of label k after label j, at [j, k].
    start, end : arrays (K,)
        The scores of first and of last labels.

    See Also
    --------
    maxmargin.SequenceLabeler : The linear model.

    Examples
    --------
    >>> import numpy as np
    >>> import maxmargin as mm
    >>> X, Y = [np.eye(2), np.eye(2)[:1]], [[0, 1], [0]]
    >>> model = mm.SequenceLabeler(C=10.0).fit(X, Y)
    >>> weights = mm.neural.LabelerWeights.of_labeler(model)
    >>> weights.features.shape
    (2, 2)
    >>> same = weights._replace(start=np.array([0.0, 9.0])).to_labeler(model)
    >>> same.predict([np.zeros((1, 2))]), model.predict([np.zeros((1, 2))])
    ([[1]], [[0]])
    """

    features: Array
    transitions: Array
    start: Array
    end: Array

    @classmethod
    def of_labeler(cls, model: Any) -> LabelerWeights:
        """Return copies of the weights of a fitted SequenceLabeler of first order; forbidden links have -inf."""
        task = _checked(model)
        parts, links = task.parts(model.w_), task.links(model.w_)
        return cls(parts["features"].copy(), *(each.copy() for each in links))

    def to_labeler(self, model: Any) -> Any:
        """Return a copy of a fitted SequenceLabeler with these weights in the place of its own.

        Its classes, costs and forbidden links stay. `certify(X, Y)` of the copy measures how far the weights are from
        the optimum of its C; the certificate of the training of `model` is not that of these weights.
        """
        task, w = _checked(model), model.w_.copy()
        parts = task.parts(w)
        for name, own in self._asdict().items():
            into, given = parts[name], np.asarray(own, dtype=float)
            if given.shape != into.shape:
                raise ValueError(f"the weights `{name}` have shape {given.shape}; expected {into.shape}")
            into[...] = np.where(np.isneginf(given), 0.0, given)
        other = copy(model)
        other.w_ = w
        return other


def _checked(model: Any) -> Any:
    """Return the task of the model; raise a ValueError unless it has weights of features and of pairs of labels."""
    task = getattr(model, "task_", None)
    if task is None or not hasattr(task, "histories_"):
        raise ValueError(f"expected a fitted SequenceLabeler, got {model!r}")
    if task.kernel is not None or task.histories_ is not None:
        raise ValueError("expected a SequenceLabeler with order=1, without a kernel and without transition_features")
    return task
