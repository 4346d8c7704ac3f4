"""What a user waits for at first: the import, NumPy's with it, the first call, and the command on a tiny file."""

from __future__ import annotations

import functools
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import fresh
from benchmarks.cases import Case
from benchmarks.results import Row

_TIMES = 5

# A text and not a module of this package, which would have NumPy imported before the clock starts.
_PROGRAM = """
import json, time
begin = time.perf_counter()
import deadheat as dh
imported = time.perf_counter()
import numpy as np
dh.evaluate(np.sin(np.arange(800.0)).reshape(100, 8), np.arange(100) % 5)
print(json.dumps({"import": imported - begin, "first": time.perf_counter() - imported}))
"""


_COMMAND = "from deadheat.cli import main; main()"


def measure(case: Case) -> Row:
    """Seconds of one step; the target is of seconds."""
    seconds = _command() if case.data == "command" else _all_steps()[case.data]
    return Row(case, None, seconds, "s", None if case.target is None else seconds, {"evaluate": [seconds]})


@functools.cache
def _all_steps() -> dict[str, float]:
    """Medians of a few fresh processes, of all steps at once."""
    found = [fresh.run(["-c", _PROGRAM], {}) for _ in range(_TIMES)]
    imported, first = (statistics.median(times[step] for times in found) for step in ("import", "first"))
    both = statistics.median(times["import"] + times["first"] for times in found)
    return {"import": imported, "first call": first, "import and first call": both}


def _command() -> float:
    """The median time of ``deadheat evaluate`` on a tiny file, the start of Python included."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tiny.npz"
        rows = np.random.default_rng(0).standard_normal((50, 8))
        np.savez(file, embeddings=rows, labels=np.arange(50) % 5)
        return statistics.median(_seconds_of(["evaluate", str(file)]) for _ in range(_TIMES))


def _seconds_of(arguments: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", _COMMAND, *arguments], check=True, capture_output=True)
    return time.perf_counter() - begin
