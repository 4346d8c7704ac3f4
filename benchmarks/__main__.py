"""Time and memory of `deadheat.evaluate`, each beside a yardstick measured in the same run.

The yardstick is the plain float32 distance matrix: one NumPy product of all rows with all rows, in row blocks of 512
into one buffer, with the same threads and shape, on random data. Nothing is kept of it and nothing evaluated.

    python -m benchmarks                      the table
    python -m benchmarks --json out.json      also as JSON
    python -m benchmarks --breakdown          where one evaluation spends its time, on one thread, by cProfile
"""

from __future__ import annotations

import cProfile
import json
import os
import platform
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import deadheat as dh

Array = NDArray[Any]
REPEATS = 5


def product_of_blocks(rows: Array) -> None:
    """The yardstick: rows·rowsᵀ in float32, in blocks of 512 rows into one buffer."""
    buffer = np.empty((512, len(rows)), dtype=np.float32)
    for start in range(0, len(rows), 512):
        block = rows[start : start + 512]
        np.matmul(block, rows.T, out=buffer[: len(block)])


def make(kind: str, n: int, dim: int, labels: Array) -> Array:
    """Embeddings of one kind, seeded."""
    rng = np.random.default_rng(0)
    random = rng.standard_normal((n, dim)).astype(np.float32)
    if kind == "clustered":
        return random * np.float32(0.7) + rng.standard_normal((labels.max() + 1, dim)).astype(np.float32)[labels]
    simple: dict[str, Callable[[], Array]] = {
        "random": lambda: random,
        "all zero": lambda: np.zeros_like(random),
        "all duplicates": lambda: np.repeat(random[:1], n, axis=0),
        "1 % distinct": lambda: random[rng.integers(0, max(1, n // 100), n)],
        "±1 codes": lambda: np.sign(random),
        "int8": lambda: np.clip(random * 40, -127, 127).astype(np.int8),
    }
    return simple[kind]()


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def leave_one_out(kind: str, distance: str, n: int, dim: int, size: int) -> dict[str, Any]:
    """Times of the yardstick and of `evaluate`, taken by turns; medians."""
    labels = np.random.default_rng(1).permutation(np.arange(n) // size)
    rows = make(kind, n, dim, labels)
    plain = make("random", n, dim, labels)
    dh.evaluate(rows[:600], np.arange(600) % 3, distance=distance)  # compile
    yardstick, ours = [], []
    for _ in range(REPEATS):
        yardstick.append(seconds(lambda: product_of_blocks(plain)))
        ours.append(seconds(lambda: dh.evaluate(rows, labels, distance=distance)))
    best, own = statistics.median(yardstick), statistics.median(ours)
    return {
        "data": kind, "distance": distance, "n": n, "dim": dim, "class size": size,
        "yardstick (s)": best, "evaluate (s)": own, "ratio": own / best,
    }  # fmt: skip


CASES = [
    *(("random", distance, 10_000, 128, 100) for distance in ("cosine", "euclidean", "inner_product")),
    ("random", "cosine", 10_000, 128, 5),
    ("clustered", "cosine", 10_000, 128, 100),
    *((kind, "cosine", 10_000, 128, 100) for kind in ("all zero", "all duplicates", "1 % distinct")),
    *((kind, "cosine", 10_000, 128, 100) for kind in ("±1 codes", "int8")),
]

_MEMORY = """
import sys
import numpy as np
import deadheat as dh
n, dim = int(sys.argv[1]), int(sys.argv[2])
labels = np.arange(n) // 100
dh.evaluate(np.random.default_rng(0).standard_normal((600, dim)).astype("f"), np.arange(600) % 6)
rows = np.random.default_rng(0).standard_normal((n, dim), dtype="f")
def status(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
open("/proc/self/clear_refs", "w").write("5")  # the high-water mark starts anew
before = status("VmRSS")
dh.evaluate(rows, labels)
print((status("VmHWM") - before) / 1024)
"""

_START = """
import time
begin = time.perf_counter()
import deadheat as dh
imported = time.perf_counter()
import numpy as np
dh.evaluate(np.random.default_rng(0).standard_normal((100, 8)), np.arange(100) % 5)
print(imported - begin, time.perf_counter() - imported)
"""


def memory(n: int, dim: int) -> float:
    """Megabytes by which the resident set of a fresh process grows at most in `evaluate` (Linux)."""
    return float(_fresh(_MEMORY, {}, str(n), str(dim))[0])


def start() -> dict[str, float]:
    """Seconds to import deadheat, and to evaluate for the first time with a cold and a warm Numba cache."""
    with tempfile.TemporaryDirectory() as cache:
        _, cold = _fresh(_START, {"NUMBA_CACHE_DIR": cache})
        imported, warm = _fresh(_START, {"NUMBA_CACHE_DIR": cache})
    return {"import": float(imported), "first call, cold cache": float(cold), "first call, warm cache": float(warm)}


def _fresh(program: str, environment: dict[str, str], *arguments: str) -> list[str]:
    """What a fresh Python prints, split into words."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return done.stdout.split()


def table(title: str, rows: list[dict[str, Any]]) -> Table:
    """Rows of one kind as a table."""
    view = Table(*rows[0], title=title, title_justify="left")
    for row in rows:
        view.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    return view


def breakdown() -> list[dict[str, Any]]:
    """The functions of one evaluation of the first case that take the most time themselves, on one thread."""
    kind, distance, n, dim, size = CASES[0]
    labels = np.random.default_rng(1).permutation(np.arange(n) // size)
    rows = make(kind, n, dim, labels)
    dh.evaluate(rows, labels, distance=distance, threads=1)
    profiler = cProfile.Profile()
    profiler.runcall(dh.evaluate, rows, labels, distance=distance, threads=1)
    found = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in found.values())
    top = sorted(found.items(), key=lambda entry: -entry[1][2])[:15]
    return [
        {"function": f"{Path(file).name}: {name}", "calls": calls, "s": own, "share": own / total}
        for (file, _, name), (_, calls, own, _, _) in top
    ]


@click.command()
@click.option("--breakdown", "only_breakdown", is_flag=True, help="Only where one evaluation spends its time.")
@click.option("--json", "out", type=click.Path(path_type=Path), help="Also write the results as JSON.")
def main(out: Path | None, only_breakdown: bool) -> None:
    """Measure, print tables and write JSON."""
    console = Console()
    if only_breakdown:
        console.print(table(f"evaluate, {CASES[0]}, one thread", breakdown()))
        return
    machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, NumPy {np.__version__}"
    console.print(f"{machine}; median of {REPEATS}")
    times = []
    for case in CASES:
        times.append(leave_one_out(*case))
        console.print(f"[dim]{case} {times[-1]['ratio']:.2f}[/dim]")
    random = times[0]["evaluate (s)"]
    for row in times:
        row["to random"] = row["evaluate (s)"] / random
    grown = [{"n": n, "dim": 128, "MB over the input": memory(n, 128)} for n in (10_000, 20_000, 40_000)]
    started = [{"what": what, "s": value} for what, value in start().items()]
    console.print(table("leave one out, ratio to the float32 distance matrix alone", times))
    console.print(table("memory, classes of 100", grown))
    console.print(table("starting", started))
    if out is not None:
        out.write_text(json.dumps({"machine": machine, "times": times, "memory": grown, "start": started}, indent=1))


if __name__ == "__main__":
    main()
