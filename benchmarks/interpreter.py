"""The share of an evaluation with two threads in which the interpreter is held: no number of cores makes that less.

A process evaluates again and again. `py-spy record --gil` samples which of its threads holds the interpreter; the share
is that of the samples in which one does. Where py-spy is not installed or may not look into other processes, a thread
of the process itself wakes at random moments (of a Poisson process, which sees averages over time) and asks the kernel
whether it had to wait once more, for the interpreter, before it went on. On a busy machine that finds too little.
"""

from __future__ import annotations

import functools
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import data, fresh, yardsticks
from benchmarks.cases import Case
from benchmarks.data import Unavailable
from benchmarks.results import Row
from benchmarks.timing import Clock

_THREADS = 2
_RATE = 200  # samples a second
_SHORTEST = 6.0  # seconds that are sampled, or more: two evaluations
_PATIENCE = 900.0  # seconds that one evaluation may take
_PROGRAM = ["-m", "benchmarks.interpreter"]


def measure(case: Case, clock: Clock) -> Row:
    """The share, and by which of the two ways it was found."""
    clock.tick("sampling a process that evaluates")
    try:
        share, note = _by_py_spy(case), "by py-spy"
    except Unavailable as why:
        share, note = _by_waits(case, clock.repeats), f"by the waits of a thread of its own, as {why}"
    return Row(case, value=share, unit="share", details={"note": note})


def _by_waits(case: Case, repeats: int) -> float:
    if not sys.platform.startswith("linux"):
        raise Unavailable("py-spy cannot be used, and only Linux counts the waits of a thread")
    return float(fresh.run(_PROGRAM, {"case": case, "repeats": repeats})["share"])


def _by_py_spy(case: Case) -> float:
    """The share of samples in which a thread of a process that evaluates holds the interpreter."""
    places = os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", "")))
    py_spy = shutil.which("py-spy", path=places)
    if py_spy is None:
        raise Unavailable("py-spy is not installed")
    with (
        tempfile.TemporaryDirectory() as folder,
        fresh.talking(_PROGRAM, {"case": case, "repeats": 0}) as says,
    ):
        started = says(_PATIENCE)
        seconds = int(max(_SHORTEST, 2 * started["seconds"] + 1))
        stacks = Path(folder) / "stacks"
        command = [py_spy, "record", "--gil", "--pid", str(started["pid"]), "--rate", str(_RATE)]
        command += ["--duration", str(seconds), "--format", "raw", "--output", str(stacks)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not stacks.is_file():
            said = (done.stderr or done.stdout).strip().splitlines() or [f"it ended with status {done.returncode}"]
            raise Unavailable(f"py-spy may not look: {said[-1]}")
        return held(stacks.read_text()) / (_RATE * seconds)


def held(stacks: str) -> int:
    """The samples in a file of stacks, each with a number at the end of its line."""
    return sum(map(int, re.findall(r" (\d+)$", stacks, re.MULTILINE)))


def _evaluate_for_ever(work: Callable[[], object]) -> None:
    """Say who this is and how long one evaluation takes, and then go on until the parent ends it."""
    begin = time.perf_counter()
    work()
    fresh.say({"pid": os.getpid(), "seconds": time.perf_counter() - begin})
    while True:
        work()


def _share_of_waits(work: Callable[[], object], repeats: int) -> float:
    """The share of random moments at which a thread that wakes has to wait for the interpreter."""
    over, waited = threading.Event(), []
    rng = random.Random(0)

    def sample() -> None:
        while not over.is_set():
            before = _waits()
            time.sleep(rng.expovariate(_RATE))
            waited.append(_waits() > before + 1)  # one is the sleep itself

    thread = threading.Thread(target=sample)
    thread.start()
    for _ in range(repeats):
        work()
    over.set()
    thread.join()
    return statistics.fmean(waited)


def _waits() -> int:
    """Return how often this thread has waited for anything; only Linux has the module and counts for threads."""
    import resource

    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


if __name__ == "__main__":
    given = fresh.settings()
    case = Case(**given["case"])
    evaluate = functools.partial(yardsticks.evaluate, data.make(case), case.distance, _THREADS)
    evaluate()
    if given["repeats"]:
        fresh.say({"share": _share_of_waits(evaluate, given["repeats"])})
    else:
        _evaluate_for_ever(evaluate)
