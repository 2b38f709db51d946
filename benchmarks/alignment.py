"""Aligning proteins: learnt scores against published matrices and a generative model, on PREFAB 4.

1681 pairs of proteins were aligned by their structures. No family is in two of the parts that are trained on, chosen by
and tested on; settings are chosen by Q on the second, and the model is not trained again. Profiles are the shares of
the 20 amino acids at every position among up to 24 homologs of a protein, which BLOSUM62 (11, 1) aligns with it
locally, with five pseudo-counts of the background.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.loaders import (
    load_prefab4,
    load_prefab4_homologs,
    load_substitution_matrix,
    prefab4_split,
)
from benchmarks.quality import median_best
from benchmarks.timing import Report, cpu_seconds
from maxmargin import Aligner
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.tasks import Column, Gaps, Match

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
PSEUDO_COUNTS = 5.0
PROBLEMS = ("prefab4",)
IDENTITIES = (0.0, 0.18)  # training pairs must have more: the hinge of pairs that nothing aligns outweighs the others

# --- data


@dataclass
class Part:
    """Pairs of sequences with their true alignments."""

    X: list[Any]
    Y: list[PairwiseAlignment]

    def above(self, least: float) -> Part:
        """The pairs of which a larger share of the trusted residue pairs is equal."""
        chosen = [i for i, (x, y) in enumerate(zip(self.X, self.Y, strict=True)) if identity(x, y) > least]
        return Part([self.X[i] for i in chosen], [self.Y[i] for i in chosen])

    def q(self, model: Aligner, max_shift: int = 0) -> np.ndarray:
        """The share of trusted pairs that a model finds, for every pair of sequences."""
        found = model.predict(self.X)
        return np.array([z.agreement(y, max_shift) for z, y in zip(found, self.Y, strict=True)])


@dataclass
class Parts:
    """What is trained on, chosen by, and tested on."""

    train: Part
    validation: Part
    test: Part


def prefab(quick: bool, report: Report) -> Parts:
    """The three parts, with profiles."""
    pairs, homologs = load_prefab4(), load_prefab4_homologs()
    indices = [index[:: 20 if quick else 1] for index in prefab4_split()]
    background = np.array([sum(p.a.count(k) + p.b.count(k) for p in pairs) for k in AMINO_ACIDS], dtype=float)
    background /= background.sum()
    known: dict[tuple[str, str], Any] = {}
    parts = []
    for part, index in enumerate(indices):
        X, Y = [], []
        for number, i in enumerate(index):
            if number % 200 == 0:
                report(f"profiles of part {part + 1} of 3, pair {number + 1} of {len(index)}")
            sides = []
            for protein, sequence in zip(pairs[i].proteins, (pairs[i].a, pairs[i].b), strict=True):
                if (protein, sequence) not in known:
                    records = homologs[i].get(protein, [])
                    counts = profile_counts(sequence, [record.sequence.upper() for record in records])
                    total = counts.sum(axis=1, keepdims=True) + PSEUDO_COUNTS
                    known[protein, sequence] = {
                        "residue": sequence,
                        "profile": (counts + PSEUDO_COUNTS * background) / total,
                    }
                sides.append(known[protein, sequence])
            X.append(tuple(sides))
            Y.append(pairs[i].alignment)
        parts.append(Part(X, Y))
    return Parts(*parts)


def profile_counts(sequence: str, homologs: Sequence[str]) -> np.ndarray:
    """(length, 20): how often each amino acid stands at a position, in the sequence and in what aligns with it."""
    model = Aligner.from_matrix(load_substitution_matrix("BLOSUM62"), 11, 1, mode="local", unknown="ignore")
    counts = np.zeros((len(sequence), len(AMINO_ACIDS) + 1))
    counts[np.arange(len(sequence)), [AMINO_ACIDS.find(k) for k in sequence]] += 1
    for other, found in zip(homologs, model.predict([(sequence, other) for other in homologs]), strict=True):
        letters = [AMINO_ACIDS.find(other[j]) for j in found.pairs[:, 1]]
        counts[found.pairs[:, 0], letters] += 1
    return counts[:, :-1]  # what is no amino acid was counted in the last column


class Contestant:
    """A way to align proteins; all settings that are chosen among are trained."""

    name: str

    def view(self, part: Part) -> Part:
        """What it sees of the data: sequences without profiles, unless it says otherwise."""
        return Part([tuple(side["residue"] for side in x) for x in part.X], part.Y)

    def train(self, part: Part) -> list[tuple[str, Aligner, float]]:
        """The settings, the model and the CPU seconds that its training took."""
        raise NotImplementedError


class MatrixContestant(Contestant):
    """A published matrix, with given gap costs or the best ones of a grid."""

    modes = ("overlap", "global")
    grid = tuple(product((8.0, 10.0, 11.0, 12.0, 14.0, 16.0, 18.0), (0.5, 1.0, 1.5, 2.0, 3.0)))

    def __init__(self, matrix: str, mode: str | None = None, costs: tuple[float, float] | None = None):
        self.matrix = matrix
        self.modes = self.modes if mode is None else (mode,)
        self.grid = self.grid if costs is None else (costs,)
        self.name = f"{matrix}, " + ("best gap costs" if costs is None else f"{costs[0]:g} / {costs[1]:g}")

    def train(self, part: Part) -> list[tuple[str, Aligner, float]]:
        matrix = load_substitution_matrix(self.matrix)
        return [
            (f"{mode}, {opened:g} / {extended:g}", Aligner.from_matrix(matrix, opened, extended, mode), 0.0)
            for mode in self.modes
            for opened, extended in self.grid
        ]


class LogOddsContestant(Contestant):
    """Log-odds scores counted in the training part, with the best gap costs of a grid."""

    name = "log-odds, best gap costs"
    grid = tuple(product((2.0, 3.0, 4.0, 5.0, 6.0, 7.0), (0.1, 0.2, 0.4, 0.8)))

    def train(self, part: Part) -> list[tuple[str, Aligner, float]]:
        trained = []
        for mode, least, costs in product(("overlap", "global"), IDENTITIES, self.grid):
            seen = part.above(least)
            options = {"alphabet": AMINO_ACIDS, "unknown": "ignore"}
            make = partial(Aligner.from_log_odds, seen.X, seen.Y, *costs, mode, **options)
            settings = f"{mode}, {costs[0]:g} / {costs[1]:g}, identity > {least:.0%}"
            trained.append((settings, *cpu_seconds(make)))
        return trained


class LearntContestant(Contestant):
    """Aligner with some features."""

    grid = tuple(product((0.1, 1.0), IDENTITIES))

    def __init__(self, name: str, profiles: bool = False, **options: Any):
        self.name, self.profiles, self.options = name, profiles, options
        self.worst_gap = 0.0

    def view(self, part: Part) -> Part:
        return part if self.profiles else super().view(part)

    def train(self, part: Part) -> list[tuple[str, Aligner, float]]:
        trained = []
        for c, least in self.grid:
            model = Aligner(alphabet=AMINO_ACIDS, unknown="ignore", C=c, tol=0.002, **self.options)
            seen = part.above(least)
            seconds = cpu_seconds(partial(model.fit, seen.X, seen.Y))[1]
            settings = f"{model.mode}, C = {c:g}, identity > {least:.0%}"
            trained.append((settings, model, seconds))
            self.worst_gap = max(self.worst_gap, model.certificate_.relative_gap)
        return trained


def profile_maps(radius: int) -> list[Match]:
    return [Match(Column("profile", d)) for d in range(-radius, radius + 1)]


def contestants() -> Sequence[Contestant]:
    """From a fixed matrix to learnt profiles."""
    near = Gaps("affine", "residue", "residue")
    return (
        MatrixContestant("BLOSUM62", "overlap", (11.0, 1.0)),
        MatrixContestant("BLOSUM62"),
        LogOddsContestant(),
        LearntContestant("Aligner('simple')"),
        LearntContestant("Aligner('simple'), gaps by residue", gaps=near),
        LearntContestant("Aligner('window')", features="window"),
        LearntContestant("Aligner(profile × profile)", profiles=True, features=profile_maps(0)),
        LearntContestant("Aligner(profile × profile ± 2)", profiles=True, features=profile_maps(2)),
    )


def identity(x: Any, y: PairwiseAlignment) -> float:
    """The share of equal residues among the trusted pairs."""
    a, b = (side if isinstance(side, str) else side["residue"] for side in x)
    return float(np.mean([a[i] == b[j] for i, j in y.pairs[y.trusted]]))


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All contestants; no round is repeated, because time is not the point."""
    report("reading the data")
    parts = prefab(quick, report)
    distant = np.array([identity(x, y) < 0.2 for x, y in zip(parts.test.X, parts.test.Y, strict=True)])
    sizes = " / ".join(str(len(part.X)) for part in (parts.train, parts.validation, parts.test))
    table = Table(
        title=f"{name}: {sizes} pairs of proteins to train on, choose by and test on",
        caption="Mean share of trusted residue pairs found, in percent; Q4: within four positions; the last one of the "
        f"{distant.sum()} test pairs below 20% identity. CPU s: of one training, the mean over all settings tried.",
    )
    table.add_column("model")
    for heading in ("weights", "validation Q", "test Q", "test Q4", "Q below 20%", "CPU s", "largest gap"):
        table.add_column(heading, justify="right")
    table.add_column("chosen")
    for contestant in contestants():
        report(contestant.name)
        trained = contestant.train(contestant.view(parts.train))
        validation, seen = contestant.view(parts.validation), contestant.view(parts.test)
        marks = [float(np.mean(validation.q(model))) for _, model, _ in trained]
        best = median_best(marks)
        settings, model, _ = trained[best]
        q, gap = seen.q(model), getattr(contestant, "worst_gap", None)
        table.add_row(
            contestant.name,
            str(len(model.w_)),
            *(f"{100 * mark:.1f}" for mark in (marks[best], q.mean(), seen.q(model, 4).mean(), q[distant].mean())),
            f"{np.mean([seconds for _, _, seconds in trained]):.1f}",
            "" if gap is None else f"{100 * gap:.2g}%",
            settings,
        )
    return table
