"""Runs as engines, vector stores and notebooks have them: lists of hits, lists in columns, columns of other names."""

from __future__ import annotations

import gzip
import json
import re
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from cli.calling import passed
from cli.calling import reason as refused

import deadheat as dh
from deadheat.errors import FileError, InputError
from deadheat.inputs import row_columns, trec

SCORED = {"q": {"a": 0.5, "7": 0.25}}
IN_ORDER = {"q": {"a": -1, "7": -2}}


class Hit(NamedTuple):
    docid: str
    score: float


ELASTIC = {
    "took": 3,
    "hits": {"total": {"value": 2}, "hits": [{"_id": "a", "_score": 0.5}, {"_id": "7", "_score": 0.25}]},
}
HITS: dict[str, Any] = {
    "dictionaries": [{"docid": "a", "score": 0.5}, {"docid": 7, "score": 0.25}],
    "Elasticsearch": ELASTIC,
    "its hits": ELASTIC["hits"],
    "pairs": [("a", 0.5), ("7", np.float32(0.25))],
    "pairs as JSON has them": [["a", 0.5], ["7", 0.25]],
    "named tuples": [Hit("a", 0.5), Hit("7", 0.25)],
    "objects": [SimpleNamespace(id="a", score=0.5), SimpleNamespace(id=7, score=0.25)],
    "a response": SimpleNamespace(points=[SimpleNamespace(id="a", score=0.5), SimpleNamespace(id=7, score=0.25)]),
    "numbers by document": {"a": 0.5, "7": 0.25},
}
NO_SCORES: dict[str, Any] = {
    "ids": ["a", 7, -1],
    "array": np.array(["a", "7"]),
    "without scores": [{"doc_id": "a", "text": "x"}, {"doc_id": "7"}],
    "LongMemEval": {"query": "x", "ranked_items": [{"corpus_id": "a"}, {"corpus_id": "7"}], "metrics": {"session": {}}},
}


@pytest.mark.parametrize(("form", "hits"), [*HITS.items(), *NO_SCORES.items()])
def test_hits_of_a_query_are_the_same_table(form: str, hits: Any, tmp_path: Path) -> None:
    want, said = (SCORED, None) if form in HITS else (IN_ORDER, row_columns.IN_ORDER)
    table = trec.open_run({"q": hits, "none": []})
    assert table == {**want, "none": {}}
    assert [remark for remark in trec.remarks_of(table) if remark == row_columns.IN_ORDER] == [said] * (
        said is not None
    )
    with suppress(TypeError):  # of objects
        text = json.dumps(hits)
        for content in (
            f'{{"q": {text}}}',
            f'{{"qid": "q", "x": 1, "hits": {text}}}\n',
            f'[{{"qid": "q", "docs": {text}}}]',
        ):
            for packed in (content.encode(), gzip.compress(content.encode())):
                (tmp_path / "run").write_bytes(packed)
                assert trec.open_run(tmp_path / "run") == want


def test_hits_with_equal_scores_tie_and_need_no_ids_of_queries() -> None:
    hits = [[{"_id": "a", "_score": 1.5}, {"_id": "b", "_score": 1.5}], [("c", 0.25)], []]
    task = dh.from_lists(hits, [["b"], ["c"], ["d"]])
    result = dh.evaluate(task, "RR")["RR"]
    assert (result.lower, result.expected, result.upper) == (0.5, 1.75 / 3, 2 / 3)
    same = dh.from_run(dict(enumerate(hits)), {0: {"b": 1}, 1: {"c": 1}, 2: {"d": 1}})
    assert task.profile == same.profile
    assert row_columns.IN_ORDER not in str(dh.evaluate(same))
    assert row_columns.IN_ORDER in str(dh.evaluate(dh.from_run({"q": ["a", "b"]}, {"q": {"b": 1}})))


RECORD = {
    "question_id": "q", "question_type": "multi-session", "question": "x", "answer": "y",
    "haystack_session_ids": ["s1", "s2"], "haystack_sessions": [[{"role": "user"}]], "answer_session_ids": ["s2", "s3"],
    "retrieval_results": NO_SCORES["LongMemEval"] | {
        "ranked_items": [{"corpus_id": "s1", "text": "t", "timestamp": "d"}, {"corpus_id": "s2", "text": "t"}]},
}  # fmt: skip


def test_a_log_of_longmemeval_has_the_run_and_its_gold(tmp_path: Path) -> None:
    """Of its `run_retrieval.py`: a line for each question, whose evidence is `answer_session_ids`."""
    path = tmp_path / "log"
    path.write_text("".join(json.dumps(RECORD | {"question_id": name}) + "\n" for name in ("q", "r")))
    result = dh.evaluate(dh.from_run(path, path), "Recall@2 RR")
    assert (result["Recall@2"].expected, result["RR"].expected) == (0.5, 0.5)
    datasets = pytest.importorskip("datasets")
    for held in ([RECORD], datasets.Dataset.from_list([RECORD])):
        assert trec.open_run(held) == {"q": {"s1": -1, "s2": -2}}
        assert trec.open_qrels(held) == {"q": {"s2": 1, "s3": 1}}


