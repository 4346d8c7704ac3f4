"""Runs and qrels in every form that the field stores them in: one table of names, one reader, the same numbers."""

from __future__ import annotations

import gzip
import itertools
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
from deadheat.inputs import row_columns, trec

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
    with pytest.raises(
        FileError, match=r"row 3: .* list document '3' once for query '1', but has \w+ 1 in row 2 and \w+ 2"
    ):
        read(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        read(path)
    parquet.write_table(pyarrow.table({"id": [1], "emb": [2.0]}), path)
    with pytest.raises(FileError, match=rf"no-ending: {kind} must have .*, but has columns id, emb"):
        read(path)


def test_ranks_of_ms_marco_are_positions(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run.tsv", tmp_path / "qrels.tsv"
    run.write_text("1\t10\t1\n1\t11\t2\n1\t12\t3\n2\t10\t1\n")
    qrels.write_text("# two columns\n1\t12\n2\t10\n")
    assert trec.open_run(run) == {"1": {"10": -1, "11": -2, "12": -3}, "2": {"10": -1}}
    assert trec.open_qrels(qrels) == {"1": {"12": 1}, "2": {"10": 1}}
    result = dh.evaluate(dh.from_run(run, qrels), "MRR@10")["RR@10"]
    assert {result.lower, result.expected, result.upper} == {float((Fraction(1, 3) + 1) / 2)}
    run.write_text("qid,pid,rank\n1,10,1\n1,11,2\n")
    assert trec.open_run(run) == {"1": {"10": -1, "11": -2}}
    run.write_text("1\t10\t1\n1\t11\tx\n")
    with pytest.raises(FileError, match=r"line 2: rank must be a number, but is of type str"):
        trec.open_run(run)
    for text in ("1\t10\t0.9\n1\t11\t0.5\n", "1\t10\t30\n1\t11\t20\n", "1\t10\t1\n1\t11\t1\n"):
        run.write_text(text)
        with pytest.raises(
            FileError, match=r"must end in a rank, .* but those of query '1' are others; name the columns"
        ):
            trec.open_run(run)
    qrels.write_text("1\t12\n2\t10\t1\n")
    with pytest.raises(FileError, match=r"line 2: a line must have 2 fields \(qid pid\), but has 3"):
        trec.open_qrels(qrels)


@pytest.mark.parametrize("form", [trec._RANKS, trec._PAIRS])
def test_both_ways_of_reading_ms_marco_agree(form: Any, tmp_path: Path) -> None:
    lines = [f"{i % 3}\t{i}" + f" \t{i + 1}" * (form is trec._RANKS) for i in range(20)]
    lines += [f"{query} first" + " 1" * (form is trec._RANKS) for query in "1247é"]  # a best rank of 1 for each query
    for odd in ("", "#5 7 9", "  4 7 9", "4 7 9 9", "4", "4 7", "4 5 1_0", "4\x0b8 1", "0 0", "0 0 1", "é 7 8"):
        path = tmp_path / "file"
        path.write_text("\n".join([*lines, odd, "7 8" + " 9" * (form is trec._RANKS)]))
        outcomes = []
        for read in (trec._read, trec._read_one_by_one):
            try:
                outcomes.append(repr(read(path, form, trec.Chunks("max"))))
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
    with pytest.raises(
        InputError, match="qrels must have query_id, doc_id, relevance, but has columns userID, itemID, x"
    ):
        trec.open_qrels(frame[["userID", "itemID"]].assign(x=1))
    for odd in (7.0, None, True, ("7",)):
        with pytest.raises(InputError, match="the id of a document must be a string or an integer, but is "):
            trec.open_run({"q": {odd: 1.0}})


def test_an_integer_and_its_text_are_one_document_said_once() -> None:
    report = dh.evaluate(dh.from_run({"q": {7: 0.5, 8: 0.25}}, {"q": {"8": 1}}), "MRR")
    assert report["RR"].expected == 0.5
    said = 'Ids of a document are integers and text: 7 and "7" are one document.'
    assert str(report).count(said) == 1
    assert said not in str(dh.evaluate(dh.from_run({"q": {7: 0.5}}, {"q": {7: 1}}), "MRR"))
    assert trec.open_run({"q": {7: 0.5, "7": 0.5}}) == {"q": {"7": 0.5}}
    with pytest.raises(
        InputError, match=r"run must list document '7' once for query 'q', but has score 0\.5 and score 0\.25;"
    ):
        trec.open_run({"q": {7: 0.5, "7": 0.25}})


def test_doubled_lines_count_once_and_contradicting_ones_are_refused(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    run.write_text("q 0 a 1 0.5 t\nq 0 b 2 0.5 t\nq 0 a 3 0.50 t\n")
    qrels.write_text("q 0 a 1\nq 0 a 1\nq 0 a 1\n")
    report = dh.evaluate(dh.from_run(run, qrels), "MRR")
    assert (report["RR"].lower, report["RR"].expected, report["RR"].upper) == (0.5, 0.75, 1.0)
    assert "1 line of the run repeats what another line says, and counts once." in str(report)
    assert "2 lines of the qrels repeat what another line says, and count once." in str(report)
    run.write_text("# x\nq 0 a 1 0.5 t\nq 0 b 2 0.5 t\nq 0 a 3 0.25 t\n")
    said = "line 4: run must list document 'a' once for query 'q', but has score 0.5 in line 2 and score 0.25;"
    with pytest.raises(FileError, match=re.escape(said)):
        trec.open_run(run)
    qrels.write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n\nq\ta\t0\n")
    with pytest.raises(FileError, match=r"line 4: qrels must list .* but has rel 1 in line 2 and rel 0$"):
        trec.open_qrels(qrels)


SCORED = '{"qid": "q", "docid": "a", "score": %s}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("qid,docid,score\nq,a\n", "line 2: a line must have 3 fields (qid docid score), but has 2"),
        ("qid,docid,score\nq,a,x\n", "line 2: score must be a number, but is of type str"),
        ('qid,docid,score\nq,"a,1\n', "line 2: unexpected end of data"),
        ("qid,docid,sim\nq,a,1\n", "run must have query_id, doc_id, score, but has columns qid, docid, sim"),
        (SCORED % 1 + '{"qid": "q"\n', "is no JSON of scores: Expecting ',' delimiter: line 3"),
        (SCORED % 1 + "[1]\n", "line 2: run must have an object in each line, but has one of type list"),
        (SCORED.replace(" ", "\n", 1) % 1 + "\n" + SCORED % '"1"', "line 4: score must be a number, but is of type"),
        ('{"qid": "q", "docs": [{"text": "a"}]}\n', "line 1: run must have the id of a document in each hit, but"),
        ('{"qid": "q", "docs": ["a"]}\n' + SCORED % 1, "line 2: run must have scores, or none, but has both"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises((FileError, InputError), match=re.escape(said)):
        trec.open_run(path)


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_table_of_unknown_columns_is_no_file_of_trec(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(delimiter.join(("question", "answer", "mark")) + "\n" + delimiter.join(("q", "a", "0.5")) + "\n")
    for read, needed in ((trec.open_run, "run must have query_id, doc_id, score"),
                         (trec.open_qrels, "qrels must have query_id, doc_id, relevance")):  # fmt: skip
        with pytest.raises(FileError, match=rf"answers\.csv: {needed}, but has columns question, answer, mark$"):
            read(path)


def test_commas_and_tabs_in_files_of_trec_are_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("q\tQ0\td,1\t1\t2\tt,u\n")
    assert trec.open_run(path) == {"q": {"d,1": 2.0}}
    path.write_text("q d,x\n")  # of MS MARCO, without a number
    assert trec.open_qrels(path) == {"q": {"d,x": 1}}


def test_a_query_without_documents_is_a_query(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"qid": "q", "hits": []}\n{"qid": "r", "hits": {}}\n{"s": {}}\n')
    assert trec.open_run(path) == {"q": {}, "r": {}, "s": {}} == trec.open_run({"q": {}, "r": {}, "s": {}})


def test_no_name_is_in_two_columns() -> None:
    queries, documents = (
        {row_columns.plain(name) for name in row_columns.NAMES[role]} for role in ("query", "document")
    )
    assert not queries & documents
    assert not (queries | documents) & {
        row_columns.plain(name) for kind in ("run", "qrels") for name in row_columns.NAMES[kind]
    }


def test_lists_without_scores_are_positions() -> None:
    task = dh.from_lists([["a", "b"], ["c"]], [["b", "z"], {"c": 2, "d": 1}])
    report = dh.evaluate(task, "RR, R@2, nDCG@5")
    assert (report["RR"].lower, report["RR"].expected, report["RR"].upper) == (0.75, 0.75, 0.75)
    assert report["Recall@2"].expected == 0.5
    assert task.profile.query_ids == ("0", "1")
    run = {"q": {"a": 3.0, "b": 2.0}, "r": {"c": 1.0}}
    qrels = {"q": {"b": 1, "z": 1}, "r": {"c": 2, "d": 1}}
    named = dh.from_lists({"q": ["a", "b"], "r": ["c"]}, {"q": {"b", "z"}, "r": qrels["r"]})
    assert named.profile == dh.from_run(run, qrels).profile
    assert str(dh.evaluate(named, "mAP")) == str(dh.evaluate(dh.from_run(run, qrels), "mAP"))
    integers = dh.from_lists(np.array([[7, 8, -1]]), [np.array([8])])
    assert integers.profile.n_ranked.tolist() == [2]
    assert integers.profile.closer.tolist() == [1]


def test_a_list_in_a_list_is_a_tied_group() -> None:
    ranked = [["a", ("b", "c", "d"), "e"]]
    for group in (("b", "c", "d"), ["b", "c", "d"], {"b", "c", "d"}):
        report = dh.evaluate(dh.from_lists([["a", group, "e"]], [["c"]]), "RR")["RR"]
        ranks = [2, 3, 4]  # of c, each as likely
        assert report.lower == float(Fraction(1, 4))
        assert report.expected == pytest.approx(float(sum(Fraction(1, rank) for rank in ranks) / 3), abs=1e-15)
        assert report.upper == float(Fraction(1, 2))
    assert dh.from_lists(ranked, [["e"]]).profile.closer.tolist() == [4]


@pytest.mark.parametrize(
    ("ranked", "relevant", "said"),
    [
        ([["a"], ["b"]], [["a"]], "relevant_ids must be of the same queries, but have 2 lists and 1 lists"),
        ({"q": ["a"]}, [["a"]], "must be of the same queries, but have 1 ids and 1 lists of them"),
        ({"q": ["a"]}, {"r": ["a"]}, "run and qrels must have a query in common"),
        (["a", "b"], [["a"], ["b"]], "ranked_ids must be a list of ids for each query, but is 'a'"),
        ([{"a", "b"}], [["a"]], "ranked_ids must be a list of ids for each query, best first, but a set has no order"),
        ([["a"]], ["a"], "relevant_ids must be a list of ids for each query, but is 'a'"),
        ([["a", "b", "a"]], [["a"]], "ranked_ids must list document 'a' once for query '0', but has rank 1 and rank 3; "
         'repeats="max" (--repeats max) takes the best of its chunks'),
        ([[0.5]], [["a"]], "the id of a document must be a string or an integer, but is 0.5"),
        ([["a"]], [{"a": "x"}], "relevant_ids, query 0, document 'a': grade must be a number, but is of type str"),
    ],
)  # fmt: skip
def test_lists_that_do_not_fit_are_refused(ranked: Any, relevant: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        dh.from_lists(ranked, relevant)


CHUNKS = {"q": {"d1#1": 0.5, "d2#1": 0.5, "d1#2": 0.5, "d3#1": 0.25, "d2#2": 0.75, "d4#1": 0.25, "d4#2": 0.125}}


def ranks_by_every_order(document: str) -> set[int]:
    """The ranks of a document over all orders of tied chunks, of which each document keeps its first."""
    chunks, result = CHUNKS["q"], set()
    for order in itertools.permutations(chunks):
        if [chunks[chunk] for chunk in order] == sorted(chunks.values(), reverse=True):
            result.add(list(dict.fromkeys(chunk[:2] for chunk in order)).index(document) + 1)
    return result


@pytest.mark.parametrize("repeats", ["max", "first"])
def test_bounds_of_chunks_hold_over_documents(repeats: Any, tmp_path: Path) -> None:
    path, mapping = tmp_path / "run", tmp_path / "documents"
    path.write_text("".join(f"q 0 {chunk[:2]} 1 {score} t\n" for chunk, score in CHUNKS["q"].items()))
    document_of = {chunk: chunk[:2] for chunk in CHUNKS["q"]}
    mapping.write_text("".join(f"{chunk}\t{document}\n" for chunk, document in document_of.items()))
    for document in ("d1", "d2", "d3", "d4"):
        qrels = {"q": {document: 1}}
        ranks = ranks_by_every_order(document)
        for given, documents in ((path, None), (CHUNKS, document_of), (CHUNKS, mapping)):
            report = dh.evaluate(dh.from_run(given, qrels, repeats=repeats, documents=documents), "RR")["RR"]
            assert (report.lower, report.upper) == (1 / max(ranks), 1 / min(ranks))
    task = dh.from_run(path, {"q": {"d3": 1}}, repeats=repeats)
    assert task.profile.n_ranked.tolist() == [4]
    assert "repeat" not in str(dh.evaluate(task))


def test_chunks_without_a_word_are_refused_with_the_word(tmp_path: Path) -> None:
    document_of = {chunk: chunk[:2] for chunk in CHUNKS["q"]}
    said = "run must list document 'd2' once for query 'q', but has score 0.5 and score 0.75; repeats=\"max\""
    with pytest.raises(InputError, match=re.escape(said)):
        dh.from_run(CHUNKS, {"q": {"d1": 1}}, documents=document_of)
    for run in ({"q": {"a#1": 1, "b#1": 2}}, trec.open_run({"q": {"a#1": 1, "b#1": 2}})):
        assert trec.open_run(run, documents={"a#1": "a", "b#1": 7}) == {"q": {"a": 1, "7": 2}}
    said = "documents must have the document of each chunk, but has none for 'd4#1'"
    with pytest.raises(InputError, match=re.escape(said)):
        trec.open_run(CHUNKS, repeats="max", documents={chunk: "d" for chunk in document_of if chunk != "d4#1"})
    with pytest.raises(InputError, match="repeats must be one of max, first, but is 'sum'"):
        dh.from_run(CHUNKS, {"q": {"d1": 1}}, repeats="sum")  # type: ignore[arg-type]
    path = tmp_path / "documents"
    for text in ("chunk_id,doc_id\na#1,a\nb#1,b\n", "a#1 a\n\nb#1 b\nb#1 b\n"):
        path.write_text(text)
        assert trec.open_run({"q": {"a#1": 1, "b#1": 2}}, documents=path) == {"q": {"a": 1, "b": 2}}
    for text in ("a#1 a\na#1 b\n", "a#1 a\na#1\n"):
        path.write_text(text)
        with pytest.raises(FileError, match="line 2: must be a chunk and its one document"):
            trec.open_run({"q": {"a#1": 1}}, documents=path)


def test_a_list_that_repeats_a_document_has_it_where_it_comes_first() -> None:
    for ranked in (["a", "b", "a", "c"], ["a", ("b", "a"), "c"]):
        report = dh.evaluate(dh.from_lists([ranked], [["c"]], repeats="first"), "RR")["RR"]
        assert (report.lower, report.upper) == (1 / 3, 1 / 3)


def test_the_page_has_every_name_of_a_column() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/run-files.md").read_text()
    table = page.partition("| column | names |")[2].partition("\n\n")[0]
    known = {name for names in row_columns.NAMES.values() for name in names}
    assert set(re.findall(r"`(\w+)`", table)) == known | {*row_columns.OF_HITS, "_id", "_score"}


def test_columns_of_pyterrier_have_the_id_in_docno() -> None:
    """Its results have a docid too, the row of its index."""
    held = {"qid": ["1", "1"], "docid": [10, 20], "docno": ["d1", "d2"], "rank": [0, 1], "score": [5.0, 4.0]}
    records = [dict(zip(held, row, strict=True)) for row in zip(*held.values(), strict=True)]
    for source in (records, pytest.importorskip("pandas").DataFrame(held)):
        assert trec.open_run(source) == {"1": {"d1": 5.0, "d2": 4.0}}


def test_what_two_columns_or_two_documents_would_leave_open(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("qid,docid,docid,score\n7,3,4,1\n")
    with pytest.raises(FileError, match="run has more than one column called 'docid'"):
        trec.open_run(path)
    with pytest.raises(InputError, match="documents must have one document for each chunk, but has two for '7'"):
        trec.open_run({"q": {"7": 1}}, repeats="max", documents={7: "a", "7": "b"})
    path.write_text('{"qid": 7, "docid": 3, "rank": 1}\n{"qid": 7, "docid": 4, "score": 2}\n')
    with pytest.raises(FileError, match="line 2: run must have a score in each line, or a rank in each, but has both"):
        trec.open_run(path)
    path.write_text("7 3 12\n7 4 9\n7 4 8\n")  # scores
    with pytest.raises(FileError, match="a line of three fields must end in a rank"):
        trec.open_run(path, repeats="max")
