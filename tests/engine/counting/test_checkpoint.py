"""Checkpoints: what is in one is whole, of this run, and all that was finished, whatever happened to the run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keyed import in_many_portions
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.engine.counting import checkpoint
from deadheat.engine.counting.checkpoint import Checkpoint

MANIFEST, LOCK = "deadheat-checkpoint.json", "deadheat-checkpoint.lock"
IDENTITY = {name: sha256(name.encode()).hexdigest() for name in ("query embeddings", "labels")}
IDENTITY |= {"distance": "cosine", "ties": "exact", "portions": "8"}


def arrays(number: int, size: int = 5) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a portion: others for each number."""
    rng = np.random.default_rng(number)
    return {
        "groups": rng.integers(-(2**62), 2**62, (4, size)),
        "flags": rng.integers(0, 2, size).astype(bool),
        "none": np.empty((0, 3), dtype=np.int32),
        "one": np.array(number, dtype=np.uint64),
    }


def assert_same(actual: dict[str, Any] | None, expected: dict[str, Any]) -> None:
    assert actual is not None
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert_array_equal(actual[name], array, strict=True)


def loaded(kept: Checkpoint) -> list[int]:
    """The numbers of the portions that are there and whole, of the first hundred."""
    return [number for number in range(100) if kept.load(number) is not None]


def saved_files(directory: Path) -> list[int]:
    """The numbers of the portions of which there is a file, whole or not."""
    return sorted(int(path.stem.removeprefix("portion-")) for path in directory.glob("portion-*.npz"))


