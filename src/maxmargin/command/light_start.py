"""A start without what scikit-learn imports to be ready for everything: more than half of its time.

pandas is for data frames, which files have none of, and scipy.stats for one function. Whoever needs one of them later
imports it as always.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class Later(ModuleType):
    """Stands for a module until something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import statement looks at
            raise AttributeError(name)
        _forget(self.__name__, self)
        return getattr(import_module(self.__name__), name)


def import_scikit_learn() -> None:
    """Import it as far as estimators need it, unless somebody has."""
    if "sklearn" in sys.modules:
        return
    absent = {"pandas": None, "scipy.stats": Later("scipy.stats")}
    absent = {name: stand_in for name, stand_in in absent.items() if name not in sys.modules}
    sys.modules.update(absent)  # type: ignore[arg-type]
    try:
        import sklearn.base  # noqa: F401
    finally:
        for name, stand_in in absent.items():
            _forget(name, stand_in)


def _forget(name: str, stand_in: Later | None) -> None:
    if sys.modules.get(name, ...) is stand_in:
        del sys.modules[name]
