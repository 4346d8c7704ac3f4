"""Plots of grouped measures: what is drawn are the numbers of the results."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import deadheat as dh
from deadheat.ties import Tolerance

LABELS = np.arange(60) % 20
POINTS = np.random.default_rng(0).integers(0, 5, (60, 3))
OPTIONS = {"group_size": 4, "distance": "euclidean"}


@pytest.fixture
def ax() -> Axes:
    return Figure().subplots()


def line(ax: Axes, label: str):
    return next(each for each in ax.lines if each.get_label() == label)


def segments(collection) -> list[list[list[float]]]:
    return [segment.tolist() for segment in collection.get_segments()]


def test_groups_have_a_dot_each_and_their_mean_an_interval(ax: Axes) -> None:
    reports = {"one": dh.grouped(POINTS, LABELS, **OPTIONS), "two": dh.grouped(POINTS[:40], LABELS[:40], **OPTIONS)}
    assert dh.plots.group_values(reports, "mAP", confidence_level=0.9, ax=ax) is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == ["one", "two"]
    assert ax.get_xlabel() == "mAP in a group of 4 (%)"
    dots = [each for each in ax.lines if each.get_marker() == "o"]
    diamonds = [each for each in ax.lines if each.get_marker() == "D"]
    whiskers = [segments(each) for each in ax.collections][1::2]
    for row, report in enumerate(reports.values()):
        result = report["mAP"]
        assert_array_equal(dots[row].get_xdata(), 100 * result.per_group.expected)
        assert_array_equal(diamonds[row].get_xdata(), [100 * result.expected])
        found = result.interval(confidence_level=0.9)
        assert [x for x, _ in whiskers[row][0]] == [100 * found.lower.low, 100 * found.upper.high]
        tied = segments(ax.collections[2 * row])
        assert [ends[0][0] for ends in tied] == [
            100 * low for low, high in zip(result.per_group.lower, result.per_group.upper, strict=True) if low < high
        ]
        assert tied
    labels = {text.get_text() for text in ax.get_legend().get_texts()}  # type: ignore[union-attr]
    assert labels == {"a group", "90 % interval of the mean", "mean"}


def test_groups_under_a_tolerance_are_drawn_at_their_lower_values(ax: Axes) -> None:
    report = dh.grouped(POINTS, LABELS, **OPTIONS, ties=Tolerance(0.1))
    dh.plots.group_values({"wide": report}, "mAP", ax=ax)
    assert_array_equal(line(ax, "a group").get_xdata(), 100 * report["mAP"].per_group.lower)
    assert_array_equal(line(ax, "mean").get_xdata(), [100 * report["mAP"].lower])


def test_no_report_is_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match=r"^reports must hold at least one report, but is empty$"):
        dh.plots.group_values({})


def test_models_are_points_with_what_ties_leave_open(ax: Axes) -> None:
    models = {f"{n}": POINTS[:, :n] for n in (1, 2, 3)}
    plain = {name: dh.evaluate(points, LABELS, distance="euclidean") for name, points in models.items()}
    inside = {name: dh.grouped(points, LABELS, **OPTIONS) for name, points in models.items()}
    found = dh.model_correlation(plain, inside)
    assert dh.plots.model_correlation(found, ax=ax) is ax
    dots = line(ax, f"a model; r = {found.pearson:.3f}, rho = {found.spearman:.3f}")
    assert_array_equal(dots.get_xdata(), 100 * found.first.expected)
    assert_array_equal(dots.get_ydata(), 100 * found.second.expected)
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
