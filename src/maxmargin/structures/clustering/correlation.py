"""Correlation: clusters whose pairs of items have a high total score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.search import Search
from maxmargin.problem.contract.pieces import Pieces
from maxmargin.structures.clustering.agglomeration import partitions
from maxmargin.structures.clustering.correlation_batch import CorrelationBatch, best_clustering, pair_gains, pair_weight
from maxmargin.structures.clustering.labels import Clusters, cluster_numbers
from maxmargin.structures.clustering.measures import mitre_loss
from maxmargin.structures.clustering.pair_table import PairTable
from maxmargin.structures.clustering.pair_task import PairTask
from maxmargin.structures.clustering.pairs import Pairs, read_all
from maxmargin.structures.clustering.triangles import relaxed, rounded

ClusterMeasure = Literal["pairs", "mitre"]
Method = Literal["greedy", "relaxed"]

MEASURES = get_args(ClusterMeasure)
METHODS = {"greedy": Search.UNDERGENERATING, "relaxed": Search.OVERGENERATING}
MOST_RELAXED = 100  # items of a set whose relaxation takes seconds, not minutes


class Clustered(NamedTuple):
    """A clustering of the items of x, or a fractional solution of the relaxation.

    Attributes
    ----------
    x : Pairs
        The set of items.
    together : array of shape (m,)
        For every listed pair, 1 if it is in one cluster and 0 if not; values between occur if labels is None.
    labels : array of shape (n,) or None
        The cluster of every item, numbered 0, 1, … in order of appearance; None for a fractional solution.

    See Also
    --------
    Correlation : The task whose outputs these are.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> x = tasks.Pairs(2, [(0, 1)], [[0.9]])
    >>> tasks.Clustered(x, np.array([1.0]), np.array([0, 0])).labels
    array([0, 0])
    """

    x: Pairs
    together: Array
    labels: Clusters | None


class Correlation(PairTask):
    """Correlation clustering with learnt scores of pairs.

    x is a set of items with features x_e of pairs e, y a cluster label for each item, and an output z a clustering:

        Ψ(x, z) = n/m Σ_{e in one cluster of z} x_e,      n items, m pairs

    (Finley and Joachims, "Supervised clustering with support vector machines", ICML 2005). The best clustering has the
    highest total score of the pairs that it joins. All pairs of a cluster count, so that one strong link does not join
    two clusters.

    Ψ and the loss are n times a mean over pairs: a pair needs the same margin in sets of any size, and a set weighs as
    much as it has items. With plain sums, the pairs of the largest set would outweigh all others.

    Parameters
    ----------
    method : "greedy" or "relaxed"
        How the best clustering is searched, which is NP-hard to find. "greedy" merges clusters and moves items while
        that raises the score, in training also from the true clusters: fast, and near the best in practice. It may miss
        the best clustering (undergenerating), but has an upper bound: every pair decided on its own, minus what
        violated triangles must cost. "relaxed" solves a linear program over e in [0, 1] with triangle inequalities
        (overgenerating), and rounds predictions: for sets of up to 100 items, with a certificate of the relaxed
        problem.
    measure : "pairs" or "mitre"
        The loss. "pairs" is n times the share of pairs that one clustering joins and the other separates; "mitre" is n
        times 1 - F1 of the MUC score (metrics.mitre_loss; "greedy" only). n is the number of items.
    fit_intercept : bool
        Whether pairs have one more feature, the constant 1. Without it, the threshold of a score is 0.

    Notes
    -----
    If x lists candidate pairs only, the others have no score, and the measure "pairs" does not count them.

    See Also
    --------
    Forest : Clustering by the strongest links.
    maxmargin.Clusterer : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> x = tasks.Pairs(3, [(0, 1), (0, 2), (1, 2)], [[0.9], [0.1], [0.2]])
    >>> task = tasks.Correlation()
    >>> task.setup([x], [[0, 0, 1]])
    >>> task.argmax(np.array([1.0, -0.5]), x).labels.tolist()  # scores 0.4, -0.4 and -0.3
    [0, 0, 1]
    """

    def __init__(self, method: Method = "greedy", measure: ClusterMeasure = "pairs", fit_intercept: bool = True):
        self.method = method
        self.measure = measure
        self.fit_intercept = fit_intercept

    def setup(self, X: Sequence[Any], Y: Sequence[Any]) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {self.method!r}")
        if self.measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}, got {self.measure!r}")
        if self.method == "relaxed" and self.measure == "mitre":
            raise ValueError(
                "the MITRE loss is not linear in the pairs, so method='relaxed' cannot optimise it; use method="
                "'greedy' or measure='pairs'"
            )
        self.search = METHODS[self.method]
        super().setup(X, Y)

    # --- the plain form: one example at a time

    def psi(self, x: Any, z: Any) -> Any:
        (x,) = read_all([x])
        together = self._clustered(x, z).together
        return self._psi(x, x.features.T @ together, together.sum(), pair_weight(len(x.pairs), x.n_items))

    def pieces(self, x: Any, z: Any) -> Pieces:
        """Return Ψ(x, z) by pairs in one cluster."""
        (x,) = read_all([x])
        together = self._clustered(x, z).together
        rows = np.flatnonzero(together)
        return self._pair_pieces(x, rows, together[rows] / pair_weight(len(x.pairs), x.n_items))

    def loss(self, y: Any, z: Any) -> float:
        """Return Δ(y, z) of an output of a search, or of a list of labels, for which all pairs count as listed."""
        if not isinstance(z, Clustered):
            n_items = len(z)
            pairs = np.column_stack(np.triu_indices(n_items, 1))
            z = self._clustered(Pairs(n_items, pairs, np.zeros((len(pairs), 1))), z)
        numbers = cluster_numbers(y, z.x.n_items, "y")
        if self.measure == "mitre":
            return z.x.n_items * mitre_loss([numbers], [z.labels])
        return float(np.abs(z.together - z.x.inside(numbers)).sum() / pair_weight(len(z.x.pairs), z.x.n_items))

    def argmax(self, w: Array, x: Any, y: Any = None) -> Clustered:
        (x,) = read_all([x])
        truth = None if y is None else cluster_numbers(y, x.n_items, "y")
        table = self.table([x])
        scores = pair_gains(table, 0, table.scores(w, np.arange(1))[0])
        found = best_clustering(self.method, self.measure, scores, truth, float(y is not None))
        return Clustered(x, found.together, found.labels)

    def complete(self, w: Array, x: Any, y: Any) -> Clustered:
        (x,) = read_all([x])
        return self._clustered(x, y)

    def label(self, z: Clustered) -> Clusters:
        """Return the cluster of every item, numbered 0, 1, … in order of appearance."""
        if z.labels is None:
            raise ValueError("a fractional clustering has no labels; use `decode`, which rounds it to a clustering")
        return z.labels

    def outputs(self, x: Any) -> Iterator[Clustered]:
        (x,) = read_all([x])
        return (self._clustered(x, labels) for labels in partitions(x.n_items))

    # --- all examples at a time

    def decode(self, w: Array, X: Sequence[Any]) -> list[Clustered]:
        examples = read_all(X)
        table = self.table(examples)
        found = []
        for g, scores in enumerate(table.scores(w, np.arange(len(table)))):
            gains = pair_gains(table, g, scores)
            if self.method == "relaxed":
                labels = rounded(gains, relaxed(gains))
            else:
                labels = gains.climbed(np.arange(gains.n_items))
            found.append(self._clustered(examples[g], labels))
        return found

    def pack(self, X: Sequence[Any], Y: Sequence[Any]) -> CorrelationBatch:
        examples = read_all(X)
        truths = [
            cluster_numbers(y, x.n_items, f"example {i}") for i, (x, y) in enumerate(zip(examples, Y, strict=True))
        ]
        return CorrelationBatch(self, self.table(examples), truths)

    # --- inside

    def table(self, examples: list[Pairs]) -> PairTable:
        if self.method == "relaxed":
            for i, x in enumerate(examples):
                if x.n_items > MOST_RELAXED:
                    raise ValueError(
                        f"example {i} has {x.n_items} items; method='relaxed' takes at most {MOST_RELAXED}, because "
                        "every pair is a variable of a linear program. Use method='greedy'"
                    )
        return super().table(examples)

    def _clustered(self, x: Pairs, z: Any) -> Clustered:
        """Return labels as an output of the task."""
        if isinstance(z, Clustered):
            return z
        numbers = cluster_numbers(z, x.n_items, "z")
        return Clustered(x, x.inside(numbers).astype(float), numbers)
