"""Large groups, far down the ranking, against sums in fixed point, 400 bits."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from graded_queries import close, log2, root_close
from numpy.testing import assert_array_equal

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query, std
from deadheat.measures.discounted_gain import discount_table, gain_squares

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


@pytest.mark.parametrize(("slots", "m", "size"), [(3, 2, 5), (1000, 3, 3000), (2990, 40, 3000), (2995, 2990, 3000)])
def test_the_chance_that_all_of_a_large_group_are_found(slots: int, m: int, size: int) -> None:
    profile = TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, size, m)]], [size + 9])
    chance = Fraction(math.comb(slots, m), math.comb(size, m))
    assert close(per_query(profile, f"All@{1 + slots}").expected[0], chance, 1e-13)
    assert root_close(std(profile, f"All@{1 + slots}")[0], chance * (1 - chance), 1e-10)


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
        squares = total([(x - mean) ** 2 for x in d])
        variance = Fraction(m * (tied - m), tied * (tied - 1)) * squares / ideal**2
        assert root_close(std(profile, "nDCG")[0], variance, 1e-12)


def test_equal_gains_have_no_variance_though_their_mean_is_rounded() -> None:
    mean = (0.1 + 0.1 + 0.1) / 3
    assert mean != 0.1
    by_grade, tied = np.array([[3, 0], [2, 0], [0, 3]]), np.array([3, 3, 3])
    assert_array_equal(gain_squares(by_grade, np.array([0.1, 0.7]), tied) > 0, [False, True, False])
