"""Where the time of a default fit goes, and how many passes over the data it is worth.

A pass is one measurement of the objective at the trained weights: all scores, and the best output of every example.
The time of a fit divided by that of a pass is its number of effective passes. No fit can do with less than the one
that measures what it certifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from time import process_time
from typing import Any
from unittest.mock import patch

from rich.table import Table

from benchmarks import multiclass, sequences
from benchmarks.timing import Report, cpu_seconds
from maxmargin import MulticlassSVC, SequenceLabeler
from maxmargin.problem.oracle.oracle import Oracle
from maxmargin.structures.classes.class_dual import ClassDual
from maxmargin.structures.sequences.chain_flows import ChainFlows

PROBLEMS = ("effective-passes",)
DUALS = (ClassDual, ChainFlows)
PARTS = ("search", "revisit", "slacks", "bound")


@dataclass
class Fit:
    """A model that is to be trained, and its data."""

    model: Any
    X: Any
    Y: Any


def labelled_sequences(name: str, quick: bool) -> Fit:
    """A problem of sequences.py, packed."""
    own = sequences.MaxmarginContestant(sequences.PROBLEMS[name](quick))
    C, forbidden = own.problem.c * len(own.problem.train), "BIO" if own.problem.chunks else ()
    return Fit(SequenceLabeler(C=C, forbidden=forbidden, random_state=0), own.X, own.problem.train_tags)


def classes(name: str, quick: bool) -> Fit:
    """A problem of multiclass.py."""
    problem = multiclass.PROBLEMS[name](quick)
    return Fit(MulticlassSVC(C=problem.c * len(problem.y), random_state=0), problem.X, problem.y)


FITS: dict[str, Callable[[bool], Fit]] = {
    **{name: partial(labelled_sequences, name) for name in sequences.PROBLEMS},
    **{name: partial(classes, name) for name in multiclass.PROBLEMS},
}


@dataclass
class Watch:
    """What the parts of a fit took."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    searches: int = 0
    revisits: float = 0.0  # of everyone
    moved: float = 0.0  # examples whose weights a search has changed, of everyone
    oracle: Oracle | None = None  # of the fit

    def watched(self, part: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(of: Any, *arguments: Any, **options: Any) -> Any:
            if part == "revisit":
                self.revisits += len(of.movers) / of.n
            began = process_time()
            result = method(of, *arguments, **options)
            self.seconds[part] += process_time() - began
            if part == "slacks":
                self.oracle = of
            if part == "search":
                self.searches += 1
                self.moved += len(of.movers) / of.n
            return result

        return call


@contextmanager
def watching() -> Iterator[Watch]:
    """Within, the parts of all fits are watched."""
    watch = Watch()
    targets = [(kind, part) for kind in DUALS for part in ("search", "revisit", "bound")] + [(Oracle, "slacks")]
    patches = [patch.object(kind, part, watch.watched(part, getattr(kind, part))) for kind, part in targets]
    try:
        for each in patches:
            each.start()
        yield watch
    finally:
        for each in patches:
            each.stop()


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """Fit every data set, and print the fastest of its fits."""
    table = Table(title="default fits in passes over their data")
    table.add_column("data")
    for heading in (
        "CPU s",
        "a pass,\nms",
        "effective\npasses",
        "passes",
        "revisits of\neveryone",
        "moved by\na search %",
        "search\n%",
        "revisit\n%",
        "measure\n%",
        "bound\n%",
        "rest\n%",
    ):
        table.add_column(heading, justify="right")
    for data, make in FITS.items():
        report(f"{data}: reading")
        fit = make(quick)
        best: tuple[float, Watch] | None = None
        for i in range(repeat + 1):  # the first one compiles
            report(f"{data}: fit {i} of {repeat}")
            with watching() as watch:
                _, seconds = cpu_seconds(lambda fit=fit: fit.model.fit(fit.X, fit.Y))
            if i and (best is None or seconds < best[0]):
                best = seconds, watch
        assert best is not None
        table.add_row(data, *_cells(fit, *best))
    table.caption = (
        "A pass measures the objective at the trained weights. Revisits are visits that search nothing (of classes: "
        "of those who have just gained); the rest is reading, packing and the answer. The gap is 1% of sequences, "
        "0.1% of classes."
    )
    return table


def _cells(fit: Fit, seconds: float, watch: Watch) -> list[str]:
    model, oracle = fit.model, watch.oracle
    assert oracle is not None
    one = min(cpu_seconds(lambda: oracle.risk(model.w_))[1] for _ in range(5))
    parts = [watch.seconds[part] for part in PARTS]
    shares = [f"{100 * part / seconds:.0f}" for part in (*parts, seconds - sum(parts))]
    return [
        f"{seconds:.2f}",
        f"{1000 * one:.1f}",
        f"{seconds / one:.0f}",
        f"{model.certificate_.passes:.1f}",
        f"{watch.revisits:.1f}",
        f"{100 * watch.moved / watch.searches:.0f}",
        *shares,
    ]
