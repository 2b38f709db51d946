"""What objects have learnt since they were made: how a training that was stopped goes on.

    class Passes:
        learnt = {"rng": RandomState(), "dual": Inner(), "passes": Whole()}

A model file makes objects from nothing (fields.py). Of a training, most can be made anew from the data: a dual point
knows the atoms of its batch, its limits, its room to work in. So an object of such a class is made as at the beginning,
and `relearn` puts in what it had learnt, field by field in the order of the list. Fields are those of model files and
are checked as strictly, for compiled code trusts what it is given: `_check_learnt`, if there is one, has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxmargin.base.files.objects import WRONG, Field, Fields


class Learnt(Field):
    """A field whose object is there already, and is filled."""

    def left(self, value: Any) -> Any:
        """What is kept of it, as plain data. Arrays are not copied."""
        raise NotImplementedError

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        """The object with what was kept of it; ValueError where that cannot be."""
        raise NotImplementedError


class Inner(Learnt):
    """An object whose class lists what it learns."""

    def left(self, value: Any) -> Any:
        return learnt_of(value)

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        relearn(current, found)
        return current


class MaybeInner(Inner):
    """The same, or None in both places."""

    def left(self, value: Any) -> Any:
        return None if value is None else super().left(value)

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        if (found is None) != (current is None):
            raise ValueError("expected None" if current is None else "expected a value, found None")
        return current if current is None else super().refilled(found, current, owner)


class InPlace(Learnt):
    """An array of numbers, or a list of arrays, that others may hold, too: its numbers change, and it stays."""

    def __init__(self, finite: bool = True):
        self.finite = finite

    def left(self, value: Any) -> Any:
        return value

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        if isinstance(current, list):
            if not isinstance(found, list) or len(found) != len(current):
                raise ValueError(f"expected {len(current)} arrays")
            for new, old in zip(found, current, strict=True):
                self.refilled(new, old, owner)
            return current
        if not isinstance(found, np.ndarray) or found.dtype != current.dtype or found.shape != current.shape:
            raise ValueError(f"expected an array of {current.dtype} and shape {current.shape}")
        if self.finite and found.dtype.kind == "f" and not np.isfinite(found).all():
            raise ValueError("expected finite numbers")
        np.copyto(current, found)
        return current


class RandomState(Learnt):
    """A random generator of numpy's default kind."""

    def left(self, value: Any) -> Any:
        return value.bit_generator.state

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        now = current.bit_generator.state
        numbers = [found.get(name) for name in ("has_uint32", "uinteger")] if isinstance(found, dict) else [None]
        words = found.get("state") if isinstance(found, dict) else None
        if not isinstance(words, dict) or set(found) != set(now) or set(words) != set(now["state"]):
            raise ValueError(f"expected the state of a {now['bit_generator']}")
        whole = all(type(each) is int and 0 <= each < 2**32 for each in numbers)
        if not whole or not all(type(each) is int and 0 <= each < 2**128 for each in words.values()):
            raise ValueError(f"expected the state of a {now['bit_generator']}")
        if found["bit_generator"] != now["bit_generator"]:
            raise ValueError(f"expected the state of a {now['bit_generator']}")
        current.bit_generator.state = found
        return current


class NumberList(Learnt):
    """A list of numbers."""

    def left(self, value: Any) -> Any:
        return np.array(value, dtype=float)

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        if not isinstance(found, np.ndarray) or found.dtype != np.float64 or found.ndim != 1:
            raise ValueError("expected numbers")
        if np.isnan(found).any():
            raise ValueError("expected numbers, not NaN")
        return list(map(float, found))


class Lines(Learnt):
    """A list of dicts with these keys, and perhaps those, and numbers as values: kept as one array for each key."""

    def __init__(self, keys: Sequence[str], perhaps: Sequence[str] = ()):
        self.keys, self.perhaps = set(keys), set(perhaps)

    def left(self, value: Any) -> Any:
        return {key: np.array([line[key] for line in value], dtype=float) for key in (value[0] if value else ())}

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        if not isinstance(found, dict) or set(found) not in (set(), self.keys, self.keys | self.perhaps):
            raise ValueError(f"expected columns of {', '.join(sorted(self.keys))}")
        columns = list(found.values())
        fit = all(isinstance(each, np.ndarray) and each.dtype == np.float64 and each.ndim == 1 for each in columns)
        if not fit or len({len(each) for each in columns}) > 1:
            raise ValueError("expected columns of numbers of equal length")
        return [dict(zip(found, map(float, line), strict=True)) for line in zip(*columns, strict=True)]


def fields_learnt(kind: type) -> Fields:
    """The fields of a class and its bases, those of bases first."""
    found: Fields = {}
    for each in reversed(kind.__mro__):
        found |= vars(each).get("learnt", {})
    return found


def learnt_of(value: Any) -> dict[str, Any]:
    """What an object has learnt, as plain data; arrays are those of the object itself."""
    found = ((name, field, getattr(value, name)) for name, field in fields_learnt(type(value)).items())
    return {name: field.left(each) if isinstance(field, Learnt) else each for name, field, each in found}


def relearn(made: Any, found: Any) -> None:
    """Put what was learnt into an object that was made anew; ValueError where it cannot have been that."""
    kind, declared = type(made).__name__, fields_learnt(type(made))
    if not isinstance(found, Mapping) or set(found) != set(declared):
        others = set(found) ^ set(declared) if isinstance(found, Mapping) else set(declared)
        raise ValueError(f"a {kind} has unexpected or missing fields: {', '.join(sorted(map(str, others))[:3])}")
    for name, field in declared.items():
        try:
            if isinstance(field, Learnt):
                current = getattr(made, name)
                value = field.refilled(found[name], current, made)
                if value is not current:
                    setattr(made, name, value)
            else:
                setattr(made, name, field.read(found[name], made))
        except WRONG as error:
            raise ValueError(f"{kind}.{name}: {error}") from None
    if hasattr(made, "_check_learnt"):
        try:
            made._check_learnt()
        except WRONG as error:
            raise ValueError(f"{kind}: {error}") from None


@contextmanager
def going_on() -> Iterator[None]:
    """Whatever is wrong with a state that training is to go on from is said with a remedy."""
    try:
        yield
    except WRONG as error:
        raise ValueError(
            f"the checkpoint does not fit this training ({error}): delete it, or give another path"
        ) from None


class Keeper:
    """Where a training leaves, now and then, what another process needs to go on with it."""

    found: Any = None  # what an earlier run of the same training has left; None: there was none

    def offer(self, passes: float, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        """This is a moment to go on from, after so many passes; `state` makes what is kept, if it is to be kept.

        last : training ends here for lack of passes, and could go on: it is to be kept.
        """


class Within(Keeper):
    """The keeper of a training within another one, whose own state is kept with it."""

    def __init__(self, outer: Keeper, found: Any, around: Callable[[Any], dict[str, Any]], passes: float = 0.0):
        self.outer, self.found, self.around, self.passes = outer, found, around, passes

    def offer(self, passes: float, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        self.outer.offer(self.passes + passes, lambda: self.around(state()), last)
