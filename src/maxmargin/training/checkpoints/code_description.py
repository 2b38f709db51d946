"""CodeDescription: a hash of what a class or function of a user does, with all that it uses.

It contains bytecode, constants, defaults, closures, base classes, and the classes, functions and values that code reads
from its own module and from other modules of the user. Values that the code itself changes, such as counters and
caches, are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property, partial
from hashlib import sha256
from random import Random
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

import numpy as np
from scipy import sparse

from maxmargin.training.checkpoints.read_names import (
    NOTHING,
    Changes,
    changes_by,
    changes_by_methods,
    changes_by_module,
    imports_in,
    names_read,
)
from maxmargin.training.checkpoints.users_modules import is_users, is_users_module

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)
DEEPEST = 100  # values within values; Python's stack has room for several times as many
# Attributes of a class that Python sets, and that do not change what the class does.
NOT_CODE = frozenset(
    ("__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__annotations__", "__firstlineno__")
) | {
    "__static_attributes__",
    "__abstractmethods__",
    "_abc_impl",
    "__dataclass_fields__",
    "__annotate_func__",
    "__slotnames__",
}
# Objects whose state changes as they are used, or differs from process to process.
CHANGEABLE = (WeakKeyDictionary, WeakValueDictionary, WeakSet, Random, np.random.Generator, np.random.RandomState)
BY_NAME = frozenset(("getattr", "vars", "__dict__", "import_module"))  # what is read cannot be known from the bytecode


class CodeDescription:
    """The description of a class or function, in which every class and function that it uses is described once."""

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}  # by their ids
        self.hash = sha256()
        self.depth = 0
        self.changes: dict[int, Changes] = {}  # by modules, of their code

    def of(self, value: Any) -> str:
        """Return the hash of one class, function or value with all that it uses."""
        self._add(value)
        return self.hash.hexdigest()

    def _say(self, *words: Any) -> None:
        self.hash.update(repr(words).encode("utf-8", "backslashreplace"))

    def _add(self, value: Any) -> None:
        if isinstance(value, PLAIN):
            self._say(type(value).__name__, value)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self._say("array", value.dtype.str, value.shape)
            self.hash.update(np.ascontiguousarray(value).tobytes())
        elif id(value) in self.seen:
            self._say("again", getattr(value, "__qualname__", type(value).__name__))
        elif self.depth >= DEEPEST:
            self._say("deep", type(value).__qualname__)
        else:
            self.seen[id(value)] = value
            self.depth += 1
            try:
                self._add_new(value)
            except Exception:  # an object that cannot be read must not keep anybody from training
                self._say("unreadable", type(value).__qualname__)
            finally:
                self.depth -= 1

    def _add_new(self, value: Any) -> None:
        if isinstance(value, tuple | list):
            self._say(type(value).__name__, len(value))
            for each in value:
                self._add(each)
        elif isinstance(value, CHANGEABLE):
            self._say(type(value).__name__)
        elif sparse.issparse(value):  # without what it remembers about the order of its entries
            rows = value.tocsr()
            self._add((type(value).__name__, rows.shape, rows.data, rows.indices, rows.indptr))
        elif isinstance(value, set | frozenset):
            self._say(type(value).__name__, sorted(map(_sortable, value)))
        elif isinstance(value, Mapping):
            self._say(type(value).__name__, len(value))
            for key in sorted(value, key=_sortable):
                self._add(key)
                self._add(value[key])
        elif isinstance(value, ModuleType):
            self._add_module(value, None)
        elif isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, type):
            self._add_class(value)
        elif isinstance(value, CodeType):
            self._add_code(value, None)
        else:
            self._add_object(value)

    def _add_function(self, function: FunctionType) -> None:
        self._say("function", function.__module__, function.__qualname__)
        own = is_users(function)
        if own:
            self._add_code(function.__code__, function.__doc__)
            self._add(function.__defaults__)
            self._add(function.__kwdefaults__)
        for cell in function.__closure__ or ():  # a library's function may contain one of the user
            try:
                self._add(cell.cell_contents)
            except ValueError:  # a cell that is not filled yet
                self._say("empty")
        if own:
            self._add_globals(function)
            self._add_imports(function)

    def _add_code(self, code: CodeType, doc: str | None) -> None:
        """Describe a code object without its position, its names of local variables, and its docstring."""
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._say("code", code.co_code, code.co_names, code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        self._say(parameters, code.co_exceptiontable)
        for constant in code.co_consts:
            if doc is None or constant != doc:
                self._add(constant)

    def _add_globals(self, function: FunctionType) -> None:
        """Describe the global variables that a function reads, except those that code of its module changes."""
        names, variables = names_read(function.__code__), function.__globals__
        changed = self._changes(variables).variables | changes_by(function.__code__).variables
        for name in sorted(names & variables.keys()):
            value = variables[name]
            if name in changed and _is_state(value):
                continue
            self._say("global", name)
            if isinstance(value, ModuleType):
                self._add_module(value, names, changes_by(function.__code__))
            else:
                self._add(value)

    def _add_imports(self, function: FunctionType) -> None:
        """Describe what a function imports when it is called."""
        names = names_read(function.__code__)
        for each in imports_in(function.__code__):
            self._say("import", *each)
            if each.level or is_users_module(each.name):
                try:
                    module = __import__(each.name, function.__globals__, None, each.names, each.level)
                except Exception:  # the function itself may expect that
                    self._say("missing")
                else:
                    self._add_module(module, names, changes_by(function.__code__))

    def _add_module(self, module: ModuleType, names: set[str] | None, changes: Changes = NOTHING) -> None:
        """Describe what code with these names and changes reads of a module of the user; None stands for all names."""
        self._say("module", module.__name__)
        if not is_users_module(module.__name__):
            return
        variables = vars(module)
        if names is not None and names & BY_NAME:
            names = None
        read = {name for name in variables if not name.startswith("__")} if names is None else names
        changed = self._changes(variables).variables | changes.attributes
        for name in sorted(read & variables.keys()):
            value = variables[name]
            if name in changed and _is_state(value):
                continue
            self._say("global", module.__name__, name)
            if not isinstance(value, ModuleType):
                self._add(value)
            elif id(value) not in self.seen:
                self.seen[id(value)] = value
                self._add_module(value, names, changes)
                del self.seen[id(value)]  # other functions may read other names of it

    def _add_class(self, kind: type) -> None:
        for each in kind.__mro__:
            self._say("class", each.__module__, each.__qualname__)
            if not is_users(each):
                continue
            if is_users(type(each)):
                self._add(type(each))
            changed = changes_by_methods(each).attributes
            for name, value in sorted(vars(each).items()):
                if name in NOT_CODE or (name in changed and _is_state(value) and not isinstance(value, PLAIN)):
                    continue
                self._say("attribute", name)
                self._add(value)

    def _add_object(self, value: Any) -> None:
        """Describe a function in disguise by the function, and any other object by its class and state."""
        kind = type(value)
        self._say("object", kind.__module__, kind.__qualname__)
        if is_users(kind):
            self._add(kind)
        inner = _functions_in(value)
        if inner:
            for each in inner:
                self._add(each)
            return
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # a lock, an open file: it has no state that could be kept
            return
        if isinstance(reduced, str):
            self._say(reduced)
            return
        made, arguments, state, *items = (*reduced, *[None] * 5)[:5]
        if isinstance(state, dict):
            changed = self._changed_attributes(kind)
            state = {name: each for name, each in state.items() if name not in changed}
        self._add(made)
        self._add(arguments)
        self._add(state)
        for each in items:
            self._add(None if each is None else list(each))

    def _changed_attributes(self, kind: type) -> set[str]:
        """Return the attributes that methods of a user's class, or other code of its module, change."""
        found: set[str] = set()
        for each in filter(is_users, kind.__mro__):
            found |= changes_by_methods(each).attributes
            found |= self._changes(vars(sys.modules[each.__module__])).attributes
        return found

    def _changes(self, variables: dict[str, Any]) -> Changes:
        if id(variables) not in self.changes:
            self.changes[id(variables)] = changes_by_module(variables)
        return self.changes[id(variables)]


def _is_state(value: Any) -> bool:
    """Return whether a value is data that code may change, and no code itself."""
    return not isinstance(value, type | FunctionType | ModuleType) and not _functions_in(value)


def _functions_in(value: Any) -> list[Any]:
    """Return the functions that an object wraps, with arguments that it holds for them."""
    found: list[Any]
    if isinstance(value, property):
        found = [value.fget, value.fset, value.fdel]
    elif isinstance(value, partial):
        found = [value.func, value.args, value.keywords]
    elif isinstance(value, cached_property):
        found = [value.func]
    elif isinstance(value, MethodType):
        found = [value.__func__, value.__self__]
    elif isinstance(value, staticmethod | classmethod):
        found = [value.__func__]
    else:
        found = [getattr(value, name, None) for name in ("py_func", "__wrapped__")]
    return [each for each in found if each is not None]


def _sortable(key: Any) -> str:
    """Return a text by which keys and members are sorted, the same in every process."""
    return repr(key) if isinstance(key, PLAIN) else CodeDescription().of(key)
