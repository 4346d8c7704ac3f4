"""Comparison and gate of results that are no reports: indexes, hash look-ups, pooled scores and plain arrays."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat import compare
from deadheat.analyses.influences import influences

RNG = np.random.default_rng(0)
NONE: list[list[int]] = [[] for _ in range(6)]


def hits(n_lost: int, n_won: int, n: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return hits of A and B where B loses and wins some of n queries."""
    return {"hit": [1] * (n - n_won) + [0] * n_won}, {"hit": [0] * n_lost + [1] * (n - n_lost)}


@pytest.mark.parametrize(("n_lost", "n_won"), [(5, 0), (7, 1), (8, 5), (3, 6)])
def test_hits_have_the_exact_sign_test_and_mcnemars(n_lost: int, n_won: int) -> None:
    """Both are the binomial test of the discordant pairs of the two-by-two table, in fractions."""
    result = compare(*hits(n_lost, n_won, 30))
    tail = Fraction(sum(comb(n_lost + n_won, k) for k in range(n_lost, n_lost + n_won + 1)), 2 ** (n_lost + n_won))
    assert result.gate().pvalues == {"hit": float(tail)}
    assert result["hit"].pvalue == pytest.approx(stats.binomtest(n_lost, n_lost + n_won).pvalue)


def test_values_of_reports_and_of_arrays_are_compared_in_the_same_way() -> None:
    rows = RNG.integers(0, 3, (2, 30, 4)).astype(float)
    labels = np.arange(30) % 5
    a, b = (dh.evaluate(each, labels, each[::-1], labels[::-1], measures="mAP, MRR") for each in rows)
    arrays = [{name: report[name].per_query for name in report} for report in (a, b)]
    for by in ("lower", "expected", "upper"):
        of_reports, of_arrays = (compare(*pair, by=by, resample="query") for pair in ((a, b), arrays))  # type: ignore
        for name in a:
            assert of_reports[name].to_dict() == of_arrays[name].to_dict()
        for rule, margin in product(("worse", "drop", "as_good"), (0.0, 0.1)):
            gates = [each.gate(margin, rule).to_dict() for each in (of_reports, of_arrays)]  # type: ignore[arg-type]
            assert gates[0]["tests"] == gates[1]["tests"]
    as_classes = compare(*arrays, labels=labels, resample="class")
    assert as_classes["mAP"].n_unit == 5
    assert as_classes["mAP"].pvalue == compare(a, b, resample="class")["mAP"].pvalue


def test_indexes_are_gated_by_the_recall_of_each_query() -> None:
    gallery = RNG.integers(0, 3, (60, 3)).astype(float)
    queries = gallery[:20] + 1
    exact = dh.index_recall({"x": NONE[:1] * 20}, queries, gallery, 3, distance="euclidean")["x"]
    assert exact.recall == 0
    far = np.linalg.norm(queries[:, None] - gallery, axis=2).argsort(axis=1, kind="stable")
    returned = {"yesterday": far[:, :3], "today": np.where(np.arange(20)[:, None] < 8, far[:, -3:], far[:, :3])}
    recalls = dh.index_recall(returned, queries, gallery, 3, distance="euclidean")
    result = compare(recalls["yesterday"], recalls["today"])
    assert (result.names, result.measures) == (("yesterday", "today"), ("recall@3",))
    assert result["recall@3"].tested == recalls["yesterday"].recall - recalls["today"].recall
    assert result.gate().pvalues["recall@3"] == 2.0**-8
    assert result.gate().verdict().startswith("today is significantly worse than yesterday: recall@3 by 40.00 points")
    by_id = compare(recalls["yesterday"], recalls["today"], measures="recall@3 by id")["recall@3 by id"]
    assert by_id.lower <= by_id.expected <= by_id.upper
    assert by_id.a == pytest.approx(recalls["yesterday"].recall_by_id)
    assert compare(recalls["today"], recalls["today"]).names == ("A", "B")
    with pytest.raises(ValueError, match=r"^x must return something for some query, but returns nothing for any$"):
        compare(recalls["today"], exact).gate()
    deeper = dh.index_recall(returned, queries, gallery, 2, distance="euclidean")
    with pytest.raises(ValueError, match=r"^yesterday and today must have the same measure, but have 'recall@3' and"):
        compare(recalls["yesterday"], deeper["today"])
    with pytest.raises(ValueError, match=r"^yesterday and B must be results of one kind$"):
        compare(recalls["yesterday"], {"recall@3": [1.0] * 20})


