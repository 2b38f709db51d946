"""Options of `maxmargin fit`, made from the parameters, defaults and docstrings of estimators."""

from __future__ import annotations

import argparse
import inspect
import json
from math import isnan
from typing import Any

from maxmargin.command.command_parser import CommandParser
from maxmargin.training.shared_options import described_parameters

# Parameters that make sense in Python only, take objects, or have options of their own.
NOT_HERE = {"callback", "executor", "warm_start", "verbose", "classes", "bounds", "prior", "C", "tol", "task"}


def add_options(parser: CommandParser, estimator: Any, hidden: tuple[str, ...], shown: tuple[str, ...] = ()) -> None:
    """Add one option for each parameter whose value can be written as a text."""
    described = descriptions(estimator)
    group = parser.add_argument_group(f"parameters of {estimator.__name__}")
    for name, parameter in inspect.signature(estimator).parameters.items():
        if (name in NOT_HERE and name not in shown) or name in hidden:
            continue
        kind, text = described.get(name, ("", ""))
        default = "none" if parameter.default is None or parameter.default == () else _said(parameter.default)
        flag = isinstance(parameter.default, bool)
        option = group.add_argument(
            *dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")),
            dest=f"parameter_{name}",
            default=argparse.SUPPRESS,
            type=value,
            metavar="YES|NO" if flag else "VALUE",
            help=" ".join(filter(None, (f"{kind}." if kind else "", text, f"[default: {default}]"))).replace("%", "%%"),
            nargs="?" if flag else None,
            const=True if flag else None,
        )
        parser.listed(option)


def given(settings: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that the command line sets."""
    prefix = "parameter_"
    return {name[len(prefix) :]: each for name, each in vars(settings).items() if name.startswith(prefix)}


def value(text: str) -> Any:
    """Return the value of an option: None, True or False, a number, JSON, or else a text."""
    words: dict[str, Any] = {"none": None, "yes": True, "true": True, "no": False, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r} is not JSON: {error}") from None
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if isnan(number):
            break
        return number
    return text


def descriptions(estimator: Any) -> dict[str, tuple[str, str]]:
    """Return the type and the description of all parameters, from the docstring of an estimator."""
    found = described_parameters(estimator.__doc__)  # there is no docstring with python -OO
    return {
        name: (head.partition(" : ")[2], " ".join(line.strip() for line in lines))
        for name, (head, *lines) in found.items()
    }


def _said(default: Any) -> str:
    return {True: "yes", False: "no"}[default] if isinstance(default, bool) else str(default)
