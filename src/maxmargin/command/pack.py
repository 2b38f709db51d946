"""maxmargin pack: write the examples of files to a folder that `fit` reads without loading it into memory."""

from __future__ import annotations

import argparse

from maxmargin.command.kinds import KINDS
from maxmargin.command.saying import say


def run(settings: argparse.Namespace) -> int:
    """Read the examples, write the folder and print a summary."""
    from maxmargin.packing import pack

    examples, options = KINDS[settings.kind].module().to_pack(settings.data, settings)
    packed = pack(examples, settings.output, settings.kind, **options)
    size = sum(array.nbytes for array in packed.folder.arrays.values()) / 2**20
    say({"folder": settings.output, "examples": len(packed), "megabytes": size}, settings)
    return 0
