"""The discount of each rank, 1/log2(rank + 1), and sums of consecutive ones, as pairs of floats.

In comes the furthest rank, out goes a table; sums over a stretch of ranks take the running sums at its ends.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from deadheat.measures.double_double import add, divide
from deadheat.measures.family import Float64
from deadheat.measures.logarithms import log2
from deadheat.measures.loops import Array
from deadheat.support.compiling import inner, kernel
from deadheat.support.error_free import two_sum

BLOCK = 64  # the running sum of the discounts is kept at every BLOCK-th rank


@lru_cache(maxsize=4)
def discount_table(bits: int) -> tuple[Float64, Float64, Float64]:
    """The discounts of the ranks below 2**bits, and their running sums at every `BLOCK`-th rank as pairs."""
    size = 2**bits
    table = (np.zeros(size), np.zeros(size // BLOCK + 1), np.zeros(size // BLOCK + 1))
    discounts(*table)
    return table


@kernel
def discounts(discount: Array, high: Array, low: Array) -> None:
    """Fill in 1/log2(rank + 1) for every rank from 1 on, and its sum up to every BLOCK-th rank, as pairs."""
    total = rest = 0.0
    for rank in range(1, len(discount)):
        a_high, a_low = log2(rank + 1)
        a_high, a_low = divide(1.0, 0.0, a_high, a_low)
        discount[rank] = a_high + a_low
        total, rest = add(total, rest, discount[rank], 0.0)
        if rank % BLOCK == 0:
            high[rank // BLOCK] = total
            low[rank // BLOCK] = rest


@inner
def discounts_between(start: int, stop: int, discount: Array, high: Array, low: Array) -> tuple[float, float]:
    """The sum of the discounts of the ranks start + 1 .. stop, as a pair."""
    total = rest = 0.0
    first, last = (start + BLOCK - 1) // BLOCK, stop // BLOCK
    for rank in range(start + 1, (first * BLOCK if first < last else stop) + 1):
        total, e = two_sum(total, discount[rank])
        rest += e
    if first >= last:
        return total, rest
    for rank in range(last * BLOCK + 1, stop + 1):
        total, e = two_sum(total, discount[rank])
        rest += e
    a_high, a_low = add(high[last], low[last], -high[first], -low[first])
    return add(a_high, a_low, total, rest)
