"""Exact arithmetic and error bounds, against fractions, decimals and the casts of NumPy."""

from __future__ import annotations

import decimal
import math
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from deadheat import distances, exact
from deadheat.exact import SignedRoot, kernels

UNIT = Fraction(1, 2**2148)  # of the integers that stand for sums of products

finite = st.floats(allow_nan=False, allow_infinity=False)
edges = st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 2.0**-1022 - 5e-324, 1.0, -1.0, 1 - 2.0**-53,
                         1 + 2.0**-52, 2.0**53 + 2, sys.float_info.max, -sys.float_info.max])  # fmt: skip
pairs_of_rows = st.lists(st.tuples(finite | edges, finite | edges), min_size=1, max_size=12)


def dot(left, right):
    return sum((Fraction(a) * Fraction(b) for a, b in zip(left, right, strict=True)), Fraction(0))


def absolute_differences(left, right):
    return sum((abs(Fraction(a) - Fraction(b)) for a, b in zip(left, right, strict=True)), Fraction(0))


# ---------------------------------------------------------------------------------------------------------------------
# sums


def exact_dots(left, right):
    products, place = exact.scaled_dots(left, right)
    return [product << place for product in products]


@given(pairs_of_rows)
@settings(deadline=None, max_examples=300)
def test_exact_sums_over_the_whole_range(pairs):
    left, right = (np.array([row], dtype=np.float64) for row in zip(*pairs, strict=True))
    assert exact_dots(left, right)[0] * UNIT == dot(left[0].tolist(), right[0].tolist())
    found = exact.exact_absolute_differences(left, right)[0] * UNIT
    assert found == absolute_differences(left[0].tolist(), right[0].tolist())


def test_exact_sums_row_by_row_and_where_all_cancels():
    rng = np.random.default_rng(1)
    left = rng.standard_normal((50, 33)) * 10.0 ** rng.integers(-300, 300, (50, 33))
    right = rng.standard_normal((50, 33)) * 10.0 ** rng.integers(-300, 300, (50, 33))
    left[:, 32], right[:, 32] = -left[:, 0], right[:, 0]  # the first product is taken back
    for i, (found, apart) in enumerate(
        zip(exact_dots(left, right), exact.exact_absolute_differences(left, right), strict=True)
    ):
        assert (
            found * UNIT
            == dot(left[i].tolist(), right[i].tolist())
            == dot(left[i, 1:32].tolist(), right[i, 1:32].tolist())
        )
        assert apart * UNIT == absolute_differences(left[i].tolist(), right[i].tolist())
    assert exact_dots(left, np.zeros_like(left)) == [0] * 50
    assert exact.exact_absolute_differences(left, left) == [0] * 50


@pytest.mark.parametrize("value", [sys.float_info.max, -sys.float_info.max, 5e-324])
def test_long_rows_of_extreme_numbers_do_not_overflow(value):
    row = np.full((1, 4096), value)
    assert exact_dots(row, row)[0] * UNIT == 4096 * Fraction(value) ** 2
    assert exact_dots(row, -row)[0] * UNIT == -4096 * Fraction(value) ** 2
    assert exact.exact_absolute_differences(row, -row)[0] * UNIT == 4096 * 2 * abs(Fraction(value))


@given(pairs_of_rows, st.sampled_from(["cosine", "euclidean", "inner_product", "cityblock"]))
@settings(deadline=None, max_examples=200)
def test_the_closeness_of_a_pair_is_the_real_number(pairs, name):
    """Squared, with its sign, against the oracle's distance as a real number a + b√square."""
    left, right = (np.array([row], dtype=np.float64) for row in zip(*pairs, strict=True))
    closeness = distances.make(name, left, right, True).exact_closeness(np.array([0]), np.array([0]))[0]
    found = closeness.sign * Fraction(closeness.numerator, closeness.denominator)
    key = oracles.exact_key(left[0], right[0], name)
    assert (
        found == {"cosine": key + 1, "euclidean": key, "inner_product": key * abs(key), "cityblock": -key * key}[name]
    )


# ---------------------------------------------------------------------------------------------------------------------
# exact_closeness

fractions = st.fractions(min_value=-4, max_value=4, max_denominator=6)
exact_closeness = st.builds(
    lambda f, k: SignedRoot((f > 0) - (f < 0), abs(f.numerator) * k, f.denominator * k), fractions, st.integers(1, 9)
)