def test_a_log_with_names_of_its_own(tmp_path: Path) -> None:
    """Two lists in a line: usual names of both are found, others are named, and a message says what it needs."""
    path = tmp_path / "log"
    hits = [{"id": "a", "score": 0.5}, {"id": "7", "score": 0.25}]
    record = {"id": "q", "type": "x", "retrieved": hits, "gold": ["7"]}
    for name in ("retrieved", "ranked_ids"):
        path.write_text(json.dumps({"question_id": "q", name: hits, "relevant_ids": ["7"]}))
        assert (trec.open_run(path), trec.open_qrels(path)) == (SCORED, {"q": {"7": 1}})
    path.write_text(json.dumps(record))
    assert trec.open_run(path, columns={"query": "id"}) == SCORED  # though a hit has such a field too
    assert trec.open_qrels(path, columns={"query": "id", "document": "gold"}) == {"q": {"7": 1}}
    path.write_text(f"{json.dumps(record)}\n{json.dumps(record | {'id': 'r'})}\n")
    needed = {trec.open_run: "a list of hits, under hits or results", trec.open_qrels: "a list relevant_ids"}
    for read, lists in needed.items():
        with pytest.raises(FileError, match=f"must have query_id and {lists}, but has a dict of id, type, retrieved"):
            read(path)


def test_data_sets_of_hugging_face() -> None:
    datasets = pytest.importorskip("datasets")
    held = datasets.Dataset.from_dict({"query-id": ["q", "q"], "corpus-id": ["a", "7"], "score": [0.5, 0.25]})
    assert trec.open_run(held) == trec.open_run(held.to_iterable_dataset()) == trec.open_run(held[:]) == SCORED
    other = held.rename_columns({"query-id": "x", "corpus-id": "y"})
    assert trec.open_run(other, columns={"query": "x", "document": "y"}) == SCORED
    with pytest.raises(InputError, match=r"but has Dataset for 'test': give it alone, \['test'\]"):
        trec.open_run(datasets.DatasetDict({"test": held}))


KAGGLE = {"query": "id", "document": "predictions", "separator": " "}
BLAST = "# BLASTN\nq\ta\t99.0\t1\t2\t3\t4\t5\t6\t7\t1e-9\t0.5\nq\t7\t98\t1\t2\t3\t4\t5\t6\t7\t1e-8\t0.25\n"


