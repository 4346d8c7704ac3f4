"""Runs against pytrec_eval: its value of every query lies between the bounds, ties by document id included.

It reads scores as float32 and breaks ties by id, descending; with a name for each document that its score decides there
is no tie, and the values are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integrations.needs import needs

import deadheat as dh
from deadheat.measures.trec_names import trec_name

pytestmark = needs("pytrec_eval")

NAMES = [
    "map", "map_cut_1", "map_cut_3", "map_cut_100", "ndcg", "ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_100", "P_1", "P_5",
    "P_100", "recall_1", "recall_5", "recall_100", "success_1", "success_5", "recip_rank", "Rprec",
]  # fmt: skip
SCORES = [-1.5, 0.0, -0.0, 0.5, 0.5 + 1e-9, 0.5000001, 3.0, 1e39, 1e-50, 2**24, 2**24 + 1]
DOCUMENTS = st.sampled_from([f"d{i}" for i in range(12)])
QUERIES = st.sampled_from(["q1", "q2", "q3", "q10"])
RUNS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from(SCORES), min_size=1), min_size=1)
# A query whose every grade is below 0 sends pytrec_eval 0.5.11 into an endless loop, so each has one that is not.
JUDGED = st.dictionaries(DOCUMENTS, st.integers(-1, 3), min_size=1).filter(lambda row: max(row.values()) >= 0)
QRELS = st.dictionaries(QUERIES, JUDGED, min_size=1)


def theirs(run: dict[str, Any], qrels: dict[str, Any], rel: int, judged_only: bool) -> dict[str, dict[str, float]]:
    import pytrec_eval

    counts = {"num_q", "num_ret", "num_rel", "num_rel_ret"}
    flags = {"relevance_level": rel, "judged_docs_only_flag": judged_only}
    found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(qrels, {*NAMES, *counts}, **flags).evaluate(run)
    return found


@settings(max_examples=60, deadline=None)
@given(run=RUNS, qrels=QRELS, rel=st.integers(1, 4), judged_only=st.booleans())
def test_its_values_are_between_the_bounds(
    run: dict[str, Any], qrels: dict[str, Any], rel: int, judged_only: bool
) -> None:
    if not run.keys() & qrels.keys():
        return
    expected = theirs(run, qrels, rel, judged_only)
    as_there: dict[str, Any] = {"complete": False, "singletons": "zero", "score_dtype": "float32"}
    report = dh.evaluate_run(run, qrels, measures=NAMES, rel=rel, judged_only=judged_only, **as_there)
    assert report.profile.query_ids is not None
    assert set(report.profile.query_ids) == set(expected)
    for name in report:
        called = trec_name(dh.measures.parse(name), rel)
        values = np.array([expected[query][called] for query in report.profile.query_ids])
        lower, middle, upper = report[name].per_query
        assert (lower - 1e-12 <= values).all(), called
        assert (values <= upper + 1e-12).all(), called
        assert (lower <= middle).all(), called
        assert report[name].lower - 1e-12 <= values.mean() <= report[name].upper + 1e-12, called
        if not report.ties.mixed_groups:
            np.testing.assert_allclose(middle, values, rtol=0, atol=1e-12, err_msg=called)


@settings(max_examples=20, deadline=None)
@given(run=RUNS, qrels=QRELS, rel=st.integers(1, 4), judged_only=st.booleans())
def test_counts_are_the_same(run: dict[str, Any], qrels: dict[str, Any], rel: int, judged_only: bool) -> None:
    from deadheat.reports.trec_lines import COUNTS, trec_lines

    if not run.keys() & qrels.keys():
        return
    expected = theirs(run, qrels, rel, judged_only)
    report = dh.evaluate_run(run, qrels, rel=rel, judged_only=judged_only, complete=False, singletons="zero")
    lines = [line.split("\t") for line in trec_lines(report, list(COUNTS), rel=rel, by_query=True)]
    counted = {(name.strip(), query): int(number) for name, query, number, *rest in lines if not rest}
    assert counted == {
        **{(name, query): int(of[name]) for query, of in expected.items() for name in COUNTS if name != "num_q"},
        **{(name, "all"): int(sum(of[name] for of in expected.values())) for name in COUNTS},
    }


def test_the_order_of_ids_is_an_order_of_the_ties() -> None:
    """What it says depends on names alone; both values are the ends of ours."""
    qrels = {"q": {"relevant": 1}}
    values = []
    for other in ("a", "z"):
        run = {"q": {"relevant": 0.5, **{f"{other}{i}": 0.5 for i in range(19)}}}
        values.append(theirs(run, qrels, 1, False)["q"]["recip_rank"])
        result = dh.evaluate_run(run, qrels, measures="RR")["RR"]
        assert (result.lower, result.upper) == (1 / 20, 1)
    assert values == [1, pytest.approx(1 / 20)]


def test_scores_that_only_float64_tells_apart() -> None:
    run, qrels = {"q": {"a": 0.5, "b": 0.500000001}}, {"q": {"a": 1}}
    as_float32 = dh.evaluate_run(run, qrels, measures="RR", score_dtype="float32")["RR"]
    assert (as_float32.lower, as_float32.upper) == (0.5, 1)
    for dtype in (None, "float64"):
        as_given = dh.evaluate_run(run, qrels, measures="RR", score_dtype=dtype)["RR"]  # type: ignore[arg-type]
        assert (as_given.lower, as_given.upper) == (0.5, 0.5)
    assert theirs({"q": {"b": 0.5, "a": 0.500000001}}, {"q": {"a": 1}}, 1, False)["q"]["recip_rank"] == 0.5
