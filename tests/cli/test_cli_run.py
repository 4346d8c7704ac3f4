"""`deadheat run`: its table, trec_eval's lines, several runs, and one line for all that can go wrong."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
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
    report = dh.evaluate(dh.from_run("bm25.run", "qrels.txt"), "AP nDCG@10 P@5")
    for names in (["-m", "AP nDCG@10 P@5"], ["-m", "AP,nDCG@10", "-m", "P_5"], ["-m", "map ndcg_cut.10 P.5"]):
        assert passed("qrels.txt", "bm25.run", *names) == f"{report}\n"
    assert passed("qrels.txt", "bm25.run") == f"{dh.evaluate(dh.from_run('bm25.run', 'qrels.txt'))}\n"
    printed = passed("qrels.txt", "bm25.run", "-m", "AP nDCG@10 P@5", "--json", "-")
    assert json.loads(printed) == json.loads(report.to_json())


def test_each_query(folder: Path) -> None:
    printed = passed("qrels.txt", "bm25.run", "-m", "nDCG@10", "-q")
    assert [line.split()[:2] for line in printed.splitlines()[1:3]] == [["q3", "1"], ["q1", "2"]]
    passed("qrels.txt", "bm25.run", "-m", "AP", "--per-query", "values.csv")
    rows = list(csv.DictReader(Path("values.csv").read_text().splitlines()))
    assert [row["query"] for row in rows] == ["q1", "q2", "q3"]
    assert [row["mAP_lower"] for row in rows] == [repr((1 / 2 + 2 / 3) / 2), "", "0.0"]


def test_lines_of_trec_eval(folder: Path) -> None:
    result = lines("qrels.txt", "bm25.run", "-m", "num_q num_rel,num_ret num_rel_ret map ndcg_cut.10 success", "-q")
    ap, ndcg = ["0.5833"] * 3, ["0.6448", "0.6199", "0.6697"]  # expected, lower, upper
    assert [[name.rstrip(), *rest] for name, *rest in result if rest[0] != "q2"] == [
        ["num_ret", "q1", "3"],
        ["num_rel", "q1", "2"],
        ["num_rel_ret", "q1", "2"],
        ["map", "q1", *ap],
        ["ndcg_cut_10", "q1", *ndcg],
        *(["success_1", "q1", *["0.0000"] * 3], ["success_5", "q1", *["1.0000"] * 3]),
        ["success_10", "q1", *["1.0000"] * 3],
        *(["num_q", "all", "2"], ["num_ret", "all", "4"], ["num_rel", "all", "2"], ["num_rel_ret", "all", "2"]),
        ["map", "all", *["0.2917"] * 3],
        ["ndcg_cut_10", "all", "0.3224", "0.3100", "0.3348"],
        *(["success_1", "all", *["0.0000"] * 3], ["success_5", "all", *["0.5000"] * 3]),
        ["success_10", "all", *["0.5000"] * 3],
    ]
    assert {len(name) for name, *_ in result} == {22}
    assert lines("qrels.txt", "bm25.run", "-m", "utility.2,-1,0,0.5", "-N", "10")[0][2:] == ["5.0000"] * 3
    assert passed("qrels.txt", "bm25.run", "-m", "num_q", "--trec-eval", "-c") == "num_q                 \tall\t3\n"


COUNTED = ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret"]
OFFICIAL = [
    *(*COUNTED, "map", "gm_map", "Rprec", "bpref", "recip_rank", *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11))),
    *(f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
]  # in the order of trec_eval 10.0
SET = [*COUNTED, "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"]


def test_the_blocks_of_trec_eval(folder: Path) -> None:
    result = lines("qrels.txt", "bm25.run")
    assert [name.rstrip() for name, *_ in result] == OFFICIAL
    assert result == lines("qrels.txt", "bm25.run", "-m", "official")
    assert result[:5] == [[f"{name:22}", "all", value] for name, value in zip(OFFICIAL, "x2422", strict=False)]
    assert [len(line) for line in result] == [3] * 5 + [5] * 25
    assert [name.rstrip() for name, *_ in lines("qrels.txt", "bm25.run", "-m", "set")] == SET
    alone = lines("qrels.txt", "bm25.run", "-m", "set", "--only", "lower")
    assert [value for _, _, value in alone[5:]] == ["0.0000", "0.3333", "0.5000", "0.5000", "0.3333", "0.4000"]


def test_all_of_trec_eval_and_what_is_left_out(folder: Path) -> None:
    result = calling.run("run", "qrels.txt", "bm25.run", "--trec-eval", "-m", "all_trec")
    assert result.exit_code == 0
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("deadheat: left out relstring, infAP, binG, ")
    names = [line.split()[0] for line in result.stdout.splitlines()]
    assert names[: len(OFFICIAL)] == OFFICIAL
    assert names[len(OFFICIAL) :][:10:9] == ["recall_5", "gm_bpref"]
    assert names[-8:] == ["success_1", "success_5", "success_10", *SET[6:]]
    assert len(names) == len(set(names)) == 89


def test_each_query_without_a_summary(folder: Path) -> None:
    result = lines("qrels.txt", "bm25.run", "-q", "-n", "--only", "upper", "-m", "official", "-m", "nDCG@7")
    assert {query for _, query, _ in result} == {"q1", "q2"}
    of_one = [name for name in OFFICIAL if name not in ("runid", "num_q", "gm_map")]
    assert [name.rstrip() for name, *_ in result] == [*of_one, "ndcg_cut_7"] * 2


def test_only_the_first_documents(folder: Path) -> None:
    result = lines("qrels.txt", "bm25.run", "-M", "1", "-m", "num_ret map P_5", "--only", "upper")
    assert [value for *_, value in result] == ["2", "0.0000", "0.0000"]
    Path("cut.run").write_text("q1 Q0 a 1 0.5 x\nq1 Q0 c 1 0.5 x\nq1 Q0 b 1 0.7 x\n")
    assert lines("qrels.txt", "cut.run", "-M", "1", "-m", "map")[0][2:] == ["0.5000"] * 3
    reason = refused("qrels.txt", "cut.run", "-M", "2")
    assert reason.startswith("--max-docs must not cut through documents that tie and have different judgements, but ")
    assert "query 'q1' has 2 at rank 2" in reason


def test_ids_in_any_bytes_and_tags_with_blanks(folder: Path) -> None:
    Path("bytes.txt").write_bytes(b"q1 0 caf\xe9 1\nq1 0 caf\xe8 0\n\xff 0 a 1\n")
    Path("bytes.run").write_bytes(b"q1 Q0 caf\xe8 1 9 my run\nq1 Q0 caf\xe9 2 8 my run\n\xff Q0 a 1 9 last one\n")
    result = dh.evaluate(dh.from_run("bytes.run", "bytes.txt"), "RR")
    assert result["RR"].per_query.expected.tolist() == [0.5, 1.0]
    args = ["run", "bytes.txt", "bytes.run", "--trec-eval", "-q", "-m", "runid recip_rank"]
    command = [sys.executable, "-c", "from deadheat.cli.main import main; main()", *args]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert [line.split(b"\t")[1:3] for line in printed.splitlines()] == [
        [b"q1", b"0.5000"], [b"\xff", b"1.0000"], [b"all", b"last"], [b"all", b"0.7500"],
    ]  # fmt: skip
    passed("bytes.txt", "bytes.run", "--per-query", "values.csv")
    assert "\n\\xff," in Path("values.csv").read_text()
    assert "\n\\xff " in passed("bytes.txt", "bytes.run", "-q", "-m", "AP")
    Path("binary.run").write_bytes("q1 Q0 a 1 0.5 x\n".encode("utf-16"))
    rule = "binary.run, line 1: a NUL byte; damaged, or another kind of file?"
    assert refused("bytes.txt", "binary.run") == rule


def test_conventions(folder: Path) -> None:
    def value(*args: str) -> list[str]:
        return lines("qrels.txt", "bm25.run", *args)[-1][2:]

    assert value("-m", "map", "-c") == ["0.1944"] * 3
    assert value("-m", "map", "-c", "--singletons", "skip") == ["0.2917"] * 3
    assert value("-m", "map", "--ties", "float32") == ["0.4028", "0.2917", "0.5000"]
    assert value("-m", "recip_rank", "-l", "2") == ["0.2083", "0.1667", "0.2500"]
    assert lines("qrels.txt", "bm25.run", "-m", "map", "-l", "2")[0][0].rstrip() == "map"
    assert lines("qrels.txt", "bm25.run", "-m", "AP(rel=2)")[0][0].rstrip() == "mAP(rel=2)"
    Path("more.run").write_text(RUN + "q1 Q0 unjudged 1 9 x\n")
    assert lines("qrels.txt", "more.run", "-m", "map", "-J")[-1][2:] == value("-m", "map")


def test_ties_within_a_tolerance(folder: Path) -> None:
    Path("binary.txt").write_text(QRELS.replace("b 2", "b 1"))
    result = lines("binary.txt", "bm25.run", "-m", "map", "--ties", "tolerance=1e-9")[-1][2:]
    assert result == ["   nan", "0.2917", "0.5000"]
    assert lines("binary.txt", "bm25.run", "-m", "map", "--ties", "tolerance=9e-10")[-1][3:] == ["0.2917"] * 2
    rule = "--ties must have tie groups where relevance is graded, but a tolerance has none"
    assert refused("qrels.txt", "bm25.run", "--ties", "tolerance=1") == rule
    rule = "--max-docs must be left out with a tolerance, which has no cut, but is 2"
    assert refused("binary.txt", "bm25.run", "--ties", "tolerance=1", "-M", "2") == rule


def test_several_runs_are_a_leaderboard(folder: Path) -> None:
    printed = passed("qrels.txt", "bm25.run", "dense.run.gz", "-m", "AP P@5", "--n-resamples", "99")
    assert printed.splitlines()[1].split()[:3] == ["a", "dense.run", "1"]
    named = passed("qrels.txt", "bm25.run", "dense.run.gz", "--name", "x", "--name", "y", "--n-resamples", "99")
    assert named.splitlines()[1].split()[:2] == ["a", "y"]


def test_a_page_about_a_run_or_about_two(folder: Path) -> None:
    passed("qrels.txt", "bm25.run", "-m", "AP", "--html", "one.html")
    assert "<h1>bm25</h1>" in Path("one.html").read_text()
    passed("qrels.txt", "bm25.run", "dense.run.gz", "-m", "AP", "--n-resamples", "99", "--html", "two.html")
    assert "<h1>bm25 and dense.run</h1>" in Path("two.html").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("qrels.txt bm25.run --explain", "--explain goes with several RUNs"),
        ("qrels.txt bm25.run bm25.run --interval", "--interval goes with the table of one RUN"),
        ("qrels.txt bm25.run --interval --trec-eval", "--interval goes with the table of one RUN"),
        ("qrels.txt a.run b.run c.run --html x.html", "--html goes with one RUN, or two, but got 3"),
        ("qrels.txt", "run takes QRELS and at least one RUN"),
        ("none.txt bm25.run", "none.txt: No such file or directory"),
        ("bm25.run bm25.run", "bm25.run, line 2: a line must have 4 fields (qid iter docid rel), but has 6: is this a "
                              "run, in the place of qrels?"),
        ("qrels.txt qrels.txt", "qrels.txt, line 2: a line must have 6 fields (qid Q0 docid rank score tag), but has "
                                "4: are these qrels, in the place of a run?"),
        ("qrels.txt bm25.run -m nDGC@10", "unknown measure 'nDGC@10'; did you mean 'nDCG@10'?"),
        ("qrels.txt bm25.run -m num_q", "num_q goes with --trec-eval"),
        ("qrels.txt bm25.run -m official", "runid goes with --trec-eval"),
        ("qrels.txt bm25.run -n", "-n goes with --trec-eval"),
        ("qrels.txt bm25.run --only lower", "--only goes with --trec-eval"),
        ("qrels.txt bm25.run --trec-eval -m infAP", "infAP has no closed form over the orders of ties"),
        ("qrels.txt bm25.run --trec-eval -m iprec_at_recall.0..1", "unknown measure 'iprec_at_recall.0..1'"),
        ("qrels.txt bm25.run --trec-eval -m iprec_at_recall.1.5", "iprec_at_recall needs a recall from 0"),
        ("qrels.txt bm25.run --trec-eval -m relative_P.0", "the cutoff of Recall@k must be an integer"),
        ("qrels.txt bm25.run -R prefs", "Invalid value for '-R': 'prefs' is not 'qrels'"),
        ("qrels.txt bm25.run -M 0", "--max-docs must be at least 1, but is 0"),
        ("qrels.txt bm25.run --trec-eval --json -", "--trec-eval prints lines of its own"),
        ("qrels.txt bm25.run -q --json -", "-q goes with the table or --trec-eval"),
        ("qrels.txt bm25.run bm25.run -q", "-q, --trec-eval and --per-query go with one RUN, but got 2"),
        ("qrels.txt bm25.run bm25.run", "each system must have a name of its own"),
    ],
)  # fmt: skip
def test_refusals(folder: Path, args: str, message: str) -> None:
    assert refused(*args.split()).startswith(message)


def test_the_value_of_trec_eval_next_to_the_bounds(folder: Path) -> None:
    """In q1 documents a and b tie for what is one place in float32, and three with c; b comes first by its id."""
    head, row, *_ = passed("qrels.txt", "bm25.run", "--by-id", "-m", "MRR", "-C", "--ties", "float32").splitlines()
    assert head.split() == ["measure", "(%)", "lower", "expected", "upper", "by", "id"]
    assert [float(cell) for cell in row.split()[1:]] == [50, pytest.approx(83.33), 100, 50]  # c is the last id
    for more in (["--trec-eval"], ["dense.run.gz"]):
        assert refused("qrels.txt", "bm25.run", "--by-id", *more) == "--by-id goes with the table of one RUN"
