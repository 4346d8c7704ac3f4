"""The bits of the core's loops on hostile groups: large, far down the ranking, and beyond the integers of float64.

`test_accuracy` compares such values with exact fractions. Here no last bit of them changes: each digest is that of all
values of a test. A mended defect may change them, as those in `bits.json`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from bits import of_arrays
from graded_queries import profile_of, random_query
from numpy.testing import assert_array_equal

from deadheat import _core
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query
from deadheat.measures.discounted_gain import discount_table

CUTOFFS = ["", "@1", "@2", "@64", "@65", "@100", "@10003"]
MIXED, UNEVEN = "groups of up to 200", "long groups among short ones"


def pick(rng: random.Random, values: Sequence[Any]) -> Any:
    """Draw from values by `random()`, the only numbers that every version of Python repeats."""
    return values[int(rng.random() * len(values))]


def large_query(rng: random.Random) -> tuple[list[tuple[int, int, int, int]], int, int]:
    """Draw groups of up to some hundreds of items, often larger than those summed one by one, far down the ranking."""
    groups, closer, seen = [], pick(rng, [0, 0, 1, 64, 10**4]), 0
    for _ in range(pick(rng, [0, 1, 2, 9])):
        m = pick(rng, [1, 1, 2, 64, 65, 300])
        tied = m + pick(rng, [0, 0, 1, 63, 200])
        groups.append((closer, seen, tied, m))
        closer, seen = closer + tied + pick(rng, [0, 1, 1000]), seen + m
    return groups, closer + 7, seen + pick(rng, [0, 0, 1])


def large_profile() -> TieProfile:
    rng = random.Random(0)
    perfect = [([(i, i, 1, 1) for i in range(n)], n, n) for n in (1, 2, 7, 8, 9, 33, 300)]
    queries = [*perfect, ([], 0, 0), ([], 3, 1), *(large_query(rng) for _ in range(150))]
    return TieProfile.from_groups(*map(list, zip(*queries, strict=True)))


def graded_profile() -> TieProfile:
    rng, grades = random.Random(1), [1, 2, 5]
    return profile_of([random_query(rng, grades, most) for most in (3, 8, 30) for _ in range(60)], grades)


def some_groups(kind: str) -> tuple[np.ndarray, ...]:
    """Draw closer, closer_relevant, tied, tied_relevant and slots of 300 groups."""
    rng, groups = random.Random(2), []
    for _ in range(300):
        if kind == MIXED:
            tied = pick(rng, [2, 2, 3, 4, 5, 63, 64, 65, 200])
            k = pick(rng, [0, 0, 1, 64, 65 * tied, 10**5])
            n, m = pick(rng, range(k + 1)), pick(rng, range(1, tied))
            slots = pick(rng, [tied, pick(rng, range(1, tied + 1))])
        else:
            tied = pick(rng, [1, 2, 2, 7, 90, 3000])
            k, n = pick(rng, [0, 1, 2**53 - 1, 2**53 + 1, 2**60 + 129]), 0
            m = min(tied, pick(rng, [1, 2, tied, pick(rng, range(1, tied + 1))]))
            slots = pick(rng, [0, 1, tied, pick(rng, range(tied + 1))])
        groups.append((k, n, tied, m, slots))
    return tuple(np.array(groups, dtype=np.int64).T.copy())


def precision_variances() -> np.ndarray:
    out = np.empty(300)
    _core.precision_variances(*some_groups(MIXED), out)
    return out


def discount_deviations() -> np.ndarray:
    (k, _, tied, _, slots), out = some_groups(MIXED), np.empty(300)
    _core.discount_deviations(k, tied, slots, discount_table(17)[0], out)
    return out


def slot_expectations(kind: str, value: int) -> np.ndarray:
    """Of a function of the first or last relevant slot, about any number, and of its square."""
    (k, _, *others), shift = some_groups(kind), np.random.default_rng(3).random(300) / 100
    out = np.empty((4, 300))
    for row, (centred, squared) in zip(out, product((False, True), repeat=2), strict=True):
        _core.slot_expectations((k, *others), (value, centred, squared), shift, row)
    return out


def values(profile: TieProfile, *names: str) -> np.ndarray:
    return np.array([per_query(profile, name) for name in names])


LOOPS = {
    "average precision": lambda: values(large_profile(), "MAP@R", *(f"mAP{at}" for at in CUTOFFS)),
    "discounted gain": lambda: values(large_profile(), *(f"nDCG{at}" for at in CUTOFFS)),
    "gains of several grades": lambda: values(graded_profile(), "nDCG", "nDCG@1", "nDCG@3", "nDCG@6"),
    "discounts": lambda: np.concatenate(discount_table(11)),
    "variances of precisions": precision_variances,
    "variances of discounts": discount_deviations,
    **{f"{name}, {kind}": (lambda kind=kind, value=value: slot_expectations(kind, value))
       for value, name in ((-1, "last hit"), (0, "any hit"), (1, "first hit")) for kind in (MIXED, UNEVEN)},
}  # fmt: skip
DIGESTS = {
    "average precision": "3e82c4121ba147e61e88ac7875f91879",
    "discounted gain": "f4c0379bc51586047ce159f02be5be05",
    "gains of several grades": "e2609a58bec9e2266ced2adb1257e42c",
    "discounts": "3cddbab0a000950a71ab3c17e85adceb",
    "variances of precisions": "3d835817a1fede8d16bd70d3f4292076",
    "variances of discounts": "d44633ecc0677208aeba36a43bf813ef",
    "last hit, groups of up to 200": "4de488f4917e28fff50012233d726191",
    "last hit, long groups among short ones": "9eb404ddb6a8d1eb7efaee23acd65a9f",
    "any hit, groups of up to 200": "0601403bcd1b6df4921bed8d3942177d",
    "any hit, long groups among short ones": "412c0f8ebd5545f21c941277e8db5463",
    "first hit, groups of up to 200": "d41e84ca0797b6d09837e91eb23c2478",
    "first hit, long groups among short ones": "90b4dcad19d641c52a1ef1ac025e0402",
}


@pytest.mark.parametrize("name", LOOPS)
def test_no_bit_changes(name: str) -> None:
    assert of_arrays(LOOPS[name]()) == [DIGESTS[name]]


def test_discounts_in_one_call_or_in_many() -> None:
    table = tuple(np.full_like(array, np.nan) for array in discount_table(11))
    for array in table:
        array[0] = 0.0
    for first, last in ((0, 64), (64, 64), (64, 1023), (960, 1024), (1024, 2**11 - 1)):
        _core.fill_discounts(first, last, table)
    for array, whole in zip(table, discount_table(11), strict=True):
        assert_array_equal(array[: 2**11 // 64], whole[: 2**11 // 64])


def test_no_group_at_all() -> None:
    out, none = np.empty(0), np.empty(0, dtype=np.int64)
    _core.slot_expectations((none,) * 4, (1, True, True), out, out)
    assert out.size == 0
