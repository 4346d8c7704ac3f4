"""The namespace of the plots, and what reports, comparisons and profiles look like."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.analyses.confidence import error_reject_curve
from deadheat.plots.ties import group_sizes

POINTS = np.random.default_rng(5).normal(size=(30, 4))
LABELS = np.arange(30) % 5


@pytest.fixture
def ax() -> Any:
    return Figure().subplots()


def line(ax: Axes, label: str) -> Any:
    return next(line for line in ax.lines if line.get_label() == label)


def rows(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


# ---------------------------------------------------------------------------------------------------------------------
# the namespace


def test_every_plot_is_a_function_of_the_package() -> None:
    for name in dh.plots.__all__:
        value = getattr(dh.plots, name)
        assert inspect.getdoc(value), name
        assert name == "Band" or inspect.isfunction(value), name  # and not a module of that name
    described = dh.plots.__doc__ or ""
    assert [name for name in dh.plots.__all__ if name not in described] == []


def test_without_matplotlib_the_package_says_what_to_install() -> None:
    program = "import sys; sys.modules['matplotlib'] = None; import deadheat.plots"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "deadheat.plots needs matplotlib: pip install 'deadheat[plots]'" in done.stderr


def _draws() -> dict[str, Callable[..., Axes]]:
    """Each plot of what comes at hand, without axes."""
    found = dh.precision.precisions(POINTS, LABELS, formats=["float32", "1 bit"], measures="mAP")
    reports = found.reports
    curve = error_reject_curve([1, 0], [2, 1])
    return {
        "bounds": lambda **to: dh.plots.bounds(reports, **to),
        "measure_against_bytes": lambda **to: dh.plots.measure_against_bytes(found, **to),
        "cmc": lambda **to: dh.plots.cmc(reports, **to),
        "per_class": lambda **to: dh.plots.per_class(reports["1 bit"], **to),
        "caterpillar": lambda **to: dh.plots.caterpillar(reports["1 bit"], **to),
        "precision_changes": lambda **to: dh.plots.precision_changes(reports, **to),
        "mixed_queries": lambda **to: dh.plots.mixed_queries(reports, **to),
        "error_reject": lambda **to: dh.plots.error_reject(curve, **to),
        "gap_histogram": lambda **to: dh.plots.gap_histogram({"a": [0.1]}, **to),
    }


def test_new_axes_where_none_are_given() -> None:
    pyplot.switch_backend("agg")
    for name, draw in _draws().items():
        made = draw()
        assert isinstance(made, Axes), name
        made.figure.canvas.draw()
        pyplot.close(made.figure)  # type: ignore[arg-type]
        ax = Figure().subplots()
        assert draw(ax=ax) is ax, name


# ---------------------------------------------------------------------------------------------------------------------
# reports


def test_bounds_of_one_report_have_a_row_a_measure(ax: Axes) -> None:
    report = dh.evaluate(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1], measures=["mAP", "Hit@1", "MRR"])
    assert dh.plots.bounds(report, ax=ax) is ax
    assert rows(ax) == ["mAP", "Hit@1", "MRR"]
    for end in ("lower", "expected", "upper"):
        assert_array_equal(line(ax, end).get_xdata(), [100 * getattr(report[name], end) for name in report])
    assert ax.get_xlabel() == "value (%)"
    assert rows(dh.plots.bounds(report, measures="MRR", ax=Figure().subplots())) == ["MRR"]


def test_bounds_of_several_reports_have_a_row_each(ax: Axes) -> None:
    reports = dh.precision.precisions(POINTS, LABELS, measures=["mAP", "MRR"]).reports
    dh.plots.bounds(reports, sorts={"int8": [0.25, 0.5]}, ax=ax)
    assert rows(ax) == list(reports)
    assert ax.get_xlabel() == "mAP (%)"
    assert_array_equal(line(ax, "plain sorts").get_xdata(), [25, 50])
    both = dh.plots.bounds({"a": reports["int8"]}, measures=["mAP", "MRR"], ax=Figure().subplots())
    assert rows(both) == ["a, mAP", "a, MRR"]


def test_no_report_is_nothing_to_draw() -> None:
    for draw in (lambda: dh.plots.bounds({}), lambda: dh.plots.mean_intervals({}, "MRR")):
        with pytest.raises(ValueError, match=r"^reports must hold at least one report, but is empty$"):
            draw()


def test_an_untied_row_is_one_dot(ax: Axes) -> None:
    tied, apart = (dh.evaluate(points, [0, 0, 1, 1], measures="mAP", distance="l2")
                   for points in ([[0], [0], [0], [1]], [[0], [1], [3], [7]]))  # fmt: skip
    dh.plots.bounds({"tied": tied, "apart": apart}, ax=ax)
    assert len(line(ax, "lower").get_xdata()) == len(line(ax, "upper").get_xdata()) == 1
    assert_array_equal(line(ax, "expected (alone: no tie decides)").get_ydata(), [0, 1])
    alone = dh.plots.bounds(apart, ax=Figure().subplots())
    assert [text.get_text() for text in alone.get_legend().get_texts()] == ["value: no tie decides"]  # type: ignore[union-attr]
    assert [text.get_text() for text in alone.texts] == ["0", "upper − lower\n(points)"]


def test_mixed_queries_hold_the_numbers(ax: Axes) -> None:
    reports = dh.precision.precisions(POINTS, LABELS, measures="mAP").reports
    mixed = dh.plots.mixed_queries(reports, ax=ax)
    assert [bar.get_width() for bar in mixed.patches] == [100 * r.ties.queries / r.n_query for r in reports.values()]


# ---------------------------------------------------------------------------------------------------------------------
# comparisons and profiles


def reciprocal_ranks(queries: list[tuple[int, int] | None]) -> dh.Report:
    """A report on queries with one relevant item, in a group of `tied` items behind `closer` others; None has none."""
    groups = [[] if query is None else [(query[0], 0, query[1], 1)] for query in queries]
    return dh.measure(dh.TieProfile.from_groups(groups, n_ranked=[6] * len(groups)), "MRR")


A = reciprocal_ranks([(0, 1), (0, 2), (1, 1), (0, 1), None, (2, 1)])
B = reciprocal_ranks([(1, 1), (0, 2), (0, 1), (3, 1), (0, 1), (2, 2)])


def test_differences_are_sorted_and_say_who_wins(ax: Axes) -> None:
    difference = dh.compare(A, B)["MRR"]
    dh.plots.differences(difference, ax=ax)
    segments = sorted(
        (round(x, 9), round(low, 9), round(high, 9))
        for lines in ax.collections
        for (x, low), (_, high) in (segment.tolist() for segment in lines.get_segments())  # type: ignore[attr-defined]
    )
    assert segments == [
        (1, 75, 75), (2, 50, 50), (3, 0, 8.333333333), (4, -50, 50), (5, -50, -50),
    ]  # fmt: skip
    texts = [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[union-attr]
    assert texts == ["A wins (2)", "B wins (1)", "ties decide (2)"]


def test_intervals_reach_round_what_ties_leave_open(ax: Axes) -> None:
    dh.plots.mean_intervals({"first": A, "second": B}, "MRR", ax=ax, seed=1)
    whiskers = [segment.tolist() for segment in ax.collections[0].get_segments()]  # type: ignore[attr-defined]
    for place, shown in enumerate((A, B)):
        interval = shown.interval("MRR", seed=1)
        assert whiskers[place] == [[100 * interval.lower.low, place], [100 * interval.upper.high, place]]
    assert rows(ax) == ["first", "second"]


def test_sizes_of_tie_groups(ax: Axes) -> None:
    profile = dh.TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 5, 2)], [(3, 0, 7, 1)]], n_ranked=[9, 10])
    assert group_sizes(profile).tolist() == [1, 5, 5, 7]
    dh.plots.tie_sizes({"one": profile, "two": profile}, ax=ax)
    assert_array_equal(line(ax, "largest").get_xdata(), [7, 7])
    assert rows(ax) == ["one", "two"]
