"""TreeSums: the distribution of parse trees p(z | x) ∝ exp score(z), for many sentences.

A tree has exactly one derivation in the grammar (productions.py), so that sums over derivations are those over trees.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.parsing.derivations import Derivation
from maxmargin.structures.parsing.productions import NoDerivation
from maxmargin.structures.parsing.span_features import spans
from maxmargin.structures.parsing.summed_charts import SummedCharts
from maxmargin.structures.parsing.trees import Bracket, Tree


class TreeMarginals(NamedTuple):
    """Probabilities of the brackets and tags of one sentence; those with the probability 0 are left out."""

    spans: dict[Bracket, float]  # the probability of every phrase (label, begin, end) over the words begin … end - 1
    tags: list[dict[str, float]]  # the probabilities of the tags of every word


class TreeSums:
    """The distributions of the trees of the sentences of a TreeSpace, given scores.

    A sentence without any tree has the log partition -inf, the entropy nan and no marginals. Samples of it are what
    `TreeSpace.failed` returns.
    """

    def __init__(self, space: Any, scores: Any):
        self.space, self.scores = space, scores

    @cached_property
    def log_partitions(self) -> Array:
        """The log partition of every sentence."""
        charts = self._charts()
        return np.array([self._fill(charts, j) for j in range(len(self.space))])

    @property
    def entropies(self) -> Array:
        """The entropy of every sentence, in nats."""
        return self._spread[0]

    def marginals(self) -> list[TreeMarginals]:
        """Return the probabilities of brackets and tags of every sentence."""
        return self._spread[1]

    def log_probabilities(self, Y: Any) -> Array:
        """Return the log-probability of a tree of every sentence, which is -inf if the grammar does not have it."""
        if len(Y) != len(self.space):
            raise ValueError(f"there are {len(self.space)} sentences but {len(Y)} trees")
        return self._bounded(np.array([self._score(j, y) for j, y in enumerate(Y)], dtype=float))

    def best_log_probabilities(self) -> Array:
        """Return the log-probability of the best tree of every sentence."""
        return self._bounded(self.space.best(self.scores).values)

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Tree]]:
        """Draw n trees of every sentence."""
        charts = self._charts()
        return [self._drawn(charts, j, rng, n) for j in range(len(self.space))]

    # --- inside

    @cached_property
    def _sentences(self) -> list[Any]:
        return self.space.sentences(self.scores)

    def _charts(self) -> SummedCharts:
        return SummedCharts(self.space.grammar.rules, max(self.space.lengths, default=1))

    def _fill(self, charts: SummedCharts, j: int) -> float:
        """Fill the chart of sentence j, and return its log partition."""
        brackets = np.ascontiguousarray(self.space.brackets(self.scores, j))
        return charts.fill(self.scores.productions, self._sentences[j], brackets)

    @cached_property
    def _spread(self) -> tuple[Array, list[TreeMarginals]]:
        """The entropy and the marginals of every sentence."""
        charts, entropies, marginals = self._charts(), np.full(len(self.space), np.nan), []
        names, tags = np.array(self.space.label_names, dtype=object), self.space.grammar.productions.tags
        for j, n in enumerate(self.space.lengths):
            if np.isneginf(self._fill(charts, j)):
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
        """Return the score of a tree of sentence j."""
        try:
            rows = self.space.derivation(j, y)
        except NoDerivation:
            return -np.inf
        derivation = Derivation(rows, self.space.grammar.rules)
        return float(self.space.score(self.scores, j, derivation, self.space.used(j, rows)))

    def _bounded(self, scores: Array) -> Array:
        """Return scores minus log Z, which are at most 0 up to rounding."""
        possible = np.isfinite(scores)
        scores[possible] = np.minimum(scores[possible] - self.log_partitions[possible], 0.0)
        return scores

    def _drawn(self, charts: SummedCharts, j: int, rng: np.random.Generator, n: int) -> list[Tree]:
        if np.isneginf(self._fill(charts, j)):
            return [self.space.failed(j, self.scores)] * n
        return [self.space.tree(j, charts.drawn(rng)) for _ in range(n)]
