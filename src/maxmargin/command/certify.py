"""maxmargin certify: prove how far from the optimum a model is on the data of files."""

from __future__ import annotations

import argparse
from typing import Any

from maxmargin.command.errors import NOT_CONVERGED, UsageError
from maxmargin.command.fit import numbers, packed_or_read
from maxmargin.command.kinds import kind_of
from maxmargin.command.saying import say
from maxmargin.loading import load


def run(settings: argparse.Namespace) -> int:
    """Read the data, compute a bound and print it."""
    model: Any = load(settings.model)
    if not hasattr(model, "certify"):
        raise UsageError(
            f"a {type(model).__name__} solves a linear system and needs no certificate: maxmargin inspect "
            "shows its residual"
        )
    model.verbose = int(not settings.quiet)
    examples = packed_or_read(kind_of(model), settings.data, model, settings)
    certificate = model.certify(examples.X, examples.Y, **examples.others, tol=settings.tol)
    settings.quiet = False  # the result is always printed
    say({"certificate": str(certificate), **numbers(certificate)}, settings)
    return NOT_CONVERGED if settings.strict and not certificate.converged else 0
