"""Checkpoints: what they cost of a fit, and how large they are."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

from rich.table import Table

import maxmargin as mm
from benchmarks.loaders import load_conll2000
from benchmarks.timing import Report
from maxmargin import trainer
from maxmargin.checkpoints.checkpoint import Checkpoint
from maxmargin.datasets import chunk_features

PROBLEMS = ("checkpoints",)
QUICK = 500
EVERY = 10.0  # seconds, where the default is a minute
# Of so many passes that they take a minute or so, converged or not.
CASES: dict[str, dict[str, Any]] = {
    "bcfw, flows": {"solver": "bcfw", "tol": 1e-5, "max_passes": 200},
    "bcfw, planes (slack rescaling)": {"solver": "bcfw", "rescaling": "slack", "max_passes": 4},
    "one_slack": {"solver": "one_slack", "tol": 1e-5, "max_passes": 60},
    "lbfgs, likelihood": {"solver": "lbfgs", "objective": "likelihood", "tol": 1e-6, "max_passes": 40},
    "perceptron": {"solver": "perceptron", "max_passes": 30},
}


@contextmanager
def counted(owner: Any, name: str, times: list[float]) -> Iterator[None]:
    """Note how long every call takes."""
    original: Callable[..., Any] = getattr(owner, name)

    def timed(*args: Any, **keywords: Any) -> Any:
        began = time.perf_counter()
        try:
            return original(*args, **keywords)
        finally:
            times.append(time.perf_counter() - began)

    with patch.object(owner, name, timed):
        yield


def run(name: str, repeat: int, quick: bool, report: Report) -> Table:
    """CoNLL-2000 with several solvers; all seconds are of the same fit, with a checkpoint every few seconds."""
    sentences, tags = load_conll2000("train")
    few = slice(QUICK if quick else None)
    X, Y = [chunk_features(s) for s in sentences[few]], tags[few]
    table = Table(title=f"{name}: CoNLL-2000, {len(X):,} sentences, a checkpoint every {EVERY:g} s")
    for heading in ("fit", "s", "files", "s of all writing", "s of the fingerprint", "share of the fit", "MB"):
        table.add_column(heading, justify="left" if heading == "fit" else "right")
    for case, options in CASES.items():
        report(f"{name}: {case}")
        writes: list[float] = []
        hashes: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "checkpoint"
            model: Any = mm.SequenceLabeler(
                C=1000, forbidden="BIO", invalid="repair", checkpoint=path, checkpoint_every=EVERY, **options
            )
            began = time.perf_counter()
            with counted(Checkpoint, "write", writes), counted(trainer, "fingerprint", hashes), catch_warnings():
                simplefilter("ignore")  # of gaps that stay open
                model.fit(X, Y)
            whole = time.perf_counter() - began
            # The last file has the model alone; the one before has all that training goes on from.
            size = max(each.stat().st_size for each in Path(folder).iterdir())
        spent = sum(writes) + sum(hashes)
        numbers = f"{whole:.1f}", f"{len(writes)}", f"{sum(writes):.2f}", f"{sum(hashes):.2f}"
        table.add_row(case, *numbers, f"{100 * spent / whole:.1f}%", f"{size / 1e6:.1f}")
    return table
