"""ScoredArcs: the scores of all arcs of some sentences, and the search for their best trees."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, Index
from maxmargin.structures.dependencies.compiled.arc_arrays import CodedSentences
from maxmargin.structures.dependencies.heads import HeadsOfWords

Codes = NDArray[np.int64]


class FoundTrees(NamedTuple):
    """Heads and numbers of labels (-1 without labels) of all words, one sentence after the other."""

    bounds: Codes  # the beginning of each sentence
    heads: NDArray[np.int32]
    labels: NDArray[np.int32]


class ArcTables(NamedTuple):
    """The positions of the arcs and words of some sentences in arrays of all sentences."""

    ids: Index  # the numbers of the sentences
    arcs: Codes  # the table of sentence j, (n + 1) × (n + 1), begins at arcs[j]
    words: Codes  # its words begin at words[j]
    longest: int  # the number of words of the longest sentence

    @classmethod
    def of(cls, lengths: Codes, ids: Index) -> ArcTables:
        own = lengths[ids]
        arcs, words = np.append(0, np.cumsum((own + 1) ** 2)), np.append(0, np.cumsum(own))
        return cls(ids, arcs, words, int(own.max(initial=0)))


class ArcSizes(NamedTuple):
    """Bounds on the sizes of arcs at some w, from which rounding errors are bounded."""

    score: float  # a bound on Σ_j |f_j w_j| over all arcs,
    terms: int  # on the number of features,
    length: float  # and on the length of the feature vector


class ScoredArcs(NamedTuple):
    """Scores without losses. For a true arc the table has the best wrong label, and `right` has the true one.

    Every entry that is not the truth then has the same cost in every loss: see compiled/arc_scores.py.
    """

    tables: ArcTables  # the positions of arcs and words
    sentences: CodedSentences  # the words and the true trees
    scores: Array  # the score of every arc with its best label
    labels: NDArray[np.int32]  # the best label of every arc; -1 without labels
    right: Array  # the score of the true arc of every word

    def best(self, prices: Array, single_root: bool, projective: bool) -> FoundTrees:
        """Return the trees with the highest score, where every arc that is not the truth scores `prices` more."""
        from maxmargin.structures.dependencies.compiled.arborescence import contraction
        from maxmargin.structures.dependencies.compiled.eisner import span_scores
        from maxmargin.structures.dependencies.compiled.tree_search import best_trees

        longest, words = self.tables.longest, self.tables.words
        found = FoundTrees(words, np.empty(words[-1], dtype=np.int32), np.empty(words[-1], dtype=np.int32))
        scratch = contraction(0 if projective else longest), span_scores(longest if projective else 0)
        best_trees(self, prices, bool(single_root), bool(projective), *scratch, found)
        return found

    def alone(self, j: int) -> ScoredArcs:
        """Return the scores of one sentence."""
        (ids, arcs, words, _), n = self.tables, int(self.sentences.lengths[self.tables.ids[j]])
        own, own_words = slice(arcs[j], arcs[j + 1]), slice(words[j], words[j + 1])
        tables = ArcTables(ids[j : j + 1], np.array([0, (n + 1) ** 2]), np.array([0, n]), n)
        return ScoredArcs(tables, self.sentences, self.scores[own], self.labels[own], self.right[own_words])


def best_labels_of_arcs(tables: ArcTables, sentences: Any, scores: list[Array], labelled: bool) -> ScoredArcs:
    """Return the best label of every arc, from the scores (words + 1, words, L) of every sentence.

    If truths are known, the scores of true arcs are replaced by -inf in place.
    """
    right = np.empty(tables.words[-1])
    found, labels = np.full(tables.arcs[-1], -np.inf), np.full(tables.arcs[-1], -1, dtype=np.int32)
    for j, (i, own) in enumerate(zip(tables.ids.tolist(), scores, strict=True)):
        at, n = int(sentences.starts[i]), int(sentences.lengths[i])
        heads, known = sentences.heads[at + 1 : at + n + 1], sentences.labels[at + 1 : at + n + 1]
        if n and heads[0] >= 0:
            words, of = np.arange(n), np.maximum(known, 0)
            right[tables.words[j] : tables.words[j + 1]] = own[heads, words, of]
            own[heads, words, of] = -np.inf
        table = found[tables.arcs[j] : tables.arcs[j + 1]].reshape(n + 1, n + 1)
        table[:, 1:] = own.max(axis=2)
        if labelled:
            labels[tables.arcs[j] : tables.arcs[j + 1]].reshape(n + 1, n + 1)[:, 1:] = own.argmax(axis=2)
    return ScoredArcs(tables, sentences, found, labels, right)


def as_trees(found: FoundTrees, names: Sequence[Any] | None) -> list[list[Any]]:
    """Return trees in the form that users give: heads, or pairs of head and label."""
    heads, numbers, bounds = found.heads.tolist(), found.labels.tolist(), found.bounds.tolist()
    labels = None if names is None else [names[k] for k in numbers]
    return [HeadsOfWords(heads[a:b], None if labels is None else labels[a:b]).as_given() for a, b in pairwise(bounds)]
