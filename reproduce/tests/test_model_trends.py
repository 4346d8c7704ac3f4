"""Many models against NumPy and their own intervals: coefficients, trends, what is refused, and both pictures."""

from __future__ import annotations

import json
import math
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from plots.drawn import line, segments

import deadheat as dh
from deadheat.analyses.gaps import GeneralizationGap
from deadheat.engine.ties.tolerance import Tolerance
from reproduce import plots
from reproduce.model_trends import gap_trend, model_correlation

pytest.importorskip("scipy.stats")

LABELS = np.arange(60) % 20
POINTS = np.random.default_rng(0).integers(0, 9, (60, 6))
MODELS = {f"first {n}": dh.Task(POINTS[:, :n], LABELS, distance="euclidean") for n in range(1, 7)}
OTHERS = POINTS[::-1] * [1, 2, 1, 3, 1, 1]
OF_OTHERS = [dh.Task(OTHERS[:, :n], LABELS, distance="euclidean") for n in range(1, 7)]
PLAIN = {name: dh.evaluate(task, "mAP") for name, task in MODELS.items()}
INSIDE = {name: dh.grouped(task, group_size=4, measures="mAP") for name, task in MODELS.items()}


def gaps(measure: str = "mAP") -> dict[str, GeneralizationGap]:
    return {
        name: dh.generalization_gap(task, other, group_size=4, measure=measure)
        for (name, task), other in zip(MODELS.items(), OF_OTHERS, strict=True)
    }


def test_coefficients_are_those_of_expected_values() -> None:
    result = model_correlation(PLAIN, dict(reversed(INSIDE.items())), measure="AP")
    assert result.models == tuple(MODELS)
    values = [[reports[name]["mAP"].expected for name in MODELS] for reports in (PLAIN, INSIDE)]
    assert result.pearson == pytest.approx(np.corrcoef(*values)[0, 1], rel=1e-12)
    assert [len(set(each)) for each in values] == [6, 6], "no equal values, so that rho is Pearson's r of ranks"
    assert result.spearman == pytest.approx(np.corrcoef(*np.argsort(np.argsort(values)))[0, 1], rel=1e-12)
    assert result.names == ("mAP, plain", "mAP in groups of 4")
    z, bound = math.atanh(result.pearson), 1.959963984540054 / math.sqrt(3)
    assert result.pearson_interval() == pytest.approx((math.tanh(z - bound), math.tanh(z + bound)), rel=1e-12)
    three, four = (
        model_correlation(*({name: reports[name] for name in list(MODELS)[:n]} for reports in (PLAIN, INSIDE)),
                          measure="AP") for n in (3, 4)
    )  # fmt: skip
    assert np.isnan(three.pearson_interval()).all()
    said = "95 % interval of Pearson's r, if they were independent: "
    assert (said in str(three), said in str(four)) == (False, True)
    assert math.atanh(four.pearson_interval()[1]) == pytest.approx(math.atanh(four.pearson) + 1.959963984540054)
    for end in ("lower", "expected", "upper"):
        np.testing.assert_array_equal(getattr(result.first, end), [getattr(PLAIN[name]["mAP"], end) for name in MODELS])


def test_pairs_that_ties_leave_open_are_counted() -> None:
    result = model_correlation(PLAIN, INSIDE, measure="mAP")
    undecided = 0
    for a, b in combinations(MODELS, 2):
        ends = [(reports[a]["mAP"], reports[b]["mAP"]) for reports in (PLAIN, INSIDE)]
        undecided += any(one.lower < two.upper and two.lower < one.upper for one, two in ends)
    assert result.n_open == undecided > 0
    assert f"Ties leave the order of {undecided} pair" in str(result)


def test_ranges_that_touch_are_decided() -> None:
    """RR of [1/2, 1], 1, 1/2, [1/2, 1] and 1: only the first and the fourth may lie either way."""
    groups = {"a": (0, 0, 2, 1), "b": (0, 0, 1, 1), "c": (1, 0, 1, 1), "d": (0, 0, 2, 1), "e": (0, 0, 1, 1)}
    reports = {
        name: dh.evaluate(dh.TieProfile.from_groups([[group]], n_ranked=[2]), "MRR") for name, group in groups.items()
    }
    assert model_correlation(reports, reports, measure="MRR").n_open == 1
    sure = {name: reports["b" if name in "ab" else "c"] for name in groups}
    assert model_correlation(sure, sure, measure="MRR").n_open == 0
    assert model_correlation(sure, reports, measure="MRR").n_open == 1


