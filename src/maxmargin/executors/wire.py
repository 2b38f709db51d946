"""What crosses the border of a process: pickles in which data that both sides have are references.

When an object is placed elsewhere, both sides number the arrays and lists in it, in the order in which a pickle meets
them. A later message that contains one of them carries its number. So an answer may well be made of the data (a batch
with other truths, rows over the atoms of a batch): it is as short as what is new in it. Long arrays that are mostly
zeros, as mean planes are, travel without them.
"""

from __future__ import annotations

import io
import pickle
import traceback
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cloudpickle import Pickler

from maxmargin.base.pickled_weights import PickledWeights

SHORT = 64  # bytes of an array that are not worth a reference
LONG = 2**16  # bytes of an array that are worth a place beside the pickle
MOSTLY = 0.75  # zeros in a long array from which on it is faster to find them than to send them


class Handle:
    """Stands for an object in another place."""

    def __init__(self, token: int):
        self.token = token


class Ledger:
    """What is placed on the other side of one border, by token, and the numbered arrays and lists in it."""

    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}  # on the working side: what handles stand for
        self.tables: dict[int, list[Any]] = {}
        self.numbers: dict[int, tuple[int, int]] = {}  # id of an array or list -> (token, place in its table)

    def keep(self, token: int, table: list[Any]) -> None:
        self.tables[token] = table
        self.numbers.update({id(each): (token, k) for k, each in enumerate(table)})

    def forget(self, token: int) -> None:
        self.objects.pop(token, None)
        for each in self.tables.pop(token, []):
            if self.numbers.get(id(each), (None,))[0] == token:
                del self.numbers[id(each)]


class Message:
    """A pickle and, beside it, the numbers of the long arrays in it: who carries it need not copy them."""

    def __init__(self, data: bytes, arrays: list[np.ndarray]):
        self.data, self.arrays = data, arrays

    @classmethod
    def of(cls, ledger: Ledger, thing: Any) -> Message:
        buffer, apart = io.BytesIO(), _Apart()
        _Writer(buffer, ledger, apart).dump(thing)
        return cls(buffer.getvalue(), apart.arrays)

    def owned(self) -> Message:
        """The same, which does not change with the arrays that it was made of."""
        return Message(self.data, [each.copy() for each in self.arrays])

    def read(self, ledger: Ledger, alone: bool = False) -> Any:
        """What was sent, for the reader alone: what comes from elsewhere may be read-only, and of others, too.

        alone: nobody else has this message, nor reads it again, so that its arrays need not be copied.
        """
        arrays = [each if alone and each.flags.writeable else each.copy() for each in self.arrays]
        return _MessageUnpickler(io.BytesIO(self.data), ledger, arrays).load()

    def __len__(self) -> int:
        """In bytes."""
        return len(self.data) + sum(each.nbytes for each in self.arrays)


