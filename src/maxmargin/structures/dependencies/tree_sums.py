"""DependencySums: the distribution of dependency trees p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩, sentence by sentence.

The mass of an arc is the sum of the masses of its labels. Masses of trees are summed by the matrix-tree theorem
(compiled/arborescence_sums.py) or, for projective trees, by spans (compiled/eisner_sums.py). Both keep logarithms of
sums of positive numbers, for scores of any size: the error of log Z is at most a few n² units of rounding of the
largest score.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.dependencies.heads import HeadsOfWords, check_tree, read_heads


class ArcMarginals(NamedTuple):
    """Probabilities in one sentence of n words with L labels, in the order of classes_."""

    heads: Array  # (n, n + 1): the probability of every head of every word, the root first
    labels: Array | None  # (n, n + 1, L): the probability of every head with every label; None without labels


class TreeSum(NamedTuple):
    """Sums over the trees of one sentence."""

    log_z: float  # the logarithm of the sum of exp score over all trees
    heads: Array  # (n, n + 1) probabilities of heads
    table: Array  # (n + 1, n + 1) log Σ exp of the labels of the arc from h to m, at [h, m]
    labels: Array  # (n + 1, n, L) probabilities of labels of the arc from h to m, at [h, m - 1]

    def arcs(self) -> Array:
        """Return (n + 1, n, L): the probabilities of arcs with labels."""
        return self.labels * self.heads.T[:, :, None]


def arc_table(scores: Array) -> Array:
    """Return (n + 1, n + 1): log Σ exp over the labels of (n + 1, n, L) scores."""
    n = scores.shape[1]
    table = np.full((n + 1, n + 1), -np.inf)
    high = scores.max(axis=2)
    table[:, 1:] = high + np.log(np.exp(scores - high[:, :, None]).sum(axis=2))
    return table


def tree_sum(scores: Array, single_root: bool, projective: bool) -> TreeSum:
    """Return the sums over all trees of one sentence, given the scores (n + 1, n, L) of arcs with labels."""
    from maxmargin.structures.dependencies.compiled.arborescence_sums import removed_words, sum_arborescences
    from maxmargin.structures.dependencies.compiled.eisner_sums import span_sums, sum_projective

    n, table = scores.shape[1], arc_table(scores)
    heads = np.empty((n, n + 1))
    if projective:
        log_z = sum_projective(n, bool(single_root), table, span_sums(n), heads)
    else:
        log_z = sum_arborescences(n, bool(single_root), table, removed_words(n), heads)
    return TreeSum(float(log_z), heads, table, np.exp(scores - table[:, 1:, None]))


class DependencySums:
    """The distributions of the trees of sentences with these numbers of words.

    rules : TreeRules, which define the trees and the labels of arcs
    table : table(i) returns the scores (words + 1, words, L) of all arcs of sentence i; it is called whenever they are
    needed
    """

    def __init__(self, rules: Any, lengths: Any, table: Callable[[int], Array]):
        self.rules, self.lengths, self.table = rules, lengths, table

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def log_partitions(self) -> Array:
        return self._summed[0]

    @property
    def entropies(self) -> Array:
        return self._summed[1]

    def marginals(self) -> list[ArcMarginals]:
        found = []
        for i in range(len(self)):
            each = self._sum(i)
            labels = None if self.rules.classes is None else each.arcs().transpose(1, 0, 2)
            found.append(ArcMarginals(each.heads, labels))
        return found

    def log_probabilities(self, Y: Any) -> Array:
        """Return log-probabilities of trees, -inf for impossible ones and unseen labels.

        For a tree without labels, the probabilities of all labels are summed.
        """
        if len(Y) != len(self):
            raise ValueError(f"there are {len(self)} sentences but {len(Y)} trees")
        return np.array([self._score(i, y) for i, y in enumerate(Y)]) - self.log_partitions

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Any]]:
        return [self._drawn(i, rng, n) for i in range(len(self))]

    # --- helpers

    @cached_property
    def _summed(self) -> tuple[Array, Array]:
        log_z, entropies = np.empty(len(self)), np.empty(len(self))
        for i in range(len(self)):
            found = self._sum(i)
            heads = found.heads.T
            likely = heads > 0
            logs = np.log(found.labels, out=np.zeros_like(found.labels), where=found.labels > 0)
            of_labels = -(found.labels * logs).sum(axis=2)
            trees = found.log_z - float(np.dot(heads[likely], found.table[:, 1:][likely]))
            log_z[i], entropies[i] = found.log_z, max(trees, 0.0) + float(np.vdot(heads, of_labels))
        return log_z, entropies

    def _sum(self, i: int) -> TreeSum:
        return tree_sum(self.table(i), self.rules.single_root, self.rules.projective)

    def _score(self, i: int, y: Any) -> float:
        """Return ⟨w, Ψ⟩ of a tree; for heads alone, log Σ exp over all labels."""
        name, classes = f"the tree of sentence {i}", self.rules.classes
        tree, n = read_heads(y, name), int(self.lengths[i])
        check_tree(tree.heads, n, name)
        if tree.labels is not None and classes is None:
            raise ValueError(f"{name} has labels; expected heads alone, as in training")
        try:
            check_tree(tree.heads, n, name, self.rules.single_root, self.rules.projective)
        except ValueError:  # a tree, but not one of those that are summed over
            return -np.inf
        scores, words = self.table(i), np.arange(n)
        if tree.labels is None:
            return float(arc_table(scores)[tree.heads, words + 1].sum())
        numbers = {label: k for k, label in enumerate(classes)}
        if any(label not in numbers for label in tree.labels):
            return -np.inf
        return float(scores[tree.heads, words, [numbers[label] for label in tree.labels]].sum())

    def _drawn(self, i: int, rng: np.random.Generator, n: int) -> list[Any]:
        """Draw n trees of sentence i: heads first, then a label for each of their arcs."""
        found, classes = self._sum(i), self.rules.classes
        heads = self._drawn_heads(found, rng, n)
        words = np.arange(heads.shape[1])
        if classes is None:
            return [HeadsOfWords(each.tolist(), None).as_given() for each in heads]
        ends = np.cumsum(found.labels[heads, words], axis=2)  # (n, words, L)
        labels = (ends < rng.random((*heads.shape, 1)) * ends[:, :, -1:]).sum(axis=2)
        named = [[classes[k] for k in each] for each in labels.tolist()]
        return [HeadsOfWords(a.tolist(), b).as_given() for a, b in zip(heads, named, strict=True)]

    def _drawn_heads(self, found: TreeSum, rng: np.random.Generator, n: int) -> Any:
        from maxmargin.structures.dependencies.compiled.arborescence_sums import draw_arborescences, removed_words
        from maxmargin.structures.dependencies.compiled.eisner_sums import draw_projective, span_sums

        words, single_root = len(found.heads), bool(self.rules.single_root)
        heads = np.empty((n, words), dtype=np.int32)
        if self.rules.projective:
            draw_projective(words, single_root, found.table, span_sums(words), rng.random((n, 4 * words + 8)), heads)
            return heads
        # Draw trees with the same root together.
        chances = found.heads[:, 0]
        roots = rng.choice(words, n, p=chances / chances.sum()) if single_root else np.zeros(n, dtype=np.int64)
        for root in np.unique(roots):
            own = np.flatnonzero(roots == root)
            uniforms = rng.random((len(own), words * (words + 3) // 2))
            some, swapped = np.empty((len(own), words), dtype=np.int32), np.empty(words + 1, dtype=np.int32)
            draw_arborescences(
                words, single_root, found.table, int(root) + 1, removed_words(words), uniforms, swapped, some
            )
            heads[own] = some
        return heads