def opened(directory: Path, **changes: str) -> Checkpoint:
    return Checkpoint(directory, IDENTITY | changes)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with portions 0, 1 and 4."""
    with opened(tmp_path / "kept") as kept:
        for number in (4, 0, 1):
            kept.save(number, arrays(number))
    return tmp_path / "kept"


def refused(directory: Path, **changes: str) -> str:
    with pytest.raises(ValueError, match=r"^checkpoint '.*' .*$") as caught:
        opened(directory, **changes)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"checkpoint '{directory}' ")


# What goes in comes out -----------------------------------------------------------------------------------------------


def test_what_is_saved_is_loaded_and_readable_without_us(tmp_path: Path) -> None:
    with opened(tmp_path) as kept:
        assert (loaded(kept), kept.load(7)) == ([], None)
        for saved in (arrays(7), arrays(8)):
            kept.save(7, saved)
            assert_same(kept.load(7), saved)
        assert loaded(kept) == [7]
    with np.load(tmp_path / "portion-00000007.npz", allow_pickle=False) as archive:
        assert_same(dict(archive), arrays(8))
    assert json.loads((tmp_path / MANIFEST).read_text()) == {"format": checkpoint._FORMAT, **IDENTITY}


def test_portions_are_saved_from_many_threads(tmp_path: Path) -> None:
    with opened(tmp_path) as kept, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: kept.save(number, arrays(number)), range(64)))
    with opened(tmp_path) as kept:
        assert loaded(kept) == list(range(64))


# Damage ---------------------------------------------------------------------------------------------------------------


def damaged(folder: Path, content: bytes) -> None:
    """Portion 1 with other bytes is noticed, and can be saved again."""
    path = folder / "portion-00000001.npz"
    before = path.read_bytes()
    path.write_bytes(content)
    with opened(folder) as kept:
        assert loaded(kept) == [0, 4]
        kept.save(1, arrays(1))
        assert loaded(kept) == [0, 1, 4]
    assert path.read_bytes() == before


def test_a_byte_that_changes_and_an_end_that_does_not_fit_are_noticed(folder: Path) -> None:
    content = (folder / "portion-00000001.npz").read_bytes()
    for position in (*range(0, len(content), 97), len(content) - 65, len(content) - 1):
        damaged(folder, content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :])
    for end in [0, 1, 63, 64, 65, -65, -64, -63, -1, len(content) // 2]:
        damaged(folder, content[:end])
    damaged(folder, content + bytes(64))


def test_a_portion_passes_for_no_other(folder: Path, tmp_path: Path) -> None:
    damaged(folder, (folder / "portion-00000004.npz").read_bytes())
    with opened(tmp_path / "other", distance="euclidean") as other:
        other.save(1, arrays(1))
    damaged(folder, (tmp_path / "other" / "portion-00000001.npz").read_bytes())


def test_what_is_damaged_gone_or_no_file_after_the_start_is_not_done(folder: Path) -> None:
    with opened(folder) as kept:
        assert loaded(kept) == [0, 1, 4]
        os.truncate(folder / "portion-00000004.npz", 100)
        (folder / "portion-00000000.npz").unlink()
        assert loaded(kept) == [1]
        (folder / "portion-00000000.npz").mkdir()
        assert loaded(kept) == [1]
        with pytest.raises(OSError, match=r"cannot write checkpoint '.*': .*it is a folder"):
            kept.save(0, arrays(0))


# The directory --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gallery embeddings": sha256(b"").hexdigest()}, "gallery embeddings here and none there"),
        ({"labels": "none"}, "labels there and none here"),
        ({"junk": "mask"}, "junk is 'none' there and 'mask' here"),
        ({"labels": "0" * 64, "ties": "float16", "portions": "9"},
         "other labels, ties is 'exact' there and 'float16' here, portions is '8' there and '9' here"),
        ({"format": "deadheat.Checkpoint 5"},
         "format is 'deadheat.Checkpoint 4' there and 'deadheat.Checkpoint 5' here"),
    ],
)  # fmt: skip
def test_another_identity(changes: dict[str, str], message: str, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for _ in range(2):  # and the lock is free
        refusal = refused(folder, **changes)
        assert refusal == f"is of other data or options: {message}; give another directory or remove it"
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 1}', b"\xff\xfe", bytes(200)])
def test_a_damaged_manifest(content: bytes, folder: Path) -> None:
    (folder / MANIFEST).write_bytes(content)
    assert refused(folder) == f"has portions but a damaged '{MANIFEST}'; give another directory or remove it"
    for path in folder.glob("portion-*"):
        path.unlink()
    with opened(folder) as kept:
        kept.save(0, arrays(0))
    with opened(folder) as kept:
        assert loaded(kept) == [0]


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path, folder: Path) -> None:
    (folder / MANIFEST).unlink()
    for directory, name in ((tmp_path, "kept"), (folder, "portion-00000000.npz")):
        before = sorted(directory.iterdir())
        assert refused(directory) == f"must be a new or empty directory, or a checkpoint, but holds {name!r}"
        assert sorted(directory.iterdir()) == before


def test_other_files_in_a_checkpoint_stay_and_the_order_of_its_identity_does_not_matter(folder: Path) -> None:
    others = ("notes.txt", ".hidden", ".portion-1.npz", "portion-1.npz", ".portion-00000001.npz")
    for name in others:
        (folder / name).write_text(name)
    with Checkpoint(folder, dict(reversed(IDENTITY.items()))) as kept:
        assert loaded(kept) == [0, 1, 4]
    assert [(folder / name).read_text() for name in others] == list(others)


def test_what_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert refused(tmp_path / "file") == "must be a directory, but is a file"
    for parent in (tmp_path / "file", tmp_path / "no"):
        rule = f"must be in a directory that exists, but there is no directory '{parent}'"
        assert refused(parent / "below") == rule
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    with pytest.raises(TypeError, match=r"^checkpoint must be a path \(a string or a path object\), but is 5$"):
        Checkpoint(5, IDENTITY)  # type: ignore[arg-type]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    for path, directory in ((folder, folder), (tmp_path, tmp_path / "new")):
        (folder / LOCK).unlink(missing_ok=True)
        path.chmod(0o500)
        try:
            with pytest.raises(PermissionError, match=f"cannot open checkpoint '{directory}': Permission denied$"):
                opened(directory)
        finally:
            path.chmod(0o700)


# Two runs at once -----------------------------------------------------------------------------------------------------


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with opened(tmp_path) as closed:
        assert refused(tmp_path) == refused(tmp_path, distance="euclidean") == "is in use by another run"
        closed.save(0, arrays(0))
    kept = opened(tmp_path)
    assert loaded(kept) == [0]
    assert refused(tmp_path) == "is in use by another run"
    del kept  # forgotten, it is free
    opened(tmp_path).close()
    closed.close()  # again


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    with opened(tmp_path) as kept, opened(tmp_path) as again:
        kept.save(0, arrays(0))
        again.save(1, arrays(1))
        assert loaded(kept) == loaded(again) == [0, 1]


# Runs that end early --------------------------------------------------------------------------------------------------

PORTIONS = 12
RUN = f"""
import os, signal, sys
sys.path[:0] = {[str(folder) for folder in Path(__file__).parents[:3]]!r}
from test_checkpoint import PORTIONS, Path, arrays, opened