class _Apart:
    """What a pickler asks of the numbers of every array: whether they go into the pickle."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

    def __call__(self, numbers: pickle.PickleBuffer) -> bool:
        raw = numbers.raw()
        if raw.nbytes >= LONG:
            self.arrays.append(np.frombuffer(raw, np.uint8))
        return raw.nbytes < LONG


class _Writer(Pickler):
    def __init__(self, buffer: io.BytesIO, ledger: Ledger, apart: _Apart):
        super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=apart)
        self.ledger = ledger

    def persistent_id(self, thing: Any) -> Any:
        if isinstance(thing, Handle):
            return thing.token
        known = self.ledger.numbers.get(id(thing)) if isinstance(thing, np.ndarray | list) else None
        if known is None and type(thing) is np.ndarray and _mostly_zeros(thing):
            return PickledWeights.of(thing)
        return known


def _mostly_zeros(array: np.ndarray) -> bool:
    if array.nbytes < LONG or array.dtype != np.float64 or array.ndim != 1:
        return False
    bits = array.view(np.int64)  # -0.0 is no zero here, and is not lost
    return bool(np.count_nonzero(bits) <= (1 - MOSTLY) * len(bits))


class _MessageUnpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, ledger: Ledger, arrays: Sequence[Any]):
        super().__init__(buffer, buffers=arrays)
        self.ledger = ledger

    def persistent_load(self, reference: Any) -> Any:
        if isinstance(reference, PickledWeights):
            return reference.unpacked()
        if isinstance(reference, tuple):
            token, k = reference
            return self.ledger.tables[token][k]
        return self.ledger.objects[reference]


class _Surveyor(Pickler):
    """Pickles an object and numbers the arrays and lists in it."""

    def __init__(self, buffer: io.BytesIO, apart: _Apart):
        super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=apart)
        self.table: list[Any] = []  # keeps all of them alive, so that no number is ever given twice
        self.known: set[int] = set()

    def persistent_id(self, thing: Any) -> Any:
        long = isinstance(thing, list) or (isinstance(thing, np.ndarray) and thing.nbytes >= SHORT)
        if long and id(thing) not in self.known:
            self.known.add(id(thing))
            self.table.append(thing)
        return None


class Survey:
    """The pickle of an object, the arrays and lists in it, and a sign by which two surveys of it are known as equal."""

    def __init__(self, thing: Any):
        buffer, apart = io.BytesIO(), _Apart()
        surveyor = _Surveyor(buffer, apart)
        surveyor.dump(thing)
        self.message, self.table = Message(buffer.getvalue(), apart.arrays), surveyor.table

    @property
    def sign(self) -> int:
        """Of the kinds, sizes and contents of what is numbered; of lists the length has to do."""
        sign = zlib.crc32(str(len(self.table)).encode())
        for each in self.table:
            plain = isinstance(each, np.ndarray) and not each.dtype.hasobject
            kind = (each.dtype.str, each.shape) if isinstance(each, np.ndarray) else len(each)
            sign = zlib.crc32(repr(kind).encode(), sign)
            if plain:
                sign = zlib.crc32(np.ascontiguousarray(each).view(np.uint8).data, sign) if each.size else sign
        return sign


class NumberedObject:
    """A placed object with the numbers of its arrays. It may travel on to other workers, and they stay the same."""

    def __init__(self, thing: Any, table: list[Any]):
        self.thing, self.table = thing, table
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """For messages about it."""
        if self._ledger is None:
            self._ledger = Ledger()
            self._ledger.keep(0, self.table)
        return self._ledger

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_ledger": None}  # whose numbers are those of objects in this process


# --- on the working side: what an executor calls there

_here = Ledger()


def keep(token: int, message: Message, sign: int | None) -> bool:
    """Unpack what is placed here; says whether both sides number its arrays alike. None: they are known not to."""
    thing = message.read(_here)
    _here.objects[token] = thing
    survey = None if sign is None else Survey(thing)
    if survey is None or survey.sign != sign:
        return False
    _here.keep(token, survey.table)
    return True


def forget(token: int) -> None:
    """It is no longer needed here."""
    _here.forget(token)


def answered(fn: Callable[..., Any], message: Message) -> tuple[bool, Message]:
    """The value of fn at this message, as a message; or the error, and False."""
    return outcome(_here, lambda: fn(*message.read(_here)))


def outcome(ledger: Ledger, work: Callable[[], Any]) -> tuple[bool, Message]:
    """What comes of some work, as a message; or the error, and False."""
    try:
        return True, Message.of(ledger, work())
    except Exception as error:
        error.add_note(f"maxmargin: in another process\n{''.join(traceback.format_tb(error.__traceback__))}")
        try:
            return False, Message.of(ledger, error)
        except Exception:  # an error that cannot travel
            return False, Message.of(ledger, RuntimeError(f"{type(error).__name__}: {error}"))


def apply(fn: Callable[..., Any], part: Any, own: Any, shared: Sequence[Any]) -> Any:
    """One call of `Executor.map`."""
    return fn(part, own, *shared)


def apply_and_keep(token: int, fn: Callable[..., Any], part: Any, shared: Sequence[Any]) -> None:
    """One call of `Executor.derive`: what comes out stays here."""
    _here.objects[token] = fn(part, *shared)
