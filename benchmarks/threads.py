"""Scaling of an evaluation with threads, next to the float32 product, which shows what the machine itself allows.

By Amdahl's law n threads take s + (1 - s)/n of the time of one, where s is the serial share. It is fitted to all thread
counts, and says what more processors than there are here could bring at most. Whatever else keeps threads from
scaling, as memory or other programs do, counts as serial too: the product has the same of it.

python -m benchmarks.threads --simulate 16,64     what so many threads would bring, by `schedule`, for four works
"""

from __future__ import annotations

import dataclasses
import functools
import os
import statistics
import time
from collections.abc import Sequence

import click
import numpy as np

from benchmarks import cliffs, data, schedule, yardsticks
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


# More threads than processors ---------------------------------------------------------------------------------------

SIMULATED = (("random", 20_000, 512, 100, 11), ("clustered", 20_000, 512, 100, 9), ("random", 20_000, 512, 1000, 12),
             (cliffs.HALVES, 20_000, 64, 20, 10))  # fmt: skip
"""Kind, items, dimension and class size, and what 16 threads have to bring."""


def simulated(case: Case, threads: Sequence[int], repeats: int) -> list[tuple[int, float, float, float]]:
    """For each number of threads: it, the speed-up, milliseconds that are serial, and the share that threads wait."""
    arrays = data.make(case)
    work = functools.partial(yardsticks.evaluate, arrays, case.distance)
    work(1)
    start = schedule.start_of_thread()
    alone = min(schedule.seconds(schedule.record(work, 1), 1) for _ in range(repeats))
    rows = []
    for count in threads:
        result = [schedule.record(work, count) for _ in range(repeats)]
        takes, recording = min(
            ((schedule.seconds(each, count, start), each) for each in result), key=lambda pair: pair[0]
        )
        ideal = recording.serial + sum(
            part.free + part.held for pieces in recording.calls for piece in pieces for part in piece.parts
        ) / count  # fmt: skip
        rows.append((count, alone / takes, 1e3 * recording.serial, 1 - ideal / takes))
    return rows


def real(case: Case, threads: int, repeats: int) -> float:
    """The speed-up of so many threads that there are processors for."""
    work = functools.partial(yardsticks.evaluate, data.make(case), case.distance)
    times: dict[int, list[float]] = {1: [], threads: []}
    for count in [1, threads] * repeats:
        begin = time.perf_counter()
        work(count)
        times[count].append(time.perf_counter() - begin)
    return min(times[1]) / min(times[threads])


@click.command()
@click.option("--simulate", required=True, metavar="N,N", help="Numbers of threads.")
@click.option("--repeats", default=2, show_default=True, help="Recordings of each, of which the shortest counts.")
@click.option("--only", default="", help="Works whose name has this part.")
@click.option("--scale", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Share of the items.")
def main(simulate: str, repeats: int, only: str, scale: float) -> None:
    """Say what more threads than there are processors would bring."""
    counts = [int(count) for count in simulate.split(",")]
    for kind, n, dim, size, target in SIMULATED:
        case = Case("threads", kind, n, dim, size, "cosine").scaled(scale)
        if only not in case.short_name:
            continue
        click.echo(f"{case.short_name} (16 threads: {target})")
        for count, faster, serial, waiting in simulated(case, counts, repeats):
            there = f"; really {real(case, count, repeats):.1f}" if count <= (os.cpu_count() or 1) else ""
            click.echo(
                f"  {count:3} threads: {faster:5.1f} times{there}; serial {serial:.0f} ms, waiting {waiting:.0%}"
            )


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.threads")
