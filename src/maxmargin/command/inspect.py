"""maxmargin inspect: show the content of a model file as text."""

from __future__ import annotations

import argparse
import os
from inspect import signature
from textwrap import wrap
from typing import Any

import numpy as np

from maxmargin.command.errors import UsageError
from maxmargin.command.kinds import KINDS
from maxmargin.command.pictures import WIDTH, pictures
from maxmargin.command.saying import say
from maxmargin.inputs.tokens.token_templates import TokenTemplates
from maxmargin.loading import load

LONGEST = WIDTH - 13  # the longest name of a weight
MOST_LABELS = 40  # the most labels whose largest weights are shown


def run(settings: argparse.Namespace) -> int:
    """Print certificate, parameters, sizes, largest weights and text graphics of a model."""
    if settings.top < 0:
        raise UsageError(f"-n is {settings.top}; expected a number of weights >= 0")
    model = load(settings.model)
    kinds = [kind.name for kind in KINDS.values() if kind.estimator == type(model).__name__]
    report: dict[str, Any] = {
        "model": f"{type(model).__name__} ({os.path.getsize(settings.model):,} bytes)",
        "kind": kinds[0] if kinds else "not supported by the command line",
        **({"trained on": f"{n:,} examples"} if (n := getattr(model, "n_examples_", None)) else {}),
        "certificate": str(getattr(model, "certificate_", "none")),
        **({"meaning": proved.explained()[0]} if (proved := getattr(model, "certificate_", None)) else {}),
        "parameters": _parameters(model),
    }
    templates = getattr(model, "features", None)
    if isinstance(templates, TokenTemplates):
        report["columns"], report["features"] = ", ".join(templates.columns), ", ".join(templates.features)
    if hasattr(model, "w_"):
        report["weights"] = f"{len(model.w_):,}, of which {np.count_nonzero(model.w_):,} are nonzero"
    labels = getattr(model, "classes_", None)
    labels = [] if labels is None else list(labels)
    if labels:
        report["labels"] = (
            f"{len(labels)}: {' '.join(map(str, labels[:MOST_LABELS]))}{' …' * (len(labels) > MOST_LABELS)}"
        )
    weights = _heaviest(model, labels, settings.top)
    drawn = list(pictures(model, settings.top))
    if settings.json:
        say(report | {"heaviest weights": weights} | {each.title: each.value for each in drawn}, settings)
        return 0
    width = max(map(len, report)) + 2
    for name, value in report.items():
        lines = wrap(str(value), WIDTH - width, break_long_words=False, break_on_hyphens=False) or [""]
        print("\n".join([f"{name:<{width}}{lines[0]}", *(f"{'':<{width}}{line}" for line in lines[1:])]))
    for label, some in weights.items():
        print(f"\n{label}")
        for name, weight in some:
            print(f"  {weight:+9.4f}  {name if len(name) <= LONGEST else name[: LONGEST - 1] + '…'}")
    for picture in drawn:
        print(f"\n{picture.title}", *picture.lines, sep="\n")
    return 0


def _parameters(model: Any) -> str:
    """Return the parameters that differ from their defaults, as text."""
    usual = {name: each.default for name, each in signature(type(model)).parameters.items()}
    own = {name: each for name, each in model.get_params(deep=False).items() if repr(each) != repr(usual[name])}
    return ", ".join(f"{name}={each!r}" for name, each in own.items() if _is_short(name, each)) or "the default ones"


def _is_short(name: str, value: Any) -> bool:
    return name != "verbose" and not isinstance(value, TokenTemplates)


def _heaviest(model: Any, labels: list[Any], n: int) -> dict[str, list[tuple[str, float]]]:
    """Return the largest weights by label, or all together if weights have no labels; empty if they have no names."""
    if n == 0:
        return {}

    def listed(*label: Any) -> list[tuple[str, float]]:
        return [(each.name, float(each.weight)) for each in model.top_weights(*label, n=n)]

    try:
        together = {"heaviest weights": listed()}
        if 0 < len(labels) <= MOST_LABELS:
            return {f"heaviest weights of {label}": listed(label) for label in labels}
    except AttributeError:  # with kernels and hashes, weights have no names
        return {}
    except ValueError:  # no weight belongs to a label
        pass
    return together
