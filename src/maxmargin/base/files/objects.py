"""What fitted objects are made of: a class lists its fields in `saved`, each with what it must be (fields.py).

    class Lexicon:
        saved = {
            "words": Texts(),
            "counts": NumberArray(float, "n_words", least=0),
            "n_words": Derived(lambda lexicon: len(lexicon.words)),
        }

That is all there is to writing such objects to model files and to reading them: no class has a writer of its own.
Fields are read in this order, and every one may speak of those before it: compiled code trusts the sizes and numbers
that it is given, so that a field checks all that such code relies on. What can be computed from other fields is
`Derived`, and not in the file at all. A class inherits the fields of its bases, and may replace some; a class method
`_saved_parameters` tells those that differ from class to class, which come first. With `saved_as = "__init__"`, or the
name of a class method, an object is made by a call with arguments of these names. `_check_saved`, if there is one, has
the last word.

Classes of a user are told by their module. All of their attributes are saved, and must be plain data; which class they
are of, the reader must be told. `saved_others = True` says the same of a class of the library.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

from maxmargin.base.pickled_weights import PickledWeights

# What values of a wrong kind or size may raise.
WRONG = (ValueError, TypeError, AttributeError, IndexError, KeyError, ArithmeticError, MemoryError, RecursionError)
_DECLARED: dict[type, Fields] = {}


class Field:
    """Anything that a file can hold; only for what no compiled code is given."""

    def written(self, writer: Any, value: Any, where: str) -> Any:
        """The JSON of a value."""
        return writer.write(value, where)

    def read(self, value: Any, owner: Any) -> Any:
        """The value, if it is one for this field; ValueError if not."""
        if isinstance(value, PickledWeights):
            raise ValueError("weights are not expected here")
        return value


Fields = dict[str, Field]


class Dropped(Field):
    """What belongs to a run and not to the model: it has this value after loading."""

    def __init__(self, value: Any = None):
        self.value = value


class IfDeclared(Field):
    """An object of a class that declares its fields; any other is left out."""

    def written(self, writer: Any, value: Any, where: str) -> Any:
        return writer.write(None if fields_of(type(value)) is None else value, where)


class Derived(Field):
    """What the other fields say."""

    def __init__(self, compute: Callable[[Any], Any]):
        self.compute = compute


class Parameter(Field):
    """A parameter of a class, which fitting checks, and not the reader: its default where a file is older than it."""

    def __init__(self, default: Any):
        self.default = default


class Sometimes(Field):
    """A field that not every object has."""

    def __init__(self, field: Field):
        self.field = field

    def written(self, writer: Any, value: Any, where: str) -> Any:
        return self.field.written(writer, value, where)

    def read(self, value: Any, owner: Any) -> Any:
        return self.field.read(value, owner)


def declare(kind: type, fields: Fields) -> None:
    """The fields of a class that cannot list them itself: a NamedTuple, or one of another library."""
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
    """Whether a class is the library's, and not a user's."""
    return kind.__module__.split(".")[0] == __name__.split(".")[0] or kind in _DECLARED


def _has_others(kind: type) -> bool:
    """Whether objects have attributes that no class declares: those of a user's, and those that say so."""
    return not is_own(kind) or getattr(kind, "saved_others", False)


def parameters_of(kind: type) -> dict[str, Field]:
    """Fields for the parameters of a class."""
    given = inspect.signature(kind).parameters.values()
    return {
        each.name: Field() if each.default is each.empty else Parameter(each.default)
        for each in given
        if each.kind is not each.VAR_KEYWORD
    }


def shown(value: Any, declared: Mapping[str, Field], where: str) -> Iterator[tuple[str, Field, Any]]:
    """The fields of an object that a file must have; ValueError where it has others than its class declares."""
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
            f"{where} has the attribute {min(unknown)!r}, which is not a field of {type(value).__name__}, and "
            "a model file "
            "would lose it. Remove it before saving"
        )


def restored(kind: type, declared: Mapping[str, Field], found: Mapping[str, Any]) -> Any:
    """An object of this class with these fields, all of which have been checked."""
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
    """What the call returns; whatever values of a wrong kind may raise becomes a ValueError."""
    try:
        return call()
    except WRONG as error:
        raise ValueError(f"{what}: {error}") from None


def _parameters(kind: type) -> Fields:
    found: Fields = getattr(kind, "_saved_parameters", dict)()
    return found


def _of_its_age(kind: type, declared: Mapping[str, Field], found: Mapping[str, Any]) -> Mapping[str, Field]:
    """The fields that an object has to have: before it is fitted, its parameters."""
    parameters = _parameters(kind)
    if not hasattr(kind, "_saved_parameters") or any(name in found for name in set(declared) - set(parameters)):
        return declared
    return {name: field for name, field in declared.items() if name in parameters}
