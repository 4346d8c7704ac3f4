"""Halves of the classes against groups one by one, many models against NumPy and their own intervals."""

from __future__ import annotations

import json
import math
from itertools import combinations
from statistics import stdev

import numpy as np
import pytest

import deadheat as dh
from deadheat.analyses.gaps import GeneralizationGap, SplitHalf
from deadheat.analyses.model_trends import gap_trend, model_correlation
from deadheat.engine.ties.tolerance import Tolerance

stats = pytest.importorskip("scipy.stats")


def grid(n_class: int = 17, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three points a class on a small integer grid, where ties are common."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 5, (3 * n_class, 2)), np.repeat(np.arange(n_class), 3)


def exact_halves(embeddings: np.ndarray, labels: np.ndarray, halves: SplitHalf, k: int) -> list[tuple]:
    """Lower, expected and upper of both halves of each split, by the definition in exact fractions."""
    squares = ((embeddings[:, None] - embeddings[None]) ** 2).sum(axis=2)
    ranked, names, n_half = ~np.eye(len(labels), dtype=bool), labels.tolist(), halves.groups.n_group // 2
    drawn = [halves.groups.group_labels(split) for split in range(halves.groups.draws)]
    sides = [(groups[:n_half], groups[n_half : 2 * n_half]) for groups in drawn]
    return [tuple(dh.reference.grouped_recall(squares, names, names, side, ranked=ranked, k=k) for side in pair)
            for pair in sides]  # fmt: skip


@pytest.mark.parametrize("k", [1, 3])
def test_differences_of_halves_are_those_of_the_definition(k: int) -> None:
    embeddings, labels = grid()
    task = dh.Task(embeddings, labels, distance="euclidean")
    halves = dh.split_half(task, group_size=3, measure=f"Hit@{k}", draws=6, seed=2)
    assert halves.groups.n_group == 5
    for split, (first, second) in enumerate(exact_halves(embeddings, labels, halves, k)):
        lower, upper = first.lower - second.upper, first.upper - second.lower
        least = max(0, lower, -upper)
        exact = least, abs(first.expected - second.expected), max(abs(lower), abs(upper))
        for values, fraction in zip(halves.differences, exact, strict=True):
            assert values[split] == pytest.approx(float(fraction), abs=2**-51)
    assert (halves.differences.lower < halves.differences.upper).all()
    assert halves.to_dict()["difference"]["spread"] == pytest.approx(stdev(halves.differences.expected.tolist()))
    assert any(halves.differences.lower > 0) or k == 1


def test_margins_and_limits_are_students_quantile_times_the_standard_error() -> None:
    """t √(σ₁²/N₁ + σ₂²/N₂), with Welch's degrees of freedom, and value + t σ/√N; σ is the standard library's."""
    embeddings, labels = np.random.default_rng(1).standard_normal((80, 3)), np.arange(80) % 20
    halves = dh.split_half(dh.Task(embeddings, labels), group_size=2, draws=4, measure="mAP")
    how = {"confidence_level": 0.9}
    values = halves.grouped.per_group.expected.reshape(4, 10).tolist()
    margins = []
    for row in values:
        a, b = stdev(row[:5]) ** 2 / 5, stdev(row[5:]) ** 2 / 5
        margins.append(stats.t((a + b) ** 2 / ((a**2 + b**2) / 4)).ppf(0.95) * math.sqrt(a + b))
    assert halves.margins(**how) == pytest.approx(margins, rel=1e-12)
    error = math.sqrt(sum(stdev(row) ** 2 for row in values) / 4 / 10)
    limit = halves.grouped.expected + stats.t(9).ppf(0.95) * error
    assert halves.upper_limit(**how).expected == pytest.approx(limit, rel=1e-12)
    content = json.loads(halves.to_json(**how))
    assert content["margin"]["expected"] == pytest.approx(math.fsum(margins) / 4, rel=1e-12)
    assert content["margin"]["spread"] == pytest.approx(stdev(margins), rel=1e-12)
    assert content["difference"]["spread"] == pytest.approx(stdev(halves.differences.expected.tolist()), rel=1e-12)
    assert content["plain"]["expected"] == dh.evaluate(embeddings, labels, measures="mAP")["mAP"].expected
    assert content["upper_limit"]["expected"] == halves.upper_limit(**how).expected


def test_halves_of_queries_and_a_gallery() -> None:
    embeddings, labels = grid()
    order, options = np.random.default_rng(0).permutation(len(labels)), {"group_size": 3, "measure": "mAP"}
    both = dh.Task(embeddings, labels, embeddings[order], labels[order], exclude=np.argsort(order))
    alone = dh.split_half(dh.Task(embeddings, labels), draws=3, **options)
    assert dh.split_half(both, draws=3, **options).to_dict() == alone.to_dict()
    less = both.replace(junk=np.arange(len(labels)) % 5 == 0)
    without = dh.split_half(less, draws=3, **options)
    assert without.groups.profile == dh.grouped(less, group_size=3, draws=3).profile
    assert without.plain.expected != alone.plain.expected


def test_what_is_undefined_is_not_zero() -> None:
    few = dh.split_half(dh.Task(*grid(6)), group_size=2, draws=2)
    assert few.groups.n_group == 3
    assert np.isnan(few.margins()).all()
    assert few.to_dict()["margin"] == {"lower": None, "expected": None, "upper": None, "spread": None}
    assert dh.split_half(dh.Task(*grid()), group_size=3, draws=1).to_dict()["difference"]["spread"] is None
    under = dh.split_half(dh.Task(*grid(), ties=Tolerance(0.1), distance="euclidean"), group_size=3)
    assert np.isnan(under.differences.expected).all()
    assert under.to_dict()["difference"]["spread"] == pytest.approx(stdev(under.differences.lower.tolist()))
    assert under.to_dict()["margin"]["expected"] > 0
    assert under.to_dict()["difference"]["lower"] < under.to_dict()["difference"]["upper"]


def test_halves_as_text() -> None:
    task = dh.Task(np.arange(51.0)[:, None] ** 2, np.arange(51) // 3, distance="l2")
    halves = dh.split_half(task, group_size=3, draws=5)
    lines = halves.to_text(confidence_level=0.9).splitlines()
    assert lines[0].split() == ["measure", "(%)", "value", "s.d."]
    assert [line.split("  ")[0] or line.split()[0] for line in lines[1:6]] == [
        "Hit@1, plain", "Hit@1 in groups of 3", "upper", "difference of two halves", "90",
    ]  # fmt: skip
    assert lines[7] == (
        "5 splits of 17 classes into halves of 2 groups of 3 each, drawn with seed 0; 5 classes are in no half each "
        "time. s.d.: over the splits."
    )


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
    found = model_correlation(PLAIN, dict(reversed(INSIDE.items())), measure="AP")
    assert found.models == tuple(MODELS)
    values = [[reports[name]["mAP"].expected for name in MODELS] for reports in (PLAIN, INSIDE)]
    assert found.pearson == pytest.approx(np.corrcoef(*values)[0, 1], rel=1e-12)
    assert [len(set(each)) for each in values] == [6, 6], "no equal values, so that rho is Pearson's r of ranks"
    assert found.spearman == pytest.approx(np.corrcoef(*np.argsort(np.argsort(values)))[0, 1], rel=1e-12)
    assert found.names == ("mAP, plain", "mAP in groups of 4")
    z, reach = math.atanh(found.pearson), 1.959963984540054 / math.sqrt(3)
    assert found.pearson_interval() == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)), rel=1e-12)
    three, four = (
        model_correlation(*({name: reports[name] for name in list(MODELS)[:n]} for reports in (PLAIN, INSIDE)),
                          measure="AP") for n in (3, 4)
    )  # fmt: skip
    assert np.isnan(three.pearson_interval()).all()
    said = "95 % interval of Pearson's r, if they were independent: "
    assert (said in str(three), said in str(four)) == (False, True)
    assert math.atanh(four.pearson_interval()[1]) == pytest.approx(math.atanh(four.pearson) + 1.959963984540054)
    for end in ("lower", "expected", "upper"):
        np.testing.assert_array_equal(getattr(found.first, end), [getattr(PLAIN[name]["mAP"], end) for name in MODELS])


