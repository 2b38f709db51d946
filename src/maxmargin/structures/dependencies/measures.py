"""Attachment scores: the shares of words with the right head and label (Buchholz and Marsi 2006)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from maxmargin.report.scoring.scorer import Scorer
from maxmargin.structures.dependencies.heads import read_heads


class LabelAttachment(NamedTuple):
    """Scores of one label; an arc is right if both its head and its label are."""

    precision: float  # the share of right arcs among the predicted arcs with this label
    recall: float  # the share of the true arcs with this label that were predicted
    f1: float  # the harmonic mean of precision and recall
    support: int  # the number of true arcs with this label


class AttachmentScores(NamedTuple):
    """Attachment scores of predicted trees, over the words of all sentences together."""

    uas: float  # unlabelled attachment score: the share of words with the right head
    las: float | None  # labelled attachment score: the share with the right head and label; None without labels
    labels: float | None  # the share of words with the right label, even if the head is wrong; None without labels
    exact_match: float  # the share of sentences without a mistake in head or label
    words: int  # the number of words that were counted
    by_label: dict[Hashable, LabelAttachment]  # empty if trees have no labels


def attachment_scores(truth: Sequence[Any], found: Sequence[Any], punctuation: Any = None) -> AttachmentScores:
    """Return UAS, LAS and the scores of every label, for predicted trees compared with the true ones.

    Parameters
    ----------
    truth, found : sequences of trees
        Lists of heads, or of (head, label).
    punctuation : None, or a collection of labels
        Words whose *true* label is in this collection, such as {"punct"}, are not counted. None counts all words.

    Returns
    -------
    AttachmentScores.

    Examples
    --------
    >>> from maxmargin.metrics import attachment_scores
    >>> attachment_scores([[2, 0, 2]], [[2, 0, 1]]).uas
    0.6666666666666666

    See Also
    --------
    attachment_report : the same as a table.
    """
    if len(truth) != len(found):
        raise ValueError(f"There are {len(truth)} true trees but {len(found)} predicted ones.")
    if isinstance(punctuation, str):
        raise ValueError(f"punctuation is the string {punctuation!r}; expected None or a collection of labels")
    left_out = frozenset(() if punctuation is None else punctuation)
    right_heads = right_labels = right_both = words = exact = sentences = 0
    true_counts: Counter[Hashable] = Counter()
    found_counts: Counter[Hashable] = Counter()
    right_counts: Counter[Hashable] = Counter()
    labelled: bool | None = None
    for i, (y, z) in enumerate(zip(truth, found, strict=True)):
        true, other = (
            read_heads(y, f"The true tree of sentence {i}"),
            read_heads(z, f"The predicted tree of sentence {i}"),
        )
        if len(true.heads) != len(other.heads):
            raise ValueError(
                f"The true tree of sentence {i} has {len(true.heads)} words but the predicted one {len(other.heads)}."
            )
        both = true.labels is not None and other.labels is not None
        if labelled not in (None, both):
            raise ValueError(
                f"Sentence {i} has {'' if both else 'no '}labels in both trees, unlike the sentences before it."
            )
        labelled = both
        if left_out and true.labels is None:
            raise ValueError(
                f"punctuation is given, but the true tree of sentence {i} has no labels that could show which words "
                "are punctuation."
            )
        counted = [m for m, label in enumerate(true.labels or true.heads) if not left_out or label not in left_out]
        if not counted:
            continue
        heads = [true.heads[m] == other.heads[m] for m in counted]
        words, right_heads, sentences = words + len(counted), right_heads + sum(heads), sentences + 1
        if true.labels is None or other.labels is None:
            exact += all(heads)
            continue
        same = [true.labels[m] == other.labels[m] for m in counted]
        whole = [a and b for a, b in zip(heads, same, strict=True)]
        right_labels, right_both, exact = right_labels + sum(same), right_both + sum(whole), exact + all(whole)
        true_counts.update(true.labels[m] for m in counted)
        found_counts.update(other.labels[m] for m in counted)
        right_counts.update(true.labels[m] for m, right in zip(counted, whole, strict=True) if right)
    if words == 0:
        raise ValueError("there are no words to score")
    return AttachmentScores(
        uas=right_heads / words,
        las=right_both / words if labelled else None,
        labels=right_labels / words if labelled else None,
        exact_match=exact / sentences,
        words=words,
        by_label={
            label: _label_score(right_counts[label], found_counts[label], true_counts[label])
            for label in sorted(true_counts | found_counts, key=str)
        },
    )


def attachment_report(truth: Sequence[Any], found: Sequence[Any], punctuation: Any = None) -> str:
    """Return the attachment scores as a printable table, with a line for every label, the most frequent ones first.

    Parameters
    ----------
    truth, found, punctuation : sequence
        As for `attachment_scores`.

    Returns
    -------
    str.

    See Also
    --------
    attachment_scores : the numbers.
    """
    scores = attachment_scores(truth, found, punctuation)
    width = max([5, *(len(str(label)) for label in scores.by_label)])
    lines = [f"{'':{width}}  precision  recall     f1  arcs"]
    for label, (precision, recall, f1, support) in sorted(scores.by_label.items(), key=lambda item: -item[1].support):
        lines.append(f"{label!s:{width}}  {precision:9.3f}  {recall:6.3f}  {f1:5.3f}  {support:4d}")
    lines.append(
        f"UAS {scores.uas:.3f}" + ("" if scores.las is None else f", LAS {scores.las:.3f}") + f", {scores.words} words"
    )
    return "\n".join(lines if scores.by_label else lines[-1:])


def _label_score(right: int, found: int, true: int) -> LabelAttachment:
    precision, recall = right / found if found else 0.0, right / true if true else 0.0
    return LabelAttachment(precision, recall, 2 * right / (found + true), true)


uas_scorer = Scorer(attachment_scores, "uas")
las_scorer = Scorer(attachment_scores, "las")
