"""Binary codes: in come rows of bool, of packed bits or of numbers of two values, out go their bits.

A uint8 array holds eight bits in each entry; any other type has one entry a bit: False and True, 0 and 1, or -1 and 1
as `sign` makes them. Zeros that pad the last byte change no distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.arrays import require_same_dim
from deadheat.inputs.source import Array, Source

_OF_BITS = ("hamming", "jaccard", "dice")  # distances
_AT_ONCE = 1 << 22  # entries that are examined together


def is_packed(source: Source) -> bool:
    """Return whether codes have eight bits in each entry."""
    return source.stored == np.uint8


def n_bits(source: Source) -> int:
    """Return the number of bits of each code, those that pad the last byte included."""
    return source.shape[1] * (8 if is_packed(source) else 1)


def remarks(distance: str, *sources: Source | None) -> tuple[str, ...]:
    """Return a remark on how uint8 was read, which holds packed bits or numbers; none for 0 and 1, which are both."""
    packed = [rows for rows in sources if rows is not None and is_packed(rows)]
    if not packed or all(isinstance(rows, Array) and rows.whole().max() <= 1 for rows in packed):
        return ()
    if distance in _OF_BITS:
        return (f"uint8 was read as packed bits, {n_bits(packed[0])} in each code; numbers need another distance.",)
    return (f'uint8 was read as numbers; packed bits need distance="hamming" or "jaccard", and not {distance}.',)


def require_codes(source: Source) -> None:
    """Refuse rows that are not binary codes."""
    if not (is_packed(source) or source.stored == np.bool_):
        for _ in _pieces(source):
            pass


def require_same_form(query: Source, gallery: Source) -> None:
    """Refuse packed bits together with codes of one entry a bit, and codes of different lengths."""
    if is_packed(query) != is_packed(gallery):
        rule = "must both be packed bits, uint8, or both have an entry for each bit"
        types = f"have dtypes {query.stored} and {gallery.stored}"
        raise InvalidTypeError("embeddings and gallery", f"{rule}, but {types}")
    require_same_dim(query, gallery)


def as_bits(source: Source) -> Source:
    """Return codes of numbers as bool, in memory; bool and packed bits unchanged."""
    if is_packed(source) or source.stored == np.bool_:
        return source
    bits, start = np.empty(source.shape, dtype=np.bool_), 0
    for rows in _pieces(source):
        bits[start : start + len(rows)] = rows
        start += len(rows)
    return Array(bits)


def words(source: Source) -> NDArray[np.uint64]:
    """Return the bits of codes in rows of 64-bit words, padded with zeros."""
    packed, start = np.zeros((len(source), -(-n_bits(source) // 64) * 8), dtype=np.uint8), 0
    for rows in _pieces(source):
        some = rows if rows.dtype == np.uint8 else np.packbits(rows, axis=1)
        packed[start : start + len(rows), : some.shape[1]] = some
        start += len(rows)
    return packed.view("<u8").astype(np.uint64, copy=False)


def _pieces(source: Source) -> Iterator[NDArray[Any]]:
    """Yield all codes in order, in pieces: (n, bytes) uint8 if packed, else (n, bits) bool.

    Numbers are refused unless they are -1 and 1 throughout, or 0 and 1 throughout.
    """
    has_zero = has_minus = False
    step = max(1, _AT_ONCE // source.shape[1])
    for start, rows in source.stored_pieces(step):
        if rows.dtype in (np.bool_, np.uint8):
            yield rows
            continue
        ones, zeros, minuses = rows == 1, rows == 0, rows == -1
        if not (ones | zeros | minuses).all():
            row, column = np.argwhere(~(ones | zeros | minuses))[0]
            rule = "must be bool, bits packed in uint8, or numbers -1 and 1, or 0 and 1, for a distance of bits"
            other = f"holds another number in row {start + row}, column {column}"
            raise InvalidValueError(source.title, f"{rule}, but {other}; {_hint(rows, source)}")
        has_zero, has_minus = has_zero or bool(zeros.any()), has_minus or bool(minuses.any())
        if has_zero and has_minus:
            rule = "must be of two values, -1 and 1 or 0 and 1, for a distance of bits"
            hint = f"{_variable(source)} > 0 has two values"
            raise InvalidValueError(source.title, f"{rule}, but holds -1 and 0, as sign(0) is 0; {hint}")
        yield ones


def _variable(source: Source) -> str:
    return source.title.partition(":")[0]


def _hint(rows: NDArray[Any], source: Source) -> str:
    """Return the conversion of numbers to codes; whole ones may be packed bits, which their signs are not."""
    name = _variable(source)
    of_signs = f"{name} > 0 has a bit for each sign"
    if rows.min() < -128 or rows.max() > 255 or (rows != np.rint(rows)).any():
        return of_signs
    shifted = rows.dtype == np.int8 or rows.min() < 0
    packed = f"(np.array({name}, int) + 128).astype(np.uint8)" if shifted else f"np.array({name}, np.uint8)"
    other = ', or take precision="ubinary"' if shifted else ""
    return f"if bits are packed in them, give {packed}{other}; if they are numbers, {of_signs}"