def test_pairs_that_ties_leave_open_are_counted() -> None:
    found = model_correlation(PLAIN, INSIDE, measure="mAP")
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
        name: dh.evaluate(dh.TieProfile.from_groups([[group]], n_ranked=[2]), "MRR") for name, group in groups.items()
    }
    assert model_correlation(reports, reports, measure="MRR").n_open == 1
    sure = {name: reports["b" if name in "ab" else "c"] for name in groups}
    assert model_correlation(sure, sure, measure="MRR").n_open == 0
    assert model_correlation(sure, reports, measure="MRR").n_open == 1


def test_correlation_under_a_tolerance_and_where_nothing_varies() -> None:
    wide = {name: dh.evaluate(task.replace(ties=Tolerance(0.1))) for name, task in MODELS.items()}
    found = model_correlation(wide, wide, measure="mAP")
    np.testing.assert_array_equal(found.shown[0], [report["mAP"].lower for report in wide.values()])
    assert found.pearson == pytest.approx(1)
    flat = model_correlation(dict.fromkeys(MODELS, PLAIN["first 1"]), INSIDE, measure="mAP")
    assert np.isnan([flat.pearson, flat.spearman]).all()
    assert flat.to_dict()["pearson"] is None
    assert flat.to_dict()["pearson_interval"] == [None, None]


def test_correlation_as_text_and_json() -> None:
    found = model_correlation(PLAIN, INSIDE, measure="mAP", names=("all", "groups"))
    lines, content = found.to_text(digits=1).splitlines(), json.loads(found.to_json())
    assert lines[0].split() == ["model", "(%)", "all", "groups"]
    shown = [f"{100 * reports['first 1']['mAP'].expected:.1f}" for reports in (PLAIN, INSIDE)]
    assert lines[1].split() == ["first", "1", *shown]
    assert lines[8].split() == ["correlation", "coefficient"]
    assert lines[9].split()[-1] == f"{found.pearson:.3f}"
    assert content["model"] == list(MODELS)
    assert content["second_upper"] == [INSIDE[name]["mAP"].upper for name in MODELS]


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
        found = [gap.interval(confidence_level=0.5) for gap in side]
        signs = [-1 if each.upper.high < 0 else 1 if each.lower.low > 0 else 0 for each in found]
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
