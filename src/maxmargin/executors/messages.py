"""Messages between processes: pickles in which data that both sides have are references.

The message that places an object in another process numbers the arrays and lists in it, so that both sides know them
by the same numbers. A later message that contains one of them carries its number instead. An answer may therefore
contain the data (a batch with other truths, rows over the atoms of a batch), but only new data add to its length.
Long arrays that are mostly zeros, such as mean planes, travel without the zeros.
"""

from __future__ import annotations

import io
import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from cloudpickle import Pickler

from maxmargin.base.pickled_weights import PickledWeights

SHORT = 64  # bytes below which an array is not worth a reference
LONG = 2**16  # bytes from which an array is sent beside the pickle
MOSTLY = 0.75  # the share of zeros in a long array above which finding them is faster than sending them


class Handle:
    """A reference to an object in another process."""

    def __init__(self, token: int):
        self.token = token


class Numbered(NamedTuple):
    """An array or a list with a number that identifies it on both sides of a connection."""

    number: int
    thing: Any  # the array or list


class Ledger:
    """A record of the objects that the other side of a connection has, by token, with their numbered contents."""

    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}  # in the worker: the objects that handles refer to
        self.contents: dict[int, list[Any]] = {}  # keeps the objects alive, so that no id is used twice
        self.numbers: dict[int, tuple[int, int]] = {}  # id of an array or list -> (token, number)

    def keep(self, token: int, contents: list[Any]) -> None:
        """Record the contents of a placed object."""
        self.contents[token] = contents
        self.numbers.update({id(thing): (token, number) for number, thing in enumerate(contents)})

    def forget(self, token: int) -> None:
        """Delete the record of an object."""
        self.objects.pop(token, None)
        for thing in self.contents.pop(token, []):
            if self.numbers.get(id(thing), (None,))[0] == token:
                del self.numbers[id(thing)]


class Message:
    """A pickle and, beside it, the bytes of the long arrays in it, which need not be copied to be sent."""

    def __init__(self, data: bytes, arrays: list[np.ndarray]):
        self.data, self.arrays = data, arrays

    @classmethod
    def of(cls, ledger: Ledger, thing: Any) -> Message:
        """Pickle a thing for a reader with the same ledger."""
        return _Writer(ledger).written(thing)

    @classmethod
    def placing(cls, thing: Any) -> tuple[Message, list[Any]]:
        """Pickle an object that is to be placed elsewhere; return its contents too, in the order of their numbers."""
        writer = _PlacingWriter(Ledger())
        return writer.written(thing), writer.contents

    def owned(self) -> Message:
        """Return a copy that does not change with the arrays that it was made of."""
        return Message(self.data, [each.copy() for each in self.arrays])

    def read(self, ledger: Ledger, alone: bool = False) -> Any:
        """Return the object that was sent, in memory of its own.

        alone: whether no other process reads this message, now or later, so that writeable arrays need not be copied.
        """
        return self.read_placed(ledger, alone)[0]

    def read_placed(self, ledger: Ledger, alone: bool = False) -> tuple[Any, list[Any]]:
        """Return the object that was sent and, if it was placed, its contents in the order of their numbers."""
        arrays = [each if alone and each.flags.writeable else each.copy() for each in self.arrays]
        reader = _Reader(io.BytesIO(self.data), ledger, arrays)
        thing = reader.load()
        return thing, [reader.contents[number] for number in range(len(reader.contents))]

    def __len__(self) -> int:
        """Return the size in bytes."""
        return len(self.data) + sum(each.nbytes for each in self.arrays)


