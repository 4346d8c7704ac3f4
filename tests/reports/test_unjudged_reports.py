"""Unjudged documents in reports: what the first documents have of judgements, other sources, and systems compared."""

from __future__ import annotations

import itertools
import pickle
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import passed, refused
from graded_queries import close, value
from numpy.testing import assert_array_equal

import deadheat as dh

RUNS: dict[str, Any] = {
    "a": {"q": {"x": 4, "d": 3, "e": 3, "y": 1}, "r": {"d": 1}},
    "b": {"q": {"d": 4, "x": 3, "z": 3, "w": 1}, "r": {"n": 2, "d": 1}},
    "c": {"q": {"e": 4, "d": 3}, "r": {"d": 1, "v": 1}},
}
QRELS = {"q": {"d": 2, "e": 0, "m": 1}, "r": {"d": 1, "n": 0}, "s": {"n": 0}}


def unknown(name: str, measures: str = "AP, nDCG@3, Recall@2") -> dh.Report:
    return dh.evaluate(dh.from_run(RUNS[name], QRELS, unjudged="unknown"), measures)


def test_judged_at_k_is_the_share_of_judged_documents_over_all_orders() -> None:
    rng = random.Random(1)
    for _ in range(20):
        run = {f"d{i}": rng.randint(0, 2) for i in range(rng.randint(1, 5))}
        judged = {each: rng.choice([-1, 0, 0, 2]) for each in (*run, "other") if rng.random() < 0.6} | {"relevant": 1}
        groups = [[d for d in run if run[d] == score] for score in (2, 1, 0)]
        orders = [list(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, groups))]
        for k in (1, 2, 9):
            shares = [Fraction(sum(judged.get(d, -1) >= 0 for d in o[:k]), min(k, len(run))) for o in orders]
            for how in ("irrelevant", "junk", "unknown"):
                result = dh.evaluate(dh.from_run({"q": run}, {"q": judged}, unjudged=how, rel=2), f"Judged@{k}")
                share = result[f"Judged@{k}"]
                assert close(share.lower, min(shares))
                assert close(share.expected, sum(shares) / len(shares))
                assert close(share.upper, max(shares))
                mean = sum(shares) / len(shares)
                variance = sum((each - mean) ** 2 for each in shares) / len(shares)
                assert abs(share.std**2 - float(variance)) < 1e-15


@pytest.mark.slow
def test_judged_at_k_is_that_of_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures", reason="pip install ir-measures pytrec-eval")
    run = {"q": {"x": 4, "d": 3, "y": 1}, "r": {"d": 1}}
    qrels = {query: QRELS[query] for query in run}
    theirs = ir_measures.calc_aggregate([ir_measures.Judged @ 10], qrels, run)
    assert [dh.evaluate(dh.from_run(run, qrels))["Judged@10"].lower] == [*theirs.values()]
    assert "Judged@10" not in dh.evaluate(dh.from_lists([["a"]], [["a"]]))


def test_a_report_cautions_where_few_documents_are_judged() -> None:
    run = {"q": {"x": 4, "y": 3, "d": 1}}
    caution = "Judged@2 0.00 %: values depend on unjudged documents; as unknown (--unjudged unknown) they have bounds."
    assert caution in dh.evaluate(dh.from_run(run, QRELS, complete=False), "AP, Judged@2").notes()
    assert not any("depend on" in note for note in unknown("a", "AP, Judged@1").notes())
    with pytest.raises(ValueError, match="must be without Judged@1, which needs the documents of a run and its qrels"):
        dh.evaluate(dh.from_scores([[1.0, 2.0]], [[0, 1]]), "Judged@1")


def test_a_report_says_what_is_unknown() -> None:
    notes = unknown("a").notes()
    assert any(
        note.startswith("2 of 5 ranked documents, in 1 query, are unjudged: each is irrelevant or relevant with gain 2")
        for note in notes
    )
    assert "Documents that were not retrieved count as irrelevant." in notes
    assert not any("No tie affects" in note for note in unknown("b").notes())
    alone = dh.evaluate(dh.from_run({"q": {"d": 2, "x": 1}}, QRELS, unjudged="unknown", complete=False), "MRR")
    assert any("which affects no value shown" in note for note in alone.notes())
    assert alone["MRR"].expected == 1
    assert pickle.loads(pickle.dumps(unknown("a")))["Judged@1"].lower == unknown("a")["Judged@1"].lower


def test_systems_are_compared_over_the_union_of_what_they_retrieved() -> None:
    names = [*RUNS]
    for chosen in (names[:2], names):
        reports = {name: unknown(name) for name in chosen}
        shown = dh.leaderboard(reports).reports
        if len(chosen) == 2:
            both = dh.compare(*reports.values())
            assert (both.a, both.b) == tuple(shown[name] for name in chosen)
            assert any("over the union" in note for note in both.notes())
            difference = both["AP"]
            assert difference.lower <= difference.upper
        pool = {q: {d for name in chosen for d in RUNS[name][q]} - QRELS[q].keys() for q in ("q", "r")}
        for name in chosen:
            for query in ("q", "r"):
                judged = {d: grade for d, grade in QRELS[query].items() if grade}
                by_score: dict[Any, list[str]] = {}
                for d, score in RUNS[name][query].items():
                    by_score.setdefault(-score, []).append(d)
                groups = [group for _, group in sorted(by_score.items())]
                values = []
                for gains in itertools.product((0, 2), repeat=len(pool[query])):
                    grade = judged | dict(zip(sorted(pool[query]), gains, strict=True))
                    missing = [g for d, g in grade.items() if g and d not in RUNS[name][query]]
                    for parts in itertools.product(*map(itertools.permutations, groups)):
                        order = [grade.get(d, 0) for d in itertools.chain(*parts)]
                        values.append([value(each, order, missing) for each in ("mAP", "nDCG@3", "Recall@2")])
                i = [*QRELS].index(query)
                for measure, of_worlds in zip(("mAP", "nDCG@3", "Recall@2"), zip(*values, strict=True), strict=True):
                    per_query = shown[name][measure].per_query
                    assert close(per_query.lower[i], min(of_worlds), 1e-15)
                    assert close(per_query.upper[i], max(of_worlds), 1e-15)
    with pytest.raises(ValueError, match="reports must have unjudged documents as unknown in all, of one gain"):
        dh.compare(unknown("a"), dh.evaluate(dh.from_run(RUNS["b"], QRELS), "AP"))
    with pytest.raises(ValueError, match=r"must be of runs to be compared .* one is of a profile"):
        dh.compare(unknown("a", "AP"), dh.evaluate(unknown("b").profile, "AP"))


