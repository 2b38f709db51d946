"""PaddedChains: label sequences in a padded batch of scores, as neural encoders compute them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array, read_only
from maxmargin.executors.base import n_workers
from maxmargin.executors.shared_threads import on_threads
from maxmargin.inputs.labels.labels import Labels
from maxmargin.problem.contract.score_capabilities import ScoreLoss, SoftOutputs, Violation
from maxmargin.problem.contract.scored import BestOutputs, need_truth
from maxmargin.structures.sequences.chain_space import ChainScores, ChainSpace
from maxmargin.structures.sequences.chain_sums import ChainSums, link_masses
from maxmargin.structures.sequences.compiled.padded_arrays import (
    BlockedGradient,
    BlockScratch,
    PaddedScores,
    PaddedTruth,
    Softening,
)
from maxmargin.structures.sequences.compiled.sum_arrays import SumScratch
from maxmargin.structures.sequences.links import ChainLinks

MOST_BLOCKS = (
    16  # blocks of sequences, each of which one thread works on; fixed, so that results do not depend on threads
)
IGNORED = -100  # stands for positions that are no part of a sequence


class SequenceBlocks(NamedTuple):
    """Ranges of sequences with about the same numbers of positions."""

    borders: NDArray[np.int64]  # (blocks + 1,)
    most_positions: int  # of a block
    most_sequences: int  # of a block

    @classmethod
    def of(cls, bounds: NDArray[np.int64]) -> SequenceBlocks:
        """Cut sequences with these bounds into blocks."""
        n = len(bounds) - 1
        size = max(1, -(-int(bounds[-1]) // MOST_BLOCKS))  # positions of a block
        borders = np.searchsorted(bounds, np.arange(0, int(bounds[-1]) + size, size))
        borders[-1] = n
        if n < MOST_BLOCKS:
            borders = np.arange(n + 1)
        each = bounds[borders]
        return cls(
            borders, int((each[1:] - each[:-1]).max(initial=0)), int((borders[1:] - borders[:-1]).max(initial=0))
        )


class PaddedChains:
    """Score space of label sequences in a padded batch (problem/contract/scored.py).

    Scores are ChainScores whose `unary` has the shape (sequences, positions, labels), in float32 or float64, and whose
    `transitions` have the shape (K, K), or (sequences, positions, K, K) if every step has scores of its own: those at
    [j, t] are of the step into position t. Positions that the mask leaves out are no part of their sequence: the
    positions before and after one are neighbours. Found outputs are an int32 array of the shape of the mask, -100 at
    positions that are left out. Losses and gradients are computed by compiled code on several threads, and do not
    depend on their number.

    Parameters
    ----------
    mask : array of bool (sequences, positions)
        True at the positions of the sequences.
    n_labels : int
        K, the number of labels.
    truth : array of int (sequences, positions), or None
        The true labels; they are not read where the mask is False.
    cost : array (K, K), or None
        The cost of label k where the truth is j, at [j, k]; None: every mistake costs 1.
    factors : array (sequences, positions), or None
        A factor of the costs of every position.
    n_jobs : int
        The number of threads; -1 for one per core.

    See Also
    --------
    ChainSpace : Sequences in a row, without padding.
    maxmargin.neural.loss : Losses of scores.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tasks import ChainScores, PaddedChains
    >>> space = PaddedChains.of_lengths([2, 1], 3, n_labels=2)
    >>> scores = ChainScores(np.array([[[1.0, 0], [0, 1], [5, 0]], [[0, 1], [5, 0], [5, 0]]]), *space.no_links)
    >>> space.best(scores).found
    array([[   0,    1, -100],
           [   1, -100, -100]], dtype=int32)
    """

    def __init__(
        self, mask: Any, n_labels: int, truth: Any = None, cost: Any = None, factors: Any = None, n_jobs: int = 1
    ):
        self.mask = np.asarray(mask, dtype=bool)
        if self.mask.ndim != 2:
            raise ValueError(f"the mask has shape {self.mask.shape}; expected (sequences, positions)")
        self.n_labels, self.n_jobs = n_labels, n_workers(n_jobs)
        lengths = self.mask.sum(axis=1)
        self.filled = np.flatnonzero(lengths)
        self.rows = np.flatnonzero(self.mask)
        self.bounds = np.append(0, np.cumsum(lengths[self.filled])).astype(np.int64)
        self.longest = int(lengths.max(initial=1))
        self.blocks = SequenceBlocks.of(self.bounds)
        self.truths = None if truth is None else self._read_truth(truth, cost, factors)

    @classmethod
    def of_lengths(cls, lengths: Any, n_positions: int, n_labels: int, **known: Any) -> Self:
        """Make the space of sequences that begin at position 0 and have these lengths.

        n_positions : the length to which all sequences are padded
        known : truth, cost, factors and n_jobs
        """
        each = np.asarray(lengths, dtype=np.int64)
        if each.ndim != 1 or (len(each) and not (each.min() >= 0 and each.max() <= n_positions)):
            raise ValueError(f"lengths are {lengths!r}; expected whole numbers from 0 to {n_positions}")
        return cls(np.arange(n_positions) < each[:, None], n_labels, **known)

    def __len__(self) -> int:
        return len(self.mask)

    @property
    def no_links(self) -> ChainLinks:
        """Scores of links that are all 0."""
        K = self.n_labels
        return ChainLinks(np.zeros((K, K)), np.zeros(K), np.zeros(K))

    @property
    def truth(self) -> Labels | None:
        """The true labels, -100 at positions that are left out."""
        return None if self.truths is None else self.padded(self.truths.labels)

    def padded(self, labels: Labels) -> Labels:
        """Return the labels of all positions in a row in the shape of the mask, with -100 where it is False."""
        found = np.full(self.mask.shape, IGNORED, dtype=np.int32)
        found.ravel()[self.rows] = labels
        return found

    # --- search

    def best(self, scores: Any, augment: float | Array = 0.0) -> BestOutputs:
        """Return the labels with the highest score + augment · loss of every sequence."""
        given = self._given(scores)
        if np.ndim(augment):
            return self._best_by_sequence(scores, np.asarray(augment, dtype=float))
        values, labels = self._searched(given, self._truth_if(augment), float(augment))
        if augment != 0:
            values[self.filled] += self._totals(given, self._known.labels)
        return BestOutputs(self.padded(labels), values)

    def losses(self, found: Labels) -> Array:
        """Return the loss of every label sequence."""
        truth, labels = self._known, self._flat(found)
        each = truth.factors * truth.cost[truth.labels, labels]
        return self._spread(np.add.reduceat(each, self.bounds[:-1]) if len(each) else np.zeros(0))

    def indicator(self, found: Labels, weights: Array | None = None) -> ChainScores:
        """Return how often each score is used, with one table of transitions for all steps."""
        return self._padded_counts(self.packed().indicator(self._flat(found), self._weights(weights)))

    def totals(self, scores: Any, found: Labels) -> Array:
        """Return the score of every label sequence."""
        return self._spread(self._totals(self._given(scores), self._flat(found)))

    # --- losses with their gradients

    def hinge(self, scores: Any, augment: float = 1.0, weights: Array | None = None) -> ScoreLoss:
        """Return max_z [score(z) + augment · loss(z)] - score(truth) of every sequence, with its gradient."""
        given, truth, each = self._given(scores), self._known, self._weights(weights)
        gradient = self._empty_gradient(given)
        values, _ = self._searched(given, truth, augment, each, gradient)
        return ScoreLoss(self._finite(values), self._gradient(scores, gradient))

    def soft_hinge(
        self, scores: Any, augment: float = 1.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> ScoreLoss:
        """Return (1/b) log Σ_z exp b [score(z) + augment · loss(z)] - score(truth), with its gradient."""
        return self._soft(scores, self._known, augment, sharpness, weights)

    def soft_best(
        self, scores: Any, augment: float | Array = 0.0, sharpness: float = 1.0, weights: Array | None = None
    ) -> SoftOutputs:
        """Return the smooth maxima over label sequences, and the expected number of uses of every score."""
        if np.any(augment):
            raise ValueError("the smooth maximum with a loss is `soft_hinge`, which subtracts the score of the truth")
        return SoftOutputs(*self._soft(scores, self._no_truth, 0.0, sharpness, weights))

    def most_violated(self, scores: Any, violation: Violation) -> Labels:
        """Return the labels with the highest violation(loss, margin) of every sequence; costs are whole numbers."""
        return self.padded(self.packed().most_violated(self._packed_scores(scores), violation))

    # --- distributions and lists, sequence by sequence

    def packed(self) -> ChainSpace:
        """Return the same sequences in a row, without padding and without those that are empty."""
        space = ChainSpace.of_lengths(np.diff(self.bounds), self.n_labels)
        if self.truths is None:
            return space
        labels, cost, factors = self.truths
        return ChainSpace.of_lengths(np.diff(self.bounds), self.n_labels, labels, cost, factors)

    def sums(self, scores: Any) -> ChainSums:
        """Return the distributions of the label sequences, for transitions that all steps share."""
        bounds = np.append(0, np.cumsum(self.mask.sum(axis=1))).astype(np.int64)
        return ChainSpace(bounds, self.packed().names).sums(self._packed_scores(scores))

    def best_lists(self, scores: Any, n: int) -> list[list[tuple[Labels, float]]]:
        """Return the n best label sequences of every sequence with their scores, best first."""
        bounds = np.append(0, np.cumsum(self.mask.sum(axis=1))).astype(np.int64)
        return ChainSpace(bounds, self.packed().names).best_lists(self._packed_scores(scores), n)

    # --- helpers

    def _read_truth(self, truth: Any, cost: Any, factors: Any) -> PaddedTruth:
        labels, K = np.asarray(truth), self.n_labels
        if labels.shape != self.mask.shape:
            raise ValueError(f"the true labels have shape {labels.shape}; expected that of the mask, {self.mask.shape}")
        own = labels.ravel()[self.rows]
        wrong = np.flatnonzero((own < 0) | (own >= K))
        if len(wrong):
            j, t = divmod(int(self.rows[wrong[0]]), self.mask.shape[1])
            raise ValueError(f"sequence {j}, position {t}: the label is {own[wrong[0]]}; expected 0 … {K - 1}")
        prices = 1.0 - np.eye(K) if cost is None else np.ascontiguousarray(cost, dtype=float)
        each = np.ones(len(own)) if factors is None else np.asarray(factors, dtype=float).ravel()[self.rows]
        if prices.shape != (K, K):
            raise ValueError(f"cost has shape {prices.shape}; expected ({K}, {K})")
        return PaddedTruth(own.astype(np.int32), prices, each)

    @property
    def _known(self) -> PaddedTruth:
        need_truth(self.truths)
        assert self.truths is not None
        return self.truths

    @property
    def _no_truth(self) -> PaddedTruth:
        return PaddedTruth(np.zeros(0, dtype=np.int32), np.zeros((0, 0)), np.zeros(0))

    def _truth_if(self, augment: Any) -> PaddedTruth:
        return self._known if augment != 0 else self._no_truth

    def _given(self, scores: Any) -> PaddedScores:
        """Return scores as compiled code reads them; raise a ValueError unless they have the right shapes."""
        K, shape = self.n_labels, self.mask.shape
        unary = np.asarray(scores.unary)
        unary = np.ascontiguousarray(unary, dtype=np.float32 if unary.dtype == np.float32 else np.float64)
        links = transitions, start, end = [np.require(each, np.float64, ["C", "W"]) for each in scores[1:]]
        of_steps = transitions.ndim == 4
        expected = ((*shape, K), (*shape, K, K) if of_steps else (K, K), (K,), (K,))
        for name, each, size in zip(ChainScores._fields, (unary, *links), expected, strict=True):
            if each.shape != size:
                raise ValueError(f"the scores `{name}` have shape {each.shape}; expected {size}")
        return PaddedScores(
            read_only(unary.reshape(-1, K)), transitions.reshape(-1, K, K), start, end, self.rows, self.bounds
        )

    def _weights(self, weights: Array | None) -> Array:
        """Return the weights of the sequences that are not empty."""
        return np.ones(len(self.filled)) if weights is None else np.asarray(weights, dtype=float)[self.filled]

    def _empty_gradient(self, given: PaddedScores, needed: bool = True) -> BlockedGradient:
        K, n = self.n_labels, len(self.blocks.borders) - 1
        unary = np.zeros(given.unary.shape if needed else (0, K), dtype=given.unary.dtype)
        own = len(given.transitions) if len(given.transitions) > 1 else n
        return BlockedGradient(unary, np.zeros((own if needed else 0, K, K)), *np.zeros((2, n, K)))

    def _searched(
        self,
        given: PaddedScores,
        truth: PaddedTruth,
        augment: float,
        weights: Array | None = None,
        gradient: BlockedGradient | None = None,
    ) -> tuple[Array, Labels]:
        """Return the values of all sequences, 0 for empty ones, and the best labels of all positions."""
        from maxmargin.structures.sequences.compiled.padded_chains import hinge_blocks

        values, labels = np.zeros(len(self.filled)), np.zeros(len(self.rows), dtype=np.int32)
        each = np.zeros(0) if weights is None else weights
        into = self._empty_gradient(given, needed=False) if gradient is None else gradient

        def work(first: int, last: int) -> None:
            hinge_blocks(
                given, truth, float(augment), each, self.blocks.borders, first, last, self._scratch(), values, labels,
                into,
            )  # fmt: skip

        self._on_threads(work)
        return self._spread(values), labels

    def _soft(
        self, scores: Any, truth: PaddedTruth, augment: float, sharpness: float, weights: Array | None
    ) -> ScoreLoss:
        from maxmargin.structures.sequences.compiled.padded_chains import soft_blocks

        given, b = self._given(scores), float(sharpness)
        if not 0 < b < np.inf:
            raise ValueError(f"sharpness is {sharpness!r}; expected a positive number")
        links = ChainLinks(b * given.transitions[0], b * given.start, b * given.end)
        soft = Softening(b, (links.transitions, links.start, links.end), *link_masses(links))
        values, gradient, each = np.zeros(len(self.filled)), self._empty_gradient(given), self._weights(weights)
        borders = self.blocks.borders

        def work(first: int, last: int) -> None:
            scratch = self._scratch()
            soft_blocks(given, truth, soft, float(augment), each, borders, first, last, scratch, values, gradient)

        self._on_threads(work)
        return ScoreLoss(self._finite(self._spread(values)), self._gradient(scores, gradient))

    def _on_threads(self, work: Any) -> None:
        """Call work(first, last) for ranges of blocks, one for each thread."""
        n = len(self.blocks.borders) - 1
        if n:
            shares = min(self.n_jobs, n)
            on_threads(work, list(pairwise(n * k // shares for k in range(shares + 1))))

    def _scratch(self) -> BlockScratch:
        K, (_, positions, sequences) = self.n_labels, self.blocks
        scores, shares = np.empty((2, positions, K))
        bounds, table = np.empty(sequences + 1, dtype=np.int64), np.empty((2, self.longest, K))
        return BlockScratch(
            scores, shares, bounds, table, np.empty((K, K)), np.empty(K), SumScratch.of(self.longest, K)
        )

    def _gradient(self, scores: Any, gradient: BlockedGradient) -> ChainScores:
        """Return the gradient in the form of the scores."""
        of_steps = np.ndim(scores.transitions) == 4
        links = (each.sum(axis=0) for each in gradient[2:])
        transitions = gradient.transitions.reshape(np.shape(scores.transitions)) if of_steps else None
        if transitions is None:
            transitions = gradient.transitions.sum(axis=0)
        return ChainScores(gradient.unary.reshape(np.shape(scores.unary)), transitions, *links)

    def _spread(self, values: Array) -> Array:
        """Return values of all sequences, 0 for empty ones."""
        if len(values) == len(self):
            return values
        every = np.zeros(len(self))
        every[self.filled] = values
        return every

    def _finite(self, values: Array) -> Array:
        """Return the values; raise a ValueError if a sequence has none, because its labels are forbidden."""
        lost = np.flatnonzero(~np.isfinite(values))
        if len(lost):
            raise ValueError(
                f"sequence {lost[0]}: its loss is {values[lost[0]]}; expected finite scores of its true labels and of "
                "at least one label sequence, but scores of -inf forbid them, or some scores are nan"
            )
        return values

    def _flat(self, found: Labels) -> Labels:
        return np.ascontiguousarray(np.asarray(found).ravel()[self.rows], dtype=np.int32)

    def _totals(self, given: PaddedScores, labels: Labels) -> Array:
        """Return the score of the labels of every sequence that is not empty."""
        from maxmargin.structures.sequences.compiled.padded_chains import total

        return np.array([total(given, labels, j) for j in range(len(self.filled))], dtype=float)

    def _packed_scores(self, scores: Any) -> ChainScores:
        given = self._given(scores)
        if np.ndim(scores.transitions) == 4:
            raise ValueError("this needs transitions of the shape (K, K), which all steps share")
        return ChainScores(given.unary[self.rows].astype(float), given.transitions[0], given.start, given.end)

    def _padded_counts(self, counts: ChainScores) -> ChainScores:
        unary = np.zeros((self.mask.size, self.n_labels))
        unary[self.rows] = counts.unary
        return counts._replace(unary=unary.reshape(*self.mask.shape, self.n_labels))

    def _best_by_sequence(self, scores: Any, augment: Array) -> BestOutputs:
        best = self.packed().best(self._packed_scores(scores), augment[self.filled])
        return BestOutputs(self.padded(best.found), self._spread(best.values))
