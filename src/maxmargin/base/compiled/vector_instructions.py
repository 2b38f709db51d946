"""Instructions for sums and maxima over rows of numbers, for all labels at once, kept in vector registers.

They compute the same bits as the plain loops of label_vectors.py, where the functions are explained. In those loops the
compiler vectorises the loop over labels, which is short, and writes all results to memory after every few rows. Here up
to sixteen labels are processed at a time.

They are used if the self-check of accelerated.py passes. With the plain loops, a fit of `python -m benchmarks
conll2000` takes 16% more CPU time (5.6 instead of 4.8 seconds), and its searches take half as much time again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import errors, types
from numba.extending import intrinsic

INDEX, LANE, NUMBER, COLUMN = ir.IntType(64), ir.IntType(32), ir.DoubleType(), ir.IntType(32)


@intrinsic
def weight(context: Any, w: Any, limits: Any, j: Any) -> Any:
    """Return w[j] clipped to its limits."""
    _check(w)
    return types.float64(w, limits, types.uint64), _generate_weight


def _generate_weight(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    clipped = _clipping(context, builder, signature.args[1], arguments[1])
    value = _load(builder, _array(context, builder, signature, arguments, 0).data, arguments[2], NUMBER)
    return clipped(value, arguments[2])


def _clipping(context: Any, builder: Any, kind: Any, limits: Any) -> Callable[[Any, Any], Any]:
    """Return a function that clips the weights, one or a vector of them, that begin at some index of w."""
    if kind == types.none:
        return lambda weights, place: weights
    _check(*(each for each in kind if isinstance(each, types.Array)))
    low, high = (builder.extract_value(limits, number) for number in range(2))
    if isinstance(kind[0], types.Array):
        low, high = (context.make_array(kind[0])(context, builder, limit).data for limit in (low, high))

    def limit_of(limit: Any, weights: Any, place: Any) -> Any:
        vector = weights.type
        if isinstance(kind[0], types.Array):
            return _load(builder, limit, place, vector)
        return _everywhere(builder, limit, vector) if isinstance(vector, ir.VectorType) else limit

    def clipped(weights: Any, place: Any) -> Any:
        least, most = (limit_of(limit, weights, place) for limit in (low, high))
        weights = builder.select(builder.fcmp_ordered(">", weights, least), weights, least)
        return builder.select(builder.fcmp_ordered("<", weights, most), weights, most)

    return clipped


@intrinsic
def label_sums(
    context: Any, values: Any, places: Any, begin: Any, end: Any, w: Any, limits: Any, K: Any, row: Any
) -> Any:
    """Compute row[k] = Σ values[p] · w[places[p] + k] over p in begin : end."""
    _check(values, w, row)
    if places.layout != "C" or places.dtype != types.uint32:
        raise errors.TypingError("expected contiguous places of type uint32")
    index = types.uint64
    return types.void(values, places, index, index, w, limits, index, row), _generate_sums


def _generate_sums(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    values, places, w, row = (_array(context, builder, signature, arguments, number) for number in (0, 1, 4, 7))

    def place_of(p: Any) -> Any:
        return builder.zext(_load(builder, places.data, p, COLUMN), INDEX)

    clipped = _clipping(context, builder, signature.args[5], arguments[5])
    value_of = _loading(builder, values.data)
    rows = _Rows(builder, arguments[2], arguments[3], value_of, w.data, place_of, clipped, _adding(builder), 0.0)
    _sweep_labels(rows, arguments[6], row.data)
    return context.get_dummy_value()


@intrinsic
def column_sums(
    context: Any, values: Any, every: Any, columns: Any, first: Any, begin: Any, end: Any, w: Any, limits: Any,
    K: Any, row: Any,
) -> Any:  # fmt: skip
    """Compute row[k] = Σ values[p & every] · w[first + K · columns[p] + k] over p in begin : end."""
    _check(values, w, row)
    if columns.layout != "C" or columns.dtype != types.uint32:
        raise errors.TypingError("expected contiguous columns of type uint32")
    index = types.uint64
    return types.void(values, index, columns, index, index, index, w, limits, index, row), _generate_column_sums


def _generate_column_sums(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    values, columns, w, row = (_array(context, builder, signature, arguments, number) for number in (0, 2, 6, 9))
    _, every, _, first, begin, end, _, limits, K, _ = arguments

    def place_of(p: Any) -> Any:
        column = builder.zext(_load(builder, columns.data, p, COLUMN), INDEX)
        return builder.add(first, builder.mul(column, K))

    def value_of(p: Any) -> Any:
        return _load(builder, values.data, builder.and_(p, every), NUMBER)

    clipped = _clipping(context, builder, signature.args[7], limits)
    rows = _Rows(builder, begin, end, value_of, w.data, place_of, clipped, _adding(builder), 0.0)
    _sweep_labels(rows, K, row.data)
    return context.get_dummy_value()


@intrinsic
def label_maxima(context: Any, values: Any, end: Any, w: Any, K: Any, row: Any) -> Any:
    """Compute row[k] = max values[p] + w[p, k] over p < end."""
    return _matrix_signature(values, w, row), _generate_maxima


def _generate_maxima(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    def higher(total: Any, value: Any, weights: Any) -> Any:
        new = builder.fadd(value, weights)
        return builder.select(builder.fcmp_ordered(">", new, total), new, total)

    return _sweep_matrix(context, builder, signature, arguments, higher, -float("inf"))


@intrinsic
def label_masses(context: Any, values: Any, end: Any, w: Any, K: Any, row: Any) -> Any:
    """Compute row[k] = Σ values[p] · w[p, k] over p < end."""
    return _matrix_signature(values, w, row), _generate_masses


def _generate_masses(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _sweep_matrix(context, builder, signature, arguments, _adding(builder), 0.0)


def _matrix_signature(values: Any, w: Any, row: Any) -> Any:
    """Return the types of (values, end, w, K, row)."""
    _check(values, w, row)
    return types.void(values, types.uint64, w, types.uint64, row)


def _sweep_matrix(context: Any, builder: Any, signature: Any, arguments: Any, join: Any, start: float) -> Any:
    """Sweep over the rows of a matrix, one after the other."""
    values, w, row = (_array(context, builder, signature, arguments, number) for number in (0, 2, 4))

    def place_of(p: Any) -> Any:
        return builder.mul(p, arguments[3])

    plain = _clipping(context, builder, types.none, None)
    value_of = _loading(builder, values.data)
    rows = _Rows(builder, INDEX(0), arguments[1], value_of, w.data, place_of, plain, join, start)
    _sweep_labels(rows, arguments[3], row.data)
    return context.get_dummy_value()


def _loading(builder: Any, values: Any) -> Callable[[Any], Any]:
    return lambda p: _load(builder, values, p, NUMBER)


def _adding(builder: Any) -> Callable[[Any, Any, Any], Any]:
    def add(total: Any, value: Any, weights: Any) -> Any:
        return builder.fadd(total, builder.fmul(value, weights))

    return add


class _Rows(NamedTuple):
    """The rows of a sweep: for p in begin : end, a value and the numbers from w[place_of(p)] on join the totals."""

    builder: Any  # the LLVM builder that emits the instructions
    begin: Any
    end: Any
    value_of: Callable[[Any], Any]  # p -> the value of row p
    w: Any
    place_of: Callable[[Any], Any]
    clipped: Callable[[Any, Any], Any]  # (weights, place) -> weights
    join: Callable[[Any, Any, Any], Any]  # (total, value, weights) -> total
    start: float  # the initial value of all totals


def _sweep_labels(rows: _Rows, K: Any, row: Any) -> None:
    """Sweep over all of K >= 2 labels, at most sixteen at a time; the last vector may overlap the one before."""
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
        if more == 0:  # the rest may be less than a vector, if there are labels before it
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
    """Sweep once over the rows, for vectors that begin at these labels, each with a register of its own."""
    builder, vector = rows.builder, ir.VectorType(NUMBER, width)
    none = vector([rows.start] * width)

    before = builder.block
    loop, done = builder.append_basic_block("rows"), builder.append_basic_block("results")
    builder.cbranch(builder.icmp_unsigned("<", rows.begin, rows.end), loop, done)

    builder.position_at_end(loop)
    p, totals = builder.phi(INDEX), [builder.phi(vector) for _ in labels]
    value = _everywhere(builder, rows.value_of(p), vector)
    place, following, more = rows.place_of(p), builder.add(p, INDEX(1)), []
    for total, label in zip(totals, labels, strict=True):
        first = builder.add(place, label)
        more.append(rows.join(total, value, rows.clipped(_load(builder, rows.w, first, vector), first)))
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
        builder.store(result, _address(builder, row, label, NUMBER, vector), align=8)


def _everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """Return a vector that has this number in every lane."""
    one = builder.insert_element(vector(ir.Undefined), number, LANE(0))
    return builder.shuffle_vector(one, vector(ir.Undefined), ir.VectorType(LANE, vector.count)([0] * vector.count))


def _address(builder: Any, data: Any, index: Any, entry: Any, kind: Any) -> Any:
    """Return the address of entry `index` of an array, for a value of some type.

    Element types are given explicitly, and as_pointer() is whatever llvmlite takes for a pointer to that type: this
    works with pointers that know their element type and with opaque ones.
    """
    return builder.bitcast(builder.gep(data, [index], source_etype=entry), kind.as_pointer())


def _load(builder: Any, data: Any, index: Any, kind: Any) -> Any:
    """Load a value of some type, a vector of numbers or one entry, that begins at entry `index` of an array."""
    vector = isinstance(kind, ir.VectorType)
    address = _address(builder, data, index, NUMBER if vector else kind, kind)
    return builder.load(address, align=8 if vector else None, typ=kind)


def _array(context: Any, builder: Any, signature: Any, arguments: Any, number: int) -> Any:
    return context.make_array(signature.args[number])(context, builder, arguments[number])


def _check(*arrays: Any) -> None:
    if any(array.layout != "C" or array.dtype != types.float64 for array in arrays):
        raise errors.TypingError("expected contiguous arrays of type float64")
