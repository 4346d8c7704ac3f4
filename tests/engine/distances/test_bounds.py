"""Computed numbers come close to their bounds: rows are searched, by hill climbing in exact fractions.

`pytest tests/engine/distances/test_bounds.py -s` prints the largest share of each bound that is reached. Above 1 a
bound would be wrong; far below what it was, it would have become loose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from engine.distances.true_scores import at_centre, fractions, true_score
from rationals import dot, root

from deadheat.engine.distances import bounds, scaling
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Level
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.inputs.source import Array

DIM, PAIRS, STEPS = 20, 16, 25
BOTH = (np.float32, np.float64)


# Rows to begin with, and how they change -----------------------------------------------------------------------------


def one_and(numbers):
    """1, and numbers for the other dimensions."""
    row = np.full(DIM, numbers)
    row[0] = 1
    return row


def lost(u, rng):
    """Rows whose product is 1 and terms that a sum from 1 on just misses."""
    return (one_and(np.sqrt(u) * 0.999),) * 2


def of_far_sizes(u, rng):
    """The same, with a term far smaller than any rounding, and signs."""
    row, _ = lost(u, rng)
    row[1:] *= 2.0 ** -rng.integers(0, 45, DIM - 1)
    return row, row * rng.choice([-1, 1], DIM)


def near_one_point(u, rng):
    """Rows a quarter of their length away from each other, or less."""
    return tuple(1 + 2.0 ** -rng.integers(3, 20) * rng.random((2, DIM)))


def below_one(u, rng):
    """Rows whose product is just below 1 once they are divided by their norms."""
    return (one_and(0.7 * np.sqrt(u) * 0.999),) * 2


def unit_rows(u, rng):
    """Rows whose squares are about 1."""
    rows = rng.standard_normal((2, DIM))
    return tuple(rows / np.linalg.norm(rows, axis=1)[:, None])


def tiny_items(u, rng):
    """Items whose numbers are just below the smallest that a type holds as well as others."""
    least = np.finfo(np.float32 if u > 2.0**-30 else np.float64).tiny
    return np.full(DIM, 0.99), np.full(DIM, 0.99 * least)


def opposite(u, rng):
    return one_and(u * 0.999), one_and(u * 0.999) / -2


def longer(u, rng):
    """An item four times as long as the query."""
    return lost(u, rng)[0], 4 * lost(u, rng)[0]


def terms_of_a_sum(u, rng):
    """1, and numbers that a sum from 1 on just misses."""
    return (one_and(u * 0.999),) * 2


def changed(rows, rng):
    """Rows with one to three numbers changed: by few places, by a factor, or to another number of the row."""
    rows = rows.copy()
    for row in rows:
        for k in rng.integers(0, DIM, rng.integers(1, 4)):
            kind = rng.integers(0, 4)
            if kind == 0:
                row[k] += rng.integers(-3, 4) * np.spacing(row[k])
            elif kind == 1:
                row[k] *= 1 + rng.normal() * 2.0 ** -rng.integers(1, 30)
            elif kind == 2:
                row[k] = row[rng.integers(0, DIM)]
            else:
                row[k] = np.float32(row[k]) * (1 + 2.0**-24)
    return rows


def climb(share: Callable[[np.ndarray, np.ndarray], list[Fraction]], start, u) -> float:
    """The largest share that is found from some rows on."""
    rng = np.random.default_rng(1)
    query, item = start(u, rng)
    best, largest = np.stack([query, item]), Fraction(0)
    for _ in range(STEPS):
        pairs = np.stack([best, *(changed(best, rng) for _ in range(PAIRS - 1))])
        result = share(np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))
        k = max(range(PAIRS), key=result.__getitem__)
        if result[k] >= largest:
            largest, best = result[k], pairs[k]
    return float(largest)


def check(title, reached, least):
    print(f"\n{reached:7.2g}  {title}", end="")
    assert least <= reached <= 1


# Scores --------------------------------------------------------------------------------------------------------------


class Score(NamedTuple):
    """The scores of a distance at a level, and which of its bounds is meant."""

    name: str
    kind: str  # name of the class
    dtype: type
    chunk: int | None = None
    pairs: bool = False  # computed pair by pair, not as a tile
    relative_to: str = "size"  # of rows; "score": a part of the score itself; "terms": of Σ|q_k x_k|
    fillers: float = 1.0  # ratio of the lengths of items that are there in addition
    between: tuple[float, float] = (-np.inf, np.inf)  # all numbers

    def distance(self, queries, items):
        more = [items] if self.kind == "CosineOfTangents" else [items, 0 * items[:1]]  # zeros have no common centre
        if self.fillers != 1:
            more += [self.fillers ** -np.arange(3.0 * PAIRS)[:, None] * items[0]]
        distance = distance_registry.make(self.name, queries, np.concatenate(more), True)
        assert type(distance).__name__ == self.kind
        level = Level(self.dtype, exact=False, chunk=self.chunk)
        single = replace(distance.columns, bands=[(c, c + 1) for c in range(len(distance.columns))])
        levels = (level,) if self.dtype == np.float64 else (level, distance.levels[-1])
        return distance.having(columns=single, levels=levels)

    def share(self, queries, items):
        queries, items = np.clip(queries, *self.between), np.clip(items, *self.between)
        distance = self.distance(queries, items)
        at, columns = np.arange(PAIRS), distance.columns.column_of_item[:PAIRS]
        if self.pairs:
            scores = distance.scores.pair_scores(at, columns)
        else:
            scores = distance.scores.tile(0, at, columns)[at, at]
        real = [true_score(distance, *pair) for pair in zip(queries, items, strict=True)]
        allowed = [self.bound(distance, *pair) for pair in zip(at, columns, scores, real, strict=True)]
        return [abs(Fraction(float(s)) - t) / b for s, t, b in zip(scores, real, allowed, strict=True)]

    def bound(self, distance, query, column, score, real):
        queries = np.array([query])
        if self.relative_to == "terms":
            assert distance.mostly_one_term
            result = distance.scores.pair_bounds(queries, np.array([column]), np.array([float(score)]))
            return Fraction(float(result[0]))
        absolute, relative, tiny = distance.scores.errors(0, queries, int(column))[0].tolist()
        return Fraction(absolute) if self.relative_to == "size" else Fraction(relative) * abs(real) + Fraction(tiny)


def scores():
    """Yield a title, scores, rows to begin with, and the least share of the bound to be reached."""
    plus, near = (0.0, np.inf), (1.0, 1.24)
    for dtype in BOTH:
        product = partial(Score, "inner_product", "InnerProduct", dtype)
        yield "product", product(), lost, 0.5
        yield "product of one sign", product(relative_to="score", between=plus), lost, 0.5
        yield "product of tiny numbers", product(fillers=float(np.finfo(dtype).tiny) ** (1 / 47)), tiny_items, 0.05
        yield "cosine", Score("cosine", "Cosine", dtype), below_one, 0.1
        yield "cosine by tangents", Score("cosine", "CosineOfTangents", dtype, between=near), near_one_point, 0.01
        euclidean = partial(Score, "euclidean", "Euclidean", dtype)
        yield "Euclidean, common offset", euclidean(), lost, 0.5
        yield "Euclidean", euclidean(fillers=2), lost, 0.5
        yield "Euclidean by squares", euclidean(fillers=2, relative_to="score"), longer, 0.2
        yield "city block", Score("cityblock", "Cityblock", dtype), opposite, 0.5
        yield "overlaps", Score("cityblock", "CityblockOfOverlaps", dtype, between=plus), terms_of_a_sum, 0.5
    single, double = (partial(Score, "inner_product", "InnerProduct", dtype) for dtype in BOTH)
    yield "product in chunks of 8", single(chunk=8), lost, 0.4
    yield "product, single pairs", double(pairs=True), lost, 0.1
    yield "product, Σ|q_k x_k|", double(pairs=True, relative_to="terms"), of_far_sizes, 0.05


@pytest.mark.parametrize(("title", "score", "start", "least"), list(scores()))
def test_scores(title, score, start, least):
    check(f"{title}, {np.dtype(score.dtype)}", climb(score.share, start, bounds.unit_roundoff(score.dtype)), least)


# Closeness of scores, and scores of closeness ------------------------------------------------------------------------


def true_closeness(distance, query, score):
    q, unit = fractions(query), Fraction(distance.unit)
    if distance.name == "euclidean":
        return -root(max(dot(q, q) + (Fraction(distance.common_offset) - 2 * score) * unit**2, Fraction(0)))
    if distance.name == "cityblock":
        return min(-sum(q) - (Fraction(distance.common_offset) - 2 * score) * unit, Fraction(0))
    return at_centre(distance, q) + score * unit**2


def score_of(distance, query, closeness):
    q, unit = fractions(query), Fraction(distance.unit)
    if distance.name == "euclidean":
        return ((dot(q, q) - closeness**2) / unit**2 + Fraction(distance.common_offset)) / 2
    if distance.name == "cityblock":
        return ((sum(q) + closeness) / unit + Fraction(distance.common_offset)) / 2
    return (closeness - at_centre(distance, q)) / unit**2


def shares_of_intervals(score, way, queries, items):
    queries, items = np.clip(queries, *score.between), np.clip(items, *score.between)
    distance, at = score.distance(queries, items), np.arange(PAIRS)
    values = distance.scores.pair_scores(at, distance.columns.column_of_item[:PAIRS])
    change, real = (distance.closeness, true_closeness) if way == "closeness" else (distance.score, score_of)
    if way == "score":
        values = distance.closeness(at, values, values)[0]
    ends = [np.array([Fraction(end) for end in side.tolist()]) for side in change(at, values, values)]
    true = [real(distance, query, Fraction(value)) for query, value in zip(queries, values.tolist(), strict=True)]
    return [abs(2 * t - high - low) / (high - low) for t, low, high in zip(true, *ends, strict=True)]


@pytest.mark.parametrize("way", ["closeness", "score"])
@pytest.mark.parametrize(
    ("name", "kind", "between", "start", "least"),
    [
        ("euclidean", "Euclidean", (0.0, np.inf), longer, 0.01),
        ("cityblock", "CityblockOfOverlaps", (0.0, np.inf), longer, 0.01),
        ("cosine", "CosineOfTangents", (1.0, 1.24), near_one_point, 0.001),
    ],
)
def test_intervals(name, kind, between, start, least, way):
    score = Score(name, kind, np.float64, between=between)
    check(f"{way} of {kind}", climb(partial(shares_of_intervals, score, way), start, 2.0**-53), least)


@pytest.mark.parametrize("change", [bounds.multiplied, bounds.divided])
def test_intervals_that_are_multiplied_or_divided(change):
    rng = np.random.default_rng(1)
    values, factors = 1 + rng.random((2, 2000))
    result = []
    for value, factor in zip(values.tolist(), factors.tolist(), strict=True):
        low, high = (Fraction(float(end)) for end in change(np.float64(value), np.float64(value), factor))
        real = Fraction(value) * Fraction(factor) if change is bounds.multiplied else Fraction(value) / Fraction(factor)
        result.append(abs(2 * real - low - high) / (high - low))
    check(f"interval, {change.__name__}", float(max(result)), 0.05)


# What bounds are made of ---------------------------------------------------------------------------------------------


def shares_of_norms(queries, items):
    rows = np.concatenate([queries, items])
    real = [3 * root(dot(row, row)) for row in map(fractions, rows)]
    return shares_of_rounding_up(scaling.norms(Array(rows), 1 / 3), real, DIM + 7)


def shares_of_sums(queries, items):
    rows = np.concatenate([queries, items])
    real = [3 * sum(map(abs, row)) for row in map(fractions, rows)]
    return shares_of_rounding_up(scaling.absolute_sums(Array(rows), 1 / 3), real, DIM + 4)


def shares_of_rounding_up(rounded, real, roundings):
    """Return the needed share of the slack that was added."""
    allowed = Fraction(bounds.gamma(roundings, np.float64))
    computed = [Fraction(value) / (1 + allowed) for value in rounded.tolist()]
    shares = [(r - c) / (c * allowed) for r, c in zip(real, computed, strict=True)]
    return list(map(max, shares[:PAIRS], shares[PAIRS:]))


def shares_of_compensated(queries, items):
    """Return the errors beyond one rounding of the result, as shares of their bound."""
    left, error = scaling.sums_less(ScaledRows(Array(queries), np.ones(PAIRS)), 1.0, squares=True)
    real = [dot(row, row) - 1 for row in map(fractions, queries)]
    return [
        max(abs(Fraction(a) - r) - abs(r) / 2**53, Fraction(0)) / Fraction(e) if e else Fraction(0)
        for a, e, r in zip(left.tolist(), error.tolist(), real, strict=True)
    ]


def tangents_of(items):
    items = np.clip(items, 1.0, 1.24)
    source = Array(items)
    centre = scaling.common_centre(source, source)
    tangents, sizes = scaling.tangents(source, centre)
    c = fractions(centre)
    real = (less_centre(row, root(dot(row, row)), c, root(dot(c, c))) for row in map(fractions, items))
    return real, list(map(fractions, tangents.read(0, PAIRS))), list(map(Fraction, sizes.tolist()))


def less_centre(row, norm, centre, norm_of_centre):
    return [x / norm - y / norm_of_centre for x, y in zip(row, centre, strict=True)]


def shares_of_tangents(queries, items):
    allowed = Fraction(bounds.of_tangent(DIM))
    return [
        root(sum((a - b) ** 2 for a, b in zip(true, found, strict=True))) / (allowed * size)
        for true, found, size in zip(*tangents_of(items), strict=True)
    ]


def shares_of_tangent_sizes(queries, items):
    _, tangents, sizes = tangents_of(items)
    return [root(dot(found, found)) / size for found, size in zip(tangents, sizes, strict=True)]


@pytest.mark.parametrize(
    ("title", "share", "start", "least"),
    [
        ("norms, rounded up", shares_of_norms, near_one_point, 0.03),
        ("sums, rounded up", shares_of_sums, terms_of_a_sum, 0.03),
        ("squares less a number", shares_of_compensated, unit_rows, 1e-5),
        ("tangents", shares_of_tangents, near_one_point, 0.01),
        ("sizes of tangents", shares_of_tangent_sizes, near_one_point, 0.5),
    ],
)
def test_parts(title, share, start, least):
    check(title, climb(share, start, 2.0**-53), least)


def test_norms_and_sums_of_short_rows():
    """Of up to four numbers nearly all that is rounded is the scale, which no sum of many makes up for."""
    rng = np.random.default_rng(2)
    for dim in range(1, 5):
        raw, scale = rng.normal(size=(400, dim)), rng.random(400) + 1.0
        rows = raw * (1.0 / scale)[:, None]
        squares, absolutes = (rows**2).sum(axis=1), np.abs(rows).sum(axis=1)
        result = zip(raw, scale, bounds.norms(squares, absolutes, dim), bounds.sums(absolutes, dim), strict=True)
        for own, by, norm, total in result:
            real = [Fraction(number) / Fraction(by) for number in own]
            assert sum(number**2 for number in real) <= Fraction(norm) ** 2
            assert sum(map(abs, real)) <= Fraction(total)


def test_smallest_sizes_are_not_rounded_up():
    rng = np.random.default_rng(3)
    for unit in (0.1, 0.75, 3.0, 2.0**40):
        raw = rng.normal(size=(200, 3)) * np.ldexp(1.0, rng.integers(-20, 20, (200, 1)))
        raw[:, 2] = 0.0
        for row in raw:
            rows = ScaledRows.over(Array(row[None]), np.array([unit]))
            real = min(map(abs, map(Fraction, row[:2].tolist()))) / Fraction(unit)
            assert real * Fraction(1 - 2.0**-19) < Fraction(rows.least_size()) <= real


def test_norms_that_underflow():
    """The squares of such rows are 0, and their sums of sizes too where they are divided by a large number."""
    for size, scale in ((5e-324, 1.0), (1e-200, 1e200), (5e-324, 1e300)):
        (norm,) = scaling.norms(Array(np.array([[size, 0.0]])), scale)
        assert Fraction(float(norm)) >= Fraction(size) / Fraction(scale) > 0


def test_moved_squares():
    rng = np.random.default_rng(1)
    squares, steps = rng.integers(1, 10**6, 2000).astype(np.float64), rng.normal(size=2000)
    result = []
    for square, step in zip(squares, steps.tolist(), strict=True):
        rounded = np.sqrt(square) + step
        real = Fraction(square) + Fraction(step) ** 2 + 2 * Fraction(step) * root(Fraction(square))
        slack = Fraction(float(bounds.moved_square(np.sqrt(square), step)))
        result.append(abs(Fraction(float(rounded * rounded)) - real) / slack)
    check("moved squares", float(max(result)), 0.03)


def test_different_fractions_are_different_floats():
    """Gaps between a·|a|/‖x‖² and b·|b|/‖y‖² against the one that they have at least, at the largest squares."""
    closest = Fraction(0)
    for square in range(1, 40):
        for x, y in combinations(range(1, square + 1), 2):
            b = np.sqrt(square * y)
            for a in (int(np.sqrt(square * x)), int(b)):
                one = Fraction(a * a, x)
                for other in (Fraction(int(b) ** 2, y), Fraction(int(b - 1) ** 2, y)):
                    if one != other:
                        closest = max(closest, max(one, other) / abs(one - other) / (square * x * y))
    limit = 2.0**17
    assert bounds.fractions_differ(limit, limit)
    assert not bounds.fractions_differ(limit, limit + 1)
    assert bounds.fractions_differ(2.0**46, 4.0)
    assert not bounds.fractions_differ(2.0**47, 4.0)  # a is no float32
    check("difference of fractions", float(closest), 0.5)


# The γ of any sum ----------------------------------------------------------------------------------------------------


def test_gamma_is_rounded_no_lower_than_it_may_be():
    for dtype, u in ((np.float32, Fraction(1, 2**24)), (np.float64, Fraction(1, 2**53))):
        assert Fraction(bounds.unit_roundoff(dtype)) == u
        for n in (1, 7, 128, 10_000):
            true = n * u / (1 - n * u)
            assert abs(Fraction(bounds.gamma(n, dtype)) - true) <= true * Fraction(1, 2**51)
    with pytest.raises(ValueError, match="too long"):
        bounds.gamma(2**23, np.float32)


# Constants of the core -----------------------------------------------------------------------------------------------


def test_constants_of_bounds_in_the_core_stand_in_one_header():
    """A power of two that is no bound scales 64 bits; those of `measures` and `analyses` are of no distances."""
    core = Path(__file__).resolve().parents[3] / "src" / "core"
    result = {}
    for path in sorted([*core.rglob("*.h"), *core.rglob("*.cpp")]):
        powers = set(re.findall(r"\b0x1p-[0-9]+", path.read_text(encoding="utf-8")))
        if powers and path.parent.name not in ("analyses", "measures"):
            result[path.relative_to(core).as_posix()] = powers
    header = result.pop("bounds.h")
    assert result == {"exact/wide.h": {"0x1p-64"}}
    assert len(header) >= 10
