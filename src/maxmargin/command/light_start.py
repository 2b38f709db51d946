"""The import of scikit-learn without pandas and scipy.stats, which a command does not need.

scikit-learn imports both at once (sklearn.utils.fixes) and uses them only for data frames and for one function. A
command spends most of its time on imports: `maxmargin predict` of two sentences takes 0.9 CPU seconds this way and 1.8
without it (scikit-learn 1.9; `python -m benchmarks command-line` prints the row "label all tokens"). Imports that are
lazy in our own modules cannot save this time, because estimators inherit from BaseEstimator; importlib.util.LazyLoader
cannot either, because an import statement already makes it load the module. Python documents both means used here: an
entry None in sys.modules stands for a missing module, and a module's __getattr__ is called for missing names. Whoever
needs one of the two modules later imports it as always.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class Later(ModuleType):
    """A stand-in for a module that imports the module when something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import statement asks for these
            raise AttributeError(name)
        _forget(self.__name__, self)
        return getattr(import_module(self.__name__), name)


def import_scikit_learn() -> None:
    """Import the part of scikit-learn that estimators need, unless it was imported before."""
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
