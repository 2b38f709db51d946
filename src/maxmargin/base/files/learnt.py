"""Declarations of the state that a training run must keep in order to resume.

    class Passes:
        learnt = {"rng": RandomState(), "dual": Inner(), "passes": Whole()}

Reading a model file creates objects from scratch (fields.py). In a training run, most objects can be created from the
data again: a dual point gets its atoms from its batch, and it allocates its work arrays itself. So a resumed run
creates its objects as at the beginning, and `relearn` fills in their state, field by field in the order of the list.
Fields are checked as strictly as those of model files, because compiled code trusts them; a method `_check_learnt`, if
there is one, checks the object as a whole at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from maxmargin.base.files.objects import WRONG, Field, Fields


class Learnt(Field):
    """A field whose value exists already when its state is filled in."""

    def left(self, value: Any) -> Any:
        """Return the state of the value as plain data. Arrays are not copied."""
        raise NotImplementedError

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        """Return `current` with the state `found`; raise a ValueError if the state is impossible."""
        raise NotImplementedError


class Inner(Learnt):
    """An object whose class declares `learnt` itself."""

    def left(self, value: Any) -> Any:
        return learnt_of(value)

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        relearn(current, found)
        return current


class MaybeInner(Inner):
    """An object whose class declares `learnt`, or None; None must stay None."""

    def left(self, value: Any) -> Any:
        return None if value is None else super().left(value)

    def refilled(self, found: Any, current: Any, owner: Any) -> Any:
        if (found is None) != (current is None):
            raise ValueError("expected None" if current is None else "expected a value, found None")
        return current if current is None else super().refilled(found, current, owner)


class InPlace(Learnt):
    """An array of numbers, or a list of arrays, that other objects refer to as well: it is filled in place."""

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
    """The state of a numpy random Generator."""

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
    """A list of dicts with given keys, some of them optional, and numbers as values; stored as one array per key."""

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
    """Return the `learnt` fields of a class and its bases, those of bases first."""
    found: Fields = {}
    for each in reversed(kind.__mro__):
        found |= vars(each).get("learnt", {})
    return found


def learnt_of(value: Any) -> dict[str, Any]:
    """Return the state of an object as plain data; arrays are not copied."""
    found = ((name, field, getattr(value, name)) for name, field in fields_learnt(type(value)).items())
    return {name: field.left(each) if isinstance(field, Learnt) else each for name, field, each in found}


def relearn(made: Any, found: Any) -> None:
    """Set the state of a newly created object to `found`; raise a ValueError if this is impossible."""
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
    """Convert errors in the state of a checkpoint into a ValueError that names the remedy."""
    try:
        yield
    except WRONG as error:
        raise ValueError(
            f"the checkpoint does not fit this training ({error}): delete it, or give another path"
        ) from None


class Keeper:
    """The receiver of the state of a training run, which another process can resume from the last state."""

    found: Any = None  # the state of an earlier run, or None

    def offer(self, passes: float, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        """Offer a state to resume from, after `passes` passes. `state` is called only if the state is to be kept.

        last : whether training ends here for lack of passes; it could continue, so the state is to be kept.
        """


class Within(Keeper):
    """A keeper for a training run inside another one, whose state is kept together with it."""

    def __init__(self, outer: Keeper, found: Any, around: Callable[[Any], dict[str, Any]], passes: float = 0.0):
        self.outer, self.found, self.around, self.passes = outer, found, around, passes

    def offer(self, passes: float, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        self.outer.offer(self.passes + passes, lambda: self.around(state()), last)
