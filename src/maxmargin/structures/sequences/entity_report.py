"""Entity scores as they are published for named entity recognition: by kind of match and by type, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_real
from maxmargin.report.intervals import LEVEL, Interval, drawn_sums, interval_of
from maxmargin.report.scoring.counted import in_documents, summed
from maxmargin.structures.sequences.entities import paired_entities
from maxmargin.structures.sequences.entity_matching import EntityMatch, MatchCounts, match_counts

MATCHES: tuple[EntityMatch, ...] = get_args(EntityMatch)
ALL = "micro avg"
MEAN = "macro avg"


class EntityScore(NamedTuple):
    """Scores of one type, or of all together; each is an Interval with `value`, `low` and `high`.

    A ratio of nothing has the value 0. Its interval is that of the samples for which it is defined.
    """

    precision: Interval
    recall: Interval
    f1: Interval
    counts: MatchCounts | None  # None for a mean over types


@dataclass(frozen=True)
class EntityReport:
    """The result of `entity_report`; printed, it is a table.

    Attributes
    ----------
    types : dict
        `types[match][type]` is the EntityScore of a type. Only entities of this type are compared with each other.
    micro : dict
        `micro[match]` is the EntityScore of the entities of all types together.
    macro : dict
        `macro[match]` has the means of the scores of all types.
    documents : int
        The number of documents that were resampled for the intervals.

    Examples
    --------
    >>> from maxmargin.metrics import entity_report
    >>> report = entity_report([["B-PER", "I-PER"]], [["B-PER", "O"]])
    >>> report.micro["strict"].f1.value, report.micro["partial"].f1.value, report.micro["type"].f1.value
    (0.0, 0.5, 1.0)
    """

    types: dict[str, dict[str, EntityScore]]
    micro: dict[str, EntityScore]
    macro: dict[str, EntityScore]
    documents: int

    def _named(self) -> Iterator[tuple[str, str, EntityScore]]:
        for match in self.micro:
            yield from ((match, name, score) for name, score in self.types[match].items())
            yield match, ALL, self.micro[match]
            yield match, MEAN, self.macro[match]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for every kind of match and type, for a data frame or a file."""
        found = []
        for match, name, score in self._named():
            counts = (None,) * len(MatchCounts._fields) if score.counts is None else score.counts
            row: dict[str, Any] = {"match": match, "type": name, **dict(zip(MatchCounts._fields, counts, strict=True))}
            for measure in ("precision", "recall", "f1"):
                interval: Interval = getattr(score, measure)
                row |= {measure: interval.value, f"{measure}_low": interval.low, f"{measure}_high": interval.high}
            found.append(row)
        return found

    def __str__(self) -> str:
        width = max(len(name) for _, name, _ in self._named())
        head = "".join(f" {name:>9}" for name in (*MatchCounts._fields, "precision", "recall", "f1"))
        lines: list[str] = []
        shown = None
        for match, name, score in self._named():
            if match != shown:
                lines += ["", f"{match:<{width}}{head}  {LEVEL:.0%} interval of f1"]
                shown = match
            counts = "".join(f" {'' if score.counts is None else score.counts[k]:>9}" for k in range(5))
            shares = "".join(f" {each.value:>9.3f}" for each in score[:3])
            interval = "" if np.isnan(score.f1.low) else f"  {score.f1.low:.3f} to {score.f1.high:.3f}"
            lines.append(f"{name:<{width}}{counts}{shares}{interval}")
        return "\n".join(lines[1:])


def entity_report(
    truth: Any,
    found: Any,
    *,
    matches: Sequence[EntityMatch] = MATCHES,
    scheme: str | None = None,
    min_overlap: float = 0.01,
    documents: Any = None,
    seed: int = 0,
) -> EntityReport:
    """Score predicted entities by strict, exact, partial and type-only matches, per type, with intervals.

    "strict" demands equal bounds and types, as `chunk_f1`; "exact" equal bounds; "partial" counts an overlap with other
    bounds as one half, whatever the types; "type" demands an overlap and equal types. These are the definitions of
    MUC-5 and SemEval-2013, as the package nervaluate counts them ("type" is its "ent_type").

    Parameters
    ----------
    truth, found : sequence
        For every document its chunk labels, in any chunk scheme, or its spans: tuples (start, end, type), such as
        `predict_spans` returns. Spans may overlap each other.
    matches : sequence of str
        The kinds of match to report.
    scheme : None, "BIO", "BILOU" or "IOBES"
        None: a label that cannot continue a chunk begins one, as in conlleval and in the default mode of seqeval. A
        scheme: only chunks that are labelled as the scheme demands count, as in the strict mode of seqeval.
    min_overlap : float
        The share of a true entity that a prediction must cover to be compared with it, more than 0 and at most 1.
    documents : sequence or None
        The document of every element of truth, if elements are sentences of documents; whole documents are resampled
        for the intervals. None: every element is a document.
    seed : int
        The seed of the resampling; the same seed gives the same intervals.

    Returns
    -------
    EntityReport, which prints as a table; its attributes and `rows()` have the numbers.

    Examples
    --------
    >>> from maxmargin.metrics import entity_report
    >>> truth = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG"]]
    >>> found = [["B-PER", "I-PER", "O", "B-ORG"], ["O", "B-ORG"]]
    >>> report = entity_report(truth, found)
    >>> report.micro["exact"].f1.value, report.types["strict"]["ORG"].precision.value
    (1.0, 0.5)

    See Also
    --------
    paired_test : compares two models.   chunk_report : the strict scores without intervals.
    """
    matches = [_checked_match(match) for match in matches]
    if not matches:
        raise ValueError(f"matches is empty; expected some of {', '.join(map(repr, MATCHES))}")
    pairs = paired_entities(truth, found, scheme)
    overlap = _checked_overlap(min_overlap)
    owners, n = in_documents(len(pairs), documents)
    kinds = sorted({entity.type for pair in pairs for entities in pair for entity in entities})
    counts = np.zeros((len(pairs), len(matches), len(kinds) + 1, len(MatchCounts._fields)))
    places = {kind: k for k, kind in enumerate(kinds)}
    for i, (true, predicted) in enumerate(pairs):
        here = {entity.type for entity in (*true, *predicted)}
        for j, match in enumerate(matches):
            counts[i, j, -1] = match_counts(true, predicted, match, overlap)
            for kind in here:
                mine, yours = ([each for each in entities if each.type == kind] for entities in (true, predicted))
                counts[i, j, places[kind]] = match_counts(mine, yours, match, overlap)
    by_document = summed(counts, owners, n)
    sums = np.concatenate([by_document.sum(axis=0)[None], _resampled(by_document, seed)])
    types: dict[str, dict[str, EntityScore]] = {}
    micro: dict[str, EntityScore] = {}
    macro: dict[str, EntityScore] = {}
    for j, match in enumerate(matches):
        each = _ratios(sums[:, j])
        whole = [MatchCounts(*map(int, row)) for row in sums[0, j]]
        scores = [_score([ratio[:, k] for ratio in each], n, whole[k]) for k in range(len(kinds) + 1)]
        types[match], micro[match] = dict(zip(kinds, scores, strict=False)), scores[-1]
        occurs = ~np.isnan(each[2][:, :-1])
        macro[match] = _score([_mean_of_types(ratio[:, :-1], occurs) for ratio in each], n, None)
    return EntityReport(types, micro, macro, n)


