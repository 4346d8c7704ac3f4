"""Many models: correlations by NumPy's and the definition's ranks, gaps by their own intervals, and what ties leave."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pytest

import deadheat as dh
from deadheat.engine.ties.tolerance import Tolerance

pytest.importorskip("scipy.stats")

LABELS = np.arange(60) % 20
POINTS = np.random.default_rng(0).integers(0, 9, (60, 6))
OPTIONS = {"group_size": 4, "distance": "euclidean"}
MODELS = {f"first {n}": POINTS[:, :n] for n in range(1, 7)}
PLAIN = {name: dh.evaluate(points, LABELS, distance="euclidean", measures="mAP") for name, points in MODELS.items()}
INSIDE = {name: dh.grouped(points, LABELS, **OPTIONS, measures="mAP") for name, points in MODELS.items()}


def gaps(measure: str = "mAP", **more) -> dict[str, dh.analyses.gaps.GeneralizationGap]:
    return {
        name: dh.generalization_gap(points, LABELS, points[::-1] * [1, 2, 1, 3, 1, 1][: points.shape[1]], LABELS,
                                    measure=measure, **OPTIONS | more)
        for name, points in MODELS.items()
    }  # fmt: skip


def test_coefficients_are_those_of_expected_values() -> None:
    found = dh.model_correlation(PLAIN, dict(reversed(INSIDE.items())), measure="AP")
    assert found.models == tuple(MODELS)
    values = [[reports[name]["mAP"].expected for name in MODELS] for reports in (PLAIN, INSIDE)]
    assert found.pearson == pytest.approx(np.corrcoef(*values)[0, 1], rel=1e-12)
    assert [len(set(each)) for each in values] == [6, 6], "no equal values, so that rho is Pearson's r of ranks"
    assert found.spearman == pytest.approx(np.corrcoef(*np.argsort(np.argsort(values)))[0, 1], rel=1e-12)
    assert found.names == ("mAP, plain", "mAP in groups of 4")
    z, reach = math.atanh(found.pearson), 1.959963984540054 / math.sqrt(3)
    assert found.pearson_interval() == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)), rel=1e-12)
    three, four = (
        dh.model_correlation(*({name: reports[name] for name in list(MODELS)[:n]} for reports in (PLAIN, INSIDE)),
                             measure="AP") for n in (3, 4)
    )  # fmt: skip
    assert np.isnan(three.pearson_interval()).all()
    assert math.atanh(four.pearson_interval()[1]) == pytest.approx(math.atanh(four.pearson) + 1.959963984540054)
    for end in ("lower", "expected", "upper"):
        np.testing.assert_array_equal(getattr(found.first, end), [getattr(PLAIN[name]["mAP"], end) for name in MODELS])


def test_pairs_that_ties_leave_open_are_counted() -> None:
    found = dh.model_correlation(PLAIN, INSIDE, measure="mAP")
    undecided = 0
    for a, b in combinations(MODELS, 2):
        ends = [(reports[a]["mAP"], reports[b]["mAP"]) for reports in (PLAIN, INSIDE)]
        undecided += any(one.lower < two.upper and two.lower < one.upper for one, two in ends)
    assert found.n_open == undecided > 0
    assert f"Ties leave the order of {undecided} pair" in str(found)


def test_ranges_that_touch_are_decided() -> None:
    """RR of [1/2, 1], 1, 1/2, [1/2, 1] and 1: only the first and the fourth may lie either way."""
    groups = {"a": (0, 0, 2, 1), "b": (0, 0, 1, 1), "c": (1, 0, 1, 1), "d": (0, 0, 2, 1), "e": (0, 0, 1, 1)}
    reports = {
        name: dh.measure(dh.TieProfile.from_groups([[group]], n_ranked=[2]), "MRR") for name, group in groups.items()
    }
    assert dh.model_correlation(reports, reports, measure="MRR").n_open == 1
    sure = {name: reports["b" if name in "ab" else "c"] for name in groups}
    assert dh.model_correlation(sure, sure, measure="MRR").n_open == 0
    assert dh.model_correlation(sure, reports, measure="MRR").n_open == 1


def test_correlation_under_a_tolerance_and_where_nothing_varies() -> None:
    how = {"distance": "euclidean", "ties": Tolerance(0.1)}
    wide = {name: dh.evaluate(points, LABELS, **how) for name, points in MODELS.items()}
    found = dh.model_correlation(wide, wide, measure="mAP")
    np.testing.assert_array_equal(found.shown[0], [report["mAP"].lower for report in wide.values()])
    assert found.pearson == pytest.approx(1)
    flat = dh.model_correlation(dict.fromkeys(MODELS, PLAIN["first 1"]), INSIDE, measure="mAP")
    assert np.isnan([flat.pearson, flat.spearman]).all()
    assert flat.to_dict()["pearson"] is None
    assert flat.to_dict()["pearson_interval"] == [None, None]


def test_correlation_as_text_and_json() -> None:
    found = dh.model_correlation(PLAIN, INSIDE, measure="mAP", names=("all", "groups"))
    lines, content = found.to_text(digits=1).splitlines(), json.loads(found.to_json())
    assert lines[0].split() == ["model", "(%)", "all", "groups"]
    assert lines[8].split() == ["correlation", "coefficient"]
    assert lines[9].split()[-1] == f"{found.pearson:.3f}"
    assert content["model"] == list(MODELS)
    assert content["second_upper"] == [INSIDE[name]["mAP"].upper for name in MODELS]


def test_models_are_sorted_by_their_numbers() -> None:
    made = gaps()
    numbers = {name: -len(name) - int(name[-1]) for name in made}
    trend = dh.gap_trend(made, numbers, name="minus size")
    assert trend.models == tuple(reversed(MODELS))
    assert trend.numbers.tolist() == sorted(numbers.values())
    for side in ("grouped", "plain"):
        wanted = [getattr(made[name], side).expected for name in trend.models]
        assert [gap.expected for gap in getattr(trend, side)] == wanted
        ranks = np.argsort(np.argsort(wanted))
        assert trend.spearman(getattr(trend, side)) == pytest.approx(np.corrcoef(ranks, np.arange(6))[0, 1], rel=1e-12)
    assert (trend.measure, trend.group_size) == ("mAP", 4)


def test_signs_are_those_of_intervals_with_ties() -> None:
    trend = dh.gap_trend(gaps("Hit@1"), {name: number for number, name in enumerate(MODELS)})
    for side in (trend.grouped, trend.plain):
        found = [gap.interval(confidence_level=0.5) for gap in side]
        signs = [-1 if each.upper.high < 0 else 1 if each.lower.low > 0 else 0 for each in found]
        assert trend.signs(side, confidence_level=0.5) == (signs.count(-1), signs.count(1))
    assert sum(trend.signs(trend.plain, confidence_level=0.01)) > 0


def test_a_trend_as_text_and_json() -> None:
    made = gaps()
    trend = dh.gap_trend(made, {name: 10 ** int(name[-1]) for name in made}, name="parameters")
    lines = trend.to_text(confidence_level=0.9).splitlines()
    assert lines[0].split("  ")[0].strip() == "model"
    assert "90 % interval" in lines[0]
    assert lines[6].split()[:3] == ["first", "6", "1e+06"]
    below, above = trend.signs(trend.grouped)
    assert f"Gap in groups of 4: {below} of 6 intervals (95 %) below 0, {above} above, ties included." in lines[8]
    content = json.loads(trend.to_json(confidence_level=0.9))
    assert content["models"]["first 3"]["plain"] == made["first 3"].plain.to_dict(confidence_level=0.9)
    assert content["spearman"]["grouped"] == trend.spearman(trend.grouped)
    alone = dh.gap_trend({"a": made["first 1"]}, {"a": 3})
    assert math.isnan(alone.spearman(alone.plain))
