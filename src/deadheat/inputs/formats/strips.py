"""How an array in chunks is cut into strips of rows, so that each chunk is unpacked once."""

from __future__ import annotations

import math
from collections.abc import Iterator

PIECE = 8 << 20  # bytes of a strip, about


def of(shape: tuple[int, ...], itemsize: int, chunks: tuple[int, ...] | None) -> Iterator[slice]:
    """The rows of each strip: whole chunks, as many as `PIECE` bytes hold, and one at least.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in of((5, 2), 4, (2, 2))]
    [(0, 5)]
    """
    n_byte = max(1, math.prod(shape[1:]) * itemsize)
    along = chunks[0] if chunks else 1
    step = max(1, PIECE // (n_byte * along)) * along
    return (slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step))
