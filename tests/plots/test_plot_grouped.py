"""Plots of grouped measures: what is drawn are the numbers of the results."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from plots.drawn import line, rows, segments, words

import deadheat as dh
from deadheat.engine.ties.tolerance import Tolerance

LABELS = np.arange(60) % 20
POINTS = np.random.default_rng(0).integers(0, 5, (60, 3))
OPTIONS = {"group_size": 4, "distance": "euclidean"}


def test_groups_have_a_dot_each_and_their_mean_an_interval(ax: Axes) -> None:
    reports = {"one": dh.grouped(POINTS, LABELS, **OPTIONS), "two": dh.grouped(POINTS[:40], LABELS[:40], **OPTIONS)}
    assert dh.plots.group_values(reports, "mAP", confidence_level=0.9, ax=ax) is ax
    assert (rows(ax), ax.get_xlabel()) == (["one", "two"], "mAP in a group of 4 (%)")
    dots, diamonds = ([each for each in ax.lines if each.get_marker() == marker] for marker in "oD")
    for row, report in enumerate(reports.values()):
        result = report["mAP"]
        assert_array_equal(dots[row].get_xdata(), 100 * result.per_group.expected)
        assert_array_equal(diamonds[row].get_xdata(), [100 * result.expected])
        found = result.interval(confidence_level=0.9)
        (whisker,) = segments(ax.collections[2 * row + 1])
        assert [x for x, _ in whisker] == [100 * found.lower.low, 100 * found.upper.high]
        lower, _, upper = result.per_group
        tied = [[low, high] for (low, _), (high, _) in segments(ax.collections[2 * row])]
        assert tied == [[100 * low, 100 * high] for low, high in zip(lower, upper, strict=True) if low < high] != []
    assert set(words(ax)) == {"a group", "90 % interval of the mean", "mean", "lower to upper: ties"}


def test_groups_under_a_tolerance_are_drawn_at_their_lower_values(ax: Axes) -> None:
    report = dh.grouped(POINTS, LABELS, **OPTIONS, ties=Tolerance(0.1))
    dh.plots.group_values({"wide": report}, "mAP", ax=ax)
    assert_array_equal(line(ax, "a group").get_xdata(), 100 * report["mAP"].per_group.lower)
    assert_array_equal(line(ax, "mean").get_xdata(), [100 * report["mAP"].lower])


def test_models_are_points_with_what_ties_leave_open(ax: Axes) -> None:
    models = {f"{n}": POINTS[:, :n] for n in (1, 2, 3)}
    plain = {name: dh.evaluate(points, LABELS, distance="euclidean") for name, points in models.items()}
    inside = {name: dh.grouped(points, LABELS, **OPTIONS) for name, points in models.items()}
    found = dh.model_correlation(plain, inside)
    assert dh.plots.model_correlation(found, ax=ax) is ax
    assert ax.get_title() == f"3 models: Pearson's r {found.pearson:.3f}, Spearman's rho {found.spearman:.3f}"
    shown = np.column_stack([found.first.expected, found.second.expected])
    assert_array_equal(line(ax, "a model").get_xydata(), 100 * shown)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Hit@1, plain (%)", "Hit@1 in groups of 4 (%)")
    for place, (drawn, each) in enumerate(zip(ax.collections, (found.first, found.second), strict=True)):
        ends = [[end[place] for end in segment] for segment in segments(drawn)]
        assert_allclose(ends, 100 * np.stack([each.lower, each.upper], axis=1))


def test_gaps_are_drawn_with_their_intervals(ax: Axes) -> None:
    gaps = {
        f"{n}": dh.generalization_gap(POINTS[:, :n], LABELS, POINTS[::-1, :n] * 2, LABELS, **OPTIONS) for n in (1, 2, 3)
    }
    trend = dh.gap_trend(gaps, {"1": 100, "2": 10, "3": 1000}, name="parameters")
    assert dh.plots.gap_trend(trend, confidence_level=0.8, ax=ax) is ax
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "parameters", "gap in Hit@1 (points)")
    bars = [segments(each) for each in ax.collections]
    for drawn, side in zip(bars, (trend.grouped, trend.plain), strict=True):
        for ends, gap in zip(drawn, side, strict=True):
            found = gap.interval(confidence_level=0.8)
            assert_allclose([ends[0][1], ends[1][1]], [100 * found.lower.low, 100 * found.upper.high], atol=1e-9)
    assert_array_equal([x for (x, _), _ in bars[0]], [10, 100, 1000])
    near = dh.gap_trend(gaps, {"1": 0, "2": 0.5, "3": 1})
    assert dh.plots.gap_trend(near, ax=Figure().subplots()).get_xscale() == "linear"


def test_measure_against_classes_draws_lines_and_bands(ax: Axes) -> None:
    bands = {
        "plain": dh.plots.Band([100, 50], [0.2, 0.4], [0.1, 0.3], [0.3, 0.5]),
        "groups": dh.plots.Band([50], [0.5], [np.nan], [np.nan]),
    }
    assert dh.plots.measure_against_classes(bands, measure="mAP", truth=0.45, ax=ax) is ax
    assert ax.lines[0].get_xydata().tolist() == [[50, 40], [100, 20]]
    assert ax.lines[2].get_ydata()[0] == 45
    assert (ax.get_xscale(), ax.get_ylabel(), ax.get_ylim()) == ("log", "mAP (%)", (0, 100))
    for look in ("get_linestyle", "get_marker"):
        assert len({getattr(line, look)() for line in ax.lines[:2]}) == 2
    assert ax.get_xticks().tolist() == [50, 100]


def test_coverage_draws_the_level_and_a_place_for_each_number(ax: Axes) -> None:
    band = dh.plots.Band([5, 50], [0.9, 0.95], [0.88, 0.94], [0.92, 0.96])
    dh.plots.interval_coverage({"y": band, "z": band}, level=0.9, ax=ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["5", "50"]
    assert_array_equal(ax.lines[0].get_ydata(), [90, 90])
    shown = {(*line.get_xdata(), *np.round(line.get_ydata(), 9)) for line in ax.lines[1:]}
    marks = ((88, 94), (90, 95), (92, 96))  # low ends, values, high ends
    assert shown == {(*places, *each) for places in ((-0.125, 0.875), (0.125, 1.125)) for each in marks}


def test_gaps_and_cost_are_drawn(ax: Axes) -> None:
    dh.plots.gap_histogram({"plain": [-0.1, -0.2], "groups": [0.01, 0.0]}, truth=0.0, ax=ax)
    assert sum(patch.get_height() for patch in ax.patches) == 4
    ax = Figure().subplots()
    dh.plots.processor_time({"plain": ([10, 100], [0.1, 10.0]), "groups": ([10, 100], [0.1, 1.0])}, ax=ax)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "samples")
    assert ax.get_legend() is not None
