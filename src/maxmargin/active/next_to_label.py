"""Active learning: choose the sequences whose labels would teach a model most.

Uncertainty sampling (Lewis and Gale 1994; for sequences Settles and Craven 2008) prefers sequences for which the model
is least certain of its output:

    margin      how far the second best output scores below the best one; small is uncertain
    entropy     -Σ_z p(z | x) log p(z | x) over all outputs; large is uncertain
    committee   the entropy of the labels that several models predict, summed over positions (Engelson and Dagan 1996)

The most uncertain sequences often resemble each other. A diverse choice is greedy: the next sequence has the largest
product of its uncertainty, relative to the most uncertain one, and its distance from the nearest sequence that is
already chosen, which is 1 minus the cosine of their weighted counts of features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from maxmargin.base.arrays import Array, Index
from maxmargin.base.checks import check_whole
from maxmargin.training.sequence_trainer import SequenceTrainer

Uncertainty = Literal["margin", "entropy", "committee"]


def next_to_label(
    model: SequenceTrainer | Sequence[SequenceTrainer],
    X: Any,
    n: int,
    by: Uncertainty = "margin",
    diverse: bool = True,
) -> Index:
    """Return the numbers of the n sequences of X that should be labelled next, the most useful one first.

    Parameters
    ----------
    model : SequenceLabeler or SegmentLabeler, or a list of them
        A model trained on the sequences labelled so far; for by="committee" several ones, for example trained on
        bootstrap samples of these.
    X : list of sequences
        The sequences without labels, in the form that the model takes.
    n : int
        How many to choose; if X has fewer, all are returned.
    by : "margin", "entropy" or "committee"
        The measure of uncertainty. "entropy" uses probabilities, which should be calibrated.
    diverse : bool
        Whether to avoid sequences that resemble those already chosen.

    Returns
    -------
    array of int, positions in X.

    Notes
    -----
    Long sequences are more uncertain than short ones, because all labels of a sequence must be right, and they also
    cost more to label.

    Examples
    --------
    >>> from maxmargin import SequenceLabeler
    >>> from maxmargin.active import next_to_label
    >>> X = [[["w=the"], ["w=dog"]], [["w=a"], ["w=cat"]]]
    >>> model = SequenceLabeler().fit(X, [["D", "N"], ["D", "N"]])
    >>> next_to_label(model, [[["w=the"], ["w=cat"]], [["w=or"], ["w=not"]]], 1)
    array([1])

    See Also
    --------
    SequenceLabeler.entropy, SequenceLabeler.predict_nbest : what the choice is made of.
    """
    models: list[Any] = list(model) if isinstance(model, list | tuple) else [model]
    if by not in ("margin", "entropy", "committee"):
        raise ValueError(f"by must be 'margin', 'entropy' or 'committee', got {by!r}")
    if (by == "committee") != (len(models) > 1):
        expected = "a list of at least two models" if by == "committee" else "one model"
        raise ValueError(f"by={by!r} needs {expected}, got {len(models)}")
    for each in models:
        if not isinstance(each, SequenceTrainer):
            raise ValueError(f"model is {each!r:.60}; expected a fitted SequenceLabeler or SegmentLabeler")
        check_is_fitted(each)
    n = min(check_whole("n", n, least=1), len(X))
    if n == 0:
        return np.zeros(0, dtype=np.intp)
    if by == "margin":
        uncertain = 1 / (1 + _margins(models[0], X))
    else:
        uncertain = np.asarray(models[0].entropy(X)) if by == "entropy" else _disagreement(models, X)
    if not diverse:
        return np.argsort(-uncertain, kind="stable")[:n]
    return _diverse(uncertain, _directions(models[0], X), n)


def _margins(model: SequenceTrainer, X: Any) -> Array:
    """Return by how much the best output outscores the second best; infinite if there is no other."""
    scores = [[score for _, score in outputs] for outputs in model.predict_nbest(X, 2)]
    return np.array([each[0] - each[1] if len(each) > 1 else np.inf for each in scores])


def _disagreement(models: Sequence[SequenceTrainer], X: Any) -> Array:
    """Return the sum over positions of the entropy of the labels that the models predict."""
    each = [model.predict(X) for model in models]
    sums = []
    for i, outputs in enumerate(zip(*each, strict=True)):
        if len(set(map(len, outputs))) > 1:
            raise ValueError(
                f"sequence {i}: the models predict outputs of different lengths; expected labels of positions"
            )
        total = 0.0
        for labels in zip(*outputs, strict=True):
            shares = np.array([labels.count(label) for label in set(labels)]) / len(labels)
            total -= float(shares @ np.log(shares))
        sums.append(total)
    return np.array(sums)


def _directions(model: SequenceTrainer, X: Any) -> Any:
    """Return a row of length 1 for every sequence: its features, those that occur in few sequences weighted more."""
    packed = model.task_.packer_.pack(X, may_be_empty=True)
    lengths = np.diff(packed.offsets)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    members = sparse.csr_matrix((np.ones(len(owners)), (owners, np.arange(len(owners)))), (len(lengths), len(owners)))
    rows = sparse.csr_matrix(members @ sparse.csr_matrix(packed.matrix))
    often = np.bincount(rows.indices[rows.data != 0], minlength=rows.shape[1])
    rows = sparse.csr_matrix(rows @ sparse.diags(np.log((1 + len(lengths)) / (1 + often))))
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.where(norms > 0, norms, 1.0)) @ rows)


def _diverse(uncertain: Array, rows: Any, n: int) -> Index:
    most = uncertain.max()
    worth = uncertain / most if most > 0 else np.ones(len(uncertain))
    far = np.ones(len(worth))  # the distance from the nearest chosen sequence
    chosen: list[int] = []
    free = np.ones(len(worth), dtype=bool)
    for _ in range(n):
        j = int(np.argmax(np.where(free, worth * far, -1.0)))
        chosen.append(j)
        free[j] = False
        alike = np.asarray((rows @ rows[j].T).todense()).ravel()
        far = np.minimum(far, np.clip(1 - alike, 0.0, 1.0))
    return np.array(chosen, dtype=np.intp)
