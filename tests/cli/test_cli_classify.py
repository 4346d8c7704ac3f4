"""`deadheat classify`: what the library prints, from tables, with pictures, and one line for all that can go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deadheat as dh
from tests.cli.calling import passed, refused

SCORES, LABELS = [0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{score},{label}" for score, label in zip(SCORES, LABELS, strict=True)]
    Path("scores.csv").write_text("\n".join(["score,label", *rows, ""]))
    Path("words.tsv").write_text("far\tkind\n1\tyes\n2\tno\n2\tyes\n")


def test_prints_what_python_prints() -> None:
    found = dh.classification(SCORES, LABELS)
    assert passed("classify", "scores.csv") == f"{found}\n"
    few = dh.classification(SCORES, LABELS, measures=["AP", "TPR@FPR=0.5"])
    assert json.loads(passed("classify", "scores.csv", "-m", "AP,TPR@FPR=0.5", "--json")) == json.loads(few.to_json())


def test_columns_labels_and_order_of_ones_own() -> None:
    found = dh.classification([1, 2, 2], [1, 0, 1], order="ascending")
    asked = ["--scores", "far", "--labels", "kind", "--positive", "yes", "--ascending"]
    assert passed("classify", "words.tsv", *asked) == f"{found}\n"


def test_draws_curves() -> None:
    pytest.importorskip("matplotlib")
    passed("classify", "scores.csv", "--plot", "curves.png")
    assert Path("curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("scores.csv --scores nope", "scores.csv has no column 'nope'"),
        ("scores.csv --positive 2", "labels must hold 0 and 1 (or False and True), and both, but holds [False]"),
        ("scores.csv -m F1", "measure must be one of AP, "),
        ("missing.csv", "missing.csv: No such file or directory"),
    ],
)
def test_one_line_for_all_that_goes_wrong(words: str, message: str) -> None:
    assert message in refused("classify", *words.split())
