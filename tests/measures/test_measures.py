"""The measures against every arrangement of every tie group, in exact fractions."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from deadheat import measures
from deadheat.measures import DEFAULT_MEASURES, parse, per_query, ranges, std
from deadheat.measures.discounts import discount_table
from deadheat.measures.order_statistics import moments
from deadheat.profiles import TieProfile

NAMES = [
    *("mAP", "mAP@1", "mAP@3", "MAP@R", "R-Precision", "P@1", "P@3", "P@20", "Recall@1", "Recall@4"),
    *("Hit@1", "Hit@3", "Hit@20", "MRR", "MRR@2", "F1@1", "F1@3", "F1@20", "AUC", "mINP"),
]
GAIN_NAMES = ["nDCG", "nDCG@1", "nDCG@3", "nDCG@20", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@3"]

Graded = list[tuple[int, int, dict[int, int]]]  # closer, tied, {grade: count}, as in oracles


# ---------------------------------------------------------------------------------------------------------------------
# random queries, and the measures of one ranking where relevant items may be missing


def random_query(rng: random.Random, grades: Sequence[int], most: int = 8) -> tuple[Graded, int, list[int]]:
    """Groups, the number of ranked items, and the grades of the relevant items that were not retrieved."""
    groups: Graded = []
    closer = 0
    while True:
        closer += rng.choice((0, 0, 0, 1, 2))
        tied = rng.choice((1, 1, 2, 2, 3, 4, 5))
        if closer + tied > most:
            break
        counts: dict[int, int] = {}
        for _ in range(rng.randint(1, tied)):
            grade = rng.choice(grades)
            counts[grade] = counts.get(grade, 0) + 1
        groups.append((closer, tied, counts))
        closer += tied
    end = groups[-1][0] + groups[-1][1] if groups else 0
    missing = [rng.choice(grades) for _ in range(rng.choice((0, 0, 0, 1, 3)))]
    return groups, end + rng.randint(0, 3), missing


def profile_of(queries: list[tuple[Graded, int, list[int]]], grades: Sequence[int]) -> TieProfile:
    """The profile of some queries; with grades where there is another than 1."""
    flat: list[list[tuple[int, int, int, int]]] = []
    for groups, _, _ in queries:
        seen = 0
        flat.append([])
        for closer, tied, counts in groups:
            flat[-1].append((closer, seen, tied, sum(counts.values())))
            seen += sum(counts.values())
    n_relevant = [sum(g[3] for g in gs) + len(q[2]) for gs, q in zip(flat, queries, strict=True)]
    profile = TieProfile.from_groups(flat, [q[1] for q in queries], n_relevant)
    if list(grades) == [1]:
        return profile
    by_grade = [[counts.get(g, 0) for g in grades] for groups, _, _ in queries for _, _, counts in groups]
    relevant = [[sum(c.get(g, 0) for _, _, c in q[0]) + q[2].count(g) for g in grades] for q in queries]
    return replace(
        profile,
        grades=np.array(grades),
        tied_by_grade=np.array(by_grade).reshape(-1, len(grades)),
        relevant_by_grade=np.array(relevant).reshape(-1, len(grades)),
    )


@cache
def log2(i: int) -> Fraction:
    """To fifty digits."""
    with localcontext() as context:
        context.prec = 50
        return Fraction(Decimal(i).ln() / Decimal(2).ln())


def ndcg(ranking: Sequence[int], missing: Sequence[int], k: int | None, gain: str | None) -> Fraction:
    def dcg(grades: Sequence[int]) -> Fraction:
        gains = [g if gain == "dcg='log2'" else 2**g - 1 for g in grades]
        return sum((g / log2(rank + 1) for rank, g in enumerate(gains[:k], 1) if g), Fraction(0))

    return dcg(ranking) / dcg(sorted([*ranking, *missing], reverse=True))


def value(name: str, grades: Sequence[int], missing: Sequence[int]) -> Any:
    """A measure of one ranking, where R counts the relevant items that are missing from it too."""
    measure = parse(name)
    k = measure.cutoff
    if measure.family == "nDCG":
        return ndcg(grades, missing, k, measure.choice)
    ranking = [int(g > 0) for g in grades]
    found = sum(ranking)
    r = found + len(missing)
    if found == 0:
        return math.nan if measure.family == "AUC" and not ranking else Fraction(0)
    if measure.family in ("mAP", "MAP@R"):
        return oracles.average_precision(ranking, r if measure.family == "MAP@R" else k) * found / r
    if measure.family == "AUC":
        return oracles.auc(ranking) * found / r
    if measure.family == "mINP":
        return Fraction(0) if missing else oracles.inp(ranking)
    if measure.family == "MRR":
        return oracles.reciprocal_rank(ranking) * int(k is None or any(ranking[:k]))
    if measure.family == "Hit":
        return oracles.hit_at(ranking, k)
    hits = sum(ranking[: k or r])
    return {
        "P": Fraction(hits, k or r),
        "R-Precision": Fraction(hits, r),
        "Recall": Fraction(hits, r),
        "F1": Fraction(2 * hits, (k or r) + r),
    }[measure.family]


def close(got: float, exact: Any, tolerance: float = 4e-16) -> bool:
    """Equal but for a relative error; both NaN; or exactly 0 where 0 is right."""
    if exact != exact:
        return math.isnan(got)
    return abs(Fraction(float(got)) - exact) <= Fraction(tolerance) * abs(exact)


def root_close(got: float, variance: Any, tolerance: float = 1e-13) -> bool:
    if variance != variance:
        return math.isnan(got)
    return abs(Fraction(float(got)) ** 2 - variance) <= Fraction(tolerance) * variance


def assert_agrees(profile: TieProfile, queries: list[tuple[Graded, int, list[int]]], name: str) -> None:
    lower, expected, upper = per_query(profile, name)
    deviation = std(profile, name)
    for i, (groups, n_ranked, missing) in enumerate(queries):
        if not groups and not missing:
            assert np.isnan([lower[i], expected[i], upper[i], deviation[i]]).all()
            continue
        low, mean, high, variance = oracles.arrangement_values_graded(
            groups, n_ranked, lambda ranking, missing=missing: value(name, ranking, missing)
        )
        where = name, queries[i]
        assert close(lower[i], low), where
        assert close(expected[i], mean), where
        assert close(upper[i], high), where
        assert root_close(deviation[i], variance), where


# ---------------------------------------------------------------------------------------------------------------------
# every arrangement


@pytest.mark.parametrize("name", [*NAMES, "nDCG", "nDCG@3"])
def test_every_arrangement_of_thousands_of_queries(name: str) -> None:
    rng = random.Random(name)
    queries = [random_query(rng, [1]) for _ in range(1000)]
    assert_agrees(profile_of(queries, [1]), queries, name)


@pytest.mark.parametrize("name", [*GAIN_NAMES, "mAP", "Hit@3", "AUC"])
def test_every_arrangement_of_graded_queries(name: str) -> None:
    rng = random.Random(name)
    grades = [1, 2, 5]
    queries = [random_query(rng, grades, most=6) for _ in range(150)]
    assert_agrees(profile_of(queries, grades), queries, name)


@pytest.mark.parametrize("name", ["mAP", "mAP@5", "MAP@R", "MRR", "mINP", "AUC", "Hit@3", "nDCG@6"])
@pytest.mark.parametrize("counts", [{1: 1}, {1: 2}, {1: 3}, {1: 5}, {1: 8}])
def test_every_arrangement_of_one_large_group(name: str, counts: dict[int, int]) -> None:
    queries = [([(1, 1, {1: 1}), (3, 9, counts)], 14, [])]
    assert_agrees(profile_of(queries, [1]), queries, name)


# The oracle's own measures, without the helpers above: nothing is missing.
@pytest.mark.parametrize(
    "name", ["mAP", "mAP@3", "MAP@R", "R-Precision", "P@3", "Recall@3", "Hit@3", "F1@3", "MRR", "mINP"]
)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_arrangement_by_the_oracle(name: str, data: st.DataObject) -> None:
    groups, closer, seen = [], 0, 0
    for gap, tied, share in data.draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=3)
    ):
        m = 1 + share % tied
        groups.append((closer + gap, seen, tied, m))
        closer, seen = closer + gap + tied, seen + m
    n_ranked = closer + data.draw(st.integers(0, 3))
    profile = TieProfile.from_groups([groups], [n_ranked])
    low, mean, high, variance = oracles.arrangement_values(groups, n_ranked, seen, oracles.measure(name))
    lower, expected, upper = per_query(profile, name)
    assert close(lower[0], low)
    assert close(expected[0], mean)
    assert close(upper[0], high)
    assert root_close(std(profile, name)[0], variance)


# ---------------------------------------------------------------------------------------------------------------------
# large groups, far down the ranking: sums in fixed point, 400 bits

ONE = 1 << 400


def fixed_sum(terms: Any) -> Fraction:
    return Fraction(sum(ONE * a // b for a, b in terms), ONE)


def exact_ap(k: int, n: int, size: int, m: int, c: int, r: int) -> tuple[Fraction, Fraction, Fraction]:
    """AP of one group, by the definition: the precision at each rank, times the probability that it counts."""
    worst = k + size - m
    low = fixed_sum((n + a, worst + a) for a in range(1, m + 1) if worst + a <= c)
    high = fixed_sum((n + a, k + a) for a in range(1, m + 1) if k + a <= c)
    mean = fixed_sum(
        (m * ((n + 1) * max(size - 1, 1) + (i - 1) * (m - 1)), size * max(size - 1, 1) * (k + i))
        for i in range(1, size + 1)
        if k + i <= c
    )
    return low / r, mean / r, high / r


SHAPES = [
    (0, 0, 2000, 700), (0, 0, 3000, 1), (0, 0, 65, 64), (1, 1, 64, 3), (5, 2, 66, 65), (63, 0, 65, 2),
    (127, 3, 70, 1), (128, 100, 129, 7), (1000, 10, 5000, 5000), (10**4, 3, 100, 99), (10**5, 99, 4000, 2),
    (10**7, 1, 2, 1), (10**7, 0, 64, 32), (10**7, 0, 65, 33), (10**7, 10**6, 65, 1), (10**7, 0, 1000, 999),
    (10**7, 5, 20000, 3), (9_999_999, 9_999_999, 300, 300), (10**6, 10**6, 129, 5),
]  # fmt: skip


@pytest.mark.parametrize(("k", "n", "size", "m"), SHAPES)
@pytest.mark.parametrize("part", [1.0, 0.6])
def test_average_precision_is_accurate(k: int, n: int, size: int, m: int, part: float) -> None:
    c = k + max(1, int(part * size))
    profile = TieProfile.from_groups([[(k, n, size, m)]], [k + size], [n + m], check=False)
    for got, exact in zip(per_query(profile, f"mAP@{c}"), exact_ap(k, n, size, m, c, n + m), strict=True):
        assert close(got[0], exact, 2e-15)


def moments_by_paths(k: int, n: int, size: int, m: int, c: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of AP's sum over one group, from all its arrangements at once, slot by slot.

    For each number of relevant items so far: how many arrangements there are, and the sums of their value and its
    square, in fixed point.
    """
    unit = 1 << 200
    states = [(1, 0, 0)] + [(0, 0, 0)] * m
    for t in range(1, size + 1):
        new = list(states)  # an irrelevant item at slot t
        for j in range(m):
            count, total, square = states[j]
            x = unit * (n + j + 1) // (k + t) if k + t <= c else 0
            a, b, d = new[j + 1]
            new[j + 1] = (a + count, b + total + count * x, d + square + 2 * x * total + count * x * x)
        states = new
    count, total, square = states[m]
    mean = Fraction(total, count * unit)
    return mean, Fraction(square, count * unit**2) - mean**2


