"""maxmargin predict: write the predictions of a model for a file, some examples at a time."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from maxmargin.base.progress_line import LiveLine
from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import check_not_input, written
from maxmargin.command.kinds import kind_of
from maxmargin.loading import load


def run(settings: argparse.Namespace) -> int:
    """Read examples, predict and write."""
    check_not_input(settings.output, [settings.model])
    model: Any = load(settings.model)
    kind = kind_of(model)
    if settings.scores and kind.files not in ("rows", "label_sets"):
        raise UsageError(f"--scores is for models of rows, but this is a model of {kind.name}")
    if settings.text and settings.data != "-":
        raise UsageError(f"--text gives the texts, and so does {settings.data}: give one of the two")
    model.verbose = 0
    if settings.text:
        from maxmargin.command.files.span_files import predicted_texts

        examples = predicted_texts(model, settings.text)
    else:
        examples = kind.module().predicted(model, settings.data, settings)
    on_screen = settings.output in (None, "-") and sys.stdout.isatty()
    with LiveLine(not settings.quiet and not on_screen, "predicting") as line, written(settings.output) as file:
        for n, (text, value) in enumerate(examples, 1):
            file.write(json.dumps(value) + "\n" if settings.json else text)
            if n % 1000 == 0:
                line.show(f"{n:,} predicted")
    return 0
