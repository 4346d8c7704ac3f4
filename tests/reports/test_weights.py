"""Weights of queries, and medians over queries, against definitions by hand."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import InputError
from deadheat.reports.statistics.intervals import expanded, mean_intervals, median_intervals, percentiles

GROUPS = [[(0, 0, 2, 1)], [(1, 0, 1, 1)], [(0, 0, 3, 2)], [(2, 0, 2, 1)], [(0, 0, 1, 1)], []]
IDS = tuple(f"q{i}" for i in range(6))
PROFILE = replace(dh.TieProfile.from_groups(GROUPS, n_ranked=[6] * 6), query_ids=IDS)
OTHER = dh.TieProfile.from_groups(GROUPS[::-1], n_ranked=[6] * 6)
WEIGHTS = [2, 1, 4, 0, 3, 5]


def test_a_weight_counts_a_query_so_often() -> None:
    repeated = PROFILE[np.repeat(np.arange(6), WEIGHTS)]
    for report in (
        dh.evaluate(PROFILE, "mAP, MnR", weights=WEIGHTS),
        dh.evaluate(PROFILE, "mAP, MnR", weights=dict(zip(IDS, WEIGHTS, strict=True))),
        dh.evaluate(PROFILE, "mAP, MnR").weighted(np.array(WEIGHTS) / 7),
    ):
        for name in report:
            for end in ("lower", "expected", "upper"):
                mean = getattr(dh.evaluate(repeated, name)[name], end)
                assert getattr(report[name], end) == pytest.approx(mean, rel=1e-14)
        assert report["mAP"].n_query == 4
        assert report["mAP"].n_undefined == 0
        kept = report["mAP"].std_per_query[[0, 1, 2, 4]]
        assert report["mAP"].std == pytest.approx(np.sqrt(((np.array([2, 1, 4, 3]) * kept) ** 2).sum()) / 10)
        assert "Means are weighted: 5 queries with a weight above 0, worth 4.1 of equal weight." in str(report)


def test_equal_weights_change_nothing() -> None:
    plain, weighted = dh.evaluate(PROFILE, "mAP"), dh.evaluate(PROFILE, "mAP", weights=[2] * 6)
    assert [weighted["mAP"].lower, weighted["mAP"].upper] == [plain["mAP"].lower, plain["mAP"].upper]
    assert plain != weighted
    assert weighted == dh.evaluate(PROFILE, "mAP", weights=[2] * 6)
    assert plain.to_dict().keys() == weighted.to_dict().keys() - {"effective_n_query"}
    assert plain.effective_n_query == weighted.effective_n_query == 6


def test_intervals_draw_queries_with_their_weights() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.random(9), rng.integers(1, 9, 9).astype(float)
    outcome = mean_intervals(values, values, values, weights=weights, method="percentile", n_resamples=500, seed=3)
    order = np.lexsort((weights, values * weights))
    drawn = order[np.random.default_rng(3).integers(0, 9, (500, 9))]
    means = (weights * values)[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
    assert outcome.expected == pytest.approx(percentiles(means[None], expanded(0.95, 9))[0])
    ones = {"method": "percentile", "seed": 3}
    assert mean_intervals(values, values, values, weights=np.ones(9), **ones).expected == (
        mean_intervals(values, values, values, classes=np.arange(9), **ones).expected
    )
    classes = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3])
    sums = [sum((weights * values)[classes == c]) for c in range(4)], [sum(weights[classes == c]) for c in range(4)]
    of_classes = mean_intervals(values, values, values, classes=classes, weights=weights, method="t")
    of_sums = mean_intervals(*[np.divide(*sums)] * 3, weights=np.array(sums[1]), method="t")
    assert of_classes.expected == pytest.approx(of_sums.expected)
    same = np.full(9, 0.1)
    low, high = mean_intervals(same, same, same, weights=weights, within=(0, 1), method="percentile").expected
    assert high - low > 0.2


def test_tests_flip_weighted_differences() -> None:
    a, b = (
        dh.evaluate(each, "mAP", weights=WEIGHTS) for each in (PROFILE[:5], OTHER[1:]) for WEIGHTS in [[2, 1, 4, 6, 3]]
    )
    difference = dh.compare(a, b, resample="query")["mAP"]
    weights = np.array([2, 1, 4, 6, 3])
    d = weights * (a["mAP"].per_query.lower - b["mAP"].per_query.lower)
    sums = [np.dot(signs, d) for signs in itertools.product((1, -1), repeat=5)]
    assert difference.tested == pytest.approx(d.sum() / 16)
    assert difference.pvalue == np.mean(np.abs(sums) >= abs(d.sum()) - 1e-12)
    board = dh.leaderboard({"a": a, "b": b}, resample="query")
    assert board.pvalue("a", "b") == difference.pvalue
    assert "Means are weighted" in str(board)
    assert "Means are weighted" in str(dh.compare(a, b))
    plain = dh.evaluate(OTHER[1:], "mAP")
    with pytest.raises(InputError, match="must both have weights of the queries, or neither"):
        dh.compare(a, plain)
    with pytest.raises(InputError, match="must have the same weights of the queries"):
        dh.compare(a, plain.weighted([2, 1, 4, 6, 4]))


def test_classes_and_slices_are_weighted() -> None:
    labels = ["a", "a", "a", "b", "b", "b"]
    report = dh.evaluate(PROFILE, "mAP", labels=labels, weights=WEIGHTS)
    values = report["mAP"].per_query.lower
    mean = (2 * values[0] + values[1] + 4 * values[2]) / 7
    breakdown = report.by_class()
    assert breakdown.per_row["mAP"].lower[list(breakdown.rows["class"]).index("a")] == pytest.approx(mean)
    assert report.by_slice(labels)["a"]["mAP"].lower == pytest.approx(mean)


@pytest.mark.parametrize(
    ("weights", "settings", "message"),
    [
        ([1, 2], {}, "weights must have one entry for each query, but have shape (2,) for 6 queries"),
        ([1, 1, 1, 1, 1, -1], {}, "weights must be finite, not negative, and not all 0, but one is -1"),
        ([1, 1, 1, 1, 1, np.nan], {}, "not all 0, but one is nan"),
        ([0] * 6, {}, "not all 0, but all are 0"),
        (["1"] * 6, {}, "weights must be numbers, but have dtype"),
        ({"q0": 1}, {}, "weights must have every query, but has not 'q1'"),
        ([1] * 6, {"average": "class", "labels": list("aabbcc")}, "weights must be left out of means over classes"),
        ([1] * 6, {"measures": "median(mAP)"}, "measures must be no medians where queries are weighted"),
    ],
)
def test_weights_that_are_refused(weights: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=r"\A[^\n]*\Z") as caught:
        dh.evaluate(PROFILE, weights=weights, **settings)["median(mAP)" if "measures" in settings else "mAP"]
    assert message in str(caught.value)


def test_ids_are_needed_for_a_dictionary() -> None:
    with pytest.raises(InputError, match="must be an array, one for each query, for the queries have no ids"):
        dh.evaluate(OTHER, "mAP", weights={"a": 1})


def test_a_receipt_holds_the_weights(tmp_path: Path) -> None:
    task = dh.Task([[0], [1], [5], [6.5]], list("aabb"), distance="euclidean")
    plain, weighted = dh.receipt(task, measures="mAP"), dh.receipt(task, measures="mAP", weights=[1, 2, 3, 4])
    assert "weights" not in plain.content["inputs"]
    assert weighted.content["inputs"]["weights"]["shape"] == [4]
    weighted.save(tmp_path / "r.json")
    assert dh.verify(tmp_path / "r.json", task, weights=[1.0, 2, 3, 4]).matches
    assert [each.name for each in dh.verify(weighted, task, weights=[1, 2, 3, 5]).differences] == [
        "inputs.weights.sha256"
    ]
    assert "inputs.weights" in str(dh.verify(weighted, task))
    assert dh.verify(plain, task).matches


# ---------------------------------------------------------------------------------------------------------------------
# medians


def test_a_median_over_every_order_of_every_query() -> None:
    """Queries with one relevant item: any rank of its group, each by itself."""
    rng = random.Random(4)
    for n_query in (1, 2, 3, 4, 5):
        for _ in range(8):
            groups = [[(rng.randrange(3), 0, rng.choice((1, 1, 2, 3)), 1)] for _ in range(n_query)]
            result = dh.evaluate(dh.TieProfile.from_groups(groups, n_ranked=[9] * n_query), "MdR, median(MRR)")
            ranks = [range(k + 1, k + t + 1) for ((k, _, t, _),) in groups]
            for name, value in (("MdR", float), ("median(MRR)", lambda rank: 1 / rank)):
                medians = [np.median(list(map(value, order))) for order in itertools.product(*ranks)]
                assert result[name].lower == pytest.approx(min(medians))
                assert result[name].upper == pytest.approx(max(medians))
                if len(set(medians)) == 1:
                    assert result[name].expected == medians[0]
                    assert result[name].std == 0
                else:
                    assert np.isnan([result[name].expected, result[name].std]).all()


def test_the_interval_of_a_median_draws_queries_or_classes() -> None:
    rng = np.random.default_rng(2)
    for n in (6, 7):
        values = np.sort(rng.random(n))
        drawn = values[np.random.default_rng(0).integers(0, n, (50, n))]
        single = median_intervals(values, values, values, method="percentile", n_resamples=50, confidence_level=0.5)
        assert single.lower == percentiles(np.median(drawn, axis=1)[None], 0.5)[0]
    points = rng.normal(size=(40, 3))
    report = dh.evaluate(points, np.arange(40) // 4, measures="MdR", distance="euclidean")
    values = report["MdR"].per_query.lower
    made = report["MdR"].interval(resample="query", n_resamples=400, seed=5)
    order = np.argsort(values, kind="stable")
    drawn = values[order][np.random.default_rng(5).integers(0, 40, (400, 40))]
    assert made.lower == percentiles(np.median(drawn, axis=1)[None], 0.95)[0]
    assert made.lower == made.expected == made.upper
    assert (made.unit, made.kind) == ("query", "ranks")
    classes = report["MdR"].interval(n_resamples=400)
    assert (classes.n, classes.unit) == (10, "class")
    assert classes.lower.low <= report["MdR"].lower <= classes.upper.high
    permuted = rng.permutation(40)
    again = dh.evaluate(points[permuted], np.arange(40)[permuted] // 4, measures="MdR", distance="euclidean")
    assert again["MdR"].interval(n_resamples=400) == classes
    with pytest.raises(InputError, match='method must be "percentile" for a median'):
        report["MdR"].interval(method="t")


def test_medians_are_not_compared_and_have_no_means_over_classes() -> None:
    report = dh.evaluate(PROFILE[:5], "MnR, MdR", labels=list("aabbc"))
    assert "MdR: a median over queries" in str(report)
    with pytest.raises(InputError, match="must be means, which paired tests compare, but MdR is a median"):
        dh.compare(report, report, measures="MdR")
    with pytest.raises(InputError, match="must be means over the queries of a class, but MdR is a median"):
        report.by_class()
    with pytest.raises(InputError, match="must be no medians"):
        dh.evaluate(PROFILE[:5], "MdR", labels=list("aabbc"), average="class")
    assert report.by_slice(list("aabba"))["a"]["MdR"].lower == 1
