"""Few reference alignments: BLOSUM62 as it is, scores learnt from nothing, and with BLOSUM62 as the prior.

The parts are those of alignment.py. Mode and gap costs of BLOSUM62, C, and how long the prior is beside what is learnt
are chosen by Q on the validation part; Q is then that of all test pairs.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import load_prefab4, load_substitution_matrix, prefab4_split
from benchmarks.timing import Report, cpu_seconds
from maxmargin import Aligner

PROBLEMS = ("prefab4-prior",)
SETTINGS = tuple(product((8.0, 11.0, 14.0, 18.0), (0.5, 1.0, 2.0), ("overlap", "global")))  # gap costs, and the mode
CS = (0.01, 0.1, 1.0, 10.0)
LENGTHS = (1.0, 0.1, 0.03, 0.01)
SIZES = (10, 30, 100)
OPTIONS: dict[str, Any] = {"unknown": "ignore", "tol": 1e-2, "max_passes": 100}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Train on more and more pairs."""
    pairs = load_prefab4()

    def part(index: Any) -> tuple[list[Any], list[Any]]:
        return [(pairs[i].a, pairs[i].b) for i in index], [pairs[i].alignment for i in index]

    train, validation, test = prefab4_split()
    train = np.random.default_rng(0).permutation(train)
    chosen_by, tested = part(validation), part(list(test)[:: 10 if quick else 1])
    matrix = load_substitution_matrix("BLOSUM62")
    setting = max(SETTINGS, key=lambda each: _published(matrix, *each).score(*chosen_by))
    published = _published(matrix, *setting)
    table = Table(title=f"mean Q of {len(tested[0])} test pairs of PREFAB 4")
    for heading in (
        "training pairs",
        "BLOSUM62 " + " ".join(map(str, setting)),
        "learnt",
        "with the prior",
        "C, length of the prior",
        "CPU s",
    ):
        table.add_column(heading, justify="right")
    known = published.score(*tested)
    for size in (*SIZES[: 1 if quick else None], *(() if quick else (len(train),))):
        X, Y = part(train[:size])
        best: dict[bool, tuple[float, Aligner, str]] = {}
        spent = 0.0
        settings: list[tuple[float, float | None]] = [(C, None) for C in CS[1:]]
        settings += list(product(CS, LENGTHS)) if size < len(train) else [(1.0, 0.03), (10.0, 0.03), (10.0, 0.01)]
        for C, length in settings:
            report(f"{size} pairs: C = {C}, prior × {length}")
            prior = None if length is None else _published(matrix, *setting, length)
            model = Aligner(setting[2], C=C, prior=prior, alphabet=published.alphabet_, **OPTIONS)
            _, seconds = cpu_seconds(lambda model=model, X=X, Y=Y: model.fit(X, Y))
            spent += seconds
            found = (model.score(*chosen_by), model, f"{C:g}, {length}")
            key = length is not None
            if key not in best or found[0] > best[key][0]:
                best[key] = found
        cells = [f"{100 * best[key][1].score(*tested):.1f}" for key in (False, True)]
        table.add_row(f"{size}", f"{100 * known:.1f}", *cells, best[True][2], f"{spent:.0f}")
    table.caption = "The time is that of all settings together."
    return table


def _published(matrix: Any, gap_open: float, gap_extend: float, mode: str, length: float = 1.0) -> Aligner:
    scores = {
        (a, b): length * float(matrix.values[i, j])
        for i, a in enumerate(matrix.alphabet)
        for j, b in enumerate(matrix.alphabet)
    }
    return Aligner.from_matrix(scores, length * gap_open, length * gap_extend, mode, unknown="ignore")
