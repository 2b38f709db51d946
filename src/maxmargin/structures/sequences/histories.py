"""Histories: chains that remember the last k labels, as first-order chains of histories.

Every window of n = 2 … k + 1 neighbours of  ⊥ y_1 … y_T ⊤  has a weight, where ⊥ and ⊤ stand for start and end:

    Σ_t T[y_t, y_{t+1}] + s[y_1] + f[y_T] + Σ_{n = 3}^{k + 1} Σ over windows of n neighbours of W_n[window]          (1)

A history has the labels that the next windows depend on: the last k labels, or ⊥ and all labels if there are fewer. A
step appends a label; its score is the sum of the weights of the windows that it completes. The allowed label n-grams
are given, and a label sequence is allowed if all of its n-grams are; the search is exact over these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_memory
from maxmargin.base.errors import LargeModel, warn_caller
from maxmargin.structures.sequences.compiled.step_arrays import Blocks, Steps
from maxmargin.structures.sequences.partial_labels import LabelPositions

Codes = NDArray[np.int64]  # n-grams of labels as numbers of n digits to the base K, in rising order
STEP_BYTES = 450.0  # memory that training takes for each n-gram of k + 1 labels, measured
MANY_BYTES = 2.0**28  # from here on a warning is due
SPARSE = 8  # a step outside of tables takes as long as this many cells


class Histories:
    """The histories of chains with K labels, and the weights of (1) from the beginning of w on: T, s, f, W_3, …

    ngrams : for n = 1 … k + 1, the allowed n-grams; every part of an allowed n-gram is allowed.
    starts, ends : (K,), True for labels that may be the first and the last.
    """

    def __init__(self, n_labels: int, ngrams: list[Codes], starts: NDArray[np.bool_], ends: NDArray[np.bool_]):
        self.n_labels, self.ngrams, self.order = n_labels, ngrams, len(ngrams) - 1
        self._first_weight: dict[tuple[int, bool, bool], int] = {}  # by (labels, begins with ⊥, ends with ⊤)
        K = n_labels
        top = self.first_longer = K * K + 2 * K
        for n in range(3, self.order + 2):
            for start, end in product((False, True), repeat=2):
                self._first_weight[n - start - end, start, end] = top
                top += len(ngrams[n - start - end - 1])
        self.dim = top
        self.steps = self._steps(starts, ends)
        self.blocks = self._blocks()

    def freed(self) -> Histories:
        """Return the same histories with any label allowed at the start and the end."""
        anywhere = np.ones(self.n_labels, dtype=bool)
        return Histories(self.n_labels, self.ngrams, anywhere, anywhere)

    @property
    def kinds(self) -> list[tuple[int, bool, bool]]:
        """The kinds of windows of W_3, …: the number of labels, and whether ⊥ and ⊤ are included."""
        return list(self._first_weight)

    @property
    def pairs(self) -> Codes:
        """The pairs of labels that may follow each other."""
        return self.ngrams[1]

    def place(self, codes: Codes, n: int, start: bool = False, end: bool = False) -> Codes:
        """Return the numbers of the weights of windows: n labels each, perhaps after ⊥ or before ⊤."""
        K = self.n_labels
        if n + start + end == 2:
            return codes + K * K * (start or end) + K * end
        return self._first_weight[n, start, end] + np.searchsorted(self.ngrams[n - 1], codes)

    def names(self, classes: Sequence[Hashable]) -> list[tuple[Hashable, ...]]:
        """Return the names of the weights W_3, … in their order; None stands for the start and the end."""
        named: list[tuple[Hashable, ...]] = []
        for n, start, end in self._first_weight:
            for labels in digits(self.ngrams[n - 1], n, self.n_labels).tolist():
                named.append((*[None] * start, *(classes[k] for k in labels), *[None] * end))
        return named

    def windows(self, labels: Sequence[int]) -> list[int]:
        """Return the weights of (1) for one label sequence, in plain Python."""
        K, found = self.n_labels, []
        padded = [-1, *labels, K]
        for n in range(2, self.order + 2):
            for window in zip(*(padded[i:] for i in range(n)), strict=False):
                start, end = window[0] == -1, window[-1] == K
                inner = window[start : n - end]
                code = np.array([sum(k * K ** (len(inner) - 1 - i) for i, k in enumerate(inner))])
                found.append(int(self.place(code, len(inner), start, end)[0]))
        return found

    def allows(self, labels: Sequence[int]) -> bool:
        """Return whether a sequence may have these labels."""
        now, steps = 0, self.steps
        for k in labels:
            step = int(steps.follow[now, k])
            if step < 0:
                return False
            now = int(steps.target[step])
        return bool(steps.closed[now] == 0)

    # --- arrays

    def _steps(self, starts: NDArray[np.bool_], ends: NDArray[np.bool_]) -> Steps:
        K, order = self.n_labels, self.order
        # The codes of histories, by number: the root, those after ⊥, and those of k labels.
        codes = [np.zeros(1, dtype=np.int64)]
        for n in range(1, order):
            codes.append(self.ngrams[n - 1][starts[self.ngrams[n - 1] // K ** (n - 1)]])
        codes.append(self._by_last_label())
        number = np.argsort(codes[order])
        levels = np.concatenate([[0], np.cumsum([len(each) for each in codes])])

        def history(n: int, wanted: Codes) -> Codes:
            if n < order:
                return levels[n] + np.searchsorted(codes[n], wanted)
            return levels[n] + number[np.searchsorted(self.ngrams[n - 1], wanted)]

        found, rows, begins = [], [0], [np.zeros(1, dtype=np.int64)]
        top = 0
        for depth in range(order + 1):
            n = depth + 1  # the labels that a step of this depth has seen and remembers
            if depth < order:
                made = codes[n] if n < order else self.ngrams[n - 1][starts[self.ngrams[n - 1] // K ** (n - 1)]]
                sources, targets = (
                    history(n - 1, made // K) if n > 1 else np.zeros(len(made), np.int64),
                    history(n, made),
                )
            else:
                made = self.ngrams[order]
                sources, targets = history(order, made // K), history(order, made % K**order)
            sorted_ = np.lexsort((sources, targets))
            level = min(n, order)
            counts = np.bincount(targets - levels[level], minlength=levels[level + 1] - levels[level])
            begins.append(top + np.cumsum(counts))
            rows.append(rows[-1] + len(counts))
            top += len(made)
            pair = np.searchsorted(self.pairs, made % K**2) if n > 1 else np.full(len(made), -1)
            parts = self._parts(made, n, depth < order)
            found.append([each[sorted_] for each in (sources, targets, pair, parts)])
        source, target, pair, parts = (np.concatenate(each) for each in zip(*found, strict=True))
        label = np.concatenate(codes) % K
        end_parts = [self._end_parts(each, n, n < order) for n, each in enumerate(codes)]
        follow = np.full((len(label), K), -1, dtype=np.int32)
        follow[source, label[target]] = np.arange(len(source))
        outs = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(label)))])
        ending = np.full(len(label), -1, dtype=np.int32)
        if order > 1:
            ending[levels[2] :] = np.searchsorted(self.pairs, np.concatenate(codes)[levels[2] :] % K**2)
        return Steps(
            levels, np.array(rows[:-1]), np.concatenate(begins),
            source.astype(np.uint32), target.astype(np.uint32), pair.astype(np.int32),
            outs, np.argsort(source, kind="stable").astype(np.uint32), label.astype(np.uint32), ending,
            parts.astype(np.int32), np.concatenate(end_parts).astype(np.int32),
            np.where(ends[label], 0.0, -np.inf), follow,
        )  # fmt: skip

    def _by_last_label(self) -> Codes:
        """Return the histories of k labels, sorted by the last label, then by the label before it, and so on."""
        return self.ngrams[self.order - 1][np.lexsort(digits(self.ngrams[self.order - 1], self.order, self.n_labels).T)]

    def _blocks(self) -> Blocks:
        """Arrange the steps between histories of k labels in tables."""
        K, order, steps = self.n_labels, self.order, self.steps
        histories = slice(steps.levels[order], steps.levels[order + 1])
        codes = self._by_last_label()
        from_here = slice(steps.begins[steps.rows[order]], len(steps.source))
        source, target = steps.source[from_here], steps.target[from_here]
        # Sources with the same ending are adjacent; the middle of a step is the ending of its source.
        ending, first, height = np.unique(codes % K ** (order - 1), return_index=True, return_counts=True)
        reached = np.unique(target)
        middle = np.searchsorted(ending, codes[reached - histories.start] // K)
        reached, middle = reached[np.argsort(middle, kind="stable")], np.sort(middle)
        count = np.bincount(middle, minlength=len(ending))
        width = np.maximum(count, 2)
        of_step = np.searchsorted(ending, codes[source - histories.start] % K ** (order - 1))
        dense = height * width <= SPARSE * np.bincount(of_step, minlength=len(ending))
        begin = np.cumsum(height * width * dense) - height * width * dense
        column = np.empty(len(steps.label), dtype=np.int64)
        column[reached] = np.arange(len(reached)) - (np.cumsum(count) - count)[middle]
        cell = np.full(len(steps.source), -1)
        inside = begin[of_step] + (source - histories.start - first[of_step]) * width[of_step] + column[target]
        cell[from_here] = np.where(dense[of_step], inside, -1)
        kept = reached[dense[middle]].astype(np.uint32)
        return Blocks(
            first[dense] + histories.start, height[dense], width[dense], begin[dense],
            np.append(0, np.cumsum(count[dense])), kept, steps.label[kept], cell, int(np.sum((height * width)[dense])),
            np.setdiff1d(np.arange(histories.start, histories.stop), kept).astype(np.uint32),
        )  # fmt: skip

    def _parts(self, codes: Codes, n: int, after_start: bool) -> Codes:
        """Return (len(codes), k): the windows that end with the last of n labels."""
        parts = np.full((len(codes), self.order), -1)
        for size in range(2, self.order + 2):
            if size <= n:
                parts[:, size - 2] = self.place(codes % self.n_labels**size, size)
            elif after_start and size == n + 1:
                parts[:, size - 2] = self.place(codes, n, start=True)
        return parts

    def _end_parts(self, codes: Codes, n: int, after_start: bool) -> Codes:
        """Return (len(codes), k): the windows that end with ⊤, after n labels."""
        parts = np.full((len(codes), self.order), -1)
        for size in range(2, self.order + 2 if n else 0):
            if size - 1 <= n:
                parts[:, size - 2] = self.place(codes % self.n_labels ** (size - 1), size - 1, end=True)
            elif after_start and size == n + 2:
                parts[:, size - 2] = self.place(codes, n, start=True, end=True)
        return parts


def check_ngrams(ngrams: list[Codes], allowed: NDArray[np.bool_]) -> None:
    """Raise a ValueError unless Histories accepts these n-grams, with neighbours among the allowed pairs, (K, K)."""
    K = len(allowed)
    if len(ngrams) < 2:
        raise ValueError("there are no pairs of labels")
    _check_codes(K, len(ngrams))
    for n, codes in enumerate(ngrams, start=1):
        if len(codes) and (codes[0] < 0 or codes[-1] >= K**n or (np.diff(codes) <= 0).any()):
            raise ValueError(f"{n}-grams of labels are not in order")
        if len(with_allowed_neighbours(codes, n, allowed)) < len(codes):
            raise ValueError(f"{n}-grams of labels have transitions that are not allowed")
        for part in (codes // K, codes % K ** (n - 1)) if n > 1 else ():
            if not np.isin(part, ngrams[n - 2]).all():
                raise ValueError(f"{n}-grams of labels contain shorter ones that are not allowed")


def digits(codes: Codes, n: int, base: int) -> NDArray[np.int64]:
    """Return (len(codes), n): the labels of n-grams."""
    return codes[:, None] // base ** np.arange(n - 1, -1, -1, dtype=np.int64) % base


def all_ngrams(
    allowed: NDArray[np.bool_], order: int, positions: Callable[[], LabelPositions] | None = None
) -> list[Codes]:
    """Return, for n = 1 … order + 1, all n-grams whose neighbours are among the allowed pairs, (K, K).

    positions : returns the labels of the training data, with which very many n-grams are compared; None: not compared.
    """
    K = len(allowed)
    _check_codes(K, order + 1)
    endings = np.ones(K)  # for every label, how many n-grams begin with it
    for _ in range(order):
        endings = allowed @ endings
    _check_memory(float(endings.sum()))  # before the shorter ones, of which there are nearly as many, take memory
    ngrams = [np.arange(K, dtype=np.int64)]
    for _ in range(order):
        longer = (ngrams[-1][:, None] * K + np.arange(K)).ravel()
        ngrams.append(longer[allowed[longer // K % K, longer % K]])
    if positions is not None and STEP_BYTES * len(ngrams[-1]) > MANY_BYTES:
        _warn_of_many(len(ngrams[-1]), order, len(positions().rows))
    return ngrams


def observed_ngrams(positions: LabelPositions, allowed: NDArray[np.bool_], order: int) -> list[Codes]:
    """Return, for n = 1 … order + 1, the allowed n-grams that occur in these labels.

    A missing label counts as every label that it may be, but sequences without any label are ignored.
    """
    rows, choices = positions.rows, positions.choices.allowed
    offsets = positions.offsets[np.append(True, np.diff(positions.offsets) > 0)]  # without empty sequences
    K, R = choices.shape[1], len(choices)
    _check_codes(R, order + 1)
    lengths = np.diff(offsets)
    tells = np.repeat(np.logical_or.reduceat(~choices[rows].all(axis=1), offsets[:-1]), lengths)
    left = np.repeat(offsets[1:], lengths) - np.arange(len(rows))  # positions up to the end of the sequence
    ngrams = []
    for n in range(1, order + 2):
        at = np.flatnonzero((left >= n) & tells)
        codes = np.zeros(len(at), dtype=np.int64)
        for i in range(n):
            codes = codes * R + rows[at + i]
        given = digits(np.unique(codes), n, R)
        whole = (given < K).all(axis=1)
        found = [given[whole] @ K ** np.arange(n - 1, -1, -1, dtype=np.int64)]
        for window in given[~whole]:
            members = [np.flatnonzero(choices[row]) for row in window]
            _check_memory(float(np.prod([float(len(each)) for each in members])))
            some = np.zeros(1, dtype=np.int64)
            for each in members:
                some = (some[:, None] * K + each).ravel()
            found.append(some)
        ngrams.append(with_allowed_neighbours(np.unique(np.concatenate(found)), n, allowed))
    return ngrams


def with_earlier_ngrams(
    ngrams: list[Codes], earlier: list[Codes], numbers: NDArray[np.int64], allowed: NDArray[np.bool_]
) -> list[Codes]:
    """Return the n-grams of this and of an earlier model, whose label k has the number numbers[k] in this one."""
    K, joined = len(allowed), []
    for n, (own, known) in enumerate(zip(ngrams, earlier, strict=True), start=1):
        also = renumbered(known, n, len(numbers), numbers, K)
        joined.append(np.union1d(own, with_allowed_neighbours(also, n, allowed)))
    return joined


def with_allowed_neighbours(codes: Codes, n: int, allowed: NDArray[np.bool_]) -> Codes:
    """Return the n-grams all of whose neighbours are allowed pairs."""
    labels = digits(codes, n, len(allowed))
    return codes[allowed[labels[:, :-1], labels[:, 1:]].all(axis=1)]


def renumbered(codes: Codes, n: int, K: int, numbers: NDArray[np.int64], new_K: int) -> Codes:
    """Return the codes of n-grams in which label k gets the number numbers[k], of new_K; not sorted."""
    return numbers[digits(codes, n, K)] @ new_K ** np.arange(n - 1, -1, -1, dtype=np.int64)


def _check_codes(base: int, n: int) -> None:
    if float(base) ** n >= 2.0**62:
        raise ValueError(f"sequences of {n} labels out of {base} cannot be numbered with 64 bits; give a smaller order")


def _check_memory(n_steps: float) -> None:
    check_memory(
        f"a table of {n_steps:,.0f} n-grams of labels",
        STEP_BYTES * n_steps,
        "give a smaller order, or ngrams='observed'",
    )


def _warn_of_many(n_steps: int, order: int, n_tokens: int) -> None:
    """Warn if the n-grams of order + 1 labels are more than the tokens of the training data."""
    if n_steps > n_tokens:
        warn_caller(
            f"order={order} makes {n_steps:,} runs of {order + 1} labels, which take about "
            f"{STEP_BYTES * n_steps / 2**30:.1f} GB, for {n_tokens:,} tokens: ngrams='observed' keeps only those that "
            "occur in the labels, and a smaller order has fewer",
            LargeModel,
        )


def link_scores(w: Array, parts: NDArray[np.int32]) -> Array:
    """Return the sum of the weights of every step, or end."""
    from maxmargin.structures.sequences.compiled.histories import add_parts

    scores = np.zeros(len(parts))
    add_parts(w, parts, scores)
    return scores
