"""Random queries with tie groups, and any measure of one ranking in exact fractions; relevant items may be missing."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import oracles

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query, std
from deadheat.measures.names import parse

BIASED_NAMES = ["RBP", "RBP@3", "RBP(p=0.5)@20", "RBP(p=0.95)"]
ALL_NAMES = ["All@1", "All@3", "All@5", "All@20"]
SET_NAMES = ["bpref", "SetP", "SetR", "SetRelP", "SetAP", "SetF"]
NAMES = [
    *("mAP", "mAP@1", "mAP@3", "MAP@R", "R-Precision", "P@1", "P@3", "P@20", "Recall@1", "Recall@4"),
    *("Hit@1", "Hit@3", "Hit@20", "MRR", "MRR@2", "F1@1", "F1@3", "F1@20", "AUC", "mINP"),
    *ALL_NAMES,
    *SET_NAMES,
]
INTERPOLATED_NAMES = ["IPrec@0", "IPrec@0.3", "IPrec@1", "iprec_at_recall@0.3"]  # to about 12 digits
OVER_NAMES = [  # measures with another divisor than R
    *(f"mAP(over='hits'){at}" for at in ("", "@1", "@2", "@3", "@5", "@20")),
    *("mAP(over='possible')", "mAP(over='possible')@1", "mAP(over='possible')@3", "mAP(over='possible')@20"),
    *("Recall(over='possible')@1", "Recall(over='possible')@3", "Recall(over='possible')@20"),
]
GAIN_NAMES = ["nDCG", "nDCG@1", "nDCG@3", "nDCG@20", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@3"]
EARLY_NAMES = ["Sens1FP", "EF@0.3", "EF@1", "EF@0.05"]
SUM_NAMES = ["DCG", "DCG@1", "DCG@3", "DCG(dcg='exp-log2')@3", "ACG@1", "ACG@3", "ACG@20"]
SCALED_NAMES = ["NAP", "BEDROC", "BEDROC(alpha=80.5)"]  # differences, with an absolute error
STOPPING_NAMES = ["ERR@1", "ERR@3", "ERR@20"]

Graded = list[tuple[int, int, dict[Any, int]]]  # closer, tied, {grade: count}, as in oracles


def random_query(rng: random.Random, grades: Sequence[Any], most: int = 8) -> tuple[Graded, int, list[Any]]:
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


def profile_of(queries: list[tuple[Graded, int, list[Any]]], grades: Sequence[Any]) -> TieProfile:
    """The profile of some queries; with grades where there is another than 1, and gains where one is not whole."""
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
    if any(g != int(g) for g in grades):  # every query has a place for each of these gains
        rows = [[g if count else 0 for g, count in zip(grades, counts, strict=True)] for counts in relevant]
        order = [sorted(range(len(row)), key=lambda i, row=row: row[i]) for row in rows]
        of_group = [i for i, (groups, _, _) in enumerate(queries) for _ in groups]
        by_grade = [[counts[j] for j in order[i]] for i, counts in zip(of_group, by_grade, strict=True)]
        relevant = [[counts[j] for j in places] for places, counts in zip(order, relevant, strict=True)]
        profile = replace(profile, gains=np.sort(rows, axis=1), grades=np.arange(1, len(grades) + 1), check=False)
        grades = range(1, len(grades) + 1)
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


@cache
def two_to(gain: float) -> Fraction:
    """2^gain to eighty digits, by bisection between squares: 2^(a/2) is a square root, and gains here are dyadic."""
    whole = Fraction(2) ** math.floor(gain)
    rest, root = Fraction(gain) - math.floor(gain), Fraction(2)
    while rest:
        root = Fraction(math.isqrt(root.numerator * 10**160 // root.denominator), 10**80)
        rest *= 2
        if rest >= 1:
            whole, rest = whole * root, rest - 1
    return whole


def ndcg(ranking: Sequence[Any], missing: Sequence[Any], k: int | None, gain: str | None) -> Fraction:
    return dcg(ranking, k, gain) / dcg(sorted([*ranking, *missing], reverse=True), k, gain)


def dcg(grades: Sequence[Any], k: int | None, gain: str | None) -> Fraction:
    gains = [Fraction(g) if gain == "dcg='log2'" else two_to(g) - 1 for g in grades]
    return sum((g / log2(rank + 1) for rank, g in enumerate(gains[:k], 1) if g), Fraction(0))


@cache
def average_by_chance(n: int, r: int) -> Fraction:
    """The mean AP of every choice of the ranks of r relevant items among n."""
    orders = list(itertools.combinations(range(1, n + 1), r))
    return (
        sum((Fraction(a, rank) for ranks in orders for a, rank in enumerate(ranks, 1)), Fraction(0)) / len(orders) / r
    )


def bedroc(ranks: Sequence[int], n: int, alpha: str) -> Fraction:
    """Equation 36 of Truchon and Bayly: RIE, times one constant and plus another, to forty digits."""
    with localcontext() as context:
        context.prec = 50
        a, share = Decimal(alpha), Decimal(len(ranks)) / n
        by_chance = (1 - (-a).exp()) / ((a / n).exp() - 1) / n
        rie = sum((-a * rank / n).exp() for rank in ranks) / len(ranks) / by_chance
        sinh, cosh = (lambda x: (x.exp() - (-x).exp()) / 2), (lambda x: (x.exp() + (-x).exp()) / 2)
        slope = share * sinh(a / 2) / (cosh(a / 2) - cosh(a / 2 - a * share))
        return Fraction(rie * slope + 1 / (1 - (a * (1 - share)).exp()))


def expected_reciprocal_rank(ranking: Sequence[Any], k: int) -> Fraction:
    """As Chapelle and others have it, with gdeval's highest grade of 4."""
    total, passed = Fraction(0), Fraction(1)
    for rank, gain in enumerate(ranking[:k], 1):
        chance = (two_to(gain) - 1) / 16
        total, passed = total + passed * chance / rank, passed * (1 - chance)
    return total


