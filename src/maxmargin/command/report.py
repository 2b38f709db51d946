"""maxmargin report: a page about a model and its predictions, as one file of HTML."""

from __future__ import annotations

import argparse
import os
from hashlib import sha256
from math import isfinite
from typing import Any

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import written
from maxmargin.command.kinds import kind_of
from maxmargin.command.saying import say
from maxmargin.loading import load


def run(settings: argparse.Namespace) -> int:
    """Read, predict, write the page; say where it is."""
    for name in ("worst", "seed"):
        if getattr(settings, name) < 0:
            raise UsageError(f"--{name} is {getattr(settings, name)}; expected 0 or more")
    model: Any = load(settings.model)
    model.verbose = int(not settings.quiet)
    examples = kind_of(model).module().read(settings.data, model, settings)
    model.verbose = 0  # of this run
    others = {name: value for name, value in examples.others.items() if name == "qid"}
    page = model.report(
        examples.X,
        examples.Y,
        title=settings.title or f"{type(model).__name__}: {os.path.basename(settings.model)}",
        facts={"model file": _described(settings.model), "data": ", ".join(map(_described, settings.data))},
        date=settings.date,
        seed=settings.seed,
        n_worst=settings.worst,
        **others,
    )
    with written(settings.output) as file:
        file.write(page.html)
    if settings.output not in (None, "-"):
        scores = {
            name: {"value": found.value, "low": found.low, "high": found.high} if isfinite(found.low) else found.value
            for name, found in page.scores.items()
        }
        say({"page": settings.output, **scores}, settings)
    return 0


def _described(name: str) -> str:
    """A file by its name, size and content, so that readers know whether theirs is the same."""
    if name == "-":
        return "standard input"
    with open(name, "rb") as file:
        content = file.read()
    return f"{os.path.basename(name)} ({len(content):,} bytes, SHA-256 {sha256(content).hexdigest()[:16]}…)"