@pytest.mark.parametrize(
    ("k", "n", "size", "m"),
    [(0, 0, 2, 1), (0, 0, 3, 2), (3, 1, 4, 2), (0, 0, 200, 50), (7, 7, 90, 89), (100, 3, 80, 2), (10**5, 50, 60, 20),
     (10**7, 0, 2, 1), (10**7, 10**6, 3, 2), (10**7, 0, 40, 17), (10**7, 2, 5, 4)],
)  # fmt: skip
@pytest.mark.parametrize("part", [1.0, 0.5])
def test_deviation_of_average_precision_is_accurate(k: int, n: int, size: int, m: int, part: float) -> None:
    c = k + int(part * size)
    profile = TieProfile.from_groups([[(k, n, size, m)]], [k + size], [n + m], check=False)
    mean, variance = moments_by_paths(k, n, size, m, c)
    assert close(per_query(profile, f"mAP@{c}").expected[0], mean / (n + m), 2e-15)
    assert root_close(std(profile, f"mAP@{c}")[0], variance / (n + m) ** 2, 1e-11)


@pytest.mark.parametrize(("size", "m"), [(3000, 1), (3000, 2), (3000, 40), (3000, 2900), (500, 250), (2, 1)])
@pytest.mark.parametrize("k", [0, 17, 10**7])
def test_first_and_last_relevant_of_a_large_group(size: int, m: int, k: int) -> None:
    profile = TieProfile.from_groups([[(k, 0, size, m)]], [k + size])
    first = {i: Fraction(math.comb(size - i, m - 1), math.comb(size, m)) for i in range(1, size - m + 2)}
    c = k + max(1, size // 3)
    cases = {
        "MRR": {i: (1, k + i) for i in first},
        f"MRR@{c}": {i: (int(k + i <= c), k + i) for i in first},
        f"Hit@{c}": {i: (int(k + i <= c), 1) for i in first},
        "mINP": {i: (m, k + size + 1 - i) for i in first},
    }
    for name, values in cases.items():
        mean = fixed_sum((p.numerator * values[i][0], p.denominator * values[i][1]) for i, p in first.items())
        about = {i: Fraction(*values[i]) - mean for i in first}
        variance = fixed_sum(
            (p.numerator * about[i].numerator ** 2, p.denominator * about[i].denominator ** 2) for i, p in first.items()
        )
        assert close(per_query(profile, name).expected[0], mean, 2e-15)
        assert root_close(std(profile, name)[0], variance, 1e-10)


def test_small_probabilities_keep_their_digits() -> None:
    profile = TieProfile.from_groups([[(0, 0, 10**6, 1)]], [10**6])
    assert close(per_query(profile, "Hit@10").expected[0], Fraction(1, 10**5))  # 1 - (1 - 1e-5) would not


# ---------------------------------------------------------------------------------------------------------------------
# discounts


def test_discounts_are_correctly_rounded() -> None:
    table = discount_table(17)[0]
    ranks = [*range(1, 1500), *random.Random(0).sample(range(1500, 2**17), 1500)]
    assert all(table[rank] == float(1 / log2(rank + 1)) for rank in ranks)
    assert [table[rank] for rank in (1, 3, 7, 2**16 - 1)] == [1, 1 / 2, 1 / 3, 1 / 16]


def test_discounts_do_not_depend_on_how_many_there_are() -> None:
    for small, large in zip(discount_table(10), discount_table(14), strict=True):
        assert_array_equal(small[:-1], large[: len(small) - 1])


@pytest.mark.parametrize("closer", [0, 1, 63, 64, 1000, 60_000])
@pytest.mark.parametrize("tied", [1, 2, 63, 64, 65, 300])
def test_discounted_gain_of_large_groups(closer: int, tied: int) -> None:
    m = (tied + 1) // 2
    profile = TieProfile.from_groups([[(closer, 0, tied, m)]], [closer + tied])

    def discount(start: int, stop: int) -> list[Fraction]:
        return [1 / Fraction(math.floor(log2(rank + 1) * ONE), ONE) for rank in range(start + 1, stop + 1)]

    def total(values: list[Fraction]) -> Fraction:
        return fixed_sum((x.numerator, x.denominator) for x in values)

    d = discount(closer, closer + tied)
    ideal = total(discount(0, m))
    lower, expected, upper = per_query(profile, "nDCG")
    assert close(lower[0], total(d[tied - m :]) / ideal, 5e-16)
    assert close(expected[0], Fraction(m, tied) * total(d) / ideal, 5e-16)
    assert close(upper[0], total(d[:m]) / ideal, 5e-16)
    if m < tied:
        mean = total(d) / tied
        spread = total([(x - mean) ** 2 for x in d])
        variance = Fraction(m * (tied - m), tied * (tied - 1)) * spread / ideal**2
        assert root_close(std(profile, "nDCG")[0], variance, 1e-12)


# ---------------------------------------------------------------------------------------------------------------------
# known values


def test_all_zero_embeddings() -> None:
    """1000 samples in 10 classes of 100, leave one out, everything tied."""
    profile = TieProfile.from_groups([[(0, 0, 999, 99)]] * 3, [999] * 3)
    lower, expected, upper = per_query(profile, "mAP")
    assert [f"{100 * x[0]:.4f}" for x in (lower, expected, upper)] == ["5.1773", "10.4953", "100.0000"]
    for values in (lower, expected, upper, std(profile, "mAP")):
        assert len(set(values)) == 1


@pytest.mark.parametrize(
    ("ranks", "percent"), [((1, 6), 66.66), ((1, 2), 100), ((1, 5), 70), ((2, 7), 39.28), ((1, 7), 64.28), ((2, 5), 45)]
)
def test_two_relevant_in_a_hundred(ranks: tuple[int, int], percent: float) -> None:
    first, second = ranks
    profile = TieProfile.from_groups([[(first - 1, 0, 1, 1), (second - 1, 1, 1, 1)]], [100])
    assert [math.floor(10000 * x[0]) / 100 for x in per_query(profile, "mAP")] == [percent] * 3


def test_a_perfect_ranking_is_exactly_one() -> None:
    groups = [[(a, a, 1, 1) for a in range(m)] for m in (1, 2, 3, 7, 100, 1000)] + [[(0, 0, 5000, 5000)]]
    profile = TieProfile.from_groups(groups, [10**4] * len(groups))
    for name in ("mAP", "MAP@R", "R-Precision", "MRR", "nDCG", "mINP", "AUC", "Hit@1", "P@1"):
        for values in per_query(profile, name):
            assert_array_equal(values, 1.0)


def test_a_perfect_graded_ranking_is_exactly_one() -> None:
    rng = random.Random(5)
    grades = [1, 3, 4]
    for _ in range(50):
        counts = {g: rng.randint(0, 60) for g in grades}
        ranked = sorted((g for g in grades for _ in range(counts[g])), reverse=True) or [1]
        queries = [([(i, 1, {g: 1}) for i, g in enumerate(ranked)], len(ranked), [])]
        for name in GAIN_NAMES:
            assert [x[0] for x in per_query(profile_of(queries, grades), name)] == [1, 1, 1]


def test_recall_counts_items_and_hit_counts_queries() -> None:
    """Recall@1 of information retrieval and Recall@1 of metric learning differ."""
    profile = TieProfile.from_groups([[(0, 0, 1, 1), (5, 1, 1, 1)]], [10])
    assert per_query(profile, "Recall@1").expected[0] == 0.5
    assert per_query(profile, "Hit@1").expected[0] == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# undefined, missing, windows


@pytest.mark.parametrize("name", [*NAMES, *GAIN_NAMES])
def test_nothing_relevant_is_undefined_and_nothing_found_is_zero(name: str) -> None:
    profile = TieProfile.from_groups([[], []], [5, 5], [0, 2])
    for values in (*per_query(profile, name), std(profile, name)):
        assert_array_equal(values, [np.nan, 0.0])


@pytest.mark.parametrize("name", [*NAMES, *GAIN_NAMES])
def test_no_queries(name: str) -> None:
    profile = TieProfile.from_groups([], [])
    assert [len(x) for x in (*per_query(profile, name), std(profile, name))] == [0, 0, 0, 0]


def test_auc_needs_an_irrelevant_item() -> None:
    profile = TieProfile.from_groups([[(0, 0, 2, 2)], [(0, 0, 3, 2)]], [2, 3])
    assert_array_equal(per_query(profile, "AUC").expected, [np.nan, 0.5])
    assert_array_equal(np.isnan(std(profile, "AUC")), [True, False])


@pytest.mark.parametrize("name", NAMES)
def test_windows_of_a_tolerance(name: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        points, labels = rng.integers(0, 9, size=(9, 1)), rng.integers(0, 3, size=9)
        queries = oracles.profile(points, labels, distance="cityblock", ties=("tolerance", 1))
        columns = [[q[key] for q in queries] for key in ("groups", "n_ranked", "n_relevant")]
        profile = TieProfile.from_groups(*columns, bounds_only=True)
        lower, expected, upper = per_query(profile, name)
        assert np.isnan(expected).all()
        assert np.isnan(std(profile, name)).all()
        for i, query in enumerate(queries):
            if query["n_relevant"]:
                worst, best = oracles.bounding_rankings(query["groups"], query["n_ranked"])
                assert close(lower[i], value(name, worst, []))
                assert close(upper[i], value(name, best, []))


# ---------------------------------------------------------------------------------------------------------------------
# properties


@st.composite
def large_profiles(draw: Callable[..., Any]) -> TieProfile:
    counts = st.integers(0, 40) | st.integers(0, 3000) | st.integers(0, 10**6)
    queries, n_ranked = [], []
    for _ in range(draw(st.integers(1, 3))):
        groups, closer, seen = [], 0, 0
        for gap, m, others in draw(st.lists(st.tuples(counts, counts, counts), max_size=5)):
            others = others if draw(st.booleans()) else 0
            groups.append((closer + gap, seen, m + 1 + others, m + 1))
            closer, seen = closer + gap + m + 1 + others, seen + m + 1
        queries.append(groups)
        n_ranked.append(closer + draw(counts))
    return TieProfile.from_groups(queries, n_ranked)


@pytest.mark.parametrize("name", ["mAP", "mAP@100", "MAP@R", "R-Precision", "P@100", "Recall@7", "Hit@10", "MRR",
                                  "MRR@10", "nDCG@1000", "F1@10", "AUC", "mINP"])  # fmt: skip
@settings(max_examples=60, deadline=None)
@given(profile=large_profiles())
def test_bounds_are_in_order(name: str, profile: TieProfile) -> None:
    lower, expected, upper = per_query(profile, name)
    defined = ~np.isnan(lower)
    assert_array_equal(np.isnan(expected), ~defined)
    assert_array_equal(np.isnan(upper), ~defined)
    assert (lower[defined] >= 0).all()
    assert (lower <= expected)[defined].all()
    assert (expected <= upper)[defined].all()
    assert (upper[defined] <= 1).all()
    unmixed = np.bincount(profile.query_of_group, profile.tied > profile.tied_relevant, profile.n_query) == 0
    assert_array_equal(lower[unmixed], upper[unmixed])


@settings(max_examples=60, deadline=None)
@given(profile=large_profiles())
def test_a_deviation_is_at_most_half_the_width(profile: TieProfile) -> None:
    """Popoviciu's inequality, and Bhatia and Davis's sharper one."""
    small = profile[np.flatnonzero(np.bincount(profile.query_of_group, profile.tied, profile.n_query) < 10**5)]
    for name in ("mAP", "MAP@R", "P@10", "Hit@10", "MRR", "AUC", "mINP", "nDCG@100"):
        lower, expected, upper = per_query(small, name)
        deviation = std(small, name)
        defined = ~np.isnan(lower)
        most = (upper - expected) * (expected - lower)
        assert (deviation**2 <= most * (1 + 1e-6) + 1e-15)[defined].all()
        assert (deviation[lower == upper] == 0).all()


@pytest.mark.parametrize("family", ["P", "Recall", "F1"])
def test_bounds_are_equal_where_products_of_counts_are_beyond_float64(family: str) -> None:
    rng = random.Random(family)
    for _ in range(50):
        n, tied = rng.randrange(10**9), rng.randrange(1, 10**9)
        profile = TieProfile.from_groups([[(n, n, tied, tied)]], [n + tied], check=False)
        lower, expected, upper = per_query(profile, f"{family}@{n + rng.randrange(1, tied + 1)}")
        assert lower[0] == expected[0] == upper[0]


def a_fixed_profile() -> TieProfile:
    """Groups from a linear congruential generator, so that they are the same for ever."""
    state = 12345
    queries, n_ranked = [], []
    for _ in range(40):
        groups, closer, seen = [], 0, 0
        for _ in range(12):
            draws = []
            for _ in range(4):
                state = (1103515245 * state + 12345) % 2**31
                draws.append(state >> 8)
            m = 1 + draws[1] % (100 if draws[3] % 3 == 0 else 3)
            tied = m + draws[2] % (200 if draws[3] % 5 == 0 else 2)
            closer += draws[0] % (5 * len(groups) + 1)
            groups.append((closer, seen, tied, m))
            closer, seen = closer + tied, seen + m
        queries.append(groups)
        n_ranked.append(closer + 7)
    return TieProfile.from_groups(queries, n_ranked)


def test_the_bits_are_the_same_everywhere() -> None:
    """The digest was taken once; no machine, compiler or version of a library may change it."""
    profile = a_fixed_profile()
    digest = hashlib.sha256()
    for name in [*NAMES, *GAIN_NAMES, *DEFAULT_MEASURES]:
        for values in (*per_query(profile, name), std(profile, name)):
            digest.update(values.astype("<f8").tobytes())
    assert digest.hexdigest()[:16] == "258e7fce71f7b81b"


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
def test_many_measures_at_once_are_those_one_by_one(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "WORTH_A_THREAD", 1)
    profile = a_fixed_profile()
    names = [*NAMES, *GAIN_NAMES, *DEFAULT_MEASURES]
    for name, bounds in zip(names, measures.all_bounds(profile, [*map(parse, names)], threads), strict=True):
        for together, alone in zip(bounds, per_query(profile, name), strict=True):
            assert_array_equal(together, alone)


@pytest.mark.parametrize("n_query", [0, 1, 2, 7])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_ranges_hold_each_query_once(n_query: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "WORTH_A_THREAD", 1)
    groups = [[(i, i, 1, 1) for i in range(size)] for size in (0, 9, 1, 0, 0, 4, 2)[:n_query]]
    profile = TieProfile.from_groups(groups, [9] * n_query)
    divided = ranges.ranges_of_queries(profile, threads)
    assert [query for first, last in divided for query in range(first, last)] == list(range(n_query))
    assert len(divided) <= threads


def plain_bounds(groups: list[list[int]], n_ranked: int, r: int, measure: measures.Measure) -> list[float]:
    """One query in Python's floats, in the order of operations that the bits are defined by; no sums over slots."""
    c = (
        r
        if measure.family == "R-Precision"
        else min(max(n_ranked, r), n_ranked + r if measure.cutoff is None else measure.cutoff)
    )
    if r == 0:
        return [math.nan] * 3
    if measure.family == "AUC":
        found = sum(m for *_, m in groups)
        most = found * (n_ranked - found) - sum(m * (k - n) for k, n, _, m in groups)
        least = most - sum(m * (tied - m) for _, _, tied, m in groups)
        pairs = float(r) * (n_ranked - found)
        return [least / pairs, (least + most) / (2 * pairs), most / pairs] if pairs else [math.nan] * 3
    if measure.family in ("Hit", "MRR", "mINP"):
        if not groups or (measure.family == "mINP" and sum(m for *_, m in groups) < r):
            return [0.0] * 3
        k, _, tied, m = groups[-1 if measure.family == "mINP" else 0]
        if measure.family == "mINP":
            low, high, kind, slots = r / (k + tied), r / (k + m), -1, tied
        else:
            worst, best, slots = k + tied - m + 1, k + 1, min(max(c - k, 0), tied)
            kind = int(measure.family == "MRR")
            low, high = (float(rank <= c) / (rank if kind else 1) for rank in (worst, best))
        if low == high:
            return [low] * 3
        mean = moments(*(np.array([i]) for i in (k, tied, m, slots)), kind)[0]
        return [low, min(max(low, mean * (r if kind < 0 else 1)), high), high]
    factor = 2.0 if measure.family == "F1" else 1.0
    divisor = float(
        r if measure.family in ("Recall", "R-Precision") else c if measure.cutoff is None else measure.cutoff
    )
    divisor += r if measure.family == "F1" else 0
    least = most = 0
    mean = 0.0
    for k, n, tied, m in groups:
        if k < c:
            most = n + min(m, c - k)
            mean = factor * (n * tied + m * min(c - k, tied)) / (tied * divisor)
        if k + tied - m < c:
            least = n + min(m, c - (k + tied - m))
    low, high = factor * least / divisor, factor * most / divisor
    return [low, min(max(low, mean), high), high]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(("mAP", "MAP"))])
