"""Sums and maxima over rows of numbers, for all labels at once, kept in vector registers.

    label_sums:    row[k] = Σ_p values[p] · w[places[p] + k]          scores of labels, of weights within their limits
    column_sums:   row[k] = Σ_p values[p & every] · w[first + K · columns[p] + k]      the same of atoms (atoms.py)
    label_maxima:  row[k] = max_p values[p] + w[p, k]                 best paths into labels
    label_masses:  row[k] = Σ_p values[p] · w[p, k]                   all paths into labels

Left to itself, numba's compiler makes vectors of the loop over labels, which is short, and writes all results to memory
after every few rows. Here the instructions are written down: up to sixteen labels are swept at a time, and a label's
sum is that of a plain loop over p, one row after the other, with the same bits on every machine.

Limits are None, or a pair (low, high): two numbers for all weights, or two arrays. Weights are clipped when they are
read, so that what is added to them need not know of limits; which form it is, is known when a kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import unpack_tuple
from numba.core.errors import TypingError
from numba.extending import intrinsic

INDEX, LANE = ir.IntType(64), ir.IntType(32)


def plain_weight(w: Any, limits: Any, j: Any) -> Any:
    """w[j] within its limits."""
    if limits is None:
        return w[j]
    low, high = (limit if np.isscalar(limit) else limit[j] for limit in limits)
    return min(max(w[j], low), high)


def plain_sums(values: Any, places: Any, begin: Any, end: Any, w: Any, limits: Any, K: Any, row: Any) -> None:
    """The sums over p in begin : end, label by label."""
    for k in range(K):
        row[k] = sum(values[p] * plain_weight(w, limits, places[p] + k) for p in range(begin, end))


def plain_column_sums(
    values: Any, every: Any, columns: Any, first: Any, begin: Any, end: Any, w: Any, limits: Any, K: Any, row: Any
) -> None:
    """The same of atoms."""
    for k in range(K):
        places = ((int(p), int(first) + int(K) * int(columns[p]) + k) for p in range(begin, end))
        row[k] = sum(values[p & int(every)] * plain_weight(w, limits, place) for p, place in places)


def plain_maxima(values: Any, end: Any, w: Any, K: Any, row: Any) -> None:
    """The maxima over p < end, label by label."""
    for k in range(K):
        row[k] = max([values[p] + w[p, k] for p in range(end)], default=-float("inf"))


def plain_masses(values: Any, end: Any, w: Any, K: Any, row: Any) -> None:
    """The sums over p < end, label by label."""
    for k in range(K):
        row[k] = sum(values[p] * w[p, k] for p in range(end))


@intrinsic
def _weight(context: Any, w: Any, limits: Any, j: Any) -> Any:
    _check(w)
    return types.float64(w, limits, types.uint64), _generate_weight


def _generate_weight(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    clipped = _clipping(context, builder, signature.args[1], arguments[1])
    place = builder.gep(_array(context, builder, signature, arguments, 0).data, [arguments[2]])
    return clipped(builder.load(place), arguments[2])


def _clipping(context: Any, builder: Any, kind: Any, limits: Any) -> Callable[[Any, Any], Any]:
    """What clips the weights, one or a vector of them, that begin at some place."""
    if kind == types.none:
        return lambda weights, place: weights
    _check(*(each for each in kind if isinstance(each, types.Array)))
    low, high = unpack_tuple(builder, limits, 2)
    if isinstance(kind[0], types.Array):
        low, high = (context.make_array(kind[0])(context, builder, limit).data for limit in (low, high))

    def limit_of(limit: Any, weights: Any, place: Any) -> Any:
        vector = weights.type
        if isinstance(kind[0], types.Array):
            return builder.load(builder.bitcast(builder.gep(limit, [place]), vector.as_pointer()), align=8)
        return _everywhere(builder, limit, vector) if isinstance(vector, ir.VectorType) else limit

    def clipped(weights: Any, place: Any) -> Any:
        least, most = (limit_of(limit, weights, place) for limit in (low, high))
        weights = builder.select(builder.fcmp_ordered(">", weights, least), weights, least)
        return builder.select(builder.fcmp_ordered("<", weights, most), weights, most)

    return clipped


@intrinsic
def _sums(context: Any, values: Any, places: Any, begin: Any, end: Any, w: Any, limits: Any, K: Any, row: Any) -> Any:
    _check(values, w, row)
    if places.layout != "C" or places.dtype != types.uint32:
        raise TypingError("expected places of 32 bits without a sign that are neighbours")
    index = types.uint64
    return types.void(values, places, index, index, w, limits, index, row), _generate_sums


def _generate_sums(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    values, places, w, row = (_array(context, builder, signature, arguments, number) for number in (0, 1, 4, 7))

    def place_of(p: Any) -> Any:
        return builder.zext(builder.load(builder.gep(places.data, [p])), INDEX)

    clipped = _clipping(context, builder, signature.args[5], arguments[5])
    value_of = _loading(builder, values.data)
    rows = _Rows(builder, arguments[2], arguments[3], value_of, w.data, place_of, clipped, _adding(builder), 0.0)
    _sweep_labels(rows, arguments[6], row.data)
    return context.get_dummy_value()


@intrinsic
def _column_sums(
    context: Any, values: Any, every: Any, columns: Any, first: Any, begin: Any, end: Any, w: Any, limits: Any,
    K: Any, row: Any,
) -> Any:  # fmt: skip
    _check(values, w, row)
    if columns.layout != "C" or columns.dtype != types.uint32:
        raise TypingError("expected columns of 32 bits without a sign that are neighbours")
    index = types.uint64
    return types.void(values, index, columns, index, index, index, w, limits, index, row), _generate_column_sums


def _generate_column_sums(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    values, columns, w, row = (_array(context, builder, signature, arguments, number) for number in (0, 2, 6, 9))
    _, every, _, first, begin, end, _, limits, K, _ = arguments

    def place_of(p: Any) -> Any:
        column = builder.zext(builder.load(builder.gep(columns.data, [p])), INDEX)
        return builder.add(first, builder.mul(column, K))

    def value_of(p: Any) -> Any:
        return builder.load(builder.gep(values.data, [builder.and_(p, every)]))

    clipped = _clipping(context, builder, signature.args[7], limits)
    rows = _Rows(builder, begin, end, value_of, w.data, place_of, clipped, _adding(builder), 0.0)
    _sweep_labels(rows, K, row.data)
    return context.get_dummy_value()


@intrinsic
def _maxima(context: Any, values: Any, end: Any, w: Any, K: Any, row: Any) -> Any:
    return _of_matrix(values, w, row), _generate_maxima


def _generate_maxima(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    def higher(total: Any, value: Any, weights: Any) -> Any:
        new = builder.fadd(value, weights)
        return builder.select(builder.fcmp_ordered(">", new, total), new, total)

    return _sweep_matrix(context, builder, signature, arguments, higher, -float("inf"))


@intrinsic
def _masses(context: Any, values: Any, end: Any, w: Any, K: Any, row: Any) -> Any:
    return _of_matrix(values, w, row), _generate_masses


def _generate_masses(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _sweep_matrix(context, builder, signature, arguments, _adding(builder), 0.0)


def _of_matrix(values: Any, w: Any, row: Any) -> Any:
    """The types of (values, end, w, K, row)."""
    _check(values, w, row)
    return types.void(values, types.uint64, w, types.uint64, row)


def _sweep_matrix(context: Any, builder: Any, signature: Any, arguments: Any, join: Any, start: float) -> Any:
    """The rows of a matrix, one after the other."""
    values, w, row = (_array(context, builder, signature, arguments, number) for number in (0, 2, 4))

    def place_of(p: Any) -> Any:
        return builder.mul(p, arguments[3])

    plain = _clipping(context, builder, types.none, None)
    value_of = _loading(builder, values.data)
    rows = _Rows(builder, INDEX(0), arguments[1], value_of, w.data, place_of, plain, join, start)
    _sweep_labels(rows, arguments[3], row.data)
    return context.get_dummy_value()


def _loading(builder: Any, values: Any) -> Callable[[Any], Any]:
    return lambda p: builder.load(builder.gep(values, [p]))


def _adding(builder: Any) -> Callable[[Any, Any, Any], Any]:
    def add(total: Any, value: Any, weights: Any) -> Any:
        return builder.fadd(total, builder.fmul(value, weights))

    return add


class _Rows(NamedTuple):
    """What is swept: for p in begin : end, a value and the numbers of w from place_of(p) on are joined to totals."""

    builder: Any
    begin: Any
    end: Any
    value_of: Callable[[Any], Any]
    w: Any
    place_of: Callable[[Any], Any]
    clipped: Callable[[Any, Any], Any]  # (weights, place) -> weights
    join: Callable[[Any, Any, Any], Any]  # (total, value, weights) -> total
    start: float


def _sweep_labels(rows: _Rows, K: Any, row: Any) -> None:
    """All of K >= 2 labels, at most sixteen at a time; the last vector may overlap the one before."""
    builder = rows.builder
    before = builder.block
    test, wide, rest = (builder.append_basic_block(name) for name in ("test", "wide", "rest"))
    builder.branch(test)
    builder.position_at_end(test)
    first = builder.phi(INDEX)
    after = builder.add(first, INDEX(16))
    builder.cbranch(builder.icmp_unsigned("<", after, K), wide, rest)
    builder.position_at_end(wide)
    _sweep(rows, [builder.add(first, INDEX(4 * v)) for v in range(4)], 4, row)
    first.add_incoming(INDEX(0), before)
    first.add_incoming(after, builder.block)
    builder.branch(test)

    builder.position_at_end(rest)
    left, end = builder.sub(K, first), builder.append_basic_block("end")
    for width, vectors in ((4, 4), (4, 3), (4, 2), (4, 1), (2, 2), (2, 1)):
        here, other = builder.append_basic_block("some"), builder.append_basic_block("fewer")
        more = width * (vectors - 1)  # labels that one vector less would have
        fits = builder.icmp_unsigned(">", left, INDEX(more))
        if more == 0:  # what is left may be less than a vector, if there are labels before it
            fits = builder.icmp_unsigned(">=", K, INDEX(width))
        builder.cbranch(fits, here, other)
        builder.position_at_end(here)
        starts = [builder.add(first, INDEX(width * v)) for v in range(vectors - 1)]
        _sweep(rows, [*starts, builder.sub(K, INDEX(width))], width, row)
        builder.branch(end)
        builder.position_at_end(other)
    builder.branch(end)
    builder.position_at_end(end)


def _sweep(rows: _Rows, labels: list[Any], width: int, row: Any) -> None:
    """The labels of vectors that begin at these, each with a register of its own."""
    builder, vector = rows.builder, ir.VectorType(ir.DoubleType(), width)
    none = vector([rows.start] * width)

    def at(array: Any, number: Any) -> Any:
        return builder.bitcast(builder.gep(array, [number]), vector.as_pointer())

    before = builder.block
    loop, done = builder.append_basic_block("rows"), builder.append_basic_block("results")
    builder.cbranch(builder.icmp_unsigned("<", rows.begin, rows.end), loop, done)

    builder.position_at_end(loop)
    p, totals = builder.phi(INDEX), [builder.phi(vector) for _ in labels]
    value = _everywhere(builder, rows.value_of(p), vector)
    place, following, more = rows.place_of(p), builder.add(p, INDEX(1)), []
    for total, label in zip(totals, labels, strict=True):
        first = builder.add(place, label)
        more.append(rows.join(total, value, rows.clipped(builder.load(at(rows.w, first), align=8), first)))
    starts = [rows.begin, *[none] * len(labels)]
    for phi, start, step in zip([p, *totals], starts, [following, *more], strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(step, loop)
    builder.cbranch(builder.icmp_unsigned("<", following, rows.end), loop, done)

    builder.position_at_end(done)
    results = [builder.phi(vector) for _ in labels]
    for result, total in zip(results, more, strict=True):
        result.add_incoming(none, before)
        result.add_incoming(total, loop)
    for result, label in zip(results, labels, strict=True):
        builder.store(result, at(row, label), align=8)


def _everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """A vector of this number."""
    one = builder.insert_element(vector(ir.Undefined), number, LANE(0))
    return builder.shuffle_vector(one, vector(ir.Undefined), ir.VectorType(LANE, vector.count)([0] * vector.count))


def _array(context: Any, builder: Any, signature: Any, arguments: Any, number: int) -> Any:
    return context.make_array(signature.args[number])(context, builder, arguments[number])


def _check(*arrays: Any) -> None:
    if any(array.layout != "C" or array.dtype != types.float64 for array in arrays):
        raise TypingError("expected arrays of 64-bit numbers that are neighbours")


_settings: Any = numba.config
weight: Any
label_sums: Any
column_sums: Any
label_maxima: Any
label_masses: Any
weight, label_sums, column_sums, label_maxima, label_masses = (
    (plain_weight, plain_sums, plain_column_sums, plain_maxima, plain_masses)
    if _settings.DISABLE_JIT
    else (_weight, _sums, _column_sums, _maxima, _masses)
)
