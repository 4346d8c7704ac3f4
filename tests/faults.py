"""Every failure once: the nth call of one kind fails, for n = 1, 2, ... to the end of a run, and the run ends well.

    python -m tests.faults                              every call of every kind, in every run: minutes
    python -m tests.faults --only csv board --fault read --most 20

`faults.cpp` is compiled and preloaded: it stands before the C library and before `operator new` of the core, and so
sees calls of NumPy, h5py and the core. A run ends well if it returns what it does without a fault, or raises an error
of deadheat, an `OSError` or a `MemoryError`, on the command line in one line; if its files are as they were or whole;
if no other file, descriptor, thread or process is left; and if the next run returns the same. Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import faulthandler
import gc
import io
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import deadheat as dh
from deadheat import _core
from deadheat.cli.main import main as deadheat
from deadheat.engine.counting import executors
from deadheat.support import scratch

ROOT = Path(__file__).parents[1]
LIBRARY = "DEADHEAT_FAULTS"  # set in the environment to the library that is preloaded
KINDS = [  # as in faults.cpp
    "open", "read", "write", "flush", "close", "rename", "folder", "reserve", "map", "fork", "thread", "new", "memory",
]  # fmt: skip
MODES = ["", "on", "short", "interrupted"]  # as in faults.cpp: once, always, with fewer bytes, with EINTR
FAULTS = [
    *KINDS, "write-on", "new-on", "memory-on", "thread-on",
    "read-short", "write-short", "read-interrupted", "write-interrupted",
]  # fmt: skip
OF_NUMPY = "returned NULL without setting an exception"  # SystemError of `ufunc.at` without memory
NUMBER, DIM = 60, 6
NOT_OURS = {("processes", "fork"), ("processes", "thread"), ("processes", "thread-on")}  # a pool that starts hangs
WAIT = 20  # seconds after which a run hangs


class World(NamedTuple):
    """The folder of the input of a run, that of its output, and that of temporary files."""

    given: Path
    out: Path
    temporary: Path


def on_the_command_line(world: World, *words: str) -> Any:
    """Run a command in this process; a traceback is an error of the class that it shows."""
    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(world.given):
        try:
            deadheat([*words])
        except SystemExit as exit_:
            status = exit_.code
    if status == 0:
        return out.getvalue()
    assert re.fullmatch(r"(deadheat: (?!unexpected).+\n)+", err.getvalue()), f"status {status}, {err.getvalue()!r}"
    assert status == 2, status
    raise OSError(err.getvalue())


def evaluated(world: World, file: str, **options: Any) -> Any:
    labels = None if file.endswith(("npz", "csv", "parquet", "h5", "safetensors")) else world.given / "labels.npy"
    return dh.Task(world.given / file, labels, threads=2, **options).profile.digest()


def with_executor(world: World, pool: Any) -> Any:
    with pool(2) as executor:
        return evaluated(world, "fortran.npy", executor=executor)


EVALUATE = ("evaluate", "rows.npz", "--threads", "2", "--force", "-q", "-m", "mAP")
BOARD = ("leaderboard", "rows.npz", "--labels", "labels.npy", "--public", "-m", "mAP", "--threads", "1", "--force")
RUNS: dict[str, Callable[[World], Any]] = {
    **{file: lambda world, file=f"rows.{file}": evaluated(world, file)
       for file in ("npy", "npz", "csv", "parquet", "h5", "safetensors", "fvecs")},
    "fortran": lambda world: evaluated(world, "fortran.npy"),
    "trec": lambda world: dh.from_run(world.given / "system.run", world.given / "qrels.txt").profile.digest(),
    "checkpoint": lambda world: evaluated(world, "rows.npz", checkpoint=world.out / "checkpoint"),
    "receipt": lambda world: on_the_command_line(world, *EVALUATE, "--receipt", f"{world.out}/receipt.json"),
    "page": lambda world: on_the_command_line(world, *EVALUATE, "--html", f"{world.out}/page.html"),
    "profile": lambda world: on_the_command_line(world, *EVALUATE, "--save-profile", f"{world.out}/profile.npz"),
    "per-query": lambda world: on_the_command_line(world, *EVALUATE, "--per-query", f"{world.out}/queries.csv"),
    "board": lambda world: on_the_command_line(world, *BOARD, "--json", f"{world.out}/board.json"),
    "threads": lambda world: with_executor(world, ThreadPoolExecutor),
    "processes": lambda world: with_executor(world, ProcessPoolExecutor),
}  # fmt: skip


def write_inputs(folder: Path) -> None:
    import h5py
    import pyarrow as pa
    import pyarrow.parquet
    from safetensors.numpy import save_file

    rng = np.random.default_rng(0)
    rows, labels = rng.integers(-2, 3, (NUMBER, DIM)).astype(np.float32), rng.integers(0, 5, NUMBER)
    np.save(folder / "rows.npy", rows)
    np.save(folder / "fortran.npy", np.asfortranarray(rows))
    np.save(folder / "labels.npy", labels)
    np.savez(folder / "rows.npz", embeddings=rows, labels=labels)
    np.savez(folder / "other.npz", embeddings=rows[:, ::-1] + 1, labels=labels)
    text = ["label," + ",".join(f"d{k}" for k in range(DIM))]
    text += [f"{label},{','.join(map(str, row))}" for label, row in zip(labels, rows, strict=True)]
    (folder / "rows.csv").write_text("\n".join(text) + "\n")
    table = pa.table({"label": labels, "embedding": pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), DIM)})
    pyarrow.parquet.write_table(table, folder / "rows.parquet")
    with h5py.File(folder / "rows.h5", "w") as file:
        file["embeddings"], file["labels"] = rows, labels
    save_file({"embeddings": rows, "labels": labels}, folder / "rows.safetensors")
    heads = np.full((NUMBER, 1), DIM, "<i4").view(np.float32)
    np.hstack([heads, rows]).tofile(folder / "rows.fvecs")
    run = [f"q{i % 9} Q0 d{i} {i} {i % 4} x" for i in range(NUMBER)]
    (folder / "system.run").write_text("\n".join(run) + "\n")
    (folder / "qrels.txt").write_text("".join(f"q{i % 9} 0 d{i} {i % 3 % 2}\n" for i in range(NUMBER)))


class Left(NamedTuple):
    """The resources of this process, and the temporary files, that a run must leave as they were."""

    descriptors: int
    threads: int
    processes: str
    files: list[str]


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of all files of a folder, without the time and the lock of a run."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


class Harness:
    """The preloaded library, and one run after the other with one call failing."""

    def __init__(self, world: World) -> None:
        self.world, self.library = world, ctypes.CDLL(os.environ[LIBRARY])
        self.library.faults_disarm.restype = ctypes.c_long
        self.library.faults_arm.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int]
        numpy_core = sys.modules["numpy._core._multiarray_umath"].__file__
        bounds: list[int] = []
        for name in (_core.__file__, os.path.realpath(sys.executable), numpy_core):
            lines = [line for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(str(name))]
            edges = [int(edge, 16) for line in lines for edge in line.split()[0].split("-")]
            bounds += [min(edges), max(edges)]
        self.library.faults_ranges((ctypes.c_size_t * 6)(*bounds))
        self.failures: list[str] = []
        self.expected: dict[str, tuple[Any, dict[str, bytes]]] = {}  # the result and the files without a fault
        self.old: dict[str, list[str]] = {}  # files of the output that are there before
        self.log = (world.given.parent / "log").open("w")  # has the last call, where even this process dies

    def clean(self) -> None:
        shutil.rmtree(self.world.out, ignore_errors=True)
        self.world.out.mkdir()

    def result(self, run: Callable[[World], Any]) -> tuple[Any, dict[str, bytes]]:
        return run(self.world), files_of(self.world.out)

    def now(self, name: str) -> Left:
        processes = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        files = sorted(str(path.relative_to(self.world.temporary)) for path in self.world.temporary.rglob("*"))
        # pyarrow keeps threads of its own
        n_thread = threading.active_count() if name == "parquet" else len(os.listdir("/proc/self/task"))
        return Left(len(os.listdir("/proc/self/fd")), n_thread, processes, files)

    def left(self, name: str) -> Left:
        """Return what is left once threads that close files have ended."""
        gc.collect()
        for _ in range(100):
            left = self.now(name)
            if left == self.before:
                break
            time.sleep(0.01)
        return left

    def once(self, name: str, fault: str, n: int, expected: Any, old: dict[str, bytes]) -> str | None:
        """Let the nth call fail; return what is wrong, "" for nothing, and None if there was no nth call."""
        run, world = RUNS[name], self.world
        kind, _, how = fault.partition("-")
        wrong, error = "", None
        self.library.faults_arm(KINDS.index(kind), n, MODES.index(how))
        try:
            value = run(world)
        except BaseException as raised:
            error = raised
        n_call = self.library.faults_disarm()
        if error is not None:
            is_known = isinstance(error, dh.errors.DeadheatError | OSError | MemoryError)
            if not (is_known or str(error).endswith(OF_NUMPY)) or how in ("short", "interrupted"):
                wrong += f"{type(error).__name__}: {error}; " + "".join(traceback.format_exception(error, limit=-3))
            traceback.clear_frames(error.__traceback__)
            error = None
        elif value != expected[0]:
            wrong += f"another result, {value!r}; "
        left = self.left(name)
        if left != self.before:
            wrong += f"{left} for {self.before}; "
        for path, content in files_of(world.out).items():
            if content not in (old.get(path), expected[1].get(path)):
                wrong += f"{path} is half written, or left; "
        if n_call < 0 and not wrong:
            return None
        if self.result(run) != expected:
            wrong += "another result of the next run; "
        return wrong

    def in_a_process(self, *given: Any) -> str | None:
        """Call `once` in a process of its own, which may die."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            faulthandler.dump_traceback_later(WAIT - 1)
            signal.alarm(WAIT)
            self.before = self.now(given[0])
            with os.fdopen(writing, "wb") as file:
                pickle.dump(self.once(*given), file)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            answer = file.read()
        status = os.waitpid(child, 0)[1]
        return f"the process died with status {status}" if status else pickle.loads(answer)

    def check(self, name: str, fault: str, most: int | None) -> int:
        """Let the first, second, ... call of a run fail; return how many there are."""
        n_failure = len(self.failures)
        for n in range(1, (most or 10**9) + 1):
            self.clean()
            for path in self.old[name]:
                (self.world.out / path).write_bytes(b"old")
            old = files_of(self.world.out)
            print(f"{name}, {fault} {n}", file=self.log, flush=True)
            wrong = self.in_a_process(name, fault, n, self.expected[name], old)
            if wrong is None:
                return n - 1
            if wrong:
                self.failures.append(f"{name}, {fault} {n}: {wrong}")
                print(self.failures[-1], flush=True)
                if len(self.failures) - n_failure >= 3:
                    break
        return n


