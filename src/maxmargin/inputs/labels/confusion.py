"""Confusion matrices: which labels are mistaken for which others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.labels.labels import in_order


class Mistake(NamedTuple):
    """A true label, the label predicted instead, and how often this happened."""

    true: Hashable
    predicted: Hashable
    times: int


class LabelConfusion(NamedTuple):
    """A confusion matrix: counts[i, j] positions have the label labels[i] and were predicted as labels[j]."""

    labels: list[Hashable]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Iterable[tuple[Hashable, Hashable]]) -> LabelConfusion:
        """Count pairs (true label, predicted label)."""
        times = Counter(pairs)
        labels = in_order([label for pair in times for label in pair])
        numbers = {label: k for k, label in enumerate(labels)}
        counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
        for (label, other), n in times.items():
            counts[numbers[label], numbers[other]] = n
        return cls(labels, counts)

    def mistakes(self, n: int = 10) -> list[Mistake]:
        """Return the n most frequent mistakes, the most frequent first."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        order = np.argsort(-wrong, axis=None, kind="stable")[:n]
        places = zip(*np.unravel_index(order, wrong.shape), strict=True)
        return [Mistake(self.labels[i], self.labels[j], int(wrong[i, j])) for i, j in places if wrong[i, j]]

    def __str__(self) -> str:
        names = list(map(str, self.labels))
        first = max(map(len, ["true", *names]))
        width = max(map(len, [*names, *map(str, self.counts.ravel())]), default=0) + 1
        rows = [" ".join(["true".rjust(first), *(name.rjust(width) for name in names)])]
        for name, row in zip(names, self.counts, strict=True):
            rows.append(" ".join([name.rjust(first), *(str(count).rjust(width) for count in row)]))
        return "\n".join(rows) + "\n"
