"""Aligning sequences: learnt scores against published matrices, a generative model, and Biopython's speed.

prefab4 : 1681 pairs of proteins that were aligned by their structures. No family is in two of the parts that are
    trained on, chosen by and tested on; settings are chosen by Q on the second, and the model is not trained again.
    Profiles are the shares of the 20 amino acids at every position among up to 24 homologs of a protein, which
    BLOSUM62 (11, 1) aligns with it locally, with five pseudo-counts of the background.
homologs : finding the homolog of a sequence among decoys, after Tsochantaridis et al. (ICML 2004), section 4.4, with
    the paper's settings (squared slacks, C = 0.01, gap cost of the generative model 0.2), to a gap of 1%. The
    generator of the paper's data (Joachims, "Learning to align sequences: a maximum-margin approach", 2003) is not at
    hand; the one here was written to give errors of a comparable size, so that only their course can be compared.
alignment-speed : cells of the alignment table per second, with traceback, the same pairs and scores given to both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.quality import median_best
from benchmarks.timing import Report, cpu_seconds, race
from maxmargin.alignments import PairwiseAlignment
from maxmargin.datasets import (
    load_prefab4,
    load_prefab4_homologs,
    load_substitution_matrix,
    prefab4_split,
)
from maxmargin.estimators import Aligner, HomologRanker
from maxmargin.tasks import Aligned, Column, Gaps, Match

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
PSEUDO_COUNTS = 5.0
IDENTITIES = (0.0, 0.18)  # training pairs must have more: the hinge of pairs that nothing aligns outweighs the others

# --- PREFAB


@dataclass
class Part:
    """Pairs of sequences with their true alignments."""

    X: list[Any]
    Y: list[PairwiseAlignment]

    def above(self, least: float) -> Part:
        """The pairs of which a larger share of the trusted residue pairs is equal."""
        chosen = [i for i, (x, y) in enumerate(zip(self.X, self.Y, strict=True)) if identity(x, y) > least]
        return Part([self.X[i] for i in chosen], [self.Y[i] for i in chosen])

    def q(self, model: Aligner, tolerance: int = 0) -> np.ndarray:
        """The share of trusted pairs that a model finds, for every pair of sequences."""
        found = model.predict(self.X)
        return np.array([z.agreement(y, tolerance) for z, y in zip(found, self.Y, strict=True)])


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
    model = Aligner.from_matrix(load_substitution_matrix("BLOSUM62"), 11, 1, mode="local", unknown_features="ignore")
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
            options = {"letters": AMINO_ACIDS, "unknown_features": "ignore"}
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
            model = Aligner(letters=AMINO_ACIDS, unknown_features="ignore", C=c, tol=0.002, **self.options)
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


def run_prefab(repeat: int, quick: bool, report: Report) -> Table:
    """All contestants; no round is repeated, because time is not the point."""
    report("reading the data")
    parts = prefab(quick, report)
    distant = np.array([identity(x, y) < 0.2 for x, y in zip(parts.test.X, parts.test.Y, strict=True)])
    sizes = " / ".join(str(len(part.X)) for part in (parts.train, parts.validation, parts.test))
    table = Table(
        title=f"prefab4: {sizes} pairs of proteins to train on, choose by and test on",
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


# --- homologs among decoys


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


def run_homologs(repeat: int, quick: bool, report: Report) -> Table:
    """Ten training and test samples of every size."""
    n_samples, n_test = (2, 20) if quick else (10, 100)
    generator = Generator()
    table = Table(
        title=f"homologs: one among {generator.n_decoys + 1} candidates of about {generator.length} residues",
        caption=f"Errors in percent on {n_samples} samples of {n_test} tests, ± the standard error. The paper's data "
        "are others, and its figures are second-hand.",
    )
    table.add_column("training examples", justify="right")
    for heading in ("max-margin", "generative", "paper: max-margin", "paper: generative", "CPU s"):
        table.add_column(heading, justify="right")
    shared: dict[str, Any] = {"gaps": "linear", "symmetric": False, "letters": AMINO_ACIDS, "mode": "local"}
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


# --- speed


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


def run_speed(repeat: int, quick: bool, report: Report) -> Table:
    """Both on the pairs of PREFAB, short and long ones apart."""
    pairs = load_prefab4()[:: 40 if quick else 4]
    matrix = load_substitution_matrix("BLOSUM62")
    table = Table(
        title="alignment-speed: BLOSUM62, gap costs 11 and 1, on pairs of PREFAB",
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


PROBLEMS: dict[str, Callable[[int, bool, Report], Table]] = {
    "prefab4": run_prefab,
    "homologs": run_homologs,
    "alignment-speed": run_speed,
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """One of the three."""
    return PROBLEMS[name](repeat, quick, report)
