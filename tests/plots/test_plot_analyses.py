"""Plots of confidences, of points and of densities, of collisions, of orders of the samples, of grouped measures."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from plots.drawn import column, line, rows, segments, words

import deadheat as dh
from deadheat import Task, collisions, exploit, plots
from deadheat.analyses import confidence as measures
from deadheat.analyses.collisions import Kind
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.plots.ties import amplified, colours, least_width
from deadheat.reports.tables import value
from deadheat.support.triple import Triple


def test_reject_curves_show_what_ties_leave_open(ax: Any) -> None:
    tied = measures.error_reject_curve([1, 0, 1, 0], [3, 2, 2, 1])
    assert plots.error_reject(tied, ax=ax, label="model") is ax
    named = ["random order: area 50.00 %", f"perfect order: area {100 * tied.optimal_area.expected:.2f} %",
             f"model: area {value(tied.area)} %", "lower to upper: ties"]  # fmt: skip
    assert words(ax) == named
    assert_array_equal(line(ax, named[2]).get_xydata(), np.column_stack([[0.75, 0.5, 0.25, 0], tied.expected]))
    title = "Rejecting model saves 22.9 points of area, the perfect order saves 29.2"
    assert ax.get_title().replace("\n", " ") == title
    assert ax.get_ylim() == (0, 1.2 * max(tied.expected.max(), 0.5))
    separated = measures.error_reject_curve([1, 0], [2, 1])
    plots.risk_coverage(separated, ax=ax, label="other", number=1, references=False)
    assert words(ax) == [*named[:3], "other: area 25.00 %", named[3]]  # no band where nothing is open
    assert ax.get_xlabel() == "kept queries (coverage) (%)"
    assert ax.get_title().replace("\n", " ") == title


def test_open_values_have_two_references(ax: Any) -> None:
    values = Triple(np.zeros(2), np.full(2, np.nan), np.ones(2))
    plots.error_reject(measures.error_reject_curve(values, [2, 1]), ax=ax)
    assert len(ax.get_lines()) == 5
    assert "by confidence: area [0.00, 100.00] %" in words(ax)


def test_bins(ax: Any) -> None:
    result = measures.calibration([0, 1, 1], [0.1, 0.9, 0.95], bins=2)
    points = plots.reliability(result, ax=ax).collections[-1]
    assert_array_equal(points.get_offsets(), np.column_stack([result.confidence, result.right.expected]))
    assert_array_equal(points.get_sizes(), [14 + 160 / 2, 14 + 160])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mean confidence of the bin (%)", "right queries (%)")
    assert [axis.get_major_formatter()(0.2, 0) for axis in (ax.xaxis, ax.yaxis)] == ["20", "20"]  # per cent
    assert words(ax) == ["as confident as right", "queries of a bin: area by number, 1 to 2"]


def test_credible_recall_against_mass(ax: Any) -> None:
    result = measures.credible_recall([[3, 1]], [[4, 3, 2, 0]], [[1, 0]], masses=[0.25, 0.5, 0.9])
    plots.credible_recall(result, ax=ax, label="draws")
    diagonal, line, dotted = ax.get_lines()
    assert diagonal.get_label() == "as draws"
    assert_array_equal(line.get_xydata(), np.column_stack([result.masses, result.relevant.expected]))
    assert_array_equal(dotted.get_ydata(), result.others.upper)
    (band,) = ax.collections
    assert band.get_label() == "lower to upper: ties"
    exact = measures.normal_credible_recall([[0.0], [1.0]], [1.0, 1.0], [1, 1])
    plots.credible_recall(exact, ax=ax, label="normal", number=1, others=False)
    assert words(ax) == ["as draws", "draws", "draws: others", "normal", "lower to upper: ties"]


# Collisions and matrices


@pytest.mark.parametrize("share", [(0.37, 0.71), (1, 1)])
@pytest.mark.parametrize(("shape", "dpi"), [((700, 1100), 100), ((900, 40), 100), ((1000, 1000), 137)])
def test_no_single_mark_is_lost_in_a_small_picture(shape, dpi, share):
    kind = np.zeros(shape, dtype=np.int8)
    kind[tuple(int(part * (size - 1)) for part, size in zip(share, shape, strict=True))] = Kind.RELEVANT
    figure, content = Figure(figsize=(2.6, 2.4), dpi=100, layout="constrained"), io.BytesIO()
    plots.collision_image(kind, ax=figure.subplots(), legend=False)
    figure.savefig(content, format="png", dpi=dpi)
    content.seek(0)
    picture = image.imread(content)[:, :, :3]
    assert (np.abs(picture - np.array(to_rgb(colours()[Kind.RELEVANT]))).max(axis=2) < 0.1).any()


def test_marks_are_widened_only_as_far_as_needed():
    shapes = ((100, 100), (1000, 100), (100, 1000), (4000, 100), (1000, 1000))
    none, rows, columns, more, sharp = (
        least_width(Figure(figsize=(4, 4), dpi=500 if shape[1] == shape[0] == 1000 else 100).subplots(), shape)
        for shape in shapes
    )
    assert (none, sharp) == (0, 0)
    assert 0 < rows == columns < more


def test_widening_by_plain_loops():
    rng = np.random.default_rng(0)
    kind = rng.choice([-1, 0, 0, 0, 0, 1, 2, 3], (9, 13)).astype(np.int8)
    for bound in (0, 1, 3):
        wide = amplified(kind, bound)
        for i, k in np.ndindex(kind.shape):
            near = kind[max(0, i - bound) : i + bound + 1, max(0, k - bound) : k + bound + 1]
            assert wide[i, k] == (-1 if kind[i, k] == -1 else near.max())


def test_colours_keep_their_order_in_grey():
    grey = {code: np.dot(to_rgb(colour), [0.299, 0.587, 0.114]) for code, colour in colours().items()}
    order = [grey[code] for code in (Kind.NONE, Kind.RELEVANT, Kind.IRRELEVANT, Kind.MIXED)]
    assert min(-np.diff(order)) > 0.15


def test_axes_say_what_is_there(ax: Any) -> None:
    result = collisions(Task(np.arange(6)[:, None], [0, 1] * 3, distance="cityblock"), depth=8)
    plots.collision_image(result, ax=ax, amplify=0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rank", "query")
    assert words(ax) == ["relevant", "irrelevant", "mixed", "no rank"]
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 9.5), (6.5, -1.5))  # and one cell around it
    wide = plots.collision_image(result, ax=Figure().subplots(), amplify=2)
    assert wide.get_xlabel() == "rank\n(each mark widened by 2)"
    empty = plots.collision_image(np.zeros((2, 2), dtype=np.int8), ax=Figure().subplots(), legend=False)
    assert ([text.get_text() for text in empty.texts], empty.get_legend()) == (["no collision"], None)


@pytest.mark.parametrize(("amplify", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_bad_widening(amplify, error):
    with pytest.raises(error, match="amplify must be"):
        plots.collision_image(np.ones((2, 2), dtype=np.int8), ax=Figure().subplots(), amplify=amplify)


def test_nothing_to_draw(ax: Any) -> None:
    with pytest.raises(ValueError, match=r"^collisions must have at least one query and one rank, but has shape"):
        plots.collision_image(collisions(Task([[1.0]], [0])), ax=ax)
    plots.collision_legend(ax.figure)
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["relevant", "irrelevant", "mixed"]


# Orders


def test_ranges_are_drawn_between_the_bounds(ax: Any) -> None:
    tied = exploit(Task(np.zeros((9, 1)), [0, 0, 0, 1, 1, 1, 2, 2, 2]), draws=5)
    separated = exploit(Task([[0], [1], [3], [7]], [0, 0, 1, 1], distance="euclidean"), draws=2)
    plots.order_ranges({"tied": tied, "separated": separated}, ax=ax)
    (bar,) = ax.patches
    width = tied.bounds.upper - tied.bounds.lower
    ends = [100 * (end.value - tied.bounds.lower) / width for end in (tied.lowest, tied.highest)]
    assert [bar.get_x(), bar.get_x() + bar.get_width()] == pytest.approx(ends)
    shown = zip(ends, (tied.lowest, tied.highest), strict=True)
    assert segments(ax.collections[1]) == [[[end, -0.3], [end, 0.3]] for end, found in shown if found.exact] != []
    assert rows(ax) == ["tied", "separated"]
    low, high = 100 * tied.bounds.lower, 100 * tied.bounds.upper
    assert column(ax) == [f"{low:.2f} to {high:.2f}", f"{100 * separated.as_given:.2f}", "bounds (%)"]


# Grouped measures: what is drawn are the numbers of the results

LABELS = np.arange(60) % 20
POINTS = np.random.default_rng(0).integers(0, 5, (60, 3))
LINE, PLANE, SPACE = (dh.Task(POINTS[:, :n], LABELS, distance="euclidean") for n in (1, 2, 3))


def test_groups_have_a_dot_each_and_their_mean_an_interval(ax: Axes) -> None:
    fewer = dh.Task(POINTS[:40], LABELS[:40], distance="euclidean")
    reports = {"one": dh.grouped(SPACE, group_size=4), "two": dh.grouped(fewer, group_size=4)}
    assert plots.group_values(reports, "mAP", confidence_level=0.9, ax=ax) is ax
    assert (rows(ax), ax.get_xlabel()) == (["one", "two"], "mAP in a group of 4 (%)")
    dots, diamonds = ([each for each in ax.lines if each.get_marker() == marker] for marker in "oD")
    for row, report in enumerate(reports.values()):
        result = report["mAP"]
        assert_array_equal(dots[row].get_xdata(), 100 * result.per_group.expected)
        heights = dots[row].get_ydata()
        assert row < heights[0] < heights[-1] < row + 0.5  # the first group is the lowest, above the row's mean
        assert_array_equal(diamonds[row].get_xdata(), [100 * result.expected])
        values = result.interval(confidence_level=0.9)
        (whisker,) = segments(ax.collections[2 * row + 1])
        assert [x for x, _ in whisker] == [100 * values.lower.low, 100 * values.upper.high]
        lower, _, upper = result.per_group
        tied = [[low, high] for (low, _), (high, _) in segments(ax.collections[2 * row])]
        assert tied == [[100 * low, 100 * high] for low, high in zip(lower, upper, strict=True) if low < high] != []
    assert set(words(ax)) == {"a group", "90 % interval of the mean", "mean", "lower to upper: ties"}


def test_groups_under_a_tolerance_are_drawn_at_their_lower_values(ax: Axes) -> None:
    report = dh.grouped(SPACE.replace(ties=Tolerance(0.1)), group_size=4)
    plots.group_values({"wide": report}, "mAP", ax=ax)
    assert_array_equal(line(ax, "a group").get_xdata(), 100 * report["mAP"].per_group.lower)
    assert_array_equal(line(ax, "mean").get_xdata(), [100 * report["mAP"].lower])
