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
from deadheat.measures.names import parse
from deadheat.reports.trec import trec_name

pytestmark = needs("pytrec_eval")

NAMES = [
    "map", "map_cut_1", "map_cut_3", "map_cut_100", "ndcg", "ndcg_cut_1", "ndcg_cut_4", "ndcg_cut_100", "P_1", "P_5",
    "P_100", "recall_1", "recall_5", "recall_100", "success_1", "success_5", "recip_rank", "Rprec", "bpref",
    "set_P", "set_recall", "set_relative_P", "set_map", "set_F",
]  # fmt: skip
LINES = [*NAMES, "relative_P_1", "relative_P_5", "Rprec_mult_0.60", "Rprec_mult_2.00", "Rndcg", "utility"]
SCORES = [-1.5, 0.0, -0.0, 0.5, 0.5 + 1e-9, 0.5000001, 3.0, 1e39, 1e-50, 2**24, 2**24 + 1]
DOCUMENTS = st.sampled_from([f"d{i}" for i in range(12)])
QUERIES = st.sampled_from(["q1", "q2", "q3", "q10"])
RUNS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from(SCORES), min_size=1), min_size=1)
# A query whose every grade is below 0 sends pytrec_eval 0.5.11 into an endless loop, so each has one that is not.
JUDGED = st.dictionaries(DOCUMENTS, st.integers(-1, 3), min_size=1).filter(lambda row: max(row.values()) >= 0)
QRELS = st.dictionaries(QUERIES, JUDGED, min_size=1)


def theirs(run: dict[str, Any], qrels: dict[str, Any], rel: int, judged_only: bool) -> dict[str, dict[str, float]]:
    import pytrec_eval

    flags = {"relevance_level": rel, "judged_docs_only_flag": judged_only}
    result: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(qrels, {*NAMES}, **flags).evaluate(run)
    return result


@settings(max_examples=60, deadline=None)
@given(run=RUNS, qrels=QRELS, rel=st.integers(1, 4), judged_only=st.booleans())
def test_its_values_are_between_the_bounds(
    run: dict[str, Any], qrels: dict[str, Any], rel: int, judged_only: bool
) -> None:
    if not run.keys() & qrels.keys():
        return
    expected = theirs(run, qrels, rel, judged_only)
    how: dict[str, Any] = {
        "complete": False,
        "ties": "float32",
        "rel": rel,
        "unjudged": "junk" if judged_only else "irrelevant",
    }
    report = dh.evaluate(dh.from_run(run, qrels, **how), NAMES, singletons="zero")
    assert report.profile.query_ids is not None
    assert set(report.profile.query_ids) == set(expected)
    for name in report:
        called = trec_name(parse(name), report.rel)
        values = np.array([expected[query][called] for query in report.profile.query_ids])
        values[np.isnan(values)] = 0.0  # set_recall and set_relative_P of a query without a relevant document
        lower, middle, upper = report[name].per_query
        assert (lower - 1e-12 <= values).all(), called
        assert (values <= upper + 1e-12).all(), called
        assert (lower <= middle).all(), called
        assert report[name].lower - 1e-12 <= values.mean() <= report[name].upper + 1e-12, called
        if not report.ties.mixed_groups:
            np.testing.assert_allclose(middle, values, rtol=0, atol=1e-12, err_msg=called)