def test_correlation_under_a_tolerance_and_where_nothing_varies() -> None:
    wide = {name: dh.evaluate(task.replace(ties=Tolerance(0.1))) for name, task in MODELS.items()}
    result = model_correlation(wide, wide, measure="mAP")
    np.testing.assert_array_equal(result.shown[0], [report["mAP"].lower for report in wide.values()])
    assert result.pearson == pytest.approx(1)
    flat = model_correlation(dict.fromkeys(MODELS, PLAIN["first 1"]), INSIDE, measure="mAP")
    assert np.isnan([flat.pearson, flat.spearman]).all()
    assert flat.to_dict()["pearson"] is None
    assert flat.to_dict()["pearson_interval"] == [None, None]


def test_correlation_as_text_and_json() -> None:
    result = model_correlation(PLAIN, INSIDE, measure="mAP", names=("all", "groups"))
    lines, content = result.to_text(digits=1).splitlines(), json.loads(result.to_json())
    assert lines[0].split() == ["model", "(%)", "all", "groups"]
    shown = [f"{100 * reports['first 1']['mAP'].expected:.1f}" for reports in (PLAIN, INSIDE)]
    assert lines[1].split() == ["first", "1", *shown]
    assert lines[8].split() == ["correlation", "coefficient"]
    assert lines[9].split()[-1] == f"{result.pearson:.3f}"
    assert {name: row["second"]["upper"] for name, row in content["models"].items()} == {
        name: INSIDE[name]["mAP"].upper for name in MODELS
    }


def test_models_are_sorted_by_their_numbers() -> None:
    made = gaps()
    numbers = {name: -len(name) - int(name[-1]) for name in made}
    trend = gap_trend(made, numbers, name="minus size")
    assert trend.models == tuple(reversed(MODELS))
    assert trend.numbers.tolist() == sorted(numbers.values())
    for side in ("grouped", "plain"):
        wanted = [getattr(made[name], side).expected for name in trend.models]
        assert [gap.expected for gap in getattr(trend, side)] == wanted
        ranks = np.argsort(np.argsort(wanted))
        assert trend.spearman(getattr(trend, side)) == pytest.approx(np.corrcoef(ranks, np.arange(6))[0, 1], rel=1e-12)
    assert (trend.measure, trend.group_size) == ("mAP", 4)


def test_signs_are_those_of_intervals_with_ties() -> None:
    trend = gap_trend(gaps("Hit@1"), {name: number for number, name in enumerate(MODELS)})
    for side in (trend.grouped, trend.plain):
        result = [gap.interval(confidence_level=0.5) for gap in side]
        signs = [-1 if each.upper.high < 0 else 1 if each.lower.low > 0 else 0 for each in result]
        assert trend.signs(side, confidence_level=0.5) == (signs.count(-1), signs.count(1))
    assert sum(trend.signs(trend.plain, confidence_level=0.01)) > 0


def test_a_trend_as_text_and_json() -> None:
    made = gaps()
    trend = gap_trend(made, {name: 10 ** int(name[-1]) for name in made}, name="parameters")
    lines = trend.to_text(confidence_level=0.9).splitlines()
    assert lines[0].split("  ")[0].strip() == "model"
    assert "90 % interval" in lines[0]
    assert lines[6].split()[:3] == ["first", "6", "1e+06"]
    below, above = trend.signs(trend.grouped)
    assert f"Gap in groups of 4: {below} of 6 intervals (95 %) below 0, {above} above, ties included." in lines[8]
    content = json.loads(trend.to_json(confidence_level=0.9))
    assert content["models"]["first 3"]["plain"] == made["first 3"].plain.to_dict(confidence_level=0.9)
    assert content["spearman"]["grouped"] == trend.spearman(trend.grouped)
    alone = gap_trend({"a": made["first 1"]}, {"a": 3})
    assert math.isnan(alone.spearman(alone.plain))


OTHERS_MEASURE = gaps("mAP") | dict(list(gaps("Hit@1").items())[:1])


