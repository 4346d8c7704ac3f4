"""Input that an argument does not take, but that could be read as such, is refused with what to write."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.errors import FileError


class Hit(NamedTuple):
    doc_id: str
    text: str


@pytest.mark.parametrize(
    ("hits", "got"),
    [
        ([(1, "a"), (2, "b")], "one is (1, 'a')"),
        (["a", {"_id": "b", "_score": 1.0}], "one has a dict of _id, _score"),
        (["a", Hit("b", "some text")], "one has a Hit of doc_id, text"),
        ([{"text": "b"}], "one has a dict of text"),
        (["a", (2, "b")], "one is (2, 'b')"),
        ([("a", "some text"), ("b", "more")], "each is ('a', 'some text')"),
        ([["a", "some text"]], "each is ['a', 'some text']"),
    ],
)
def test_hits_in_the_place_of_ids_are_refused(hits: Any, got: str) -> None:
    for ranked, relevant, where in (([hits], [["b"]], "0"), ({"q": hits}, {"q": ["b"]}, "'q'")):
        said = (
            f"ranked_ids, query {where}: an entry must be an id, or a set of tied ids, but {got}; give the id of each"
        )
        with pytest.raises(TypeError, match=re.escape(said)):
            dh.from_lists(ranked, relevant)
    mixed = dh.from_lists([["a", ("b", "c")], [["d"], ["b", "c"]], [{"a", "b"}]], [["b"]] * 3)
    assert mixed.profile.tied.tolist() == [2, 2, 2]


def test_several_ids_in_one_text_are_refused() -> None:
    said = "{} must be lists of ids, but query '0' has one text, {}; split it if it holds several ids"
    for text in ("0001 0002 0003", "0001,0002", "0001; 0002"):
        with pytest.raises(ValueError, match=re.escape(said.format("ranked_ids", repr(text)))):
            dh.from_lists([[text], ["0003"]], [["0001"], ["0003"]])
        with pytest.raises(ValueError, match=re.escape(said.format("relevant_ids", repr(text)))):
            dh.from_lists([["0001"], ["0003", "0004"]], [[text], ["0003"]])
    dh.from_lists([["Ada Lovelace"]], [["Ada Lovelace", "Alan Turing"]])
    dh.from_lists([["Ada Lovelace", "Hopper"]], [["Hopper"]])


def test_a_table_of_blast_is_no_run(tmp_path: Path) -> None:
    path, hit = tmp_path / "hits.tsv", "q1\td1\t98.5\t200\t3\t0\t1\t200\t5\t204\t1e-50\t{}\n"
    path.write_text("# BLASTP\n" + hit.format(370) + hit.format("371.5"))
    with pytest.raises(FileError, match="must be a run, but has twelve columns, as a table of BLAST"):
        dh.from_run(path, {"q1": {"d1": 1}})
    path.write_text("query_id\tdoc_id" + "\t" * 9 + "\tscore\n" + hit.format(370))
    assert dh.from_run(path, {"q1": {"d1": 1}}).profile.tied.tolist() == [1]
    path.write_text("q1 Q0 d1 1 0.5 a tag of 2024 12 24 and more\n")
    assert dh.from_run(path, {"q1": {"d1": 1}}).profile.tied.tolist() == [1]


def test_a_relevance_matrix_is_no_matrix_of_labels() -> None:
    """Along a path, each place is seen from the next one: to share a neighbour is not to be one."""
    n = 70  # more than one word of bits
    places = np.arange(float(n))
    rows = np.stack([places, np.ones(n)], axis=1)
    relevant = abs(places[:, None] - places) <= 1
    said = (
        "labels must have a column for each label, but is a relevance matrix, (70, 70), symmetric and with a full "
        "diagonal: from_scores(scores, relevant, junk=np.eye(70, dtype=bool)) takes it, and from_judged "
        "takes its pairs"
    )
    for given in (relevant, relevant.astype(float), sparse.csr_array(relevant)):
        with pytest.raises(ValueError, match=re.escape(said)):
            dh.Task(rows, given)
    scores = -abs(places[:, None] - places)
    task = dh.from_scores(scores, relevant, junk=np.eye(n, dtype=bool))
    ids = [str(place) for place in range(n)]
    qrels = {ids[i]: {ids[j]: 1 for j in np.flatnonzero(relevant[i]) if i != j} for i in range(n)}
    judged = dh.from_judged(rows, rows, qrels, ids, ids, exclude=(ids, ids), distance="euclidean")
    expected = (2 * 0.5 + (n - 2) * 1) / n  # the two ends have one neighbour
    for entry in (task, judged):
        assert dh.evaluate(entry, "P@2")["P@2"].expected == pytest.approx(expected, abs=1e-15)


def test_labels_that_only_resemble_a_relevance_matrix_are_taken() -> None:
    rows = np.arange(4.0)[:, None]
    for labels in (np.ones((2, 2)), np.eye(2)):
        assert dh.Task(rows[:2], labels).has_several_labels
    upper = np.triu(np.ones((4, 4)))  # not symmetric
    hollow = np.ones((4, 4)) - np.eye(4)
    for labels in (upper, hollow, np.eye(4), np.ones((4, 5))):
        assert dh.Task(rows, labels).has_several_labels
    classes = np.eye(4)
    assert dh.evaluate(dh.Task(rows, classes, rows + 1, classes), "Hit@1")["Hit@1"].expected == 0.25
    wide = np.ones((130, 130), dtype=bool)
    wide[129, 0] = False  # in the third word, and in the first
    assert dh.Task(np.arange(130.0)[:, None], wide).has_several_labels


def test_packed_bits_in_int8_are_refused_with_the_conversion_that_keeps_them() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 6
    rows = rng.normal(size=(6, 64))[labels] + rng.normal(size=(60, 64))
    packed = np.packbits(rows > 0, axis=1)
    binary = (packed.astype(int) - 128).astype(np.int8)  # as sentence-transformers has it
    profiles = {}
    for embeddings in (binary, binary.tolist(), packed.astype(int), packed.tolist()):
        with pytest.raises(ValueError, match="; if bits are packed in them, give ") as refused:
            dh.Task(embeddings, labels, distance="hamming")
        words = str(refused.value).partition("in them, give ")[2].partition("; if they")[0]
        words = words.partition(", or take precision")[0]
        codes = eval(words, {"np": np, "embeddings": embeddings})
        assert (codes == packed).all()
        assert codes.dtype == np.uint8
        profiles[words] = dh.Task(codes, labels, distance="hamming").profile
    assert len(profiles) == 2
    assert all(profile == dh.Task(rows > 0, labels, distance="hamming").profile for profile in profiles.values())
    with pytest.raises(ValueError, match="; embeddings > 0 has a bit for each sign"):
        dh.Task(rows, labels, distance="hamming")
    with pytest.raises(ValueError, match="; embeddings > 0 has a bit for each sign"):
        dh.Task(packed.astype(int) + 300, labels, distance="hamming")


class Row(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Frame:
    columns = ("qid", "docno", "score")


@pytest.mark.parametrize(
    "run", [{"q": {"d": 1.0}}, [Row("q", "d", 1.0)], [{"qid": "q", "docid": 0, "docno": "d"}], Frame()]
)
def test_a_run_in_the_place_of_embeddings_names_from_run(run: Any) -> None:
    said = "embeddings must be an array, but is a run or qrels: give these to dh.from_run"
    for call in (dh.evaluate, dh.Task):
        with pytest.raises(TypeError, match=said):
            call(run, {"q": {"d": 1}})
        with pytest.raises(TypeError, match=said):
            call(run)


def test_files_of_runs_name_from_run(tmp_path: Path) -> None:
    for name in ("a.run", "a.txt", "a.trec", "a.qrels"):
        (tmp_path / name).write_text("q Q0 d 1 1 t\n")
        with pytest.raises(ValueError, match=re.escape(f"{Path(name).suffix}': dh.from_run (deadheat run) takes runs")):
            dh.evaluate(tmp_path / name, [1])
    with pytest.raises(ValueError, match=re.escape("ends in '.qrels': dh.from_run (deadheat run) takes runs")):
        dh.evaluate(tmp_path / "a.run", tmp_path / "a.qrels")


class Dataset:
    """The attributes by which a data set of Hugging Face's is known."""

    column_names = ("embedding", "label")
    features = ()