def random_run(seed: int, scores: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Some queries, with some unjudged documents, and this many distinct scores."""
    rng = np.random.default_rng(seed)
    run: dict[str, Any] = {}
    qrels: dict[str, Any] = {}
    for query in map(str, range(40)):
        documents = rng.permutation(120)[: rng.integers(1, 120)].tolist()
        run[query] = dict(zip(map(str, documents), rng.permutation(scores)[:120].tolist() * 120, strict=False))
        judged = rng.permutation(120)[: rng.integers(2, 70)].tolist()
        grades = rng.choice([-1, 0, 0, 1, 1, 2, 3], len(judged))
        qrels[query] = {str(document): int(grade) for document, grade in zip(judged, grades, strict=True)} | {"x": 1}
    return run, qrels


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("scores", [1000, 7])
@pytest.mark.parametrize("judged_only", [False, True])
def test_thousands_of_lines(rel: int, scores: int, judged_only: bool) -> None:
    """All that it prints of each query and has a meaning here: the same without ties, and else between the bounds."""
    import pytrec_eval

    from deadheat.reports.trec import trec_lines

    run, qrels = random_run(rel + scores, scores)
    flags = {"relevance_level": rel, "judged_docs_only_flag": judged_only}
    names = {*LINES, "num_ret", "num_rel", "num_rel_ret"}
    expected = pytrec_eval.RelevanceEvaluator(qrels, names, **flags).evaluate(run)
    task = dh.from_run(run, qrels, rel=rel, complete=False, unjudged="junk" if judged_only else "irrelevant")
    report = dh.evaluate(task, singletons="zero")
    result = [line.split("\t") for line in trec_lines(report, LINES, by_query=True, summary=False)]
    counts = ("num_ret", "num_rel", "num_rel_ret")
    counted = [line.split("\t") for line in trec_lines(report, [*counts, "num_q"], by_query=True)]
    assert {(name.strip(), query): int(n) for name, query, n in counted} == {
        **{(name, query): of[name] for query, of in expected.items() for name in counts},
        **{(name, "all"): sum(of[name] for of in expected.values()) for name in counts},
        ("num_q", "all"): 40,
    }
    assert len(result) == len(LINES) * 40
    for name, query, *values in result:
        middle, lower, upper = map(float, values)
        theirs_is = expected[query][name.strip()]
        theirs_is = 0.0 if np.isnan(theirs_is) else theirs_is  # set_recall where nothing is relevant at the level
        assert lower - 6e-5 <= theirs_is <= upper + 6e-5, (name, query)
        if scores == 1000:
            assert values == [f"{theirs_is:6.4f}"] * 3 or abs(middle - theirs_is) < 5.1e-5, (name, query)


@pytest.mark.parametrize("scores", [1000, 7])
def test_interpolated_precision(scores: int) -> None:
    """It adds 0.9 to r R and cuts, in floating point, where IPrec@r rounds up; trec_eval 10 rounds to the nearest."""
    import pytrec_eval

    run, qrels = random_run(scores, scores)
    names = [f"iprec_at_recall_{i / 10:.2f}" for i in range(11)]
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall", "11pt_avg"}).evaluate(run)
    report = dh.evaluate(dh.from_run(run, qrels, complete=False), [f"IPrec@{i / 10}" for i in range(11)])
    relevant, compared = report.profile.n_relevant, 0
    assert report.profile.query_ids is not None
    for i, name in enumerate(names):
        lower, _, upper = report[f"IPrec@{i / 10}"].per_query
        same = (i / 10 * relevant + 0.9).astype(int) == [-(-i * r // 10) for r in relevant.tolist()]
        values = np.array([expected[query][name] for query in report.profile.query_ids])
        assert (lower[same] - 1e-12 <= values[same]).all()
        assert (values[same] <= upper[same] + 1e-12).all()
        if scores == 1000:
            np.testing.assert_allclose(lower[same], values[same], rtol=0, atol=1e-12)
        compared += int(same.sum())
    assert compared > 400


@pytest.mark.parametrize("scores", [1000, 7])
def test_means_over_queries_and_geometric_ones(scores: int) -> None:
    import pytrec_eval

    from deadheat.reports.trec import trec_lines

    run, qrels = random_run(scores + 1, scores)
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map", "gm_bpref", "utility"}).evaluate(run)
    report = dh.evaluate(dh.from_run(run, qrels, complete=False), singletons="zero")
    for line in trec_lines(report, ["gm_map", "gm_bpref", "utility"]):
        name, _, *values = line.split("\t")
        mean = np.mean([of[name.strip()] for of in expected.values()])
        _, lower, upper = map(float, values)
        assert lower - 6e-5 <= (np.exp(mean) if name.startswith("gm") else mean) <= upper + 6e-5, name
        assert scores == 7 or lower == upper
