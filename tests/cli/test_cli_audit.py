"""`deadheat audit`: what the library finds, printed, and an exit status for a gate."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cli import calling

import deadheat as dh

LABELS = np.random.default_rng(0).permutation(np.arange(60) % 4)
SOUND = (np.eye(4, 8)[LABELS] * 3 + np.random.default_rng(1).normal(size=(60, 8))).astype(np.float32)
WARNED = SOUND.copy()
WARNED[:, 4:] = 1
QUICK = ("-m", "mAP")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, rows in (("sound", SOUND), ("warned", WARNED), ("zero", np.zeros((60, 2)))):
        np.savez(tmp_path / f"{name}.npz", embeddings=rows, labels=LABELS)
    np.savez(tmp_path / "query.npz", embeddings=SOUND[:20], labels=LABELS[:20])
    np.save(tmp_path / "rows.npy", np.arange(20))
    monkeypatch.chdir(tmp_path)
    return tmp_path


run, passed, refused = (partial(call, "audit") for call in (calling.run, calling.passed, calling.refused))


def test_it_prints_what_python_prints(folder: Path) -> None:
    assert passed("sound.npz") == f"{dh.audit(SOUND, LABELS)}\n"


@pytest.mark.parametrize(
    ("name", "usual", "strict"), [("sound", 0, 0), ("warned", 0, 1), ("zero", 1, 1)], ids=["sound", "warned", "zero"]
)
def test_exit_status_is_a_gate(folder: Path, name: str, usual: int, strict: int) -> None:
    assert run(f"{name}.npz", *QUICK).exit_code == usual
    assert run(f"{name}.npz", *QUICK, "--strict").exit_code == strict


def test_json_is_printed_or_written_whatever_the_status(folder: Path) -> None:
    printed = run("zero.npz", *QUICK, "--json")
    assert printed.exit_code == 1
    assert json.loads(printed.stdout) == json.loads(dh.audit(np.zeros((60, 2)), LABELS, measures="mAP").to_json())
    written = run("zero.npz", *QUICK, "--json", "out.json", "--markdown", "out.md")
    assert written.exit_code == 1
    assert json.loads(Path("out.json").read_text()) == json.loads(printed.stdout)
    assert Path("out.md").read_text().startswith("**")
    assert "SERIOUS" in written.stdout


def test_files_are_given_as_to_evaluate(folder: Path) -> None:
    found = run("query.npz", "--gallery", "sound.npz", *QUICK)
    assert (found.exit_code, found.stderr) == (1, "")
    assert "queries in the gallery" in found.stdout
    assert run("query.npz", "--gallery", "sound.npz", "--exclude", "rows.npy", *QUICK).exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing.npz"], "nothing.npz: No such file or directory"),
        (["sound.npz", "--distance", "x"], "distance must be one of"),
        (["sound.npz", "--ties", "float16"], "No such option"),
    ],
)
def test_what_is_wrong_is_one_line_and_status_two(folder: Path, args: list[str], message: str) -> None:
    assert message in refused(*args)
