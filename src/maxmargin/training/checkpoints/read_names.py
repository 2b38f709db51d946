"""Which names a function reads, imports and changes, from its bytecode."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

# Methods that change a list, dict, set or array in place.
CHANGING = frozenset(
    ("append", "extend", "insert", "remove", "pop", "popitem", "clear", "sort", "reverse", "fill", "appendleft")
) | {"add", "discard", "update", "setdefault", "difference_update", "intersection_update", "move_to_end", "put"}
# Methods that give an object its first state; what others set is no part of the code.
CONSTRUCTORS = frozenset(("__new__", "__init__", "__post_init__", "__setstate__", "__set_name__", "__init_subclass__"))


class Import(NamedTuple):
    """An import statement within a function, with the arguments of __import__."""

    name: str
    names: tuple[str, ...]
    level: int


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all code objects within it: functions in functions, comprehensions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def names_read(code: CodeType) -> set[str]:
    """Return the names of all global variables and attributes that a function may read."""
    return {name for each in codes_of(code) for name in each.co_names}


def imports_in(code: CodeType) -> list[Import]:
    """Return the import statements of a function."""
    found = []
    for each in codes_of(code):
        before: list[Any] = [0, None]
        for instruction in dis.get_instructions(each):
            if instruction.opname == "IMPORT_NAME":
                level, names = before
                found.append(Import(str(instruction.argval), tuple(names or ()), int(level)))
            before = [before[-1], instruction.argval]
    return found


class Changes(NamedTuple):
    """The names of what code sets, or changes in place."""

    variables: frozenset[str]  # global ones
    attributes: frozenset[str]

    def __or__(self, other: Changes) -> Changes:
        return Changes(self.variables | other.variables, self.attributes | other.attributes)


NOTHING = Changes(frozenset(), frozenset())


def changes_by(code: CodeType) -> Changes:
    """Return what a function changes: `calls += 1` with `global calls`, `cache[x] = y`, `self.seen.add(x)`."""
    found: dict[bool, set[str]] = {False: set(), True: set()}
    for each in codes_of(code):
        for is_attribute, name in _changed(list(dis.get_instructions(each))):
            found[is_attribute].add(name)
    return Changes(frozenset(found[False]), frozenset(found[True]))


def _changed(instructions: list[dis.Instruction]) -> Iterator[tuple[bool, str]]:
    """Yield whether it is an attribute, and the name of it or of the variable."""
    before = None
    for k, instruction in enumerate(instructions):
        operation = instruction.opname
        if operation in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"):
            yield operation.endswith("ATTR"), str(instruction.argval)
        elif operation in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
            # The statement begins with the container, so its last part is the last name that begins at the same place.
            start = _start(instruction)
            same = [each for each in instructions[:k] if _loads_name(each) and _start(each) == start]
            if start is not None and same:
                yield _loads_attribute(same[-1]), str(same[-1].argval)
        elif _loads_attribute(instruction) and instruction.argval in CHANGING and before is not None:
            yield _loads_attribute(before), str(before.argval)
        before = instruction if _loads_name(instruction) else None


def _loads_attribute(instruction: dis.Instruction) -> bool:
    return instruction.opname in ("LOAD_ATTR", "LOAD_METHOD")


def _loads_name(instruction: dis.Instruction) -> bool:
    return _loads_attribute(instruction) or instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")


def _start(instruction: dis.Instruction) -> tuple[int, int] | None:
    where = instruction.positions
    if where is None or where.lineno is None or where.col_offset is None:
        return None
    return where.lineno, where.col_offset


def changes_by_module(variables: dict[str, Any]) -> Changes:
    """Return what the functions and methods of a module change, from its global variables."""
    found, module = NOTHING, variables.get("__name__")
    for value in list(variables.values()):
        if getattr(value, "__module__", None) != module:
            continue
        if isinstance(value, type):
            found |= changes_by_methods(value)
        else:
            function = getattr(value, "__wrapped__", getattr(value, "py_func", value))
            if isinstance(function, FunctionType):
                found |= changes_by(function.__code__)
    return found


def changes_by_methods(kind: type) -> Changes:
    """Return what the methods of a class change, except those that give an object its first state."""
    found = NOTHING
    for name, value in list(vars(kind).items()):
        function = getattr(value, "__func__", getattr(value, "fget", value))
        if name not in CONSTRUCTORS and isinstance(function, FunctionType):
            found |= changes_by(function.__code__)
    return found