@pytest.mark.parametrize(
    ("text", "columns", "want"),
    [
        ("id,predictions\nq,a  7\n", KAGGLE, IN_ORDER),
        ("id,predictions\nq,a 7\nr,\n", KAGGLE, IN_ORDER | {"r": {}}),
        ('id,predictions,p\nq,"a, 7","0.5,0.25"\n', KAGGLE | {"separator": ",", "score": "p"}, SCORED),
        ("id;document;sim\nq;a;0.5\nq;7;0.25\n", {"query": "id", "document": "document", "score": "sim"}, SCORED),
        ("score|qid|hit|sim\n9|q|a|0.5\n8|q|7|0.25\n", {"document": "hit", "score": "sim"}, SCORED),
        (BLAST, {"query": 0, "document": 1, "score": 11}, SCORED),
        (BLAST, {"query": 0, "document": 1, "score": 10, "order": "ascending"}, {"q": {"a": -1e-9, "7": -1e-8}}),
        ("qid,docid,rank\nq,a,1\nq,7,2\n", {"order": "descending"}, IN_ORDER),
        (
            '{"q": [{"id": "a", "distance": 1}, {"id": "7", "distance": 2}]}',
            {"score": "distance", "order": "ascending"},
            IN_ORDER,
        ),
        ('{"q": {"a": 1, "7": 2}}', {"order": "ascending"}, IN_ORDER),
        ('{"id": "q", "hits": {"a": 0.5, "7": 0.25}}', {"query": "id"}, SCORED),
        ('{"id": "q", "found": [["a", 0.5], ["7", 0.25]]}', {"query": "id", "document": "found"}, SCORED),
        ("q,x,0.5,a\nq,x,0.25,7\n", {"query": 0, "document": 3, "score": 2}, SCORED),
        ("q  a   0.5\nq 7 0.25\n", {"query": 0, "document": 1, "score": 2}, SCORED),
        ("q\ta|7\n", {"query": 0, "document": 1, "separator": "|"}, IN_ORDER),
        ('{"id": "q", "predictions": ["a", "7"]}', {"query": "id", "document": "predictions"}, IN_ORDER),
        (
            '{"id": "q", "hits": [{"key": "a", "s": 0.5}, {"key": "7", "s": 0.25}]}',
            {"query": "id", "score": "s"},
            SCORED,
        ),
    ],
)
def test_one_map_of_columns(text: str, columns: dict[str, Any], want: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert trec.open_run(path, columns=columns) == want


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("id,predictions\nq,a 7\n", {"query": "id"}, "run must have id, doc_id, score, but has columns id"),
        ("id,predictions\nq,a 7\n", {"query": "idd", "document": "predictions"}, "must have idd, predictions, score"),
        ("id,x\nq,a 7\n", {"query": "id", "document": "x"}, "if 'x' holds lists, add their separator"),
        ("id,x,s\nq,a 7,1\n", {"query": "id", "document": "x", "score": "s", "separator": " "}, "has 1 for 2"),
        (BLAST, {"query": 0, "document": 1, "score": 12}, "run must have 0, 1, 12, but has columns 0, 1, 2"),
        (BLAST, None, 'number its columns, as columns={"query": 0, "document": 1, "score": 11} (--column query=0'),
        (BLAST, {"query": "id", "document": "x"}, "has no names of columns in its first line"),
        ("q 0 a 1 0.5 t\n", {"order": "ascending"}, "has no names of columns in its first line"),
        (BLAST, {"order": "up"}, "order must be one of descending, ascending, but is 'up'"),
        ("q 0 a 1 0.5 t\n", {"separator": " "}, "has no names of columns in its first line"),
        (BLAST, {"query": 0}, "columns must have names alone, or places alone, of query and document too"),
        (BLAST, {"query": 0, "document": "x"}, "columns must have names alone, or places alone"),
        (BLAST, {"query": 0, "document": -1}, "the name of a column, or its place from 0 as document, but has -1"),
        (BLAST, {"queri": 0}, "columns must be one of query, document, score, separator, order, but is"),
        (BLAST, "id", 'columns must be a dictionary such as {"query": "id", "document": "predictions"}'),
        ('{"q": {"a": 1}}', {"document": "a"}, "columns must be left out, as these documents of the run"),
        ('{"q": [{"id": "a", "score": 1}]}', {"query": "x"}, "columns must be left out, as these documents of the run"),
        ('{"q": [["a", 0.5]]}', {"score": "s"}, "columns must be left out, as these documents of the run"),
    ],
)  # fmt: skip
def test_a_map_that_does_not_fit_is_refused(text: str, columns: Any, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises((FileError, InputError), match=re.escape(said)):
        trec.open_run(path, columns=columns)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"q": 3}, "run must hold a dictionary, or a list of hits, for each query, but has int for 'q'"),
        ({"q": "ab"}, "run must hold a dictionary, or a list of hits, for each query, but has str for 'q'"),
        (
            {"q": [{"text": "a"}]},
            "run must have the id of a document in each hit, but has a dict of text for query 'q'",
        ),
        ({"q": [(1, 2), (3, 4)]}, "run must have the id of a document in each hit, but has a tuple for query 'q'"),
        ({"q": [{"id": "a", "score": None}]}, "score must be a number, but is of type NoneType"),
        ({"q": [{"id": "a", "score": 1.0}, {"score": 2.0}]}, "the id of a document must be a string or an integer"),
        ({"q": ["a"], "r": [("b", 0.5)]}, "run must have scores, or none, but has both"),
        ({"q": [{"id": "a", "rank": 1}], "r": [("b", 0.5)]}, "a score in each line, or a rank in each, but has both"),
        ({"q": {"a": [1, 2], "b": [3]}}, "run must hold a dictionary, or a list of hits, for each query"),
    ],
)
def test_hits_that_do_not_fit_are_refused(run: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        trec.open_run(run)


def test_qrels_have_a_map_of_their_own(tmp_path: Path) -> None:
    table = {"session": ["q", "q"], "article": ["a", "b"], "bought": ["2026-01-01", "2026-01-02"]}
    frame = pytest.importorskip("pandas").DataFrame(table)
    columns = {"query": "session", "document": "article"}
    assert trec.open_qrels(frame, columns=columns) == trec.open_qrels(table, columns=columns) == {"q": {"a": 1, "b": 1}}
    lists = {"query_id": ["q"], "doc_id": ["a;b"], "relevance": [2]}
    assert trec.open_qrels(lists, columns={"separator": ";"}) == {"q": {"a": 2, "b": 2}}
    run, qrels = tmp_path / "run.csv", tmp_path / "truth.csv"
    run.write_text("id,predictions\nq,b a\n")
    qrels.write_text("id,truth\nq,a c\n")
    truth = {"query": "id", "document": "truth", "separator": " "}
    task = dh.from_run(run, qrels, columns=KAGGLE, qrels_columns=truth)
    assert dh.evaluate(task, "RR")["RR"].expected == 0.5
    assert dh.audit_run(run, qrels, columns=KAGGLE, qrels_columns=truth).report["MRR@10"].expected == 0.5
    options = [
        f"--{kind}column={role}={name}"
        for kind, given in (("", KAGGLE), ("qrels-", truth))
        for role, name in given.items()
    ]
    assert "50.00" in passed("run", qrels, run, "-m", "RR", *options)
    assert "50.00" in passed("compare", run, run, "--name", "a", "--name", "b", "--qrels", qrels, "-m", "RR", *options)
    assert (
        refused("run", qrels, run, "--column", "query")
        == "--column must be a role and its column, such as query=id, but is 'query'"
    )
    assert "--column must be given once for each role" in refused("run", qrels, run, *["--column=query=id"] * 2)
    assert "qrels_columns must be one of" in refused("run", qrels, run, "--qrels-column", "score=x").replace(
        "--qrels-column", "qrels_columns"
    )


JSON_LINES = """
{"qid": "q\\u0020x", "x": 1, "docid": "a", "score": 1}
{"qid": "#q", "x": 1, "docid": "a", "score": 1}
{"qid": 7, "x": null, "docid": -0, "score": -0}
{"qid": "q", "x": "y, z", "docid": "b", "score": 1e3}
{"qid": "q", "x": 1, "docid": "c d", "score": 12345678901234567}
{"qid":"q","x":1,"docid":"é","score":1}
{"x": 1, "qid": "q", "docid": "e", "score": 1}
{"qid": "q", "x": 1, "docid": "f", "score": 1e999}
{"qid": "q", "x": 1, "docid": "g", "score": NaN}
{"qid": "q", "x": 1, "docid": "h", "score": 01}
{"qid": "q", "x": [1], "docid": "i", "score": 1}
{"qid": "q", "x": 1, "docid": "j", "score": "1"}
{"qid": "q", "qid": "q", "x": 1, "docid": "k", "score": 1}
{"qid": "q", "x": 1, "docid": "", "score": 1}
{"qid": "q", "x": 1, "docid": 007, "score": 1}
{"qid": "q", "x": "a\\"b", "docid": -7, "score": -1.5E+2}
{"qid": "q", "x": false, "docid": "l", "score": 1.}
{"qid": "q", "x": "\\u00e9", "docid": "m", "score": 1} 2
{"qid": "q", "x": 1, "docid": "n", "score": 1, "y": 2}
{
"""
CELLS = """
q,1,a b,1
#q,1,a,1
"q",1,"b,c",1
q,,d,1_0
q,1,e
q,1,f,nan
q,1,g,1e5
q,1,h,x
,1,i,1
q,1,é,1
q,1,j,1,2
q,1,k, 1
q,1,l,12345678901234567
q,"1,m",x,1
"""
ODD = {"JSON": JSON_LINES.split("\n"), "header": CELLS.split("\n")}


@pytest.mark.parametrize("form", ODD)
@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_fast_and_slow_reading_agree(form: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same table and the same message, whatever a line has that is not plain."""
    monkeypatch.setattr(trec, "_BLOCK", 300)
    path, read = tmp_path / "file", trec.open_run if kind == "run" else trec.open_qrels
    name, fast, n_fast = ("score" if kind == "run" else "rel"), trec._read_plain_lines, 0
    plain = [(f"q{i // 5}", f"d{i}", i) for i in range(30)]
    for odd in [None, *ODD[form], "\ufeff"]:
        if form == "JSON":
            lines = [json.dumps({"qid": q, "x": None, "docid": d, name: s}) for q, d, s in plain]
        else:
            lines = [f"{q},,{d},{s}" for q, d, s in plain]
        lines[20:20] = [] if odd in (None, "\ufeff") else [odd.replace("score", name)]
        lines = ["qid,x,docid," + name] * (form == "header") + lines
        for end in ("\n", "\r\n"):
            path.write_bytes(("\ufeff" * (odd == "\ufeff") + end.join(lines) + end).encode())
            outcomes = []
            for reading in (fast, lambda *_: None):
                monkeypatch.setattr(trec, "_read_plain_lines", reading)
                try:
                    outcomes.append([(query, list(row.items())) for query, row in read(path).items()])
                except (FileError, InputError) as error:
                    outcomes.append(str(error))
            assert outcomes[0] == outcomes[1]
        columns = row_columns.RowColumns(kind)
        n_fast += fast(path, trec._RUN if kind == "run" else trec._QRELS, trec.PLAIN, columns) is not None
    assert n_fast >= 2