@pytest.mark.parametrize("gains", [[0, 1], [0, 1, 3], [0, 0.5, 1]])
@pytest.mark.parametrize("unjudged", ["irrelevant", "junk", "unknown", 2])
def test_embeddings_have_the_profile_of_their_run(gains: list[Any], unjudged: Any) -> None:
    rng = np.random.default_rng(0)
    queries, gallery = rng.integers(0, 3, (4, 2)), rng.integers(0, 3, (12, 2))
    ids, documents = [f"q{i}" for i in range(4)], [f"d{i}" for i in range(12)]
    qrels = {q: {f"d{j}": rng.choice(gains).item() for j in rng.permutation(14)[:6]} for q in ids[:3]}
    junk = np.arange(12) == 3
    task = dh.from_judged(queries, gallery, qrels, ids, documents, distance="euclidean", unjudged=unjudged, junk=junk)
    squares = np.square(queries[:, None] - gallery).sum(axis=-1)
    kept = [j for j in range(12) if j != 3]
    run = {q: {f"d{j}": -int(squares[i, j]) for j in kept} for i, q in enumerate(ids)}
    qrels = {q: {d: grade for d, grade in qrels.get(q, {}).items() if d != "d3"} for q in ids}
    qrels["q3"] = {"none": 0}
    same = dh.from_run(run, qrels, unjudged=unjudged)
    assert task.profile == same.profile
    of_task, of_run = (dh.evaluate(each, "nDCG@5, Judged@3") for each in (task, same))
    for name in of_task:
        assert_array_equal(of_task[name].per_query, of_run[name].per_query)
    with pytest.raises(ValueError, match="unjudged must be 'irrelevant' or 'junk' with a tolerance, but is 'unknown'"):
        dh.from_judged(queries, gallery, {"q0": {"d1": 1}}, ids, documents, ties=dh.Tolerance(0.1), unjudged="unknown")
    if unjudged == "unknown":
        board = dh.compare(of_task, dh.evaluate(task.replace(distance="cityblock"), "nDCG@5"))
        assert board["nDCG@5"].upper >= 0


def test_lists_know_what_is_judged() -> None:
    lists, judged = [["x", "d", "e"], [{"d", "x"}]], [{"d": 1, "e": 0}, {"d": 1}]
    report = dh.evaluate(dh.from_lists(lists, judged, unjudged="unknown"), "MRR, Judged@2")
    assert_array_equal(report["MRR"].per_query.lower, [0.5, 0.5])
    assert_array_equal(report["MRR"].per_query.upper, [1, 1])
    assert dh.evaluate(dh.from_lists(lists, judged, unjudged="junk"), "MRR")["MRR"].lower == 1
    assert report["Judged@2"].lower == 0.5


def test_the_commands_take_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, run in RUNS.items():
        Path(f"{name}.run").write_text(
            "".join(f"{q} Q0 {d} 1 {s} t\n" for q, row in run.items() for d, s in row.items())
        )
    Path("qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, row in QRELS.items() for d, g in row.items()))
    printed = passed("run", "qrels", "a.run", "-m", "AP Judged@2", "--unjudged", "unknown")
    assert printed.strip() == str(unknown("a", "AP, Judged@2")).strip()
    assert passed("run", "qrels", "a.run", "--unjudged", "junk") == passed("run", "qrels", "a.run", "-J")
    assert "with gain 5" in passed("run", "qrels", "a.run", "--unjudged", "5", "-m", "nDCG")
    compared = passed("compare", "a.run", "b.run", "--qrels", "qrels", "--unjudged", "unknown", "-m", "nDCG@3")
    assert "over the union" in compared
    assert "Ties and unjudged documents leave undecided" in passed(
        "run", "qrels", "a.run", "b.run", "--unjudged", "unknown"
    )
    by_id = ("run", "qrels", "a.run", "-m", "AP", "--by-id")
    in_table = [passed(*by_id, *more).split("mAP")[1].split()[3] for more in ((), ("--unjudged", "unknown"))]
    assert in_table[0] == in_table[1]  # trec_eval's value
    for options, message in (
        (("--unjudged", "unknown", "--trec-eval"), "--unjudged unknown goes with the table"),
        (("--unjudged", "unknown", "-J"), "-J is --unjudged junk, but --unjudged is unknown"),
        (("--unjudged", "none"), "must be one of unknown, irrelevant, junk, but is 'none'"),
    ):
        assert message in refused("run", "qrels", "a.run", *options)
