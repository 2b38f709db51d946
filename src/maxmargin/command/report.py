"""maxmargin report: write a page about a model and its predictions, as one HTML file."""

from __future__ import annotations

import argparse
import os
from hashlib import sha256
from math import isfinite
from typing import Any

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import check_not_input, written
from maxmargin.command.kinds import kind_of
from maxmargin.command.saying import say
from maxmargin.loading import load


def run(settings: argparse.Namespace) -> int:
    """Read the data, predict, and write the page."""
    for name in ("worst", "seed"):
        if getattr(settings, name) < 0:
            raise UsageError(f"--{name} is {getattr(settings, name)}; expected a number >= 0")
    check_not_input(settings.output, [settings.model, *settings.data, settings.without])
    model: Any = load(settings.model)
    model.verbose = int(not settings.quiet)
    examples = kind_of(model).module().read(settings.data, model, settings)
    model.verbose = 0  # progress was for this run only
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
        shown = _numbers if settings.json else _sentence
        notice = {"notice": page.notice} if page.notice else {}
        scores = {name: shown(found) for name, found in page.scores.items()}
        say({"page": settings.output, **notice, **scores}, settings)
    return 0


def _numbers(found: Any) -> Any:
    """Return a score for JSON: with its interval if there is one."""
    return {"value": found.value, "low": found.low, "high": found.high} if isfinite(found.low) else found.value


def _sentence(found: Any) -> str:
    """Return a score for people."""
    interval = f"95% interval {found.low:.4g} to {found.high:.4g}"
    return f"{found.value:.4g} ({interval if isfinite(found.low) else f'{found.why_not} for an interval'})"


def _described(name: str) -> str:
    """Describe a file by its name, size and hash, so that readers can identify it."""
    if name == "-":
        return "standard input"
    with open(name, "rb") as file:
        content = file.read()
    return f"{os.path.basename(name)} ({len(content):,} bytes, SHA-256 {sha256(content).hexdigest()[:16]}…)"
