"""The start of a command: imports of scikit-learn without what a command does not need, and rare garbage collection.

scikit-learn imports pandas, narwhals, scipy.stats and scipy.optimize at once and uses them only for data frames and for
a few functions. A command spends most of its time on imports: `maxmargin predict` of two sentences takes about half of
the time this way (scikit-learn 1.9; `python -m benchmarks command-line` prints the row "label all tokens"). Imports
that are lazy in our own modules cannot save this time, because estimators inherit from BaseEstimator;
importlib.util.LazyLoader cannot either, because an import statement already makes it load the module. Python documents
both means used here: an entry None in sys.modules stands for a missing module, and a module's __getattr__ is called for
missing names. Whoever needs one of these modules later imports it as always.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

MISSING = ("pandas",)
LATER = ("scipy.stats", "scipy.optimize", "narwhals", "narwhals.stable", "narwhals.stable.v2")  # parents come first
NEW_OBJECTS = 50_000  # new containers between two garbage collections; Python's default is 700


class Later(ModuleType):
    """A stand-in for a module that imports the module when something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import statement asks for these
            raise AttributeError(name)
        for each in [*LATER, self.__name__]:  # a real module must not find the stand-in of its parent
            if isinstance(sys.modules.get(each), Later):
                del sys.modules[each]
        return getattr(import_module(self.__name__), name)


def collect_rarely() -> None:
    """Make Python look for garbage less often: imports create many objects, all of which stay.

    This saves a fifth of the time of a short command. The memory that reference counts free is not affected.
    """
    gc.set_threshold(NEW_OBJECTS, 50, 100)


def import_scikit_learn(module: str = "sklearn.base") -> None:
    """Import a part of scikit-learn, by default the one that estimators need, unless it was imported before."""
    if module in sys.modules:
        return
    absent: dict[str, Any] = {**dict.fromkeys(MISSING), **{name: Later(name) for name in LATER}}
    absent = {name: stand_in for name, stand_in in absent.items() if name not in sys.modules}
    for name, stand_in in absent.items():
        parent, _, last = name.rpartition(".")
        if parent in absent:
            setattr(absent[parent], last, stand_in)
    sys.modules.update(absent)
    try:
        import_module(module)
    finally:
        for name, stand_in in absent.items():
            if sys.modules.get(name, ...) is stand_in:
                del sys.modules[name]
