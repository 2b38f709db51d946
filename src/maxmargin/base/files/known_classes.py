"""Look up the classes that model files may name.

A class is known if it declares its fields (objects.py) and is listed in the generated table (class_table.py). A name
from a file is only looked up in this table and never imported directly. A known class is imported when a
file names it, so that reading a small model does not import every structure.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from maxmargin.base.files.class_table import MODULES


@cache
def known_class(name: str) -> type | None:
    """Return the class of this name that files may have, or None if there is none."""
    module = MODULES.get(name)
    if module is None:
        return None
    found: type = getattr(import_module(f"maxmargin.{module}"), name)
    return found


def check_known(kind: type, where: str) -> None:
    """Raise a ValueError if no reader would know this class of the library, before anything is written."""
    if known_class(kind.__name__) is not kind:
        raise ValueError(
            f"{where} is a {kind.__name__}, a class that model files do not hold: it is not in the table of "
            "maxmargin/base/files/class_table.py. If it declares its fields (`saved`), run "
            "`python tests/base/files/saved_class_table.py`, which adds it"
        )
