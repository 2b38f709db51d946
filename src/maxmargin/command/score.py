"""maxmargin score: compare the predictions of a model with the true outputs in files."""

from __future__ import annotations

import argparse
from typing import Any

from maxmargin.command.kinds import kind_of
from maxmargin.command.saying import say
from maxmargin.loading import load


def run(settings: argparse.Namespace) -> int:
    """Read the data, predict and compare."""
    model: Any = load(settings.model)
    model.verbose = int(not settings.quiet)
    files = kind_of(model).module()
    settings.quiet = False  # the result is always printed
    say(files.measures(model, files.read(settings.data, model, settings)), settings)
    return 0
