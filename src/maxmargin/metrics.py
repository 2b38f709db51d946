"""Measures of predicted structures that the training losses do not give."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.clusterings import ClusterScore as ClusterScore
from maxmargin.clusterings import b_cubed as b_cubed
from maxmargin.clusterings import ceaf as ceaf
from maxmargin.clusterings import mitre_loss as mitre_loss
from maxmargin.clusterings import muc as muc
from maxmargin.clusterings import pair_loss as pair_loss
from maxmargin.clusterings import pairwise as pairwise
from maxmargin.coverage import subtopic_loss as subtopic_loss
from maxmargin.coverage import subtopic_recall as subtopic_recall
from maxmargin.measures import checked_k
from maxmargin.parseval import ParsevalScore as ParsevalScore
from maxmargin.parseval import parseval as parseval
from maxmargin.rankings import average_precision, concordance, ndcg, precision_at, worst_order
from maxmargin.routes import pair_f1 as pair_f1
from maxmargin.routes import point_f1 as point_f1
from maxmargin.tasks.groups import Groups, query_ids
from maxmargin.tasks.hierarchy import read_hierarchy
from maxmargin.tasks.labels import in_order, plain

RANKED_BY = ("map", "ndcg", "roc_auc", "precision_at_k")  # the measures of query_scores, and of Ranker


class ChunkScore(NamedTuple):
    """Precision, recall and their harmonic mean over chunks, each between 0 and 1."""

    precision: float
    recall: float
    f1: float


def chunks(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The chunks ``(first token, one past the last token, type)`` of one sentence's IOB tags.

    Ill-formed tags are read as ``conlleval`` reads them: an ``I-`` that continues no chunk of its own type
    begins a chunk. Hence IOB1 tags are read rightly too.
    """
    start = 0
    open_type: str | None = None
    for t, tag in enumerate(tags):
        prefix, _, kind = tag.partition("-")
        if prefix not in ("B", "I", "O"):
            raise ValueError(f"The tag {tag!r} is not an IOB tag, which is 'O' or begins with 'B-' or 'I-'.")
        continues = prefix == "I" and kind == open_type
        if continues:
            continue
        if open_type is not None:
            yield start, t, open_type
        open_type = None if prefix == "O" else kind
        start = t
    if open_type is not None:
        yield start, len(tags), open_type


def chunk_f1(true_tags: Sequence[Sequence[str]], predicted_tags: Sequence[Sequence[str]]) -> ChunkScore:
    """Precision, recall and F1 over the chunks of all sentences, as ``conlleval`` counts.

    A predicted chunk is right when a true chunk has the same first token, last token and type (Tjong Kim Sang
    and Buchholz, CoNLL 2000). A ratio without any chunk to count is 0. ``conlleval`` prints these times one
    hundred.
    """
    if len(true_tags) != len(predicted_tags):
        raise ValueError(f"There are {len(true_tags)} true but {len(predicted_tags)} predicted sequences.")
    n_true = n_predicted = n_right = 0
    for i, (true, predicted) in enumerate(zip(true_tags, predicted_tags, strict=True)):
        if len(true) != len(predicted):
            raise ValueError(f"Sequence {i} has {len(true)} true but {len(predicted)} predicted tags.")
        true_chunks = set(chunks(true))
        predicted_chunks = set(chunks(predicted))
        n_true += len(true_chunks)
        n_predicted += len(predicted_chunks)
        n_right += len(true_chunks & predicted_chunks)
    precision = n_right / n_predicted if n_predicted else 0.0
    recall = n_right / n_true if n_true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if n_right else 0.0
    return ChunkScore(precision, recall, f1)


def tree_loss(y_true: Sequence[Hashable], y_pred: Sequence[Hashable], taxonomy: Any) -> float:
    """The mean height of the first common ancestor of the true and the predicted class.

    It is counted in edges: 0 for a right class, 1 for a wrong one with the right parent, and so on (Tsochantaridis et
    al. 2004, section 4.2); where the two are not equally deep below that ancestor, the larger number counts. The
    taxonomy is spelt as for ``TaxonomySVC``. Classes may be any nodes, predicted by any classifier:
    ``make_scorer(tree_loss, taxonomy=..., greater_is_better=False)`` makes a score of it.
    """
    if len(y_true) != len(y_pred):
        raise ValueError(f"There are {len(y_true)} true but {len(y_pred)} predicted classes.")
    if len(y_true) == 0:
        raise ValueError("There are no classes to compare.")
    hierarchy = read_hierarchy(taxonomy, chain(y_true, y_pred), "label")
    nodes = set(hierarchy.nodes)
    for i, pair in enumerate(zip(y_true, y_pred, strict=True)):
        for label in pair:
            if label not in nodes:
                raise ValueError(f"Example {i}: the class {plain(label)!r} is not a node of the taxonomy.")
    classes = in_order(chain(y_true, y_pred))
    number, losses = {label: k for k, label in enumerate(classes)}, hierarchy.losses(classes)
    return float(np.mean([losses[number[a], number[b]] for a, b in zip(y_true, y_pred, strict=True)]))


def query_scores(
    y_true: Any, scores: Any, qid: Any = None, measure: str = "map", k: int | None = None, relevant: float = 1
) -> NDArray[np.float64]:
    """A measure of the ranking of every query, in the order in which queries first appear in ``qid``.

    ``"map"`` is average precision and ``"precision_at_k"`` precision among the first k, where rows of level >= relevant
    are relevant; ``"ndcg"`` has gains 2^level - 1 and discounts 1/log2(1 + position), up to position k if given;
    ``"roc_auc"`` is the share of pairs of different level in the right order. NaN marks queries without relevant rows
    (``"roc_auc"``: without pairs), for which a measure is not defined: ``np.nanmean`` leaves them out,
    ``np.nan_to_num(...).mean()`` counts them 0 as the tools of the LETOR collections do.
    """
    if measure not in RANKED_BY:
        raise ValueError(f"measure must be one of {', '.join(map(repr, RANKED_BY))}, got {measure!r}")
    if measure == "precision_at_k" or (measure == "ndcg" and k is not None):
        checked_k(k, measure)
    elif k is not None and measure != "ndcg":
        raise ValueError(f"measure {measure!r} looks at the whole ranking; k is for 'ndcg' and 'precision_at_k'")
    levels, values = np.asarray(y_true, dtype=float), np.asarray(scores, dtype=float)
    if levels.shape != values.shape or levels.ndim != 1:
        raise ValueError(
            f"y_true has shape {levels.shape} but scores have shape {values.shape}; expected one number per row"
        )
    if not len(levels):
        raise ValueError("there are no rows to rank")
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
