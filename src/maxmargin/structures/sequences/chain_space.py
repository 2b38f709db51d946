"""ChainSpace: label sequences, searched by the scores of labels at positions and of neighbouring labels."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_memory
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.score_capabilities import SoftOutputs, Violation
from maxmargin.problem.contract.scored import BestOutputs, checked_scores, need_truth
from maxmargin.structures.sequences.chain_sums import ChainSums
from maxmargin.structures.sequences.chain_violations import chain_totals, most_violated_labels
from maxmargin.structures.sequences.label_names import LabelNames
from maxmargin.structures.sequences.links import ChainLinks


class ChainScores(NamedTuple):
    """Scores of label sequences over K labels; -inf forbids.

    Labels z have the score  start[z_1] + Σ_t unary[t, z_t] + Σ_t transitions[z_t, z_{t+1}] + end[z_T].
    """

    unary: Array  # (positions, K): the score of each label at each position, with all sequences concatenated
    transitions: Array  # (K, K): the score of label k after label j, at [j, k]
    start: Array  # (K,): the score of a first label
    end: Array  # (K,): the score of a last label

    @property
    def links(self) -> ChainLinks:
        """The scores of neighbouring, first and last labels."""
        return ChainLinks(self.transitions, self.start, self.end)

    @classmethod
    def of(cls, unary: Any, transitions: Any = None, start: Any = None, end: Any = None) -> ChainScores:
        """Make scores of any arrays; those that are None are 0."""
        K = np.shape(unary)[1]
        links = zip((transitions, start, end), ((K, K), K, K), strict=True)
        return cls(np.asarray(unary), *(np.zeros(shape) if each is None else np.asarray(each) for each, shape in links))


class TrueLabels(NamedTuple):
    """The true labels of concatenated sequences; label k at position t costs factors[t] · cost[rows[t], k]."""

    labels: Labels  # (positions,): the true label of each position
    rows: Labels  # (positions,): rows of `cost`: the labels themselves, or later rows for missing labels
    cost: Array  # (R, K), R >= K: the cost of each label
    factors: Array  # (positions,): the factor of the costs at each position


class ChainSpace:
    """The label sequences of n inputs, as a ScoreSpace (problem/contract/scored.py).

    Scores are ChainScores. Found outputs are an int32 array with the label of every position, sequence after sequence:
    sequence j has found[bounds[j]:bounds[j + 1]]. Outputs are found by Viterbi's algorithm.

    Parameters
    ----------
    bounds : array of int, shape (n + 1,)
        The beginning of every sequence, and the number of positions.
    names : LabelNames
        The labels, in the order of their numbers.
    truths : TrueLabels or None
        The true labels and the costs of mistakes; None if they are not known.
    """

    def __init__(self, bounds: NDArray[np.int64], names: LabelNames, truths: TrueLabels | None = None):
        self.bounds, self.names, self.truths = bounds, names, truths

    @classmethod
    def of_lengths(
        cls, lengths: Any, n_labels: int, truth: Any = None, cost: Any = None, factors: Any = None
    ) -> ChainSpace:
        """Make the space of sequences of these lengths, whose labels are 0 … n_labels - 1.

        truth : None, or the true labels of all sequences, concatenated
        cost : None (every mistake costs 1), or an (n_labels, n_labels) array cost[true, found]
        factors : None, or a factor of the costs for every position
        """
        bounds = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))])
        names = LabelNames.of(range(n_labels))
        if truth is None:
            return cls(bounds, names)
        labels = np.ascontiguousarray(truth, dtype=np.int32)
        prices = 1.0 - np.eye(n_labels) if cost is None else np.array(cost, dtype=float)
        each = np.ones(len(labels)) if factors is None else np.array(factors, dtype=float)
        if labels.shape != (bounds[-1],) or each.shape != labels.shape:
            raise ValueError(f"truth and factors must have a number for each of the {bounds[-1]} positions")
        if len(labels) and not (labels.min() >= 0 and labels.max() < n_labels):
            raise ValueError(f"true labels must be whole numbers from 0 to {n_labels - 1}")
        if prices.shape != (n_labels, n_labels):
            raise ValueError(f"cost has shape {prices.shape}; expected ({n_labels}, {n_labels})")
        return cls(bounds, names, TrueLabels(labels, labels, prices, each))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def truth(self) -> Labels | None:
        """The true labels of all positions."""
        return None if self.truths is None else self.truths.labels

    @property
    def n_labels(self) -> int:
        """K, the number of labels."""
        return len(self.names.classes)

    def best(self, scores: Any, augment: float | Array = 0.0) -> BestOutputs:
        """Return the labels with the highest score + augment · loss of every sequence."""
        scores = self._checked(scores)
        if np.ndim(augment) or augment != 0:
            scores = scores._replace(unary=scores.unary.copy())
        return self.best_of_own(scores, augment)

    def best_of_own(self, scores: Any, augment: float | Array = 0.0) -> BestOutputs:
        """Return the same as `best`, for scores that this space computed itself.

        They are not checked. Unless `augment` is 0, their array `unary` is overwritten, which saves a copy.
        """
        if np.ndim(augment) or augment != 0:
            self._augment(scores.unary, augment)
        labels, values = np.empty(len(scores.unary), dtype=np.int32), np.zeros(len(self))
        lengths = self.bounds[1:] - self.bounds[:-1]
        if 0 not in lengths:
            self._search(scores, self.bounds, int(lengths.max(initial=1)), labels, values)
            return BestOutputs(labels, values)
        filled = lengths > 0
        some = np.empty(np.count_nonzero(filled))
        if len(some):
            self._search(scores, self.bounds[np.append(True, filled)], int(lengths.max()), labels, some)
        values[filled] = some
        return BestOutputs(labels, values)

    def losses(self, found: Labels) -> Array:
        """Return the loss of every label sequence."""
        need_truth(self.truths)
        assert self.truths is not None
        _, rows, cost, factors = self.truths
        return self._totals(factors * cost[rows, found])

    def indicator(self, found: Labels, weights: Array | None = None) -> Any:
        """Return how often each score is used, as ChainScores; sequence j counts weights[j] times."""
        filled, K = np.diff(self.bounds) > 0, self.n_labels
        each = np.ones(len(self)) if weights is None else np.asarray(weights, dtype=float)
        of_units = np.repeat(each, np.diff(self.bounds))
        unary, transitions = np.zeros((len(found), K)), np.zeros((K, K))
        unary[np.arange(len(found)), found] = of_units
        inner = np.ones(len(found), dtype=bool)
        inner[self.bounds[:-1][filled]] = False
        t = np.flatnonzero(inner)
        np.add.at(transitions, (found[t - 1], found[t]), of_units[t])
        first, last = found[self.bounds[:-1][filled]], found[self.bounds[1:][filled] - 1]
        start, end = np.zeros(K), np.zeros(K)
        np.add.at(start, first, each[filled])
        np.add.at(end, last, each[filled])
        return ChainScores(unary, transitions, start, end)

    def sums(self, scores: Any) -> ChainSums:
        """Return the distributions of the label sequences. An empty sequence has one output, the empty one."""
        scores = self._checked(scores)
        return ChainSums(self.names, scores.unary, scores.links, self.bounds)

    def n_best(self, scores: Any, n: int) -> tuple[Labels, Array]:
        """Return the n best label sequences (n, positions) of a space of one, best first, and their scores (n,).

        There may be fewer than n.
        """
        from maxmargin.structures.sequences.compiled import chain

        scores = self._checked(scores)
        table = (*scores.unary.shape, n)
        check_listed(n, table)
        labels, best = np.zeros((n, len(scores.unary)), dtype=np.int32), np.zeros(n)
        scratch = (np.full(table, -np.inf), np.zeros(table, dtype=np.int32), np.zeros(table, dtype=np.int32))
        pointer = np.zeros(scores.unary.shape[1], dtype=np.int64)
        T, s, f = scores.links
        found = chain.n_best(scores.unary, T, s, f, n, *scratch, pointer, labels, best)
        return labels[:found], best[:found]

    def best_lists(self, scores: Any, n: int) -> list[list[tuple[Labels, float]]]:
        """Return the n best label sequences of every input with their scores, best first."""
        scores, lists = self._checked(scores), []
        for a, b in pairwise(self.bounds.tolist()):
            if a == b:
                lists.append([(np.zeros(0, dtype=np.int32), 0.0)])
                continue
            one = ChainSpace(np.array([0, b - a]), self.names)
            labels, values = one.n_best(scores._replace(unary=scores.unary[a:b]), n)
            lists.append(list(zip(labels, values.tolist(), strict=True)))
        return lists

    def totals(self, scores: Any, found: Labels) -> Array:
        """Return the score of every label sequence."""
        scores = self._checked(scores)
        return chain_totals(scores.unary, scores.links, self.bounds, found)

    def soft_best(
        self, scores: Any, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maxima over label sequences, and the expected number of uses of every score."""
        scores, b, K = self._checked(scores), sharpness, self.n_labels
        unary = scores.unary.copy()
        if np.ndim(augment) or augment != 0:
            self._augment(unary, augment)
        unary *= b
        each = np.ones(len(self)) if weights is None else np.asarray(weights, dtype=float)
        transitions, filled = np.zeros((K, K)), np.diff(self.bounds) > 0
        sums = ChainSums(self.names, unary, ChainLinks(*(b * link for link in scores.links)), self.bounds)
        log_z, p = sums.summed(each, transitions)
        p *= np.repeat(each, np.diff(self.bounds))[:, None]
        first, last = self.bounds[:-1][filled], self.bounds[1:][filled] - 1
        return SoftOutputs(log_z / b, ChainScores(p, transitions, p[first].sum(axis=0), p[last].sum(axis=0)))

    def most_violated(self, scores: Any, violation: Violation) -> Labels:
        """Return the labels with the highest violation(loss, margin) of every sequence, exactly.

        Losses must be whole numbers: a table has the best score for every possible loss.
        """
        need_truth(self.truths)
        assert self.truths is not None
        scores, (truth, rows, cost, factors) = self._checked(scores), self.truths
        prices = cost[rows] * factors[:, None]
        return most_violated_labels(scores.unary, scores.links, self.bounds, truth, prices, violation)

    def best_through(self, scores: Any) -> Array:
        """Return (positions, K): the highest score of a label sequence that has this label at this position.

        It is -inf where there is none.
        """
        from maxmargin.structures.sequences.compiled.best_through import chain_best_through

        scores = self._checked(scores)
        through, (T, s, f) = np.empty_like(scores.unary), scores.links
        v, u = np.empty((2, self._longest, self.n_labels))
        turned = np.ascontiguousarray(T.T)
        chain_best_through(scores.unary, T, turned, s, f, self.bounds, v, u, np.empty(self.n_labels), through)
        return through

    def magnitudes(self, scores: Any) -> Array:
        """Return, for every sequence, a number that no sum of the absolute values of its scores exceeds.

        Scores of whole label sequences are rounded by a small multiple of it.
        """
        of_links = max(finite_sizes(each).max(initial=0.0) for each in scores.links)
        return self._totals(finite_sizes(scores.unary).max(axis=1, initial=0.0)) + (np.diff(self.bounds) + 1) * of_links

    # --- helpers

    @property
    def _longest(self) -> int:
        """The number of positions of the longest sequence, but at least 1."""
        return int(np.diff(self.bounds).max(initial=1))

    def _checked(self, scores: Any) -> Any:
        """Return the scores as compiled code reads them; raise a ValueError unless they have the right shapes."""
        K = self.n_labels
        return checked_scores(scores, ((int(self.bounds[-1]), K), (K, K), (K,), (K,)))

    def _totals(self, each: Array) -> Array:
        """Return the sum over the positions of every sequence."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.bounds))
        return np.asarray(np.bincount(owners, each, len(self)), dtype=float)

    def _augment(self, unary: Array, augment: float | Array) -> None:
        """Add `augment` times the loss to the scores of labels."""
        from maxmargin.structures.sequences.compiled import chain

        need_truth(self.truths)
        assert self.truths is not None
        _, rows, cost, factors = self.truths
        if np.ndim(augment):
            factors = np.repeat(augment, np.diff(self.bounds)) * factors
        elif augment != 1:
            factors = augment * factors
        chain.augment(unary, cost, rows, factors)

    def _search(self, scores: Any, bounds: NDArray[np.int64], longest: int, labels: Labels, values: Array) -> None:
        """Write the best labels and their scores; no sequence is empty, and the longest has `longest` positions."""
        from maxmargin.structures.sequences.compiled import chain

        T, s, f = scores.links
        chain.viterbi(scores.unary, T, s, f, bounds, np.empty((longest, len(s))), labels, values)


def finite_sizes(scores: Array) -> Array:
    """Return the absolute values of scores, and 0 for those that forbid."""
    return np.where(np.isfinite(scores), np.abs(scores), 0.0)


def check_listed(n: int, table: tuple[int, int, int]) -> None:
    """Raise an error if the tables of the n best label sequences do not fit into memory."""
    entries = float(np.prod([float(size) for size in table]))
    check_memory(f"a list of the {n:,} best label sequences", 20.0 * entries, "ask for a smaller n")
