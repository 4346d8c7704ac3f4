"""Brute force in exact fractions: what the package has to agree with. Nothing here imports the package.

In: NumPy arrays of real numbers and labels, tie groups as plain tuples, rankings as tuples of 0 and 1 (or of grades)
in order of rank. Out: ``fractions.Fraction`` and Python integers. Every element is turned into the rational number it
stands for, and no floating-point operation decides anything. It is slow, and meant for a few dozen items.

    exact_key, profile, profile_scores      which items are closer, which are tied
    round_to                                a real number a + b*sqrt(q), correctly rounded to a small float type
    arrangement_values, bounding_rankings   every way to break the ties
    average_precision ... auc               measures of one ranking, by their definitions
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Group = tuple[int, int, int, int]  # closer, closer_relevant, tied, tied_relevant
Row = list[Fraction]


# ---------------------------------------------------------------------------------------------------------------------
# numbers


class Surd(NamedTuple):
    """The real number ``a + b * sqrt(square)`` with ``b`` in -1, 0, 1 and ``square >= 0``."""

    a: Fraction
    b: int
    square: Fraction


def _sign(x: Fraction | int) -> int:
    return (x > 0) - (x < 0)


def _signed_square(b: int, square: Fraction) -> Fraction:
    """Orders ``b * sqrt(square)``, because ``x -> x * |x|`` increases."""
    return b * square


def sign_of_one_root(r: Fraction, b: int, square: Fraction) -> int:
    """Return the sign of ``r + b * sqrt(square)``."""
    return _sign(_sign(r) * r * r + _signed_square(b, square))


def sign_of_two_roots(r: Fraction, b1: int, square1: Fraction, b2: int, square2: Fraction) -> int:
    """Return the sign of ``r + b1 * sqrt(square1) + b2 * sqrt(square2)``, by squaring twice."""
    roots = _sign(_signed_square(b1, square1) + _signed_square(b2, square2))  # x + y has the sign of x|x| + y|y|
    if roots == 0 or _sign(r) == 0 or roots == _sign(r):
        return roots or _sign(r)
    # Opposite signs: compare r^2 with (x + y)^2 = x^2 + y^2 + 2 x y, where 2 x y is one root again.
    rest = r * r - b1 * b1 * square1 - b2 * b2 * square2
    return _sign(r) * sign_of_one_root(rest, -b1 * b2, 4 * square1 * square2)


# (bits of the exponent, bits of the stored significand)
FORMATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}


def pattern_value(pattern: int, dtype_name: str) -> Fraction:
    """Return the value of a non-negative bit pattern; infinity counts as the power of two that would come next."""
    exponent_bits, stored = FORMATS[dtype_name]
    exponent, significand = divmod(pattern, 1 << stored)
    exponent, hidden = (exponent, 1 << stored) if exponent else (1, 0)  # 0 is that of subnormal numbers
    bias = (1 << (exponent_bits - 1)) - 1
    return (significand + hidden) * Fraction(2) ** (exponent - bias - stored)


def round_to(value: Surd, dtype_name: str) -> int:
    """Round a real number to the nearest value of a float type, ties to even; overflow goes to infinity.

    Returns the bit pattern of the magnitude, negated for a negative number: an integer that orders as the rounded
    values do, in which -0 is 0. The candidates are found by bisection over the patterns, with exact comparisons.
    """
    sign = sign_of_one_root(*value)
    if sign == 0:
        return 0
    a, b, square = value.a * sign, value.b * sign, value.square

    def at_least(x: Fraction) -> int:
        return sign_of_one_root(a - x, b, square)  # of |value| - x

    exponent_bits, stored = FORMATS[dtype_name]
    infinity = ((1 << exponent_bits) - 1) << stored
    if at_least(pattern_value(infinity, dtype_name)) >= 0:
        return sign * infinity
    low, high = 0, infinity  # value(low) <= |value| < value(high)
    while high - low > 1:
        middle = (low + high) // 2
        if at_least(pattern_value(middle, dtype_name)) >= 0:
            low = middle
        else:
            high = middle
    side = at_least((pattern_value(low, dtype_name) + pattern_value(high, dtype_name)) / 2)
    if side == 0:
        return sign * (low if low % 2 == 0 else high)
    return sign * (high if side > 0 else low)


def pattern_to_float(pattern: int, dtype_name: str) -> float:
    """Return the number that `round_to` stands for (exact: every type here fits in float64)."""
    exponent_bits, stored = FORMATS[dtype_name]
    if abs(pattern) == ((1 << exponent_bits) - 1) << stored:
        return math.copysign(math.inf, pattern)
    return math.copysign(float(pattern_value(abs(pattern), dtype_name)), pattern)


def fractions_of(array: Any) -> list[Row]:
    """Turn a (n, dim) array of any real dtype into rows of exact fractions."""
    array = np.asarray(array)
    plain = float if array.dtype.kind == "f" else int
    return [[Fraction(plain(x)) for x in row] for row in array]


# ---------------------------------------------------------------------------------------------------------------------
# distances


def _dot(q: Row, x: Row) -> Fraction:
    return sum((a * b for a, b in zip(q, x, strict=True)), Fraction(0))


BITS = ("hamming", "jaccard", "dice")


def _rows_of(array: Any, distance: str) -> list[Row]:
    array = np.asarray(array)
    if distance in BITS:  # one entry a bit
        if array.dtype == np.uint8:
            array = np.unpackbits(array, axis=1)
        elif array.dtype != np.bool_:
            raise TypeError(f"{distance} is for bool or packed uint8, not {array.dtype}")
    return fractions_of(array)


def _distance(q: Row, x: Row, distance: str) -> Surd:
    """The distance as a real number: 1 - cosine, Euclidean, -inner product, city block, count of differing bits."""
    zero = Fraction(0)
    if distance == "cosine":
        dot, squares = _dot(q, x), _dot(q, q) * _dot(x, x)
        return Surd(Fraction(1), -_sign(dot), dot * dot / squares) if squares else Surd(Fraction(1), 0, zero)
    if distance == "euclidean":
        square = sum(((a - b) ** 2 for a, b in zip(q, x, strict=True)), zero)
        return Surd(zero, 1, square)
    if distance == "inner_product":
        return Surd(-_dot(q, x), 0, zero)
    if distance in ("cityblock", "hamming"):
        return Surd(sum((abs(a - b) for a, b in zip(q, x, strict=True)), zero), 0, zero)
    if distance in ("jaccard", "dice"):
        common, every = _dot(q, x), sum(q) + sum(x)
        similarity = {"jaccard": (common, every - common), "dice": (2 * common, every)}[distance]
        return Surd(1 - Fraction(*similarity) if every else zero, 0, zero)
    raise ValueError(f"no such distance: {distance}")


SIMILARITIES = ("cosine", "inner_product", "jaccard", "dice")  # that are rounded by default


def exact_key(q: Any, x: Any, distance: str = "cosine") -> Fraction:
    """Return a fraction that orders the items ``x`` (dim,) around one query ``q`` (dim,): larger is closer.

    It is the signed square of the cosine, minus the squared Euclidean distance, the inner product, or minus the city
    block, Hamming, Jaccard or Dice distance. Equal keys are equal distances, as real numbers.
    """
    (q_row,), (x_row,) = _rows_of(np.asarray(q)[None], distance), _rows_of(np.asarray(x)[None], distance)
    return _key(_distance(q_row, x_row, distance))


def _key(d: Surd) -> Fraction:
    # For one kind of distance either the rational part or the root is the same for all, so one of the two orders them.
    return -(d.a + _signed_square(d.b, d.square))


def _rounded_key(d: Surd, distance: str, dtype_name: str, rounded: str | None) -> int:
    if (rounded or ("similarity" if distance in SIMILARITIES else "distance")) == "distance":
        return -round_to(d, dtype_name)
    if distance == "cosine":
        return round_to(Surd(Fraction(0), -d.b, d.square), dtype_name)
    if distance == "inner_product":
        return round_to(Surd(-d.a, 0, Fraction(0)), dtype_name)
    if distance in SIMILARITIES:
        return round_to(Surd(1 - d.a, 0, Fraction(0)), dtype_name)
    raise ValueError(f"{distance} has no similarity")


# ---------------------------------------------------------------------------------------------------------------------
# profiles


def profile(
    query: Any,
    query_labels: Any,
    gallery: Any = None,
    gallery_labels: Any = None,
    *,
    distance: str = "cosine",
    junk: Any = None,
    ties: Any = "exact",
) -> list[dict[str, Any]]:
    """Return per query ``{"groups": [(closer, closer_relevant, tied, tied_relevant), ...], "n_ranked", "n_relevant"}``.

    Groups are nearest first, one for each distinct distance with a relevant item. ``ties`` is ``"exact"``,
    ``("rounded", dtype_name, of)`` with ``of`` "similarity", "distance" or None for the distance's own default, or
    ``("tolerance", eps)`` with a Fraction, int or float.
    Without a gallery it is leave one out. Junk, (n_gallery,) or (n_query, n_gallery), is neither ranked nor relevant.
    """
    leave_one_out = gallery is None
    if leave_one_out:
        gallery, gallery_labels = query, query_labels
    query_labels, gallery_labels = np.asarray(query_labels).tolist(), np.asarray(gallery_labels).tolist()
    query_rows, gallery_rows = _rows_of(query, distance), _rows_of(gallery, distance)
    junk = np.zeros(len(gallery_rows), dtype=bool) if junk is None else np.asarray(junk)
    junk = np.broadcast_to(junk, (len(query_rows), len(gallery_rows)))

    profiles = []
    for i, q in enumerate(query_rows):
        ranked = [j for j in range(len(gallery_rows)) if not junk[i, j] and not (leave_one_out and i == j)]
        distances = [_distance(q, gallery_rows[j], distance) for j in ranked]
        relevant = [gallery_labels[j] == query_labels[i] for j in ranked]
        if ties == "exact":
            groups = _groups([_key(d) for d in distances], relevant)
        elif ties[0] == "rounded":
            rounded = {d: _rounded_key(d, distance, ties[1], ties[2]) for d in set(distances)}
            groups = _groups([rounded[d] for d in distances], relevant)
        elif ties[0] == "tolerance":
            groups = _tolerance_groups(distances, relevant, Fraction(ties[1]))
        else:
            raise ValueError(f"no such ties: {ties}")
        profiles.append({"groups": groups, "n_ranked": len(ranked), "n_relevant": sum(relevant)})
    return profiles


def _groups(keys: Sequence[Any], relevant: Sequence[bool]) -> list[Group]:
    counted = list(zip(keys, relevant, strict=True))
    levels = sorted({key for key, r in counted if r}, reverse=True)
    closer = [[r for key, r in counted if key > level] for level in levels]
    tied = [[r for key, r in counted if key == level] for level in levels]
    return [(len(c), sum(c), len(t), sum(t)) for c, t in zip(closer, tied, strict=True)]


def _tolerance_groups(distances: list[Surd], relevant: Sequence[bool], eps: Fraction) -> list[Group]:
    def sign_of_difference(d: Surd, t: Surd, shift: Fraction) -> int:  # of d - t + shift
        return sign_of_two_roots(d.a - t.a + shift, d.b, d.square, -t.b, t.square)

    levels = {_key(d): d for d, r in zip(distances, relevant, strict=True) if r}
    irrelevant = [d for d, r in zip(distances, relevant, strict=True) if not r]
    groups = []
    n = 0
    for key in sorted(levels, reverse=True):
        t = levels[key]
        m = sum(r and _key(d) == key for d, r in zip(distances, relevant, strict=True))
        before = sum(sign_of_difference(d, t, eps) < 0 for d in irrelevant)
        upto = sum(sign_of_difference(d, t, -eps) <= 0 for d in irrelevant)
        groups.append((n + before, n, m + upto - before, m))
        n += m
    return groups


def profile_scores(scores: Any, relevance: Any, *, order: str = "descending", junk: Any = None) -> list[dict[str, Any]]:
    """Profile of a (n_query, n_gallery) matrix of scores, compared as given; ``relevance`` is bool or grades >= 0.

    As `profile`, and each query also has ``"graded"``: for each group ``(closer, tied, {grade: count})``, grades > 0.
    """
    scores, relevance = np.asarray(scores), np.asarray(relevance).astype(np.int64)
    junk = np.broadcast_to(np.zeros(scores.shape[1], dtype=bool) if junk is None else np.asarray(junk), scores.shape)
    sign = {"descending": 1, "ascending": -1}[order]
    profiles = []
    for row, row_grades, row_junk in zip(fractions_of(scores), relevance.tolist(), junk.tolist(), strict=True):
        items = [(sign * s, g) for s, g, j in zip(row, row_grades, row_junk, strict=True) if not j]
        groups = _groups([s for s, _ in items], [g > 0 for _, g in items])
        graded = []
        for (closer, _, tied, _), level in zip(groups, sorted({s for s, g in items if g}, reverse=True), strict=True):
            here = [g for s, g in items if s == level and g]
            graded.append((closer, tied, {g: here.count(g) for g in sorted(set(here))}))
        profiles.append(
            {"groups": groups, "graded": graded, "n_ranked": len(items), "n_relevant": sum(g > 0 for _, g in items)}
        )
    return profiles


# ---------------------------------------------------------------------------------------------------------------------
# arrangements


def _multiset_orders(counts: dict[int, int], length: int) -> Iterator[tuple[int, ...]]:
    """Every distinct order of the items of one group; ``counts`` covers all ``length`` of them."""
    if length == 0:
        yield ()
        return
    for grade, count in counts.items():
        if count:
            for rest in _multiset_orders(counts | {grade: count - 1}, length - 1):
                yield (grade, *rest)


def rankings_graded(graded: Sequence[tuple[int, int, dict[int, int]]], n_ranked: int) -> Iterator[tuple[int, ...]]:
    """Every ranking that the groups ``(closer, tied, {grade: count})`` allow, as grades in order of rank."""
    orders = [list(_multiset_orders({0: tied - sum(counts.values())} | counts, tied)) for _, tied, counts in graded]
    if math.prod(len(o) for o in orders) > 500_000:
        raise ValueError("too many arrangements to enumerate")
    for choice in itertools.product(*orders):
        ranking = [0] * n_ranked
        for (closer, tied, _), order in zip(graded, choice, strict=True):
            ranking[closer : closer + tied] = order
        yield tuple(ranking)


def arrangement_values_graded(
    graded: Sequence[tuple[int, int, dict[int, int]]], n_ranked: int, f: Callable[[tuple[int, ...]], Any]
) -> tuple[Any, Any, Any, Any]:
    """Return (min, exact mean, max, exact variance) of ``f`` over every arrangement, all equally likely."""
    values = [f(ranking) for ranking in rankings_graded(graded, n_ranked)]
    if any(value != value for value in values):
        return math.nan, math.nan, math.nan, math.nan
    times = Counter(map(Fraction, values))
    mean = sum((n * x for x, n in times.items()), Fraction(0)) / len(values)
    variance = sum((n * (x - mean) ** 2 for x, n in times.items()), Fraction(0)) / len(values)
    return min(values), mean, max(values), variance


def arrangement_values(
    groups: Sequence[Group], n_ranked: int, n_relevant: int, f: Callable[[tuple[int, ...]], Any]
) -> tuple[Any, Any, Any, Any]:
    """Return (min, exact mean, max, exact variance) of ``f`` over every arrangement of every tie group.

    ``f`` takes the whole ranking as 0 and 1 in order of rank and returns a Fraction or a float. All four are NaN where
    ``f`` is NaN. Not for the overlapping groups of a tolerance: see `bounding_rankings`.
    """
    seen_relevant, end = 0, 0
    for closer, closer_relevant, tied, tied_relevant in groups:
        if closer_relevant != seen_relevant or closer < end or not 1 <= tied_relevant <= tied:
            raise ValueError(f"not the groups of one ranking: {groups}")
        seen_relevant, end = seen_relevant + tied_relevant, closer + tied
    if seen_relevant != n_relevant or end > n_ranked:
        raise ValueError(f"groups {groups} do not hold {n_relevant} relevant of {n_ranked}")
    graded = [(closer, tied, {1: m}) for closer, _, tied, m in groups]
    return arrangement_values_graded(graded, n_ranked, f)


def bounding_rankings(groups: Sequence[Group], n_ranked: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ranking with the relevant last in each group, and with them first; right for a tolerance as well."""
    worst, best = [0] * n_ranked, [0] * n_ranked
    for closer, _, tied, m in groups:
        for a in range(m):
            best[closer + a] = 1
            worst[closer + tied - m + a] = 1
    return tuple(worst), tuple(best)