class EntityF1:
    """The F1 of entities as a measure for `Scorer` and `paired_test`.

    Parameters
    ----------
    match : "strict", "exact", "partial" or "type"
        The kind of match, as in `entity_report`.
    scheme, min_overlap : str or None, float
        As in `entity_report`.

    Examples
    --------
    >>> from maxmargin.metrics import EntityF1
    >>> EntityF1("partial")([["B-PER", "I-PER"]], [["B-PER", "O"]])
    0.5

    See Also
    --------
    entity_report : all scores.   paired_test : compares two models by such a measure.
    """

    def __init__(self, match: EntityMatch = "strict", scheme: str | None = None, min_overlap: float = 0.01):
        self.match, self.scheme, self.min_overlap = _checked_match(match), scheme, _checked_overlap(min_overlap)

    def __call__(self, truth: Any, found: Any) -> float:
        value = self.of_sums(self.counts(truth, found).sum(axis=0)[None])[0]
        return float(np.nan_to_num(value))

    def counts(self, truth: Any, found: Any) -> Array:
        """Return the counts of every document."""
        pairs = paired_entities(truth, found, self.scheme)
        each = [match_counts(true, predicted, self.match, self.min_overlap) for true, predicted in pairs]
        return np.array(each, dtype=float).reshape(len(each), len(MatchCounts._fields))

    def of_sums(self, sums: Array) -> Array:
        """Return the F1 of sums of counts; NaN if there are no entities."""
        return _ratios(sums)[2]

    def __repr__(self) -> str:
        return f"EntityF1(match={self.match!r}, scheme={self.scheme!r}, min_overlap={self.min_overlap!r})"


def _ratios(counts: Array) -> tuple[Array, Array, Array]:
    """Return precision, recall and F1 of (…, 5) counts; NaN where there is nothing to count."""
    correct, incorrect, partial, missed, spurious = np.moveaxis(counts, -1, 0)
    right, matched = correct + partial / 2, correct + incorrect + partial
    found, true = matched + spurious, matched + missed
    return _ratio(right, found), _ratio(right, true), _ratio(2 * right, found + true)


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)


def _mean_of_types(ratios: Array, occurs: Array) -> Array:
    """Return the mean over the types that occur in a sample, true or predicted; a ratio of nothing is 0."""
    n = occurs.sum(axis=1)
    return _ratio(np.nansum(ratios, axis=1), n)


def _score(drawn: Sequence[Array], n: int, counts: MatchCounts | None) -> EntityScore:
    """Return the scores whose values are the first elements, and whose intervals are those of all others."""
    precision, recall, f1 = (interval_of(float(np.nan_to_num(each[0])), each[1:], n) for each in drawn)
    return EntityScore(precision, recall, f1, counts)


def _resampled(counts: Array, seed: int) -> Array:
    """Return sums of the counts of resampled documents, for many samples."""
    n, *shape = counts.shape
    if n == 0:
        return np.zeros((0, *shape))
    return drawn_sums(counts.reshape(n, -1), np.random.default_rng(seed)).reshape(-1, *shape)


def _checked_match(match: EntityMatch) -> EntityMatch:
    if match not in MATCHES:
        raise ValueError(f"match is {match!r}; expected one of {', '.join(map(repr, MATCHES))}")
    return match


def _checked_overlap(share: float) -> float:
    if not is_real(share) or not 0 < share <= 1:
        raise ValueError(f"min_overlap is {share!r}; expected a share of the true entity, more than 0 and at most 1")
    return float(share)
