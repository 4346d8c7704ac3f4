"""Loops over tiles that Numba compiles: negated city block and Hamming distances, at the speed of the vector units.

In come queries `left`, `(n, dim)`, and gallery items `right`, `(m, dim)`, both in C order; out goes `out`, `(n, m)`.
They copy a strip of the gallery by columns, small enough for the cache, and run all queries along it:

    left              strip                   out
    ┌───────────┐     ┌──┐ k = 0              ┌──┬──┬──┐
    │  4 rows   │     │▓▓│ k = 1              │  │▓▓│  │ 4 rows
    │           │     │▓▓│ ...                │  │  │  │
    └───────────┘     └──┘ k = dim − 1        └──┴──┴──┘

A city block distance is the sum of its differences in the order k = 0, 1, ..., each difference and each addition
rounded once: the same number whatever the shape of the tile, its edges and the width of the vector units. The speed
comes from keeping the sums of a block of the tile in registers for all k. Numba offers no way to say so, and LLVM does
not find it by itself, so `_block` spells it out in LLVM's terms; LLVM splits vectors that the processor does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils, codegen
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np import arrayobj

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel

_numba: Any = cgutils  # whose functions have no types
_make_array: Any = arrayobj.make_array
_intrinsic: Callable[[Callable[..., Any]], Any] = intrinsic
_features: Any = codegen.get_host_cpu_features

_ROWS = 4  # queries in a block
_VECTORS = 2  # vectors of columns in a block: 4 · 2 sums, and what they need, fit 16 registers
_VECTOR_BYTES = 64 if "+avx512f" in _features() else 32
_PACKED = 64  # dimensions copied at once, so that what is written to the strip stays in the fastest cache
_CODES = 512  # codes in a strip


@_intrinsic
def _count_ones(_: Any, word: Any) -> Any:
    """The number of ones among the bits of an integer."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return word(word), generate


@_intrinsic
def _block(_: Any, left: Any, rows: Any, strip: Any, out: Any, places: Any, start: Any) -> Any:
    """out[places[r], start + c] = −Σ |left[rows[r], k] − strip[k, c]|, k ascending, for four rows and a whole strip."""
    if left.dtype not in (types.float32, types.float64):
        raise TypingError(f"rows must be float32 or float64, but are {left.dtype}")
    for array in (left, strip, out):
        if array.layout != "C" or array.dtype != left.dtype:
            raise TypingError(f"arrays must be of one type and in C order, but got {array} with {left}")

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        number = context.get_data_type(left.dtype)
        size = left.dtype.bitwidth // 8
        lanes = _VECTOR_BYTES // size
        vector = ir.VectorType(number, lanes)
        fabs = ir.FunctionType(vector, [vector])
        absolute = _numba.get_or_insert_function(builder.module, fabs, f"llvm.fabs.v{lanes}f{8 * size}")

        def pointers(array: Any, row: Any, column: Any) -> list[Any]:
            """To the vectors that begin at array[row, column]."""
            row_start = builder.mul(row, builder.extract_value(array.shape, 1))
            first = builder.gep(array.data, [builder.add(row_start, column)])
            steps = [ir.Constant(row.type, v * lanes) for v in range(_VECTORS)]
            return [builder.bitcast(builder.gep(first, [step]), vector.as_pointer()) for step in steps]

        def repeated(value: Any) -> Any:
            """A vector of one value."""
            first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
            all_first = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
            return builder.shuffle_vector(first, first, all_first)

        queries, items, sums = (
            _make_array(kind)(context, builder, arguments[place]) for place, kind in ((0, left), (2, strip), (3, out))
        )
        dim = builder.extract_value(queries.shape, 1)
        chosen = _numba.unpack_tuple(builder, arguments[1])
        starts = [builder.gep(queries.data, [builder.mul(row, dim)]) for row in chosen]
        zero = ir.Constant(vector, [0.0] * lanes)
        # LLVM turns these places on the stack into registers
        totals = [[_numba.alloca_once_value(builder, zero) for _ in range(_VECTORS)] for _ in starts]
        with _numba.for_range(builder, dim) as loop:
            columns = [builder.load(at, align=size) for at in pointers(items, loop.index, dim.type(0))]
            for start_of_row, row_totals in zip(starts, totals, strict=True):
                value = repeated(builder.load(builder.gep(start_of_row, [loop.index])))
                for column, total in zip(columns, row_totals, strict=True):
                    difference = builder.call(absolute, [builder.fsub(value, column)])
                    builder.store(builder.fsub(builder.load(total), difference), total)
        for place, row_totals in zip(_numba.unpack_tuple(builder, arguments[4]), totals, strict=True):
            for total, at in zip(row_totals, pointers(sums, place, arguments[5]), strict=True):
                builder.store(builder.load(total), at, align=size)
        return context.get_dummy_value()

    return types.void(left, rows, strip, out, places, start), generate


@inner
def _pack(right: Array, strip: Array) -> None:
    """strip[k, c] = right[c, k]"""
    dim = right.shape[1]
    for begin in range(0, dim, _PACKED):
        for c in range(right.shape[0]):
            for k in range(begin, min(begin + _PACKED, dim)):
                strip[k, c] = right[c, k]


@kernel
def minus_absolute_differences(left: Array, right: Array, out: Array) -> None:
    """out[i, j] = −Σ |left[i, k] − right[j, k]|, k ascending; all arrays in C order and of one floating-point type."""
    n, dim = left.shape
    width = _VECTORS * _VECTOR_BYTES // left.itemsize
    strip = np.empty((dim, width), left.dtype)
    spare = np.empty((_ROWS, width), left.dtype)
    last = n - 1  # fills up the last block, and is then computed more than once
    for start in range(0, len(right), width):
        end = min(start + width, len(right))
        _pack(right[start:end], strip)
        for i in range(0, n, _ROWS):
            rows = (i, min(i + 1, last), min(i + 2, last), min(i + 3, last))
            if end - start == width:
                _block(left, rows, strip, out, rows, start)
                continue
            _block(left, rows, strip, spare, (0, 1, 2, 3), 0)
            for r in range(min(_ROWS, n - i)):
                for c in range(end - start):
                    out[i + r, start + c] = spare[r, c]


@kernel
def minus_differing_bits(left: Array, right: Array, out: Array) -> None:
    """out[i, j] = −(number of bits in which left[i] and right[j] differ); words are uint64, `out` any signed type."""
    n, width = left.shape
    number = out.dtype.type
    strip = np.empty((width, _CODES), np.uint64)
    for start in range(0, len(right), _CODES):
        end = min(start + _CODES, len(right))
        _pack(right[start:end], strip)
        for i in range(n):
            row, words = out[i, start:end], left[i]
            row[:] = number(0)
            for k in range(0, width - 3, 4):
                a, b, c, d = words[k], words[k + 1], words[k + 2], words[k + 3]
                w, x, y, z = strip[k], strip[k + 1], strip[k + 2], strip[k + 3]
                for j in range(end - start):
                    two = _count_ones(a ^ w[j]) + _count_ones(b ^ x[j])
                    row[j] -= number(np.int32(two + _count_ones(c ^ y[j]) + _count_ones(d ^ z[j])))
            for k in range(width - width % 4, width):
                a, w = words[k], strip[k]
                for j in range(end - start):
                    row[j] -= number(np.int32(_count_ones(a ^ w[j])))


@kernel
def signed_squares(products: Array, squares: Array, out: Array) -> None:
    """out[i, j] = a·|a| / squares[j] for the product a = products[i, j]: cosine up to the query, sign kept."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            a = np.float64(products[i, j])
            out[i, j] = a * abs(a) / squares[j]
