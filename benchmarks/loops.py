"""The gain by each loop of `engine/count.py`: the time with it, and with the next one of the table in its place.

python -m benchmarks.loops       in about a minute

Times are processor times of one thread, best of three, of random rows of 64 numbers or random codes of 64 bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

import deadheat as dh


def _task(n: int, labels: Any, *, dim: int = 64, **settings: Any) -> Callable[[], object]:
    """Return a function that counts random rows, or random codes under Hamming distance."""
    rows = np.random.default_rng(0).standard_normal((n, dim)).astype(np.float32)
    rows = rows > 0 if settings.get("distance") == "hamming" else rows
    labels = np.arange(n) % labels if isinstance(labels, int) else labels
    return lambda: dh.Task(rows, labels, threads=1, **settings).profile


def _groups(n: int) -> Callable[[], object]:
    rows = np.random.default_rng(0).standard_normal((n, 64)).astype(np.float32)
    return lambda: dh.grouped(dh.Task(rows, np.arange(n) // 4, threads=1), group_size=10, measures="mAP")


SETS = np.random.default_rng(1).random((10_000, 20)) < 0.1
NEVER = 1 << 40

LOOPS: list[tuple[str, str, Any, str, Callable[[], object]]] = [  # loop, what it hangs on, in its place, data
    ("histograms", "count.SHORT_CODE", 0, "20,000 codes in 1,000 classes", _task(20_000, 1000, distance="hamming")),
    ("histograms", "count.SHORT_CODE", 0, "10,000 codes, 2 of 20 labels each", _task(10_000, SETS, distance="hamming")),
    ("small groups", "count.SMALL_GROUP", 0, "20,000 rows, groups of 10 classes of 4", _groups(20_000)),
    ("a counting pass", "count.SORTED_SHARE", 0, "10,000 rows in 500 classes; all rows sorted", _task(10_000, 500)),
    ("sorted rows", "count.SORTED_SHARE", 2, "10,000 rows in 2 classes", _task(10_000, 2)),
    ("sorted rows", "count.SORTED_SHARE", 2, "10,000 rows in 6 classes", _task(10_000, 6)),
    ("stream", "count.STREAMED_SHARDS", NEVER, "20,000 rows in 10 classes", _task(20_000, 10)),
    ("stream", "count.STREAMED_SHARDS", NEVER, "20,000 rows in 50 classes", _task(20_000, 50)),
    ("tiles, each for two blocks", "counting.layout.SYMMETRIC_SHARE", 2, "10,000 rows of 512 in 500 classes",
     _task(10_000, 500, dim=512)),
]  # fmt: skip


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def table() -> Iterator[tuple[str, str, float, float]]:
    """Loop, data, and the seconds with the loop and without it."""
    for name, hook, instead, data, work in LOOPS:
        kept = _seconds(work)
        with patch(f"deadheat.engine.{hook}", instead):
            yield name, data, kept, _seconds(work)


if __name__ == "__main__":
    print("| loop | data | with (s) | without (s) |\n|---|---|---|---|")
    for loop, data, kept, without in table():
        print(f"| {loop} | {data} | {kept:.2f} | {without:.2f} |", flush=True)
