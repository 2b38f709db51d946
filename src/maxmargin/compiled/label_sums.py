"""Σ_p values[p] · w[places[p] + k] for some neighbouring labels k at once, their sums kept in vector registers.

Left to itself, numba's compiler makes vectors of the loop over labels, which is short, and writes all sums to memory
after every few features. Here the instructions are written down: a label's sum is that of a plain loop over p, one
feature after the other, with the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

INDEX = ir.IntType(64)


def label_sums(width: int, vectors: int) -> Callable[..., None]:
    """The function (values, places, begin, end, w, row, first, last) that writes sums over p in begin : end to `row`.

    Of the labels of so many vectors of this width: one vector after the other from label `first` on, except that the
    last vector begins at `last`: labels may be in two vectors, so that no weights beyond the last label are read.
    """
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        return _plain(width, vectors)

    @intrinsic
    def sums(
        context: Any, values: Any, places: Any, begin: Any, end: Any, w: Any, row: Any, first: Any, last: Any
    ) -> Any:
        if any(array.layout != "C" for array in (values, places, w, row)):
            raise TypingError("expected arrays whose entries are neighbours")
        if any(array.dtype != types.float64 for array in (values, w, row)) or places.dtype != types.uint32:
            raise TypingError("expected 64-bit numbers, and places of 32 bits without a sign")
        index = types.uint64
        return types.void(values, places, index, index, w, row, index, index), _instructions(width, vectors)

    return sums


def _plain(width: int, vectors: int) -> Callable[..., None]:
    def sums(values: Any, places: Any, begin: Any, end: Any, w: Any, row: Any, first: Any, last: Any) -> None:
        for start in [*(int(first) + width * v for v in range(vectors - 1)), int(last)]:
            for k in range(start, start + width):
                row[k] = sum(values[p] * w[places[p] + k] for p in range(begin, end))

    return sums


def _instructions(width: int, vectors: int) -> Callable[..., Any]:
    vector, lane = ir.VectorType(ir.DoubleType(), width), ir.IntType(32)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def data(number: int) -> Any:
            return context.make_array(signature.args[number])(context, builder, arguments[number]).data

        values, places, w, row = data(0), data(1), data(4), data(5)
        begin, end, first, last = arguments[2], arguments[3], arguments[6], arguments[7]
        labels = [builder.add(first, INDEX(width * v)) for v in range(vectors - 1)] + [last]
        none = vector([0.0] * width)

        def at(array: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(array, [place]), vector.as_pointer())

        before = builder.block
        loop, done = builder.append_basic_block("features"), builder.append_basic_block("sums")
        builder.cbranch(builder.icmp_unsigned("<", begin, end), loop, done)

        builder.position_at_end(loop)
        p, totals = builder.phi(INDEX), [builder.phi(vector) for _ in labels]
        value = builder.insert_element(vector(ir.Undefined), builder.load(builder.gep(values, [p])), lane(0))
        value = builder.shuffle_vector(value, vector(ir.Undefined), ir.VectorType(lane, width)([0] * width))
        place = builder.zext(builder.load(builder.gep(places, [p])), INDEX)
        following, more = builder.add(p, INDEX(1)), []
        for total, label in zip(totals, labels, strict=True):
            weights = builder.load(at(w, builder.add(place, label)), align=8)
            more.append(builder.fadd(total, builder.fmul(value, weights)))
        for phi, start, step in zip([p, *totals], [begin, *[none] * vectors], [following, *more], strict=True):
            phi.add_incoming(start, before)
            phi.add_incoming(step, loop)
        builder.cbranch(builder.icmp_unsigned("<", following, end), loop, done)

        builder.position_at_end(done)
        results = [builder.phi(vector) for _ in labels]
        for result, total in zip(results, more, strict=True):
            result.add_incoming(none, before)
            result.add_incoming(total, loop)
        for result, label in zip(results, labels, strict=True):
            builder.store(result, at(row, label), align=8)
        return context.get_dummy_value()

    return generate


two_sums, twice_two_sums = label_sums(2, 1), label_sums(2, 2)
four_sums, eight_sums, twelve_sums, sixteen_sums = (label_sums(4, vectors) for vectors in (1, 2, 3, 4))