def library(folder: Path) -> Path:
    """Compile `faults.cpp`."""
    path = folder / "faults.so"
    options = ["-std=c++20", "-O1", "-shared", "-fPIC", "-Wall", "-Werror"]
    subprocess.run([os.environ.get("CXX", "c++"), *options, "-o", path, Path(__file__).with_suffix(".cpp")], check=True)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS), metavar="RUN", help=" ".join(RUNS))
    parser.add_argument("--skip", nargs="+", choices=RUNS, default=[], metavar="RUN")
    parser.add_argument("--fault", nargs="+", choices=FAULTS, default=FAULTS, metavar="FAULT", help=" ".join(FAULTS))
    parser.add_argument("--most", type=int, help="calls of each kind and run; default: all")
    given = parser.parse_args()
    if LIBRARY not in os.environ:
        return preloaded(sys.argv[1:])
    faulthandler.enable()
    warnings.simplefilter("ignore")
    folder = Path(tempfile.gettempdir()).parent
    world = World(folder / "given", folder / "out", folder / "temporary")
    world.given.mkdir()
    write_inputs(world.given)
    # as if data were large
    scratch.WORTH_A_FILE, scratch._WORKING, executors.MOST_SENT = 1 << 10, 1 << 16, 1 << 8
    harness = Harness(world)
    total = 0
    for name in (name for name in given.only if name not in given.skip):
        started, counts = time.monotonic(), {}
        for _ in range(2):  # what is imported or kept at the first time is no call of a run
            harness.clean()
            first, harness.expected[name] = harness.expected.get(name), harness.result(RUNS[name])
        assert first == harness.expected[name], f"{name} has two results without a fault"
        gc.collect()
        gc.freeze()  # so that a collection takes no time
        time.sleep(0.1)
        harness.old[name] = [] if name == "checkpoint" else list(harness.expected[name][1])
        for fault in given.fault:
            if (name, fault) not in NOT_OURS:
                counts[fault] = harness.check(name, fault, given.most)
        total += sum(counts.values())
        shown = ", ".join(f"{n} {fault}" for fault, n in counts.items() if n)
        print(f"{name}: {shown}, {time.monotonic() - started:.0f} s", flush=True)
    print(f"{total} faults, {len(harness.failures)} end badly")
    return 1 if harness.failures else 0


def preloaded(arguments: list[str]) -> int:
    """Run this module again with the library, and say at which call it died."""
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        (folder / "temporary").mkdir()
        path = str(library(folder))
        environment = {"LD_PRELOAD": path, LIBRARY: path, "TMPDIR": f"{name}/temporary", "DEADHEAT_DEBUG": "1"}
        command = [sys.executable, "-m", "tests.faults", *arguments]
        done = subprocess.run(command, env=os.environ | environment, cwd=ROOT, check=False)
        if done.returncode not in (0, 1, 2):
            print(f"died with {done.returncode} at {(folder / 'log').read_text().splitlines()[-1]}")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
