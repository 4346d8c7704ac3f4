"""Whatever is written for a while goes with the process, however it ends: asked to (SIGTERM), or killed (SIGKILL)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deadheat.support import scratch

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files without a name are those of Linux")

_READS = "import deadheat, sys; deadheat.evaluate(sys.argv[1], [0, 1]); raise SystemExit('it has ended')"
_SPOOLS = """
import sys, time
import deadheat.inputs.samples
kept = deadheat.inputs.samples.open_rows(sys.argv[1], "gallery")
print("ready", flush=True)
time.sleep(600)
"""
_COUNTS = """
import sys, time, numpy as np
from deadheat.support import scratch
kept = scratch.arrays(3, 8 << 20)
print("ready", flush=True)
time.sleep(600)
"""
_WRITES = """
import sys, time
from deadheat.support.atomic import replacing
with replacing(sys.argv[1]) as file:
    file.write(bytes(1 << 22))
    file.flush()
    print("ready", flush=True)
    time.sleep(600)
"""


def taken(process: subprocess.Popen[bytes], folder: Path) -> int:
    """The bytes on disk of what a process has open in a folder, with a name or without."""
    sizes = {}
    for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
        if os.path.realpath(descriptor).startswith(f"{folder}/"):
            state = os.stat(descriptor)
            sizes[state.st_ino] = 512 * state.st_blocks
    return sum(sizes.values())


def after(
    code: str, argument: Path, folder: Path, how: signal.Signals, ready: Callable[[subprocess.Popen[bytes]], bool]
) -> list[str]:
    """Start a process, end it when it is ready, and say what is left in its folder for temporary files."""
    environment = os.environ | {"TMPDIR": str(folder)}
    process = subprocess.Popen([sys.executable, "-c", code, str(argument)], env=environment, stdout=subprocess.PIPE)
    try:
        until = time.monotonic() + 60
        while not ready(process):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        assert taken(process, folder) >= 1 << 20
        process.send_signal(how)
        assert process.wait(60) == -how
    finally:
        process.kill()
        process.communicate()
    return os.listdir(folder)


def said_so(process: subprocess.Popen[bytes]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == b"ready\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "temporary"
    made.mkdir()
    return made


ending = pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])


@ending
def test_a_stream_that_does_not_end(how: signal.Signals, tmp_path: Path, folder: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", "while :; do printf '%01023d\\n' 0; done > \"$0\"", str(tmp_path / "pipe")])
    try:
        assert after(_READS, tmp_path / "pipe", folder, how, lambda process: taken(process, folder) > 3 << 20) == []
    finally:
        writer.kill()
        writer.wait()


@ending
def test_rows_that_are_copied(how: signal.Signals, tmp_path: Path, folder: Path) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(np.ones((1000, 500))))
    assert after(_SPOOLS, tmp_path / "a.npy", folder, how, said_so) == []


@ending
def test_the_arrays_of_a_profile(how: signal.Signals, tmp_path: Path, folder: Path) -> None:
    assert after(_COUNTS, tmp_path, folder, how, said_so) == []


@ending
def test_a_file_that_is_half_written(how: signal.Signals, folder: Path) -> None:
    (folder / "out").write_text("as it was")
    assert after(_WRITES, folder / "out", folder, how, said_so) == ["out"]
    assert (folder / "out").read_text() == "as it was"


_SHARES = """
import sys, time
from deadheat.engine.counting.distributed.job import Writer
from deadheat.support.scratch import LocalCopies
copies = LocalCopies("the key of a run")
copies.path("file://" + sys.argv[1])
writer = Writer(None)
print("ready", flush=True)
time.sleep(600)
"""


@ending
def test_folders_that_processes_share_are_deleted_by_the_next(
    how: signal.Signals, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "a.npy").write_bytes(bytes(1 << 20))
    for name, users in (("deadheat-job-new", True), ("deadheat-other", False)):
        (folder / name).mkdir()
        if users:
            (folder / name / "users").touch()
    environment = os.environ | {"TMPDIR": str(folder)}
    command = [sys.executable, "-c", _SHARES, str(tmp_path / "a.npy")]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    for process in started:
        request.addfinalizer(process.communicate)
        request.addfinalizer(process.kill)
    assert [said_so(process) for process in started] == [True, True]
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    kept = [path for path in folder.iterdir() if path.name not in ("deadheat-job-new", "deadheat-other")]
    assert len(kept) == 3  # two jobs, and the copies that both use
    for path in (*kept, folder / "deadheat-other"):
        os.utime(path, (1, 1))

    def left(process: subprocess.Popen[bytes] | None) -> set[str]:
        """What is there when a process has ended and the next has come."""
        if process is not None:
            process.send_signal(how)
            process.wait(60)
        (folder / "deadheat-mine").mkdir()
        with scratch.opened_folder(str(folder / "deadheat-mine")):
            found = {path.name for path in folder.iterdir()} - {"deadheat-mine"}
        shutil.rmtree(folder / "deadheat-mine")
        return found

    always, (copies,) = {"deadheat-job-new", "deadheat-other"}, [path for path in kept if "copies" in path.name]
    assert left(None) == {path.name for path in kept} | always
    after_one = left(started[0]) - always
    assert len(after_one) == 2
    assert copies.name in after_one
    os.utime(copies, (1, 1))
    assert left(started[1]) == always
