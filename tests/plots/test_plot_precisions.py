"""Plots of the same embeddings in fewer bits."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

import deadheat as dh

POINTS = np.random.default_rng(5).normal(size=(30, 4))
LABELS = np.arange(30) % 5
FORMATS = ["float64", "float32", "bfloat16", "int8", "1 bit"]
FOUND = dh.precision.precisions(POINTS, LABELS, formats=FORMATS, measures=["mAP", "Hit@1"])


@pytest.fixture
def ax() -> Axes:
    return Figure(layout="constrained").subplots()


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[union-attr]


def test_changes_are_paired_differences_on_a_linear_scale(ax: Axes) -> None:
    names = ["float64", "1 bit", "1 bit (float query)"]
    found = dh.precision.precisions(POINTS, LABELS, formats=names, measures="mAP")
    assert dh.plots.precision_changes(found, ax=ax) is ax
    assert (ax.get_xscale(), ax.get_xlabel()) == ("linear", "mAP, difference to float64 (points)")
    (dots,) = [line for line in ax.lines if str(line.get_label()).startswith("expected")]
    changes = [100 * found.change(name, "mAP").expected for name in names]
    assert_array_equal(dots.get_xdata(), changes)
    column = [text.get_text() for text in ax.texts]
    assert column[0] == "0"
    assert column[-2] == f"{changes[-1]:+.2f}".replace("-", "−")
    (interval,) = [lines for lines in ax.collections if lines.get_label() == "95 % interval, with ties"]
    ends = {segment[0][1]: segment[:, 0].tolist() for segment in interval.get_segments()}  # type: ignore[attr-defined]
    difference = found.difference("1 bit", "mAP").interval()
    assert ends[1] == [100 * difference.lower.low, 100 * difference.upper.high]
    assert 0 not in ends  # the base is one dot


def test_a_row_far_out_is_an_arrow(ax: Axes) -> None:
    groups = [[(place, 0, 1, 1)] for place in (0, 1, 2, 3)]
    reports = {
        name: dh.measure(dh.TieProfile.from_groups([*groups, [(last, 0, 1, 1)]] * 20, n_ranked=[2000] * 100), "MRR")
        for name, last in {"base": 999, "near": 1000, "nearer": 1001, "far": 0}.items()
    }
    dh.plots.precision_changes(reports, measure="MRR", ax=ax)
    assert "beyond the axis" in words(ax)
    assert ax.get_xlim()[1] < 1 < 100 * (reports["far"]["MRR"].lower - reports["base"]["MRR"].lower)
    assert [text.get_text() for text in ax.texts][:4] == ["0", "≈ 0", "≈ 0", "+19.98"]


def test_a_base_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"base must be one of float64, .*, but is 'int9'"):
        dh.plots.precision_changes(FOUND.reports, base="int9")
    with pytest.raises(ValueError, match=r"^reports must hold at least one report, but is empty$"):
        dh.plots.precision_changes({})


def test_measure_against_bytes(ax: Axes) -> None:
    dh.plots.measure_against_bytes(FOUND, "Hit@1", ax=ax)
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "bytes per vector", "Hit@1 (%)")
    assert words(ax)[:5] == ["float64: 32", "float32: 16", "bfloat16: 8", "int8: 4", "1 bit: 1"]
    assert words(ax)[5:] == ["lower to upper: ties", "95 % interval of\nthe difference to float64"]
    assert_array_equal([line.get_ydata()[0] for line in ax.lines], [100 * FOUND[n]["Hit@1"].expected for n in FORMATS])
    assert len({line.get_marker() for line in ax.lines}) == 5  # in grey too
    ax.figure.canvas.draw()


def test_formats_of_one_size_stand_side_by_side(ax: Axes) -> None:
    found = dh.precision.precisions(POINTS, LABELS, formats="int8,int8 float query,int8 per dimension", measures="mAP")
    dh.plots.measure_against_bytes(found, ax=ax)
    places = [float(line.get_xdata()[0]) for line in ax.lines[1:]]
    assert places == sorted(places)
    assert len(set(places)) == 3
    assert ax.lines[2].get_markerfacecolor() == "white"
