"""Small worlds of rows, whole: all triples of rows of one float8 number, two 4-bit numbers or eight bits.

A triple is a query and two items; an order of all items for each query decides all of its triples. It is computed in
two ways: by `Rankings`, which sorts, and by a task in which each item is the one relevant item of a query, so that
`closer` and `tied` are counted by the steps. Both are compared with keys in integers and fractions that share no code
with the package, for every distance and every rule for ties.

`check_pairs` does the same for all pairs of rows of two float8 numbers. Flipping the sign of one number in all rows, or
swapping both numbers in all rows, maps these rows onto themselves and changes no distance, so the order of a mapped
query is the mapped order of the query: those with 0 <= first <= second stand for all. The smaller worlds check, whole,
that the code treats the others in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from oracles import Surd, pattern_to_float, round_to, sign_of_two_roots

from deadheat import Rounded, Task, Tolerance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import Rankings
from deadheat.errors import QueryInGalleryWarning

Array = np.ndarray[Any, Any]
ROOTS = ("cosine", "correlation", "euclidean")  # whose values are roots of fractions; those of the others are fractions
DISTANCES = (
    "euclidean",
    "cityblock",
    "hamming",
)  # others are similarities, and their distance 1 minus that, or minus it
SHORT = ("float16", "bfloat16", "float32")
BITS = ("hamming", "jaccard", "dice")
NUMBERS = ("cosine", "euclidean", "inner_product", "cityblock")


def float8(kind: str) -> Array:
    """All finite values of an 8-bit type, -0 too, in its own order."""
    ml_dtypes = __import__("ml_dtypes")
    bits = 4 if kind.startswith("float4") else 8
    values = np.arange(2**bits, dtype=np.uint8).view(getattr(ml_dtypes, kind))
    return values[np.isfinite(values.astype(np.float64))]


class World(NamedTuple):
    rows: Array  # as they are given
    exact: list[list[Any]]  # fractions or integers
    distances: tuple[str, ...]


@cache
def world(name: str) -> World:
    """Rows of a world: the name of an 8-bit type for one number each, "float4" for two, "bits" for eight bits."""
    if name == "bits":
        rows = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.bool_)
        return World(rows, [list(map(int, row)) for row in rows], BITS)
    values = float8("float4_e2m1fn" if name == "float4" else name)
    dim = 2 if name == "float4" else 1
    rows = values[np.array(list(product(range(len(values)), repeat=dim)))]
    distances = (*NUMBERS, "correlation") if dim > 1 else NUMBERS
    return World(rows, [[Fraction(float(x)) for x in row] for row in rows.astype(np.float64)], distances)


def value_of(q: list[Any], x: list[Any], distance: str) -> Fraction:
    """The distance or similarity of two rows; of a root its square, with its sign."""
    if distance == "correlation":
        q, x = ([each - Fraction(sum(row), len(row)) for each in row] for row in (q, x))
    dot: Any = sum(a * b for a, b in zip(q, x, strict=True))  # of bits, an integer
    if distance in ("cosine", "correlation"):
        squares = sum(a * a for a in q) * sum(b * b for b in x)
        return Fraction(dot * abs(dot), squares) if squares else Fraction(0)
    if distance == "inner_product":
        return dot
    if distance in ("jaccard", "dice"):
        total = sum(q) + sum(x)
        share = (dot, total - dot) if distance == "jaccard" else (2 * dot, total)
        return Fraction(*share) if total else Fraction(1)
    power = 2 if distance == "euclidean" else 1
    return Fraction(sum(abs(a - b) ** power for a, b in zip(q, x, strict=True)))


class Values(NamedTuple):
    of_pair: Array  # (n, n) places in `distinct`
    distinct: list[Fraction]


@cache
def values(name: str, distance: str) -> Values:
    exact, known = world(name).exact, {}
    places = [[known.setdefault(value_of(q, x, distance), len(known)) for x in exact] for q in exact]
    return Values(np.array(places), list(known))


def distance_of(value: Fraction, distance: str) -> Surd:
    """The distance, from what `value_of` returns."""
    shift = Fraction(0 if distance in (*DISTANCES, "inner_product") else 1)
    sign = 1 if distance in DISTANCES else -1
    if distance in ROOTS:
        return Surd(shift, sign * ((value > 0) - (value < 0)), abs(value))
    return Surd(shift + sign * value, 0, Fraction(0))


def keys(name: str, distance: str, ties: Any) -> Array:
    """Integers (n, n) that are larger for closer items, and equal for tied ones."""
    known, sign = values(name, distance), -1 if distance in DISTANCES else 1
    if ties == "exact":
        number = {value: i for i, value in enumerate(sorted(known.distinct))}
        return sign * np.array([number[value] for value in known.distinct])[known.of_pair]
    whole = [distance_of(value, distance) for value in known.distinct]
    if (ties.of or ("distance" if distance in DISTANCES else "similarity")) == "distance":
        return -np.array([round_to(each, ties.dtype) for each in whole])[known.of_pair]
    shift = 0 if distance == "inner_product" else 1
    similar = [Surd(shift - each.a, -each.b, each.square) for each in whole]
    return np.array([round_to(each, ties.dtype) for each in similar])[known.of_pair]


def counts_within(name: str, distance: str, eps: float) -> tuple[Array, Array]:
    """Numbers of items (n, n) that are closer than each by more than eps, and by at least -eps."""
    known = values(name, distance)
    whole = [distance_of(value, distance) for value in known.distinct]
    rounded = np.array([float(each.a) + each.b * float(each.square) ** 0.5 for each in whole])
    slack, exact = 1e-14 * (np.abs(rounded).max() + eps), Fraction(eps)

    @cache
    def sign(a: int, b: int, shift: Fraction) -> int:  # of the distance a - b + shift
        x, y = whole[a], whole[b]
        return sign_of_two_roots(x.a - y.a + shift, x.b, x.square, -y.b, y.square)

    counts = np.zeros((2, *known.of_pair.shape), dtype=np.int64)
    for row, of_row in enumerate(known.of_pair):
        for end, shift in enumerate((exact, -exact)):
            least = rounded[of_row][:, None] - rounded[of_row] + float(shift)  # (items, each)
            signs = np.sign(least)
            for a, b in np.argwhere(np.abs(least) <= slack):
                signs[a, b] = sign(int(of_row[a]), int(of_row[b]), shift)
            counts[end, row] = (signs < 0 if end == 0 else signs <= 0).sum(axis=0)
    return counts[0], counts[1]


def dense(of_row: Array) -> Array:
    """The number of each entry's tie group in rows of keys, from 0 for the largest."""
    order = np.argsort(-of_row, axis=1, kind="stable")
    ranked = np.take_along_axis(of_row, order, axis=1)
    numbers = np.zeros(of_row.shape, dtype=np.int64)
    np.put_along_axis(numbers[:, :], order[:, 1:], np.cumsum(ranked[:, 1:] != ranked[:, :-1], axis=1), axis=1)
    return numbers


