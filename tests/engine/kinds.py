"""Kinds of embeddings full of ties, or of numbers that are hard on floats: functions of a generator, n and dim."""

from __future__ import annotations

import numpy as np


def drawn(rng, pool, n):
    """Rows drawn from a pool, with repetitions."""
    return pool[rng.integers(0, len(pool), n)]


def integer_grid(rng, n, d):
    return rng.integers(-2, 3, (n, d)).astype(np.float32)


def duplicates(rng, n, d):
    return drawn(rng, rng.standard_normal((max(2, n // 3), d)).astype(rng.choice([np.float32, np.float64])), n)


def scaled_duplicates(rng, n, d):
    """x, 2x, 3x and 7x: equal directions, where the multiple is a float as well."""
    bits, dtype = [(20, np.float64), (10, np.float32)][rng.integers(2)]
    pool = np.round(rng.standard_normal((max(2, n // 3), d)) * 2**bits) / 2**bits
    return (drawn(rng, pool, n) * rng.choice([1.0, 2.0, 3.0, 7.0], (n, 1))).astype(dtype)


def almost_scaled(rng, n, d):
    """Multiples that were rounded, and so point elsewhere by a last bit."""
    return drawn(rng, rng.standard_normal((2, d)), n) * rng.choice([1.0, 3.0, 0.1], (n, 1))


def neighbouring_floats(rng, n, d):
    rows = drawn(rng, rng.standard_normal((2, d)).astype(rng.choice([np.float32, np.float64])), n)
    return np.where(rng.random((n, d)) < 0.3, np.nextafter(rows, rows.dtype.type(np.inf)), rows)


def some_zero_rows(rng, n, d):
    rows = rng.integers(-1, 2, (n, d)).astype(np.float64)
    rows[rng.random(n) < 0.5] = 0
    return rows * rng.choice([1.0, np.pi])


def zero_rows_among_floats(rng, n, d):
    rows = rng.standard_normal((n, d))
    rows[rng.random(n) < 0.6] = rng.choice([0.0, -0.0])
    return rows


def all_zero(rng, n, d):
    return np.zeros((n, d), dtype=rng.choice([np.float32, np.float64, np.int16]))


def sparse(rng, n, d):
    rows = rng.standard_normal((n, d))
    rows[rng.random((n, d)) < 0.7] = 0
    return rows


def near_saturated(rng, n, d):
    """All rows almost the same, so that float32 distinguishes none of them."""
    return (1 + 1e-7 * rng.standard_normal((n, d))).astype(np.float32)


def saturated_in_float64(rng, n, d):
    return 1 + 2.0**-52 * rng.integers(-3, 4, (n, d))


def both_ends_of_the_range(rng, n, d):
    """Real ties, and cosines that differ a thousand bits and two thousand bits down."""
    return rng.choice([0, 1, -1, 1e-300, 1e300], (n, d)) * rng.choice([1, 3], (n, 1))


def last_bits(rng, n, d):
    return rng.choice([1, 1 - 2.0**-53], (n, d)) * rng.choice([1, 2.0**-60, -(2.0**-60)], (n, d))


def permutations(rng, n, d):
    """Rows of equal norm and equal sum that no float sum finds equal."""
    return rng.permuted(np.broadcast_to(rng.standard_normal(d), (n, d)), axis=1)


def permutations_and_a_constant(rng, n, d):
    rows = permutations(rng, n, d)
    rows[rng.random(n) < 0.4] = rng.standard_normal()
    return rows


def cancelling(rng, n, d):
    """Large products of opposite sign that leave a small one, or nothing."""
    rows = rng.integers(-2, 3, (n, d)).astype(np.float64)
    large = rng.choice([1.0, -1.0], (n, 2)) * rng.choice([1e10, 1e10 + 2.0**-10, 3.0], (n, 1))
    return np.concatenate([rows, large], axis=1)


def mixed_magnitudes(rng, n, d):
    return rng.integers(-3, 4, (n, d)) * 10.0 ** rng.integers(-150, 150, (n, 1))


def mixed_magnitudes_in_a_row(rng, n, d):
    return rng.integers(-3, 4, (n, d)) * 10.0 ** rng.choice([-20, -9, 0, 9, 20], (n, d))


def one_huge_row(rng, n, d):
    rows = rng.standard_normal((n, d)).astype(rng.choice([np.float32, np.float64]))
    rows[0] *= 1e30
    return rows


def huge(rng, n, d):
    """Squares, sums and products leave the range of float64."""
    return rng.integers(-3, 4, (n, d)) * rng.choice([5e307, 5e307 * (1 + 2.0**-52), 1e300], (n, 1))


def subnormal(rng, n, d):
    return rng.integers(-2, 3, (n, d)) * rng.choice([5e-324, 1e-320, 2.0**-1022], (n, 1))


def subnormal_in_float32(rng, n, d):
    return (rng.integers(-2, 3, (n, d)) * 2.0 ** rng.choice([-149, -140, -126], (n, 1))).astype(np.float32)


def signs_over_root_dim(rng, n, d):
    return (rng.choice([-1, 1], (n, d)) / np.sqrt(d)).astype(np.float32)


def one_hot(rng, n, d):
    return np.eye(d, dtype=np.float64)[rng.integers(0, d, n)] * rng.choice([1.0, 0.1], (n, 1))


def decimals(rng, n, d):
    """Multiples of 0.1, which are equal in decimal and mostly not in binary."""
    return (rng.integers(-3, 4, (n, d)) / 10).astype(rng.choice([np.float32, np.float64]))


def half_way(rng, n, d):
    """Integers half-way between two values of bfloat16, float16 or float32, seen from 0 and multiplied by 1."""
    rows = np.zeros((n, d))
    rows[:, 0] = rng.choice([0, 1, 256, 257, 258, 259, 2048, 2049, 2050, 2051, 2**24, 2**24 + 1, 2**24 + 2, 65520], n)
    return rows * rng.choice([-1, 1], (n, 1))


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def ends_of_integers(rng, n, d):
    kind = np.iinfo(rng.choice([np.int8, np.uint8, np.int32, np.uint32]))
    return rng.choice(np.array([kind.min, kind.min + 1, 0, 1, kind.max - 1, kind.max], kind.dtype), (n, d))


def short_numbers(rng, n, d):
    rows = 40 * rng.standard_normal((n, d))
    return rows > 0 if rng.random() < 0.2 else rows.astype(rng.choice([np.float16, np.float32, np.int8]))


KINDS = {make.__name__: make for make in (
    integer_grid, duplicates, scaled_duplicates, almost_scaled, neighbouring_floats, some_zero_rows,
    zero_rows_among_floats, all_zero, sparse, near_saturated, saturated_in_float64, both_ends_of_the_range,
    last_bits, permutations, permutations_and_a_constant, cancelling, mixed_magnitudes, mixed_magnitudes_in_a_row,
    one_huge_row, huge, subnormal, subnormal_in_float32, signs_over_root_dim, one_hot, decimals, half_way, gaussian,
    ends_of_integers, short_numbers,
)}  # fmt: skip
BIT_KINDS = {
    "bits": lambda rng, n, d: rng.random((n, d)) < 0.4,
    "long_bits": lambda rng, n, d: rng.random((n, 60 + d)) < 0.02,
    "bytes": lambda rng, n, d: rng.choice(np.array([0, 1, 3, 128, 255], dtype=np.uint8), (n, d)),
    "long_bytes": lambda rng, n, d: rng.choice(np.array([0, 0, 0, 0, 1], dtype=np.uint8), (n, 7 + d)),
}
