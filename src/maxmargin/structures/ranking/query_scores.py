"""Measures of rankings, query by query."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.ranking.groups import Groups, query_ids
from maxmargin.structures.ranking.measures import checked_k
from maxmargin.structures.ranking.orders import average_precision, concordance, ndcg, precision_at, worst_order

RankerMeasure = Literal["map", "ndcg", "roc_auc", "precision_at_k"]
RANKED_BY = get_args(RankerMeasure)  # the measures of query_scores, and of Ranker


def query_scores(
    y_true: Any, scores: Any, qid: Any = None, measure: RankerMeasure = "map", k: int | None = None, relevant: float = 1
) -> NDArray[np.float64]:
    """Compute a learning-to-rank measure for every query, such as average precision or NDCG.

    Parameters
    ----------
    y_true : array of shape (n,)
        The relevance level of every row.
    scores : array of shape (n,)
        The score of every row; rows with higher scores come first, tied rows in the worst order.
    qid : array of shape (n,), optional
        The query of every row; without it, all rows are one query.
    measure : {"map", "ndcg", "roc_auc", "precision_at_k"}
        "map" is average precision and "precision_at_k" precision among the first k, where rows of level >= relevant
        are relevant; "ndcg" has gains 2^level - 1 and discounts 1/log2(1 + position), up to position k if given;
        "roc_auc" is the share of pairs of different level in the right order.
    k : int, optional
        The depth of "precision_at_k" and "ndcg".
    relevant : float
        The least level of relevant rows.

    Returns
    -------
    array of shape (n_queries,)
        In the order in which queries first appear in qid. NaN marks queries without relevant rows ("roc_auc": without
        pairs), for which the measure is not defined: np.nanmean leaves them out, np.nan_to_num(...).mean() counts them
        as 0, as the tools of the LETOR collections do.

    See Also
    --------
    maxmargin.Ranker : Learns to rank.

    Examples
    --------
    >>> from maxmargin import metrics
    >>> metrics.query_scores([1, 0, 0, 1], [0.9, 0.1, 0.8, 0.2], qid=["a", "a", "b", "b"])
    array([1. , 0.5])
    """
    if measure not in RANKED_BY:
        raise ValueError(f"measure must be one of {', '.join(map(repr, RANKED_BY))}, got {measure!r}")
    if measure == "precision_at_k" or (measure == "ndcg" and k is not None):
        checked_k(k, measure)
    elif k is not None and measure != "ndcg":
        raise ValueError(f"measure {measure!r} uses the whole ranking; k is for 'ndcg' and 'precision_at_k' only")
    levels, values = np.asarray(y_true, dtype=float), np.asarray(scores, dtype=float)
    if levels.shape != values.shape or levels.ndim != 1:
        raise ValueError(
            f"y_true has shape {levels.shape} but scores have shape {values.shape}; expected one number per row"
        )
    if not len(levels):
        raise ValueError("there are no rows to rank; expected at least one")
    for name, numbers in (("y_true", levels), ("scores", values)):
        if not np.isfinite(numbers).all():
            i = int(np.argmin(np.isfinite(numbers)))
            raise ValueError(f"{name}[{i}] is {numbers[i]}; expected a finite number")
    if measure == "ndcg" and levels.min() < 0:
        i = int(np.argmin(levels))
        raise ValueError(f"y_true[{i}] is {levels[i]:g}; gains 2^level - 1 need levels >= 0")
    groups = Groups.by(levels[:, None], query_ids(qid, len(levels)))[0]

    def one(rows: Any) -> float:
        y, s = levels[rows], values[rows]
        if measure == "roc_auc":
            return concordance(y, s) if len(np.unique(y)) > 1 else np.nan
        hits = (y > 0 if measure == "ndcg" else y >= relevant).astype(float)
        if not hits.any():
            return np.nan
        order = worst_order(y if measure == "ndcg" else hits, s)
        if measure == "ndcg":
            return ndcg(y, order, k)
        return average_precision(hits, order) if measure == "map" else precision_at(hits, order, int(k or 0))

    return np.array([one(groups.members(g)) for g in range(len(groups))])