@pytest.mark.parametrize("data", [{"embedding": [[1.0]], "label": [0]}, Dataset()])
def test_a_whole_data_set_is_refused_with_its_column(data: Any) -> None:
    kind = type(data).__name__
    got = f"is a {kind} of 2 ('embedding', 'label'): give one of them, such as data['embedding']"
    for call, name in (
        (lambda: dh.evaluate(data), "embeddings"),
        (lambda: dh.Task(data, [0]), "embeddings"),
        (lambda: dh.Task([[1.0]], [0], data, [0]), "gallery"),
        (lambda: dh.from_judged(data, [[1.0]], {"q": {"d": 1}}, ["q"], ["d"]), "queries"),
    ):
        with pytest.raises(TypeError, match=re.escape(f"{name} must be an array or a column, but {got}")):
            call()
    if kind == "Dataset":
        with pytest.raises(TypeError, match="labels must be an array or a column, but is a Dataset"):
            dh.Task([[1.0]], data)


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ("1.0", r"must be a number, but is of type str, which is text: float\(\) makes a number of it"),
        ("one", r"must be a number, but is of type str$"),
        (Fraction(1, 2), r"must be an integer or a float, but is of type Fraction: float\(\) makes one of it"),
    ],
)
def test_numbers_of_other_kinds_are_refused_with_the_conversion(value: Any, got: str) -> None:
    for run, qrels, name in (({"a": value}, {"a": 1}, "score"), ({"a": 1.0}, {"a": value}, "rel")):
        with pytest.raises(TypeError, match=f"query 'q', document 'a': {name} {got}"):
            dh.from_run({"q": run}, {"q": qrels})
    own = got.replace(f"of type {type(value).__name__}", re.escape(repr(value)))  # an argument is shown as it is
    with pytest.raises(TypeError, match=f"rel {own}"):
        dh.from_run({"q": {"a": 1.0}}, {"q": {"a": 1}}, rel=value)


