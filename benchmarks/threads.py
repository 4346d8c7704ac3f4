"""Scaling of an evaluation with threads, next to the float32 product, which shows what the machine itself allows.

By Amdahl's law n threads take s + (1 - s)/n of the time of one, where s is the serial share. It is fitted to all thread
counts, and says what more processors than there are here could bring at most. Whatever else keeps threads from
scaling, as memory or other programs do, counts as serial too: the product has the same of it.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Sequence

import numpy as np

from benchmarks import data, yardsticks
from benchmarks.cases import Case
from benchmarks.data import Unavailable
from benchmarks.results import Row
from benchmarks.timing import Clock

MANY = 64
_WARM_UP = 2_000  # items of the smaller data that a case is warmed up on
_FREE = 1.9  # speed-up of the product on two threads from which on the target applies


def counts(processors: int) -> list[int]:
    """1, 2, 4, ... and all processors."""
    powers = [2**power for power in range(processors.bit_length())]
    return powers if powers[-1] == processors else [*powers, processors]


def speedups(times: dict[str, list[float]], who: str, threads: Sequence[int]) -> list[float]:
    """For each thread count the median, over the turns, of the time of one thread over that of so many."""
    alone = times[f"{who} 1"]
    return [
        statistics.median(one / several for one, several in zip(alone, times[f"{who} {count}"], strict=True))
        for count in threads
    ]


def serial_share(threads: Sequence[int], faster: Sequence[float]) -> float:
    """The s of 1/speed-up = s + (1 - s)/n by least squares, within [0, 1]."""
    parallel = 1 / np.asarray(threads, dtype=np.float64)
    beyond, room = 1 / np.asarray(faster) - parallel, 1 - parallel
    return float(np.clip(beyond @ room / (room @ room), 0, 1))


def amdahl(serial: float, threads: int) -> float:
    """The speed-up of so many threads."""
    return 1 / (serial + (1 - serial) / threads)


def measure(case: Case, clock: Clock) -> Row:
    """Speed-ups on two threads; the other counts and what follows from all of them are in `details`."""
    if clock.threads < 2:
        raise Unavailable("one thread shows nothing about more")
    threads = counts(clock.threads)
    clock.tick("warming up")
    for work in _works(case.of_at_most(_WARM_UP), threads).values():
        clock.once(work)
    times = clock.by_turns(_works(case, threads))
    return judged(case, threads, times)


def judged(case: Case, threads: Sequence[int], times: dict[str, list[float]]) -> Row:
    """Return what follows from the times of `evaluate` and of its yardstick by each number of threads."""
    product, ours = (speedups(times, who, threads) for who in ("yardstick", "evaluate"))
    machine, serial = serial_share(threads, product), serial_share(threads, ours)
    note = (
        f"serial share {serial:.1%} (product {machine:.1%}); "
        f"{MANY} cores: at most {amdahl(serial, MANY):.1f} times (product {amdahl(machine, MANY):.1f})"
    )
    details = {"threads": threads, "many": MANY, "note": note}
    for who, faster, share in (("yardstick", product, machine), ("evaluate", ours, serial)):
        details[who] = {"speedups": faster, "serial_share": share, "at_many": amdahl(share, MANY)}
    row = Row(case, product[1], ours[1], "times", times, details)
    if row.met or product[1] >= _FREE:
        return row
    return dataclasses.replace(row, state="not decided", reason=f"the product itself reaches {product[1]:.2f} here")


def _works(case: Case, threads: Sequence[int]) -> dict[str, yardsticks.Work]:
    arrays = data.make(case)
    ours = functools.partial(yardsticks.evaluate, arrays, case.distance)
    product = functools.partial(yardsticks.product, arrays.query, arrays.columns)
    return {
        f"{who} {count}": functools.partial(work, count)
        for who, work in (("evaluate", ours), ("yardstick", product))
        for count in threads
    }
