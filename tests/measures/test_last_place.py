"""The errors of values in units in the last place, against exact fractions, and the pages that say how large they are.

``python -m pytest tests/measures/test_last_place.py -s`` prints the largest error of each measure.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import oracles
import pytest
from graded_queries import (
    BIASED_NAMES,
    EARLY_NAMES,
    GAIN_NAMES,
    NAMES,
    OVER_NAMES,
    SCALED_NAMES,
    STOPPING_NAMES,
    SUM_NAMES,
    profile_of,
    random_query,
    value,
)

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query
from deadheat.measures.names import FAMILIES, parse

PAGES = Path(__file__).parents[2]
WITHOUT_TIES, WITH_TIES, OF_ELEVEN = 2, 4, 4  # units in the last place; the last are those of 11pt_avg
OF_BIASED = 4e-16
EXACT = ["IPrec@0", "IPrec@0.5", "iprec_at_recall@0.5"]  # in the bounds; the expectation is good to 12 digits
BINARY = [*NAMES, *OVER_NAMES, *EARLY_NAMES, *EXACT, "11pt_avg", "MRR@2", "P@100"]
GRADED = [*GAIN_NAMES, *STOPPING_NAMES]


def units(got: float, exact: Fraction) -> float:
    """The error in units in the last place of the exact value; 0 for two zeros."""
    return float(abs(Fraction(float(got)) - exact) / Fraction(math.ulp(float(exact)))) if exact else abs(got)


def untied(rng: random.Random, grades: list[int], most: int) -> tuple[tuple[int, ...], list[int]]:
    """A ranking of up to so many items with a relevant one, and the grades of some that were not retrieved."""
    share = rng.choice((0.02, 0.1, 0.5, 0.9))
    ranking = [rng.choice(grades) * (rng.random() < share) for _ in range(rng.randint(1, most))]
    ranking[rng.randrange(len(ranking))] = grades[-1]
    return tuple(ranking), [grades[0]] * rng.choice((0, 0, 3))


def of_untied(names: list[str], grades: list[int], count: int, most: int) -> dict[str, float]:
    """The largest error of each measure over rankings without ties, of which all three values are one."""
    rng, largest = random.Random(len(grades)), defaultdict[str, float](float)
    for _ in range(count):
        ranking, missing = untied(rng, grades, most)
        groups = [(place, 1, {grade: 1}) for place, grade in enumerate(ranking) if grade]
        profile = profile_of([(groups, len(ranking), missing)], grades)
        r = sum(map(bool, ranking)) + len(missing)
        for name in names:
            if name == "11pt_avg" and r > 30:  # trec_eval rounds 0.7 R in floats, from R = 35 on another way
                continue
            exact, got = value(name, ranking, missing), per_query(profile, name)
            assert got.lower[0] == got.expected[0] == got.upper[0] or math.isnan(got.lower[0])
            if exact == exact:
                largest[name] = max(largest[name], units(got.expected[0], exact))
    return largest


def of_tied(names: list[str], grades: list[int], count: int) -> dict[str, float]:
    """The largest error of each measure over bounds and expectations of random queries, from all their orders."""
    rng, largest = random.Random(len(grades)), defaultdict[str, float](float)
    for _ in range(count):
        groups, n_ranked, missing = random_query(rng, grades, most=6)
        if not groups:
            continue
        profile = profile_of([(groups, n_ranked, missing)], grades)
        for name in names:

            def of_one(ranking: tuple[int, ...], name: str = name, missing: list[Any] = missing) -> Any:
                return value(name, ranking, missing)

            low, mean, high, _ = oracles.arrangement_values_graded(groups, n_ranked, of_one)
            for exact, got in zip((low, mean, high), per_query(profile, name), strict=True):
                if exact == exact and not (name in EXACT and exact is mean):
                    largest[name] = max(largest[name], units(got[0], exact))
    return largest


def test_without_ties() -> None:
    largest = of_untied(BINARY, [1], 60, 80) | of_untied(GRADED, [1, 2, 4], 40, 80)
    print("\n".join(f"{name:32} {error:.2f}" for name, error in sorted(largest.items(), key=lambda each: -each[1])))
    of_eleven = largest.pop("11pt_avg")
    assert 1 < max(largest.values()) <= WITHOUT_TIES
    assert 1 < of_eleven <= OF_ELEVEN


@pytest.mark.slow
def test_with_ties() -> None:
    largest = of_tied(BINARY, [1], 60) | of_tied(GRADED, [1, 2, 4], 40)
    print("\n".join(f"{name:32} {error:.2f}" for name, error in sorted(largest.items(), key=lambda each: -each[1])))
    assert 2 < max(largest.values()) <= WITH_TIES


def test_a_sum_of_precisions_of_a_larger_group() -> None:
    """The largest that was found: 64 of 65 tied items are relevant, in the worst order."""
    lower, expected, upper = per_query(TieProfile.from_groups([[(0, 0, 65, 64)]], n_ranked=[65]), "mAP")
    assert 3 < units(lower[0], sum(Fraction(a, a + 1) for a in range(1, 65)) / 64) <= WITH_TIES
    mean = sum(Fraction(64 * (64 + (place - 1) * 63), 65 * 64 * place) for place in range(1, 66)) / 64
    assert units(expected[0], mean) <= WITH_TIES
    assert upper[0] == 1


def test_rank_biased_precision_has_an_absolute_error() -> None:
    """At the head and far down, where the value is small and its error relative to it is not."""
    rng, largest = random.Random(0), Fraction(0)
    for most in (10, 20, 50, 100, 100, 1000):
        ranking, _ = untied(rng, [1], most)
        groups = [(place, 1, {1: 1}) for place, relevant in enumerate(ranking) if relevant]
        profile = profile_of([(groups, len(ranking), []), (groups[-1:], len(ranking), [])], [1])
        last = tuple(int(place == groups[-1][0]) for place in range(len(ranking)))
        for name in BIASED_NAMES:
            for got, one in zip(per_query(profile, name).expected, (ranking, last), strict=True):
                largest = max(largest, abs(Fraction(float(got)) - value(name, one, [])))
    print(float(largest))
    assert 1e-16 < largest <= OF_BIASED


def test_every_family_is_measured() -> None:
    absolute = [*BIASED_NAMES, *SUM_NAMES, *SCALED_NAMES, "MnR"]  # in test_arrangements, to about 14 digits
    measured = {parse(name).family for name in [*BINARY, *GRADED, *absolute]}
    assert measured | {"Judged"} == {row.name for row in FAMILIES}  # a count of hits, of other items


def test_the_pages_say_so() -> None:
    for page, sentence in {
        "README.md": f"the same bits on every machine, within {WITHOUT_TIES} units in the last place",
        "docs/measures.md": f"within {WITHOUT_TIES} units in the last place of the exact value without ties and within "
        f"{WITH_TIES} with ties (always {OF_ELEVEN} for `11pt_avg`; `RBP` has an absolute error of up to 4 · 10⁻¹⁶)",
    }.items():
        assert sentence in " ".join((PAGES / page).read_text(encoding="utf-8").split())
