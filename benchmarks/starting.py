"""The waiting times of a new user: the import, NumPy's with it, the first call, and the command on a tiny file.

Modules are compiled before the clock starts, as those of an installed package are.
"""

from __future__ import annotations

import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import fresh
from benchmarks.cases import Case
from benchmarks.results import Row
from benchmarks.timing import Clock

_TIMES = 5

# A text and not a module of this package, which would have NumPy imported before the clock starts.
_PROGRAM = """
import json, time
begin = time.perf_counter()
import deadheat as dh
imported = time.perf_counter()
import numpy as np
numpy = time.perf_counter()
dh.evaluate(np.sin(np.arange(800.0)).reshape(100, 8), np.arange(100) % 5)
end = time.perf_counter()
print(json.dumps({
    "import": imported - begin, "first call": end - imported, "NumPy's import in it": numpy - imported,
    "import and first call": end - begin,
}))
"""


_COMMAND = "from deadheat.cli.main import main; main()"


def measure(case: Case, clock: Clock) -> Row:
    """Seconds of one step."""
    clock.tick("starting fresh processes")
    seconds = _command() if case.data == "command" else _all_steps()[case.data]
    return Row(case, value=seconds, times={"evaluate": [seconds]})


@functools.cache
def _all_steps() -> dict[str, float]:
    """Medians of a few fresh processes, of all steps at once."""
    with _compiled_once() as environment:
        result = [fresh.run(["-c", _PROGRAM], {}, environment) for _ in range(1 + _TIMES)][1:]
    return {step: statistics.median(seconds[step] for seconds in result) for step in result[0]}


def _command() -> float:
    """The median time of ``deadheat evaluate`` on a tiny file, the start of Python included."""
    with tempfile.TemporaryDirectory() as folder, _compiled_once() as environment:
        file = Path(folder) / "tiny.npz"
        rows = np.random.default_rng(0).standard_normal((50, 8))
        np.savez(file, embeddings=rows, labels=np.arange(50) % 5)
        seconds = [_seconds_of(["evaluate", str(file)], environment) for _ in range(1 + _TIMES)]
        return statistics.median(seconds[1:])


def _seconds_of(arguments: list[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _COMMAND, *arguments],
        env={**os.environ, **environment}, check=True, capture_output=True,
    )  # fmt: skip
    return time.perf_counter() - begin


@contextmanager
def _compiled_once() -> Iterator[dict[str, str]]:
    """Variables for processes of which the first compiles what it imports and the others find it compiled."""
    with tempfile.TemporaryDirectory() as folder:
        yield {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
