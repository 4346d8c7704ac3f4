"""Small worlds of comparisons, whole: all differences of up to 6 queries, with and without ties.

A value is 0, 1/2 or 1, or from 1/2 to 1 where the relevant item ties for the first place. A comparison sorts its units,
and tests/test_laws.py permutes them, so a multiset stands for all of its orders. Expected are p-values as fractions
over all swaps, and those of the worst case as the largest over all tie-breakings, found by trying each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

from deadheat import TieProfile, compare, evaluate

HALF = Fraction(1, 2)
GROUPS = {"0": [], "half": [(1, 0, 1, 1)], "1": [(0, 0, 1, 1)], "tied": [(0, 0, 2, 1)]}
VALUES = {"0": (Fraction(0),), "half": (HALF,), "1": (Fraction(1),), "tied": (HALF, Fraction(1))}
GRID = [("0", "1"), ("0", "half"), ("half", "half"), ("1", "half"), ("1", "0")]  # A - B is -1, -1/2, 0, 1/2, 1
TIED = [*(("tied", each) for each in GROUPS), *((each, "tied") for each in GROUPS if each != "tied")]
ALTERNATIVES = ("two-sided", "greater", "less")
Kinds = tuple[tuple[str, str], ...]  # of queries: the values of A and of B


def worlds(n: int, kinds: list[tuple[str, str]]) -> Iterator[Kinds]:
    yield from combinations_with_replacement(kinds, n)


@cache
def tails(differences: tuple[Fraction, ...]) -> tuple[Fraction, Fraction]:
    """The shares of all swaps with a sum of at least, and of at most, the observed one."""
    observed, sums = sum(differences), [Fraction(0)]
    for difference in differences:
        sums = [total + sign * difference for total in sums for sign in (1, -1)]
    return tuple(Fraction(sum(test(each) for each in sums), len(sums))
                 for test in (lambda total: total >= observed, lambda total: total <= observed))  # fmt: skip


def pvalue(differences: Any, alternative: str) -> Fraction:
    at_least, at_most = tails(tuple(sorted(differences)))
    return {"two-sided": min(Fraction(1), 2 * min(at_least, at_most)), "greater": at_least, "less": at_most}[
        alternative
    ]


def mcnemar(won: int, lost: int) -> Fraction:
    """The exact two-sided test of McNemar, of discordant pairs, which is the sign test."""
    n, fewer = won + lost, min(won, lost)
    return min(Fraction(1), 2 * Fraction(sum(math.comb(n, k) for k in range(fewer + 1)), 2**n))


def reports(kinds: Kinds) -> tuple[Any, Any]:
    profiles = [
        TieProfile.from_groups([GROUPS[each[side]] for each in kinds], [3] * len(kinds), [1] * len(kinds))
        for side in (0, 1)
    ]
    return tuple(evaluate(profile, "mAP") for profile in profiles)


def check(kinds: Kinds) -> int:
    """Compare everything exact of the comparison of two systems; return the number of values."""
    a, b = reports(kinds)
    n, pairs = len(kinds), [(VALUES[x], VALUES[y]) for x, y in kinds]
    worst, best = ([f(x) - g(y) for x, y in pairs] for f, g in ((min, max), (max, min)))
    mean = [sum(x, Fraction(0)) / len(x) - sum(y, Fraction(0)) / len(y) for x, y in pairs]
    of_by = {
        "lower": [min(x) - min(y) for x, y in pairs],
        "expected": mean,
        "upper": [max(x) - max(y) for x, y in pairs],
    }
    broken = {tuple(sorted(each)) for each in product(*({x - y for x in xs for y in ys} for xs, ys in pairs))}
    number = 0
    for alternative, by in product(ALTERNATIVES, of_by):
        result = compare(a, b, alternative=alternative, by=by)["mAP"]
        wanted = {
            "lower": sum(worst) / n, "expected": sum(mean) / n, "upper": sum(best) / n, "tested": sum(of_by[by]) / n,
            "pvalue": pvalue(of_by[by], alternative), "is_exact": True, "n_pair": n,
            "n_wins_a": sum(each > 0 for each in worst), "n_wins_b": sum(each < 0 for each in best),
            "n_equal": sum(x == y == 0 for x, y in zip(worst, best, strict=True)),
            "winner": "A" if sum(worst) > 0 else "B" if sum(best) < 0 else None,
        }  # fmt: skip
        for name, value in wanted.items():
            got = getattr(result, name)
            assert got == (float(value) if isinstance(value, Fraction) else value), (kinds, alternative, by, name, got)
        largest = max(pvalue(each, alternative) for each in broken)
        in_worst = Fraction(result.pvalue_worst_case)
        ahead = alternative == "two-sided" and not (sum(worst) > 0 or sum(best) < 0)
        assert in_worst == (1 if ahead else largest), (kinds, alternative, float(in_worst), float(largest))
        number += len(wanted) + 1
    swapped = compare(b, a)["mAP"]
    assert (swapped.pvalue, swapped.lower) == (compare(a, b)["mAP"].pvalue, -float(sum(best) / n)), kinds
    if set(of_by["lower"]) <= {-1, 0, 1}:
        won, lost = (of_by["lower"].count(sign) for sign in (1, -1))
        assert swapped.pvalue == float(mcnemar(won, lost)), kinds
    if n >= 5:
        gate = compare(a, b).gate()
        assert gate.pvalues["mAP"] == float(tails(tuple(sorted(of_by["lower"])))[0]), kinds
    if (
        n > 1 and len(set(worst)) == len(set(best)) == 1
    ):  # nothing was drawn: the share of what 6 queries may miss, to the ends
        interval = compare(a, b)["mAP"].interval()
        ends = interval.lower.low, interval.upper.high
        missed = (ends[0] - float(worst[0])) / (-1 - float(worst[0])) if worst[0] != -1 else None
        assert missed is None or math.isclose((1 - missed) ** n, 0.025, rel_tol=1e-12), (kinds, ends)
        above = (ends[1] - float(best[0])) / (1 - float(best[0])) if best[0] != 1 else None
        assert above is None or math.isclose((1 - above) ** n, 0.025, rel_tol=1e-12), (kinds, ends)
    return number