def value(name: str, grades: Sequence[Any], missing: Sequence[Any]) -> Any:
    """A measure of one ranking, where R counts the relevant items that are missing from it too."""
    return _value(name, tuple(grades), tuple(missing))


@cache
def _value(name: str, grades: Sequence[Any], missing: Sequence[Any]) -> Any:
    measure = parse(name)
    k = measure.cutoff
    if measure.family == "nDCG":
        return ndcg(grades, missing, k, measure.choice)
    if measure.family == "ERR":
        return expected_reciprocal_rank(grades, k)
    if measure.family == "DCG":
        return dcg(grades, k, measure.choice)
    if measure.family == "ACG":
        return sum(map(Fraction, grades[:k]), Fraction(0)) / k
    ranking = [int(g > 0) for g in grades]
    hits = sum(ranking)
    r = hits + len(missing)
    n = len(ranking) + len(missing)
    if measure.family in ("NAP", "BEDROC") and r == n:
        return math.nan
    if measure.family == "NAP":
        by_chance = average_by_chance(n, r)
        return (value("mAP", grades, missing) - by_chance) / (1 - by_chance)
    if measure.family == "BEDROC":
        ranks = [rank for rank, relevant in enumerate([*ranking, *([1] * len(missing))], 1) if relevant]
        return bedroc(ranks, n, str(measure.choice).removeprefix("alpha="))
    if measure.family == "EF":
        first = math.ceil(Fraction(str(k)) * len(ranking))
        return Fraction(sum(ranking[:first]) * len(ranking), first * r) if first else math.nan
    if measure.family == "Sens1FP":
        return Fraction([*ranking, 0].index(0), r)
    if measure.family == "MnR":
        return Fraction(ranking.index(1) + 1)
    if measure.row.cutoff == "recall" or measure.family == "11pt_avg":
        recalls = [k] if measure.family != "11pt_avg" else [Fraction(i, 10) for i in range(11)]
        return sum(interpolated(ranking, r, recall, measure.family != "IPrec") for recall in recalls) / len(recalls)
    if hits == 0:
        return math.nan if measure.family == "AUC" and not ranking else Fraction(0)
    if "trapezoid" in name:
        return trapezoid_precision(ranking, r, k)
    if "over='hits'" in name:
        ranks = [rank for rank, relevant in enumerate(ranking[:k], 1) if relevant]
        return sum((Fraction(a, rank) for a, rank in enumerate(ranks, 1)), Fraction(0)) / max(len(ranks), 1)
    if "over='possible'" in name:
        r = min(r, k or r)
    if measure.family in ("mAP", "MAP@R"):
        return oracles.average_precision(ranking, r if measure.family == "MAP@R" else k) * hits / r
    if measure.family == "AUC":
        return oracles.auc(ranking) * hits / r
    if measure.family == "All":
        return Fraction(int(sum(ranking[:k]) == r))
    if measure.family == "mINP":
        return Fraction(0) if missing else oracles.inp(ranking)
    if measure.family == "MRR":
        return oracles.reciprocal_rank(ranking) * int(k is None or any(ranking[:k]))
    if measure.family == "Hit":
        return oracles.hit_at(ranking, k)
    if measure.family == "bpref":
        return bpref(ranking, r)
    if measure.family == "RBP":
        p = Fraction(str(measure.choice).partition("=")[2])
        return sum(((1 - p) * p ** (rank - 1) for rank, hit in enumerate(ranking[:k], 1) if hit), Fraction(0))
    first = sum(ranking[: k or r])
    return {
        "SetP": Fraction(hits, len(ranking)),
        "SetR": Fraction(hits, r),
        "SetRelP": Fraction(hits, min(len(ranking), r)),
        "SetAP": Fraction(hits * hits, len(ranking) * r),
        "SetF": Fraction(2 * hits, len(ranking) + r),
        "P": Fraction(first, k or r),
        "R-Precision": Fraction(first, r),
        "Recall": Fraction(first, r),
        "F1": Fraction(2 * first, (k or r) + r),
    }[measure.family]


