"""Audits of files of scores: each finding on scores made to have it, and not on scores made to just lack it."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli import calling

import deadheat as dh
from deadheat.reports.runs import RULES, by_rule
from deadheat.trust.audits.run_audit import First, Looks

Run = dict[str, dict[str, float]]
N_QUERY = 40


RNG = np.random.default_rng(0)
# Distinct scores in no short type, one relevant document among ten, at any position of the list and of any id.
RUN: Run = {
    f"q{q}": {f"d{d}": float(score) for d, score in zip(RNG.permutation(10), RNG.random(10), strict=True)}
    for q in range(N_QUERY)
}
JUDGED = {query: {f"d{RNG.integers(10)}": 1} for query in RUN}


def changed(change: Any) -> Run:
    return {query: {document: change(score) for document, score in row.items()} for query, row in RUN.items()}


CONSTANT = changed(lambda score: 0.5)


def test_nothing_is_found_in_sound_scores() -> None:
    outcome = dh.audit_run(RUN, JUDGED)
    assert list(outcome) == []
    assert str(outcome).startswith("nothing found (40 queries of 400 scores)")
    assert len(outcome.tables()[0].rows) == 1  # no tie, so no rules


def test_a_constant_reranker() -> None:
    outcome = dh.audit_run(CONSTANT, JUDGED, measures=["MRR@10", "nDCG@10"])
    assert [outcome[name].severity for name in ("constant scores", "ties")] == ["serious", "serious"]
    assert outcome["constant scores"].figures == {"queries": N_QUERY, "n_query": N_QUERY}
    assert outcome["ties for the first place"].figures["queries"] == N_QUERY
    assert outcome["few distinct scores"].figures == {"distinct": 0.1}
    third = dh.audit_run({"q": dict.fromkeys("abc", 0.5)})["few distinct scores"]
    assert "at most 33 % of the scores" in third.sentence
    assert "positives first" not in outcome


def test_positives_first() -> None:
    """Listed first in every query; what the file lists at random is no finding, nor is a good ranking without ties."""
    first = {
        query: dict.fromkeys([*row, *(f"d{i}" for i in range(10))], 0.5) for query, row in JUDGED.items()
    }  # fmt: skip
    outcome = dh.audit_run(first, JUDGED, measures="MRR@10")
    assert outcome["positives first"].figures["relevant_first"] == N_QUERY
    assert outcome["positives first"].figures["likely"] == pytest.approx(N_QUERY / 10)
    assert outcome.rules["in the order of the file"] == {"MRR@10": 1.0}
    ranked = {query: {d: 1.0 if d in JUDGED[query] else -i for i, d in enumerate(row)} for query, row in first.items()}
    assert "positives first" not in dh.audit_run(ranked, JUDGED)


STEP = float(np.nextafter(np.float32(0.7), np.float32(0)))


def just_below(score: float, other: float) -> tuple[Run, Run]:
    """Twenty queries whose positive has one score, and fifty other documents another."""
    run = {f"q{q}": {"p": other} | {f"d{d}": score for d in range(50)} for q in range(20)}
    return run, {query: {"p": 1} for query in run}


def test_near_ties() -> None:
    """One step of float32 above fifty others: MRR@10 is 1 by that step alone."""
    outcome = dh.audit_run(*just_below(STEP, float(np.float32(0.7))), measures="MRR@10")["near ties"]
    assert outcome.severity == "serious"
    assert outcome.figures["queries"] == 20
    assert (outcome.figures["lower"], outcome.figures["upper"]) == ({"MRR@10": 0.0}, {"MRR@10": 1.0})
    assert "all 20 queries" in outcome.sentence
    below = dh.audit_run(*just_below(float(np.float32(0.7)), STEP), measures="MRR@10")["near ties"]
    assert (below.figures["lower"], below.figures["upper"]) == ({"MRR@10": 0.0}, {"MRR@10": 1.0})


@pytest.mark.parametrize(("dtype", "step"), [("float16", 2.0**-11), ("bfloat16", 2.0**-8)])
def test_a_step_of_a_shorter_type_that_holds_all_scores_is_a_near_tie(dtype: str, step: float) -> None:
    """Scores of the type, one step apart; the third may be moved before or behind its neighbours."""
    run = {f"q{q}": {f"d{d}": 0.5 + step * d for d in range(120)} for q in range(20)}
    outcome = dh.audit_run(run, {query: {"d117": 1} for query in run}, measures="MRR")["near ties"]
    assert outcome.figures["precision"] == dtype
    assert (outcome.figures["lower"], outcome.figures["upper"]) == ({"MRR": 1 / 4}, {"MRR": 1 / 2})
    assert f"by one step of {dtype} at most" in outcome.sentence


@pytest.mark.parametrize(("score", "other"), [(0.7, 0.7), (0.7 - 2e-7, 0.7), (20_000_000.0, 20_000_001.0)])
def test_what_is_no_near_tie(score: float, other: float) -> None:
    """Equal scores, which are ties; two steps of float32 and more; integers, which were counted."""
    assert "near ties" not in dh.audit_run(*just_below(score, other))


def test_scores_that_differ_by_the_order_of_a_sum_are_not_said_to_be_float32() -> None:
    run = {f"q{q}": {"a": 0.1 + 0.2, "b": 0.3, "c": 0.1} for q in range(10)}
    outcome = dh.audit_run(run, {query: {"b": 1} for query in run}, measures="MRR")["near ties"]
    assert outcome.figures["precision"] == "float64"
    assert (
        "scores of relevant and irrelevant documents differ only in digits that float32 does not have"
        in outcome.sentence
    )
    assert outcome.advice == "Rounding decides the order there: report these bounds, or round the scores."
    short = {query: {name: float(np.float32(score)) for name, score in row.items()} for query, row in run.items()}
    short = {query: row | {"a": float(np.nextafter(np.float32(0.3), np.float32(1)))} for query, row in short.items()}
    outcome = dh.audit_run(short, {query: {"b": 1} for query in run}, measures="MRR")["near ties"]
    assert "differ by one step of float32 at most" in outcome.sentence
    assert "compute the scores in float64" in outcome.advice


def test_near_ties_among_the_largest_numbers() -> None:
    largest = float(np.finfo(np.float64).max)
    run = {"q": {"a": largest, "b": largest * (1 - 2**-30), "c": 10**400, "d": 0.5}}
    outcome = dh.audit_run(run, {"q": {"a": 1, "c": 1}}, measures="mAP")["near ties"]
    assert outcome.figures["lower"]["mAP"] == pytest.approx((1 + 2 / 3) / 2)


def test_bounds_of_near_ties_are_those_of_the_tolerance() -> None:
    """Each relevant document against all others, moved by the precision either way, by brute force over pairs."""
    rng = np.random.default_rng(5)
    steps = np.float64(0.75) + rng.integers(0, 40, (30, 12)) * 2.0**-25  # a near tie reaches over two of them
    run = {f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(steps)}
    judged = {query: {f"d{rng.integers(12)}": 1} for query in run}
    figures = dh.audit_run(run, judged, measures="MRR")["near ties"].figures
    best, worst = [], []
    for query, row in run.items():
        (positive,) = judged[query]
        others = [score for document, score in row.items() if document != positive]
        step = 2.0**-24  # a step of float32
        best.append(1 / (1 + sum(other > row[positive] + step for other in others)))
        worst.append(1 / (1 + sum(other >= row[positive] - step for other in others)))
    assert figures["lower"]["MRR"] == pytest.approx(np.mean(worst), rel=1e-15)
    assert figures["upper"]["MRR"] == pytest.approx(np.mean(best), rel=1e-15)


STEPS = {  # scores of a precision, from the positions of its numbers
    "float16": lambda positions: (positions + 15000).astype(np.int16).view(np.float16),
    "bfloat16": lambda positions: ((positions.astype(np.uint32) + 16000) << 16).view(np.float32),
    "float32": lambda positions: (positions.astype(np.uint32) + 1062000000).view(np.float32),
    "2 decimals": lambda positions: [[float(f"{position / 100:.2f}") for position in row] for row in positions],
    "5 decimals": lambda positions: [
        [float(f"{(position + 10**6) / 10**5:.5f}") for position in row] for row in positions
    ],
}


@pytest.mark.parametrize("precision", STEPS)
def test_near_ties_are_a_step_of_the_precision_of_the_scores(precision: str) -> None:
    """Counted on the integers that the scores were made of: 0.12 and 0.13 are a step of two decimals apart, too."""
    rng = np.random.default_rng(9)
    positions = rng.permuted(np.tile(np.arange(1, 40), (30, 1)), axis=1)[:, :25] * rng.integers(1, 3, (30, 1))
    run = {f"q{q}": {f"d{d}": float(s) for d, s in enumerate(row)} for q, row in enumerate(STEPS[precision](positions))}
    report = dh.audit_run(run, {query: {"d3": 1} for query in run}, measures="MRR")
    figures, positives = report["near ties"].figures, positions[:, 3:4]
    above, joined = (positions > positives + 1).sum(axis=1), (abs(positions - positives) <= 1).sum(axis=1)
    assert figures["precision"] == precision
    assert figures["queries"] == np.count_nonzero(joined > 1) < 30
    assert f"differ by one step of {precision} at most" in report["near ties"].sentence
    assert figures["lower"]["MRR"] == pytest.approx(np.mean(1 / (above + joined)), rel=1e-15)
    assert figures["upper"]["MRR"] == pytest.approx(np.mean(1 / (above + 1)), rel=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_how_likely_positives_come_first(seed: int) -> None:
    """The mean and the variance over all orders of a list, counted."""
    rng = np.random.default_rng(seed)
    marks = rng.permutation([1] * int(rng.integers(1, 4)) + [0] * int(rng.integers(1, 4)))
    names = [f"d{i}" for i in range(len(marks))]
    judged = {"q": {name: int(mark) for name, mark in zip(names, marks, strict=True)}}
    orders = list(permutations(names))
    hits = [First.of({"q": dict.fromkeys(order, 1.0)}, judged).relevant_first for order in orders]
    mean = Fraction(sum(hits), len(orders))
    outcome = First.of({"q": dict.fromkeys(names, 1.0)}, judged)
    assert outcome.likely == pytest.approx(float(mean))
    assert outcome.std**2 == pytest.approx(float(mean * (1 - mean)))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda score: 1.0 if score > 0.8 else score, "scores of exactly 1"),
        (lambda score: 0.0 if score < 0.2 else score, "scores of exactly 0"),
        (lambda score: float(np.float16(score)), "scores in float16"),
        (lambda score: round(score * 64) / 64 + 1 / 128, "scores in bfloat16"),
        (lambda score: round(4 * score), "few distinct scores"),
    ],
)
def test_what_scores_look_like(change: Any, name: str) -> None:
    outcome = dh.audit_run(changed(change))
    assert name in outcome
    assert (outcome.report, outcome.tables()) == (None, [])
    json.loads(outcome.to_json())


def test_what_is_no_saturation_and_no_short_type() -> None:
    looks = Looks.of(changed(lambda score: 1.0 if score > 0.8 else 20 * score))
    assert (looks.at_zero, looks.at_one) == (0, 0)  # logits
    assert Looks.of(changed(lambda score: float(np.float32(score)))).dtype == "float32"
    assert Looks.of(changed(lambda score: round(1000 * score))).dtype is None  # integers
    assert "scores in float32" not in dh.audit_run(changed(lambda score: float(np.float32(score))))
    assert Looks.of({"q": {"a": 10**400, "b": 1}}).n_score == 2
    assert Looks.of({"q": {"a": 0.5}}).constant == 0  # one document cannot tie


@pytest.mark.parametrize("seed", range(6))
def test_every_rule_is_an_order_of_the_ties(seed: int) -> None:
    """By definition, and inside the bounds; the order by id is trec_eval's."""
    rng = np.random.default_rng(seed)
    run = {f"q{q}": {f"d{d}": int(rng.integers(3)) for d in rng.permutation(6)} for q in range(5)}
    judged = {query: {f"d{d}": int(rng.integers(2)) for d in range(6)} | {"d0": 1} for query in run}
    report = dh.evaluate(dh.from_run(run, judged), ["MRR", "mAP"])
    for rule in RULES:
        values = by_rule(rule, run, judged, ["MRR", "mAP"], "skip")
        reciprocal = []
        for query, row in run.items():
            ranked = RULES[rule](row)
            assert sorted(row.values(), reverse=True) == [row[d] for d in ranked]
            reciprocal.append(1 / next(rank for rank, d in enumerate(ranked, 1) if judged[query][d]))
        assert values["MRR"] == pytest.approx(np.mean(reciprocal))
        for name in values:
            assert report[name].lower - 1e-12 <= values[name] <= report[name].upper + 1e-12
    row = {"b": 1, "a": 1, "c": 1, "z": 2}
    orders = [["z", *ties] for ties in ("bac", "cab", "abc", "cba")]
    assert [rank(row) for rank in RULES.values()] == orders


