"""Plots of reports: several next to each other, single queries and classes, comparisons, profiles, and fewer bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from plots.drawn import column, line, rows, segments, words

import deadheat as dh
from deadheat.plots import precisions, style


def new() -> Axes:
    return Figure().subplots()


POINTS = np.random.default_rng(5).normal(size=(30, 4))
LABELS = np.arange(30) % 5
FORMATS = ["float64", "float32", "bfloat16", "int8", "1 bit"]
FOUND = dh.compare_formats(dh.Task(POINTS, LABELS), formats=FORMATS, measures=["mAP", "Hit@1"])


def test_bounds_have_a_row_for_each_measure_and_report(ax: Axes) -> None:
    report = dh.evaluate(np.zeros((6, 1)), [0, 0, 0, 1, 1, 1], measures=["mAP", "Hit@1", "MRR"])
    assert dh.plots.bounds(report, ax=ax) is ax
    assert (rows(ax), ax.get_xlabel()) == (["mAP", "Hit@1", "MRR"], "value (%)")
    assert ax.get_title() == "Ties leave up to 100.00 points open (Hit@1)"
    untied = dh.evaluate([[0.0], [0.1], [1.0], [1.3]], [0, 0, 1, 1], measures="mAP, MRR", distance="l2")
    assert dh.plots.bounds(untied, ax=new()).get_title() == "No tie affects a value"
    for end in ("lower", "expected", "upper"):
        assert_array_equal(line(ax, end).get_xdata(), [100 * getattr(report[name], end) for name in report])
    assert rows(dh.plots.bounds(report, measures="MRR", ax=new())) == ["MRR"]
    several = dh.plots.bounds(FOUND.reports, sorts={"int8": [0.25, 0.5]}, ax=new())
    assert (rows(several), several.get_xlabel()) == (FORMATS, "mAP (%)")
    assert_array_equal(line(several, "plain sorts").get_xdata(), [25, 50])
    both = dh.plots.bounds({"a": report}, measures=["mAP", "MRR"], ax=new())
    assert rows(both) == ["a, mAP", "a, MRR"]


def test_an_untied_row_is_one_dot(ax: Axes) -> None:
    tied, separated = (dh.evaluate(points, [0, 0, 1, 1], measures="mAP", distance="l2")
                   for points in ([[0], [0], [0], [1]], [[0], [1], [3], [7]]))  # fmt: skip
    dh.plots.bounds({"tied": tied, "separated": separated}, ax=ax)
    assert len(line(ax, "lower").get_xdata()) == len(line(ax, "upper").get_xdata()) == 1
    assert_array_equal(line(ax, "expected (alone: no tie decides)").get_ydata(), [0, 1])
    alone = dh.plots.bounds(separated, ax=new())
    assert words(alone) == ["value: no tie decides"]
    assert column(alone) == ["0", "upper − lower (points)"]


def reciprocal_ranks(queries: list[tuple[int, int] | None]) -> dh.Report:
    """A report on queries with one relevant item, in a group of `tied` items behind `closer` others; None has none."""
    groups = [[] if query is None else [(query[0], 0, query[1], 1)] for query in queries]
    return dh.evaluate(dh.TieProfile.from_groups(groups, n_ranked=[6] * len(groups)), "MRR")


A = reciprocal_ranks([(0, 1), (0, 2), (1, 1), (0, 1), None, (2, 1)])
B = reciprocal_ranks([(1, 1), (0, 2), (0, 1), (3, 1), (0, 1), (2, 2)])


def test_differences_are_sorted_and_say_who_wins(ax: Axes) -> None:
    difference = dh.compare(A, B, names=("new", "old"))["MRR"]
    dh.plots.differences(difference, ax=ax)
    bars = [(bar.get_x() + bar.get_width() / 2, round(bar.get_height(), 9)) for bar in ax.patches]
    assert bars == [(1, 75), (2, 50), (3, 4.166666667), (4, 0), (5, -50)]
    (lines,) = [each for each in ax.collections if each.get_label() == "lower to upper: ties"]
    ends = [[round(y, 9) for _, y in segment] for segment in segments(lines)]
    assert ends == [[0, 8.333333333], [-50, 50]]
    assert sorted(words(ax)) == ["lower to upper: ties", "new wins (2)", "old wins (1)", "ties decide (2)"]
    assert ax.get_title() == "Of 5 queries, new wins 2 and old 1, ties decide 2"
    assert ax.get_ylabel() == "RR of new − old (points)"


def test_each_who_wins_is_a_block_of_many_queries(ax: Axes) -> None:
    a, b = (
        reciprocal_ranks([*some] * 60) for some in ([(0, 1), (1, 2), (2, 1), (0, 1)], [(2, 1), (1, 1), (0, 1), (0, 1)])
    )
    dh.plots.differences(dh.compare(a, b)["MRR"], ax=ax)
    heights = np.array([bar.get_height() for bar in ax.patches])
    assert_array_equal(np.flatnonzero(np.diff(np.sign(heights))), [59, 119, 179])
    (band,) = ax.collections
    assert band.get_label() == "lower to upper: ties"
    spans = band.get_paths()[0].vertices
    inside = (spans[:, 0] > 61) & (spans[:, 0] < 120)  # type: ignore[index]
    assert {round(y, 6) for y in spans[inside, 1]} == {0, round(100 / 3 - 50, 6)}  # type: ignore[index]


def test_the_measures_of_the_reports_are_drawn() -> None:
    report = dh.evaluate(POINTS, LABELS, measures=["MAP@R", "mAP"])
    for draw in (dh.plots.bounds, dh.plots.mean_intervals):
        assert draw({"a": report, "b": report}).get_xlabel() == "MAP@R (%)"
    assert dh.plots.format_changes({"a": report}).get_xlabel() == "MAP@R, difference to a (points)"
    assert dh.plots.per_class(report).get_xlabel() == "MAP@R (%)"
    assert dh.plots.caterpillar(report).get_ylabel() == "AP@R (%)"
    assert dh.plots.measure_against_bytes(FOUND).get_ylabel() == "mAP (%)"


def test_titles_say_who_is_first_by_the_lower_bound() -> None:
    tied = reciprocal_ranks([(0, 6)])  # 16.67 to 100, expected 40.83
    sure = reciprocal_ranks([(3, 1)])  # 25
    for draw in (dh.plots.bounds, dh.plots.mean_intervals):
        title = draw({"tied": tied, "sure": sure}).get_title()
        assert title.replace("\n", " ") == "MRR: sure is first by the lower bound, 25.00 %"
    assert dh.plots.bounds({"a": sure, "b": sure}).get_title() == "MRR: a and b are first by the lower bound, 25.00 %"
    assert dh.plots.bounds(tied).get_title() == "MRR: 40.83 [16.67, 100.00] %"
    assert dh.plots.caterpillar(tied).get_title() == "Ties affect RR in 1 of 1 query"
    assert dh.plots.cmc(sure, k=4).get_title() == "Hit@1: 0.00 %"


@pytest.mark.parametrize(
    ("k", "ticks"),
    [(4, [1, 2, 3, 4]), (20, [1, 5, 10, 15, 20]), ([1, 5, 10], [1, 5, 10]), (100, [1, 20, 40, 60, 80, 100])],
)
def test_ticks_of_k_are_those_that_people_quote(k: Any, ticks: list[int]) -> None:
    assert dh.plots.cmc(A, k=k).get_xticks().tolist() == ticks


def test_intervals_enclose_the_bounds(ax: Axes) -> None:
    dh.plots.mean_intervals({"first": A, "second": B}, "MRR", ax=ax, seed=1)
    result = [report.interval("MRR", seed=1) for report in (A, B)]
    ends = [[[100 * each.lower.low, row], [100 * each.upper.high, row]] for row, each in enumerate(result)]
    assert (segments(ax.collections[0]), rows(ax)) == (ends, ["first", "second"])


def test_sizes_of_tie_groups(ax: Axes) -> None:
    profile = dh.TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 5, 2)], [(3, 0, 7, 1)]], n_ranked=[9, 10])
    dh.plots.tie_sizes({"one": profile, "two": profile}, ax=ax)
    assert_array_equal([line(ax, label).get_xdata() for label in ("median", "largest")], [[5, 5], [7, 7]])
    assert_allclose([[x for x, _ in segments(each)[0]] for each in ax.collections], [[1.6, 6.7], [4, 5.5]])
    assert rows(ax) == ["one", "two"]
    with pytest.raises(ValueError, match=r"^profiles must have relevant items, but 'alone' has none$"):
        dh.plots.tie_sizes({"alone": dh.Task([[0.0], [1.0]], [0, 1]).profile})


# Single queries and classes

RNG = np.random.default_rng(1)
CLASSES = np.array(list("aaabbbbccccc")[::-1])
TIED = dh.evaluate(RNG.integers(0, 3, (12, 2)), CLASSES, distance="l1")
SEPARATED = dh.evaluate(RNG.normal(size=(12, 2)), CLASSES, distance="l1")


def test_cmc_is_hit_at_k_with_its_bounds(ax: Axes) -> None:
    dh.plots.cmc({"tied": TIED, "apart": SEPARATED}, k=4, ax=ax)
    assert_array_equal(ax.lines[0].get_ydata(), [100 * TIED[f"Hit@{k}"].expected for k in (1, 2, 3, 4)])
    assert_array_equal(ax.lines[1].get_xdata(), [1, 2, 3, 4])
    assert words(ax) == ["tied", "apart", "lower to upper: ties"]
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    for k in (1, 2, 3, 4):
        ends = corners[corners[:, 0] == k][:, 1]  # type: ignore[index]
        assert_array_equal([ends.min(), ends.max()], [100 * TIED[f"Hit@{k}"].lower, 100 * TIED[f"Hit@{k}"].upper])
    assert dh.plots.cmc(SEPARATED, k=[5, 1, 5], ax=new()).lines[0].get_xdata().tolist() == [1, 5]  # type: ignore[union-attr]


def test_precision_against_recall_with_its_band(ax: Axes) -> None:
    curve = dh.precision_recall(TIED)
    dh.plots.precision_recall(curve, ax=ax)
    assert words(ax) == ["expected", "lower to upper: ties"]
    assert_array_equal(ax.lines[0].get_xydata(), 100 * np.stack([curve.recall, curve.expected], axis=1))
    two = dh.plots.precision_recall({"a": curve, "b": curve}, ax=new())
    assert words(two) == ["a", "b", "lower to upper: ties"]


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), ([1, 0], ValueError), (1.5, TypeError)])
@pytest.mark.parametrize("name", ["cmc", "precision_at_k", "recall_at_k"])
def test_cutoffs_are_checked(name: str, k: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^k must be "):
        getattr(dh.plots, name)(TIED, k=k)


@pytest.mark.parametrize(("name", "measure"), [("precision_at_k", "P"), ("recall_at_k", "Recall")])
def test_a_measure_at_every_cutoff_with_its_band(name: str, measure: str, ax: Axes) -> None:
    getattr(dh.plots, name)(TIED, ax=ax)
    cutoffs = ax.lines[0].get_xdata().tolist()  # type: ignore[union-attr]
    assert cutoffs == list(range(1, int(TIED.profile.n_ranked.max()) + 1))
    wanted = [[100 * getattr(TIED[f"{measure}@{k}"], end) for k in cutoffs] for end in ("lower", "expected", "upper")]
    assert_array_equal(ax.lines[0].get_ydata(), wanted[1])
    corners = ax.collections[0].get_paths()[0].vertices
    for k, low, high in zip(cutoffs, wanted[0], wanted[2], strict=True):
        ends = corners[corners[:, 0] == k][:, 1]  # type: ignore[index]
        assert (ends.min(), ends.max()) == (low, high)
    assert ax.get_ylabel() == f"{measure}@k (%)"
    large = getattr(dh.plots, name)({"a": TIED, "b": SEPARATED}, k=1000, ax=new())
    assert large.lines[0].get_xdata().tolist() == [1, *range(50, 1001, 50)]
    assert words(large) == ["a", "b", "lower to upper: ties"]
    assert getattr(dh.plots, name)(TIED, k=[3, 1], ax=new()).lines[0].get_xdata().tolist() == [1, 3]


def test_hash_lookup_against_radius_and_recall(ax: Axes) -> None:
    rng = np.random.default_rng(4)
    bits, labels = rng.random((30, 12)) < 0.5, np.arange(30) % 4
    result = dh.hash_lookup(dh.Task(bits, labels, distance="hamming"))
    assert result.empty[0] == 1.0
    dh.plots.hash_lookup(result, ax=ax)
    assert words(ax) == ["precision", "recall", "empty balls"]
    wanted = {"precision": result.macro.precision, "recall": result.macro.recall, "empty balls": result.empty}
    for name, values in wanted.items():
        assert_array_equal(line(ax, name).get_xdata(), np.arange(13))
        assert_array_equal(line(ax, name).get_ydata(), 100 * values)
    assert ax.get_title() == f"Best F1: {100 * result.macro.f1.max():.2f} %"
    few = dh.hash_lookup(dh.Task(bits[:, :6], labels, distance="hamming"))
    several = dh.plots.hash_lookup({"12": result, "6": few}, ax=new())
    assert words(several) == ["12", "6", "precision", "recall"]
    assert_array_equal(line(several, "6").get_ydata(), 100 * few.macro.precision)
    assert_array_equal(line(several, "6: recall").get_ydata(), 100 * few.macro.recall)
    curves = dh.plots.hash_lookup({"12": result, "6": few}, against="recall", average="micro", ax=new())
    some = result.n_empty < result.n_query
    points = np.stack([result.micro.recall[some], result.micro.precision[some]], axis=1)
    assert_array_equal(line(curves, "12").get_xydata(), 100 * points)
    assert (curves.get_xlabel(), curves.get_ylabel()) == ("recall (%)", "precision (%)")
    for wrong in ({"against": "f1"}, {"average": "class"}):
        with pytest.raises(ValueError, match=rf"^{next(iter(wrong))} must be one of "):
            dh.plots.hash_lookup(result, **wrong)  # type: ignore[arg-type]


def test_classes_from_the_worst(ax: Axes) -> None:
    dh.plots.per_class(TIED, ax=ax)
    names = rows(ax)
    means = {name: [100 * end[name == CLASSES].mean() for end in TIED["mAP"].per_query] for name in "abc"}
    assert names == sorted(means, key=lambda name: means[name][1])
    assert_allclose([bar.get_width() for bar in ax.patches], [means[name][1] for name in names])
    assert column(ax) == [str((name == CLASSES).sum()) for name in names] + ["queries"]
    assert words(ax) == ["lower to upper: ties", "mean of the report", "mean of the class"]
    assert_array_equal(line(ax, "mean of the report").get_xdata(), 100 * TIED["mAP"].expected)
    assert ax.get_title().startswith(f"The worst class is {names[0]}: {means[names[0]][1]:.2f} [")
    two = dh.plots.per_class(TIED, "Hit@1", n=2, ax=new())
    assert two.get_ylabel() == "the worst 2 of 3 classes"
    with pytest.raises(ValueError, match=r"^per_class needs the labels of the queries"):
        dh.plots.per_class(dh.evaluate(TIED.profile))


def test_a_class_without_a_value_is_left_out(ax: Axes) -> None:
    report = dh.evaluate([[0], [1], [5]], ["x", "x", "alone"], distance="l2")
    assert rows(dh.plots.per_class(report, ax=ax)) == ["x"]


def test_queries_from_worst_to_best(ax: Axes) -> None:
    dh.plots.caterpillar(TIED, ax=ax)
    lower, expected, upper = (100 * end for end in TIED["mAP"].per_query)
    tied = lower < upper
    assert words(ax)[:2] == ["lower to upper: ties", f"ties decide ({tied.sum()})"]
    shown = np.concatenate([line.get_xydata() for line in ax.lines if line.get_marker() == "o"])  # type: ignore[misc]
    assert_array_equal(shown[np.argsort(shown[:, 0]), 1], np.sort(expected))
    ends = sorted([low, high] for (_, low), (_, high) in segments(ax.collections[0]))
    assert ends == sorted([low, high] for low, high in zip(lower[tied], upper[tied], strict=True))


def test_a_tolerance_has_no_expected_value(ax: Axes) -> None:
    report = dh.evaluate([[0.0], [1.0], [2.1], [3.3]], [0, 1, 0, 1], distance="l2", ties=dh.Tolerance(0.2))
    lower, _, upper = report["mAP"].per_query
    middles = np.concatenate([line.get_ydata() for line in dh.plots.caterpillar(report, ax=ax).lines[:-1]])
    assert_allclose(np.sort(middles), np.sort(50 * (lower + upper)))
    assert_array_equal(dh.plots.cmc(report, k=2, ax=new()).lines[0].get_ydata(),
                       [100 * report[name].lower for name in ("Hit@1", "Hit@2")])  # fmt: skip
    worst = dh.plots.per_class(report, ax=new())
    assert_array_equal([bar.get_width() for bar in worst.patches], 100 * report.by_class().per_row["mAP"].lower)


# Fewer bits


def test_changes_are_paired_differences_on_a_linear_scale(ax: Axes) -> None:
    names = ["float64", "1 bit", "1 bit (float query)"]
    result = dh.compare_formats(dh.Task(POINTS, LABELS), formats=names, measures="mAP")
    assert dh.plots.format_changes(result, ax=ax) is ax
    assert (ax.get_xscale(), ax.get_xlabel()) == ("linear", "mAP, difference to float64 (points)")
    (dots,) = [line for line in ax.lines if str(line.get_label()).startswith("expected")]
    changes = [100 * result.change(name, "mAP").expected for name in names]
    assert_array_equal(dots.get_xdata(), changes)
    assert ax.get_title().startswith(f"mAP: {names[int(np.argmax(np.abs(changes)))]} is farthest from float64, ")
    assert (column(ax)[0], column(ax)[-2]) == ("0", f"{changes[-1]:+.2f}".replace("-", "−"))
    (interval,) = [lines for lines in ax.collections if lines.get_label() == "95 % interval, with ties"]
    ends = {row: [low, high] for (low, row), (high, _) in segments(interval)}
    difference = result.difference("1 bit", "mAP").interval()
    assert ends[1] == [100 * difference.lower.low, 100 * difference.upper.high]
    assert 0 not in ends  # the base is one dot
    with pytest.raises(ValueError, match=r"base must be one of float64, .*, but is 'int9'"):
        dh.plots.format_changes(result.reports, base="int9")


@pytest.mark.parametrize(("points", "text"), [(0.0, "0"), (0.0049, "≈ 0"), (0.005, "+0.01"), (-0.25, "−0.25")])
def test_a_change_has_a_sign_unless_it_is_too_small_for_it(points: float, text: str) -> None:
    assert precisions._signed(points) == text


def test_a_row_far_out_is_an_arrow(ax: Axes) -> None:
    groups = [[(place, 0, 1, 1)] for place in (0, 1, 2, 3)]
    reports = {
        name: dh.evaluate(dh.TieProfile.from_groups([*groups, [(last, 0, 1, 1)]] * 20, n_ranked=[2000] * 100), "MRR")
        for name, last in {"base": 999, "near": 1000, "nearer": 1001, "far": 0}.items()
    }
    dh.plots.format_changes(reports, measure="MRR", ax=ax)
    assert "beyond the axis" in words(ax)
    assert ax.get_xlim()[1] < 1 < 100 * (reports["far"]["MRR"].lower - reports["base"]["MRR"].lower)
    assert column(ax)[:4] == ["0", "≈ 0", "≈ 0", "+19.98"]


def test_measure_against_bytes(ax: Axes) -> None:
    dh.plots.measure_against_bytes(FOUND, "Hit@1", ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bytes per vector", "Hit@1 (%)")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "4", "8", "16", "32"]
    texts = [text.replace("\n", " ") for text in words(ax)]
    assert texts[:5] == ["1 bit", "int8", "bfloat16", "float32", "float64"]
    assert texts[5:] == ["lower to upper: ties", "95 % interval of the difference to float64"]
    marks = [line(ax, name) for name in reversed(FORMATS)]
    shown = [line.get_ydata()[0] for line in marks]  # type: ignore[index]
    assert_array_equal(shown, [100 * FOUND[name]["Hit@1"].expected for name in reversed(FORMATS)])
    assert len({line.get_marker() for line in marks}) == 5  # in grey too
    ax.figure.canvas.draw()


def test_formats_of_one_size_stand_side_by_side(ax: Axes) -> None:
    formats = "int8,int8 float query,int8 per dimension"
    result = dh.compare_formats(dh.Task(POINTS, LABELS), formats=formats, measures="mAP")
    dh.plots.measure_against_bytes(result, ax=ax)
    places = {name: line(ax, name).get_xdata()[0] for name in result}
    edge = min(line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2)  # type: ignore[index,arg-type]
    of_int8 = {place for name, place in places.items() if name.startswith("int8")}
    assert len(of_int8) == 3
    assert max(of_int8) < edge < max(places.values())  # in the strip of 4 bytes, and no other
    assert line(ax, "int8 (float query)").get_markerfacecolor() == style.PAPER


def test_slices_have_a_row_each_with_their_mean_and_all(ax: Axes) -> None:
    report = reciprocal_ranks([(0, 1), (0, 2), (1, 1), (0, 3), (2, 1), (0, 1)] * 3)
    worse = reciprocal_ranks([(1, 1), (0, 2), (1, 1), (1, 3), (2, 1), (0, 1)] * 3)
    of_report = report.by_slice(np.arange(18) // 9)
    of_pair = dh.compare(report, worse, names=("old", "new")).by_slice(np.arange(18) // 9)
    for sliced, label in ((of_report, "MRR (%)"), (of_pair, "MRR, old − new (points)")):
        ax = dh.plots.slices(sliced)
        assert [each.get_text() for each in ax.get_yticklabels()] == ["0", "1", "mean of slices", "all"]
        assert ax.get_xlabel() == label
        results, intervals, _ = sliced.drawn("MRR")
        shown = next(each for each in ax.lines if each.get_marker() == "D").get_xdata()
        assert_array_equal(shown, [100 * each.expected for each in results])
        assert results[2].lower == sum(each.lower for each in results[:2]) / 2
        ends = next(each for each in ax.lines if each.get_marker() == "|").get_xdata()
        low = [100 * each.low for each in intervals]
        assert_array_equal(np.asarray(ends)[:4], low)
    with pytest.raises(ValueError, match="measure must be one of MRR, but is 'mAP'"):
        dh.plots.slices(of_report, "mAP")
