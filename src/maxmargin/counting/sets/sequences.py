"""Label sequences of one length, free or with forbidden transitions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array, Index
from maxmargin.counting.sets.constrained_chain import ConstrainedChain
from maxmargin.counting.sets.free_chain import FreeChain
from maxmargin.counting.sets.items import Items, ItemsLike, whole_number
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace, OutputSet
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.inputs.tokens.transitions import allowed_transitions


class LabelSequences(OutputSet):
    """The set of all sequences of L of K labels; φ counts labels, and labels a directly before b.

        φ(y) = (n_a)_a, (n_ab)_ab,     E n_a = L/K,  E n_ab = (L-1)/K²  if nothing is forbidden.

    φ sees the order of a sequence only through adjacent labels, so different sequences may have the same φ. Sets of
    different lengths with the same labels have features of the same length, and can be mixed in one training set.
    Decoding is exact (Viterbi).

    Parameters
    ----------
    labels : int or iterable
        The number of labels or their names. Outputs are tuples of labels.
    length : int
        The length L >= 1 of the sequences.
    forbidden : str or sequence of pairs
        Pairs (before, after) that may not follow each other; None stands for the start or the end. "BIO", "BILOU" and
        "IOBES" forbid transitions that are invalid in these chunk schemes. Forbidden pairs keep their coordinate, which
        is always 0.

    Examples
    --------
    >>> from maxmargin.counting import LabelSequences
    >>> LabelSequences(["N", "V"], 2).decode([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    DecodedOutput(y=('N', 'V'), value=1.0, exact=True)

    See Also
    --------
    maxmargin.SequenceLabeler : learns label sequences with a large margin.
    """

    def __init__(self, labels: ItemsLike, length: int, forbidden: str | Sequence[tuple[Hashable, Hashable]] = ()):
        self.labels = labels
        self.length = length
        self.forbidden = forbidden
        _ = self._chain

    @cached_property
    def _items(self) -> Items:
        whole_number(self.length, "length", 1, None)
        return Items(self.labels, least=1, called="label")

    @cached_property
    def _allowed(self) -> tuple[Array, Array, Array]:
        """Scores of steps, starts and ends: 0, or -inf if forbidden."""
        K = len(self._items)
        allowed = allowed_transitions(self.forbidden, {name: k for k, name in enumerate(self._items.names)})
        return allowed[: K * K].reshape(K, K), allowed[K * K : K * K + K], allowed[K * K + K :]

    @cached_property
    def _chain(self) -> FreeChain | ConstrainedChain:
        if all((part == 0).all() for part in self._allowed):
            return FreeChain(len(self._items), self.length)
        return ConstrainedChain(self.length, *self._allowed)

    @property
    def dim(self) -> int:
        return len(self._items) * (len(self._items) + 1)

    @property
    def coordinates(self) -> list[Hashable]:
        """The label, or the pair of adjacent labels, that every coordinate of φ counts."""
        names = self._items.names
        return [*names, *product(names, repeat=2)]

    def log_size(self) -> float:
        return self._chain.log_size

    def mean(self) -> Array:
        return self._chain.mean.copy()

    def cov_apply(self, F: Array) -> Array:
        return self._chain.cov_apply(F)

    def cov_spectrum(self) -> list[Eigenspace] | None:
        """Return at most five eigenspaces if nothing is forbidden, otherwise None."""
        return self._chain.cov_spectrum() if isinstance(self._chain, FreeChain) else None

    def features(self, y: Any) -> Array:
        numbers = self._numbers(y)
        K = len(self._items)
        pairs = np.bincount(numbers[:-1] * K + numbers[1:], minlength=K * K)
        return np.concatenate([np.bincount(numbers, minlength=K), pairs]).astype(float)

    def decode(self, f: Array) -> DecodedOutput:
        from maxmargin.structures.sequences.compiled import chain

        K, L = len(self._items), self.length
        f = finite_scores(f, self.dim)
        T, start, end = self._allowed
        scores, best = np.tile(f[:K], (L, 1)), np.empty(1)
        numbers, bounds = np.empty(L, dtype=np.int32), np.array([0, L], dtype=np.int64)
        chain.viterbi(
            scores, T + f[K:].reshape(K, K), start.copy(), end.copy(), bounds, np.empty((L, K)), numbers, best
        )
        return DecodedOutput(self._items.named(numbers), float(best[0]), True)

    def outputs(self) -> Iterator[tuple]:
        for numbers in product(range(len(self._items)), repeat=self.length):
            if _broken(np.array(numbers), *self._allowed) is None:
                yield self._items.named(numbers)

    def sample(self, rng: np.random.Generator) -> tuple:
        return self._items.named(self._chain.sample(rng))

    def _numbers(self, y: Any) -> Index:
        if not isinstance(y, list | tuple | str | np.ndarray):
            raise ValueError(f"{y!r} is not a sequence; expected {self.length} labels")
        if len(y) != self.length:
            raise ValueError(f"the sequence has {len(y)} labels; expected {self.length}")
        numbers = np.array([self._items.number(label) for label in y], dtype=np.intp)
        broken = _broken(numbers, *self._allowed)
        if broken is not None:
            before, after = broken
            named = [None if k is None else self._items.names[k] for k in broken]
            if before is None:
                raise ValueError(f"a sequence may not begin with {named[1]!r}")
            if after is None:
                raise ValueError(f"a sequence may not end with {named[0]!r}")
            raise ValueError(f"label {named[1]!r} may not follow {named[0]!r}")
        return numbers


def _broken(numbers: Index, T: Array, start: Array, end: Array) -> tuple[int | None, int | None] | None:
    """Return the first forbidden pair (before, after) in a sequence, or None; its start and end are None in pairs."""
    if start[numbers[0]] < 0:
        return None, int(numbers[0])
    steps = np.flatnonzero(T[numbers[:-1], numbers[1:]] < 0)
    if len(steps):
        return int(numbers[steps[0]]), int(numbers[steps[0] + 1])
    return (int(numbers[-1]), None) if end[numbers[-1]] < 0 else None
