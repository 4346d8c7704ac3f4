"""Plots that only the studies draw."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from plots.drawn import rows

from deadheat import confidence as measures
from deadheat.analyses.quantization import compare_formats
from deadheat.engine.task import Task
from deadheat.errors import InvalidValueError
from reproduce import plots, reference


@pytest.fixture
def ax() -> Any:
    return Figure().subplots()


def test_points_and_densities() -> None:
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
    figure.savefig(io.BytesIO())


def test_each_of_many_classes_has_a_look_of_its_own(ax: Any) -> None:
    n = 36
    plots.labelled_points(np.arange(2 * n).reshape(n, 2), np.arange(n), ax=ax)
    looks = {(tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes()) for points in ax.collections}
    assert len(looks) == n
    assert len(ax.get_legend().get_texts()) == n
    assert plots.labelled_points([[0, 0]], [1], legend=False, ax=Figure().subplots()).get_legend() is None


def test_matrices():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plots.distance_matrix([[0.0, 1.0], [1.0, 0.0]], ax=left, label="cosine distance") is left
    assert plots.shift_matrix(np.eye(2, dtype=bool), ax=right) is right
    assert_array_equal(right.images[0].get_array(), [[0, 1], [1, 0]])
    assert rows(figure.axes[-1]) == ["0 (relevant)", "e (irrelevant)"]


def test_an_order_is_drawn_as_one_bar_a_run(ax: Any) -> None:
    plots.sample_order(["a", "b", "a", "a", "b", "a"], [0, 2, 3, 1, 4, 5], ax=ax)
    bars = [(bar.get_x(), bar.get_width(), bar.get_y() + 0.4) for bar in ax.patches]
    assert bars == [(0.5, 3, 1), (3.5, 2, 2), (5.5, 1, 1)]
    assert (*ax.get_xlim(), *ax.get_ylim()) == pytest.approx((0.5 - 0.03, 6.5 + 0.03, 0.3, 2.7))
    with pytest.raises(ValueError, match=r"order must be a permutation of the 3 samples, but holds \[0, 0, 1\]"):
        plots.sample_order([0, 0, 1], [0, 0, 1], ax=ax)


def test_measure_against_classes_draws_lines_and_bands(ax: Axes) -> None:
    bands = {
        "plain": plots.Band([100, 50], [0.2, 0.4], [0.1, 0.3], [0.3, 0.5]),
        "groups": plots.Band([50], [0.5], [np.nan], [np.nan]),
    }
    assert plots.measure_against_classes(bands, measure="mAP", truth=0.45, ax=ax) is ax
    assert ax.lines[0].get_xydata().tolist() == [[50, 40], [100, 20]]
    corners = {tuple(corner) for corner in ax.collections[0].get_paths()[0].vertices.tolist()}  # type: ignore[union-attr]
    assert corners == {(50, 30), (50, 50), (100, 10), (100, 30)}
    assert ax.lines[2].get_ydata()[0] == 45
    assert (ax.get_xscale(), ax.get_ylabel(), ax.get_ylim()) == ("log", "mAP (%)", (0, 100))
    for look in ("get_linestyle", "get_marker"):
        assert len({getattr(line, look)() for line in ax.lines[:2]}) == 2
    assert ax.get_xticks().tolist() == [50, 100]


def test_coverage_draws_the_level_and_a_place_for_each_number(ax: Axes) -> None:
    band = plots.Band([5, 50], [0.9, 0.95], [0.88, 0.94], [0.92, 0.96])
    plots.interval_coverage({"y": band, "z": band}, level=0.9, ax=ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["5", "50"]
    assert_array_equal(ax.lines[0].get_ydata(), [90, 90])
    shown = {(*line.get_xdata(), *np.round(line.get_ydata(), 9)) for line in ax.lines[1:]}
    marks = ((88, 94), (90, 95), (92, 96))  # low ends, values, high ends
    assert shown == {(*places, *each) for places in ((-0.125, 0.875), (0.125, 1.125)) for each in marks}


def test_gaps_and_cost_are_drawn(ax: Axes) -> None:
    plots.gap_histogram({"plain": [-0.1, -0.2], "groups": [0.01, 0.0]}, truth=0.0, ax=ax)
    assert sum(patch.get_height() for patch in ax.patches) == 4
    ax = Figure().subplots()
    plots.processor_time({"plain": ([10, 100], [0.1, 10.0]), "groups": ([10, 100], [0.1, 1.0])}, ax=ax)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "samples")
    assert ax.get_legend() is not None


def test_mixed_queries_hold_the_numbers(ax: Axes) -> None:
    result = compare_formats(
        Task([[0.0, 1], [1, 1], [1, 0], [2, 1]], [0, 0, 1, 1]), formats="float32,1 bit", measures="mAP"
    )
    mixed = plots.mixed_queries(result.reports, ax=ax)
    shares = [100 * report.ties.queries / report.n_query for report in result.reports.values()]
    assert [bar.get_width() for bar in mixed.patches] == shares
    last = result["1 bit"].ties
    texts = [label.get_text().replace("\n", " ") for label in mixed.child_axes[0].get_yticklabels()]
    assert texts[-1] == f"{last.mixed_groups} mixed groups of up to {last.largest} items"


def test_steps_of_a_tie_group_are_those_that_an_arrangement_can_take(ax: Any) -> None:
    plots.tie_states((0, 0, 3, 2), ax=ax)
    steps = {tuple(map(tuple, line.get_xydata().tolist())) for line in ax.get_lines() if len(line.get_xdata())}
    ups = {((0, 0), (1, 1)), ((1, 0), (2, 1)), ((1, 1), (2, 2)), ((2, 1), (3, 2))}
    assert steps == ups | {((0, 0), (1, 0)), ((1, 1), (2, 1)), ((2, 2), (3, 2))}


def test_the_drawing_has_a_cell_for_each_state_and_both_sums() -> None:
    ax = plots.tie_states((2, 1, 5, 2))
    texts = [text.get_text() for text in ax.texts]
    assert len([text for text in texts if "·" not in text]) == 1 + len(reference.tie_states((2, 1, 5, 2)))
    assert "293/280 by paths, 293/280 in closed form" in ax.get_title()
    with pytest.raises(InvalidValueError, match="at most 12 tied items"):
        plots.tie_states((0, 0, 13, 1))
