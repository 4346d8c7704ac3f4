"""Runs and qrels in every form that the field stores them in: one table of names, one reader, the same numbers."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import FileError, InputError
from deadheat.inputs import rows, trec

RUN = {"q1": {"7": 0.5, "d 2": 0.25}, "q2": {"7": 1.0}}
QRELS = {"q1": {"7": 1, "d 2": 0}, "q2": {"7": 2}}


def lines(table: dict[str, dict[str, Any]], head: str, between: str) -> str:
    body = [between.join((query, item, str(value))) for query, row in table.items() for item, value in row.items()]
    return "\n".join([head, *body, ""])


def jsonl(records: list[Any]) -> str:
    return "\n".join(map(json.dumps, records)) + "\n"


def flat(table: dict[str, dict[str, Any]], names: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [dict(zip(names, (q, d, v), strict=True)) for q, row in table.items() for d, v in row.items()]


FORMS: dict[str, Callable[[dict[str, dict[str, Any]], str], str]] = {
    "BEIR": lambda table, _: lines(table, "query-id\tcorpus-id\tscore", "\t"),
    "commas": lambda table, _: lines(table, '"qid",docno,score', ","),
    "recommenders": lambda table, kind: lines(
        table, f"userID,itemID,{'prediction' if kind == 'run' else 'rating'}", ","
    ),
    "JSON": lambda table, _: json.dumps(table),
    "JSON in lines": lambda table, _: json.dumps(table, indent=1),
    "rows of JSON": lambda table, _: jsonl(flat(table, ("query_id", "doc_id", "score"))),
    "queries of JSON": lambda table, _: jsonl([{query: row} for query, row in table.items()]),
    "named queries of JSON": lambda table, _: jsonl([{"qid": q, "text": "x", "hits": r} for q, r in table.items()]),
    "listed documents of JSON": lambda table, _: jsonl(
        [{"qid": q, "candidates": [{"docid": d, "score": v} for d, v in row.items()]} for q, row in table.items()]
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["run", "qrels"])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_form_of_a_file_is_the_same_table(form: str, kind: str, zipped: bool, tmp_path: Path) -> None:
    table: Any = RUN if kind == "run" else QRELS
    data = FORMS[form](table, kind).encode()
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(data) if zipped else b"\xef\xbb\xbf" * (form in ("BEIR", "commas")) + data)
    assert (trec.open_run if kind == "run" else trec.open_qrels)(path) == table


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_parquet_is_known_by_its_first_bytes(kind: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table: Any = RUN if kind == "run" else QRELS
    path, read = tmp_path / "no-ending", trec.open_run if kind == "run" else trec.open_qrels
    listed = flat(table, ("query-id", "corpus-id", "score"))
    columns = {name: [row[name] for row in listed] for name in listed[0]}
    parquet.write_table(pyarrow.table({"split": ["test"] * len(listed)} | columns), path)
    assert read(path) == table
    parquet.write_table(pyarrow.table({"user_id": [1, 1, 1], "item_id": [2, 3, 3], "score": [1, 1, 2]}), path)
    with pytest.raises(FileError, match=r"row 3: document '3' must be listed once for query '1', but has 1 in row 2"):
        read(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        read(path)
    parquet.write_table(pyarrow.table({"id": [1], "emb": [2.0]}), path)
    with pytest.raises(InputError, match=rf"{kind} must have query_id, doc_id, .*, but has columns id, emb"):
        read(path)


def test_ranks_of_ms_marco_are_positions(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run.tsv", tmp_path / "qrels.tsv"
    run.write_text("1\t10\t1\n1\t11\t2\n1\t12\t3\n2\t10\t1\n")
    qrels.write_text("# two columns\n1\t12\n2\t10\n")
    assert trec.open_run(run) == {"1": {"10": -1, "11": -2, "12": -3}, "2": {"10": -1}}
    assert trec.open_qrels(qrels) == {"1": {"12": 1}, "2": {"10": 1}}
    result = dh.evaluate(dh.Task.from_run(run, qrels), "MRR@10")["RR@10"]
    assert {result.lower, result.expected, result.upper} == {float((Fraction(1, 3) + 1) / 2)}
    run.write_text("qid,pid,rank\n1,10,1\n1,11,2\n")
    assert trec.open_run(run) == {"1": {"10": -1, "11": -2}}
    run.write_text("1\t10\t1\n1\t11\tx\n")
    with pytest.raises(FileError, match=r"line 2: rank must be a number, but is 'x'"):
        trec.open_run(run)
    qrels.write_text("1\t12\n2\t10\t1\n")
    with pytest.raises(FileError, match=r"line 2: a line must have 2 fields \(qid pid\), but has 3"):
        trec.open_qrels(qrels)


@pytest.mark.parametrize("form", [trec._RANKS, trec._PAIRS])
def test_both_ways_of_reading_ms_marco_agree(form: Any, tmp_path: Path) -> None:
    lines = [f"{i % 3}\t{i}" + f" \t{i + 1}" * (form is trec._RANKS) for i in range(20)]
    for odd in ("", "#5 7 9", "  4 7 9", "4 7 9 9", "4", "4 7", "4 5 1_0", "4\x0b8 1", "0 0", "0 0 1", "é 7 8"):
        path = tmp_path / "file"
        path.write_text("\n".join([*lines, odd, "7 8" + " 9" * (form is trec._RANKS)]))
        outcomes = []
        for read in (trec._read, trec._read_one_by_one):
            try:
                outcomes.append(repr(read(path, form)))
            except FileError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


class Prediction(NamedTuple):
    userID: int
    itemID: int
    prediction: float


class Rated(NamedTuple):
    user_id: np.int64
    item_id: np.int64
    rating: float


def test_integer_ids_are_their_decimal_text() -> None:
    run = [Prediction(1, 7, 0.5), Prediction(1, -8, 0.25)]
    expected = {"1": {"7": 0.5, "-8": 0.25}}
    frame = pytest.importorskip("pandas").DataFrame(run)
    for given in (run, frame, {1: {7: 0.5, -8: 0.25}}, {np.int64(1): {"7": 0.5, "-8": 0.25}}, frame.to_dict("records")):
        assert trec.open_run(given) == expected
    assert trec.open_qrels([Rated(np.int64(1), np.int64(7), 5.0)]) == {"1": {"7": 5}}
    assert trec.open_qrels(frame[["userID", "itemID"]]) == {"1": {"7": 1, "-8": 1}}
    for odd in (7.0, None, True, ("7",)):
        with pytest.raises(InputError, match="the id of a document must be a string or an integer, but is "):
            trec.open_run({"q": {odd: 1.0}})


def test_an_integer_and_its_text_are_one_document_said_once() -> None:
    report = dh.evaluate(dh.Task.from_run({"q": {7: 0.5, 8: 0.25}}, {"q": {"8": 1}}), "MRR")
    assert report["RR"].expected == 0.5
    said = 'Ids of a document are integers and text: 7 and "7" are one document.'
    assert str(report).count(said) == 1
    assert said not in str(dh.evaluate(dh.Task.from_run({"q": {7: 0.5}}, {"q": {7: 1}}), "MRR"))
    assert trec.open_run({"q": {7: 0.5, "7": 0.5}}) == {"q": {"7": 0.5}}
    with pytest.raises(InputError, match=r"'7' must be listed once for query 'q', but has 0\.5 and 0\.25 here"):
        trec.open_run({"q": {7: 0.5, "7": 0.25}})


def test_doubled_lines_count_once_and_contradicting_ones_are_refused(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    run.write_text("q 0 a 1 0.5 t\nq 0 b 2 0.5 t\nq 0 a 3 0.50 t\n")
    qrels.write_text("q 0 a 1\nq 0 a 1\nq 0 a 1\n")
    report = dh.evaluate(dh.Task.from_run(run, qrels), "MRR")
    assert (report["RR"].lower, report["RR"].expected, report["RR"].upper) == (0.5, 0.75, 1.0)
    assert "1 line of the run repeats what another line says, and counts once." in str(report)
    assert "2 lines of the qrels repeat what another line says, and count once." in str(report)
    run.write_text("# x\nq 0 a 1 0.5 t\nq 0 b 2 0.5 t\nq 0 a 3 0.25 t\n")
    said = "run, line 4: document 'a' must be listed once for query 'q', but has 0.5 in line 2 and 0.25 here"
    with pytest.raises(FileError, match=re.escape(said)):
        trec.open_run(run)
    qrels.write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n\nq\ta\t0\n")
    with pytest.raises(FileError, match=r"line 4: document 'a' must be .* but has 1 in line 2 and 0 here$"):
        trec.open_qrels(qrels)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("qid,docid,score\nq,a\n", "line 2: a line must have 3 fields (qid docid score), but has 2"),
        ("qid,docid,score\nq,a,x\n", "line 2: score must be a number, but is 'x'"),
        ('qid,docid,score\nq,"a,1\n', "line 2: unexpected end of data"),
        ("qid,docid,sim\nq,a,1\n", "run must have query_id, doc_id, score, but has columns qid, docid, sim"),
        ('{"qid": "q", "docid": "a", "score": 1}\n{"qid": "q"\n', "line 2: no JSON: "),
        ('{"qid": "q", "docid": "a", "score": 1}\n[1]\n', "line 2: run must have an object in each line, but has [1]"),
        ('{"qid": "q", "docid": "a", "score": "1"}\n', "line 1: score must be a number, but is '1'"),
        ('{"qid": "q", "docs": ["a", "b"]}\n', "line 1: run must have a score for each document of a query"),
        ('{"qid": "q", "docs": [{"docid": "a"}]}\n', "line 1: run must have query_id, doc_id, score, but has dict"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises((FileError, InputError), match=re.escape(said)):
        trec.open_run(path)


def test_a_query_without_documents_is_a_query(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"qid": "q", "hits": []}\n{"qid": "r", "hits": {}}\n{"s": {}}\n')
    assert trec.open_run(path) == {"q": {}, "r": {}, "s": {}} == trec.open_run({"q": {}, "r": {}, "s": {}})


def test_no_name_is_in_two_columns() -> None:
    queries, documents = ({rows._plain(name) for name in rows.NAMES[role]} for role in ("query", "document"))
    assert not queries & documents
    assert not (queries | documents) & {rows._plain(name) for kind in ("run", "qrels") for name in rows.NAMES[kind]}
