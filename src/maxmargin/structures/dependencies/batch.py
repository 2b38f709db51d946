"""DependencyBatch: packed sentences with their true trees, and the searches of training."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.rounding import UNIT, gamma
from maxmargin.problem.contract.batch import Batch
from maxmargin.problem.contract.capabilities.rescaled_search import RescaledSearch
from maxmargin.problem.contract.capabilities.smooth import Smooth
from maxmargin.problem.contract.tangents import Softness, Tangents
from maxmargin.problem.dual.objective import Formulation
from maxmargin.problem.planes.atoms import Atoms
from maxmargin.problem.planes.planes import Planes
from maxmargin.structures.dependencies.scored import ScoredDependencies
from maxmargin.structures.dependencies.scored_arcs import FoundTrees, ScoredArcs
from maxmargin.structures.dependencies.tree_sums import tree_sum
from maxmargin.structures.parts.branching import PartScores, most_violated_parts
from maxmargin.structures.parts.numbers import PartNumbers


class DependencyBatch(Batch, RescaledSearch, Smooth):
    """Sentences of one data set, which all shards of a batch share.

    arcs : PackedWordArcs or PackedGivenArcs.
    price : for every sentence, the cost of a word with a wrong arc.
    """

    call_cost = 60.0  # scoring all arcs from their keys, relative to a visit of a plane

    def __init__(self, task: Any, arcs: Any, price: Array):
        super().__init__(task, len(price))
        self.arcs, self.price = arcs, price

    @property
    def method(self) -> str:
        return "Eisner" if self.task.projective else "Chu-Liu/Edmonds"

    def scored(self) -> ScoredDependencies:
        """Return these sentences with their truths, ready for scoring and search."""
        return ScoredDependencies(self.arcs, self.ids, self.task.rules, self.price[self.ids])

    @property
    def plane_atoms(self) -> Atoms:
        return self.arcs.plane_atoms

    def planes(self, w: Array, augment: float | Array = 1.0) -> Planes:
        scored = self.scored()
        return scored.planes_of(scored.searched(scored.scored_arcs(w), augment))

    def add_tangents(self, w: Array, weights: Array, softness: Softness, total: Array) -> Tangents:
        """Compute tangents by the sums of tree_sums.py, at b times the scores."""
        (b, margin), sentences = softness, self.arcs.sentences
        slacks = np.empty(len(self))
        for j, i in enumerate(self.ids.tolist()):
            at, n = int(sentences.starts[i]), int(sentences.lengths[i])
            heads, labels = (each[at + 1 : at + n + 1] for each in (sentences.heads, sentences.labels))
            truth = heads, np.arange(n), np.maximum(labels, 0)
            scores = self.arcs.all_scores(w, i)
            right = scores[truth]
            if margin:
                scores += margin * self.price[i]
                scores[truth] = right
            scores *= b
            found = tree_sum(scores, self.task.single_root, self.task.projective)
            slacks[j] = found.log_z / b - right.sum()
            shares = -found.arcs()
            shares[truth] += 1.0
            self.arcs.add_shares(total, i, weights[j], shares)
        # Scores of trees are sums of n arcs, each of `terms` products. Sums over trees make errors of a few units for
        # each of n² numbers, which are logarithms: compiled/arborescence_sums.py. An error of a score causes a relative
        # error of the same size in a probability.
        lengths, (score, terms, length) = sentences.lengths[self.ids].astype(float), self.arcs.sizes(w)
        size = score + margin * self.price[self.ids]
        errors = 2 * gamma(terms + 16) * lengths * size + gamma(64) * lengths**2 * (lengths / b + size)
        mass = 2 * length * float(np.dot(weights, lengths))
        steps = 8 * b * float(np.max(errors, initial=0.0)) / UNIT + 64 * float(np.max(lengths, initial=0.0)) ** 2
        return Tangents(slacks, errors, mass, steps + float(lengths.sum()))

    def rescaled_planes(self, w: Array, formulation: Formulation) -> Planes:
        """Search by branch and bound over arcs, as Parts does: exact, or bounded if that would take too long."""
        space = self.scored()
        scored = space.scored_arcs(w)
        heads, labels, upper = [], [], np.empty(len(self))
        for j in range(len(self)):
            arcs = _LabelledArcs(scored.alone(j), self.task.single_root, self.task.projective, self.price[self.ids[j]])
            answer = most_violated_parts(arcs.best, arcs.problem, formulation, self.task.most_decodes)
            found = arcs.tree(arcs.problem.truth if answer.chosen is None else answer.chosen)
            heads.append(found.heads)
            labels.append(found.labels)
            upper[j] = answer.upper
        found = FoundTrees(scored.tables.words, np.concatenate(heads), np.concatenate(labels))
        return space.planes_of(found)._replace(upper=upper)


class _LabelledArcs:
    """The arcs of one sentence as parts: wrong arcs, each with its best label, then the true ones."""

    def __init__(self, scored: ScoredArcs, single_root: bool, projective: bool, price: float):
        self.scored, self.single_root, self.projective = scored, single_root, projective
        self.n = n = scored.tables.longest
        self.wrong = np.flatnonzero(np.isfinite(scored.scores))
        parts = np.concatenate([scored.scores[self.wrong], scored.right])
        added = np.append(np.full(len(self.wrong), price), np.zeros(n))
        self.problem = PartScores(parts, added, len(self.wrong) + np.arange(n, dtype=np.int64))
        self.number = np.full(len(scored.scores), -1, dtype=np.int64)
        self.number[self.wrong] = np.arange(len(self.wrong))

    def best(self, scores: Array) -> PartNumbers:
        """Return the parts of the best tree."""
        table = np.full(len(self.scored.scores), -np.inf)
        table[self.wrong] = scores[: len(self.wrong)]
        altered = self.scored._replace(scores=table, right=np.ascontiguousarray(scores[len(self.wrong) :]))
        found = altered.best(np.zeros(1), self.single_root, self.projective)
        true_heads, true_labels = self._truth()
        right = (found.heads == true_heads) & (found.labels == true_labels)
        words = np.arange(1, self.n + 1)
        numbers = self.number[found.heads.astype(np.int64) * (self.n + 1) + words]
        return np.sort(np.where(right, len(self.wrong) + words - 1, numbers))

    def tree(self, chosen: PartNumbers) -> FoundTrees:
        """Return the tree of chosen parts."""
        heads, labels = (each.astype(np.int32) for each in self._truth())
        arcs = self.wrong[chosen[chosen < len(self.wrong)]]
        at, words = np.divmod(arcs, self.n + 1)
        heads[words - 1], labels[words - 1] = at, self.scored.labels[arcs]
        return FoundTrees(self.scored.tables.words, heads, labels)

    def _truth(self) -> tuple[Any, Any]:
        sentences = self.scored.sentences
        at = int(sentences.starts[self.scored.tables.ids[0]]) + 1
        return sentences.heads[at : at + self.n], sentences.labels[at : at + self.n]
