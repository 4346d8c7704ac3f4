"""Bounds over unjudged items and ties at once, against every completion and every order in exact fractions."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from graded_queries import BIASED_NAMES, GAIN_NAMES, INTERPOLATED_NAMES, NAMES, OVER_NAMES, STOPPING_NAMES, value

import deadheat as dh
from deadheat.measures import per_query, std

World = tuple[list[list[Any]], list[Any], int]  # groups of gains, None unjudged; gains not retrieved; unjudged ones
TRAPEZOID = [f"mAP(interpolation='trapezoid'){at}" for at in ("", "@1", "@3")]
BINARY = [name for name in (*NAMES, *BIASED_NAMES, *OVER_NAMES, *INTERPOLATED_NAMES, "11pt_avg") if name != "bpref"]
MEASURES = [*(name for name in BINARY if "hits" not in name), *GAIN_NAMES, *STOPPING_NAMES]


def world(rng: random.Random, gains: Sequence[Any]) -> World:
    groups: list[list[Any]] = []
    while sum(map(len, groups)) < 5 and (not groups or rng.random() < 0.8):
        groups.append([rng.choice([None, None, 0, *gains]) for _ in range(rng.choice([1, 1, 2, 3]))])
    missing = [rng.choice(gains) for _ in range(rng.choice([0, 0, 1, 2]))]
    return groups, missing, rng.choice([0, 0, 0, 1])


def orders(groups: list[list[Any]]) -> Iterator[list[Any]]:
    for parts in itertools.product(*(set(itertools.permutations(group)) for group in groups)):
        yield [gain for part in parts for gain in part]


def completions(world: World, gains: Sequence[Any]) -> Iterator[tuple[list[list[Any]], list[Any]]]:
    groups, missing, n_other = world
    n = sum(gain is None for group in groups for gain in group)
    for chosen in itertools.product(gains, repeat=n + n_other):
        places = iter(chosen)
        ranked = [[next(places) if gain is None else gain for gain in group] for group in groups]
        yield ranked, [*missing, *filter(None, places)]


def possible(world: World, name: str, gain: Any) -> list[Any]:
    """The values of all completions and orders that have one; none without a judged relevant item."""
    if not any([*itertools.chain(*world[0]), *world[1]]):
        return []
    found = {
        (tuple(order), tuple(missing)) for groups, missing in completions(world, (0, gain)) for order in orders(groups)
    }
    return [x for x in (value(name, *each) for each in found) if not (isinstance(x, float) and math.isnan(x))]


def profile_of(worlds: list[World], **options: Any) -> dh.TieProfile:
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, Any]] = {}
    for i, (groups, missing, _) in enumerate(worlds):
        items = [(f"d{a}-{b}", -a, gain) for a, group in enumerate(groups) for b, gain in enumerate(group)]
        run[str(i)] = {name: score for name, score, _ in items}
        qrels[str(i)] = {name: gain for name, _, gain in items if gain is not None}
        qrels[str(i)] |= {f"m{j}": gain for j, gain in enumerate(missing)}
    profile = dh.from_run(run, qrels, **options).profile
    assert profile.n_unjudged is not None
    return replace(profile, n_unjudged=profile.n_unjudged + np.array([other for _, _, other in worlds]))


def close(x: float, true: Any) -> bool:
    return abs(Fraction(x) - Fraction(true)) <= Fraction(1, 10**14)


@pytest.mark.parametrize(("gains", "gain"), [([1], 1), ([1, 2, 4], 4), ([1, 3], 2), ([0.375, 1, 2.5], 2.5), ([1], 3)])
@pytest.mark.parametrize("name", [*MEASURES, *TRAPEZOID])
def test_bounds_are_those_of_every_completion_and_order(name: str, gains: list[Any], gain: Any) -> None:
    n = 60 if gains == [1] else 25
    if gains != [1] and name not in (*GAIN_NAMES, *STOPPING_NAMES, "mAP", "AUC"):
        pytest.skip("gains do not count")
    rng = random.Random(f"{name} {gains}")
    worlds = [world(rng, gains) for _ in range(n)]
    worlds = [each for each in worlds if sum(gain is None for group in each[0] for gain in group) <= 4]
    worlds.append(([[0, gains[-1]], [gains[0]]], [], 0))  # nothing is unjudged
    profile = profile_of(worlds, unjudged="unknown" if gain == max(gains) else gain)
    (lower, expected, upper), deviation = per_query(profile, name), std(profile, name)
    for i, each in enumerate(worlds):
        values = possible(each, name, gain)
        if not values:
            assert math.isnan(lower[i])
            assert math.isnan(upper[i])
            continue
        assert close(lower[i], min(values)), (each, lower[i], min(values))
        assert close(upper[i], max(values)), (each, upper[i], max(values))
        assert lower[i] <= upper[i]
        assert math.isnan(expected[i]) or lower[i] <= expected[i] <= upper[i]
        known = each[2] == 0 and None not in itertools.chain(*each[0])
        assert known or lower[i] == upper[i] or math.isnan(expected[i])
        assert math.isnan(deviation[i]) or not math.isnan(expected[i])
        assert lower[i] < upper[i] or deviation[i] == 0