# ---------------------------------------------------------------------------------------------------------------------
# measures of one ranking (0 and 1 in order of rank, all ranked items; at least one relevant)


def average_precision(ranking: Sequence[int], k: int | None = None) -> Fraction:
    """AP, or AP@k: the precisions at the relevant ranks (up to k), summed, over the number of relevant items."""
    ranks = [rank for rank, r in enumerate(ranking, 1) if r]
    precisions = [Fraction(hits, rank) for hits, rank in enumerate(ranks, 1) if k is None or rank <= k]
    return sum(precisions, Fraction(0)) / len(ranks)


def hit_at(ranking: Sequence[int], k: int | None) -> Fraction:
    """1 when a relevant item is among the first k."""
    return Fraction(int(any(ranking[:k])))


def reciprocal_rank(ranking: Sequence[int]) -> Fraction:
    """One over the rank of the first relevant item."""
    return Fraction(1, 1 + list(map(bool, ranking)).index(True))


def inp(ranking: Sequence[int]) -> Fraction:
    """Inverse negative penalty of Ye et al. 2021: R over the rank of the last relevant item."""
    return Fraction(sum(ranking), max(rank for rank, r in enumerate(ranking, 1) if r))


def auc(ranking: Sequence[int]) -> Fraction | float:
    """The share of (relevant, irrelevant) pairs in the right order; NaN when nothing is irrelevant."""
    n_relevant = sum(ranking)
    pairs = n_relevant * (len(ranking) - n_relevant)
    wins = sum(a > b for a, b in itertools.combinations(ranking, 2))
    return Fraction(wins, pairs) if pairs else math.nan
