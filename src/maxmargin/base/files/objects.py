"""Declarations of the fields of fitted objects: a class lists them in `saved`, with what each must be (fields.py).

    class Lexicon:
        saved = {
            "words": Texts(),
            "counts": NumberArray(float, "n_words", least=0),
            "n_words": Derived(lambda lexicon: len(lexicon.words)),
        }

This declaration is all that is needed to write such objects to model files and to read them; no class has a writer of
its own. Fields are read in this order, and each may refer to those before it, because compiled code trusts the sizes
and numbers it receives. Fields that can be computed from others are `Derived` and not stored. A class inherits the
fields of its bases and may replace some of them; a class method `_saved_parameters` returns those that differ from
class to class, which come first. With `saved_as = "__init__"`, or the name of a class method, an object is created by
calling it with the fields as arguments. A method `_check_saved`, if there is one, checks the object as a whole at the
end.

User classes are recognised by their module. All their attributes are saved and must be plain data, and the class must
be given to the reader. `saved_others = True` requests the same for a class of the library.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from maxmargin.base.pickled_weights import PickledWeights

# Errors that values of a wrong type or size may cause.
WRONG = (ValueError, TypeError, AttributeError, IndexError, KeyError, ArithmeticError, MemoryError, RecursionError)
_DECLARED: dict[type, Fields] = {}


class Field:
    """A value of any kind that a file can hold. Use it only for values that no compiled code receives."""

    def written(self, writer: Any, value: Any, where: str) -> Any:
        """Return the JSON of a value."""
        return writer.write(value, where)

    def read(self, value: Any, owner: Any) -> Any:
        """Return the value if it is valid for this field; raise a ValueError otherwise."""
        if isinstance(value, PickledWeights):
            raise ValueError("weights are not expected here")
        return value


Fields = dict[str, Field]


class Dropped(Field):
    """A field that belongs to a run and not to the model; after loading it has a fixed value."""

    def __init__(self, value: Any = None):
        self.value = value


class IfDeclared(Field):
    """An object of a class that declares its fields; any other object is left out."""

    def written(self, writer: Any, value: Any, where: str) -> Any:
        return writer.write(None if fields_of(type(value)) is None else value, where)


class Derived(Field):
    """A field that is computed from the other fields and not stored."""

    def __init__(self, compute: Callable[[Any], Any]):
        self.compute = compute


class Parameter(Field):
    """A constructor parameter, which `fit` checks later. It has its default if the file is older than the parameter."""

    def __init__(self, default: Any):
        self.default = default


class Sometimes(Field):
    """A field that some objects do not have."""

    def __init__(self, field: Field):
        self.field = field

    def written(self, writer: Any, value: Any, where: str) -> Any:
        return self.field.written(writer, value, where)

    def read(self, value: Any, owner: Any) -> Any:
        return self.field.read(value, owner)


def declare(kind: type, fields: Fields) -> None:
    """Declare the fields of a class that cannot list them itself: a NamedTuple, or a class of another library."""
    _DECLARED[kind] = fields


def fields_of(kind: type) -> Mapping[str, Field] | None:
    """Return the fields of a class and its bases, or None if it does not declare any."""
    if kind in _DECLARED:
        return _DECLARED[kind]
    declared = [own for each in reversed(kind.__mro__) if isinstance(own := vars(each).get("saved"), dict)]
    if not declared:
        return None
    found = dict(_parameters(kind))
    for new in declared:
        found = {name: field for name, field in found.items() if name not in new} | new  # in the order of the last word
    return found


def is_own(kind: type) -> bool:
    """Return whether a class belongs to this library."""
    return kind.__module__.split(".")[0] == __name__.split(".")[0] or kind in _DECLARED


def _has_others(kind: type) -> bool:
    """Return whether objects may have undeclared attributes: in user classes, and with `saved_others`."""
    return not is_own(kind) or getattr(kind, "saved_others", False)


def parameters_of(kind: type) -> dict[str, Field]:
    """Return fields for the constructor parameters of a class."""
    given = inspect.signature(kind).parameters.values()
    return {
        each.name: Field() if each.default is each.empty else Parameter(each.default)
        for each in given
        if each.kind is not each.VAR_KEYWORD
    }


def shown(value: Any, declared: Mapping[str, Field], where: str) -> Iterator[tuple[str, Field, Any]]:
    """Yield the fields of an object that a file must hold; raise a ValueError about undeclared attributes."""
    if isinstance(value, tuple):
        state = value._asdict()  # type: ignore[attr-defined]
    elif hasattr(value, "saved_as"):
        state = {name: getattr(value, name) for name in declared}
    else:
        state = vars(value)
    declared = _of_its_age(type(value), declared, state)
    for name, field in declared.items():
        if isinstance(field, Derived | Dropped):
            continue
        if name in state:
            yield name, field, state[name]
        elif not isinstance(field, Sometimes):
            raise ValueError(f"{where} is not fitted: a {type(value).__name__} without {name} cannot be saved")
    unknown = set(state) - set(declared)
    if _has_others(type(value)):
        yield from ((name, Field(), state[name]) for name in sorted(unknown))
    elif unknown and type(value) not in _DECLARED:
        raise ValueError(
            f"{where} has the attribute {min(unknown)!r}, which is not a field of {type(value).__name__}, and a model "
            "file would lose it. Remove it before saving"
        )


def restored(kind: type, declared: Mapping[str, Field], found: Mapping[str, Any]) -> Any:
    """Create an object of a class from its fields, and check them."""
    declared = _of_its_age(kind, declared, found)
    unknown = set(found) - {name for name, field in declared.items() if not isinstance(field, Derived | Dropped)}
    if unknown and not _has_others(kind):
        raise ValueError(f"{kind.__name__} has no field {min(unknown)!r}")
    declared = {**declared, **dict.fromkeys(unknown, Field())}
    way: str = getattr(kind, "saved_as", "__init__" if issubclass(kind, tuple) else "")
    made: Any = SimpleNamespace() if way else object.__new__(kind)
    for name, field in declared.items():
        if name in found or isinstance(field, Derived | Dropped):
            value = _tried(partial(_value, field, found.get(name), made), f"{kind.__name__}.{name}")
            object.__setattr__(made, name, value)
        elif isinstance(field, Parameter):
            object.__setattr__(made, name, field.default)
        elif not isinstance(field, Sometimes):
            raise ValueError(f"{kind.__name__} has no {name}")
    if way:
        make = kind if way == "__init__" else getattr(kind, way)
        return _tried(lambda: make(**vars(made)), kind.__name__)
    if hasattr(made, "_check_saved") and set(declared) - set(_parameters(kind)):
        _tried(made._check_saved, kind.__name__)
    return made


def _value(field: Field, found: Any, owner: Any) -> Any:
    if isinstance(field, Dropped):
        return field.value
    return field.compute(owner) if isinstance(field, Derived) else field.read(found, owner)


def _tried(call: Callable[[], Any], what: str) -> Any:
    """Return the result of a call; convert the errors that wrong values may cause into a ValueError."""
    try:
        return call()
    except WRONG as error:
        raise ValueError(f"{what}: {error}") from None


def _parameters(kind: type) -> Fields:
    found: Fields = getattr(kind, "_saved_parameters", dict)()
    return found


def _of_its_age(kind: type, declared: Mapping[str, Field], found: Mapping[str, Any]) -> Mapping[str, Field]:
    """Return the fields that an object must have: before fitting, only its parameters."""
    parameters = _parameters(kind)
    if not hasattr(kind, "_saved_parameters") or any(name in found for name in set(declared) - set(parameters)):
        return declared
    return {name: field for name, field in declared.items() if name in parameters}