class _Writer(Pickler):
    def __init__(self, ledger: Ledger):
        self.buffer, self.arrays = io.BytesIO(), list[np.ndarray]()
        super().__init__(self.buffer, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=self._goes_inside)
        self.ledger = ledger

    def written(self, thing: Any) -> Message:
        self.dump(thing)
        return Message(self.buffer.getvalue(), self.arrays)

    def _goes_inside(self, numbers: pickle.PickleBuffer) -> bool:
        """Decide whether the bytes of an array go into the pickle, and keep those that do not."""
        raw = numbers.raw()
        if raw.nbytes >= LONG:
            self.arrays.append(np.frombuffer(raw, np.uint8))
        return raw.nbytes < LONG

    def persistent_id(self, thing: Any) -> Any:
        if isinstance(thing, Handle):
            return thing.token
        known = self.ledger.numbers.get(id(thing)) if isinstance(thing, np.ndarray | list) else None
        if known is None and type(thing) is np.ndarray and _mostly_zeros(thing):
            return PickledWeights.of(thing)
        return known


class _PlacingWriter(_Writer):
    """A writer that numbers arrays and lists at their first occurrence; pickle itself handles repeated ones."""

    def __init__(self, ledger: Ledger):
        super().__init__(ledger)
        self.contents: list[Any] = []
        self.known: set[int] = set()

    def persistent_id(self, thing: Any) -> Any:
        long = isinstance(thing, list) or (isinstance(thing, np.ndarray) and thing.nbytes >= SHORT)
        if not long or id(thing) in self.known:
            return None
        self.known.add(id(thing))
        self.contents.append(thing)
        return Numbered(len(self.contents) - 1, thing)


def _mostly_zeros(array: np.ndarray) -> bool:
    if array.nbytes < LONG or array.dtype != np.float64 or array.ndim != 1:
        return False
    bits = array.view(np.int64)  # as bits, so that -0.0 is not taken for 0.0 and lost
    return bool(np.count_nonzero(bits) <= (1 - MOSTLY) * len(bits))


class _Reader(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, ledger: Ledger, arrays: Sequence[Any]):
        super().__init__(buffer, buffers=arrays)
        self.ledger, self.contents = ledger, dict[int, Any]()

    def persistent_load(self, reference: Any) -> Any:
        if isinstance(reference, PickledWeights):
            return reference.unpacked()
        if isinstance(reference, Numbered):
            self.contents[reference.number] = reference.thing
            return reference.thing
        if isinstance(reference, tuple):
            token, number = reference
            return self.ledger.contents[token][number]
        return self.ledger.objects[reference]


# --- functions that an executor calls in another process

_here = Ledger()


def keep(token: int, message: Message) -> tuple[bool, Message]:
    """Unpack an object that is placed here; the result has the form of `outcome`."""

    def work() -> None:
        _here.objects[token], contents = message.read_placed(_here)
        _here.keep(token, contents)

    return outcome(_here, work)


def forget(token: int) -> None:
    """Free an object that is no longer needed here."""
    _here.forget(token)


def answered(fn: Callable[..., Any], message: Message) -> tuple[bool, Message]:
    """Return the value of fn at the arguments in a message, as `outcome` does."""
    return outcome(_here, lambda: fn(*message.read(_here)))


def outcome(ledger: Ledger, work: Callable[[], Any]) -> tuple[bool, Message]:
    """Return True and the result of some work as a message, or False and its error."""
    try:
        return True, Message.of(ledger, work())
    except Exception as error:
        error.add_note(f"maxmargin: in another process\n{''.join(traceback.format_tb(error.__traceback__))}")
        try:
            return False, Message.of(ledger, error)
        except Exception:  # an error that cannot be pickled
            return False, Message.of(ledger, RuntimeError(f"{type(error).__name__}: {error}"))


def apply(fn: Callable[..., Any], part: Any, own: Any, shared: Sequence[Any]) -> Any:
    """Make one call of `Executor.map`."""
    return fn(part, own, *shared)


def apply_and_keep(token: int, fn: Callable[..., Any], part: Any, shared: Sequence[Any]) -> None:
    """Make one call of `Executor.derive`, and keep the result here."""
    _here.objects[token] = fn(part, *shared)
