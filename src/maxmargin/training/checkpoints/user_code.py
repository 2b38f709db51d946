"""A hash of the code that a problem uses: the classes and functions that users have written.

Pickles name classes and functions only by module and name, so a hash of a pickled task does not change if a method is
edited. This file finds every class and function of users in an object; code_description.py hashes what they do.
"""

from __future__ import annotations

import io
import pickle
import sys
from hashlib import sha256
from typing import Any

from maxmargin.training.checkpoints.code_description import CodeDescription
from maxmargin.training.checkpoints.users_modules import is_users


def user_code(*objects: Any) -> str:
    """Return a hash of the code of users that these objects refer to; it begins with the version of the interpreter.

    Hashes of different interpreters cannot be compared, because their bytecode differs. Objects that cannot be pickled
    are left out, because a checkpoint refuses them in any case.
    """
    finder = _Finder()
    try:
        finder.dump(objects)
    except Exception:  # an object that cannot be pickled
        return f"{interpreter()} unknown"
    digests = sorted({CodeDescription().of(each) for each in finder.found.values()})
    return f"{interpreter()} {sha256(repr(digests).encode()).hexdigest()}"


def interpreter() -> str:
    """Return the name and version that the bytecode depends on."""
    return str(sys.implementation.cache_tag)


def comparable(one: str, other: str) -> bool:
    """Return whether two hashes come from the same kind of interpreter."""
    return one.partition(" ")[0] == other.partition(" ")[0]


class _Finder(pickle.Pickler):
    """A pickler that writes nothing; `found` collects the classes and functions of users, by their ids."""

    def __init__(self) -> None:
        super().__init__(_Nowhere(), protocol=5, buffer_callback=lambda buffer: None)
        self.found: dict[int, Any] = {}

    def reducer_override(self, obj: Any) -> Any:
        candidate = getattr(obj, "py_func", obj)  # a function that numba compiles
        if is_users(candidate):
            self.found[id(candidate)] = candidate
        return NotImplemented


class _Nowhere(io.RawIOBase):
    """A file that discards everything written to it."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)