def decimal_value(surd):
    return surd.sign * (decimal.Decimal(surd.numerator) / decimal.Decimal(surd.denominator)).sqrt()


def decimal_sign(value):
    """The sign of a difference of small exact_closeness: either 0, or far above the error of 60 digits."""
    return 0 if abs(value) < decimal.Decimal("1e-40") else (1 if value > 0 else -1)


@given(exact_closeness, exact_closeness)
def test_surds_compare_as_real_numbers(one, other):
    square_one, square_other = (s.sign * Fraction(s.numerator, s.denominator) for s in (one, other))
    assert one.compare(other) == (square_one > square_other) - (square_one < square_other)
    assert one.compare(other) == -other.compare(one)
    assert one.compare(one) == 0


@given(exact_closeness, exact_closeness, fractions)
@settings(max_examples=500)
def test_shifted_surds_compare_as_real_numbers(one, other, shift):
    with decimal.localcontext(prec=60):
        wanted = decimal_sign(
            decimal_value(one) - decimal_value(other) - decimal.Decimal(shift.numerator) / shift.denominator
        )
    assert one.compare_shifted(other, shift) == wanted
    assert one.compare_shifted(other, shift) == -other.compare_shifted(one, -shift)


@given(fractions, fractions)
def test_rational_surds_at_the_point_of_equality(value, shift):
    """√(a²) = √(b²) + shift holds exactly for rationals; a hair more or less decides."""
    one, other = SignedRoot.of(value + shift), SignedRoot.of(value)
    hair = Fraction(1, 10**30)
    assert [one.compare_shifted(other, shift + d) for d in (-hair, 0, hair)] == [1, 0, -1]
    assert one.compare(SignedRoot.of(value + shift + hair)) == -1


def test_surds_by_hand():
    assert (
        SignedRoot(1, 8, 1).compare_shifted(SignedRoot(1, 2, 1), Fraction(1414213562373095, 10**15)) == 1
    )  # √8 − √2 = √2
    assert SignedRoot(1, 8, 1).compare_shifted(SignedRoot(1, 2, 1), Fraction(1414213562373096, 10**15)) == -1
    assert SignedRoot(-1, 2, 1).compare_shifted(SignedRoot(1, 2, 1), Fraction(0)) == -1
    assert SignedRoot(1, 2, 1).compare_shifted(SignedRoot(-1, 2, 1), Fraction(-3)) == 1
    assert SignedRoot(0, 0, 1).compare_shifted(SignedRoot(0, 0, 7), Fraction(0)) == 0
    assert SignedRoot(1, 1, 2).compare(SignedRoot(1, 3, 6)) == 0


# ---------------------------------------------------------------------------------------------------------------------
# rounding to a type

NUMPY = {"float16": np.float16, "float32": np.float32}
LARGEST = {"float16": 65504.0, "bfloat16": (2 - 2.0**-7) * 2.0**127, "float32": float(np.finfo(np.float32).max)}


def all_float16():
    values = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
    return values[np.isfinite(values)]


def cast(values, name):
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(NUMPY[name]).astype(np.float64)