def groups_of(queries: Array, rows: Array, distance: str, ties: Any) -> Array:
    """The number of each item's tie group for each query, as `Rankings` has it."""
    options = CountingOptions.checked(distance=distance, ties=ties, threads=1)
    numbers = np.full((len(queries), len(rows)), -1)
    for block in Rankings(queries, rows, options):
        np.put_along_axis(numbers[block.queries[0] : block.queries[-1] + 1], block.items, block.group, axis=1)
    return numbers


def meanings(name: str, distance: str) -> list[Any]:
    """Every rule for ties that a distance takes."""
    targets = ["distance"] if distance in DISTANCES else ["similarity"] if distance == "inner_product" else None
    short = [Rounded(*each) for each in product(SHORT, targets or ["similarity", "distance"])]
    return ["exact", *short, *(Tolerance(eps) for eps in ((0.1,) if name.startswith("float8") else (0.1, 0.5)))]


def cases(names: tuple[str, ...]) -> Iterator[tuple[str, str, Any]]:
    for name in names:
        for distance in world(name).distances:
            for ties in meanings(name, distance):
                yield name, distance, ties


def check(name: str, distance: str, ties: Any) -> int:
    """Compare order and ties of all triples of a world; return their number."""
    rows = world(name).rows
    n = len(rows)
    query, item = np.divmod(np.arange(n * n), n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryInGalleryWarning)
        task = Task(
            rows[query], item, gallery=rows, gallery_labels=np.arange(n), distance=distance, ties=ties, threads=1
        )
        counted = np.stack([task.profile.closer, task.profile.tied]).reshape(2, n, n)
    if isinstance(ties, Tolerance):
        before, upto = counts_within(name, distance, ties.eps)
    else:
        key = keys(name, distance, ties)
        before, upto = (
            np.array([np.searchsorted(np.sort(-row), -row, end) for row in key]) for end in ("left", "right")
        )
        require_equal(groups_of(rows, rows, distance, ties), dense(key), f"groups of {name}, {distance}, {ties}")
    require_equal(counted[0], before, f"closer of {name}, {distance}, {ties}")
    require_equal(counted[1], upto - before, f"tied of {name}, {distance}, {ties}")
    return n**3


def require_equal(got: Array, expected: Array, what: str) -> None:
    wrong = np.argwhere(got != expected)
    if len(wrong):
        at = tuple(wrong[0])
        raise AssertionError(f"{what}: {len(wrong)} differ; for query and item {at} {got[at]}, not {expected[at]}")


# ---------------------------------------------------------------------------------------------------------------------
# two float8 numbers a row

