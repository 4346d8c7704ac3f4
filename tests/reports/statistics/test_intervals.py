"""Intervals against textbook formulas and against bootstrap distributions that are enumerated in fractions."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from deadheat import TieProfile, compare, evaluate
from deadheat.errors import QueryInGalleryWarning
from deadheat.reports.statistics import intervals as bootstrap
from deadheat.reports.statistics.intervals import (
    Interval,
    difference_interval,
    mean_interval,
    mean_intervals,
    normal_interval,
    standard_error,
    welch_degrees,
)
from deadheat.reports.statistics.settings import BOOTSTRAP, METHODS

Z95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution
Z80 = 1.2815515655446004  # the 90 % quantile
T95 = {  # the 97.5 % quantiles of Student's, by degrees of freedom
    2: 0.95 * math.sqrt(2 / 0.0975),
    3: 3.182446305283708,  # where 1/2 + (x/(1 + x^2) + atan x)/pi = 0.975, with x = t/sqrt 3
    4: 2 * math.sqrt(math.cos(math.acos(math.sqrt(0.0975)) / 3) / math.sqrt(0.0975) - 1),
}


def close(interval: Interval, low: float, high: float, tolerance: float = 1e-9) -> bool:  # as old SciPy knows Student's
    return abs(interval.low - low) < tolerance and abs(interval.high - high) < tolerance


def ratio_interval(sums: ArrayLike, sizes: ArrayLike, **settings: Any) -> Interval:
    """For a mean over queries by classes of these sums and sizes."""
    classes = np.repeat(np.arange(len(np.asarray(sizes))), sizes)
    values = np.zeros(len(classes))
    values[np.flatnonzero(np.diff(classes, prepend=-1))] = sums
    return mean_intervals(values, values, values, classes=classes, **{"method": "percentile"} | settings).expected


def is_nothing(interval: Interval) -> bool:
    return math.isnan(interval.low) and math.isnan(interval.high)


# Textbook formulas


def test_normal_and_student() -> None:
    values = [1.0, 3.0, 7.0, 9.0]  # mean 5, sum of squares 40
    error = math.sqrt(40 / 3 / 4)
    assert standard_error(values) == pytest.approx(error, rel=1e-15)
    assert close(mean_interval(values), 5 - T95[3] * error, 5 + T95[3] * error)
    assert mean_interval(np.array([*values, math.nan])) == mean_interval(values, method="t")
    assert close(normal_interval(5, error), 5 - Z95 * error, 5 + Z95 * error)
    assert close(normal_interval(5, error, 0.8), 5 - Z80 * error, 5 + Z80 * error)
    many = np.linspace(0, 1, 1000)
    assert mean_intervals(many, many, many).expected == mean_interval(many, method="t")
    assert mean_intervals(many, many, many).method == "t"


def test_difference_of_two_samples() -> None:
    a, b = [3.0, 4, 5], [1.0, 2, 3]  # both variances 1, so that Welch gives 4 degrees of freedom
    margin = T95[4] * math.sqrt(2 / 3)
    assert close(difference_interval(a, b), 2 - margin, 2 + margin)
    assert close(difference_interval(b, a), -2 - margin, -2 + margin)
    assert is_nothing(difference_interval(a, [1.0]))
    assert difference_interval([2.0, 2, 2], [1.0, 1]) == (1, 1)
    # one constant sample: its degrees of freedom do not count
    assert close(difference_interval(a, [1.0, 1, 1, 1]), 3 - T95[2] / math.sqrt(3), 3 + T95[2] / math.sqrt(3))
    assert welch_degrees([1.0, 2.0], [5, 9]) == pytest.approx(25 / (1 / 4 + 16 / 8))


def test_linearised_ratio() -> None:
    # ratio 4/8; residuals 1 - 1, 3 - 2, 0 - 1 over the mean weight 8/3: 0, 3/8, -3/8
    error = math.sqrt(2 * (3 / 8) ** 2 / 2 / 3)
    outcome = ratio_interval([1, 3, 0], [2, 4, 2], method="t")
    assert close(outcome, 0.5 - T95[2] * error, 0.5 + T95[2] * error)


def test_too_few_and_all_equal() -> None:
    for method in METHODS:
        for values in ([], [0.3], [0.3, math.nan]):
            assert is_nothing(mean_interval(values, method=method))
        assert mean_interval([0.1] * 3, method=method) == (math.fsum([0.1] * 3) / 3,) * 2
        assert ratio_interval([1, 2, 3], [2, 4, 6], method=method) == (0.5, 0.5)
        assert is_nothing(ratio_interval([1], [2], method=method))
    assert math.isnan(standard_error([1.0]))
    assert standard_error([0.1] * 3) == 0


# Bootstraps


@pytest.mark.parametrize("classes", [None, [0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5]])
def test_bootstrap_is_a_slow_loop_with_the_same_draws(classes: list[int] | None) -> None:
    rows = np.sort(np.random.default_rng(1).random((3, 11)), axis=0)
    numbers = np.arange(11) if classes is None else np.array(classes)
    units = [np.flatnonzero(numbers == c) for c in np.unique(numbers)]
    units.sort(key=lambda unit: [math.fsum(row[unit]) for row in rows])  # an order of their own
    how: dict = {"confidence_level": 0.9, "method": "percentile", "n_resamples": 500, "seed": 3}
    outcome = mean_intervals(*rows, classes=None if classes is None else numbers, **how)
    draws = np.random.default_rng(3).integers(0, len(units), (500, len(units)))
    drawn = [np.concatenate([units[i] for i in draw]) for draw in draws]
    for row, interval in zip(rows, (outcome.lower, outcome.expected, outcome.upper), strict=True):
        tail = (1 - bootstrap.expanded(0.9, len(units))) / 2
        low, high = np.quantile([math.fsum(row[each]) / len(each) for each in drawn], [tail, 1 - tail])
        assert close(interval, low, high, 1e-13)
    assert (outcome.n, outcome.method, outcome.confidence_level) == (len(units), "percentile", 0.9)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [6, 20, 500])
def test_percentiles_are_expanded_to_the_width_of_student(level: float, n: int) -> None:
    quantile = stats.t.ppf((1 + level) / 2, n - 1) * math.sqrt(n / (n - 1))
    assert bootstrap.expanded(level, n) == pytest.approx(2 * stats.norm.cdf(quantile) - 1, abs=3e-4)


def test_hits_of_single_queries_have_wilson_s_interval() -> None:
    hits = [0, 1, 1, 1, 1, 0, 1]
    expected = stats.binomtest(5, 7).proportion_ci(0.9, "wilson")
    outcome = mean_intervals(hits, hits, [1] * 7, method="percentile", confidence_level=0.9, within=(0, 1))
    assert (outcome.method, outcome.n) == ("Wilson", 7)
    assert close(outcome.lower, *expected)
    assert close(outcome.upper, *stats.binomtest(7, 7).proportion_ci(0.9, "wilson"))
    assert mean_intervals(hits, hits, hits, method="t", within=(0, 1)).method == "t"
    by_class = mean_intervals(hits, hits, hits, classes=np.arange(7), method="percentile", within=(0, 1))
    assert by_class.method == "percentile"


def test_units_of_one_value_leave_room_for_what_they_may_have_missed() -> None:
    missed = 1 - 0.025 ** (1 / 12)  # at the end of Clopper and Pearson
    outcome = mean_intervals([0.75] * 12, [0.75] * 12, [0.75] * 12, within=(0, 1))
    assert close(outcome.lower, 0.75 * (1 - missed), 0.75 + 0.25 * missed)
    assert close(bootstrap.unseen(1.0, 12, 0.95, 0, 1), stats.binomtest(12, 12).proportion_ci(0.95).low, 1)


def test_mean_over_classes_is_the_mean_of_their_means() -> None:
    values, classes = np.array([0.0, 1, 1, 0.25]), np.array([5, 5, 2, 9])
    outcome = mean_intervals(values, values, values, classes=classes, average="class", method="t")
    assert outcome.expected == mean_interval([0.5, 1, 0.25], method="t")
    assert outcome.n == 3
    drawn = mean_intervals(values, values, values, classes=classes, average="class", method="BCa", seed=4)
    assert drawn.upper == mean_interval([1, 0.5, 0.25], method="BCa", seed=4)  # classes in ascending order


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = {method: np.random.default_rng(0).random(40) for method in BOOTSTRAP}
    repeated = np.repeat([0, 0.5, 1], 40)

    def outcome() -> list[Interval]:
        intervals = [mean_interval(values, method=method, n_resamples=300) for method, values in samples.items()]
        return [*intervals, mean_interval(repeated, method="percentile", n_resamples=300)]

    whole = outcome()
    monkeypatch.setattr(bootstrap, "_AT_ONCE", 100)
    assert outcome() == whole


def test_counts_of_repeated_values_have_the_same_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.repeat([0.0, 1.0], [30, 70])
    # binomial with n = 100, p = 0.7: the 2.5 % and 97.5 % quantiles are 61 and 79 (cumulative .0210, .0340 at 60, 61)
    assert close(mean_interval(values, method="percentile"), 0.61, 0.79)
    monkeypatch.setattr(bootstrap, "_REPEATS", 10**9)
    assert close(mean_interval(values, method="percentile"), 0.61, 0.79)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.integers(0, 4)] * 3).map(sorted), min_size=2, max_size=40), st.integers(0, 2**32),
    st.booleans(),
)  # fmt: skip
def test_the_three_stay_in_order(rows: list[list[int]], seed: int, by_class: bool) -> None:
    lower, expected, upper = np.array(rows, dtype=float).T / 7
    classes = np.arange(len(rows)) // 2 if by_class else None
    outcome = mean_intervals(lower, expected, upper, classes=classes, method="percentile", n_resamples=50, seed=seed)
    if outcome.n > 1:
        for end in ("low", "high"):
            assert getattr(outcome.lower, end) <= getattr(outcome.expected, end) <= getattr(outcome.upper, end)


def test_bca_without_a_value_is_nan_and_silent() -> None:
    # the mean of (0, 1) can lie above or below every one of two resampled means
    outcome = [mean_interval([0.0, 1.0], method="BCa", n_resamples=2, seed=seed) for seed in range(20)]
    assert any(is_nothing(interval) for interval in outcome)


# What is refused


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        *(({"confidence_level": x}, ValueError, f"confidence_level must lie strictly between 0 and 1, but is {x}")
          for x in (95, 1.0, 0)),
        ({"confidence_level": math.nan}, ValueError, "confidence_level must be finite, but is nan"),
        ({"confidence_level": "0.95"}, TypeError, "confidence_level must be a number, but is '0.95', which .*"),
        ({"confidence_level": True}, TypeError, "confidence_level must be a number, but is True"),
        *(({"method": name}, ValueError, f"method must be one of percentile, BCa, t, but is '{name}'.*")
          for name in ("bca", "basic", "normal", "auto")),
        ({"n_resamples": 0}, ValueError, "n_resamples must be at least 1, but is 0"),
        ({"n_resamples": 10**12}, ValueError, "n_resamples must be at most 10000000, but is 1000000000000"),
        ({"seed": -1}, ValueError, "seed must be at least 0, but is -1"),
        ({"seed": None}, TypeError, "seed must be an integer, but is None"),
    ],
)  # fmt: skip
def test_settings_are_checked(change: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        mean_interval([0.0, 1.0], **change)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_interval([[0.0, 1.0]]), r"values must be one-dimensional, but has shape \(1, 2\)"),
        (lambda: mean_interval(["a", "b"]), "values must hold real numbers, but has dtype <U1"),  # type: ignore[list-item]
        (lambda: mean_interval([0, -math.inf]), "values must not be infinite, but holds -inf"),
        (lambda: mean_intervals([1, 1], [1, 1], [1]),
         r"lower, expected and upper must be of one length, but have \[2, 2, 1\]"),
    ],
)  # fmt: skip
def test_values_are_checked(call: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        call()


def test_scipy_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    assert mean_interval([1, 1]) == (1, 1)
    assert mean_interval([0, 1], method="percentile") == (0, 1)
    with pytest.raises(
        ModuleNotFoundError, match=r"^a confidence interval needs scipy: pip install 'deadheat\[stats\]'$"
    ):
        mean_interval([0, 1])
    with pytest.raises(ModuleNotFoundError, match=r"^a bootstrap interval needs scipy"):
        mean_interval([0, 1], method="BCa")


# Of a report

GROUPS = [[(0, 0, 2, 1)], [(0, 0, 1, 1)], [(1, 0, 1, 1)], [(0, 0, 1, 1)], []]
PROFILE = TieProfile.from_groups(GROUPS, n_ranked=[2] * 5)
LABELS = ["a", "b", "b", "a", "c"]


def test_interval_of_a_report_leaves_singletons_out() -> None:
    report = evaluate(PROFILE, "mAP")
    outcome = report.interval("AP", seed=5)
    values = {"lower": [0.5, 1, 0.5, 1], "expected": [0.75, 1, 0.5, 1], "upper": [1, 1, 0.5, 1]}
    for end, column in values.items():
        assert getattr(outcome, end) == mean_interval(column, method="percentile", seed=5)
    assert (report["AP"].interval(seed=5), outcome.n) == (outcome, 4)
    filled = evaluate(PROFILE, "mAP", singletons="zero").interval("AP", method="t")
    low, high = mean_interval([0.5, 1, 0.5, 1, 0], method="t")
    assert high > 1
    assert filled.lower == (low, 1), "an end is cut to what a mean can be"


def test_interval_by_class() -> None:
    named = evaluate(PROFILE, "mAP", labels=LABELS)
    given = evaluate(PROFILE, "mAP").interval("mAP", resample="class", labels=LABELS, seed=2)
    assert given == named.interval("mAP", resample="class", seed=2)
    assert given.n == 2
    assert ratio_interval([1.5, 1.5], [2, 2], seed=2) == (0.75, 0.75)
    assert given.lower == bootstrap.unseen(0.75, 2, 0.95, 0, 1)
    assert given.upper == ratio_interval([2, 1.5], [2, 2], seed=2) == (0.75, 1)
    over_classes = evaluate(PROFILE, "mAP", average="class", labels=["a", "b", "b", "b", "c"])
    outcome = over_classes.interval("mAP", method="t", confidence_level=0.5)
    assert outcome.lower == mean_interval([0.5, 2.5 / 3], method="t", confidence_level=0.5)
    other = named.interval("mAP", resample="class", labels=[1, 2, 3, 4, 5], seed=2)
    by_query = named.interval("mAP", resample="query", seed=2)
    assert (other.lower, other.expected, other.upper) == (by_query.lower, by_query.expected, by_query.upper)
    assert (other.unit, by_query.unit, other.n, by_query.n) == ("class", "query", 4, 4)


def test_classes_are_the_units_unless_there_is_a_separate_gallery() -> None:
    points, labels = np.random.default_rng(2).normal(size=(24, 3)), np.arange(24) % 12
    separated = evaluate(points, labels, points + 1, labels, measures="mAP")
    alone = evaluate(points, labels, measures="mAP")
    bare = evaluate(alone.profile, "mAP")
    with pytest.warns(QueryInGalleryWarning):
        same = evaluate(points, labels, points, labels, measures="mAP")  # a gallery of the queries is none of its own
    excluded = evaluate(points, labels, points, labels, measures="mAP", exclude=np.arange(24))
    assert (separated.separate_gallery, alone.separate_gallery) == (True, False)
    for report, unit in ((separated, "query"), (alone, "class"), (same, "class"), (bare, "query")):
        assert report.interval("mAP").unit == unit
        if report is not bare:
            assert report.interval("mAP") == report.interval("mAP", resample=unit)
            assert report.interval("mAP").notes == ()
    of_classes = alone.interval("mAP")
    assert of_classes.n == 12
    assert excluded.interval("mAP") == bare.interval("mAP", labels=labels) == of_classes
    assert evaluate(alone.profile, "mAP", labels=labels).interval("mAP") == of_classes
    assert bare.interval("mAP", resample="query").notes == ()
    assert bare.interval("mAP").notes == (
        "No labels are known, so each query counts as independent; where queries come in classes, give their labels.",
    )


def test_few_classes_are_said_with_the_interval() -> None:
    rows = [np.linspace(0, 1, 20)] * 3
    few = mean_intervals(*rows, classes=np.arange(20) % 9)
    said = "Only 9 classes: with fewer than about 10 neither intervals nor p-values can be trusted."
    assert str(few).splitlines()[-1] == said
    assert mean_intervals(*rows, classes=np.arange(20) % 10).notes == mean_intervals(*rows).notes == ()
    assert mean_intervals([0] * 5, [0] * 5, [0] * 5).notes == (
        said.replace("9 classes", "5 queries").replace("10", "6"),
    )


def test_intervals_as_people_read_them() -> None:
    rows = [[0.25, 0.5], [0.25, 0.75], [0.25, 1.0]]
    shown = str(mean_intervals(*rows[:1] * 3, method="percentile", confidence_level=0.8, unit="group"))
    assert shown.startswith("interval  [25.00, 50.00]\n80 % interval (%): percentile, over 2 groups.\nOnly 2 groups: ")
    few = str(mean_intervals(*rows, method="percentile", n_resamples=99))
    assert few.splitlines()[-3:-1] == ["upper     [25.00, 100.00]", "95 % intervals (%): percentile, over 2 queries."]
    assert few.splitlines()[-1].startswith("Only 2 queries: ")


def test_no_bit_depends_on_the_order_of_the_samples() -> None:
    rng = np.random.default_rng(5)
    labels, points = rng.integers(0, 9, 50), rng.integers(0, 4, (50, 2))  # full of ties

    def everything(order: np.ndarray) -> list[object]:
        a, b = (
            evaluate(rows[order], labels[order], distance="euclidean", measures=["mAP", "Hit@1"])
            for rows in (points, points[:, :1])
        )
        outcome: list[object] = [
            report.interval(name, resample=unit, method=method, n_resamples=200)
            for report in (a, b) for name in a for unit in ("query", "class") for method in ("percentile", "BCa", "t")
        ]  # fmt: skip
        for unit in ("query", "class"):
            comparison = compare(a, b, resample=unit, n_resamples=500)
            outcome += [str(comparison), *((comparison[name].to_dict(), comparison[name].wilcoxon()) for name in a)]
        over_classes = evaluate(a.profile, "mAP", average="class", labels=labels[order])
        return [*outcome, over_classes.interval("mAP", n_resamples=200)]

    assert everything(np.arange(50)) == everything(rng.permutation(50)) == everything(np.argsort(labels))


def test_labels_in_a_report_change_nothing_else() -> None:
    plain, named = evaluate(PROFILE), evaluate(PROFILE, labels=LABELS)
    assert (named.average, named.n_class) == ("query", None)
    assert named.to_json(std=True) == plain.to_json(std=True)
    assert str(named) == str(plain)
    np.testing.assert_array_equal(named.classes, [0, 1, 1, 0, 2])
    with pytest.raises(ValueError, match=r"^labels must have one entry per .* but got 2 labels for 5 rows$"):
        evaluate(PROFILE, labels=["a", "b"])


def test_bounds_without_an_expectation() -> None:
    window = replace(TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)]], n_ranked=[2, 2]), bounds_only=True)
    outcome = evaluate(window, "mAP").interval("mAP")
    assert (outcome.lower, outcome.upper) == ((0.5, 1), (0.5, 1)), "the upper value has no end below the lower one"
    assert is_nothing(outcome.expected)


def test_what_a_report_refuses() -> None:
    plain, over_classes = (evaluate(PROFILE, "mAP", average=average, labels=labels)
                           for average, labels in (("query", None), ("class", LABELS)))  # fmt: skip
    for report, options, message in (
        (plain, {"resample": "class"}, 'resample="class" needs labels, one for each query$'),
        (plain, {"resample": "query", "labels": LABELS},
         'labels must be left out unless resample is "class", but it is "query"$'),
        (plain, {"resample": "classes"}, "resample must be one of query, class, but is 'classes'; did you mean"),
        (over_classes, {"resample": "query"}, 'resample must be "class" for a mean over classes, but is "query"$'),
        (over_classes, {"labels": LABELS}, "labels must be left out for a mean over classes"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{message}"):
            report.interval("mAP", **options)