def some_values(name):
    """Values of a type over its whole range: sizes, ends, and random bits."""
    if name == "float16":
        return all_float16()
    bits = np.random.default_rng(2).integers(0, 2**31, 5000, dtype=np.int64).astype(np.uint32)
    bits = np.concatenate(
        [bits, np.arange(300), np.uint32(0x00800000) + np.arange(-9, 9), np.uint32(0x7F800000) - np.arange(1, 9)]
    )
    values = (bits.astype(np.uint32) & np.uint32(0xFFFF0000 if name == "bfloat16" else 0xFFFFFFFF)).view(np.float32)
    values = values[np.isfinite(values)].astype(np.float64)
    return np.concatenate([values, -values])


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_rounding_is_the_cast_of_numpy(name):
    rng = np.random.default_rng(3)
    values = some_values(name)
    middles = np.unique(values)
    middles = middles[:-1] / 2 + middles[1:] / 2
    tests = np.concatenate([
        values, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf),
        values * (1 + rng.random(len(values)) * 2.0**-9),
        rng.standard_normal(2000) * 10.0 ** rng.integers(-50, 50, 2000),
        [0.0, -0.0, 5e-324, -5e-324, sys.float_info.max, -sys.float_info.max, np.inf, -np.inf],
    ])  # fmt: skip
    np.testing.assert_array_equal(exact.round_to(tests, name), cast(tests, name))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_rounding_is_that_of_the_oracle(name):
    rng = np.random.default_rng(4)
    values = rng.permutation(some_values(name))[:150]
    tests = np.concatenate([values * (1 + 2.0**-9), values * (1 + 2.0**-8), rng.standard_normal(50) * 1e-39,
                            [LARGEST[name], LARGEST[name] * (1 + 2.0**-20), -LARGEST[name] * 2]])  # fmt: skip
    for value, found in zip(tests.tolist(), exact.round_to(tests, name).tolist(), strict=True):
        pattern = oracles.round_to(oracles.Surd(Fraction(value), 0, Fraction(0)), name)
        assert found == oracles.pattern_to_float(pattern, name)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_a_cell_holds_what_rounds_to_its_value(name):
    """Its ends belong to it where the value is even; a step outside, another value is nearer."""
    values = np.unique(some_values(name) + 0.0)
    low, high, closed = exact.cells(values, name)
    np.testing.assert_array_equal(exact.round_to(low, name) == values, closed)
    np.testing.assert_array_equal(exact.round_to(high, name) == values, closed)
    np.testing.assert_array_equal(exact.round_to(np.nextafter(low, np.inf), name), values)
    np.testing.assert_array_equal(exact.round_to(np.nextafter(high, -np.inf), name), values)
    assert (exact.round_to(np.nextafter(low, -np.inf), name) < values).all()
    assert (exact.round_to(np.nextafter(high, np.inf), name) > values).all()


def test_the_cells_of_all_float16_values_fill_the_line():
    values = np.unique(all_float16() + 0.0)
    low, high, closed = exact.cells(values, "float16")
    np.testing.assert_array_equal(high[:-1], low[1:])
    np.testing.assert_array_equal(closed[:-1], ~closed[1:])
    assert (high[-1], closed[-1]) == (65520.0, False)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_the_cells_of_infinity_begin_where_overflow_does(name):
    low, high, closed = exact.cells(np.array([np.inf, -np.inf]), name)
    assert (high[0], low[1], closed.tolist()) == (np.inf, -np.inf, [True, True])
    assert low[0] == -high[1] == exact.cells(np.array([LARGEST[name]]), name)[1][0]
    assert exact.round_to(low[:1], name)[0] == np.inf
    assert exact.round_to(np.nextafter(low[:1], 0), name)[0] == LARGEST[name]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_ordinals_count_the_values(name):
    values = np.unique(some_values(name) + 0.0)
    numbers = exact.ordinals(values, name)
    assert (np.diff(numbers) > 0).all()
    assert [exact.from_ordinal(number, name) for number in numbers.tolist()] == values.tolist()
    assert exact.ordinals(np.array([0.0, -0.0, np.inf, LARGEST[name]]), name).tolist()[:2] == [0, 0]
    infinity, largest = exact.ordinals(np.array([np.inf, LARGEST[name]]), name).tolist()
    assert infinity == largest + 1
    if name == "float16":
        assert (np.diff(numbers) == 1).all()


# ---------------------------------------------------------------------------------------------------------------------
# error bounds


def test_gamma_is_rounded_no_lower_than_it_may_be():
    for dtype, u in ((np.float32, Fraction(1, 2**24)), (np.float64, Fraction(1, 2**53))):
        assert Fraction(exact.unit_roundoff(dtype)) == u
        for n in (1, 7, 128, 10_000):
            true = n * u / (1 - n * u)
            assert abs(Fraction(exact.gamma(n, dtype)) - true) <= true * Fraction(1, 2**51)
    with pytest.raises(ValueError, match="too long"):
        exact.gamma(2**23, np.float32)


def adversarial(rng, d):
    """Rows of one sign whose running sum just misses every term, rows that cancel, and random ones."""
    step = 1 + 2.0**-12 * rng.random(d)
    yield step, step
    yield np.concatenate([[1.0], np.full(d - 1, 2.0**-13 * 0.999)]), np.concatenate([[1.0], np.full(d - 1, 2.0**-12)])
    signs = rng.choice([-1.0, 1.0], d)
    yield step * signs, step
    for _ in range(4):
        yield rng.standard_normal(d), rng.standard_normal(d) * 10.0 ** rng.integers(-6, 1, d)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 3, 64, 500])
