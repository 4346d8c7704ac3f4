"""Plots of reports: several next to each other, single queries and classes, comparisons, profiles, and fewer bits."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from plots.drawn import line, rows, words

import deadheat as dh
from deadheat.plots.ties import group_sizes

POINTS = np.random.default_rng(5).normal(size=(30, 4))
LABELS = np.arange(30) % 5
FORMATS = ["float64", "float32", "bfloat16", "int8", "1 bit"]
FOUND = dh.quantization.compare_formats(POINTS, LABELS, formats=FORMATS, measures=["mAP", "Hit@1"])


def test_bounds_of_one_report_have_a_row_a_measure(ax: Axes) -> None:
    report = dh.evaluate(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1], measures=["mAP", "Hit@1", "MRR"])
    assert dh.plots.bounds(report, ax=ax) is ax
    assert rows(ax) == ["mAP", "Hit@1", "MRR"]
    for end in ("lower", "expected", "upper"):
        assert_array_equal(line(ax, end).get_xdata(), [100 * getattr(report[name], end) for name in report])
    assert ax.get_xlabel() == "value (%)"
    assert rows(dh.plots.bounds(report, measures="MRR", ax=Figure().subplots())) == ["MRR"]


def test_bounds_of_several_reports_have_a_row_each(ax: Axes) -> None:
    reports = dh.quantization.compare_formats(POINTS, LABELS, measures=["mAP", "MRR"]).reports
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
    reports = dh.quantization.compare_formats(POINTS, LABELS, measures="mAP").reports
    mixed = dh.plots.mixed_queries(reports, ax=ax)
    assert [bar.get_width() for bar in mixed.patches] == [100 * r.ties.queries / r.n_query for r in reports.values()]


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
    texts = words(ax)
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


# Single queries and classes

RNG = np.random.default_rng(1)
CLASSES = np.array(list("aaabbbbccccc")[::-1])
TIED = dh.evaluate(RNG.integers(0, 3, (12, 2)), CLASSES, distance="l1")
SEPARATED = dh.evaluate(RNG.normal(size=(12, 2)), CLASSES, distance="l1")


def test_cmc_is_hit_at_k_with_its_bounds(ax: Axes) -> None:
    dh.plots.cmc({"tied": TIED, "apart": SEPARATED}, k=4, ax=ax)
    assert_array_equal(ax.lines[0].get_ydata(), [100 * TIED[f"Hit@{k}"].expected for k in (1, 2, 3, 4)])
    assert_array_equal(ax.lines[1].get_xdata(), [1, 2, 3, 4])
    assert words(ax) == ["tied: ties", "tied", "apart"] or words(ax) == ["tied", "apart", "tied: ties"]
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    for k in (1, 2, 3, 4):
        ends = corners[corners[:, 0] == k][:, 1]  # type: ignore[index]
        assert_array_equal([ends.min(), ends.max()], [100 * TIED[f"Hit@{k}"].lower, 100 * TIED[f"Hit@{k}"].upper])
    assert dh.plots.cmc(SEPARATED, k=[5, 1, 5], ax=Figure().subplots()).lines[0].get_xdata().tolist() == [1, 5]  # type: ignore[union-attr]


def test_precision_against_recall_with_its_band(ax: Axes) -> None:
    curve = dh.precision_recall(TIED)
    dh.plots.precision_recall(curve, ax=ax)
    assert words(ax) == ["lower to upper: ties", "expected"]
    assert_array_equal(ax.lines[0].get_xydata(), 100 * np.stack([curve.recall, curve.expected], axis=1))
    two = dh.plots.precision_recall({"a": curve, "b": curve}, ax=Figure().subplots())
    assert words(two) == ["a: ties", "a", "b: ties", "b"]


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), ([1, 0], ValueError), (1.5, TypeError)])
def test_cmc_refuses(k: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^k must be "):
        dh.plots.cmc(TIED, k=k)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^reports must hold at least one report, but is empty$"):
        dh.plots.cmc({})


def test_classes_from_the_worst(ax: Axes) -> None:
    dh.plots.per_class(TIED, ax=ax)
    names = rows(ax)
    means = {name: [100 * end[name == CLASSES].mean() for end in TIED["mAP"].per_query] for name in "abc"}
    assert names == sorted(means, key=lambda name: means[name][1])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [means[name][1] for name in names])
    assert [text.get_text() for text in ax.texts] == [str((name == CLASSES).sum()) for name in names] + ["queries"]
    assert words(ax) == ["lower to upper: ties", "mean of the report", "mean of the class"]
    two = dh.plots.per_class(TIED, "Hit@1", n=2, ax=Figure().subplots())
    assert two.get_ylabel() == "the worst 2 of 3 classes"
    with pytest.raises(ValueError, match=r"^per_class needs the labels of the queries"):
        dh.plots.per_class(dh.measure(TIED.profile))


def test_a_class_without_a_value_is_left_out(ax: Axes) -> None:
    report = dh.evaluate([[0], [1], [5]], ["x", "x", "alone"], distance="l2")
    assert [label.get_text() for label in dh.plots.per_class(report, ax=ax).get_yticklabels()] == ["x"]


def test_queries_from_worst_to_best(ax: Axes) -> None:
    dh.plots.caterpillar(TIED, ax=ax)
    lower, expected, upper = (100 * end for end in TIED["mAP"].per_query)
    tied = lower < upper
    assert words(ax)[0] == f"ties decide ({tied.sum()})"
    shown = np.concatenate([line.get_xydata() for line in ax.lines if line.get_marker() == "o"])  # type: ignore[misc]
    assert_array_equal(shown[np.argsort(shown[:, 0]), 1], np.sort(expected))
    segments = [segment[:, 1].tolist() for segment in ax.collections[0].get_segments()]  # type: ignore[attr-defined]
    assert sorted(segments) == sorted([low, high] for low, high in zip(lower[tied], upper[tied], strict=True))


def test_a_tolerance_has_no_expected_value(ax: Axes) -> None:
    report = dh.evaluate([[0.0], [1.0], [2.1], [3.3]], [0, 1, 0, 1], distance="l2", ties=dh.Tolerance(0.2))
    assert np.isfinite(dh.plots.caterpillar(report, ax=ax).lines[0].get_ydata()).all()
    assert np.isfinite(dh.plots.cmc(report, k=2, ax=Figure().subplots()).lines[0].get_ydata()).all()
    assert np.isfinite([bar.get_width() for bar in dh.plots.per_class(report, ax=Figure().subplots()).patches]).all()


# Fewer bits


def test_changes_are_paired_differences_on_a_linear_scale(ax: Axes) -> None:
    names = ["float64", "1 bit", "1 bit (float query)"]
    found = dh.quantization.compare_formats(POINTS, LABELS, formats=names, measures="mAP")
    assert dh.plots.format_changes(found, ax=ax) is ax
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
    dh.plots.format_changes(reports, measure="MRR", ax=ax)
    assert "beyond the axis" in words(ax)
    assert ax.get_xlim()[1] < 1 < 100 * (reports["far"]["MRR"].lower - reports["base"]["MRR"].lower)
    assert [text.get_text() for text in ax.texts][:4] == ["0", "≈ 0", "≈ 0", "+19.98"]


def test_a_base_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"base must be one of float64, .*, but is 'int9'"):
        dh.plots.format_changes(FOUND.reports, base="int9")
    with pytest.raises(ValueError, match=r"^reports must hold at least one report, but is empty$"):
        dh.plots.format_changes({})


def test_measure_against_bytes(ax: Axes) -> None:
    dh.plots.measure_against_bytes(FOUND, "Hit@1", ax=ax)
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "bytes per vector", "Hit@1 (%)")
    assert words(ax)[:5] == ["float64: 32", "float32: 16", "bfloat16: 8", "int8: 4", "1 bit: 1"]
    assert words(ax)[5:] == ["lower to upper: ties", "95 % interval of\nthe difference to float64"]
    assert_array_equal([line.get_ydata()[0] for line in ax.lines], [100 * FOUND[n]["Hit@1"].expected for n in FORMATS])
    assert len({line.get_marker() for line in ax.lines}) == 5  # in grey too
    ax.figure.canvas.draw()


def test_formats_of_one_size_stand_side_by_side(ax: Axes) -> None:
    found = dh.quantization.compare_formats(
        POINTS, LABELS, formats="int8,int8 float query,int8 per dimension", measures="mAP"
    )
    dh.plots.measure_against_bytes(found, ax=ax)
    places = [float(line.get_xdata()[0]) for line in ax.lines[1:]]
    assert places == sorted(places)
    assert len(set(places)) == 3
    assert ax.lines[2].get_markerfacecolor() == "white"
