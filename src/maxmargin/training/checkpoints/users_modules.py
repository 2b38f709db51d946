"""Which modules, classes and functions users have written: those that neither Python nor an installed package has."""

from __future__ import annotations

import site
import sys
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any


def is_users(candidate: Any) -> bool:
    """Return whether this is a class or function that neither Python nor an installed package defines."""
    if not isinstance(candidate, type | FunctionType):
        return False
    module = getattr(candidate, "__module__", None)
    return isinstance(module, str) and is_users_module(module)


def is_users_module(name: str) -> bool:
    """Return whether a module of this name is neither Python's nor an installed package's; it need not be imported."""
    package = name.partition(".")[0]
    if package == "maxmargin" or (package in sys.stdlib_module_names and package != "__main__"):
        return False
    return _is_elsewhere(name if name in sys.modules else package, name in sys.modules)


@cache
def _is_elsewhere(name: str, imported: bool) -> bool:
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None and not imported:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            return False
        if spec is None:
            return False
        file = spec.origin if spec.has_location else next(iter(spec.submodule_search_locations or ()), None)
    if file is None:  # a notebook, an interactive session, a compiled module
        return getattr(getattr(module, "__spec__", None), "origin", None) != "built-in"
    resolved = Path(file).resolve()
    return not any(folder in resolved.parents for folder in _installed())


@cache
def _installed() -> frozenset[Path]:
    """Return the folders of installed packages; their versions are compared elsewhere or not at all."""
    paths = [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")]
    return frozenset(Path(path).resolve() for path in [*paths, *site.getsitepackages(), site.getusersitepackages()])