def kill_at(function, call):
    calls, original = [], getattr(os, function)
    def counted(*args):
        calls.append(None)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*args)
    setattr(os, function, counted)

def run(directory, size):
    with opened(Path(directory)) as kept:
        for number in range(PORTIONS):
            if kept.load(number) is None:
                kept.save(number, arrays(number, size))
                print(number, flush=True)
"""


def program(code: str) -> list[str]:
    return [sys.executable, "-c", RUN + code]


def assert_complete(directory: Path, size: int) -> None:
    """The portions are there, nothing else is."""
    with opened(directory) as kept:
        assert loaded(kept) == saved_files(directory) == list(range(PORTIONS))
        for number in range(PORTIONS):
            assert_same(kept.load(number), arrays(number, size))
    assert len(list(directory.iterdir())) == PORTIONS + 2


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("call", [1, 2, 4])  # the manifest, portion 0, portion 2
@pytest.mark.parametrize("function", ["fsync", "chmod", "replace"])
def test_killed_at_a_step_of_saving(function: str, call: int, tmp_path: Path) -> None:
    directory = tmp_path / "kept"
    code = f"kill_at({function!r}, {call}); run({str(directory)!r}, 5)"
    done = subprocess.run(program(code), capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = len([path for path in directory.iterdir() if path.name.startswith(".")])
    assert left == 1 or (function == "fsync" and left == 0)  # until then the file need not have a name
    saved = [int(line) for line in done.stdout.split()]
    assert saved == list(range(call - 2))
    with opened(directory) as kept:
        assert loaded(kept) == saved_files(directory) == saved
        for number in set(range(PORTIONS)) - set(saved):
            kept.save(number, arrays(number))
    assert_complete(directory, 5)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_run_lets_go_of_its_lock(tmp_path: Path) -> None:
    code = f"kept = opened(Path({str(tmp_path)!r})); print('open', flush=True); signal.pause()"
    with subprocess.Popen(program(code), stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "open\n"
        assert refused(tmp_path) == "is in use by another run"
        run.kill()
    opened(tmp_path).close()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to the size of a file")
def test_a_full_disk(folder: Path) -> None:
    """A file that may not grow any more stands for a disk that is full."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = sorted(folder.iterdir())
    with opened(folder) as kept:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        try:
            with pytest.raises(OSError, match=f"^\\[Errno .*\\] cannot write checkpoint '{folder}': File too large$"):
                kept.save(2, arrays(2, 10_000))
            with pytest.raises(OSError, match="File too large"):
                kept.save(1, arrays(2, 10_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert sorted(folder.iterdir()) == before
        assert_same(kept.load(1), arrays(1))
        assert kept.load(2) is None
        kept.save(2, arrays(2, 10_000))
    with opened(folder) as kept:
        assert loaded(kept) == [0, 1, 2, 4]


def test_a_directory_that_is_gone(folder: Path) -> None:
    with opened(folder) as kept:
        shutil.rmtree(folder)
        with pytest.raises(FileNotFoundError, match=f"cannot write checkpoint '{folder}': No such file or directory"):
            kept.save(2, arrays(2))


@pytest.mark.parametrize("executor", [None, "threads"])
def test_a_run_that_resumes_says_what_it_found(
    executor: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    in_many_portions(monkeypatch)
    points, labels = np.random.default_rng(3).normal(size=(120, 4)), np.arange(120) % 40
    caplog.set_level("INFO", "deadheat")
    with ThreadPoolExecutor(2) as pool:
        settings: Any = {"checkpoint": tmp_path / "kept", "executor": executor and pool}
        whole = dh.Task(points, labels, **settings).profile
        assert not caplog.messages  # nothing was there
        kept = sorted((tmp_path / "kept").glob("portion-*.npz"))
        for path in kept[2:]:
            path.unlink()
        assert dh.Task(points, labels, **settings, progress=True).profile == whole
    said = f"resuming: 2 of {len(kept)} portions found in checkpoint '{tmp_path}/kept'"
    assert caplog.messages == [said]
    assert capsys.readouterr().err.startswith(f"{said}\n")