UNIT = 2.0**-9  # the smallest of float8_e4m3fn: all are integers of at most 18 bits in it
AT_ONCE = 64  # queries


@cache
def pair_rows() -> tuple[Array, Array]:
    """All rows of two finite numbers of float8_e4m3fn, -0 left out, and the queries that stand for all; in units."""
    line = np.unique(float8("float8_e4m3fn").astype(np.float64)) / UNIT
    rows = np.array(list(product(line.astype(np.int64), repeat=2)))
    return rows, rows[(rows[:, 0] >= 0) & (rows[:, 0] <= rows[:, 1])]


def n_chunk() -> int:
    return -(-len(pair_rows()[1]) // AT_ONCE)


def short(values: Array, dtype: str) -> Array:
    """Round float64 to a type; half-way cases of float64 that were rounded before are excluded by the callers."""
    if dtype == "bfloat16":  # none here is subnormal or overflows
        mantissa, exponent = np.frexp(values)
        return np.ldexp(np.rint(mantissa * 256), exponent - 8)
    with np.errstate(over="ignore"):
        return values.astype(dtype).astype(np.float64)


def pair_keys(q: Array, rows: Array, distance: str, ties: str) -> Array:
    """Numbers that are larger for closer items of one query and equal for tied ones, exact."""
    if distance == "cosine":
        return cosine_keys(q, ties)[directions()[1]]
    if distance == "inner_product":
        key, unit = rows @ q, UNIT**2
    elif distance == "cityblock":
        key, unit = -np.abs(rows - q).sum(axis=1), UNIT
    else:
        key, unit = -((rows - q) ** 2).sum(axis=1), UNIT
    if ties == "exact":
        return key
    if distance == "euclidean":
        # 53 >= 2·24 + 2 bits: a correctly rounded root of an integer that is rounded again is the root rounded once
        return -short(np.sqrt(-key.astype(np.float64)) * unit, ties)
    return short(key.astype(np.float64) * unit, ties)  # below 2^53: nothing was rounded before


@cache
def directions() -> tuple[Array, Array]:
    """The distinct directions of all rows, as coprime integers, and the one of each row."""
    rows = pair_rows()[0]
    common = np.maximum(np.gcd(rows[:, 0], rows[:, 1]), 1)
    distinct, of_row = np.unique(rows // common[:, None], axis=0, return_inverse=True)
    return distinct, of_row.reshape(-1)


def cosine_keys(q: Array, ties: str) -> Array:
    """Keys of all directions: of float64 where its error decides, else of fractions."""
    x = directions()[0]
    q = q // max(1, int(np.gcd(*q)))
    dot, squares, of_query = x @ q, (x**2).sum(axis=1), int(q @ q)

    def exact(i: int) -> Fraction:
        below = int(squares[i]) * of_query
        return Fraction(int(dot[i]) * abs(int(dot[i])), below) if below else Fraction(0)

    near = np.divide(
        dot, np.sqrt(squares * float(of_query)), out=np.zeros(len(x)), where=(squares > 0) & (of_query > 0)
    )
    if ties != "exact":
        low, high = short(near * (1 - 2.0**-50), ties), short(near * (1 + 2.0**-50), ties)
        for i in np.flatnonzero(low != high):
            value = exact(int(i))
            root = Surd(Fraction(0), (value > 0) - (value < 0), abs(value))
            low[i] = pattern_to_float(round_to(root, ties), ties)
        return low
    order = np.argsort(near, kind="stable")
    close = np.diff(near[order]) <= 2.0**-50
    number, key = np.zeros(len(x), dtype=np.int64), np.concatenate([[0], np.cumsum(~close)])
    number[order] = key * len(x)
    starts = np.flatnonzero(np.concatenate([[True], ~close]))
    for start, end in zip(starts, [*starts[1:], len(x)], strict=True):
        if end - start > 1:
            cluster = [(exact(int(i)), i) for i in order[start:end]]
            ranks = {value: rank for rank, value in enumerate(sorted({value for value, _ in cluster}))}
            for value, i in cluster:
                number[i] += ranks[value]
    return number


def check_pairs(distance: str, ties: str, chunk: int) -> int:
    """Compare order and ties of all rows of two numbers for some of the queries; return the number of pairs."""
    rows, queries = pair_rows()
    some = queries[AT_ONCE * chunk : AT_ONCE * (chunk + 1)]
    given = (rows * UNIT).astype(np.float32)
    for start in range(0, len(some), 16):
        part = some[start : start + 16]
        key = np.stack([pair_keys(q, rows, distance, ties) for q in part])
        got = groups_of((part * UNIT).astype(np.float32), given, distance, ties)
        require_equal(got, dense(key), f"groups of pairs from query {AT_ONCE * chunk + start}, {distance}, {ties}")
    return len(some) * len(rows)
