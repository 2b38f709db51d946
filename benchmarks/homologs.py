"""Finding the homolog of a sequence among decoys: HomologRanker against a generative model.

After Tsochantaridis et al. (ICML 2004), section 4.4, with the paper's settings (squared slacks, C = 0.01, gap cost of
the generative model 0.2), to a gap of 1%. The generator of the paper's data (Joachims, "Learning to align sequences: a
maximum-margin approach", 2003) is not at hand; the one here was written to give errors of a comparable size, so that
only their course can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.timing import Report, cpu_seconds
from maxmargin import Aligner, HomologRanker
from maxmargin.tasks import Aligned

PROBLEMS = ("homologs",)
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


@dataclass
class Generator:
    """Native sequences, a homolog of each, and decoys.

    A native sequence has `length` letters, all 20 equally likely. Its homolog is written from left to right: with
    probability `gap` some residues of the native sequence are left out, with the same probability some random ones are
    put in (how many is geometrical, each further one with probability one half), and otherwise the next residue is
    copied: as it is with probability `kept`, as one of three letters that are near it with probability `near`, else as
    any letter. Near letter k are k + 1, k + 2 and k + 3, counted round. Decoys are drawn as native sequences are.
    """

    length: int = 50
    n_decoys: int = 20
    kept: float = 0.4
    near: float = 0.3
    gap: float = 0.05

    def draw(self, n: int, rng: np.random.Generator) -> tuple[list[Any], list[Aligned]]:
        X, Y = [], []
        for _ in range(n):
            native = rng.integers(20, size=self.length)
            homolog, pairs = self.homolog(native, rng)
            candidates = [rng.integers(20, size=self.length) for _ in range(self.n_decoys)]
            place = int(rng.integers(self.n_decoys + 1))
            candidates.insert(place, homolog)
            X.append((text(native), [text(candidate) for candidate in candidates]))
            Y.append(Aligned(place, pairs))
        return X, Y

    def homolog(self, native: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, list[tuple[int, int]]]:
        letters: list[int] = []
        pairs: list[tuple[int, int]] = []
        i = 0
        while i < len(native):
            kind = rng.random()
            if kind < self.gap:
                i += int(rng.geometric(0.5))
            elif kind < 2 * self.gap:
                letters += rng.integers(20, size=int(rng.geometric(0.5))).tolist()
            else:
                pairs.append((i, len(letters)))
                letters.append(self.copied(int(native[i]), rng))
                i += 1
        return np.array(letters), pairs

    def copied(self, letter: int, rng: np.random.Generator) -> int:
        kind = rng.random()
        if kind < self.kept:
            return letter
        if kind < self.kept + self.near:
            return (letter + int(rng.integers(1, 4))) % 20
        return int(rng.integers(20))


def text(numbers: np.ndarray) -> str:
    return "".join(AMINO_ACIDS[k] for k in numbers)


# Test errors of the paper in percent, second-hand: the tables of the text at hand have lost their figures.
PAPER = {1: (47.0, 74.3), 4: (14.4, 28.0), 10: (7.1, 10.2), 40: (3.0, 2.3), 80: (2.8, 1.9)}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Ten training and test samples of every size."""
    n_samples, n_test = (2, 20) if quick else (10, 100)
    generator = Generator()
    table = Table(
        title=f"{name}: one among {generator.n_decoys + 1} candidates of about {generator.length} residues",
        caption=f"Errors in percent on {n_samples} samples of {n_test} tests, ± the standard error. The paper's data "
        "are others, and its figures are second-hand.",
    )
    table.add_column("training examples", justify="right")
    for heading in ("max-margin", "generative", "paper: max-margin", "paper: generative", "CPU s"):
        table.add_column(heading, justify="right")
    shared: dict[str, Any] = {"gaps": "linear", "symmetric": False, "alphabet": AMINO_ACIDS, "mode": "local"}
    for n, paper in PAPER.items():
        errors: dict[str, list[float]] = {"max-margin": [], "generative": []}
        seconds = []
        for sample in range(n_samples):
            report(f"{n} examples, sample {sample + 1} of {n_samples}")
            rng = np.random.default_rng([n, sample])
            X, Y = generator.draw(n, rng)
            tests = generator.draw(n_test, rng)
            ranker = HomologRanker(C=0.01, slack="l2", **shared)
            seconds.append(cpu_seconds(partial(ranker.fit, X, Y))[1])
            pairs = [(x[0], x[1][y.candidate]) for x, y in zip(X, Y, strict=True)]
            counted = Aligner.from_log_odds(pairs, [y.alignment for y in Y], 0.2, 0.2, **shared)
            for name, model in (("max-margin", ranker), ("generative", HomologRanker.from_aligner(counted))):
                errors[name].append(100 * (1 - model.score(*tests)))
        table.add_row(
            str(n),
            *(f"{np.mean(e):.1f} ± {np.std(e, ddof=1) / np.sqrt(len(e)):.1f}" for e in errors.values()),
            *(f"{value:.1f}" for value in paper),
            f"{np.mean(seconds):.2f}",
        )
    return table