def test_arrays_of_fractions_are_refused_with_the_conversion() -> None:
    for value in (Fraction(1, 3), Decimal("0.1")):
        got = (
            f"must hold integers or floats, but holds a {type(value).__name__}: np.array(..., dtype=float) converts it"
        )
        with pytest.raises(TypeError, match=re.escape(f"scores {got}")):
            dh.from_scores([[value, value]], [[1, 0]])
        with pytest.raises(TypeError, match=re.escape(f"embeddings {got}")):
            dh.Task([[value], [value]], [0, 0])


def test_integer_ids_are_their_decimal_text() -> None:
    given: Any = ([[0.0], [1.0]], [[0.0], [2.0], [3.0]])
    text = dh.from_judged(*given, {"1": {"7": 1}, "2": {"9": 1}}, ["1", "2"], ["7", "8", "9"], junk={"2": ["8"]})
    integers = dh.from_judged(*given, {1: {7: 1}, 2: {9: 1}}, np.array([1, 2]), [7, 8, 9], junk={2: [8]})
    assert integers.profile == text.profile
    assert integers.profile.query_ids == ("1", "2")
    with pytest.raises(ValueError, match="gallery_ids must hold each id once, but holds '7' again"):
        dh.from_judged(*given, {1: {7: 1}}, [1, 2], [7, "7", 9])
