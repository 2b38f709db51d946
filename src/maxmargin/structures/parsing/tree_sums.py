"""TreeSums: the distribution of parse trees p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩, for many sentences.

A tree has exactly one derivation in the grammar (productions.py), so that sums over derivations are those over trees.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.parsing.batch import GrammarBatch
from maxmargin.structures.parsing.charts import label_names
from maxmargin.structures.parsing.productions import NoDerivation
from maxmargin.structures.parsing.sentences import tree_of_sentence
from maxmargin.structures.parsing.span_features import spans
from maxmargin.structures.parsing.summed_charts import SummedCharts
from maxmargin.structures.parsing.trees import Bracket, Tree


class TreeMarginals(NamedTuple):
    """Probabilities of what stands in the tree of one sentence; what has none is left out."""

    spans: dict[Bracket, float]  # of every phrase (label, begin, end) over the words begin … end - 1
    tags: list[dict[str, float]]  # of every word, by its tag


class TreeSums:
    """The sentences of a packed batch, under the weights w.

    A sentence without any tree has the log partition -inf, no entropy (nan), no marginals, and no tree that is
    probable; samples of it are what the grammar's on_failure says.
    """

    def __init__(self, batch: GrammarBatch, w: Array):
        self.batch, self.task, self.w = batch, batch.task, w

    @cached_property
    def log_partitions(self) -> Array:
        charts = self._charts()
        return np.array([charts.fill(self.w, scored) for scored in self._scored])

    @property
    def entropies(self) -> Array:
        return self._spread[0]

    def marginals(self) -> list[TreeMarginals]:
        return self._spread[1]

    def log_probabilities(self, Y: Any) -> Array:
        """-inf for a tree that the grammar does not have."""
        if len(Y) != len(self.batch):
            raise ValueError(f"there are {len(self.batch)} sentences but {len(Y)} trees")
        return self._bounded(self._score(j, y) for j, y in enumerate(Y))

    def best_log_probabilities(self) -> Array:
        """Of the best tree of every sentence."""
        found = self.batch.searched(self.w, lambda charts, sentences: charts.best_of_all(self.w, sentences))
        return self._bounded(score for _, _, (_, score) in found)

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Tree]]:
        charts = self._charts()
        return [self._drawn(charts, j, rng, n) for j in range(len(self.batch))]

    # --- inside

    @cached_property
    def _scored(self) -> list[Any]:
        return self.batch.scored(self.w)

    def _charts(self) -> SummedCharts:
        return SummedCharts(self.batch.features.rules, self.batch.longest)

    @cached_property
    def _spread(self) -> tuple[Array, list[TreeMarginals]]:
        """The entropy and the marginals of every sentence."""
        charts, entropies, marginals = self._charts(), np.full(len(self.batch), np.nan), []
        names, tags = np.array(label_names(self.task.productions_), dtype=object), self.task.productions_.tags
        for j, scored in enumerate(self._scored):
            n = len(scored.leaf)
            if np.isneginf(charts.fill(self.w, scored)):
                marginals.append(TreeMarginals({}, [{} for _ in range(n)]))
                continue
            entropies[j] = charts.spread()
            (begin, end), labels = spans(n), np.minimum(charts.shares.labels[: n * (n + 1) // 2], 1.0)
            c, k = np.nonzero(labels)
            keys = zip(names[k].tolist(), begin[c].tolist(), end[c].tolist(), strict=True)
            of_words = np.minimum(charts.word_shares(), 1.0)
            of_tags = [{tag: float(p[s]) for tag, s in tags.items() if p[s] > 0} for p in of_words]
            marginals.append(TreeMarginals(dict(zip(keys, labels[c, k].tolist(), strict=True)), of_tags))
        return entropies, marginals

    def _score(self, j: int, y: Any) -> float:
        """⟨w, Ψ(x, y)⟩."""
        try:
            example = self.task.with_truth(self.batch.example(j), tree_of_sentence(y, j), j, self.batch.atoms)
        except NoDerivation:
            return -np.inf
        return float(example.true_score(self.w, self._scored[j], self.batch.features.reader.first_))

    def _bounded(self, scores: Any) -> Array:
        """Scores less log Z."""
        found = np.fromiter(scores, dtype=float)
        possible = np.isfinite(found)
        found[possible] = np.minimum(found[possible] - self.log_partitions[possible], 0.0)  # but for rounding
        return found

    def _drawn(self, charts: SummedCharts, j: int, rng: np.random.Generator, n: int) -> list[Tree]:
        example, scored = self.batch.example(j), self._scored[j]
        if np.isneginf(charts.fill(self.w, scored)):
            return [self.task.failed(j, example, scored)] * n
        return [self.task.tree(charts.drawn(rng), example) for _ in range(n)]
