"""Pages of the reference that are made from the package: every module of public names, and the help of every command.

They are written to docs/reference/generated, which is not committed.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from sklearn.base import BaseEstimator
from sphinx.ext.autodoc.mock import mock

import maxmargin
from maxmargin.command.parser import parsed, words_after

EXTRAS = ("torch", "jax")  # modules that are no part of the package's own namespace, because they need other packages


def facades() -> list[str]:
    """Return the modules of public names, such as `maxmargin.metrics`; first the package itself."""
    modules = [name for name in maxmargin.__all__ if inspect.ismodule(getattr(maxmargin, name))]
    return ["maxmargin", *(f"maxmargin.{name}" for name in sorted([*modules, *EXTRAS]))]


@cache
def public_names() -> dict[str, object]:
    """Return all public classes, functions and constants by their full names; modules are not among them."""
    missing = [name for name in EXTRAS if find_spec(name) is None]
    found: dict[str, object] = {}
    with mock(missing):
        for name in facades():
            module = importlib.import_module(name)
            found |= {f"{name}.{each}": getattr(module, each) for each in module.__all__}
    return {name: value for name, value in found.items() if not inspect.ismodule(value)}


def write(docs: Path) -> None:
    """Write all generated pages to a folder of `docs`, where they differ from what is there."""
    folder = docs / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.rst": _module_page(name) for name in facades()}
    pages["modules.rst"] = _list_of_modules()
    pages["commands.md"] = _commands_page()
    for name, text in pages.items():
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")


def _module_page(name: str) -> str:
    groups: dict[str, list[str]] = {}
    for full, value in public_names().items():
        module, _, each = full.rpartition(".")
        if module == name:
            groups.setdefault(_group(value), []).append(each)
    text = inspect.getdoc(sys.modules[name])
    parts = [f"{name}\n{'=' * len(name)}\n", f".. module:: {name}\n", f"{text}\n"]
    for title in ("Estimators", "Classes", "Functions", "Exceptions", "Warnings", "Constants"):
        if title in groups:
            parts.append(f"{title}\n{'-' * len(title)}\n")
            names = "\n".join(f"   {each}" for each in sorted(groups[title], key=str.lower))
            parts.append(f".. autosummary::\n   :toctree: .\n   :nosignatures:\n\n{names}\n")
    return "\n".join(parts)


def _group(value: object) -> str:
    if not inspect.isclass(value):
        return "Functions" if callable(value) else "Constants"
    if issubclass(value, Warning):
        return "Warnings"
    if issubclass(value, BaseException):
        return "Exceptions"
    estimator = issubclass(value, BaseEstimator) and not issubclass(value, maxmargin.Task)
    return "Estimators" if estimator else "Classes"


def _list_of_modules() -> str:
    names = "\n".join(f"   {name}" for name in facades())
    what = "All public classes and functions of maxmargin, by module, with their parameters, results and examples."
    return f"Python modules\n==============\n\n{what}\n\n.. toctree::\n   :maxdepth: 1\n\n{names}\n"


def _commands_page() -> str:
    parts = [
        "# Options of the commands\n",
        "Which options has each command of `maxmargin`? This page is what `maxmargin COMMAND --help` prints. "
        "[The command line](../command_line.md) explains the commands with examples.\n",
        f"## maxmargin\n\n```none\n{_help([])}```\n",
    ]
    for command in _words([]):
        parts.append(f"## maxmargin {command}\n\n```none\n{_help([command])}```\n")
        if command == "fit":
            for kind in _words([command]):
                parts.append(f"### maxmargin fit {kind}\n\n```none\n{_help([command, kind])}```\n")
    return "\n".join(parts)


def _words(path: list[str]) -> list[str]:
    return [word for word in words_after(path) if not word.startswith("-")]


def _help(path: list[str]) -> str:
    printed, plain = io.StringIO(), patch.dict(os.environ, {"COLUMNS": "90", "NO_COLOR": "1"})
    with plain, contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        parsed([*path, "--help"])
    return printed.getvalue()
