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
    assert ax.get_legend_handles_labels()[1] == ["random order", "perfect order", "model", "model: ties"]
    (line,) = [line for line in ax.get_lines() if line.get_label() == "model"]
    np.testing.assert_array_equal(line.get_xdata(), [0.75, 0.5, 0.25, 0])
    np.testing.assert_array_equal(line.get_ydata(), tied.expected)
    apart = measures.error_reject_curve([1, 0], [2, 1])
    plots.risk_coverage(apart, ax=ax, label="other", number=1, references=False)
    assert ax.get_legend_handles_labels()[1][2:] == ["model", "model: ties", "other"]  # no band where nothing is open
    assert ax.get_xlabel() == "kept queries (coverage) (%)"


def test_open_values_have_two_references(ax: Any) -> None:
    values = Triple(np.zeros(2), np.full(2, np.nan), np.ones(2))
    plots.error_reject(measures.error_reject_curve(values, [2, 1]), ax=ax)
    assert len(ax.get_lines()) == 5


def test_bins_points_and_densities(ax: Any) -> None:
    found = measures.calibration([0, 1, 1], [0.1, 0.9, 0.95], bins=2)
    points = plots.reliability(found, ax=ax).collections[-1]
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([found.confidence, found.right.expected]))
    assert points.get_sizes()[0] < points.get_sizes()[1]
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
