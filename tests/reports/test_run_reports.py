"""Reports on runs: levels of relevance in names, which queries count, and what is said of the others."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.errors import UndefinedError

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
        expected = dh.evaluate_run(run, binary, measures=names)
        found = dh.evaluate_run(run, qrels, measures=[*names, "nDCG@5"], rel=rel)
        assert next(iter(found)) == f"mAP(rel={rel})"
        for name in names:
            own = found[dh.measures.parse(name).at_level(rel).name]
            assert_array_equal(own.per_query, expected[name].per_query)
            assert_array_equal(own.std_per_query, expected[name].std_per_query)
            assert own.n_query == expected[name].n_query
        assert found["nDCG@5"].lower == dh.evaluate_run(run, qrels, measures="nDCG@5")["nDCG@5"].lower


def test_which_queries_count() -> None:
    report = dh.evaluate_run(RUN, QRELS, measures="Hit@1 Hit(rel=2)@2")
    second = report["Hit(rel=2)@2"]
    assert report.profile.query_ids == ("q1", "q2", "q3")
    assert_array_equal([report["Hit@1"].per_query.lower, second.per_query.upper], [[1, np.nan, 0], [1, np.nan, np.nan]])
    assert (second.lower, second.n_undefined) == (0, 1)
    assert report.remarks == (
        "1 of 3 queries of the qrels is not in the run: nothing is retrieved for it.",
        "1 query of the run is not in the qrels, and left out.",
    )
    as_there = dh.evaluate_run(RUN, QRELS, measures="Hit@1 Hit(rel=2)@2", complete=False, singletons="zero")
    assert_array_equal(as_there["Hit@1"].per_query.lower, [1, 0])
    assert (as_there["Hit(rel=2)@2"].upper, as_there["Hit(rel=2)@2"].n_undefined) == (0.5, 0)
    assert as_there.remarks[0] == "1 of 3 queries of the qrels is not in the run, and left out."
    assert dh.evaluate_run(RUN, {"q1": {"a": 1}, "q2": {"a": 1}, "q9": {"a": 1}}).remarks == ()


def test_queries_are_independent_units() -> None:
    interval = dh.evaluate_run(RUN, QRELS, measures="MRR").interval("MRR", n_resamples=99)
    assert interval.notes == ()
    assert "float32 scores" in str(dh.evaluate_run(RUN, QRELS, score_dtype="float32"))


def test_nothing_is_relevant() -> None:
    qrels = {"q1": {"a": 0}}
    with pytest.raises(UndefinedError, match="no query has a relevant document"):
        dh.evaluate_run(RUN, qrels)
    assert dh.evaluate_run(RUN, qrels, singletons="zero")["AP"].upper == 0


def test_an_undefined_level_is_not_a_value() -> None:
    result = dh.evaluate_run(RUN, QRELS, measures="AP", rel=5)["AP(rel=5)"]
    assert np.isnan(result.lower)
    assert (result.n_query, result.n_undefined) == (0, 2)