def test_products_in_any_order_stay_within_gamma(d, dtype):
    """|fl(q·x) − q·x| ≤ γ_d Σ|q_i x_i|: by BLAS, by einsum, one after the other, backwards, and in pairs."""
    rng = np.random.default_rng(d)
    for left, right in adversarial(rng, d):
        left, right = left.astype(dtype), right.astype(dtype)
        true = dot(left.tolist(), right.tolist())
        size = dot(np.abs(left).tolist(), np.abs(right).tolist())
        bound = Fraction(exact.gamma(d, dtype)) * size + Fraction(exact.underflow(d, dtype))
        products = left * right
        sums = [left @ right, (left[None] @ right[:, None])[0, 0], np.einsum("i,i", left, right), products.sum()]
        sums += [np.cumsum(order, dtype=dtype)[-1] for order in (products, products[::-1], np.sort(products))]
        assert {x.dtype for x in sums} == {np.dtype(dtype)}
        assert max(abs(Fraction(float(x)) - true) for x in sums) <= bound


def embeddings_of(kind, rng, n, d):
    rows = rng.standard_normal((n, d))
    if kind == "saturated":
        rows = 1 + 1e-6 * rows
    elif kind == "cancelling":
        rows = rows + 1e4 * rng.choice([-1, 1], (n, 1)) * np.where(np.arange(d) % 2, 1, -1)
    elif kind == "mixed":
        rows = rows * 10.0 ** rng.integers(-30, 30, (n, 1))
    elif kind == "mixed in a row":
        rows = rows * 10.0 ** rng.integers(-12, 12, (n, d))
    elif kind == "tiny":
        rows = np.round(rows * 8) * 5e-324
    elif kind == "huge":
        rows = rows * 1e307
    return rows


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(kind, np.float64) for kind in ("gaussian", "saturated", "cancelling", "mixed", "mixed in a row", "tiny", "huge")]
    + [(kind, np.float32) for kind in ("gaussian", "saturated", "cancelling", "mixed in a row")],
)
@pytest.mark.parametrize("name", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_scores_of_every_pass_stay_within_their_bound(name, kind, dtype):
    """Tiles and single pairs of each distance against the real number that their score stands for."""
    rng = np.random.default_rng(6)
    rows = embeddings_of(kind, rng, 14, 9).astype(dtype)
    rows[3] = 0
    metric = distances.make(name, rows, None, exact_only=False)
    everything = np.arange(14)
    real = real_scores(metric, name, rows)
    for number, one in enumerate(metric.levels):
        for band in metric.columns.bands:
            columns = np.arange(*band)
            tile = metric.tile(number, metric.left(number, everything), columns)
            bound = metric.bound(number, everything, band)
            assert tile.dtype == one.dtype
            check(
                tile, np.broadcast_to(bound[:, None], tile.shape), [[real[i][j] for j in columns] for i in everything]
            )
    grid_rows, grid_columns = (
        x.ravel() for x in np.meshgrid(everything, np.arange(len(metric.columns)), indexing="ij")
    )
    scores = metric.pair_scores(grid_rows, grid_columns)
    shape = (14, len(metric.columns))
    check(scores.reshape(shape), metric.pair_bound(grid_rows, grid_columns).reshape(shape), real)
    sharper = metric.compensated_scores(grid_rows, grid_columns)
    assert (sharper is None) == (name == "cityblock" or kind in ("tiny", "huge"))
    if sharper is not None:
        check(sharper[0].reshape(shape), sharper[1].reshape(shape), real)


@njit
def products_of_rows(left, right):
    out = np.empty((len(left), len(right)))
    for i in range(len(left)):
        for j in range(len(right)):
            out[i, j] = kernels.product_of_rows(left[i], right[j])
    return out


@pytest.mark.parametrize("kind", ["gaussian", "saturated", "cancelling", "mixed in a row"])
@pytest.mark.parametrize("name", ["cosine", "euclidean", "inner_product"])
def test_products_in_chunks_and_of_single_rows_stay_within_their_bound(name, kind):
    rng = np.random.default_rng(8)
    rows = embeddings_of(kind, rng, 10, 75).astype(np.float32)
    metric = distances.make(name, rows, None, exact_only=False)
    everything, real = np.arange(10), real_scores(metric, name, rows)
    first = metric.levels[0]
    assert metric.rechecks
    for band in metric.columns.bands:
        columns = np.arange(*band)
        wanted = [[real[i][j] for j in columns] for i in everything]
        left, right = metric.left(0, everything), metric.right(0, columns)
        for chunk in (1, 7, 32, 74, 75, 200):
            metric.levels = (replace(first, chunk=chunk), *metric.levels[1:])
            tile, bound = metric.tile(0, left, columns), metric.bound(0, everything, band)
            check(tile, np.broadcast_to(bound[:, None], tile.shape), wanted)
        looked = products_of_rows(left, right)
        offsets = metric.offsets(columns)
        looked -= offsets if len(offsets) else 0
        bound = metric.recheck_bound(everything, band)
        assert (bound < metric.bound(0, everything, band)).all()
        check(looked, np.broadcast_to(bound[:, None], looked.shape), wanted)


@pytest.mark.parametrize("d", [1, 2, 31, 32, 33, 100])
def test_compensated_products_err_as_if_in_twice_the_precision(d):
    """Where nearly all cancels: the exact product is tiny beside its terms."""
    rng = np.random.default_rng(d)
    left = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    right = rng.standard_normal((30, d)) * 10.0 ** rng.integers(-8, 8, (30, d))
    if d > 1:
        right[:, -1] = -np.einsum("ij,ij->i", left[:, :-1], right[:, :-1]) / left[:, -1]
    each = np.arange(30)
    found = kernels.compensated_dots(left, each, right, each)
    gamma = Fraction(exact.gamma(d + 2 * kernels.SUMS, np.float64))
    for a, b, value in zip(left.tolist(), right.tolist(), found.tolist(), strict=True):
        terms = [Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)]
        bound = Fraction(1, 2**53) * abs(sum(terms)) + gamma**2 * sum(map(abs, terms))
        assert abs(Fraction(value) - sum(terms)) <= bound


