"""maxmargin score: how well the predictions of a model agree with the truth in files."""

from __future__ import annotations

import argparse
from typing import Any

from maxmargin.command.kinds import kind_of
from maxmargin.command.saying import say
from maxmargin.loading import load


def run(settings: argparse.Namespace) -> int:
    """Read, predict, compare."""
    model: Any = load(settings.model)
    model.verbose = int(not settings.quiet)
    files = kind_of(model).module()
    settings.quiet = False  # what is asked for is said
    say(files.measures(model, files.read(settings.data, model, settings)), settings)
    return 0