@pytest.mark.parametrize(
    ("first", "second", "message", "kind"),
    [
        ({"a": 1}, {"b": 1}, "first and second must hold the same models, but hold a (1) and b (1)", ValueError),
        ({"a": 1}, {"a": 1}, "first must hold at least two models, but holds 1", ValueError),
        (dict.fromkeys("ab", 1), dict.fromkeys("ab", 1), "first['a'] must be a Report or a GroupedReport, but is a int",
         TypeError),
    ],
)  # fmt: skip
def test_models_that_cannot_be_correlated(first: Any, second: Any, message: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}"):
        model_correlation(first, second)


@pytest.mark.parametrize(
    ("made", "numbers", "message", "kind"),
    [
        ({}, {}, "gaps must hold at least one model, but is empty", ValueError),
        ({"a": PLAIN["first 1"]}, {"a": 1}, "gaps['a'] must be a GeneralizationGap, but is a Report", TypeError),
        (gaps(), {"a": 1}, "gaps and numbers must hold the same models, but hold first 1, first 2", ValueError),
        (gaps(), dict.fromkeys(MODELS, math.nan), "numbers['first 1'] must be finite, but is nan", ValueError),
        (gaps(), dict.fromkeys(MODELS, "big"), "numbers['first 1'] must be a number, but is 'big'", TypeError),
        (OTHERS_MEASURE, dict.fromkeys(MODELS, 1), "gaps must be of one measure and one group_size", ValueError),
    ],
)
def test_gaps_that_make_no_trend(made: Any, numbers: Any, message: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}"):
        gap_trend(made, numbers)


# Pictures

NEAR = np.random.default_rng(0).integers(0, 5, (60, 3))
LINE, PLANE, SPACE = (dh.Task(NEAR[:, :n], LABELS, distance="euclidean") for n in (1, 2, 3))


@pytest.fixture
def ax() -> Axes:
    return Figure(layout="constrained").subplots()


def test_models_are_points_with_what_ties_leave_open(ax: Axes) -> None:
    models = {"1": LINE, "2": PLANE, "3": SPACE}
    plain = {name: dh.evaluate(task) for name, task in models.items()}
    inside = {name: dh.grouped(task, group_size=4) for name, task in models.items()}
    result = model_correlation(plain, inside)
    assert plots.model_correlation(result, ax=ax) is ax
    assert ax.get_title() == f"3 models: Pearson's r {result.pearson:.3f}, Spearman's rho {result.spearman:.3f}"
    shown = np.column_stack([result.first.expected, result.second.expected])
    assert_array_equal(line(ax, "a model").get_xydata(), 100 * shown)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Hit@1, plain (%)", "Hit@1 in groups of 4 (%)")
    for at, (drawn, one) in enumerate(zip(ax.collections, (result.first, result.second), strict=True)):
        ends = [[end[at] for end in segment] for segment in segments(drawn)]
        assert_allclose(ends, 100 * np.stack([one.lower, one.upper], axis=1))


def test_gaps_are_drawn_with_their_intervals(ax: Axes) -> None:
    gaps = {}
    for n, train in enumerate((LINE, PLANE, SPACE), 1):
        test = dh.Task(NEAR[::-1, :n] * 2, LABELS, distance="euclidean")
        gaps[f"{n}"] = dh.generalization_gap(train, test, group_size=4)
    trend = gap_trend(gaps, {"1": 100, "2": 10, "3": 1000}, name="parameters")
    assert plots.gap_trend(trend, confidence_level=0.8, ax=ax) is ax
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "parameters", "gap in Hit@1 (points)")
    bars = [segments(each) for each in ax.collections]
    for drawn, side in zip(bars, (trend.grouped, trend.plain), strict=True):
        for ends, gap in zip(drawn, side, strict=True):
            result = gap.interval(confidence_level=0.8)
            assert_allclose([ends[0][1], ends[1][1]], [100 * result.lower.low, 100 * result.upper.high], atol=1e-9)
    assert_array_equal([x for (x, _), _ in bars[0]], [10, 100, 1000])
    first, *_, last = (100 * gap.expected for gap in trend.grouped)
    title = f"From parameters 10 to 1000, the gap in groups goes from {first:+.1f} to {last:+.1f} points"
    assert ax.get_title().replace("\n", " ") == title.replace("-", "−")
    near = gap_trend(gaps, {"1": 0, "2": 0.5, "3": 1})
    assert plots.gap_trend(near, ax=Figure().subplots()).get_xscale() == "linear"
