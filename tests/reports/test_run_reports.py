"""Reports on runs: levels of relevance, which queries count, what is said of the others; and trec_eval's lines."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.errors import UndefinedError
from deadheat.measures.names import parse
from deadheat.reports import trec
from deadheat.reports.runs import with_ids
from deadheat.reports.trec import LEFT_OUT, expanded, trec_lines
from deadheat.support.triple import Triple

RUN = {"q1": {"a": 2.0, "b": 1.0, "c": 1.0}, "q2": {"a": 1.0}, "q9": {"a": 1.0}}
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 0}, "q3": {"a": 1}}


def test_levels_of_relevance_are_those_of_binary_qrels() -> None:
    rng = np.random.default_rng(0)
    run, qrels = (
        {f"q{i}": {f"d{j}": int(v) for j, v in enumerate(row)} for i, row in enumerate(rng.integers(0, top, (40, 15)))}
        for top in (5, 4)
    )
    names = ["mAP", "P@5", "Recall@3", "MRR", "R-Precision", "Hit@1", "mAP@4", "AUC", "mINP"]
    for rel in (2, 3):
        binary = {q: {d: int(grade >= rel) for d, grade in row.items()} for q, row in qrels.items()}
        expected = dh.evaluate(dh.from_run(run, binary), names)
        outcome = dh.evaluate(dh.from_run(run, qrels, rel=rel), [*names, "nDCG@5"])
        assert next(iter(outcome)) == f"mAP(rel={rel})"
        for name in names:
            own = outcome[parse(name).at_level(rel).name]
            assert_array_equal(own.per_query, expected[name].per_query)
            assert_array_equal(own.std_per_query, expected[name].std_per_query)
            assert own.n_query == expected[name].n_query
        assert outcome["nDCG@5"].lower == dh.evaluate(dh.from_run(run, qrels), "nDCG@5")["nDCG@5"].lower


def test_which_queries_count() -> None:
    report = dh.evaluate(dh.from_run(RUN, QRELS), "Hit@1 Hit(rel=2)@2")
    second = report["Hit(rel=2)@2"]
    assert report.profile.query_ids == ("q1", "q2", "q3")
    assert_array_equal([report["Hit@1"].per_query.lower, second.per_query.upper], [[1, np.nan, 0], [1, np.nan, np.nan]])
    assert (second.lower, second.n_undefined) == (0, 1)
    assert report.remarks == (
        "1 of 3 queries of the qrels is not in the run: nothing is retrieved for it.",
        "1 query of the run is not in the qrels, and left out.",
    )
    as_there = dh.evaluate(dh.from_run(RUN, QRELS, complete=False), "Hit@1 Hit(rel=2)@2", singletons="zero")
    assert_array_equal(as_there["Hit@1"].per_query.lower, [1, 0])
    assert (as_there["Hit(rel=2)@2"].upper, as_there["Hit(rel=2)@2"].n_undefined) == (0.5, 0)
    assert as_there.remarks[0] == "1 of 3 queries of the qrels is not in the run, and left out."
    assert dh.evaluate(dh.from_run(RUN, {"q1": {"a": 1}, "q2": {"a": 1}, "q9": {"a": 1}})).remarks == ()


def test_queries_are_independent_units() -> None:
    interval = dh.evaluate(dh.from_run(RUN, QRELS), "MRR").interval("MRR", n_resamples=99)
    assert [note[:14] for note in interval.notes] == ["Only 2 queries"], "and no word on classes"
    assert "float32 scores" in str(dh.evaluate(dh.from_run(RUN, QRELS, ties="float32")))


def test_ids_that_no_file_can_hold_are_escaped() -> None:
    qrels = {name: {"a": 1} for name in ("q\udcff", chr(0xD800), "q\udcffé")}
    report = dh.evaluate(dh.from_run(qrels, qrels), "AP")
    assert sorted(report.query_names) == ["\\ud800", "q\\xff", "q\\xffé"]


def test_nothing_is_relevant() -> None:
    qrels = {"q1": {"a": 0}}
    with pytest.raises(UndefinedError, match="no query has a relevant document"):
        dh.evaluate(dh.from_run(RUN, qrels))
    assert dh.evaluate(dh.from_run(RUN, qrels), singletons="zero")["AP"].upper == 0


def test_an_undefined_level_is_not_a_value() -> None:
    result = dh.evaluate(dh.from_run(RUN, QRELS, rel=5), "AP")["AP(rel=5)"]
    assert np.isnan(result.lower)
    assert (result.n_query, result.n_undefined) == (0, 2)


# The lines of trec_eval: all that they have, against all orders of the tied documents, one run without ties for each

WITH_PARAMETERS = ["11pt_avg_0.25,.5,.75", "ndcg_1=3,2=9", "ndcg_1=.5,3=.5", "set_F_0.5", "set_F_2"]
NAMES = [name for name in expanded("all_trec") if name not in LEFT_OUT and name not in ("runid", "num_q")]
NAMES += WITH_PARAMETERS
BOUNDS_ONLY = ("gm_map", "gm_bpref")


def report_of(run: dict[str, Any], qrels: dict[str, Any], rel: int) -> dh.Report:
    return dh.evaluate(dh.from_run(run, qrels, rel=rel, complete=False), singletons="zero")


def of_all(run: dict[str, Any], qrels: dict[str, Any], rel: int) -> dict[str, Any]:
    report = report_of(run, qrels, rel)
    return {name: trec._row(report, name, 20).of_all for name in NAMES}


def test_cutoffs_where_none_are_given() -> None:
    assert expanded("Rprec_mult") == [f"Rprec_mult_{share / 5:.2f}" for share in range(1, 11)]
    assert expanded("iprec_at_recall")[:2] == ["iprec_at_recall_0.00", "iprec_at_recall_0.10"]
    assert expanded("P") == [f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]


def test_gains_where_the_best_order_changes_its_grade() -> None:
    """The mean of nDCG@1, which is 1/2, and nDCG@2."""
    value = of_all({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 2}}, 1)["Rndcg"]
    second = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert value.expected == pytest.approx((1 / 2 + second) / 2, abs=1e-15)


def test_parameters_of_trec_eval() -> None:
    """Worked by hand from its sources: d3 of grade 2 at rank 1, d1 of grade 1 at rank 3, d2 of grade 1 not found."""
    run = {"q": {"d3": 3.0, "x": 2.0, "d1": 1.0, "y": 0.0}}
    report = dh.evaluate(dh.from_run(run, {"q": {"d3": 2, "d1": 1, "d2": 1}}), "AP")
    value = {name: trec._row(report, name, 0).of_all.lower for name in (*WITH_PARAMETERS, "set_F_1", "set_F", "ndcg")}
    assert value["11pt_avg_0.25,.5,.75"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3, abs=1e-15)  # ranks 1, 2, 2 of the 3
    best = 9 + 3 / math.log2(3) + 3 / 2
    assert value["ndcg_1=3,2=9"] == pytest.approx((9 + 3 / 2) / best, abs=1e-15)
    assert value["ndcg_1=.5,3=.5"] == pytest.approx((2 + 0.5 / 2) / (2 + 0.5 / math.log2(3) + 0.5 / 2), abs=1e-15)
    assert value["set_F_0.5"] == pytest.approx(1.5 * (2 / 4) * (2 / 3) / (0.5 * 2 / 4 + 2 / 3), abs=1e-15)
    assert value["set_F_1"] == pytest.approx(value["set_F"], abs=1e-15)
    names = ["AP(rel=2)", "set_F_2", "map", "utility_1,0,0,0", "11pt_avg_0.5", "ndcg_1=3", "ndcg_cut_5", "ndcg"]
    printed = ["map", "utility_1,0,0,0", "11pt_avg_0.5", "ndcg_1=3", "ndcg", "ndcg_cut_5", "set_F_2", "mAP(rel=2)"]
    assert [line.split()[0] for line in trec_lines(report, names)] == printed
    refusals = {
        "11pt_avg_25,.5": "takes recalls from 0 to 1, but got 25: its name ends at the first point, as in 11pt",
        "ndcg_0=3": "takes gains above 0 of grades from 1 on, of moderate size, as in ndcg.1=3,2=9, but got 0=3",
        "ndcg_1=0": "takes gains above 0",
        "ndcg_1=.00000000000000000001": "of moderate size",
    }
    for name, message in refusals.items():
        with pytest.raises(ValueError, match=message):
            trec_lines(report, [name])


def test_a_name_in_a_report_is_the_measure_of_its_table() -> None:
    run, qrels = {"q": {"a": 1.0, "b": 0.5, "c": 0.5}}, {"q": {"a": 1, "b": 2}}
    report = dh.evaluate(dh.from_run(run, qrels, rel=2), "AP, nDCG@10, P(rel=3)@5")
    assert report.measures == ("mAP(rel=2)", "nDCG@10", "P(rel=3)@5")
    assert report["AP"] is report["mAP(rel=2)"] is report["AP(rel=2)"]
    assert (report["AP"].lower, report["AP"].upper) == (1 / 3, 1 / 2)
    assert report["MRR"].name == "MRR(rel=2)"
    assert [name in report for name in ("AP", "P@5", "P(rel=3)@5")] == [True, False, True]
    columns = ["query", "relevant", *(f"mAP(rel=2)_{end}" for end in Triple._fields)]
    assert list(report.worst(measures="AP").columns()) == columns
    comparison = dh.compare(report, report, measures="AP")
    assert comparison.measures == ("mAP(rel=2)",)
    assert comparison["AP"].a.expected == report["AP"].expected
    assert dh.leaderboard({"a": report, "b": report}, measures="AP").measures == ("mAP(rel=2)",)
    plain = dh.evaluate(dh.from_run(run, qrels), "AP")
    assert dh.compare(report, plain, measures="AP")["AP"].b.expected == report["AP"].expected
    with pytest.raises(ValueError, match="mAP must count the same grades in both, but the reports have rel any and 2"):
        dh.compare(plain, report, measures="AP")["AP"]
    assert report["AP(rel=1)"].expected == plain["AP"].expected


def test_lines_of_each_query_come_first() -> None:
    """In order of id; a query without a value has none, and geometric means and `num_q` have no line of a query."""
    run = {"q2": {"a": 2.0, "b": 1.0}, "q1": {"a": 1.0, "b": 1.0}, "q3": {"a": 1.0}}
    report = dh.evaluate(dh.from_run(run, {"q1": {"b": 1}, "q2": {"a": 1}, "q3": {"a": 0}}, complete=False), "AP")
    names = ["utility_1,-1,0,.5", "map", "num_ret", "num_q", "gm_map", "runid", "Rprec_mult_0.05", "AP(rel=2)"]
    lines = trec_lines(report, names, by_query=True, run_id="tag", n_docs=4)
    assert [" ".join(line.split()) for line in lines] == [
        "num_ret q1 2", "map q1 0.7500 0.5000 1.0000", "Rprec_mult_0.05 q1 0.0000 0.0000 0.0000",
        "utility_1,-1,0,.5 q1 1.0000 1.0000 1.0000",
        "num_ret q2 2", "map q2 1.0000 1.0000 1.0000", "Rprec_mult_0.05 q2 0.0000 0.0000 0.0000",
        "utility_1,-1,0,.5 q2 1.0000 1.0000 1.0000",
        "num_ret q3 1", "utility_1,-1,0,.5 q3 0.5000 0.5000 0.5000",
        "runid all tag", "num_q all 3", "num_ret all 5", "map all 0.8750 0.7500 1.0000", "gm_map all nan 0.7071 1.0000",
        "Rprec_mult_0.05 all 0.0000 0.0000 0.0000", "utility_1,-1,0,.5 all 0.8333 0.8333 0.8333",
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_every_order_of_the_ties(seed: int) -> None:
    rng = random.Random(seed)
    rel, documents = rng.choice([1, 1, 2]), "abcdefgh"
    qrels = {"q": {d: rng.choice([-1, 0, 0, 1, 2, 3]) for d in rng.sample(documents, 6)} | {"y": 1, "z": 3}}
    groups: list[list[str]] = [[], [], []]
    for document in documents[: rng.randint(4, 7)]:
        rng.choice(groups).append(document)
    tied = {document: float(-place) for place, group in enumerate(groups) for document in group}
    run = {}  # a query for each order
    for number, order in enumerate(itertools.product(*map(itertools.permutations, groups))):
        ranked = [document for group in order for document in group]
        run[f"q{number}"] = {document: float(-rank) for rank, document in enumerate(ranked)}
    separated = report_of(run, dict.fromkeys(run, qrels["q"]), rel)
    for name, value in of_all({"q": tied}, qrels, rel).items():
        of_orders = trec._row(separated, name, 20).of_queries
        if isinstance(value, int):
            assert set(of_orders.tolist()) == {value}, name  # type: ignore[union-attr]
            continue
        assert_array_equal(of_orders[0], of_orders[2])
        values = np.maximum(of_orders[0], 1e-5) if name in BOUNDS_ONLY else of_orders[0]
        assert (value.lower, value.upper) == pytest.approx((min(values), max(values)), abs=1e-12), name
        if name in BOUNDS_ONLY and value.lower < value.upper:
            assert math.isnan(value.expected)
        else:
            assert value.expected == pytest.approx(math.fsum(values) / len(values), abs=1e-12), name


@pytest.mark.parametrize("how", [{}, {"unjudged": "junk"}, {"ties": "float32"}, {"max_docs": 4}, {"rel": 2}])
def test_a_column_has_what_ranking_by_id_gives(how: dict[str, Any]) -> None:
    """With each tie broken by an amount too small to change another order, the last id in the alphabet first."""
    rng = np.random.default_rng(7)
    names = "mAP nDCG@5 MRR P@3 bpref"
    for _ in range(20):
        run = {f"q{q}": {f"d{d}": float(s) for d, s in enumerate(rng.integers(0, 3, 9))} for q in range(4)}
        qrels = {f"q{q}": {f"d{d}": int(g) for d, g in enumerate(rng.integers(-1, 3, 7))} | {"d8": 2} for q in range(4)}
        broken = {q: {d: s + int(d[1:]) * 2.0**-10 for d, s in row.items()} for q, row in run.items()}
        near = {q: {d: s + int(d[1:]) * 2.0**-40 for d, s in row.items()} for q, row in run.items()}
        given = near if "ties" in how else run
        expected = dh.evaluate(dh.from_run(broken, qrels, **how), names)
        if "max_docs" in how:
            given = broken
        task = dh.from_run(given, qrels, **how)
        outcome = with_ids(dh.evaluate(task, names), task)
        assert outcome.by_id == {name: result.lower for name, result in expected.items()}
        assert outcome.columns()["by_id"] == [result.lower for result in expected.values()]
        assert outcome.to_dict()["measures"][expected.measures[0]]["by_id"] == expected["mAP"].lower
        assert outcome.to_text().splitlines()[0].split()[-2:] == ["by", "id"]


def test_a_level_of_one_is_the_default_unless_gains_are_below() -> None:
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 2}}
    assert dh.evaluate(dh.from_run(run, qrels, rel=1), "AP").measures == ("mAP",)
    report = dh.evaluate(dh.from_run(run, {"q": {"a": 0.5, "b": 2}}, rel=1), "AP nDCG")
    assert report.measures == ("mAP(rel=1)", "nDCG")
    assert (report["AP"].expected, report["AP(rel=0.5)"].expected) == (0.5, 1.0)
    assert dh.evaluate(dh.from_run(run, qrels, rel=2.0), "AP").measures == ("mAP(rel=2)",)
    with pytest.raises(ValueError, match=r"ndcg takes gains of whole grades, but got 1=3 where some are not whole"):
        trec_lines(report, ["ndcg_1=3"])


@pytest.mark.parametrize("rel", [0.1 * 0.1, 1 / 70, 1e9 + 0.5, 1e-5, 1e-100, 2.0**53, 1e20, 1e100, 3, 2**63 - 1])
def test_any_gain_can_be_the_least_that_is_relevant(rel: float) -> None:
    """By a name that can be written; items of just less are not relevant."""
    less = rel - 1 if isinstance(rel, int) else np.nextafter(rel, 0).item()
    gains = {"a": less, "b": rel} if less >= 1e-100 else {"b": rel}
    report = dh.evaluate(dh.from_run({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": gains}, rel=rel), "AP, Hit@2")
    assert report["AP"].expected == 0.5
    assert report.measures == ("mAP" + f"(rel={rel})", f"Hit(rel={rel})@2")
    assert report[report.measures[0]] is report["AP"]


@pytest.mark.parametrize(
    ("rel", "rule"),
    [
        (1e-101, "must be an integer, or a gain"),
        (2**63, "must be below 2.63"),
        (0, "must be above 0"),
        (-0.5, "must be above 0"),
        (True, "must be a number"),
    ],
)
def test_numbers_that_are_no_least_gain(rel: Any, rule: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^rel {rule}"):
        dh.from_run({"q": {"a": 3.0}}, {"q": {"a": 1}}, rel=rel)
