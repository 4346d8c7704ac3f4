"""Bounds over unjudged items and ties at once, against every completion and every order in exact fractions."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graded_queries import (
    BIASED_NAMES,
    GAIN_NAMES,
    INTERPOLATED_NAMES,
    NAMES,
    OVER_NAMES,
    STOPPING_NAMES,
    SUM_NAMES,
    value,
)
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.measures import per_query, register, std, unregister

World = tuple[list[list[Any]], list[Any], int]  # groups of gains, None unjudged; gains not retrieved; unjudged ones
TRAPEZOID = [f"mAP(interpolation='trapezoid'){at}" for at in ("", "@1", "@3")]
BINARY = [name for name in (*NAMES, *BIASED_NAMES, *OVER_NAMES, *INTERPOLATED_NAMES, "11pt_avg") if name != "bpref"]
MEASURES = [*(name for name in BINARY if "hits" not in name), *GAIN_NAMES, *STOPPING_NAMES, *SUM_NAMES]


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


def possible(world: World, name: str, gains: Sequence[Any]) -> list[Any]:
    """The values of all completions and orders that have one; none without a judged relevant item."""
    if not any([*itertools.chain(*world[0]), *world[1]]):
        return []
    rankings = {
        (tuple(order), tuple(missing)) for groups, missing in completions(world, gains) for order in orders(groups)
    }
    values = [value(name, *ranking) for ranking in rankings]
    return [x for x in values if not (isinstance(x, float) and math.isnan(x))]


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
    if gains != [1] and name not in (*GAIN_NAMES, *STOPPING_NAMES, *SUM_NAMES, "mAP", "AUC"):
        pytest.skip("gains do not count")
    rng = random.Random(f"{name} {gains}")
    worlds = [world(rng, gains) for _ in range(n)]
    worlds = [each for each in worlds if sum(gain is None for group in each[0] for gain in group) <= 4]
    worlds.append(([[0, gains[-1]], [gains[0]]], [], 0))  # nothing is unjudged
    profile = profile_of(worlds, unjudged="unknown" if gain == max(gains) else gain)
    (lower, expected, upper), deviation = per_query(profile, name), std(profile, name)
    for i, world_i in enumerate(worlds):
        values = possible(world_i, name, (0, gain))
        if not values:
            assert math.isnan(lower[i])
            assert math.isnan(upper[i])
            continue
        assert close(lower[i], min(values)), (world_i, lower[i], min(values))
        assert close(upper[i], max(values)), (world_i, upper[i], max(values))
        assert lower[i] <= upper[i]
        assert math.isnan(expected[i]) or lower[i] <= expected[i] <= upper[i]
        known = world_i[2] == 0 and None not in itertools.chain(*world_i[0])
        assert known or lower[i] == upper[i] or math.isnan(expected[i])
        assert math.isnan(deviation[i]) or not math.isnan(expected[i])
        assert lower[i] < upper[i] or deviation[i] == 0


@pytest.mark.parametrize("name", ["nDCG", "nDCG@2", "ERR@3", "mAP"])
def test_the_lower_bound_holds_for_all_smaller_gains(name: str) -> None:
    rng, n_above = random.Random(name), 0
    worlds = [world(rng, [1, 3]) for _ in range(60)]
    worlds = [each for each in worlds if sum(gain is None for group in each[0] for gain in group) <= 3]
    lower, _, upper = per_query(profile_of(worlds, unjudged="unknown"), name)
    for i, values in enumerate(possible(each, name, (0, 1, 2, 3)) for each in worlds):
        assert not values or close(lower[i], min(values))
        n_above += bool(values) and not close(upper[i], max(values))
    assert (n_above > 0) == (name in ("nDCG", "nDCG@2"))


def test_measures_at_a_level_and_of_judged_items_alone() -> None:
    run = {"q": {"a": 4, "x": 3, "b": 2, "y": 2, "n": 1, "c": 1}}
    qrels = {"q": {"a": 1, "b": 2, "n": 0, "c": 2, "z": -1}}
    profile = dh.from_run(run, qrels, unjudged=1).profile
    known = dh.from_run(run, qrels).profile
    for name in ("mAP(rel=2)", "P(rel=2)@3"):  # an unjudged item would not be relevant
        assert_array_equal(per_query(profile, name), per_query(known, name))
        assert std(profile, name) == std(known, name)
    condensed = dh.from_run(run, qrels, unjudged="junk").profile
    assert_array_equal(per_query(profile, "bpref"), per_query(condensed, "bpref"))
    assert std(profile, "bpref") == std(condensed, "bpref") > 0
    only = dh.from_run(run, {"q": {"a": 0, "b": 0}}, unjudged="unknown")
    assert np.isnan(per_query(only.profile, "mAP")).all()
    assert dh.evaluate(only, "mAP", singletons="zero")["mAP"].upper == 0
    with pytest.raises(ValueError, match=r"mAP\(over='hits'\)@3 must be left out where unjudged documents are unknown"):
        per_query(profile, "mAP(over='hits')@3")


def test_measures_of_ones_own() -> None:
    rng = random.Random(3)
    worlds = [world(rng, [1]) for _ in range(60)]
    profile, discounts = profile_of(worlds, unjudged="unknown"), [Fraction(1, rank**2) for rank in range(1, 20)]
    for over in ("nothing", "relevant", "best"):
        register("squares", lambda rank: 1 / rank**2, over=over)
        try:
            lower, _, upper = per_query(profile, "squares")
            alone = np.array([per_query(profile_of([each], unjudged="unknown"), "squares") for each in worlds])
            np.testing.assert_array_equal(alone[:, :, 0].T[[0, 2]], [lower, upper])  # with few ranks, many are missing
        finally:
            unregister("squares")
        for i, world_i in enumerate(worlds):
            rankings = [
                ([int(bool(gain)) for gain in order], missing)
                for groups, missing in completions(world_i, (0, 1)) for order in orders(groups)
            ]  # fmt: skip
            if not any([*itertools.chain(*world_i[0]), *world_i[1]]):
                continue
            values = []
            for ranking, missing in rankings:
                n = sum(ranking) + len(missing)
                under = {"nothing": 1, "relevant": n, "best": sum(discounts[:n])}[over]
                values.append(sum(map(Fraction.__mul__, discounts, map(Fraction, ranking))) / under)
            assert close(lower[i], min(values))
            assert close(upper[i], max(values))


def test_a_profile_carries_unjudged_items(tmp_path: Path) -> None:
    rng = random.Random(4)
    worlds = [world(rng, [0.5, 2]) for _ in range(9)]
    profile = profile_of(worlds, unjudged="unknown")
    profile.save(tmp_path / "profile.npz")
    assert dh.TieProfile.load(tmp_path / "profile.npz") == profile
    assert dh.TieProfile.joined([profile[:4], profile[4:]]) == replace(profile, query_ids=None)
    assert_array_equal(per_query(profile[::-1], "nDCG@3"), np.array(per_query(profile, "nDCG@3"))[:, ::-1])
    other = replace(profile, n_unjudged=profile.n_unjudged + 1)
    assert other.digest() != profile.digest()
    for changed, message in (
        ({"n_unjudged": None}, "unjudged, n_unjudged, unjudged_gain must be given together"),
        ({"n_unjudged": profile.n_unjudged - 1}, "the groups hold more unjudged items than n_unjudged"),
        ({"unjudged": profile.unjudged + 9}, "the groups hold more unjudged|tied must not be less"),
        ({"unjudged_gain": np.zeros(9)}, "unjudged_gain must be finite and positive"),
        ({"bounds_only": True}, "unjudged must be left out with bounds_only"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(profile, **changed)
    with pytest.raises(ValueError, match="unjudged must not be 'unknown' here"):
        dh.precision_recall(profile)
