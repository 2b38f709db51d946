"""Ask memory for what will be read soon: nothing waits for it, and nothing changes but the time that reading takes."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

INDEX, BYTE, FLAG = ir.IntType(64), ir.IntType(8), ir.IntType(32)
LINE = 64  # bytes that memory delivers together


def plain_fetch(array: Any, begin: Any, end: Any) -> None:
    """Nothing, without a compiler."""


@intrinsic
def _fetch(context: Any, array: Any, begin: Any, end: Any) -> Any:
    if array.layout != "C" or array.ndim != 1:
        raise TypingError("expected an array of one axis whose entries are neighbours")
    return types.void(array, types.int64, types.int64), _generate


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Entries begin : end of an array, line by line."""
    kind, (_, begin, end) = signature.args[0], arguments
    data = context.make_array(kind)(context, builder, arguments[0]).data
    step = INDEX(max(LINE // context.get_abi_sizeof(context.get_data_type(kind.dtype)), 1))
    pointer = BYTE.as_pointer()
    call = ir.FunctionType(ir.VoidType(), [pointer, FLAG, FLAG, FLAG])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], call)
    before = builder.block
    loop, done = builder.append_basic_block("lines"), builder.append_basic_block("asked")
    builder.cbranch(builder.icmp_signed("<", begin, end), loop, done)
    builder.position_at_end(loop)
    place = builder.phi(INDEX)
    line = builder.bitcast(builder.gep(data, [place]), pointer)
    builder.call(prefetch, [line, FLAG(0), FLAG(3), FLAG(1)])  # to read; to all caches; data
    following = builder.add(place, step)
    place.add_incoming(begin, before)
    place.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, end), loop, done)
    builder.position_at_end(done)
    return context.get_dummy_value()


_settings: Any = numba.config
fetch: Any = plain_fetch if _settings.DISABLE_JIT else _fetch
