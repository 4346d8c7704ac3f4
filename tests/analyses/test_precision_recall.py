"""Precision against recall: every order of the ties in exact fractions, and what curves have in common with AP."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deadheat as dh
from deadheat.errors import UndefinedError
from reproduce import reference

Group = tuple[int, int, int, int]
Query = tuple[list[Group], int]  # its tie groups, nearest first, and how many relevant items were not retrieved


@st.composite
def queries(draw: st.DrawFn) -> Query:
    groups, k, n = [], 0, 0
    for _ in range(draw(st.integers(1, 3))):
        k += draw(st.integers(0, 2))
        tied = draw(st.integers(1, 4))
        m = draw(st.integers(1, tied))
        groups.append((k, n, tied, m))
        k, n = k + tied, n + m
    return groups, draw(st.integers(0, 2))


def made(*all_groups: Query) -> dh.TieProfile:
    n_relevant = [sum(group[3] for group in groups) + missed for groups, missed in all_groups]
    n_ranked = [groups[-1][0] + groups[-1][2] + 3 for groups, _ in all_groups]
    return dh.TieProfile.from_groups([groups for groups, _ in all_groups], n_ranked, n_relevant)


def arrangements(groups: list[Group], missed: int) -> list[list[Fraction]]:
    """The precision at each relevant item, for every order of every group; 0 at those that were not retrieved."""
    places = [itertools.combinations(range(k + 1, k + tied + 1), m) for k, _, tied, m in groups]
    orders = [sorted(itertools.chain(*choice)) for choice in itertools.product(*places)]
    return [[Fraction(j, rank) for j, rank in enumerate(ranks, 1)] + [Fraction(0)] * missed for ranks in orders]


def compare(curve: dh.analyses.precision_recall.PrecisionRecall, rows: list[list[Fraction]]) -> None:
    columns = list(zip(*rows, strict=True))
    assert curve.lower == pytest.approx([float(min(column)) for column in columns], abs=1e-15)
    assert curve.upper == pytest.approx([float(max(column)) for column in columns], abs=1e-15)
    assert curve.expected == pytest.approx([float(sum(column) / len(column)) for column in columns], abs=1e-14)


@given(queries(), queries())
def test_of_one_query_it_is_what_every_order_gives(other: Query, query: Query) -> None:
    profile, rows = made(other, query, other), arrangements(*query)
    curve = dh.precision_recall(profile, 1)
    compare(curve, rows)
    assert (curve.recall == np.arange(1, len(rows[0]) + 1) / len(rows[0])).all()
    assert not curve.interpolated
    ap = dh.evaluate(profile, measures="mAP")["mAP"].per_query
    for name in ("lower", "expected", "upper"):
        assert np.mean(getattr(curve, name)) == pytest.approx(getattr(ap, name)[1], abs=1e-14)


@given(queries(), st.integers(2, 12))
def test_levels_take_the_best_from_there_on_or_where_they_are_reached(query: Query, n: int) -> None:
    profile, rows = made(query), arrangements(*query)
    firsts = [max(1, -(-level * len(rows[0]) // (n - 1))) for level in range(n)]
    compare(dh.precision_recall(profile, levels=n), [[row[j - 1] for j in firsts] for row in rows])
    compare(
        dh.precision_recall(profile, levels=n, interpolate=True), [[max(row[j - 1 :]) for j in firsts] for row in rows]
    )


def test_eleven_levels_are_those_of_the_measure() -> None:
    rng = np.random.default_rng(0)
    task = dh.Task(rng.integers(0, 3, (60, 3)), rng.integers(0, 6, 60), distance="cityblock")
    curve, levels = dh.precision_recall(task, interpolate=True), [f"IPrec@{level / 10}" for level in range(11)]
    measured = dh.evaluate(task, levels)
    for bound in ("lower", "expected", "upper"):
        assert getattr(curve, bound).tolist() == [getattr(measured[level], bound) for level in levels]


def test_the_mean_leaves_out_queries_without_a_relevant_item_and_counts_the_others() -> None:
    profile = dh.TieProfile.from_groups([[(0, 0, 1, 1)], [], [(1, 0, 1, 1)]], [3, 3, 3])
    curve = dh.precision_recall(profile, levels=2)
    assert (curve.n_query, curve.expected.tolist()) == (2, [0.75, 0.75])
    for query, message in ((1, "query 1 has no relevant item"), (None, "no query has a relevant item")):
        with pytest.raises(UndefinedError, match=message):
            dh.precision_recall(profile[1:2] if query is None else profile, query)


def test_of_large_groups_the_expectation_is_near_the_truth_and_sums_to_ap() -> None:
    """One group of 400 with 100 relevant: the mean over recalls is AP's closed form."""
    group = (3, 0, 400, 100)
    curve = dh.precision_recall(made(([group], 0)), 0)
    assert np.mean(curve.expected) == pytest.approx(float(reference.ap_expected([group])), rel=1e-13)
    assert (np.diff(curve.expected[5:]) < 0.01).all()
