"""Options of `maxmargin fit` from estimators: their parameters, defaults and docstrings are not repeated here."""

from __future__ import annotations

import argparse
import inspect
import json
import re
from math import isnan
from typing import Any

# Of a run in Python, objects, or the business of other options.
NOT_HERE = {"callback", "executor", "warm_start", "verbose", "classes", "bounds", "prior", "C", "tol", "task"}
OTHERS = re.compile(r"parameters are those of\s(\w+)")
PARAMETER = re.compile(r"^(\w+) : (.+)$")


def add_options(
    parser: argparse.ArgumentParser, estimator: Any, hidden: tuple[str, ...], shown: tuple[str, ...] = ()
) -> None:
    """One option for each parameter that a text can say."""
    described = descriptions(estimator)
    group = parser.add_argument_group(f"parameters of {estimator.__name__}")
    for name, parameter in inspect.signature(estimator).parameters.items():
        if (name in NOT_HERE and name not in shown) or name in hidden:
            continue
        kind, text = described.get(name, ("", ""))
        default = "none" if parameter.default is None or parameter.default == () else _said(parameter.default)
        flag = isinstance(parameter.default, bool)
        group.add_argument(
            *dict.fromkeys((f"--{name.replace('_', '-')}", f"--{name}")),
            dest=f"parameter_{name}",
            default=argparse.SUPPRESS,
            type=value,
            metavar="YES|NO" if flag else "VALUE",
            help=" ".join(filter(None, (f"{kind}." if kind else "", text, f"[default: {default}]"))).replace("%", "%%"),
            nargs="?" if flag else None,
            const=True if flag else None,
        )


def given(settings: argparse.Namespace) -> dict[str, Any]:
    """The parameters that the command line names."""
    prefix = "parameter_"
    return {name[len(prefix) :]: each for name, each in vars(settings).items() if name.startswith(prefix)}


def value(text: str) -> Any:
    """What an option says: none, yes or no, a number, JSON, or else a text."""
    words: dict[str, Any] = {"none": None, "yes": True, "true": True, "no": False, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r} is no JSON: {error}") from None
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
    """Type and description of all parameters, from the docstring and from that of the class which it refers to."""
    import maxmargin

    named = OTHERS.search(inspect.getdoc(estimator) or "")
    return _read(getattr(maxmargin, named[1] if named else "StructuredSVM")) | _read(estimator)


def _read(estimator: Any) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    text = inspect.getdoc(estimator) or ""  # there is none with python -OO
    _, _, section = text.partition("Parameters\n----------\n")
    name = ""
    for line in section.partition("\nAttributes\n")[0].splitlines():
        match = PARAMETER.match(line)
        if match:
            name = match[1]
            found[name] = (match[2], "")
        elif name and line.startswith("    "):
            kind, before = found[name]
            found[name] = (kind, f"{before} {line.strip()}".strip())
        else:
            name = ""
    return found


def _said(default: Any) -> str:
    return {True: "yes", False: "no"}[default] if isinstance(default, bool) else str(default)