def real_scores(metric, name, rows):
    """The score of every query and column as a fraction; cosine rounded to 200 bits."""
    unit = Fraction(float(getattr(metric, "unit", 1.0)))
    gallery = [[Fraction(x) for x in rows[i].tolist()] for i in metric.columns.representative]
    table = []
    for query in ([Fraction(x) for x in row] for row in rows.tolist()):
        line = []
        for item in gallery:
            product, square = dot(query, item), dot(item, item)
            if name == "cosine":
                squares = dot(query, query) * square
                line.append(root(product * product / squares) * (1 if product > 0 else -1) if squares else Fraction(0))
            elif name == "euclidean":
                line.append((product - square / 2) / unit**2)
            elif name == "inner_product":
                line.append(product / unit**2)
            else:
                line.append(-absolute_differences(query, item) / unit)
        table.append(line)
    return table


def root(value):
    return Fraction(math.isqrt(value.numerator * 2**400 // value.denominator), 2**200)


def check(found, bound, real):
    for i, row in enumerate(found.tolist()):
        for j, value in enumerate(row):
            assert abs(Fraction(value) - real[i][j]) <= Fraction(float(bound[i][j])) + Fraction(1, 2**190)


@pytest.mark.parametrize("name", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("kind", ["gaussian", "saturated", "cancelling", "mixed in a row", "tiny", "huge"])
def test_scores_turn_into_closeness_and_back_within_their_intervals(name, kind):
    """What `closeness` and `score` return contains the real number, also next to the ends of float64's range."""
    rows = embeddings_of(kind, np.random.default_rng(7), 8, 5)
    metric = distances.make(name, rows, None, False)
    grid = np.repeat(np.arange(8), len(metric.columns)), np.tile(np.arange(len(metric.columns)), 8)
    scores, bound = metric.pair_scores(*grid), metric.pair_bound(*grid)
    low, high = metric.closeness(grid[0], scores - bound, scores + bound)
    again_low, again_high = metric.score(grid[0], low, high)
    real = [score for line in real_scores(metric, name, rows) for score in line]
    for place, closeness in enumerate(metric.exact_closeness(*grid)):
        for end, sides in ((low[place], (0, 1)), (high[place], (0, -1))):
            if np.isfinite(end):
                assert closeness.compare(SignedRoot.of(Fraction(float(end)))) in sides
        if np.isfinite(again_low[place]):
            assert Fraction(float(again_low[place])) <= real[place] + Fraction(1, 2**190)
        if np.isfinite(again_high[place]):
            assert Fraction(float(again_high[place])) >= real[place] - Fraction(1, 2**190)
