"""`deadheat run`: its table, trec_eval's lines, several runs, and one line for all that can go wrong."""

from __future__ import annotations

import csv
import gzip
import json
from functools import partial
from pathlib import Path

import pytest
from cli import calling

import deadheat as dh

# Documents a and b are relevant and tied with each other in q1; c is ahead of them in float64 only. The qrels' q3 is
# not in the run, and the run's q9 is not in the qrels; q2 is judged without a relevant document.
QRELS = "# judged by hand\nq1 0 a 1\nq1 0 b 2\nq1 0 c 0\nq2 0 a 0\nq3 0 a 1\n"
RUN = "  # one decimal\nq1 Q0 a 1 0.5 x\nq1 Q0 b 1 0.5 x\nq1 Q0 c 1 0.500000001 x\nq2 Q0 a 1 1 x\nq9 Q0 a 1 1 x\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text(QRELS)
    Path("bm25.run").write_text(RUN)
    Path("dense.run.gz").write_bytes(gzip.compress(RUN.replace("0.5 x", "0.7 x").encode()))
    return tmp_path


run, passed, refused = (partial(call, "run") for call in (calling.run, calling.passed, calling.reason))


def lines(*args: object) -> list[list[str]]:
    return [line.split("\t") for line in passed(*args, "--trec-eval").splitlines()]


def test_table_is_that_of_the_library(folder: Path) -> None:
    report = dh.evaluate_run("bm25.run", "qrels.txt", measures="AP nDCG@10 P@5")
    for names in (["-m", "AP nDCG@10 P@5"], ["-m", "AP,nDCG@10", "-m", "P_5"], ["-m", "map ndcg_cut.10 P.5"]):
        assert passed("qrels.txt", "bm25.run", *names) == f"{report}\n"
    assert passed("qrels.txt", "bm25.run") == f"{dh.evaluate_run('bm25.run', 'qrels.txt')}\n"
    assert json.loads(passed("qrels.txt", "bm25.run", "-m", "AP nDCG@10 P@5", "--json")) == report.to_dict()


def test_each_query(folder: Path) -> None:
    printed = passed("qrels.txt", "bm25.run", "-m", "nDCG@10", "-q")
    assert [line.split()[:2] for line in printed.splitlines()[1:3]] == [["q3", "1"], ["q1", "2"]]
    passed("qrels.txt", "bm25.run", "-m", "AP", "--per-query", "values.csv")
    rows = list(csv.DictReader(Path("values.csv").read_text().splitlines()))
    assert [row["query"] for row in rows] == ["q1", "q2", "q3"]
    assert [row["mAP_lower"] for row in rows] == [repr((1 / 2 + 2 / 3) / 2), "", "0.0"]


def test_lines_of_trec_eval(folder: Path) -> None:
    found = lines("qrels.txt", "bm25.run", "-m", "num_q num_rel,num_ret num_rel_ret map ndcg_cut.10 success", "-q")
    ap, ndcg = ["0.5833"] * 3, ["0.6448", "0.6199", "0.6697"]  # expected, lower, upper
    assert [[name.rstrip(), *rest] for name, *rest in found if rest[0] != "q2"] == [
        ["num_rel", "q1", "2"],
        ["num_ret", "q1", "3"],
        ["num_rel_ret", "q1", "2"],
        ["map", "q1", *ap],
        ["ndcg_cut_10", "q1", *ndcg],
        *(["success_1", "q1", *["0.0000"] * 3], ["success_5", "q1", *["1.0000"] * 3]),
        ["success_10", "q1", *["1.0000"] * 3],
        *(["num_q", "all", "2"], ["num_rel", "all", "2"], ["num_ret", "all", "4"], ["num_rel_ret", "all", "2"]),
        ["map", "all", *["0.2917"] * 3],
        ["ndcg_cut_10", "all", "0.3224", "0.3100", "0.3348"],
        *(["success_1", "all", *["0.0000"] * 3], ["success_5", "all", *["0.5000"] * 3]),
        ["success_10", "all", *["0.5000"] * 3],
    ]
    assert {len(name) for name, *_ in found} == {22}
    assert passed("qrels.txt", "bm25.run", "-m", "num_q", "--trec-eval", "-c") == "num_q                 \tall\t3\n"


def test_conventions(folder: Path) -> None:
    def value(*args: str) -> list[str]:
        return lines("qrels.txt", "bm25.run", *args)[-1][2:]

    assert value("-m", "map", "-c") == ["0.1944"] * 3
    assert value("-m", "map", "-c", "--singletons", "skip") == ["0.2917"] * 3
    assert value("-m", "map", "--score-dtype", "float32") == ["0.4028", "0.2917", "0.5000"]
    assert value("-m", "recip_rank", "-l", "2") == ["0.2083", "0.1667", "0.2500"]
    assert lines("qrels.txt", "bm25.run", "-m", "map", "-l", "2")[0][0].rstrip() == "map"
    assert lines("qrels.txt", "bm25.run", "-m", "AP(rel=2)")[0][0].rstrip() == "mAP(rel=2)"
    Path("more.run").write_text(RUN + "q1 Q0 unjudged 1 9 x\n")
    assert lines("qrels.txt", "more.run", "-m", "map", "-J")[-1][2:] == value("-m", "map")


def test_several_runs_are_a_leaderboard(folder: Path) -> None:
    printed = passed("qrels.txt", "bm25.run", "dense.run.gz", "-m", "AP P@5", "--n-resamples", "99")
    assert printed.splitlines()[1].split()[:3] == ["a", "dense.run", "1"]
    named = passed("qrels.txt", "bm25.run", "dense.run.gz", "--name", "x", "--name", "y", "--n-resamples", "99")
    assert named.splitlines()[1].split()[:2] == ["a", "y"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["qrels.txt"], "run takes QRELS and at least one RUN"),
        (["none.txt", "bm25.run"], "none.txt: No such file or directory"),
        (["bm25.run", "bm25.run"], "bm25.run, line 2: a line must have 4 fields (qid iter docid rel), but has 6"),
        (["qrels.txt", "qrels.txt"], "qrels.txt, line 2: a line must have 6 fields"),
        (["qrels.txt", "bm25.run", "-l", "0"], "rel must be at least 1, but is 0"),
        (["qrels.txt", "bm25.run", "-m", "nDGC@10 AP"], "unknown measure 'nDGC@10'; did you mean 'nDCG@10'?"),
        (["qrels.txt", "bm25.run", "-m", "num_q"], "num_q goes with --trec-eval"),
        (["qrels.txt", "bm25.run", "--score-dtype", "half"], "score_dtype must be one of float32, float64, but is"),
        (["qrels.txt", "bm25.run", "--singletons", "none"], "singletons must be one of skip, zero, one, balanced"),
        (["qrels.txt", "bm25.run", "--trec-eval", "--json"], "--trec-eval prints lines of its own"),
        (["qrels.txt", "bm25.run", "-q", "--json"], "-q goes with the table or --trec-eval"),
        (["qrels.txt", "bm25.run", "bm25.run", "-q"], "-q, --trec-eval and --per-query go with one RUN, but got 2"),
        (["qrels.txt", "bm25.run", "bm25.run"], "each system must have a name of its own"),
        (["qrels.txt", "bm25.run", "--per-query", "x.doc"], "--per-query x.doc must end in one of .csv"),
        (["qrels.txt", "bm25.run", "--json", "bm25.run"], "cannot write bm25.run: it is one of the input files"),
    ],
)
def test_refusals(folder: Path, args: list[str], message: str) -> None:
    assert refused(*args).startswith(message)
