"""The code that a problem uses: a hash of the classes and functions that users have written.

Pickles name classes and functions only by module and name, so a hash of a pickled task does not change if a method is
edited. This file finds every class and function of users in an object, and hashes what they do: bytecode, constants,
defaults, closures, and the classes, functions and plain values that they read from their modules.
"""

from __future__ import annotations

import dis
import io
import pickle
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)
# Attributes of a class that Python sets, and that do not change what the class does.
NOT_CODE = frozenset(
    ("__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__annotations__", "__firstlineno__")
) | {"__static_attributes__", "__abstractmethods__", "_abc_impl", "__dataclass_fields__", "__annotate_func__"}


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
    digests = sorted({_Description().of(each) for each in finder.found.values()})
    return f"{interpreter()} {sha256(repr(digests).encode()).hexdigest()}"


def interpreter() -> str:
    """Return the name and version that the bytecode depends on."""
    return str(sys.implementation.cache_tag)


def comparable(one: str, other: str) -> bool:
    """Return whether two hashes come from the same kind of interpreter."""
    return one.partition(" ")[0] == other.partition(" ")[0]


class _Finder(pickle.Pickler):
    """A pickler that writes nothing; `found` has the classes and functions of users on its way, by their ids."""

    def __init__(self) -> None:
        super().__init__(_Nowhere(), protocol=5, buffer_callback=lambda buffer: None)
        self.found: dict[int, Any] = {}

    def reducer_override(self, obj: Any) -> Any:
        candidate = getattr(obj, "py_func", obj)  # a function that numba compiles
        if _is_users(candidate):
            self.found[id(candidate)] = candidate
        return NotImplemented


class _Nowhere(io.RawIOBase):
    """A file that drops what is written to it."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


class _Description:
    """The description of a class or function, in which every class and function that it uses is described once."""

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}  # by their ids
        self.hash = sha256()

    def of(self, candidate: Any) -> str:
        """Return the hash of one class or function with all that it uses."""
        self._add(candidate)
        return self.hash.hexdigest()

    def _say(self, *words: Any) -> None:
        self.hash.update(repr(words).encode("utf-8", "backslashreplace"))

    def _add(self, value: Any) -> None:
        if isinstance(value, PLAIN):
            self._say(type(value).__name__, value)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self._say("array", value.dtype.str, value.shape)
            self.hash.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, ModuleType):
            self._say("module", value.__name__)
        elif id(value) in self.seen:
            self._say("again", getattr(value, "__qualname__", type(value).__name__))
        else:
            self.seen[id(value)] = value
            self._add_new(value)

    def _add_new(self, value: Any) -> None:
        if isinstance(value, tuple | list):
            self._say(type(value).__name__, len(value))
            for each in value:
                self._add(each)
        elif isinstance(value, set | frozenset):
            self._say(type(value).__name__, sorted(map(repr, value)))
        elif isinstance(value, Mapping):
            self._say(type(value).__name__, len(value))
            for key in sorted(value, key=repr):
                self._add(key)
                self._add(value[key])
        elif isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, CodeType):
            self._add_code(value, None)
        else:
            self._add_other(value)

    def _add_function(self, function: FunctionType) -> None:
        self._say("function", function.__module__, function.__qualname__)
        if not _is_users(function):
            return
        self._add_code(function.__code__, function.__doc__)
        self._add(function.__defaults__)
        self._add(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self._add(cell.cell_contents)
            except ValueError:  # a cell that is not filled yet
                self._say("empty")
        for name, value in _read_globals(function):
            self._say("global", name)
            self._add(value)

    def _add_code(self, code: CodeType, doc: str | None) -> None:
        """Describe a code object without its position, its names of local variables, and its docstring."""
        self._say("code", code.co_code, code.co_names, code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        for constant in code.co_consts:
            if doc is None or constant != doc:
                self._add(constant)

    def _add_class(self, kind: type) -> None:
        for each in kind.__mro__:
            self._say("class", each.__module__, each.__qualname__)
            if not _is_users(each):
                continue
            for name, value in sorted(vars(each).items()):
                if name not in NOT_CODE:
                    self._say("attribute", name)
                    self._add(value)

    def _add_other(self, value: Any) -> None:
        """Describe a function in disguise by the function, and any other object by its class."""
        inner = [
            getattr(value, name, None)
            for name, kind in (
                ("__func__", staticmethod | classmethod | MethodType),
                ("func", partial | cached_property),
                ("py_func", object),
                ("__wrapped__", object),
            )
            if isinstance(value, kind)
        ]
        if isinstance(value, property):
            inner = [value.fget, value.fset, value.fdel]
        elif isinstance(value, partial):
            inner += [value.args, value.keywords]
        self._say("object", type(value).__module__, type(value).__qualname__)
        for each in inner:
            if each is not None:
                self._add(each)
        if _is_users(type(value)):
            self._add(type(value))


def _read_globals(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the global variables that a function reads, and what it reads of modules of the user.

    Variables that it sets itself are left out: counters and caches say nothing about the code.
    """
    names, stored = _names(function.__code__)
    for name in sorted(names - stored):
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        yield name, value
        if isinstance(value, ModuleType) and _is_users_module(value.__name__):
            for attribute in sorted(names):
                if attribute in vars(value):
                    yield f"{name}.{attribute}", vars(value)[attribute]


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """Return the names that a code object and those within it read, and the global ones that it sets."""
    names = set(code.co_names)
    stored = {
        str(each.argval) for each in dis.get_instructions(code) if each.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner, set_there = _names(constant)
            names, stored = names | inner, stored | set_there
    return names, stored


def _is_users(candidate: Any) -> bool:
    """Return whether this is a class or function that neither Python nor an installed package defines."""
    if not isinstance(candidate, type | FunctionType):
        return False
    return _is_users_module(getattr(candidate, "__module__", None) or "builtins")


@cache
def _is_users_module(name: str) -> bool:
    package = name.partition(".")[0]
    if package == "maxmargin" or (package in sys.stdlib_module_names and package != "__main__"):
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:  # a notebook, an interactive session, a compiled module
        return getattr(getattr(sys.modules.get(name), "__spec__", None), "origin", None) != "built-in"
    return not any(folder in Path(file).resolve().parents for folder in _installed())


@cache
def _installed() -> frozenset[Path]:
    """Return the folders of installed packages; their versions are compared elsewhere or not at all."""
    paths = [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")]
    return frozenset(Path(path).resolve() for path in [*paths, *site.getsitepackages(), site.getusersitepackages()])
