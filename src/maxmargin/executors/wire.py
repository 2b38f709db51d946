"""What crosses the border of a process: pickles in which data that both sides have are references.

When an object is placed elsewhere, both sides number the arrays and lists in it, in the order in which a pickle meets
them. A later message that contains one of them carries its number. So an answer may well be made of the data (a batch
with other truths, rows over the atoms of a batch): it is as short as what is new in it.
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

SHORT = 64  # bytes of an array that are not worth a reference


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

    def dumps(self, message: Any) -> bytes:
        buffer = io.BytesIO()
        _Writer(buffer, self).dump(message)
        return buffer.getvalue()

    def loads(self, data: bytes) -> Any:
        return _MessageUnpickler(io.BytesIO(data), self).load()


class _Writer(Pickler):
    def __init__(self, buffer: io.BytesIO, ledger: Ledger):
        super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL)
        self.ledger = ledger

    def persistent_id(self, thing: Any) -> Any:
        if isinstance(thing, Handle):
            return thing.token
        return self.ledger.numbers.get(id(thing)) if isinstance(thing, np.ndarray | list) else None


class _MessageUnpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, ledger: Ledger):
        super().__init__(buffer)
        self.ledger = ledger

    def persistent_load(self, reference: Any) -> Any:
        if isinstance(reference, tuple):
            token, k = reference
            return self.ledger.tables[token][k]
        return self.ledger.objects[reference]


class _Surveyor(Pickler):
    """Pickles an object and numbers the arrays and lists in it."""

    def __init__(self, buffer: Any):
        super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL)
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
        buffer = io.BytesIO()
        surveyor = _Surveyor(buffer)
        surveyor.dump(thing)
        self.data, self.table = buffer.getvalue(), surveyor.table

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


# --- on the working side: what an executor calls there

_here = Ledger()


def keep(token: int, data: bytes, sign: int) -> bool:
    """Unpack what is placed here; says whether both sides number its arrays alike."""
    thing = _here.loads(data)
    survey = Survey(thing)
    _here.objects[token] = thing
    if survey.sign != sign:
        return False
    _here.keep(token, survey.table)
    return True


def forget(token: int) -> None:
    """It is no longer needed here."""
    _here.forget(token)


def answered(fn: Callable[..., Any], data: bytes) -> tuple[bool, bytes]:
    """The value of fn at this message, as a message; or the error, and False."""
    try:
        return True, _here.dumps(fn(*_here.loads(data)))
    except Exception as error:
        error.add_note(f"maxmargin: in another process\n{''.join(traceback.format_tb(error.__traceback__))}")
        try:
            return False, _here.dumps(error)
        except Exception:  # an error that cannot travel
            return False, _here.dumps(RuntimeError(f"{type(error).__name__}: {error}"))


def apply(fn: Callable[..., Any], part: Any, own: Any, shared: Sequence[Any]) -> Any:
    """One call of `Executor.map`."""
    return fn(part, own, *shared)


def apply_and_keep(token: int, fn: Callable[..., Any], part: Any, shared: Sequence[Any]) -> None:
    """One call of `Executor.derive`: what comes out stays here."""
    _here.objects[token] = fn(part, *shared)