def test_bits_of_the_compiled_loops(name: str) -> None:
    rng = random.Random(name)
    profile = profile_of([random_query(rng, [1], most) for most in (8, 30, 30, 200, 1000) for _ in range(20)], [1])
    for windows in (False, True):
        # Groups that overlap: the same, but each with two more irrelevant items behind its relevant ones.
        found = replace(
            profile, tied=profile.tied + 2, n_ranked=profile.n_ranked + 2, bounds_only=True, check=False
        ) if windows else profile  # fmt: skip
        table = np.stack([found.closer, found.closer_relevant, found.tied, found.tied_relevant], axis=1)
        groups = [table[i:j].tolist() for i, j in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
        counts = zip(groups, found.n_ranked.tolist(), found.n_relevant.tolist(), strict=True)
        plain = np.array([plain_bounds(*count, parse(name)) for count in counts]).T
        if windows:
            plain[1] = np.nan
        assert_array_equal(np.array(per_query(found, name)), plain)


@pytest.mark.parametrize("name", [*NAMES, *GAIN_NAMES])
def test_a_query_does_not_depend_on_the_others(name: str) -> None:
    profile = a_fixed_profile()
    order = np.random.default_rng(0).permutation(profile.n_query)
    frozen = a_fixed_profile()
    for array in (frozen.closer, frozen.tied, frozen.offsets, frozen.n_relevant):
        array.flags.writeable = False
    for whole, part, again in zip(
        (*per_query(profile, name), std(profile, name)),
        (*per_query(profile[order], name), std(profile[order], name)),
        (*per_query(frozen, name), std(frozen, name)),
        strict=True,
    ):
        assert_array_equal(whole[order], part)
        assert_array_equal(whole, again)


# ---------------------------------------------------------------------------------------------------------------------
# names

ALIASES = {
    "mAP": "map MAP AP average_precision mean_average_precision RetrievalMAP",
    "mAP@5": "AP@5 MAP@5 map_cut_5 mAP@05 mean_average_precision_at_5",
    "MAP@R": "map@r mean_average_precision_at_r AP@R",
    "R-Precision": "Rprec R-Prec r_precision RPrecision P@R precision_at_r RetrievalRPrecision",
    "P@10": "p@10 Precision@10 precision_at_10 P_10",
    "Recall@3": "R@3 recall_3 recall_at_3 RECALL@3",
    "Hit@1": "Success@1 CMC@1 HitRate@1 hits@1 hit_rate@1 success_1 Rank-1 rank1 HR@1 accuracy@1",
    "MRR": "RR recip_rank mean_reciprocal_rank reciprocal-rank RetrievalMRR",
    "MRR@10": "RR@10 mrr@10",
    "nDCG": "NDCG ndcg RetrievalNormalizedDCG nDCG(dcg='log2')",
    "nDCG@10": "ndcg_cut_10 NDCG@10 nDCG(dcg='log2')@10 ndcg@10",
    "nDCG(dcg='exp-log2')": 'ndcg_burges nDCG(dcg="exp-log2")',
    "nDCG(dcg='exp-log2')@10": "NDCG(dcg=exp-log2)@10 ndcg_burges@10",
    "F1@7": "f1@7 F1_7 f1-score@7",
    "AUC": "auc ROC-AUC AUROC roc_auc",
    "mINP": "minp INP",
}


@pytest.mark.parametrize(("canonical", "alias"), [(c, a) for c, text in ALIASES.items() for a in [c, *text.split()]])
def test_aliases(canonical: str, alias: str) -> None:
    assert parse(alias).name == canonical
    assert str(parse(alias)) == canonical


def test_fields() -> None:
    assert [parse(name).name for name in DEFAULT_MEASURES] == list(DEFAULT_MEASURES)
    measure = parse("nDCG(dcg='exp-log2')@10")
    assert (measure.family, measure.cutoff, measure.kind, measure.choice) == ("nDCG", 10, "precision", "dcg='exp-log2'")
    assert {name for name in NAMES if parse(name).kind == "recall"} == {
        "Recall@1", "Recall@4", "Hit@1", "Hit@3", "Hit@20",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDGC@10", "unknown measure 'nDGC@10'; did you mean 'nDCG@10'?"),
        ("MAPP", "unknown measure 'MAPP'; did you mean 'mAP'?"),
        ("precison", "unknown measure 'precison'; did you mean 'P@10'?"),
        ("", "unknown measure ''; the measures are mAP[@k], MAP@R, R-Precision, P@k, Recall@k"),
        ("xyzzy", "unknown measure 'xyzzy'; the measures are mAP"),
        ("P", "P needs a cutoff, as in 'P@10', but got 'P'"),
        ("Recall", "Recall needs a cutoff, as in 'Recall@10'"),
        ("AUC@5", "AUC takes no cutoff, but got 'AUC@5'"),
        ("P@0", "the cutoff of P@k must be an integer from 1 to 2**53, but got '0' in 'P@0'"),
        ("Hit@-1", "but got '-1' in 'Hit@-1'"),
        ("mAP@2.5", "but got '2.5' in 'mAP@2.5'"),
        ("mAP@", "but got '' in 'mAP@'"),
        ("nDCG@ten", "but got 'ten' in 'nDCG@ten'"),
        ("nDCG@R", "but got 'R' in 'nDCG@R'"),
        ("P@1_0", "but got '1_0'"),
        ("P@٣", "but got '٣'"),
        ("P@99999999999999999999999", "must be an integer from 1 to 2**53"),
        ("nDCG(dcg='log10')@10", "must be dcg='log2' or dcg='exp-log2'"),
        ("P(dcg='log2')@10", "only nDCG takes parameters"),
    ],
)
def test_names_that_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        parse(name)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", [None, 5, b"mAP", ["mAP"]])
def test_a_name_is_a_string(name: Any) -> None:
    with pytest.raises(TypeError, match="a measure must be given by its name"):
        parse(name)


def test_grades_too_large_for_an_exponential_gain() -> None:
    queries = [([(0, 2, {1: 1, 600: 1})], 2, [])]
    profile = profile_of(queries, [1, 600])
    assert 0 < per_query(profile, "nDCG").lower[0] < 1
    with pytest.raises(ValueError, match="grades up to 500, but one is 600"):
        per_query(profile, "nDCG(dcg='exp-log2')")
