"""maxmargin score: compare the predictions of a model with the true outputs in files."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from maxmargin.command.kinds import kind_of
from maxmargin.command.saying import say
from maxmargin.loading import load


def run(settings: argparse.Namespace) -> int:
    """Read the data, predict and compare."""
    model: Any = load(settings.model)
    model.verbose = int(not settings.quiet)
    files = kind_of(model).module()
    examples = files.read(settings.data, model, settings)
    sketch = getattr(model, "training_sketch_", None)
    notice = "" if sketch is None or settings.quiet else sketch.notice(examples.X, examples.Y)
    settings.quiet = False  # the result is always printed
    say(files.measures(model, examples), settings)
    if notice:
        print(f"maxmargin: {notice}", file=sys.stderr)
    return 0
