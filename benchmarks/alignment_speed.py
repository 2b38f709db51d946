"""The speed of alignment with traceback: Aligner against Biopython's PairwiseAligner, the same pairs and scores."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_prefab4, load_substitution_matrix
from benchmarks.timing import Report, race
from maxmargin import Aligner

PROBLEMS = ("alignment-speed",)


class OwnAligner:
    """Aligner.predict."""

    name = "Aligner"

    def __init__(self, model: Aligner, X: list[Any]):
        self.model, self.X = model, X

    def warm_up(self) -> None:
        self.model.predict(self.X[:1])

    def prepare(self) -> None:
        pass

    def train(self) -> None:
        self.model.predict(self.X)


class Biopython:
    """Bio.Align.PairwiseAligner with the same scores; the first of the best alignments is asked for."""

    name = "Biopython"

    def __init__(self, model: Aligner, X: list[Any]):
        self.aligner, self.X = model.to_biopython(), X

    def warm_up(self) -> None:
        pass

    def prepare(self) -> None:
        pass

    def train(self) -> None:
        for a, b in self.X:
            _ = self.aligner.align(a, b)[0].coordinates


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Both on the pairs of PREFAB, short and long ones apart."""
    pairs = load_prefab4()[:: 40 if quick else 4]
    matrix = load_substitution_matrix("BLOSUM62")
    table = Table(
        title=f"{name}: BLOSUM62, gap costs 11 and 1, on pairs of PREFAB",
        caption="Millions of table cells per CPU second, the best round; alignments are traced back.",
    )
    table.add_column("mode")
    for heading in ("cells per pair", "pairs", "Aligner", "Biopython", "ratio"):
        table.add_column(heading, justify="right")
    sizes = np.array([len(p.a) * len(p.b) for p in pairs])
    borders = [0, *np.quantile(sizes, [1 / 3, 2 / 3]), sizes.max() + 1]
    for mode in ("global", "overlap", "local"):
        model = Aligner.from_matrix(matrix, 11, 1, mode=mode)
        for low, high in pairwise(borders):
            chosen = np.flatnonzero((sizes >= low) & (sizes < high))
            X = [(pairs[i].a, pairs[i].b) for i in chosen]
            rivals = [OwnAligner(model, X), Biopython(model, X)]
            timings = race(rivals, repeat, report)
            rates = [sizes[chosen].sum() / 1e6 / timing.minimum for timing in timings]
            table.add_row(
                mode,
                f"{sizes[chosen].mean():,.0f}",
                str(len(X)),
                *(f"{rate:.0f}" for rate in rates),
                f"{rates[0] / rates[1]:.1f}",
            )
    return table
