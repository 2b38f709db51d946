"""ArcSpace: dependency trees, searched by the scores of all arcs with all labels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.problem.contract.score_capabilities import SoftOutputs
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.structures.dependencies.compiled.arc_arrays import CodedSentences
from maxmargin.structures.dependencies.heads import check_tree, read_heads
from maxmargin.structures.dependencies.scored_arcs import ArcTables, Codes, FoundTrees, ScoredArcs, best_labels_of_arcs
from maxmargin.structures.dependencies.tree_sums import DependencySums, tree_sum


class TreeRules(NamedTuple):
    """The trees that are outputs, and the labels of their arcs."""

    single_root: bool  # exactly one word has the head 0
    projective: bool  # no arcs cross
    classes: Sequence[Hashable] | None  # the labels; None if arcs have no labels

    @property
    def n_labels(self) -> int:
        """The number of scores of an arc: one for each label, or one."""
        return 1 if self.classes is None else len(self.classes)


class ArcSpace:
    """The dependency trees of n sentences, as a ScoreSpace (problem/contract/scored.py).

    Scores are one array, with all sentences concatenated: a sentence of m words has (m + 1) · m · L numbers, of the
    arc from head h (0: the root) to word d with label l at [h, d - 1, l], where L is the number of labels, or 1 without
    labels. `tables` cuts such an array into the tables of the sentences. Arcs from a word to itself do not count.
    Found outputs are FoundTrees: `heads` and `labels` (-1 without labels) of all words; sentence j has the entries
    bounds[j]:bounds[j + 1].

    Parameters
    ----------
    sentences : CodedSentences
        CodedSentences, of which lengths, heads and labels are read; heads are -1 if truths are not known.
    ids : array of int
        The numbers of the n sentences among these.
    prices : array of shape (n,) or None
        The cost of a word with a wrong arc; None if truths are not known.
    """

    def __init__(self, sentences: Any, ids: Any, rules: TreeRules, prices: Array | None = None):
        self.sentences, self.ids, self.rules, self.prices = sentences, ids, rules, prices

    @classmethod
    def of_lengths(
        cls,
        lengths: Any,
        n_labels: int = 0,
        truth: Sequence[Any] | None = None,
        single_root: bool = True,
        projective: bool = False,
        price: float = 1.0,
    ) -> ArcSpace:
        """Make the space of sentences with these numbers of words, and labels 0 … n_labels - 1 (0: no labels).

        truth : None, or the tree of every sentence: a list of heads, or of pairs (head, label)
        price : the cost of a word with a wrong head or label
        """
        rules = TreeRules(bool(single_root), bool(projective), range(n_labels) if n_labels else None)
        own, none = np.asarray(lengths, dtype=np.int64), np.zeros(0, dtype=np.int64)
        starts = np.append(0, np.cumsum(own + 1))[:-1]
        heads, labels = (np.full(int((own + 1).sum()), -1, dtype=np.int64) for _ in range(2))
        for j, y in enumerate(truth or ()):
            name = f"the tree of sentence {j}"
            tree = read_heads(y, name)
            check_tree(tree.heads, int(own[j]), name, rules.single_root, rules.projective)
            if (tree.labels is None) != (rules.classes is None) or not set(tree.labels or ()) <= set(range(n_labels)):
                raise ValueError(f"{name} is {y!r}; expected {n_labels or 'no'} labels")
            words = slice(starts[j] + 1, starts[j] + 1 + own[j])
            heads[words] = tree.heads
            if tree.labels is not None:
                labels[words] = np.array(tree.labels, dtype=np.int64)
        sentences = CodedSentences(none, none, none, starts, own, heads, labels)
        return cls(sentences, np.arange(len(own)), rules, None if truth is None else np.full(len(own), float(price)))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def truth(self) -> FoundTrees | None:
        """The true trees."""
        if self.prices is None:
            return None
        heads, labels = self.sentences.heads[self._words], self.sentences.labels[self._words]
        return FoundTrees(self._tables.words, heads.astype(np.int32), labels.astype(np.int32))

    def tables(self, scores: Array) -> list[Array]:
        """Return the scores (words + 1, words, L) of every sentence, as views of the array."""
        lengths, L = self.sentences.lengths[self.ids], self.rules.n_labels
        bounds = np.append(0, np.cumsum((lengths + 1) * lengths * L))
        if np.shape(scores) != (bounds[-1],):
            raise ValueError(f"the scores have shape {np.shape(scores)}; expected ({bounds[-1]},)")
        parts = zip(pairwise(bounds.tolist()), lengths.tolist(), strict=True)
        return [scores[a:b].reshape(n + 1, n, L) for (a, b), n in parts]

    def best(self, scores: Any, augment: float | Array = 0.0) -> BestOutputs:
        """Return the tree with the highest score + augment · loss of every sentence."""
        scores = np.array(scores, dtype=np.float64)  # a copy, because the search removes the true arcs from it
        arcs = best_labels_of_arcs(self._tables, self.sentences, self.tables(scores), self.rules.classes is not None)
        found = self.searched(arcs, augment)
        return BestOutputs(found, self._values(arcs, found, augment))

    def searched(self, arcs: ScoredArcs, augment: float | Array = 0.0) -> FoundTrees:
        """Return the trees with the highest score + augment · loss, given the best label of every arc."""
        lam = np.full(len(self), augment, dtype=float)
        if self.prices is None and lam.any():
            need_truth(None)
        prices = lam if self.prices is None else lam * self.prices
        return arcs.best(prices, self.rules.single_root, self.rules.projective)

    def losses(self, found: FoundTrees) -> Array:
        """Return the loss of every tree."""
        need_truth(self.prices)
        assert self.prices is not None
        wrong = self._wrong(found)
        return np.add.reduceat(wrong.astype(float), found.bounds[:-1]) * self.prices if len(self) else np.zeros(0)

    def indicator(self, found: FoundTrees, weights: Array | None = None) -> Array:
        """Return an array like scores: weights[j], or 1, for the arcs of the tree of sentence j, and 0 elsewhere."""
        lengths = self.sentences.lengths[self.ids]
        counts = np.zeros(int(((lengths + 1) * lengths).sum()) * self.rules.n_labels)
        for j, table in enumerate(self.tables(counts)):
            table[self._arcs(found, j)] = 1.0 if weights is None else weights[j]
        return counts

    def sums(self, scores: Any) -> DependencySums:
        """Return the distributions of the trees of every sentence."""
        tables = self.tables(np.asarray(scores, dtype=float))
        return DependencySums(self.rules, self.sentences.lengths[self.ids], tables.__getitem__)

    def totals(self, scores: Any, found: FoundTrees) -> Array:
        """Return the score of every tree."""
        tables = self.tables(np.asarray(scores, dtype=float))
        return np.array([table[self._arcs(found, j)].sum() for j, table in enumerate(tables)], dtype=float)

    def soft_best(
        self, scores: Any, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maxima over trees, and the probabilities of arcs times weights[j]."""
        raised, b = np.array(scores, dtype=float), sharpness
        lam, values, counts = np.full(len(self), augment, dtype=float), np.empty(len(self)), np.zeros_like(raised)
        if lam.any():
            need_truth(self.prices)
        truth = self.truth if lam.any() else None
        for j, (table, own) in enumerate(zip(self.tables(raised), self.tables(counts), strict=True)):
            if truth is not None and self.prices is not None:
                right = table[self._arcs(truth, j)]
                table += lam[j] * self.prices[j]
                table[self._arcs(truth, j)] = right
            found = tree_sum(b * table, self.rules.single_root, self.rules.projective)
            values[j] = found.log_z / b
            own[...] = found.arcs() * (1.0 if weights is None else weights[j])
        return SoftOutputs(values, counts)

    # --- helpers

    def _arcs(self, found: FoundTrees, j: int) -> tuple[Any, Any, Any]:
        """Return the places of the arcs of the tree of sentence j in its table."""
        words = slice(found.bounds[j], found.bounds[j + 1])
        heads = found.heads[words]
        return heads, np.arange(len(heads)), np.maximum(found.labels[words], 0)

    @property
    def _tables(self) -> ArcTables:
        return ArcTables.of(self.sentences.lengths, self.ids)

    @property
    def _words(self) -> Codes:
        """The positions of all words of these sentences among the words and roots of all sentences."""
        of = self.sentences
        each = [of.starts[i] + 1 + np.arange(of.lengths[i]) for i in self.ids]
        return np.concatenate([np.zeros(0, dtype=np.int64), *each])

    def _wrong(self, found: FoundTrees) -> Any:
        words = self._words
        return (found.heads != self.sentences.heads[words]) | (found.labels != self.sentences.labels[words])

    def _values(self, arcs: ScoredArcs, found: FoundTrees, augment: float | Array) -> Array:
        """Return score + augment · loss of the trees, from the scores of arcs with their best labels."""
        words = np.diff(found.bounds)
        owner = np.repeat(np.arange(len(self)), words)
        dependents = np.arange(found.bounds[-1]) - found.bounds[:-1][owner] + 1
        each = arcs.scores[arcs.tables.arcs[owner] + found.heads * (words[owner] + 1) + dependents]
        if self.prices is None:
            return np.asarray(np.bincount(owner, each, len(self)), dtype=float)
        each = np.where(self._wrong(found), each, arcs.right)
        return np.asarray(np.bincount(owner, each, len(self)) + augment * self.losses(found), dtype=float)
