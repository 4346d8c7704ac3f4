"""Intervals against textbook formulas and against bootstrap distributions that are enumerated in fractions."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from deadheat import TieProfile, compare, evaluate, measure
from deadheat.errors import QueryInGalleryWarning
from deadheat.reports.statistics import intervals as bootstrap
from deadheat.reports.statistics.intervals import (
    METHODS,
    Interval,
    difference_interval,
    mean_interval,
    mean_intervals,
    standard_error,
    welch_degrees,
)

Z95 = 1.959963984540054  # the 97.5 % quantile of the normal distribution
Z80 = 1.2815515655446004  # the 90 % quantile
T95 = {  # the 97.5 % quantiles of Student's, by degrees of freedom
    2: 0.95 * math.sqrt(2 / 0.0975),
    3: 3.182446305283708,  # where 1/2 + (x/(1 + x^2) + atan x)/pi = 0.975, with x = t/sqrt 3
    4: 2 * math.sqrt(math.cos(math.acos(math.sqrt(0.0975)) / 3) / math.sqrt(0.0975) - 1),
}
BOOTSTRAP = ["percentile", "basic", "BCa"]
NOTHING = Interval(math.nan, math.nan)


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


# ---------------------------------------------------------------------------------------------------------------------
# textbook formulas


def test_normal_and_student() -> None:
    values = [1.0, 3.0, 7.0, 9.0]  # mean 5, sum of squares 40
    error = math.sqrt(40 / 3 / 4)
    assert standard_error(values) == pytest.approx(error, rel=1e-15)
    assert close(mean_interval(values, method="normal"), 5 - Z95 * error, 5 + Z95 * error)
    assert close(mean_interval(values, method="t"), 5 - T95[3] * error, 5 + T95[3] * error)
    assert close(mean_interval(values, method="normal", confidence_level=0.8), 5 - Z80 * error, 5 + Z80 * error)
    assert mean_interval(np.array([*values, math.nan])) == mean_interval(values, method="t")


def test_auto_is_students_below_thirty() -> None:
    values = np.linspace(0, 1, 30)
    assert mean_interval(values) == mean_interval(values, method="normal")
    assert mean_interval(values[:29]) == mean_interval(values[:29], method="t")
    assert mean_intervals(values, values, values).method == "normal"
    assert mean_intervals(*[values[:29]] * 3).method == "t"


def test_difference_of_two_samples() -> None:
    a, b = [3.0, 4, 5], [1.0, 2, 3]  # both variances 1, so that Welch gives 4 degrees of freedom
    error = math.sqrt(2 / 3)
    assert close(difference_interval(a, b), 2 - T95[4] * error, 2 + T95[4] * error)
    assert close(difference_interval(a, b, method="normal"), 2 - Z95 * error, 2 + Z95 * error)
    back = difference_interval(b, a)
    assert close(back, -2 - T95[4] * error, -2 + T95[4] * error)
    assert is_nothing(difference_interval(a, [1.0]))
    assert difference_interval([2.0, 2, 2], [1.0, 1]) == (1, 1)
    # one constant sample: its degrees of freedom do not count
    assert close(difference_interval(a, [1.0, 1, 1, 1]), 3 - T95[2] / math.sqrt(3), 3 + T95[2] / math.sqrt(3))
    assert welch_degrees([1.0, 2.0], [5, 9]) == pytest.approx(25 / (1 / 4 + 16 / 8))


def test_linearised_ratio() -> None:
    # ratio 4/8; residuals 1 - 1, 3 - 2, 0 - 1 over the mean weight 8/3: 0, 3/8, -3/8
    error = math.sqrt(2 * (3 / 8) ** 2 / 2 / 3)
    found = ratio_interval([1, 3, 0], [2, 4, 2], method="t")
    assert close(found, 0.5 - T95[2] * error, 0.5 + T95[2] * error)


def test_too_few_and_all_equal() -> None:
    for method in METHODS:
        for values in ([], [0.3], [0.3, math.nan]):
            assert is_nothing(mean_interval(values, method=method))
        assert mean_interval([0.1] * 3, method=method) == (math.fsum([0.1] * 3) / 3,) * 2
        assert ratio_interval([1, 2, 3], [2, 4, 6], method=method) == (0.5, 0.5)
        assert is_nothing(ratio_interval([1], [2], method=method))
    assert math.isnan(standard_error([1.0]))
    assert standard_error([0.1] * 3) == 0


# ---------------------------------------------------------------------------------------------------------------------
# bootstraps


@pytest.mark.parametrize("weighted", [False, True])
def test_bootstrap_is_a_slow_loop_with_the_same_draws(weighted: bool) -> None:
    rng = np.random.default_rng(1)
    n, level = 11, 0.9
    rows = np.sort(rng.random((3, n)), axis=0)
    classes = np.arange(n) if not weighted else np.array([0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 5])
    units = [np.flatnonzero(classes == c) for c in np.unique(classes)]
    units.sort(key=lambda unit: [math.fsum(row[unit]) for row in rows])  # an order of their own
    how: dict = {"confidence_level": level, "method": "percentile", "n_resamples": 500, "seed": 3}
    found = mean_intervals(*rows, classes=classes if weighted else None, **how)
    for row, interval in zip(rows, (found.lower, found.expected, found.upper), strict=True):
        means = []
        for draw in np.random.default_rng(3).integers(0, len(units), (500, len(units))):
            drawn = np.concatenate([units[i] for i in draw])
            means.append(math.fsum(row[drawn]) / len(drawn))
        low, high = np.quantile(means, [0.05, 0.95])
        assert close(interval, low, high, 1e-13)
    assert (found.n, found.method, found.confidence_level) == (len(units), "percentile", level)


@pytest.mark.parametrize(("method", "weights"), [("percentile", None), ("basic", [2, 1, 4, 1, 1, 3, 2])])
def test_bootstrap_is_that_of_scipy_with_the_same_draws(method: str, weights: list[int] | None) -> None:
    stats = pytest.importorskip("scipy.stats")
    values, sizes = np.random.default_rng(6).random(7), np.array(weights or [1] * 7)
    order = np.argsort(values * sizes)  # that in which units are drawn
    values, sizes = values[order], sizes[order]
    oracle = stats.bootstrap(
        (values * sizes, sizes),
        lambda above, below, axis: above.sum(axis) / below.sum(axis),
        paired=True,
        method=method,
        n_resamples=400,
        confidence_level=0.8,
        rng=np.random.default_rng(12),
    ).confidence_interval
    how: dict = {"method": method, "n_resamples": 400, "confidence_level": 0.8, "seed": 12}
    found = mean_interval(values, **how) if weights is None else ratio_interval(values * sizes, sizes, **how)
    assert close(found, oracle.low, oracle.high, 1e-13)


def test_mean_over_classes_is_the_mean_of_their_means() -> None:
    values, classes = np.array([0.0, 1, 1, 0.25]), np.array([5, 5, 2, 9])
    found = mean_intervals(values, values, values, classes=classes, average="class", method="t")
    assert found.expected == mean_interval([0.5, 1, 0.25], method="t")
    assert found.n == 3
    drawn = mean_intervals(values, values, values, classes=classes, average="class", method="BCa", seed=4)
    assert drawn.upper == mean_interval([1, 0.5, 0.25], method="BCa", seed=4)  # classes in ascending order


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(40)
    whole = {method: mean_interval(values, method=method, n_resamples=300) for method in BOOTSTRAP}
    repeated = mean_interval(np.repeat([0, 0.5, 1], 40), method="basic", n_resamples=300)
    monkeypatch.setattr(bootstrap, "_AT_ONCE", 100)
    assert {method: mean_interval(values, method=method, n_resamples=300) for method in BOOTSTRAP} == whole
    assert mean_interval(np.repeat([0, 0.5, 1], 40), method="basic", n_resamples=300) == repeated


@pytest.mark.parametrize("method", ["percentile", "basic"])
def test_counts_of_repeated_values_have_the_same_distribution(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.repeat([0.0, 1.0], [30, 70])
    few = mean_interval(values, method=method)
    monkeypatch.setattr(bootstrap, "_REPEATS", 10**9)
    one_by_one = mean_interval(values, method=method)
    # binomial with n = 100, p = 0.7: the 2.5 % and 97.5 % quantiles are 61 and 79 (cumulative .0210, .0340 at 60, 61)
    # and 1.4 - 0.79 = 0.61, so that both methods agree
    assert close(few, 0.61, 0.79)
    assert close(one_by_one, 0.61, 0.79)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.integers(0, 4)] * 3).map(sorted), min_size=2, max_size=40),
    st.integers(0, 2**32),
    st.booleans(),
)
def test_the_three_stay_in_order(rows: list[list[int]], seed: int, by_class: bool) -> None:
    lower, expected, upper = np.array(rows, dtype=float).T / 7
    classes = np.arange(len(rows)) // 2 if by_class else None
    found = mean_intervals(lower, expected, upper, classes=classes, method="percentile", n_resamples=50, seed=seed)
    if found.n > 1:
        assert found.lower.low <= found.expected.low <= found.upper.low
        assert found.lower.high <= found.expected.high <= found.upper.high


def test_bca_without_a_value_is_nan_and_silent() -> None:
    # the mean of (0, 1) can lie above or below every one of two resampled means
    found = [mean_interval([0.0, 1.0], method="BCa", n_resamples=2, seed=seed) for seed in range(20)]
    assert any(is_nothing(interval) for interval in found)


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"confidence_level": 95}, ValueError, "confidence_level must lie strictly between 0 and 1, but is 95"),
        ({"confidence_level": 1.0}, ValueError, "confidence_level must lie strictly between 0 and 1, but is 1.0"),
        ({"confidence_level": math.nan}, ValueError, "confidence_level must lie strictly between 0 and 1, but is nan"),
        ({"confidence_level": "0.95"}, TypeError, "confidence_level must be a number, but is '0.95'"),
        ({"confidence_level": True}, TypeError, "confidence_level must be a number, but is True"),
        ({"method": "bca"}, ValueError, "method must be one of .*, but is 'bca'"),
        ({"n_resamples": 0}, ValueError, "n_resamples must be at least 1, but is 0"),
        ({"n_resamples": 10**12}, ValueError, "n_resamples must be at most 10000000, but is 1000000000000"),
        ({"seed": -1}, ValueError, "seed must be at least 0, but is -1"),
        ({"seed": None}, TypeError, "seed must be an integer, but is None"),
    ],
)
def test_settings_are_checked(change: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        mean_interval([0.0, 1.0], **change)


def test_values_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^values must be one-dimensional, but has shape \(1, 2\)$"):
        mean_interval([[0.0, 1.0]])
    with pytest.raises(TypeError, match=r"^values must hold real numbers, but has dtype <U1$"):
        mean_interval(["a", "b"])
    with pytest.raises(ValueError, match=r"^values must not be infinite, but holds -inf$"):
        mean_interval([0, -math.inf])
    with pytest.raises(ValueError, match=r"^lower, expected and upper must be of one length, but have \[2, 2, 1\]$"):
        mean_intervals([1, 1], [1, 1], [1])
    with pytest.raises(ValueError, match=r"^method must be one of auto, normal, t, but is 'BCa'"):
        difference_interval([1, 2], [1, 2], method="BCa")


def test_scipy_is_imported_on_use_and_named_when_missing() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None; sys.modules['scipy.stats'] = None\n"
        "import deadheat, deadheat.analyses.comparison, deadheat.reports.statistics.intervals as iv\n"
        "assert iv.mean_interval([1, 1]) == (1, 1)\n"
        "assert iv.mean_interval([0, 1], method='percentile') == (0, 1)\n"
        "try: iv.mean_interval([0, 1])\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "a confidence interval needs scipy: pip install 'deadheat[stats]'\n"


# ---------------------------------------------------------------------------------------------------------------------
# of a report

GROUPS = [[(0, 0, 2, 1)], [(0, 0, 1, 1)], [(1, 0, 1, 1)], [(0, 0, 1, 1)], []]
PROFILE = TieProfile.from_groups(GROUPS, n_ranked=[2] * 5)
LABELS = ["a", "b", "b", "a", "c"]


def test_interval_of_a_report_leaves_singletons_out() -> None:
    report = measure(PROFILE, "mAP")
    found = report.interval("AP", seed=5)
    assert found.n == 4
    assert found.lower == mean_interval([0.5, 1, 0.5, 1], method="percentile", seed=5)
    assert found.expected == mean_interval([0.75, 1, 0.5, 1], method="percentile", seed=5)
    assert found.upper == mean_interval([1, 1, 0.5, 1], method="percentile", seed=5)
    assert report["AP"].interval(seed=5) == found
    filled = measure(PROFILE, "mAP", singletons="zero").interval("AP", method="t")
    low, high = mean_interval([0.5, 1, 0.5, 1, 0], method="t")
    assert high > 1
    assert filled.lower == (low, 1), "an end is cut to what a mean can be"


def test_interval_by_class() -> None:
    named = measure(PROFILE, "mAP", labels=LABELS)
    given = measure(PROFILE, "mAP").interval("mAP", resample="class", labels=LABELS, seed=2)
    assert given == named.interval("mAP", resample="class", seed=2)
    assert given.n == 2
    assert given.lower == ratio_interval([1.5, 1.5], [2, 2], seed=2) == (0.75, 0.75)
    assert given.upper == ratio_interval([2, 1.5], [2, 2], seed=2) == (0.75, 1)
    over_classes = measure(PROFILE, "mAP", average="class", labels=["a", "b", "b", "b", "c"])
    found = over_classes.interval("mAP", method="t", confidence_level=0.5)
    assert found.lower == mean_interval([0.5, 2.5 / 3], method="t", confidence_level=0.5)
    other = named.interval("mAP", resample="class", labels=[1, 2, 3, 4, 5], seed=2)
    by_query = named.interval("mAP", resample="query", seed=2)
    assert (other.lower, other.expected, other.upper) == (by_query.lower, by_query.expected, by_query.upper)
    assert (other.unit, by_query.unit, other.n, by_query.n) == ("class", "query", 4, 4)


def test_classes_are_the_units_unless_there_is_a_separate_gallery() -> None:
    rng = np.random.default_rng(2)
    points, labels = rng.normal(size=(24, 3)), np.arange(24) % 12
    separated = evaluate(points, labels, points + 1, labels, measures="mAP")
    assert separated.separate_gallery
    assert separated.interval("mAP") == separated.interval("mAP", resample="query")
    assert separated.interval("mAP").unit == "query"
    alone = evaluate(points, labels, measures="mAP")
    assert not alone.separate_gallery
    assert alone.interval("mAP") == alone.interval("mAP", resample="class")
    assert (alone.interval("mAP").unit, alone.interval("mAP").n) == ("class", 12)
    assert measure(alone.profile, "mAP", labels=labels).interval("mAP") == alone.interval("mAP")
    with pytest.warns(QueryInGalleryWarning):
        same = evaluate(points, labels, points, labels, measures="mAP")
    assert same.interval("mAP").unit == "class", "a gallery of the queries themselves is none of its own"
    excluded = evaluate(points, labels, points, labels, measures="mAP", exclude=np.arange(24))
    assert excluded.interval("mAP") == alone.interval("mAP")
    bare = measure(alone.profile, "mAP")
    assert bare.interval("mAP").unit == "query"
    assert bare.interval("mAP", labels=labels) == alone.interval("mAP")
    assert [report.interval("mAP").notes for report in (separated, alone)] == [(), ()]
    assert bare.interval("mAP").notes == (
        "No labels are known, so each query counts as independent; where queries come in classes, give labels.",
    )
    assert bare.interval("mAP", resample="query").notes == ()


def test_few_classes_are_said_with_the_interval() -> None:
    values = np.linspace(0, 1, 20)
    few = mean_intervals(*[values] * 3, classes=np.arange(20) % 9)
    assert str(few).splitlines()[-1] == (
        "Only 9 classes: with fewer than about 10 neither intervals nor p-values can be trusted."
    )
    assert mean_intervals(*[values] * 3, classes=np.arange(20) % 10).notes == ()
    assert mean_intervals(*[values[:4]] * 3).notes == ()  # queries


def test_intervals_as_people_read_them() -> None:
    rows = [[0.25, 0.5], [0.25, 0.75], [0.25, 1.0]]
    assert str(mean_intervals(*rows, method="percentile", n_resamples=99)).splitlines() == [
        "lower     [25.00, 50.00]",
        "expected  [25.00, 75.00]",
        "upper     [25.00, 100.00]",
        "95 % intervals (%): percentile, over 2 queries.",
    ]
    assert str(mean_intervals(*rows[:1] * 3, method="percentile", confidence_level=0.8, unit="group")).splitlines() == [
        "interval  [25.00, 50.00]",
        "80 % interval (%): percentile, over 2 groups.",
    ]


def test_no_bit_depends_on_the_order_of_the_samples() -> None:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 9, 50)
    points = rng.integers(0, 4, (50, 2))  # full of ties
    methods = ["percentile", "BCa", "t"]

    def everything(order: np.ndarray) -> list[object]:
        a, b = (
            evaluate(rows[order], labels[order], distance="euclidean", measures=["mAP", "Hit@1"])
            for rows in (points, points[:, :1])
        )
        found: list[object] = [
            report.interval(name, resample=unit, method=method, n_resamples=200)
            for report in (a, b) for name in a for unit in ("query", "class") for method in methods
        ]  # fmt: skip
        for unit in ("query", "class"):
            comparison = compare(a, b, resample=unit, n_resamples=500)
            found += [comparison[name].to_dict() for name in comparison]
            found += [comparison[name].wilcoxon() for name in comparison]
            found.append(str(comparison))
        over_classes = measure(a.profile, "mAP", average="class", labels=labels[order])
        return [*found, over_classes.interval("mAP", n_resamples=200)]

    assert everything(np.arange(50)) == everything(rng.permutation(50)) == everything(np.argsort(labels))


def test_labels_in_a_report_change_nothing_else() -> None:
    plain, named = measure(PROFILE), measure(PROFILE, labels=LABELS)
    assert (named.average, named.n_class) == ("query", None)
    assert named.to_json(std=True) == plain.to_json(std=True)
    assert str(named) == str(plain)
    np.testing.assert_array_equal(named.classes, [0, 1, 1, 0, 2])
    with pytest.raises(ValueError, match=r"^labels must have one entry per .* but got 2 labels for 5 rows$"):
        measure(PROFILE, labels=["a", "b"])


def test_bounds_without_an_expectation() -> None:
    window = replace(TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)]], n_ranked=[2, 2]), bounds_only=True)
    found = measure(window, "mAP").interval("mAP")
    assert (found.lower, found.upper) == ((0.5, 1), (1, 1))
    assert is_nothing(found.expected)


def test_what_a_report_refuses() -> None:
    report = measure(PROFILE, "mAP")
    with pytest.raises(ValueError, match=r'^resample="class" needs labels, one for each query$'):
        report.interval("mAP", resample="class")
    with pytest.raises(ValueError, match=r'^labels must be left out unless resample is "class", but it is "query"$'):
        report.interval("mAP", resample="query", labels=LABELS)
    with pytest.raises(ValueError, match=r"^resample must be one of query, class, but is 'classes'; did you mean"):
        report.interval("mAP", resample="classes")  # type: ignore[arg-type]
    over_classes = measure(PROFILE, "mAP", average="class", labels=LABELS)
    with pytest.raises(ValueError, match=r'^resample must be "class" for a mean over classes, but is "query"$'):
        over_classes.interval("mAP", resample="query")
    with pytest.raises(ValueError, match=r"^labels must be left out for a mean over classes"):
        over_classes.interval("mAP", labels=LABELS)
