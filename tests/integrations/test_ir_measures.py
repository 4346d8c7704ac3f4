"""The provider for ir_measures, against what ir_measures computes by itself."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integrations.needs import needs

import deadheat as dh

pytestmark = [
    needs("ir_measures", "pytrec_eval"),
    pytest.mark.filterwarnings("ignore:ast\\.:DeprecationWarning"),  # of ir_measures' parser under Python 3.12
    pytest.mark.filterwarnings("ignore:Attribute [ns] is deprecated:DeprecationWarning"),
]

PLAIN = [
    "AP", "AP@3", "AP(rel=2)", "AP(judged_only=True)@5", "P@2", "P(rel=2)@5", "P(judged_only=True)@2", "R@3",
    "R(rel=3)@5", "RR", "RR(rel=2)", "Rprec", "Rprec(rel=2,judged_only=True)", "Success@1", "Success(rel=2)@5",
    "nDCG", "nDCG@4", "nDCG(judged_only=True)@4", "nDCG(gains={1:7,2:1})@5", "NumQ", "NumRel",
    "NumRet", "NumRet(rel=2)", "Bpref", "Bpref(rel=2)", "SetP", "SetP(rel=2)", "SetP(relative=True)",
    "SetP(judged_only=True)", "SetR", "SetR(rel=2)", "SetF", "SetF(rel=2,judged_only=True)", "SetAP", "IPrec@0.0",
    "IPrec@1.0", "IPrec@0.5", "IPrec(judged_only=True)@0.25",
]  # fmt: skip
DOCUMENTS = st.sampled_from([f"d{i}" for i in range(9)])
QUERIES = st.sampled_from(["q1", "q2", "q3"])
RUNS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=1))
QRELS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.integers(0, 3), min_size=1))


def module() -> Any:
    from deadheat.integrations import ir_measures

    return ir_measures


def parsed(names: list[str]) -> list[Any]:
    import ir_measures

    module()
    return [ir_measures.parse_measure(name) for name in names]


def by_query(metrics: Any) -> dict[tuple[str, str], float]:
    return {(str(metric.measure), metric.query_id): metric.value for metric in metrics}


@settings(max_examples=40, deadline=None)
@given(run=RUNS, qrels=QRELS)
def test_values_of_pytrec_eval_are_between_the_bounds(run: dict[str, Any], qrels: dict[str, Any]) -> None:
    import ir_measures

    ours, measures = module(), parsed(PLAIN)
    theirs = by_query(ir_measures.pytrec_eval.iter_calc(measures, qrels, run))
    ranked = [measure for measure in measures if not measure.NAME.startswith("Num")]
    bounds = by_query(ours.provider.iter_calc([*map(ours.lower, ranked), *map(ours.upper, ranked)], qrels, run))
    expected = by_query(ours.provider.iter_calc(measures, qrels, run))
    assert expected.keys() == theirs.keys()
    for measure in measures:
        for query in qrels:
            key = (str(measure), query)
            if measure not in ranked:
                assert expected[key] == theirs[key], key
                continue
            if np.isnan(theirs[key]):  # 0 / 0: nothing is relevant, or nothing that was retrieved is judged
                assert expected[key] == 0.0, key
                continue
            least, most = (bounds[str(side(measure)), query] for side in (ours.lower, ours.upper))
            assert least - 1e-12 <= theirs[key] <= most + 1e-12, key
            assert least <= expected[key] <= most, key
            if least == most:
                assert theirs[key] == pytest.approx(least, abs=1e-12), key


@pytest.mark.parametrize("form", ["dictionaries", "named tuples", "iterator", "data frame"])
def test_everything_that_ir_measures_reads(form: str) -> None:
    import ir_measures

    rows = [("q1", "a", 0.5), ("q1", "b", 0.5), ("q2", "a", 1.0)]
    judged = [("q1", "a", 1), ("q2", "a", 0), ("q2", "b", 2), ("q3", "a", 1)]
    run: Any = [ir_measures.ScoredDoc(*row) for row in rows]
    qrels: Any = [ir_measures.Qrel(*row) for row in judged]
    if form == "dictionaries":
        run = {q: {d: s for of, d, s in rows if of == q} for q in ("q1", "q2")}
        qrels = {q: {d: s for of, d, s in judged if of == q} for q in ("q1", "q2", "q3")}
    elif form == "iterator":
        run, qrels = iter(run), iter(qrels)
    elif form == "data frame":
        pandas = pytest.importorskip("pandas", reason="data frames are pandas'")
        run = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        qrels = pandas.DataFrame(judged, columns=["query_id", "doc_id", "relevance"])
    measures = parsed(["RR_lower", "RR", "RR_upper", "NumQ"])
    aggregated, per_query = module().provider.calc(measures, qrels, run)
    assert [aggregated[measure] for measure in measures] == pytest.approx([0.5 / 3, 0.75 / 3, 1 / 3, 2])
    assert by_query(per_query)["RR_upper", "q1"] == 1


@pytest.mark.parametrize("run", [{}, [], {"q9": {"a": 1.0}}, {"q1": {}}])
@pytest.mark.parametrize("qrels", [{}, [], {"q1": {"a": 1}}, {"q1": {}}, {"q1": {"a": 0}}])
def test_empty_runs_and_qrels(run: Any, qrels: Any) -> None:
    measures = parsed(["AP", "AP_lower@5", "nDCG_upper@10", "NumQ", "NumRet"])
    aggregated, per_query = module().provider.calc(measures, qrels, run)
    assert {metric.query_id for metric in per_query} == ({"q1"} if len(qrels) else set())
    assert all(metric.value == 0 for metric in per_query if metric.measure.NAME not in ("NumQ", "NumRet"))
    assert set(aggregated) == set(measures)


def test_bounds_are_measures_of_ir_measures() -> None:
    import ir_measures
    from ir_measures import AP, P, nDCG

    ours = module()
    assert ours.lower(AP(rel=2) @ 10) == ir_measures.parse_measure("AP_lower(rel=2)@10") == ours.AP_lower(rel=2) @ 10
    assert str(ours.upper(nDCG(dcg="exp-log2") @ 5)) == "nDCG_upper(dcg='exp-log2')@5"
    assert len({AP, ours.AP_lower, ours.AP_upper, P @ 5, ours.P_lower @ 5}) == 5
    assert ir_measures.providers.registry["deadheat"] is ours.provider
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    together = ir_measures.calc_aggregate([AP, ours.AP_lower, ours.AP_upper, P @ 1], qrels, run)
    assert together == {AP: 0.5, ours.AP_lower: 0.5, ours.AP_upper: 1, P @ 1: 0}  # theirs first, by id
    assert ours.AP_upper.calc_aggregate(qrels, run) == 1
    with pytest.raises(ValueError, match=r"measure must be one of AP, P, .*, SetF, SetAP, but is RBP"):
        ours.lower(ir_measures.RBP)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a script of Perl")
def test_values_of_gdeval_are_between_the_bounds() -> None:
    """ERR and the exponential nDCG that ir_measures has of gdeval.pl, which prints five decimals."""
    import ir_measures

    rng = np.random.default_rng(4)
    tables = rng.integers(0, 4, (2, 30, 9)) - np.array([0, 1])[:, None, None]
    run, qrels = (
        {str(i + 1): dict(zip("abcdefghi", row, strict=True)) for i, row in enumerate(t.tolist())} for t in tables
    )
    qrels["1"]["a"] = 4
    ours, measures = module(), parsed(["ERR@1", "ERR@5", "nDCG(dcg='exp-log2')@5"])
    theirs = by_query(ir_measures.gdeval.iter_calc(measures, qrels, run))
    result = [by_query(ours.provider.iter_calc([*map(of, measures)], qrels, run)) for of in (ours.lower, ours.upper)]
    for measure in measures:
        for query in (name for of, name in theirs if of == str(measure) and name in qrels):
            least, most = (
                values[str(of(measure)), query] for values, of in zip(result, (ours.lower, ours.upper), strict=True)
            )
            assert least - 6e-6 <= theirs[str(measure), query] <= most + 6e-6
    assert len(theirs) > 80


def test_real_gains() -> None:
    """As qrels have them, and as those of grades; `rel` is 1 where ir_measures has it, so that 0.5 is below."""
    qrels, run = {"q": {"a": 0.5, "b": 1.5}}, {"q": {"a": 2.0, "b": 1.0, "c": 1.0}}
    measures = parsed(["nDCG@1", "AP", "NumRel"])
    values = module().provider.calc_aggregate(measures, qrels, run)
    assert [round(values[measure], 6) for measure in measures] == [0.333333, 0.416667, 1]
    below = module().provider.calc_aggregate(measures, {"q": {"a": 0.5}}, run)
    assert [below[measure] for measure in measures] == [1, 0, 0]
    graded = parsed(["nDCG(gains={1:0.5,2:1.5})@1"])
    assert module().provider.calc_aggregate(graded, {"q": {"a": 1, "b": 2}}, run)[graded[0]] == values[measures[0]]


def test_what_is_supported() -> None:
    import ir_measures
    from ir_measures import AP, RBP, NumRel, P, nDCG

    ours = module()
    for measure in (
        AP @ 5,
        P(rel=2) @ 5,
        nDCG(gains={1: 0.5}) @ 5,
        ir_measures.ERR @ 10,
        NumRel(rel=2),
        ours.RR_upper(judged_only=True),
    ):
        assert ours.provider.supports(measure), measure
    for measure in (RBP, AP(rel=0), P @ 0, nDCG(gains={1: -0.5}), ir_measures.ERR):
        assert not ours.provider.supports(measure), measure
        with pytest.raises(ValueError, match="must be supported by deadheat"):
            ours.provider.calc_aggregate([measure], {"q": {"a": 1}}, {"q": {"a": 1.0}})


def test_scores_are_rounded_first() -> None:
    ours = module()
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.500000001}}
    assert ours.provider.calc_aggregate([ours.RR_upper], qrels, run) == {ours.RR_upper: 0.5}
    assert ours.DeadheatProvider("float32").calc_aggregate([ours.RR_upper], qrels, run) == {ours.RR_upper: 1}
    with pytest.raises(ValueError, match="ties must have expected values, but a tolerance has none"):
        ours.DeadheatProvider(dh.Tolerance(0.1))


FILES = {
    "run.txt": "q1 Q0 d1 1 0.9 x\nq1 Q0 d2 2 0.7 x\nq1 Q0 d3 3 0.7 x\n",
    "qrels.txt": "q1 0 d3 1\nq1 0 d1 0\n",
}


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    for name, lines in FILES.items():
        (folder / name).write_text(lines)
    words = [sys.executable, "-m", "deadheat.integrations.ir_measures", *arguments]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)


def test_their_command_on_the_page(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "ir-measures.md"
    (block,) = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    line, _, printed = block.removeprefix("$ ").partition("\n")
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "deadheat.integrations.ir_measures"]
    done = command(tmp_path, *words[3:])
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


def test_their_command_has_its_own_options(tmp_path: Path) -> None:
    done = command(tmp_path, "qrels.txt", "run.txt", "AP", "RR_upper", "-q", "-n", "-p", "2")
    assert done.stdout == "q1\tAP\t0.50\nq1\tRR_upper\t0.50\n", done.stderr  # AP is theirs, by id
    wrong = command(tmp_path, "qrels.txt", "run.txt", "AP_middle")
    assert (wrong.returncode, wrong.stdout) == (255, "")
    assert wrong.stderr == "error parsing measures\nunknown measure: AP_middle\n"
    assert (
        "usage: python -m ir_measures" in command(tmp_path).stderr or "usage: __main__.py" in command(tmp_path).stderr
    )
