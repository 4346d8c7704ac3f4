"""TREC files read quickly and with a look at each line: the same, whatever is in them, and the same complaint."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import FileError, InputError, InvalidTypeError
from deadheat.inputs import trec

NUMBERS = [
    *("1", "-2", "+3", "0", "0.5", "-.25", "7.", "1e3", "12.75e-3", "1e22", "1e23", "9007199254740993", "0.1", "-0"),
    *("007", "9223372036854775807", "0.3000000000000000444089209850062616169452667236328125"),
]
ODD_NUMBERS = ["nan", "inf", "1e999", "1_0", "x", "0x1", "9223372036854775808", "1.", "2e0", "--1", "٣"]
IDS = [b"a", b"doc-1", b"caf\xc3\xa9", b"caf\xe9", b"\xff", b"#x", b"a\xc2\xa0b", b"x\x1cy"]


def line(rng: random.Random, n_field: int, odd: bool) -> bytes:
    number = rng.choice(ODD_NUMBERS if odd and rng.random() < 0.02 else NUMBERS if n_field == 6 else NUMBERS[:4])
    fields = [rng.choice(IDS[:5]), b"0", rng.choice(IDS) + str(rng.randrange(10**6 if odd else 10**9)).encode()]
    fields += [b"1"] * (n_field == 6) + [number.encode()] + [b"tag"] * (n_field == 6)
    if odd and rng.random() < 0.02:
        fields.append(b"more") if rng.random() < 0.5 else fields.pop()
    blank = rng.choice([b" ", b"\t", b"  "] if odd else [b" "])
    return blank.join(fields) + (b"\r\n" if odd and rng.random() < 0.1 else b"\n")


@pytest.mark.parametrize("seed", range(150))
def test_both_ways_of_reading_agree(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trec, "_BLOCK", 700)
    rng = random.Random(seed)
    form = rng.choice([trec._RUN, trec._QRELS])
    odd = seed % 3 > 0
    lines = [line(rng, len(form.fields), odd) for _ in range(rng.randrange(60))]
    if odd:
        extra = [b"\n", b"# a comment of six words here\n", b"  # x\n", lines[0] if lines else b"", b"a\0b 0 d 1 1 t\n"]
        lines += rng.choices(extra[: 3 if rng.random() < 0.7 else 5], k=2)
        rng.shuffle(lines)
    data = (b"\xef\xbb\xbf" if odd and rng.random() < 0.2 else b"") + b"".join(lines)
    data = data.removesuffix(b"\n") if rng.random() < 0.5 else data
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(data) if rng.random() < 0.3 else data)
    outcomes = []
    for read in (trec._read_one_by_one, trec._read):
        try:
            table = read(path, form)
            outcomes.append([(query, list(row.items())) for query, row in table.items()])
            assert {type(number) for row in table.values() for number in row.values()} <= {form.kind}
        except ValueError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_ids_stay_the_bytes_that_they_were(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"q 0 %b 1 1 t\n" % name for name in IDS))
    names = list(trec.open_run(path)["q"])
    assert [name.encode("utf-8", "surrogateescape") for name in names] == IDS


@pytest.mark.parametrize("end", [b"", b"\n", b"\n# the end\n\n"])
def test_the_tag_is_that_of_the_last_line_up_to_a_blank(end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"q 0 a 1 1 first\nq 0 b 1 1 my  run" + end)
    assert trec.run_id(path) == "my"
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert trec.run_id(path) == "my"


class Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


def test_tables_of_other_libraries_are_the_same_dictionaries() -> None:
    columns = {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "score": [0.5, 0.25, 1.0]}
    expected = {"q1": {"a": 0.5, "b": 0.25}, "q2": {"a": 1.0}}
    for module, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        table = getattr(pytest.importorskip(module), make)(columns)
        assert trec.open_run(table) == expected
    rows = [Scored(*row) for row in zip(*columns.values(), strict=True)]
    assert trec.open_run(iter(rows)) == expected
    assert trec.open_run(SimpleNamespace(to_dict=lambda: expected)) == expected
    with pytest.raises(InvalidTypeError, match="run must have query_id, doc_id, score, but has columns a, b"):
        trec.open_run(pytest.importorskip("pandas").DataFrame({"a": [1], "b": [2]}))


BEIR = "query-id\tcorpus-id\tscore\nq1\ta b\t1.0\nq1\tc\t2\nq2\ta b\t0\n"
JUDGED = {"q1": {"a b": 1, "c": 2}, "q2": {"a b": 0}}


def test_qrels_of_beir_by_their_header(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    for text in (BEIR, BEIR.replace("\n", "\r\n"), "\ufeff" + BEIR, BEIR.replace("query-id", "Query_ID")):
        path.write_bytes(text.encode())
        assert trec.open_qrels(path) == JUDGED
    path.write_bytes(gzip.compress(BEIR.encode()))
    assert trec.open_qrels(path) == JUDGED
    path.write_text(BEIR + "q3\ta\n")
    with pytest.raises(FileError, match=r"test.tsv, line 5: a line must have 3 fields .query-id corpus-id score."):
        trec.open_qrels(path)
    rows = [line.split("\t") for line in BEIR.splitlines()]
    frame = pytest.importorskip("pandas").DataFrame(rows[1:], columns=rows[0]).astype({"score": float})
    assert trec.open_qrels(frame) == JUDGED


def test_whole_floats_are_grades(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q 0 a 1.0\nq 0 b 2e0\nq 0 c 3\nq 0 d -1.0\n")
    expected = {"q": {"a": 1, "b": 2, "c": 3, "d": -1}}
    given = {"q": {"a": 1.0, "b": np.float32(2), "c": 3, "d": -1.0}}
    for source in (path, given):
        result = trec.open_qrels(source)
        assert result == expected
        assert {type(grade) for grade in result["q"].values()} == {int}
    for odd, said in (
        (-1.5, "a negative one, with"),
        (float("nan"), "NaN"),
        (1e-200, "a smaller"),
        (1e200, "a larger"),
    ):
        with pytest.raises(ValueError, match=f"rel must be an integer, or a gain of 0, or from .*, but is {said}"):
            trec.open_qrels({"q": {"a": odd}})
    with pytest.raises(TypeError, match="rel must be a number, but is of type str"):
        trec.open_qrels({"q": {"a": "1"}})


def test_json_in_every_function(tmp_path: Path) -> None:
    run, qrels = {"q": {"a": 0.5, "b": 0.5}}, {"q": {"b": 1}}
    paths = [tmp_path / name for name in ("run.json", "qrels.json")]
    for path, table in zip(paths, (run, qrels), strict=True):
        path.write_text(json.dumps(table, indent=1))
    expected = dh.evaluate(dh.from_run(run, qrels))
    assert dh.evaluate(dh.from_run(*paths)).to_json() == expected.to_json()
    assert dh.from_run(*paths).profile == dh.from_run(run, qrels).profile
    assert dh.audit_run(*paths).to_json() == dh.audit_run(run, qrels).to_json()
    given = {"queries": [[1.0]], "gallery": [[1.0], [2.0]], "query_ids": ["q"], "gallery_ids": ["a", "b"]}
    assert dh.from_judged(**given, qrels=paths[1]).profile == dh.from_judged(**given, qrels=qrels).profile
    for text, said in {
        '{"q": {"a": 1, "a": 2}}': "run.json is no JSON of scores: 'a' must be listed once, but is again",
        '{"q": {"a": NaN}}': "run, query 'q', document 'a': score must be finite, but is nan",
        '{"q": [1.5]}': "must have the id of a document in each hit, but has a float",
        '{"q": {"a": "x"}}': "run.json must hold",
        "{": "run.json is no JSON of scores: ",
        "{}": "run.json must hold at least one query, but is empty",
    }.items():
        paths[0].write_text(text)
        with pytest.raises((FileError, InputError), match=re.escape(said)):
            dh.evaluate(dh.from_run(*paths))


def test_the_order_is_said_once() -> None:
    rows = [{"query_id": "q", "doc_id": name, "distance": far} for name, far in (("a", 1.0), ("b", 2.0))]
    assert trec.open_run(rows, order="ascending", columns={"score": "distance"})
    with pytest.raises(InputError, match="order must be left out where columns has it, but is given twice"):
        trec.open_run(rows, order="ascending", columns={"score": "distance", "order": "ascending"})
