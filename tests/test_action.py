"""The GitHub action, `action.yml`: its comparison runs as the script that it is; its status and comment are read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
QRELS = "".join(f"q{i} 0 a 1\n" for i in range(20))
GOOD = "".join(f"q{i} Q0 a 1 2 x\nq{i} Q0 b 2 1 x\n" for i in range(20))
BAD = GOOD.replace(" a 1 2 ", " a 3 0 ")

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the steps of an action are for bash")


def action() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="reading an action needs PyYAML (extra test)")
    return dict(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8")))


def run(folder: Path, **given: str) -> tuple[dict[str, str], str, str]:
    """Return the outputs of the comparison, its comment and what it says, for inputs in place of the defaults."""
    content = action()
    (step,) = [step for step in content["runs"]["steps"] if step.get("id") == "compare"]
    inputs = {name: given.get(name, each.get("default")) for name, each in content["inputs"].items()}
    variables = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], text) for name, text in step["env"].items()
    }
    (output, summary) = (folder / name for name in ("output", "summary"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = (
        os.environ | variables | {"PATH": path, "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
    )
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
    comment = Path(outputs["comment"]).read_text()
    assert summary.read_text() == comment
    return outputs, comment, done.stderr


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, text in (("qrels.txt", QRELS), ("good.run", GOOD), ("bad.run", BAD)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("new", "status"), [("good.run", "0"), ("bad.run", "1"), ("missing.run", "2")])
def test_the_status_is_that_of_the_gate_and_the_comment_says_why(runs: Path, new: str, status: str) -> None:
    outputs, comment, said = run(runs, old="good.run", new=new, qrels="qrels.txt", measures="MRR@10")
    assert outputs["status"] == status
    assert said.strip()
    assert comment.endswith(said)
    assert ("| MRR@10" in comment) == (status != "2")


def test_no_text_of_an_input_is_a_command(runs: Path) -> None:
    outputs, _, _ = run(runs, old="good.run", new="$(touch caught); touch caught #", qrels="qrels.txt")
    assert outputs["status"] == "2"
    assert not (runs / "caught").exists()
    scripts = [step["run"] for step in action()["runs"]["steps"]]
    assert [script for script in scripts if "${{" in script] == []


def test_options_are_words_of_their_own(runs: Path) -> None:
    outputs, comment, _ = run(runs, old="good.run", new="good.run", qrels="qrels.txt", options="--by expected -m P@1")
    assert outputs["status"] == "0"
    assert "P@1" in comment


def test_the_workflow_of_the_page_gates(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="reading a workflow needs PyYAML (extra test)")
    page = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(name: quality\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    workflow = yaml.safe_load(block)
    (given,) = [step["with"] for step in workflow["jobs"]["gate"]["steps"] if "deadheat" in step.get("uses", "")]
    assert {*given} <= {*action()["inputs"]}
    assert workflow["permissions"]["pull-requests"] == "write"
    labels, random = np.arange(200) % 16, np.random.default_rng(0).normal(size=(200, 4))
    separated = np.eye(16)[labels]
    np.savez(tmp_path / "old.npz", embeddings=separated, labels=labels)
    for rows, status in ((separated, "0"), (np.zeros((200, 4)), "1"), (random, "1")):  # all ties, and noise
        np.savez(tmp_path / "new.npz", embeddings=rows, labels=labels)
        outputs, *_ = run(tmp_path, **given)
        assert outputs["status"] == status
        for name in ("output", "summary"):
            (tmp_path / name).unlink()
