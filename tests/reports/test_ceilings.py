"""Relevant items that are not in the gallery: how many a report counts, and what no ranking can exceed."""

from __future__ import annotations

import math
import random
from itertools import permutations

import numpy as np
import pytest
from graded_queries import GAIN_NAMES, NAMES, OVER_NAMES, profile_of, random_query, value

from deadheat import Task, Tolerance, evaluate, from_judged, from_neighbors, from_run
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.evaluating import report_on


@pytest.mark.parametrize("grades", [[1], [1, 2, 4]])
def test_ceiling_is_the_best_of_all_rankings(grades: list[int]) -> None:
    """Every arrangement of what is ranked, in fractions: the best one has the ceiling, and reachable items first."""
    rng, names = random.Random(len(grades)), [*NAMES, *OVER_NAMES, *(GAIN_NAMES if len(grades) > 1 else ())]
    for _ in range(40):
        groups, n_ranked, missing = random_query(rng, grades, most=4)
        profile = profile_of([(groups, n_ranked, missing)], grades)
        if not profile.n_relevant.any() or not missing:
            continue
        outcome = sorted(
            (grade for *_, counts in groups for grade, n in counts.items() for _ in range(n)), reverse=True
        )
        items = outcome + [0] * (n_ranked - len(outcome))
        report = report_on(profile, SummaryOptions.checked(names), threads=1, knows_gallery=True)
        assert report.n_unreachable.tolist() == [len(missing)]
        for name in names:
            best = [value(name, ranking, missing) for ranking in set(permutations(items))]
            ideal = value(name, items, missing)
            if math.isnan(ideal):
                assert math.isnan(report.ceilings[name]), name
                continue
            assert max(best) == ideal, name
            assert report.ceilings[name] == pytest.approx(float(ideal), rel=1e-13), name
            assert report[name].upper <= report.ceilings[name] * (1 + 1e-13)


def judged() -> Task:
    """Queries 0 and 1 on a line of three documents; x, y and z are not there, and the third query is left with none."""
    qrels = {"q": {"a": 1, "x": 2}, "r": {"b": 2, "c": 1, "y": 2}, "s": {"z": 1}, "t": {"a": 0}}
    given = [[1.0], [2.0], [3.0], [0.0]], [[1.0], [2.0], [3.0]], qrels, list(qrels), ["a", "b", "c"]
    return from_judged(*given, distance="euclidean")


def test_a_report_counts_them_and_has_a_column() -> None:
    """By hand: AP at best 1/2, 2/3 and 0; the first two of three relevant documents of r tie for place 2 with a."""
    report = evaluate(judged(), "mAP, Recall@1")
    assert report.ceilings == {
        "mAP": pytest.approx((1 / 2 + 2 / 3 + 0) / 3),
        "Recall@1": pytest.approx((1 / 2 + 1 / 3) / 3),
    }
    assert (
        "3 of 6 relevant items, of 3 queries, are not in the gallery: no ranking is above the ceiling."
        in report.notes()
    )
    assert str(report).splitlines()[:2] == [
        "measure (%)  lower  expected  upper  ceiling",
        "mAP          35.19     37.04  38.89    38.89",
    ]
    assert report.columns()["ceiling"] == list(report.ceilings.values())
    assert report.to_dict()["measures"]["mAP"]["ceiling"] == report.ceilings["mAP"]
    counted = evaluate(judged(), "mAP", singletons="one")
    assert counted.ceilings["mAP"] == pytest.approx((1 / 2 + 2 / 3 + 0 + 1) / 4)


def test_nothing_is_added_where_nothing_is_missing() -> None:
    whole = from_judged([[1.0]], [[1.0], [2.0]], {"q": {"a": 1}}, ["q"], ["a", "b"])
    run = from_run({"q": {"b": 1.0}}, {"q": {"a": 1}})  # which says nothing of the gallery
    for task in (whole, run, Task([[1.0], [1.0]], [0, 0]), judged().profile):
        report = evaluate(task, "MRR")
        assert (report.ceilings, report.n_unreachable.sum()) == ({}, 0)
        assert "ceiling" not in str(report) + str(report.to_dict())


def test_under_a_tolerance_and_from_an_index() -> None:
    given = [[1.0], [2.0]], [[1.0], [2.0]], {"q": {"a": 1, "x": 1}, "r": {"b": 1}}, ["q", "r"], ["a", "b"]
    assert evaluate(from_judged(*given, distance="euclidean", ties=Tolerance(1.0)), "mAP").ceilings == {"mAP": 0.75}
    index = from_neighbors([["a"], ["a"]], [[0.5], [0.5]], relevant=[{"a", "x"}, {"b"}], gallery_ids=["a", "b"])
    report = evaluate(index, "Recall@1, Hit@1")
    assert report.ceilings == {"Recall@1": 0.75, "Hit@1": 1.0}
    assert report.n_unreachable.tolist() == [1, 0]
    np.testing.assert_array_equal(index.profile.n_relevant, [2, 1])
