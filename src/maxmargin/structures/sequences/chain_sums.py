"""ChainSums: the distribution of label sequences p(z | x) ∝ exp ⟨w, Ψ(x, z)⟩, for many sequences at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import Labels
from maxmargin.structures.sequences.compiled.sum_arrays import LinkMasses, SumScratch
from maxmargin.structures.sequences.label_names import LabelNames
from maxmargin.structures.sequences.links import ChainLinks

LEAST = 1e-250  # probabilities above this are accurate as products


class ChainMarginals(NamedTuple):
    """Probabilities in one sequence of T positions with K labels, in the order of classes_."""

    labels: Array  # (T, K): the probability of every label at every position
    transitions: Array  # (T - 1, K, K): the probability of every pair of neighbouring labels


class Stretch(NamedTuple):
    """Labels at the positions begin:end of a sequence, and the labels that their neighbours may have."""

    begin: int
    end: int
    labels: Labels
    before: NDArray[np.bool_]  # (K,): at begin - 1
    after: NDArray[np.bool_]  # (K,): at end


class ChainSums:
    """The distributions of label sequences, given scores of units and links; sequence j is at bounds[j]:bounds[j + 1].

    Marginals and log Z are computed by compiled/chain_sums.py, whose equations are cited here.
    """

    def __init__(self, names: LabelNames, scores: Array, links: ChainLinks, bounds: NDArray[np.int64]):
        self.names, self.scores, self.bounds = names, scores, bounds
        self.links = ChainLinks(*map(np.ascontiguousarray, links))
        self.longest = int(np.max(np.diff(bounds), initial=1))

    # --- the interface of all sums

    @property
    def log_partitions(self) -> Array:
        return self._summed[0]

    @property
    def entropies(self) -> Array:
        from maxmargin.structures.sequences.compiled.chain_sums import chain_entropies

        K, entropies = self.scores.shape[1], np.empty(len(self.bounds) - 1)
        (T, s, f), (a, b) = self.links, np.empty((2, self.longest, K))
        chain_entropies(self.scores, T, s, f, self.bounds, a, b, np.empty(K), np.empty((K, K)), entropies)
        return entropies

    def marginals(self) -> list[ChainMarginals]:
        labels = self.labels
        return [ChainMarginals(labels[a:b], self.transitions(j)) for j, (a, b) in enumerate(pairwise(self.bounds))]

    def log_probabilities(self, Y: Any) -> Array:
        """Return log-probabilities, computed as sums over the label sequences that agree with Y."""
        agreeing = self.scores.copy()
        agreeing[~self.allowed_labels(Y)] = -np.inf
        return self._restricted(agreeing).log_partitions - self.log_partitions

    def sample(self, rng: np.random.Generator, n: int) -> list[list[Any]]:
        from maxmargin.structures.sequences.compiled.chain_sums import sample_chains

        K, labels = self.scores.shape[1], np.empty((n, len(self.scores)), dtype=np.int32)
        a = np.empty((self.longest, K))
        sample_chains(self.scores, *self.links, self.bounds, a, np.empty(K), rng.random(labels.shape), labels)
        named = [self.names.named(drawn) for drawn in labels]
        return [[drawn[a:b] for drawn in named] for a, b in pairwise(self.bounds)]

    # --- additions for chains

    def allowed_labels(self, Y: Any) -> NDArray[np.bool_]:
        """Return (units, K): True if Y permits the label at the position; False for unknown labels."""
        return self.names.allowed(Y, self.bounds)

    @property
    def labels(self) -> Array:
        """(units, K): the probability of every label at every position (3)."""
        return self._summed[1]

    def log_agreement(self, allowed: NDArray[np.bool_]) -> Array:
        """Return (units,): the log-probability that a position has one of the allowed labels, (units, K)."""
        p = np.where(allowed, self.labels, 0.0).sum(axis=1)
        with np.errstate(divide="ignore"):
            found = np.log(p)
        lost = np.flatnonzero((p < LEAST) & allowed.any(axis=1))  # logarithms remain accurate for smaller ones
        for j in np.unique(self.owners[lost]):
            here = slice(self.bounds[j], self.bounds[j + 1])
            found[here] = np.logaddexp.reduce(np.where(allowed[here], self._log_labels(j), -np.inf), axis=1)
        return np.minimum(found, 0.0)

    def transitions(self, j: int) -> Array:
        """Return (T - 1, K, K): the probabilities of neighbouring labels in sequence j (4)."""
        from maxmargin.structures.sequences.compiled.chain_sums import log_pairs

        e, log_z, a, b = self._logarithms(j)
        pairs = np.zeros((max(len(e) - 1, 0), e.shape[1], e.shape[1]))
        for t in range(len(pairs)):
            log_pairs(t, e, self.links[0], a, b, log_z, 1.0, pairs[t])
        return pairs

    def stretches(self, j: int, stretches: Sequence[Stretch]) -> Array:
        """Return the probability of each of these stretches of sequence j."""
        from maxmargin.structures.sequences.compiled.chain_sums import log_stretch

        if not stretches:
            return np.zeros(0)
        (e, log_z, a, b), row = self._logarithms(j), np.empty(self.scores.shape[1])
        each = [log_stretch(e, *self.links, a, b, *stretch, row) for stretch in stretches]
        return np.minimum(np.exp(np.array(each) - log_z), 1.0)

    def _logarithms(self, j: int) -> tuple[Array, float, Array, Array]:
        """Return the scores of sequence j, log Z, and the logarithms of (1) and (2)."""
        from maxmargin.structures.sequences.compiled.chain_sums import log_backward, log_forward

        e, (T, s, f) = self.scores[self.bounds[j] : self.bounds[j + 1]], self.links
        a, b, row = np.empty_like(e), np.empty_like(e), np.empty(e.shape[1])
        if len(e) == 0:
            return e, 0.0, a, b
        log_z = log_forward(e, T, s, f, a, row)
        log_backward(e, T, f, b, row)
        return e, log_z, a, b

    def _log_labels(self, j: int) -> Array:
        """Return the logarithms of (3) for sequence j, also of probabilities that would underflow."""
        _, log_z, a, b = self._logarithms(j)
        return a + b - log_z

    def _restricted(self, scores: Array) -> ChainSums:
        """Return sums with other scores of units, -inf for labels that are not allowed."""
        return ChainSums(self.names, scores, self.links, self.bounds)

    @cached_property
    def _summed(self) -> tuple[Array, Array]:
        log_z, labels = self.summed(None, None)
        closed = np.flatnonzero(np.isneginf(log_z))
        if len(closed):
            labels[np.isin(self.owners, closed)] = 0.0  # no label sequence is possible
        return log_z, labels

    @property
    def owners(self) -> NDArray[np.intp]:
        """(units,): the sequence that every unit belongs to."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    def summed(self, weights: Array | None, pairs: Array | None) -> tuple[Array, Array]:
        """Return log Z of every sequence and (3); add Σ_j weights[j] Σ_t of (4) to `pairs`, unless it is None."""
        from maxmargin.structures.sequences.compiled.chain_sums import chain_sums

        K, n = self.scores.shape[1], len(self.bounds) - 1
        log_z, labels = np.empty(n), np.empty_like(self.scores)
        masses, spread, steps = link_masses(self.links)
        weights = np.zeros(0) if weights is None else weights
        pairs = np.zeros((0, 0)) if pairs is None else pairs
        scratch = SumScratch.of(self.longest, K)
        chain_sums(self.scores, self.links, masses, spread, steps, self.bounds, weights, scratch, log_z, labels, pairs)
        return log_z, labels


def link_masses(links: ChainLinks) -> tuple[LinkMasses, float, float]:
    """Return links as factors, their spread, and the number of steps from every label to every label."""
    T, s, f = links
    allowed = [each[np.isfinite(each)] for each in links]
    if not all(map(len, allowed)):  # sequences are either short or impossible
        none = np.zeros_like(T)
        return LinkMasses(none, none, s, f, np.zeros(3)), np.inf, np.inf
    shifts = np.array([each.max() for each in allowed])
    M, S, F = (np.exp(each - shift) for each, shift in zip((T, s, f), shifts, strict=True))
    masses = LinkMasses(M, np.ascontiguousarray(M.T), S, F, shifts)
    return masses, float(max(np.ptp(each) for each in allowed)), steps_to_all(T)


def steps_to_all(T: Array) -> float:
    """Return the number of steps in which every label can be reached from every label; inf if there is none."""
    step = np.isfinite(T)
    reached = step
    for n in range(1, (len(T) - 1) ** 2 + 2):  # Wielandt's bound: within this many steps, or never
        if reached.all():
            return float(n)
        reached = reached @ step
    return np.inf
