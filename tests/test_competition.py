"""A competition as Codabench and EvalAI run it, from examples/competition, and a board without a platform."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli import calling

import deadheat as dh

EXAMPLES = Path(__file__).parents[1] / "examples" / "competition"
RNG = np.random.default_rng(3)
LABELS = np.repeat(np.arange(8), 6)
GOOD = (np.eye(8)[LABELS] + RNG.normal(size=(48, 8)) / 2).astype(np.float32)
LOWER = {name: round(100 * result.lower, 2) for name, result in dh.evaluate(GOOD, LABELS, measures="mAP Hit@1").items()}
BAD = {  # what is submitted, and what is said of it
    "short": (GOOD[:-1], "48 labels for 47 rows"),
    "nan": (np.where(np.arange(8) == 3, np.nan, GOOD), "must be finite, but holds nan"),
    "objects": (np.array([None] * 48), ""),
    "text": (np.array([["a"]] * 48), "must hold real numbers"),
}


def bomb(path: Path) -> None:
    """An archive whose array says that it has 40 TB, in a file of a kilobyte."""
    head = b"\x93NUMPY\x01\x00"
    about = b"{'descr': '<f8', 'fortran_order': False, 'shape': (48, 100000000000), }"
    about += b" " * (-(len(head) + 2 + len(about) + 1) % 64) + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("embeddings.npy", head + len(about).to_bytes(2, "little") + about + bytes(1 << 20))


def on_codabench(folder: Path, submitted: Any) -> subprocess.CompletedProcess[str]:
    """The folders of the platform, and its command."""
    for part in ("ref", "res"):
        (folder / "input" / part).mkdir(parents=True)
    shutil.copytree(EXAMPLES / "codabench" / "scoring_program", folder / "program")
    np.save(folder / "input" / "ref" / "labels.npy", LABELS)
    if submitted is not None:
        np.save(folder / "input" / "res" / "embeddings.npy", submitted, allow_pickle=True)
    (folder / "output").mkdir()
    (folder / "output" / "scores.json").write_text('{"mAP": 99.0}')  # of an earlier submission
    command = (folder / "program" / "metadata.yaml").read_text().removeprefix("command: ").split()
    words = [sys.executable, *(word.replace("/app", str(folder)) for word in command[1:])]
    return subprocess.run(words, cwd=folder / "program", capture_output=True, text=True, check=False)


def test_codabench_gets_rounded_lower_bounds(tmp_path: Path) -> None:
    ran = on_codabench(tmp_path, GOOD)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads((tmp_path / "output" / "scores.json").read_text()) == LOWER
    audit = (tmp_path / "output" / "audit.txt").read_text()
    assert "mAP" in audit
    assert "finding" not in ran.stdout  # which the participants see
    keys = [line.split()[1] for line in (EXAMPLES / "codabench" / "competition.yaml").read_text().splitlines()
            if line.strip().startswith("key: ")]  # fmt: skip
    assert keys == ["main", *LOWER]
    assert "hide_score_output: True" in (EXAMPLES / "codabench" / "competition.yaml").read_text()


def test_a_collapsed_embedding_comes_last(tmp_path: Path) -> None:
    on_codabench(tmp_path, np.zeros_like(GOOD))
    scores = json.loads((tmp_path / "output" / "scores.json").read_text())
    assert scores["Hit@1"] == 0
    assert scores["mAP"] < 10
    assert "serious" in (tmp_path / "output" / "audit.txt").read_text()


@pytest.mark.parametrize("name", [*BAD, "nothing"])
def test_codabench_refuses_in_one_line(name: str, tmp_path: Path) -> None:
    ran = on_codabench(tmp_path, *BAD.get(name, (None,))[:1])
    assert ran.returncode == 2
    assert ran.stderr.startswith("refused: ")
    assert ran.stderr.count("\n") == 1
    assert not list((tmp_path / "output").iterdir())


def test_the_bundle_has_the_folder_of_the_labels() -> None:
    bundle = EXAMPLES / "codabench"
    (line,) = [line for line in (bundle / "competition.yaml").read_text().splitlines() if "reference_data:" in line]
    assert [path.name for path in (bundle / line.split()[1]).iterdir()] == ["README.md"]


def test_the_scoring_program_names_what_it_lacks(tmp_path: Path) -> None:
    program = EXAMPLES / "codabench" / "scoring_program" / "score.py"
    for words, said in (
        (["IN", "OUT"], f"there must be a file {Path('IN', 'ref', 'labels.npy')}, but there is none"),
        (["IN"], "score.py takes two folders, INPUT and OUTPUT, but got 1"),
    ):
        command = [sys.executable, program, *words]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", f"refused: {said}\n")


def evalai(path: Path) -> Any:
    """Return the value that the platform's worker gets from the script, which it imports."""
    spec = importlib.util.spec_from_file_location("evaluation_script", EXAMPLES / "evalai" / "main.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.save(path.parent / "labels.npy", LABELS)
    return module.evaluate(str(path.parent / "labels.npy"), str(path), "test", submission_metadata={"id": 1})


def test_evalai_gets_the_same(tmp_path: Path) -> None:
    np.save(tmp_path / "submission.npy", GOOD)
    answer = evalai(tmp_path / "submission.npy")
    assert answer["result"] == [{"test_split": LOWER}]
    assert answer["submission_result"] == LOWER
    assert json.dumps(answer)
    assert answer["submission_metadata"]["verdict"] == dh.audit(dh.Task(GOOD, LABELS), measures="mAP Hit@1").verdict()
    config = (EXAMPLES / "evalai" / "challenge_config.yaml").read_text()
    assert all(part in config for part in ("codename: test\n", "codename: test_split\n", *LOWER))
    for name, (submitted, said) in list(BAD.items())[:2]:
        np.save(tmp_path / f"{name}.npy", submitted, allow_pickle=True)
        with pytest.raises(ValueError, match=r"^refused: ") as caught:
            evalai(tmp_path / f"{name}.npy")
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
    bomb(tmp_path / "bomb.npz")
    with pytest.raises(ValueError, match=r"^refused: "):
        evalai(tmp_path / "bomb.npz")


@pytest.fixture
def submissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write labels and archives, good and bad, into the current directory."""
    monkeypatch.chdir(tmp_path)
    np.save("labels.npy", LABELS)
    rows = {"good": GOOD, "again": 2 * GOOD, "zeros": np.zeros_like(GOOD)}  # the second is the same by cosine
    for name, submitted in (rows | {name: BAD[name][0] for name in ("short", "nan", "text")}).items():
        np.savez(f"{name}.npz", embeddings=submitted)
    bomb(Path("bomb.npz"))
    return sorted(path.name for path in Path().glob("*.npz"))


SHORT = "labels.npy: labels must have one entry per row of short.npz, but got 48 labels for 47 rows"


def test_a_public_board_without_a_platform(submissions: list[str]) -> None:
    words = (*submissions, "--labels", "labels.npy", "--public", "-m", "mAP Hit@1", "--json", "board.json")
    text = calling.passed("leaderboard", *words)
    rows = [line.split() for line in text.splitlines()]
    shown = [f"{value:.2f}" for value in LOWER.values()]
    assert rows[1:3] == [["1", "again", *shown], ["1", "good", *shown]]
    assert rows[3][:2] == ["3", "zeros"]
    assert "4 submissions refused:" in text
    board = json.loads(Path("board.json").read_text())
    assert {*board["refused"]} == {"short", "nan", "text", "bomb"}
    assert all("\n" not in reason for reason in board["refused"].values())
    values = [value for row in board["public"] for value in row["measures"].values()]
    assert values == [round(value, 2) for value in values]
    assert board["refused"]["short"] == SHORT
    for given in (["good.npz"], ["good.npz", "--labels", "labels.npy", "--explain"]):
        assert calling.reason("leaderboard", *given, "--public").startswith("--public ")


def test_a_board_without_a_submission_that_can_be_ranked_fails(submissions: list[str]) -> None:
    labels = ("--labels", "labels.npy", "--public")
    ran = calling.run("leaderboard", "short.npz", "nan.npz", *labels)
    assert (ran.exit_code, "2 submissions refused:" in ran.stdout) == (2, True)
    assert ran.stderr == "deadheat: no submission could be ranked: all 2 were refused\n"
    alone = calling.run("leaderboard", "nan.npz", *labels, "--json", "-")
    assert json.loads(alone.stdout)["public"] == []
    assert (alone.exit_code, alone.stderr) == (2, "deadheat: no submission could be ranked: the only one was refused\n")


def test_a_file_with_too_few_rows_is_named_without_public_too(submissions: list[str]) -> None:
    assert calling.refused("leaderboard", "good.npz", "short.npz", "--labels", "labels.npy") == SHORT
    with pytest.raises(ValueError, match="^" + re.escape(SHORT.removeprefix("labels.npy: "))):
        dh.Task("short.npz", "labels.npy")
