"""Plots of confidences, of points and of densities."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from deadheat import plots
from deadheat.analyses import confidence as measures
from deadheat.support.triple import Triple


@pytest.fixture
def ax() -> Iterator[Any]:
    figure = Figure()
    yield figure.subplots()
    figure.savefig(BytesIO())  # it can be drawn


def test_reject_curves_show_what_ties_leave_open(ax: Any) -> None:
    tied = measures.error_reject_curve([1, 0, 1, 0], [3, 2, 2, 1])
    assert plots.error_reject(tied, ax=ax, label="model") is ax
    lower, expected, upper = (f"{100 * area:.2f}" for area in tied.area)
    named = ["random order: area 50.00 %", f"perfect order: area {100 * tied.optimal_area.expected:.2f} %",
             f"model: area {expected} [{lower}, {upper}] %", "model: what ties decide"]  # fmt: skip
    assert [text.get_text() for text in ax.get_legend().get_texts()] == named
    (line,) = [line for line in ax.get_lines() if str(line.get_label()).startswith("model")]
    np.testing.assert_array_equal(line.get_xdata(), [0.75, 0.5, 0.25, 0])
    np.testing.assert_array_equal(line.get_ydata(), tied.expected)
    apart = measures.error_reject_curve([1, 0], [2, 1])
    plots.risk_coverage(apart, ax=ax, label="other", number=1, references=False)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[2:] == [*named[2:], "other: area 25.00 %"]  # no band where nothing is open
    assert ax.get_xlabel() == "kept queries (coverage) (%)"


def test_open_values_have_two_references(ax: Any) -> None:
    values = Triple(np.zeros(2), np.full(2, np.nan), np.ones(2))
    plots.error_reject(measures.error_reject_curve(values, [2, 1]), ax=ax)
    assert len(ax.get_lines()) == 5
    assert "by confidence: area [0.00, 100.00] %" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_bins_points_and_densities(ax: Any) -> None:
    found = measures.calibration([0, 1, 1], [0.1, 0.9, 0.95], bins=2)
    points = plots.reliability(found, ax=ax).collections[-1]
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([found.confidence, found.right.expected]))
    assert points.get_sizes()[0] < points.get_sizes()[1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mean confidence of the bin (%)", "right queries (%)")
    for axis in (ax.xaxis, ax.yaxis):  # per cent on both
        assert axis.get_major_formatter()(0.2, 0) == "20"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "as confident as right", "queries of a bin: area by number, 1 to 2",
    ]  # fmt: skip
    figure = Figure()
    scatter, density = figure.subplots(1, 2)
    points = [[0, 0], [1, 1], [2, 2]]
    plots.labelled_points(points, ["a", "b", "a"], confidence=[1, 5, 3], marked=[0, 1, 0], mark="odd", ax=scatter)
    assert scatter.get_legend_handles_labels()[1] == ["class a", "class b", "odd"]
    opacity = [collection.get_alpha() for collection in scatter.collections[:2]]
    assert opacity[0][0] < opacity[0][1] < opacity[1][0]
    x, height = [0.0, 1, 2], [0.0, 1, 0]
    region = measures.highest_density_interval(x, 0.75, density=height)
    plots.highest_density(region, density=(x, height), samples=[0.5, 1.0, 1.5], ax=density)
    assert "75.0 % interval" in density.get_legend_handles_labels()[1]
    figure.savefig(BytesIO())


def test_credible_recall_against_mass(ax: Any) -> None:
    found = measures.credible_recall([[3, 1]], [[4, 3, 2, 0]], [[1, 0]], masses=[0.25, 0.5, 0.9])
    plots.credible_recall(found, ax=ax, label="draws")
    diagonal, line, dotted = ax.get_lines()
    assert diagonal.get_label() == "as draws"
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([found.masses, found.relevant.expected]))
    np.testing.assert_array_equal(dotted.get_ydata(), found.others.upper)
    (band,) = ax.collections
    assert band.get_label() == "draws: what ends decide"
    exact = measures.normal_credible_recall([[0.0], [1.0]], [1.0, 1.0], [1, 1])
    plots.credible_recall(exact, ax=ax, label="normal", number=1, others=False)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "as draws", "draws", "draws: what ends decide", "draws: others", "normal",
    ]  # fmt: skip


def test_each_of_many_classes_has_a_look_of_its_own(ax: Any) -> None:
    n = 36
    plots.labelled_points(np.arange(2 * n).reshape(n, 2), np.arange(n), ax=ax)
    looks = {(tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes()) for points in ax.collections}
    assert len(looks) == n
    assert len(ax.get_legend().get_texts()) == n
    assert plots.labelled_points([[0, 0]], [1], legend=False, ax=Figure().subplots()).get_legend() is None