def trapezoid_precision(ranking: Sequence[int], r: int, k: int | None) -> Fraction:
    """Return the sum of compute_ap.cpp: recall 0 and precision 1 at first, and the precision behind every item."""
    before, total, seen = Fraction(1), Fraction(0), 0
    for rank, relevant in enumerate(ranking[:k], 1):
        seen += relevant
        total, before = total + relevant * (before + Fraction(seen, rank)) / 2, Fraction(seen, rank)
    return total / r


def bpref(ranking: Sequence[int], r: int) -> Fraction:
    """As Buckley and Voorhees have it: over the relevant items, 1 - min(irrelevant in front, R) / min(N, R)."""
    n = ranking.count(0)
    in_front = [ranking[:i].count(0) for i, relevant in enumerate(ranking) if relevant]
    return sum((1 - Fraction(min(x, r), min(n, r)) if x else Fraction(1) for x in in_front), Fraction(0)) / r


def interpolated(ranking: Sequence[int], r: int, recall: Any, rounded: bool) -> Fraction:
    """The best precision at any rank where at least so many relevant items have been seen."""
    share = Fraction(str(recall)) * r
    least = math.floor(share + Fraction(1, 2)) if rounded else math.ceil(share)
    seen = [sum(ranking[:rank]) for rank in range(1, len(ranking) + 1)]
    return max((Fraction(hits, rank) for rank, hits in enumerate(seen, 1) if hits >= least), default=Fraction(0))


def close(got: float, exact: Any, tolerance: float = 4e-16, absolute: float = 0) -> bool:
    """Equal but for a relative error, or an absolute one; both NaN; or exactly 0 where 0 is right."""
    if exact != exact:
        return math.isnan(got)
    return abs(Fraction(float(got)) - exact) <= Fraction(tolerance) * abs(exact) + Fraction(absolute)


def root_close(got: float, variance: Any, tolerance: float = 1e-13, absolute: float = 0) -> bool:
    if variance != variance:
        return math.isnan(got)
    return abs(Fraction(float(got)) ** 2 - variance) <= Fraction(tolerance) * variance + Fraction(absolute)


def assert_agrees(
    profile: TieProfile, queries: list[tuple[Graded, int, list[int]]], name: str, tolerance: float = 4e-16,
    absolute: float = 0,
) -> None:  # fmt: skip
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
        assert close(lower[i], low, tolerance, absolute), where
        assert close(expected[i], mean, tolerance, absolute), where
        assert close(upper[i], high, tolerance, absolute), where
        if "trapezoid" in name and low < high:
            assert np.isnan(deviation[i]), where
        else:
            assert name == "11pt_avg" or root_close(deviation[i], variance, max(1e-13, 1e3 * tolerance), absolute), (
                where
            )
