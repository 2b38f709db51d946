"""Sequences of which only some positions are labelled: SequenceLabeler on what there is, against cutting them up.

A share of the labels, drawn at random position by position, is kept; the others become None. A toolkit that cannot
read such data is given what can be made of them: every stretch of labelled positions as a sequence of its own
("stretches"), or the missing labels filled with the most frequent one. All are tested on fully labelled sequences.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.sequences import CrfsuiteContestant, Problem, Tags, conll2000, ocr_letters
from benchmarks.timing import Report, cpu_seconds
from maxmargin.metrics import chunk_f1

# C per training sequence as in benchmarks.sequences
PROBLEMS: dict[str, Callable[[bool], Problem]] = {
    "partial-conll2000": partial(conll2000, c=1000 / 8936),
    "partial-ocr": partial(ocr_letters, c=1000 / 6251, train_on_fold_0=False),
}
KEPT = (1.0, 0.5, 0.2, 0.05)


def hidden(tags: Tags, kept: float) -> list[list[Any]]:
    """The tags, with None in most places."""
    rng = np.random.default_rng(0)
    return [[tag if rng.random() < kept else None for tag in sequence] for sequence in tags]


def stretches(X: Any, Y: list[list[Any]]) -> tuple[list[Any], Tags]:
    """Every run of labelled positions as a sequence."""
    parts: tuple[list[Any], Tags] = [], []
    for x, y in zip(X, Y, strict=True):
        begin = 0
        for t in range(len(y) + 1):
            if t == len(y) or y[t] is None:
                if t > begin:
                    parts[0].append(x[begin:t])
                    parts[1].append(y[begin:t])
                begin = t + 1
    return parts


def contestants(problem: Problem, Y: list[list[Any]]) -> dict[str, Callable[[], Any]]:
    """Ways to train on these labels; each returns something that tags the test sequences, and a note."""
    from maxmargin import SequenceLabeler

    classes = sorted({tag for tags in problem.train_tags for tag in tags})

    def own(X: Any, tags: list[list[Any]], forbidden: Any = ()) -> Any:
        model = SequenceLabeler(problem.c * len(tags), classes, forbidden=forbidden, tol=0.01).fit(X, tags)
        return partial(model.predict, problem.test), getattr(model, "rounds_", None)

    def latent() -> Any:
        return own(problem.train, Y, "BIO" if problem.chunks else ())

    def filled() -> Any:
        common = Counter(tag for y in Y for tag in y if tag is not None).most_common(1)[0][0]
        return own(problem.train, [[common if tag is None else tag for tag in y] for y in Y])

    def crfsuite() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            cut = Problem(*stretches(problem.train, Y), problem.test, problem.test_tags, problem.c)
            peer = CrfsuiteContestant("crf", "lbfgs", {}, cut, Path(folder))
            peer.prepare()
            peer.train()
            found = peer.tagging()()
            return lambda: found, None

    ways = {
        "SequenceLabeler, missing labels hidden": latent,
        "SequenceLabeler, stretches": lambda: own(*stretches(problem.train, Y)),
        "SequenceLabeler, most frequent label": filled,
        "CRFsuite L-BFGS, stretches": crfsuite,
    }
    complete = all(tag is not None for y in Y for tag in y)
    return {name: way for name, way in ways.items() if not (complete and "frequent" in name)}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """All ways for every share of labels kept; trained once, because time is not the point."""
    report("reading the data")
    problem = PROBLEMS[name](quick)
    table = Table(
        title=f"{name}: {len(problem.train)} training sequences, of whose labels a share is kept",
        caption="Right: share of test positions. CPU s: of training. Rounds: of completing and learning, with the "
        "seconds of the first, and the mean of the others.",
    )
    for heading in ("kept", "way", "right", *(["chunk F1"] if problem.chunks else []), "CPU s", "rounds"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for kept in KEPT:
        Y = hidden(problem.train_tags, kept)
        for way, train in contestants(problem, Y).items():
            report(f"{kept:.0%} kept, {way}")
            (tag, rounds), seconds = cpu_seconds(train)
            found = tag()
            pairs = [pair for y, z in zip(problem.test_tags, found, strict=True) for pair in zip(y, z, strict=True)]
            right = mean(a == b for a, b in pairs)
            f1 = [f"{100 * chunk_f1(problem.test_tags, found).f1:.1f}"] if problem.chunks else []
            note = ""
            if rounds:
                later = [each.seconds for each in rounds[1:]]
                note = f"{len(rounds)}: {rounds[0].seconds:.1f} s, {mean(later) if later else 0:.1f} s"
            table.add_row(f"{kept:.0%}", way, f"{100 * right:.1f}", *f1, f"{seconds:.1f}", note)
        table.add_section()
    return table
