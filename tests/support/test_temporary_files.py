"""Temporary files go with the process, however it ends; and files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat.support import atomic, scratch

linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="files without a name are those of Linux")
_WAITS = "import sys, time\n{}\nprint('ready', flush=True)\ntime.sleep(600)"
WORK = {  # what takes disk space in a folder until its process ends
    "rows": "import deadheat.inputs.samples as samples; kept = samples.open_rows(sys.argv[1] + '/a.npy', 'gallery')",
    "arrays": "from deadheat.support import scratch; kept = scratch.arrays(3, 8 << 20)",
    "file": "from deadheat.support.atomic import replacing; kept = replacing(sys.argv[1] + '/out')\n"
    "file = kept.__enter__(); file.write(bytes(1 << 22)); file.flush()",
}
_OWNS = """
import tempfile
from deadheat.support.scratch import opened_folder, own_copy
own_copy("file://" + sys.argv[1])
users = opened_folder(tempfile.mkdtemp(prefix="deadheat-job-"))
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


@linux
@pytest.mark.parametrize(("work", "how"), [*((work, signal.SIGKILL) for work in WORK), ("file", signal.SIGTERM)])
def test_copied_rows_arrays_of_a_profile_and_half_of_a_file(how: signal.Signals, work: str, folder: Path) -> None:
    np.save(folder / "a.npy", np.asfortranarray(np.ones((1000, 500))))
    (folder / "out").write_text("as it was")
    assert sorted(after(_WAITS.format(WORK[work]), folder, folder, how, said_so)) == ["a.npy", "out"]
    assert (folder / "out").read_text() == "as it was"


@linux
def test_folders_of_killed_processes_are_deleted_by_the_next(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "a.npy").write_bytes(bytes(1 << 20))
    for name, users in (("deadheat-job-new", True), ("deadheat-other", False)):
        (folder / name).mkdir()
        if users:
            (folder / name / "users").touch()
    environment = os.environ | {"TMPDIR": str(folder)}
    command = [sys.executable, "-c", _WAITS.format(_OWNS), str(tmp_path / "a.npy")]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    for process in started:
        request.addfinalizer(process.communicate)
        request.addfinalizer(process.kill)
    assert [said_so(process) for process in started] == [True, True]
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    kept = [path for path in folder.iterdir() if path.name not in ("deadheat-job-new", "deadheat-other")]
    assert len(kept) == 4  # of each a job and its copies
    for path in (*kept, folder / "deadheat-other"):
        os.utime(path, (1, 1))

    def left(process: subprocess.Popen[bytes] | None) -> set[str]:
        """Return the folders that are there when a process has ended and the next has come."""
        if process is not None:
            process.kill()
            process.wait(60)
        (folder / "deadheat-mine").mkdir()
        with scratch.opened_folder(str(folder / "deadheat-mine")):
            result = {path.name for path in folder.iterdir()} - {"deadheat-mine"}
        shutil.rmtree(folder / "deadheat-mine")
        return result

    always = {"deadheat-job-new", "deadheat-other"}
    assert left(None) == {path.name for path in kept} | always
    after_one = left(started[0]) - always
    assert sorted(name.split("-")[1] for name in after_one) == ["copies", "job"]
    assert left(started[1]) == always


@pytest.mark.parametrize("worth", [0, 1 << 60])
@pytest.mark.parametrize("fallocate", [False, True])
def test_arrays_hold_what_is_written_when_they_are_let_go(
    worth: int, fallocate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "WORTH_A_FILE", worth)
    monkeypatch.setattr(scratch, "_PIECE", 1000)
    if not fallocate:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    before = os.listdir(tempfile.gettempdir())
    arrays = scratch.arrays(2, 3000)
    assert set(os.listdir(tempfile.gettempdir())) <= set(before)
    assert [array.shape for array in scratch.arrays(1, 0)] == [(0,)]
    for k, array in enumerate(arrays):
        array[:] = np.arange(3000) + k
    scratch.let_go(*arrays, arrays[0][7:9])
    for k, array in enumerate(arrays):
        assert_array_equal(array, np.arange(3000) + k)


@linux
@pytest.mark.parametrize("threads", [True, False])
def test_files_of_arrays_are_closed_with_them(threads: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a thread, or at once where there are no more."""

    def none_left(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    def n_open() -> int:
        return sum(os.path.realpath(each).startswith(f"{folder}/") for each in Path("/proc/self/fd").iterdir())

    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    if not threads:
        monkeypatch.setattr("_thread.start_new_thread", none_left)
    kept = scratch.arrays(2, 8 << 20)
    assert n_open() >= 2
    del kept
    until = time.monotonic() + 60
    while threads and n_open():
        assert time.monotonic() < until
        time.sleep(0.02)
    assert n_open() == 0


@linux
@pytest.mark.parametrize("named", [False, True])
def test_a_scratch_file_whose_closing_fails_is_let_go_without_a_word(
    named: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As with EIO. Nobody can catch what a finalizer raises: Python prints it."""
    if named:
        monkeypatch.setattr("resource.getrlimit", lambda _: (0, 0))
    unnamed, (array,) = scratch.Unnamed(), scratch.arrays(1, 8 << 20)
    for descriptor in (unnamed.file.fileno(), scratch.descriptor_of(array)):
        os.close(descriptor)
    assert os.path.exists(unnamed.path) == named
    del unnamed, array
    time.sleep(0.1)  # one is closed in a thread
    assert capfd.readouterr() == ("", "")


def test_a_full_disk_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(scratch, "_reserve", refuse)
    with pytest.raises(OSError, match=r"cannot keep 4000 MB in temporary files in '.*' \(TMPDIR .*No space") as error:
        scratch.arrays(4, 125_000_000)
    assert error.value.errno == errno.ENOSPC
    assert "\n" not in str(error.value)


WAYS = ["no name", "no /proc", "a name"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way a file is written: as it can be here, or as on systems that lack one thing or the other."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(2, "No such file or directory")

    if request.param == "no /proc":
        monkeypatch.setattr(os, "link", refuse)
    if request.param == "a name":
        monkeypatch.setattr(atomic, "_without_a_name", lambda folder: None)
    return str(request.param)


def test_a_file_takes_the_place_of_another_with_its_permissions(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic.replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        written = [each for each in tmp_path.iterdir() if each != path]
        assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in written)
        if way != "a name" and hasattr(os, "O_TMPFILE"):
            assert written == []
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_what_was_there(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), atomic.replacing(path) as file:
        file.writelines([b"half", "of it"])  # type: ignore[list-item]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_many_pieces_and_places_are_written(way: str, tmp_path: Path) -> None:
    with atomic.replacing(tmp_path / "out") as file:
        file.write(bytes(1 << 20))
        file.seek(3)
        file.write(b"x")
    assert (tmp_path / "out").read_bytes() == bytes(3) + b"x" + bytes((1 << 20) - 4)


def test_space_is_written_where_a_file_system_cannot_reserve_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(scratch, "_PIECE", 64)
    with (tmp_path / "file").open("wb") as file:
        scratch._reserve(file, 200)
    assert (tmp_path / "file").stat().st_size == 200
