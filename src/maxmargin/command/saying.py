"""The results of a command on standard output: lines for people, or one line of JSON."""

from __future__ import annotations

import argparse
import json
from typing import Any

# Already part of the certificate's text.
IN_CERTIFICATE = {"objective", "lower bound", "relative gap", "converged", "interrupted"}


def say(report: dict[str, Any], settings: argparse.Namespace) -> None:
    """Print a report; with --quiet only if it is JSON."""
    if settings.json:
        print(json.dumps(report, allow_nan=True))
    elif not settings.quiet:
        shown = {
            name: each for name, each in report.items() if not ("certificate" in report and name in IN_CERTIFICATE)
        }
        width = max(map(len, shown), default=0)
        for name, value in shown.items():
            print(f"{name:<{width}}  {_said(value)}")


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(each)}" for name, each in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
