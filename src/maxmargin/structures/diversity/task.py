"""Diversity: choose k documents that together cover many subtopics, judging by the words that they cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_real, is_whole
from maxmargin.base.files.fields import Each, OneOf, Part, Texts, Whole
from maxmargin.base.files.objects import Fields
from maxmargin.base.search import Search
from maxmargin.problem.contract.task import Task
from maxmargin.structures.diversity.batch import DiversityBatch, PackedQuery, best_set
from maxmargin.structures.diversity.documents import ANY, WordCounts, read, read_all
from maxmargin.structures.diversity.subtopics import Subtopics, SubtopicWeights, checked_weights
from maxmargin.structures.diversity.subtopics import read_all as read_subtopics
from maxmargin.structures.diversity.target import target
from maxmargin.structures.diversity.word_coverage import Level, WordCoverage, greedy_order

THRESHOLDS = (0.0, 0.03, 0.06, 0.12, 0.25, 0.5)


class Chosen(NamedTuple):
    """A set of documents, in the order in which they were chosen.

    Attributes
    ----------
    documents : tuple of int
        The numbers of the documents.

    See Also
    --------
    Diversity : The task whose outputs these are.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> tasks.Chosen((2, 0)).documents
    (2, 0)
    """

    documents: tuple[int, ...]


class Diversity(Task):
    """Choice of k documents that cover many subtopics, by learnt values of the words that they cover.

    x are the candidate documents of a query, y the subtopics of each of them, and an output z a set of k documents:

        Ψ(x, z) = Σ_l Σ_{v in V_l(z)} φ_l(v, x) + Σ_{d in z} ψ(d),      Δ(y, z) = (c(z*) - c(z)) / c(x)

    (Joachims et al. 2009, section 3.1; Yue and Joachims 2008). V_l(z) are the words that documents of z contain at
    level l, φ_l the thresholds of word_coverage.py, ψ(d) the document's own features if there are any. c(z) is the
    weight of the subtopics that z covers. z* is a set of k documents of the largest coverage (found exactly), so that
    Δ >= 0 is the share that z covers less. If there are several such sets, target.py chooses one by the importance of
    the words that it covers.

    The search is greedy. Without y and with values ⟨w, φ⟩ >= 0 it reaches 1 - 1/e of the best value (Nemhauser, Wolsey
    and Fisher 1978). With the loss it does not: covering a subtopic lowers the loss, so that subtopics act as words of
    negative value, and a difference of two coverages has no such ratio. Training instead uses a bound on what the
    greedy search can miss, computed for every plane (compiled/coverage.py). In training the greedy set is improved by
    swapping documents; predictions are the plain greedy order.

    Parameters
    ----------
    k : int
        The number of documents to choose.
    thresholds : sequence of float
        Shares of the candidate documents. A word has one feature for each: whether at least this share contains it.
    levels : sequence of str or (str, int), or None
        When a document contains a word: the name of a field, or (field, least number of times); "any" is all fields
        together. Words have features of their own at each level. None: every field by itself.
    subtopic_weights : "documents" or "equal"
        Whether a subtopic weighs as much as it has documents, or all weigh the same.
    vectorizer : object or None
        Any vectorizer of scikit-learn, which counts the words of texts; None is CountVectorizer(). A copy is fitted to
        the documents of each query.

    See Also
    --------
    maxmargin.Diversifier : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> task = tasks.Diversity(k=2, thresholds=[0.0])
    >>> X, Y = [["red apple", "red", "blue"]], [[{"red"}, {"red"}, {"blue"}]]
    >>> task.setup(X, Y)
    >>> task.argmax(np.ones(1), X[0])  # with weight 1 for every word covered
    Chosen(documents=(0, 2))
    """

    search = Search.UNDERGENERATING

    saved: ClassVar[Fields] = {
        "k": Whole(1),
        "vectorizer": OneOf(None),
        "fields_": Texts(different=True),
        "n_document_features_": Whole(),
        "document_feature_names_": OneOf(None, Texts("n_document_features_")),
        "levels_": Each(Part(Level)),
    }

    def __init__(
        self,
        k: int = 5,
        thresholds: Sequence[float] = THRESHOLDS,
        levels: Sequence[Any] | None = None,
        subtopic_weights: SubtopicWeights = "documents",
        vectorizer: Any = None,
    ):
        self.k = k
        self.thresholds = thresholds
        self.levels = levels
        self.subtopic_weights = subtopic_weights
        self.vectorizer = vectorizer

    def _check_saved(self) -> None:
        thresholds = _checked_thresholds(self.thresholds)
        if self.dim != len(self.levels_) * len(thresholds) + self.n_document_features_:
            raise ValueError(f"dim is {self.dim}, which does not match its levels, thresholds and document features")
        if any(level.field not in (ANY, *self.fields_) for level in self.levels_):
            raise ValueError(f"levels name an unknown field; expected one of {', '.join((ANY, *self.fields_))}")

    levels_: list[Level]
    fields_: list[str]
    n_document_features_: int
    document_feature_names_: list[str] | None

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        if not is_whole(self.k) or self.k < 1:
            raise ValueError(f"k must be a whole number of documents, 1 or more, got {self.k!r}")
        checked_weights(self.subtopic_weights)
        thresholds = _checked_thresholds(self.thresholds)
        queries = read_all(X, self.vectorizer)
        read_subtopics(Y, list(map(len, queries)), self.subtopic_weights)
        self.fields_ = list(queries[0].fields)
        self.n_document_features_ = queries[0].features.shape[1]
        names = (query.feature_names for query in queries)
        self.document_feature_names_ = next((each for each in names if each is not None), None)
        self.levels_ = _read_levels(self.levels, self.fields_)
        self.dim = len(self.levels_) * len(thresholds) + self.n_document_features_
        self._coverages(queries)

    def feature_names(self) -> list[str]:
        """Return a name for every coordinate of Ψ."""
        words = [f"{level} >= {100 * t:g}%" for level in self.levels_ for t in self.thresholds]
        return words + [f"document {name}" for name in self.document_features()]

    def document_features(self) -> Sequence[str | int]:
        """Return the names of the document features, or their numbers if they have no names."""
        return self.document_feature_names_ or range(self.n_document_features_)

    def split_weights(self, w: Array) -> dict[str, Array]:
        """Split w into the weights of covered words (levels, thresholds) and of document features, if any."""
        words = len(self.levels_) * len(self.thresholds)
        found = {"words": w[:words].reshape(len(self.levels_), len(self.thresholds))}
        return {**found, "documents": w[words:]} if self.n_document_features_ else found

    # --- the plain form: one example at a time

    def psi(self, x: Any, z: Any) -> Array:
        coverage = self._coverage(x)
        if isinstance(z, Chosen):
            return coverage.psi(z.documents)
        (subtopics,) = read_subtopics([z], [coverage.n], self.subtopic_weights)
        return coverage.psi(target(coverage, subtopics, self.k))

    def loss(self, y: Any, z: Any) -> float:
        subtopics = y if isinstance(y, Subtopics) else Subtopics(y, self.subtopic_weights)
        if not isinstance(z, Chosen):  # y itself stands for the target
            return 0.0
        return (subtopics.most(self.k) - subtopics.covered(z.documents)) / subtopics.total

    def argmax(self, w: Array, x: Any, y: Any = None) -> Chosen:
        coverage = self._coverage(x)
        if y is None:
            return Chosen(tuple(self._ranked(w, coverage, self.k).tolist()))
        (query,) = self.pack([x], [y]).queries
        return Chosen(tuple(best_set(w, query, 1.0).order.tolist()))

    def outputs(self, x: Any) -> Iterator[Chosen]:
        return map(Chosen, combinations(range(len(read(x, self.vectorizer))), self.k))

    # --- all examples at a time

    def decode(self, w: Array, X: Sequence[Any]) -> list[Chosen]:
        return [Chosen(tuple(order.tolist())) for order in self.ranked(w, X, self.k)]

    def ranked(self, w: Array, X: Sequence[Any], n: int | None = None) -> list[NDArray[np.int64]]:
        """Return the greedy order of the documents of each query: all, or the first n; ties keep the given order."""
        coverages = self._coverages(read_all(X, self.vectorizer, wordless=True), n or 1)
        return [self._ranked(w, each, n or each.n) for each in coverages]

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> DiversityBatch:
        coverages = self._coverages(read_all(X, self.vectorizer))
        labels = read_subtopics(Y, [each.n for each in coverages], self.subtopic_weights)
        return DiversityBatch(self, [PackedQuery(c, s, self.k) for c, s in zip(coverages, labels, strict=True)])

    # --- inside

    def _ranked(self, w: Array, coverage: WordCoverage, n: int) -> NDArray[np.int64]:
        return greedy_order(coverage.indptr, coverage.items, coverage.values(w), coverage.base(w), n)

    def _coverage(self, x: Any) -> WordCoverage:
        return WordCoverage(read(x, self.vectorizer), self.levels_, self.thresholds)

    def _coverages(self, queries: list[WordCounts], least: int | None = None) -> list[WordCoverage]:
        """Return the items of every query after checking fields, features and the least number of documents (k)."""
        least = self.k if least is None else least
        for i, query in enumerate(queries):
            if len(query) < least:
                raise ValueError(
                    f"query {i} has {len(query)} documents, but {least} are to be chosen; use a smaller k, "
                    "leave the query out, or ask rank for all of its documents"
                )
            if list(query.fields) != self.fields_:
                raise ValueError(
                    f"query {i} has the fields {', '.join(query.fields)}; expected {', '.join(self.fields_)} as in "
                    "training"
                )
            if query.features.shape[1] != self.n_document_features_:
                raise ValueError(
                    f"query {i} has {query.features.shape[1]} features per document; expected "
                    f"{self.n_document_features_} as in training"
                )
            names, known = query.feature_names, self.document_feature_names_
            if names is not None and known is not None and names != known:
                raise ValueError(
                    f"query {i} has the document features {', '.join(names)}; expected {', '.join(known)} as in "
                    "training"
                )
        return [WordCoverage(query, self.levels_, self.thresholds) for query in queries]


def _checked_thresholds(thresholds: Any) -> list[float]:
    listed = list(thresholds) if isinstance(thresholds, Iterable) else []
    numbers = [float(t) for t in listed if is_real(t) and 0 <= float(t) <= 1]
    if not numbers or len(numbers) < len(listed):
        raise ValueError(f"thresholds are {thresholds!r}; expected shares of documents, numbers from 0 to 1")
    if any(a >= b for a, b in pairwise(numbers)):
        raise ValueError(f"thresholds are {thresholds!r}; expected strictly increasing numbers")
    return numbers


def _read_levels(levels: Any, fields: list[str]) -> list[Level]:
    if levels is None:
        return [Level(field) for field in fields]
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
        raise ValueError(f"levels are {levels!r}; expected a list of fields, or of (field, times)")
    found = []
    for level in levels:
        field, times = (level, 1) if isinstance(level, str) else level if _is_pair(level) else (None, 1)
        if field not in (ANY, *fields):
            raise ValueError(
                f"there is no level {level!r}; expected one of "
                f"{', '.join(map(repr, (ANY, *fields)))}, or (field, times)"
            )
        if not is_whole(times) or times < 1:
            raise ValueError(f"the level {level!r} asks for {times!r} times; expected a whole number, 1 or more")
        found.append(Level(str(field), int(times)))
    if len(set(found)) < len(found):
        raise ValueError(f"levels are {levels!r}; expected different levels")
    return found


def _is_pair(level: Any) -> bool:
    return isinstance(level, tuple | list) and len(level) == 2
