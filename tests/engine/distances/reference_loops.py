"""Reference implementations of the core's loops over rows, in plain Python: what each means, number by number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

SUMS = 32  # side by side: number k of a row goes into sum k mod SUMS


def pivot(row):
    """The size of the first number that is not zero, or 1."""
    return next((abs(value) for value in row if value != 0), row.dtype.type(1))


def hash_row(row, directions):
    numbers = (row / pivot(row) if directions else row) + row.dtype.type(0)
    step = 128 // row.itemsize
    words = np.concatenate([numbers, np.zeros(-len(row) % step, row.dtype)]).view(np.uint64).reshape(-1, 16)
    lanes = []
    for lane in words.T.tolist():
        state = 0xCBF29CE484222325
        for word in lane:
            state = _mixed(state, word)
        lanes.append(state)
    state = 0
    for lane in lanes:
        state = _mixed(state, lane)
    return state


def _mixed(state, word):
    state = (state ^ word) * 0x9E3779B97F4A7C15 % 2**64
    return state ^ state >> 29


def same_row(a, b, directions):
    """Return whether the second row is the first one, or a positive multiple of it."""
    left, right = ([Fraction(float(value)) for value in row] for row in (a, b))
    by_left, by_right = (Fraction(float(pivot(row))) if directions else 1 for row in (a, b))
    return all(x * by_right == y * by_left for x, y in zip(left, right, strict=True))


def total(terms):
    """The sum of float64 numbers, as SUMS sums that are then added by halves."""
    sums = np.zeros(SUMS)
    for k, term in enumerate(terms):
        sums[k % SUMS] += term
    while len(sums) > 1:
        sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
    return sums[0]


def row_sums(row, scale):
    sizes = np.abs(row.astype(np.float64))
    sizes = sizes * (1 / scale) if 1e-290 < scale < 1e290 else sizes / scale
    return total(sizes * sizes), total(sizes)


def scaled(row, factor, divide):
    row = row.astype(np.float64)
    return row / factor if divide else row * factor


def pair_dot(a, by_a, divide_a, b, by_b, divide_b):
    """Floats that are multiplied by a factor are so after they are added up."""
    if a.dtype == b.dtype == np.float32 and not (divide_a or divide_b):
        return total(a.astype(np.float64) * b.astype(np.float64)) * by_a * by_b
    return total(scaled(a, by_a, divide_a) * scaled(b, by_b, divide_b))


def unit(numbers):
    """The number of which all are integer multiples, as large as can be (1 for zeros); the largest multiple."""
    ratios = [Fraction(abs(float(number))) for number in numbers if number != 0]
    if not ratios:
        return 1.0, 0.0
    shared = math.lcm(*(ratio.denominator for ratio in ratios))
    common = Fraction(math.gcd(*(int(ratio * shared) for ratio in ratios)), shared)
    return float(common), float(max(ratios)) / float(common)


def pair_errors(errors, queries, items, scores):
    """The loop of `src/core/pass/scores.cpp` once more."""
    sizes = errors.of_query[queries], errors.of_item[items]
    bound = np.where((sizes[0] > 0) & (sizes[1] > 0), errors.part * sizes[0] * sizes[1] + errors.tiny, 0.0)
    if len(scores) and errors.relative < np.inf:
        products = np.abs(scores + (errors.offset[items] if len(errors.offset) else 0.0))
        bound = np.minimum(bound, errors.relative * products + errors.relative_tiny)
    return bound + errors.offset_error[items]
