"""Texts that quote files and callers: nothing reaches a terminal that moves its cursor, and nothing at any length."""

from __future__ import annotations

import json
import os
import pickle
import pty
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import deadheat as dh
from deadheat.cli.main import main
from deadheat.errors import (
    MOST,
    DeadheatError,
    FileError,
    InvalidValueError,
    MissingPackageError,
    StorageError,
    printable,
    reason,
)
from deadheat.support.progress import warn

EVIL = "\x1b[2J\x1b[Hmatch: \r\n\x07\x9b1m\u202egnp\u2066\u200b\ud800\x7f"
POINTS = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])


def is_safe(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def test_letters_of_any_script_stay_and_all_else_is_escaped() -> None:
    for text in ("Zoë", "日本", "ключ", "मराठी", "🙂", "a b", "\\x1b"):
        assert printable(text) == text
    for code in range(0x110000):
        if not (char := chr(code)).isprintable():
            assert printable(char).isascii()
            assert printable(char).encode().decode("unicode_escape") == char
    assert len(printable(10 * MOST * "x", MOST)) == MOST
    assert printable(99 * "a" + "b", 10) == "aaaaa...ab"
    assert len(printable(MOST * "\ud800", MOST)) == MOST


def test_a_reason_has_no_addresses_and_is_short() -> None:
    assert reason(ValueError(f"{object()}\n{EVIL}")).startswith(r"<object object> \x1b[2J\x1b[Hmatch: \x07")
    assert len(reason(ValueError(10_000 * "x"))) == 200


@pytest.mark.parametrize(
    "error",
    [
        DeadheatError(EVIL), InvalidValueError(f"gallery: {EVIL}.npy", EVIL), FileError(f"{EVIL}.npy", EVIL),
        MissingPackageError(EVIL, name=EVIL), StorageError(28, EVIL),
    ],
)  # fmt: skip
def test_errors_are_one_printable_line_and_keep_what_they_quote(error: DeadheatError) -> None:
    assert str(error).isprintable()
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert EVIL in error.args[-1]
    assert len(str(type(error)("x", 10_000 * "y") if len(error.args) > 1 else DeadheatError(10_000 * "y"))) <= MOST


def test_warnings_are_printable() -> None:
    with pytest.warns(UserWarning, match=r"^\\x1b\[2J") as caught:
        warn(EVIL, UserWarning)
    assert str(caught[0].message).isprintable()


def test_tables_of_labels_ids_and_names_are_printable() -> None:
    labels = [EVIL, "b", EVIL, "b"]
    report = dh.evaluate(POINTS, labels, measures="mAP")
    run = dh.evaluate(dh.from_run({EVIL: {"a": 1.0, EVIL: 0.5}}, {EVIL: {EVIL: 1}}), "AP")
    board = dh.leaderboard({EVIL: report, "other": dh.evaluate(POINTS[::-1], labels, measures="mAP")})
    versus = dh.compare(report, report, names=(EVIL, "b"))
    for result in (report.by_class(), report.worst(), report.by_query(), run.worst(), board, versus):
        for text in (str(result), result.to_markdown(), result.to_latex(), result._repr_html_()):
            assert is_safe(text), text
            assert r"\x1b[2J" in text.replace(r"\textbackslash{}", "\\")
        json.loads(result.to_json())
    assert is_safe(board.explain() + versus.explain())
    assert report.by_class().columns()["class"].count(EVIL) == 1  # data stay as they are
    assert is_safe(repr(report) + repr(run) + repr(board))


def test_a_long_label_does_not_fill_the_screen() -> None:
    report = dh.evaluate(POINTS, [5000 * "x", "b", 5000 * "x", "b"], measures="mAP")
    assert max(map(len, str(report.by_class()).splitlines())) < 300


def test_a_file_of_any_name_is_quoted_in_one_printable_line(tmp_path: Path) -> None:
    name = EVIL.replace("\ud800", "\udcff").replace("/", "")
    for ending in (".npy", ".csv", ".xyz", ".npz"):
        path = tmp_path / f"{name}{ending}"
        path.write_bytes(b"\x1b[2J,\n\x1b,\n")
        with pytest.raises((DeadheatError, ValueError)) as caught:
            dh.evaluate(path, path)
        assert str(caught.value).isprintable()
        result = CliRunner().invoke(main, ["evaluate", str(path)])
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        assert is_safe(result.stderr)


@pytest.mark.filterwarnings("default")
def test_warnings_of_the_command_are_printable(monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluated(*_: object, **__: object) -> None:
        warnings.warn(EVIL, stacklevel=1)
        raise ValueError(EVIL)

    monkeypatch.setattr("deadheat.cli.trust.Receipt.load", evaluated)
    result = CliRunner().invoke(main, ["verify", "r.json", "e.npz"])
    assert result.stderr.count("\n") == 2
    assert is_safe(result.stderr)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_nothing_that_moves_its_cursor_and_a_pipe_gets_the_data(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q\x1b[2J 0 d 1\n")
    (tmp_path / "run").write_text("q\x1b[2J Q0 d 1 0.5 t\n")
    program = "from deadheat.cli.main import main; main()"
    command = [sys.executable, "-c", program, "run", "--trec-eval", "-q", "-m", "map", "qrels", "run"]
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert b"\tq\x1b[2J\t" in piped.stdout
    ours, theirs = pty.openpty()
    subprocess.run(command, cwd=tmp_path, stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert b"\tq\\x1b[2J\t" in shown
    assert b"\x1b" not in shown


BAD = "a\0.npz"
EYE, FOUR = np.eye(4), [0, 0, 1, 1]
CALLS: list[tuple[str, Callable[[], Any]]] = [
    ("path", lambda: dh.read(BAD)), ("path", lambda: dh.read(Path(BAD))), ("embeddings", lambda: dh.evaluate(BAD)),
    ("embeddings", lambda: dh.evaluate([BAD, BAD], FOUR)), ("embeddings", lambda: dh.evaluate("a\0*.npy", FOUR)),
    ("embeddings", lambda: dh.Task(BAD).profile), ("labels", lambda: dh.read(BAD, labels="l\0.npy")),
    ("labels", lambda: dh.evaluate(EYE, BAD)), ("gallery", lambda: dh.evaluate(EYE, FOUR, BAD)),
    ("gallery_labels", lambda: dh.evaluate(EYE, FOUR, EYE, BAD)),
    ("checkpoint", lambda: dh.evaluate(EYE, FOUR, checkpoint=BAD)),
    ("run", lambda: dh.evaluate(dh.from_run(BAD, {"q": {"d": 1}}))),
    ("qrels", lambda: dh.evaluate(dh.from_run({"q": {"d": 1.0}}, BAD))),
    ("receipt", lambda: dh.Receipt.load(BAD)), ("path", lambda: dh.TieProfile.load(BAD)),
    ("path", lambda: dh.Task(EYE, FOUR).profile.save(BAD)), ("path", lambda: dh.Receipt({}).save(BAD)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_path_with_a_nul_character_is_refused_by_name(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises(InvalidValueError) as caught:
        call()
    assert str(caught.value).startswith(f"{name} must be a path without a NUL character, but is '")
    assert "\0" not in str(caught.value)