def test_by_id_descending_is_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(0)
    run = {f"q{q}": {f"d{d}": float(rng.integers(3)) for d in rng.permutation(8)} for q in range(20)}
    judged = {query: {f"d{d}": int(rng.integers(2)) for d in range(8)} | {"d0": 1} for query in run}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank", "map"}).evaluate(run)
    ours = by_rule("by id, descending", run, judged, ["MRR", "mAP"], "skip")
    assert ours["MRR"] == pytest.approx(np.mean([each["recip_rank"] for each in theirs.values()]))
    assert ours["mAP"] == pytest.approx(np.mean([each["map"] for each in theirs.values()]))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same constant scores as TREC, BEIR's and MTEB's files, and the qrels."""
    run, judged = CONSTANT, JUDGED
    texts = {
        "trec": "".join(f"{q} Q0 {d} {i} {s} tag\n" for q, row in run.items() for i, (d, s) in enumerate(row.items())),
        "beir": json.dumps(run, indent=2),
        "mteb": json.dumps({"mteb_model_meta": {}, "default": {"test": run, "dev": RUN}}),
        "qrels": "".join(f"{q} 0 {d} {g}\n" for q, row in judged.items() for d, g in row.items()),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def test_all_files_of_scores(files: dict[str, Path]) -> None:
    run = dh.audit_run(CONSTANT, JUDGED).to_dict()
    for file, options in ((files["trec"], {}), (files["beir"], {}), (str(files["mteb"]), {"split": "test"})):
        assert dh.audit_run(file, files["qrels"], **options).to_dict() == run  # type: ignore[arg-type]
    assert dh.audit_run(files["mteb"], split="dev").passes(strict=True)


def test_command(files: dict[str, Path]) -> None:
    done = calling.run("audit-run", files["beir"], files["qrels"], "-m", "MRR@10")
    assert done.exit_code == 1
    assert "SERIOUS: constant scores" in done.output
    assert "ties by id, descending" in done.output
    assert calling.run("audit-run", files["mteb"], "--split", "dev", "--strict").exit_code == 0
    assert json.loads(calling.run("audit-run", files["trec"], "--json", "-").output)["counts"]["serious"] == 1
    assert calling.run("audit-run", files["mteb"]).exit_code == 2
