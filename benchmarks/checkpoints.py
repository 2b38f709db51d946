"""Checkpoints: what they cost of a fit of about a minute, with the default of a file a minute, and how large they are.

Every kind of state that training can have is one fit, which differs by what has to be written: edges of lattices,
planes, cuts, weights of classes, rows of a kernel matrix, rounds of latent training. The first fit, without a
checkpoint, goes on for a little more than a minute, so that a file is due before its end. The gap that it reaches is
the tolerance of all others, which end there by themselves and then leave their model in the file.

With and without take turns, so that a slow spell of the machine meets both. Their difference is small beside what
other work on the machine does to either; so all that checkpoints do is measured within the fit, too: opening the file,
hashing the data to know them again, collecting, and writing.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from statistics import mean
from typing import Any
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

import numpy as np
from rich.table import Table

import maxmargin as mm
from benchmarks.loaders import chunk_features, load_conll2000, load_mnist, load_usps
from benchmarks.partial_labels import hidden
from benchmarks.timing import Report
from maxmargin.base.files.checkpoint_files import CheckpointFile
from maxmargin.kernels import RBF
from maxmargin.problem.dual.objective import relative_gap
from maxmargin.training import trainer
from maxmargin.training.checkpoints.checkpoint import Checkpoint, Training

PROBLEMS = ("checkpoints",)
SECONDS = 66.0  # of the first fit: a file is due after a minute
QUICK_SECONDS = 5.0
CLOCKS = ("wall", "cpu")
NEVER = 1e-12  # a gap that no fit reaches
PARTS = {
    "opening": [(Checkpoint, "__init__")],
    "hashing": [(trainer, "fingerprint")],
    "files": [(Training, "offer"), (Checkpoint, "finish")],
}


@dataclass
class Case:
    """An estimator and its data."""

    data: str
    make: Callable[..., Any]
    read: Callable[[bool], tuple[Any, Any]]


@dataclass
class Spent:
    """Seconds on the wall and of the processor."""

    wall: float = 0.0
    cpu: float = 0.0
    calls: int = 0


@dataclass
class Times:
    """Of one fit, and of what it did for checkpoints."""

    whole: Spent = field(default_factory=Spent)
    parts: dict[str, Spent] = field(default_factory=lambda: {name: Spent() for name in PARTS})
    written: Spent = field(default_factory=Spent)
    bytes: int = 0
    passes: float = 0.0

    @property
    def inside(self) -> Spent:
        """All that was done for checkpoints."""
        return Spent(sum(each.wall for each in self.parts.values()), sum(each.cpu for each in self.parts.values()))


def chunks(quick: bool) -> tuple[Any, Any]:
    """CoNLL-2000."""
    sentences, tags = load_conll2000("train")
    few = slice(500 if quick else None)
    return [chunk_features(sentence) for sentence in sentences[few]], tags[few]


def half_chunks(quick: bool) -> tuple[Any, Any]:
    """CoNLL-2000, of which every second label is hidden."""
    X, tags = chunks(quick)
    return X, hidden(tags, 0.5)


def digits(load: Callable[[str], tuple[np.ndarray, np.ndarray]], quick: bool) -> tuple[Any, Any]:
    """MNIST or USPS."""
    X, y = load("train")
    few = slice(1000 if quick else None)
    return X[few].copy(), y[few]


tags = partial(mm.SequenceLabeler, C=1000, forbidden="BIO", invalid="repair")
classes = partial(mm.MulticlassSVC, C=10_000)
CASES = {
    "flows": Case("CoNLL-2000, bcfw", tags, chunks),
    "planes": Case("CoNLL-2000, bcfw, slack rescaling", partial(tags, rescaling="slack"), chunks),
    "cuts": Case("CoNLL-2000, one_slack", partial(tags, solver="one_slack"), chunks),
    "curvatures": Case("CoNLL-2000, lbfgs, likelihood", partial(tags, solver="lbfgs", objective="likelihood"), chunks),
    "classes": Case("MNIST, bcfw", classes, partial(digits, load_mnist)),
    "kernel rows": Case("USPS, bcfw, RBF", partial(classes, kernel=RBF(1 / 128)), partial(digits, load_usps)),
    "latent rounds": Case("CoNLL-2000, half of the labels hidden", tags, half_chunks),
}


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    table = Table(title=f"{name}: fits of about {QUICK_SECONDS if quick else SECONDS:g} seconds, without and with")
    for heading in ("state", "data and solver"):
        table.add_column(heading)
    for heading in (
        "wall s,\nwithout",
        "with",
        "CPU s,\nwithout",
        "with",
        "passes",
        "files",
        "MB",
        "hashing s,\nwall (CPU)",
        "collecting and\nwriting s",
        "share of\nthe wall",
        "share of\nthe CPU",
    ):
        table.add_column(heading, justify="right")
    for state, case in CASES.items():
        report(f"{state}: reading")
        without, written = measured(case, repeat, quick, lambda text, state=state: report(f"{state}: {text}"))
        table.add_row(state, case.data, *_cells(without, written))
        report(f"{state}: {_cells(without, written)}")
    table.caption = (
        "All are means. The shares are of what was measured within fits: hashing the data, opening, collecting and "
        "writing, beside the whole fit with checkpoints. Files: the last one has the model alone. MB: the larger one."
    )
    return table


def measured(case: Case, repeat: int, quick: bool, report: Report) -> tuple[list[Times], list[Times]]:
    """Fits without checkpoints and with them."""
    X, Y = case.read(quick)
    limit = QUICK_SECONDS if quick else SECONDS
    report("warming up")
    with catch_warnings():
        simplefilter("ignore")  # of gaps that stay open
        case.make(max_passes=1).fit(X, Y)
        began, tol = time.perf_counter(), 1.0

        def enough(record: Any) -> bool:
            nonlocal tol
            if isfinite(record.primal):
                tol = min(tol, relative_gap(record.primal, record.dual))
            return time.perf_counter() - began >= limit

        without, written = list[Times](), list[Times]()
        for i in range(repeat):
            report(f"without, {i + 1} of {repeat}")
            began = time.perf_counter()
            without.append(timed(case.make(tol=tol) if i else case.make(tol=NEVER, callback=enough), X, Y))
            report(f"with, {i + 1} of {repeat}")
            with tempfile.TemporaryDirectory() as folder:
                written.append(timed(case.make(tol=tol, checkpoint=Path(folder) / "file"), X, Y))
                written[-1].bytes = max(each.stat().st_size for each in Path(folder).iterdir())
    return without, written


def timed(model: Any, X: Any, Y: Any) -> Times:
    """What a fit takes."""
    gc.collect()
    times = Times()
    with ExitStack() as stack:
        for part, methods in PARTS.items():
            for owner, method in methods:
                stack.enter_context(_watched(owner, method, times.parts[part]))
        stack.enter_context(_watched(CheckpointFile, "write", times.written))
        with _clock(times.whole):
            model.fit(X, Y)
    times.passes = model.certificate_.passes
    return times


@contextmanager
def _clock(spent: Spent) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        spent.calls += 1
        spent.wall += time.perf_counter() - wall
        spent.cpu += time.process_time() - cpu


@contextmanager
def _watched(owner: Any, method: str, spent: Spent) -> Iterator[None]:
    """Add up what calls of a method take."""
    original: Callable[..., Any] = getattr(owner, method)

    def watched(*args: Any, **keywords: Any) -> Any:
        with _clock(spent):
            return original(*args, **keywords)

    with patch.object(owner, method, watched):
        yield


def _cells(without: Sequence[Times], written: Sequence[Times]) -> list[str]:
    whole = [mean(getattr(each.whole, clock) for each in times) for clock in CLOCKS for times in (without, written)]
    parts = [[mean(getattr(each.parts[part], clock) for each in written) for clock in CLOCKS] for part in PARTS]
    shares = [mean(getattr(each.inside, clock) / getattr(each.whole, clock) for each in written) for clock in CLOCKS]
    return [
        *(f"{each:.1f}" for each in whole),
        f"{mean(each.passes for each in without):.0f}, {mean(each.passes for each in written):.0f}",
        f"{mean(each.written.calls for each in written):g}",
        f"{max(each.bytes for each in written) / 1e6:.1f}",
        *(f"{wall:.2f} ({cpu:.2f})" for wall, cpu in parts[1:]),
        *(f"{100 * share:.1f}%" for share in shares),
    ]
