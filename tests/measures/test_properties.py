"""Properties of any profile: order of the bounds, the same bits for any threads and any other queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bits import a_fixed_profile
from graded_queries import GAIN_NAMES, NAMES, OVER_NAMES
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import DEFAULT_MEASURES, first_last_hit, groups, per_query, std, values
from deadheat.measures.names import parse
from deadheat.measures.values import all_bounds


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
                                  "MRR@10", "nDCG@1000", "F1@10", "RBP", "RBP(p=0.95)@50", "AUC", "mINP",
                                  "mAP(over='hits')@100",
                                  "mAP(over='possible')@50", "Recall(over='possible')@9"])  # fmt: skip
@settings(max_examples=60)
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


@settings(max_examples=60)
@given(profile=large_profiles())
def test_a_deviation_is_at_most_half_the_width(profile: TieProfile) -> None:
    """Popoviciu's inequality, and Bhatia and Davis's sharper one."""
    small = profile[np.flatnonzero(np.bincount(profile.query_of_group, profile.tied, profile.n_query) < 10**5)]
    for name in ("mAP", "MAP@R", "P@10", "Hit@10", "MRR", "AUC", "mINP", "nDCG@100", "mAP(over='hits')@30"):
        lower, expected, upper = per_query(small, name)
        deviation = std(small, name)
        defined = ~np.isnan(lower)
        most = (upper - expected) * (expected - lower)
        assert (deviation**2 <= most * (1 + 1e-6) + 1e-15)[defined].all()
        assert (deviation[lower == upper] == 0).all()


@pytest.mark.parametrize(("threads", "patches"), [
    (1, {}), (3, {"WORTH_A_THREAD": 1}), (1, {"MOST_AT_ONCE": 7}), (2, {"MOST_AT_ONCE": 7}),
])  # fmt: skip
def test_many_measures_at_once_or_in_many_calls_are_those_one_by_one(
    threads: int, patches: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, names = a_fixed_profile(), [*NAMES, *OVER_NAMES, *GAIN_NAMES, *DEFAULT_MEASURES]
    alone = [per_query(profile, name) for name in names]
    for name, number in patches.items():
        monkeypatch.setattr(values, name, number)
        monkeypatch.setattr(first_last_hit, "_MOST_SLOTS", 7)
    calls = len(values.ranges_of_queries(profile, threads))
    assert calls > 30 if "MOST_AT_ONCE" in patches else calls == threads
    assert_array_equal(np.array(all_bounds(profile, [*map(parse, names)], threads)), np.array(alone))


def test_no_pool_is_opened_where_it_is_not_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "Workers", None)
    profile, names = a_fixed_profile(), [parse("mAP")]
    assert len(all_bounds(profile, names, 2)) == 1
    monkeypatch.setattr(values, "WORTH_A_THREAD", 1)
    with pytest.raises(TypeError, match="not callable"):
        all_bounds(profile, names, 2)


@pytest.mark.parametrize("name", [*NAMES, *OVER_NAMES, *GAIN_NAMES])
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
