"""The first calls of a run fail, one by one; `python -m tests.faults` goes on to the last, in every run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="calls are counted by a preloaded library of glibc"),
    pytest.mark.skipif(not shutil.which(os.environ.get("CXX", "c++")), reason="the library needs a compiler"),
]


def check(*words: str) -> str:
    command = [sys.executable, "-m", "tests.faults", *words]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_a_run_ends_well_whichever_of_its_first_calls_fails() -> None:
    assert ", 0 end badly" in check("--only", "npy", "checkpoint", "receipt", "--most", "2")


@pytest.mark.slow
def test_every_run_ends_well() -> None:
    said = check("--most", "1", "--only", "npz", "trec", "profile", "threads")
    for kind in ("open", "write", "flush", "rename", "reserve", "map", "thread", "new", "memory"):
        assert f" {kind}" in said
