"""Items: the elements that outputs are made of, numbered 0 … n-1 or named."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

from maxmargin.base.checks import is_whole
from maxmargin.inputs.labels.labels import plain

ItemsLike: TypeAlias = "int | Sequence[Hashable]"


class Items:
    """The items of a set, given by their number n (then they are 0 … n-1) or by their names.

    least : how many items there must be for the set to have an output.
    called : the word for an item in errors: "class", "vertex", …
    """

    def __init__(self, items: ItemsLike, least: int = 1, called: str = "item"):
        self.called = called
        if is_whole(items):
            self.names: Sequence[Hashable] = range(int(items))  # type: ignore[arg-type]
        else:
            self.names = self._named(items)
        if len(self.names) < least:
            given = items if is_whole(items) else len(self.names)
            raise ValueError(f"there must be at least {least} {_plural(called, least)}, got {given}")
        self._numbers = {name: k for k, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: Any) -> int:
        """Return the number of one item; raise a ValueError if there is none of this name."""
        name = plain(name)
        try:
            found = None if isinstance(self.names, range) and isinstance(name, bool) else self._numbers.get(name)
        except TypeError:  # unhashable
            found = None
        if found is None:
            raise ValueError(f"{name!r} is not one of the {_plural(self.called, 2)}; expected {self.described()}")
        return found

    def numbers(self, names: Any, kind: str) -> list[int]:
        """Return the numbers of several different items, in the given order; `kind` names the output in errors."""
        members = collection(names, kind, self.called)
        found: list[int] = []
        seen: set[int] = set()
        for name in members:
            k = self.number(name)
            if k in seen:
                raise ValueError(
                    f"{self.called} {plain(name)!r} is repeated; expected every {self.called} at most once"
                )
            seen.add(k)
            found.append(k)
        return found

    def named(self, numbers: Iterable[int]) -> tuple[Hashable, ...]:
        """Return the items with these numbers."""
        return tuple(self.names[k] for k in numbers)

    def described(self) -> str:
        """Return a short text about all items, for errors."""
        if isinstance(self.names, range):
            return f"0 … {len(self.names) - 1}" if len(self.names) > 1 else "0"
        return ", ".join(map(repr, self.names[:6])) + (", …" if len(self.names) > 6 else "")

    def _named(self, items: Any) -> list[Hashable]:
        expected = f"expected the number of {_plural(self.called, 2)} or a sequence of their names"
        unordered = isinstance(items, bool | dict | set | frozenset)
        if unordered or not hasattr(items, "__iter__") or not hasattr(items, "__len__"):
            raise ValueError(f"the {_plural(self.called, 2)} are given as {items!r}; {expected}")
        names = [plain(name) for name in items]
        try:
            different = len(set(names))
        except TypeError as error:
            raise ValueError(f"the name of a {self.called} cannot be used: {error}; {expected}") from None
        if different < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise ValueError(f"{self.called} {twice!r} is named twice; {expected}")
        return names


def collection(y: Any, kind: str, called: str = "item") -> list[Any]:
    """Return the members of an output that is a set, list or tuple; strings and masks are refused."""
    if hasattr(y, "dtype") and getattr(y, "ndim", 0) == 1 and y.dtype.kind != "b":
        y = y.tolist()
    if not isinstance(y, list | tuple | set | frozenset):
        raise ValueError(f"the {kind} is {y!r}; expected a set, list or tuple of {_plural(called, 2)}")
    return list(y)


def is_pair(given: Any) -> bool:
    """Return whether this has two members; a string of two letters is not a pair."""
    return not isinstance(given, str) and hasattr(given, "__iter__") and len(tuple(given)) == 2


def whole_number(value: Any, name: str, low: int, high: int | None, why: str = "") -> None:
    """Raise a ValueError unless value is a whole number from low to high."""
    if not is_whole(value):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if int(value) < low or (high is not None and int(value) > high):
        expected = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {expected}, got {value}" + (f" ({why})" if why else ""))


def _plural(called: str, count: int) -> str:
    if count == 1:
        return called
    irregular = {"class": "classes", "vertex": "vertices"}
    return irregular.get(called, called + "s")
