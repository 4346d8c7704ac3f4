"""Means over queries of which one has bounds and no expectation: NaN, and never the mean of the others."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.analyses.gaps import errors_by_class
from deadheat.analyses.grouped import GroupedResult
from deadheat.measures import interpolated
from deadheat.reports.report import Report
from deadheat.reports.statistics.intervals import mean_intervals
from deadheat.support.means import exact_means, exact_means_of_runs
from deadheat.support.triple import Triple

LABELS = ["x", "x", "y", "y"]
VALUES = Triple(*np.array([[0.25, 0.5, np.nan, 1], [0.5, np.nan, np.nan, 1], [0.75, 1, np.nan, 1]]))


def profile() -> dh.TieProfile:
    """Four queries: all is known of the first, nothing relevant was returned for the second, the others have ties."""
    ids, scores = [[3, 1], [0, 4], [0, 1], [0, 1]], [[9, 5], [7, 1], [5, 5], [5, 4]]
    return dh.from_neighbors(ids, scores, relevant=[{3}, {1, 2}, {0}, {1}], n_gallery=5, cut_ties=False).profile


def report(**settings: Any) -> Report:
    return dh.evaluate(profile(), "mAP", labels=LABELS, **settings)


def grouped() -> GroupedResult:
    return GroupedResult("mAP", VALUES, n_group=4, draws=1)


def of_pair(first: Report, second: Report) -> Any:
    return dh.compare(first, second, resample="query" if first.average == "query" else None)["mAP"]


def whole() -> Report:
    """Another system, of which all is known."""
    return dh.evaluate(dh.TieProfile.from_groups([[(0, 0, 1, 1)]] * 4, n_ranked=[5] * 4), "mAP", labels=LABELS)


def lows(outcome: Any) -> tuple[float, float]:
    return outcome.lower.low, outcome.expected.low


def over_classes() -> Report:
    return report(average="class")


REDUCTIONS: dict[str, Callable[[], tuple[Any, Any]]] = {  # of the lower bound, and of the expectation
    "mean": lambda: (report()["mAP"].lower, report()["mAP"].expected),
    "mean over classes": lambda: (over_classes()["mAP"].lower, over_classes()["mAP"].expected),
    "deviation": lambda: (0, report()["mAP"].std),
    "deviation over classes": lambda: (0, over_classes()["mAP"].std),
    "mean with singletons": lambda: (report()["mAP"].lower, report(singletons="one")["mAP"].expected),
    "class": lambda: tuple(bound[1] for bound in report().by_class().per_row["mAP"][:2]),
    "interval": lambda: lows(report()["mAP"].interval()),
    "interval of values": lambda: lows(mean_intervals(*VALUES)),
    "interval by t": lambda: lows(mean_intervals(*VALUES, method="t")),
    "interval over classes": lambda: lows(over_classes()["mAP"].interval()),
    "A of a comparison": lambda: of_pair(report(), whole()).a[:2],
    "B of a comparison": lambda: of_pair(whole(), report()).b[:2],
    "difference": lambda: (of_pair(report(), whole()).lower, of_pair(report(), whole()).expected),
    "difference, reversed": lambda: (of_pair(whole(), report()).lower, of_pair(whole(), report()).expected),
    "p-value": lambda: (of_pair(report(), whole()).pvalue_worst_case, of_pair(report(), whole()).pvalue),
    "interval of a difference": lambda: lows(of_pair(report(), whole()).interval()),
    "errors by class": lambda: errors_by_class(report(), "mAP")[0][:2],
    "groups": lambda: (grouped().lower, grouped().expected),
    "errors of groups": lambda: grouped().errors[:2],
    "intervals of groups": lambda: lows(grouped().interval()),
    "entries": lambda: exact_means(VALUES)[:2],
    "a run of entries": lambda: tuple(bound[0] for bound in exact_means_of_runs(VALUES, np.array([0, 3, 4]))[:2]),
}


@pytest.mark.parametrize("what", REDUCTIONS)
def test_one_missing_expectation_is_none_for_the_mean(what: str) -> None:
    of_lower, of_expected = REDUCTIONS[what]()
    assert not isnan(of_lower)
    assert isnan(of_expected)


def test_the_other_queries_keep_theirs() -> None:
    """In arrays, in a breakdown by query, and in classes that have all of theirs; so do the deviations."""
    one = report()
    assert np.isnan(one["mAP"].per_query.expected).tolist() == [False, True, False, False]
    assert np.isnan(one["mAP"].std_per_query).tolist() == [False, True, False, False]
    assert np.isnan(one.by_query().per_row["mAP"].expected).tolist() == [False, True, False, False]
    by_class = one.by_class()
    assert by_class.rows["class"] == ["y", "x"]
    assert by_class.per_row["mAP"].expected[0] == 0.625


def test_the_deviation_of_a_mean_needs_those_of_all_queries() -> None:
    """The mean over eleven recalls has no deviation for a query whose ties matter."""
    result = dh.evaluate(dh.from_scores([[3, 2, 1], [1, 1, 0]], [[1, 0, 1], [1, 0, 1]]), "11pt_avg")["11pt_avg"]
    assert np.isnan(result.std_per_query).tolist() == [False, True]
    assert isnan(result.std)
    assert not isnan(result.expected)


def test_an_expectation_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpolated precision gives up on large ties; a mean over what it has would be that of other queries."""
    interpolated.moments.cache_clear()
    monkeypatch.setattr(interpolated, "_MOST_STEPS", 0)
    rows, labels = np.array([[0], [0], [0], [5], [5]]), ["a", "a", "b", "c", "c"]
    assert isnan(dh.evaluate(dh.Task(rows, labels, distance="euclidean"), "11pt_avg")["11pt_avg"].expected)
    interpolated.moments.cache_clear()
