"""Steps on sixteen numbers at once that Numba cannot say and LLVM does not find by itself.

Each is written in LLVM's terms and works on any processor: LLVM splits vectors that the processor does not have. Only
packing, the choice of some lanes of a vector, has a form for AVX-512 and a plain one, because LLVM's own is slow
elsewhere. All arrays are in C order. A vector is read and written whole: arrays have room for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils, codegen, config
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np import arrayobj

LANES = 16
EDGES = 4  # with which scores are compared at once: their sums stay in registers

_numba: Any = cgutils  # whose functions have no types
_make_array: Any = arrayobj.make_array
_intrinsic: Callable[[Callable[..., Any]], Any] = intrinsic
_uniform: Any = types.UniTuple
_config: Any = config
_features: Any = codegen.get_host_cpu_features
_PACKS = "+avx512f" in (_features() if _config.CPU_FEATURES is None else _config.CPU_FEATURES)
_LINE = 64  # bytes that the cache fetches at once

_i32 = ir.IntType(32)
_ints = ir.VectorType(_i32, LANES)
_mask = ir.VectorType(ir.IntType(1), LANES)
_every = ir.Constant(_mask, [1] * LANES)
_ALIGN = ir.Constant(_i32, 4)  # bytes; no number is less aligned


class _Steps:
    """Writes operations on vectors at the place of a builder."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def array(self, kind: Any, value: Any) -> Any:
        """The parts of an array argument."""
        return _make_array(kind)(self.context, self.builder, value)

    def numbers(self, *values: int) -> Any:
        """A constant vector, of one value or all."""
        return ir.Constant(_ints, list(values) * (LANES // len(values)))

    def repeat(self, value: Any) -> Any:
        """A vector of one value."""
        vector = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
        first = self.builder.insert_element(vector, value, ir.Constant(_i32, 0))
        return self.builder.shuffle_vector(first, first, ir.Constant(_ints, [0] * LANES))

    def places(self, begin: Any) -> Any:
        """The vector begin, begin + 1, ..."""
        return self.builder.add(self.repeat(self.builder.trunc(begin, _i32)), self.numbers(*range(LANES)))

    def load(self, data: Any, begin: Any) -> Any:
        """Consecutive numbers."""
        at = self.builder.gep(data, [begin])
        vector = ir.VectorType(data.type.pointee, LANES)
        return self.builder.load(self.builder.bitcast(at, vector.as_pointer()), align=_ALIGN.constant)

    def store(self, value: Any, data: Any, begin: Any) -> None:
        """Write consecutive numbers."""
        at = self.builder.bitcast(self.builder.gep(data, [begin]), value.type.as_pointer())
        self.builder.store(value, at, align=_ALIGN.constant)

    def gather(self, data: Any, index: Any) -> Any:
        """The numbers at some places."""
        vector, pointers = ir.VectorType(data.type.pointee, LANES), self._pointers(data, index)
        kind = ir.FunctionType(vector, [pointers.type, _i32, _mask, vector])
        gather = self.function(kind, f"llvm.masked.gather.v{LANES}{self._name(data)}.v{LANES}p0")
        return self.builder.call(gather, [pointers, _ALIGN, _every, ir.Constant(vector, ir.Undefined)])

    def scatter(self, value: Any, data: Any, index: Any) -> None:
        """Write numbers to some places."""
        pointers = self._pointers(data, index)
        kind = ir.FunctionType(ir.VoidType(), [value.type, pointers.type, _i32, _mask])
        scatter = self.function(kind, f"llvm.masked.scatter.v{LANES}{self._name(data)}.v{LANES}p0")
        self.builder.call(scatter, [value, pointers, _ALIGN, _every])

    def any(self, mask: Any) -> Any:
        """Whether a bit of a mask is set."""
        bits = self.builder.bitcast(mask, ir.IntType(LANES))
        return self.builder.icmp_unsigned("!=", bits, bits.type(0))

    def append(self, values: Any, mask: Any, data: Any, n: Any) -> Any:
        """Write the chosen values to place n and on; returns the next place."""
        builder = self.builder
        if not _PACKS:
            for lane in range(LANES):
                at = ir.Constant(_i32, lane)
                builder.store(builder.extract_element(values, at), builder.gep(data, [n]))
                n = builder.add(n, builder.zext(builder.extract_element(mask, at), n.type))
            return n
        kind = ir.FunctionType(_ints, [_ints, _ints, _mask])
        compress = self.function(kind, f"llvm.x86.avx512.mask.compress.v{LANES}i32")
        self.store(builder.call(compress, [values, self.numbers(0), mask]), data, n)
        return builder.add(n, builder.zext(builder.ctpop(builder.bitcast(mask, ir.IntType(LANES))), n.type))

    def function(self, kind: Any, name: str) -> Any:
        """One of LLVM's own functions."""
        return _numba.get_or_insert_function(self.builder.module, kind, name)

    def _pointers(self, data: Any, index: Any) -> Any:
        pointers = self.builder.gep(data, [index], source_etype=data.type.pointee)
        pointers.type = ir.VectorType(data.type, LANES)  # as it is, though llvmlite takes it for one pointer
        return pointers

    def _name(self, data: Any) -> str:
        number = str(data.type.pointee)
        return {"float": "f32", "double": "f64"}.get(number, number)


def _check(*arrays: Any) -> None:
    """Refuse arrays that are not in C order."""
    for array in arrays:
        if array.layout != "C":
            raise TypingError(f"arrays must be in C order, but got {array}")


@_intrinsic
def contiguous(_: Any, row: Any) -> Any:
    """The same row, known to be in C order: the caller has checked that it is."""
    same = row.copy(layout="C")

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        context.nrt.incref(builder, same, arguments[0])
        return arguments[0]

    return same(row), generate


@_intrinsic
def fetch_row(_: Any, array: Any, i: Any) -> Any:
    """Ask for row i of a matrix to be fetched into the cache."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        matrix = _make_array(array)(context, builder, arguments[0])
        step = builder.extract_value(matrix.strides, 0)
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _i32, _i32, _i32])
        fetch = _numba.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        start = builder.gep(builder.bitcast(matrix.data, byte), [builder.mul(arguments[1], step)])
        with _numba.for_range_slice(builder, step.type(0), step, step.type(_LINE)) as (place, _):
            builder.call(fetch, [builder.gep(start, [place]), *(ir.Constant(_i32, k) for k in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@_intrinsic
def find_slots(
    _: Any, row: Any, begin: Any, base: Any, scale: Any, top: Any, codes: Any, slots: Any, looks: Any, n: Any
) -> Any:
    """Write the slots of the bins of some scores; append the places whose codes say to look closer.

    There is an even number of codes: those of 16 bits are read in pairs.
    """
    _check(row, codes, slots, looks)
    number = row.dtype
    signature = types.intp(row, types.intp, number, number, number, codes, slots, looks, types.intp)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        do = _Steps(context, builder)
        scores, table, out, listed = (
            do.array(kind, arguments[k]).data for k, kind in ((0, row), (5, codes), (6, slots), (7, looks))
        )
        begin_, base_, scale_, top_, n_ = (arguments[k] for k in (1, 2, 3, 4, 8))
        x = builder.fmul(builder.fsub(do.load(scores, begin_), do.repeat(base_)), do.repeat(scale_))
        x = builder.fadd(x, do.repeat(base_.type(1.0)))
        bottom, most = do.repeat(base_.type(0.0)), do.repeat(top_)
        x = builder.select(builder.fcmp_ordered(">", x, bottom), x, bottom)
        x = builder.select(builder.fcmp_ordered("<", x, most), x, most)
        bins = builder.fptosi(x, _ints)
        if codes.dtype.bitwidth == 16:
            pairs = do.gather(builder.bitcast(table, _i32.as_pointer()), builder.lshr(bins, do.numbers(1)))
            code = builder.lshr(pairs, builder.shl(builder.and_(bins, do.numbers(1)), do.numbers(4)))
            flag, slot_of = do.numbers(1 << 15), do.numbers((1 << 15) - 1)
        else:
            code = do.gather(table, bins)
            flag, slot_of = do.numbers(1 << 31), do.numbers((1 << 31) - 1)
        do.store(builder.and_(code, slot_of), out, begin_)
        look = builder.icmp_unsigned("!=", builder.and_(code, flag), do.numbers(0))
        return do.append(do.places(begin_), look, listed, n_)

    return signature, generate


@_intrinsic
def look_closer(
    _: Any, row: Any, looks: Any, begin: Any, end: Any, edges: Any, opens: Any, slots: Any, opened: Any, n: Any
) -> Any:
    """Move scores up to their slots, at the places looks[begin:end]; append the places of those in open slots.

    Lanes beyond the end do place 0 again, which changes nothing.
    """
    _check(row, looks, edges, slots, opened)
    signature = types.intp(row, looks, types.intp, types.intp, edges, types.intp, slots, opened, types.intp)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        do = _Steps(context, builder)
        scores, listed, sorted_, out, places = (
            do.array(kind, arguments[k]).data for k, kind in ((0, row), (1, looks), (4, edges), (6, slots), (7, opened))
        )
        begin_, end_, opens_, n_ = (arguments[k] for k in (2, 3, 5, 8))
        valid = builder.icmp_signed("<", do.places(begin_), do.repeat(builder.trunc(end_, _i32)))
        at = builder.select(valid, do.load(listed, begin_), do.numbers(0))
        values = do.gather(scores, at)
        slot = _numba.alloca_once_value(builder, do.gather(out, at))
        again, done = builder.append_basic_block("again"), builder.append_basic_block("done")
        builder.branch(again)
        builder.position_at_end(again)
        before = builder.load(slot)
        above = builder.fcmp_ordered(">=", values, do.gather(sorted_, before))
        builder.store(builder.add(before, builder.zext(above, _ints)), slot)
        builder.cbranch(do.any(above), again, done)
        builder.position_at_end(done)
        found = builder.load(slot)
        do.scatter(found, out, at)
        odd = builder.and_(found, do.repeat(builder.trunc(opens_, _i32)))
        open_ = builder.and_(valid, builder.icmp_unsigned("!=", odd, do.numbers(0)))
        return do.append(at, open_, places, n_)

    return signature, generate


@_intrinsic
def append_between(_: Any, row: Any, begin: Any, low: Any, high: Any, places: Any, n: Any) -> Any:
    """Append the places of the scores that are not below the first edge, but below the second."""
    _check(row, places)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        do = _Steps(context, builder)
        scores, listed = do.array(row, arguments[0]).data, do.array(places, arguments[4]).data
        some = do.load(scores, arguments[1])
        above = builder.fcmp_ordered(">=", some, do.repeat(arguments[2]))
        below = builder.fcmp_ordered("<", some, do.repeat(arguments[3]))
        return do.append(do.places(arguments[1]), builder.and_(above, below), listed, arguments[5])

    return types.intp(row, types.intp, row.dtype, row.dtype, places, types.intp), generate


@_intrinsic
def sum_above(_: Any, row: Any, weight: Any, n: Any, edges: Any) -> Any:
    """The weights of the first n scores, and what fills up the last vector, that are not below each of some edges."""
    _check(row, weight)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        do = _Steps(context, builder)
        scores, weights = do.array(row, arguments[0]).data, do.array(weight, arguments[1]).data
        chosen = [do.repeat(edge) for edge in _numba.unpack_tuple(builder, arguments[3])]
        sums = [_numba.alloca_once_value(builder, do.numbers(0)) for _ in chosen]
        step = arguments[2].type(LANES)
        with _numba.for_range_slice(builder, step.type(0), arguments[2], step) as (place, _):
            some, heavy = do.load(scores, place), do.load(weights, place)
            for edge, total in zip(chosen, sums, strict=True):
                above = builder.fcmp_ordered(">=", some, edge)
                builder.store(builder.add(builder.load(total), builder.select(above, heavy, do.numbers(0))), total)
        add_up = do.function(ir.FunctionType(_i32, [_ints]), f"llvm.vector.reduce.add.v{LANES}i32")
        totals = [builder.call(add_up, [builder.load(total)]) for total in sums]
        return context.make_tuple(builder, _uniform(types.int32, len(totals)), totals)

    return _uniform(types.int32, len(edges))(row, weight, types.intp, edges), generate


@_intrinsic
def products(_: Any, a: Any, b: Any, end: Any) -> Any:
    """The sum of a[k]·b[k] in float64 over k below `end`, a multiple of 2 · LANES, as that many sums side by side."""
    _check(a, b)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        do = _Steps(context, builder)
        rows = [do.array(kind, arguments[k]).data for k, kind in ((0, a), (1, b))]
        numbers = ir.VectorType(ir.DoubleType(), LANES)
        sums = [_numba.alloca_once_value(builder, ir.Constant(numbers, [0.0] * LANES)) for _ in range(2)]
        step = arguments[2].type(2 * LANES)
        with _numba.for_range_slice(builder, step.type(0), arguments[2], step) as (place, _):
            for k, total in enumerate(sums):
                some = [do.load(row, builder.add(place, step.type(k * LANES))) for row in rows]
                left, right = (x if x.type == numbers else builder.fpext(x, numbers) for x in some)
                builder.store(builder.fadd(builder.load(total), builder.fmul(left, right)), total)
        total = builder.fadd(*(builder.load(total) for total in sums))
        for n in (LANES // 2, LANES // 4, LANES // 8, LANES // 16):
            halves = [ir.Constant(ir.VectorType(_i32, n), list(range(k * n, k * n + n))) for k in (0, 1)]
            total = builder.fadd(*(builder.shuffle_vector(total, total, half) for half in halves))
        return builder.extract_element(total, ir.Constant(_i32, 0))

    return types.float64(a, b, types.intp), generate