@pytest.mark.parametrize("singletons", ["skip", "zero", "balanced"])
def test_hash_lookups_are_compared_within_a_radius(singletons: Any) -> None:
    labels = np.append(np.arange(29) % 7, 99)
    both = [
        dh.hash_lookup(dh.Task(codes, labels, distance="hamming"), singletons=singletons)
        for codes in RNG.integers(0, 2, (2, 30, 6))
    ]
    result = compare(*both)
    assert result.measures == ("precision within 2", "recall within 2", "F1 within 2")
    for radius, (name, part) in product(range(7), (("precision", 0), ("recall", 1), ("F1", 2))):
        difference = compare(*both, measures=f"{name} within {radius}")[f"{name} within {radius}"]
        for mean, lookup in ((difference.a, both[0]), (difference.b, both[1])):
            assert mean == (lookup.macro[part][radius],) * 3
    assert result["F1 within 2"].n_pair == (29 if singletons == "skip" else 30)
    assert result.gate().rule == "worse"


def drawn(n: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    positive = np.arange(n) % 3 == 0
    return np.round(positive + RNG.normal(size=n) + noise * RNG.normal(size=n), 1), positive.astype(int)


@pytest.mark.parametrize("name", ["AP", "AUC"])
def test_pooled_values_are_the_effect_of_leaving_an_item_out(name: str) -> None:
    for _ in range(40):
        keys, positive = RNG.integers(0, 4, 9), RNG.permutation(9) < 3
        got = influences(keys, positive, name)
        whole = dh.classification(keys, positive)[name]
        for end in ("lower", "expected", "upper"):
            without = np.array([
                getattr(dh.classification(np.delete(keys, i), np.delete(positive, i))[name], end) for i in range(9)
            ])  # fmt: skip
            want = getattr(whole, end) + 8 * (without.mean() - without)
            np.testing.assert_allclose(getattr(got, end), want, atol=1e-12)
            assert getattr(got, end).mean() == pytest.approx(getattr(whole, end), abs=1e-14)


def test_pooled_scores_are_gated_by_groups() -> None:
    scores, labels = drawn(600, 0.0)
    groups = np.arange(600) // 10
    old, same = (dh.classification(each, labels, groups) for each in (scores, scores * 2))
    worse = dh.classification(np.round(scores + 2 * RNG.normal(size=600), 1), labels, groups)
    assert compare(old, same)["AUC"].pvalue == 1
    result = compare(old, worse)
    assert (result.measures, result["AUC"].n_unit, result["AUC"].unit) == (("AP", "AUC"), 60, "group")
    for name in result:
        row = result[name]
        assert row.tested == pytest.approx(old[name].lower - worse[name].lower)
        assert row.lower == pytest.approx(old[name].lower - worse[name].upper)
        assert row.expected == pytest.approx(old[name].expected - worse[name].expected)
    assert result.gate().failed == ("AP", "AUC")
    assert any(
        note.startswith("Tests and intervals are over 60 groups, by the lower bounds.") for note in result.notes()
    )
    assert "Queries won" not in result.explain()
    assert not result.gate().cautions()
    assert compare(old, same).gate(0.3, "as_good").passed
    alone = [dh.classification(each, labels) for each in (scores, scores * 2)]
    assert "600 items in pairs." in compare(*alone).to_text()
    with pytest.raises(ValueError, match=r"^measure must be one of AP, AUC, but is 'EER'"):
        compare(old, worse, measures="EER")
    with pytest.raises(ValueError, match=r"^a and b must have the same labels, but have "):
        compare(old, dh.classification(scores, 1 - labels, groups))
    with pytest.raises(ValueError, match=r"^column needs a value for each query"):
        result.by_slice(labels)


@pytest.mark.parametrize(("n", "margin", "rule", "n_measure", "decides"), [
    (4, 0.0, "worse", 1, False), (5, 0.0, "worse", 1, True), (5, 0.0, "worse", 2, False), (6, 0.0, "worse", 2, True),
    (5, 0.1, "worse", 1, False), (8, 0.1, "worse", 1, True), (2, 0.1, "as_good", 1, False),
    (2, 0.1, "drop", 1, True), (30, 0.1, "as_good", 1, True),
])  # fmt: skip
def test_a_rule_that_no_values_satisfy_is_refused(
    n: int, margin: float, rule: Any, n_measure: int, decides: bool
) -> None:
    """Whatever so few units have, "worse" could fail no system, or "as_good" pass none."""
    names = "abc"[:n_measure]
    good, bad = {name: np.ones(n) for name in names}, {name: np.zeros(n) for name in names}
    pair = (good, bad) if rule == "worse" else (bad, good)
    if decides:
        assert compare(*pair).gate(margin, rule).passed == (rule != "worse")
        return
    with pytest.raises(
        ValueError, match=f'^rule must be "drop" with {n} queries and margin {margin:g}: by "{rule}" no'
    ):
        compare(*pair).gate(margin, rule)


def test_few_random_flips_cannot_decide() -> None:
    with pytest.raises(ValueError, match=r"no system could fail, as p is at least 0\.1000, and not below 0.05$"):
        compare(*hits(9, 0, 30), n_resamples=9).gate()
