"""The time that an evaluation goes on after Ctrl-C, wherever it was.

A process evaluates again and again until it is interrupted, at moments spread over the first seconds, and says when it
noticed; the clock of both processes is the same.
"""

from __future__ import annotations

import os
import signal
import time

from benchmarks import data, fresh, yardsticks
from benchmarks.cases import Case
from benchmarks.data import Unavailable
from benchmarks.results import Row
from benchmarks.timing import Clock

_EACH = 3  # interrupts for each repeat
_LATEST = 3.0  # seconds into an evaluation
_PATIENCE = 60.0  # seconds after which an interrupt counts as lost
_START = 300.0  # seconds to start, to generate the data and to evaluate less of it
_WARM_UP = 240  # items of those
_GOLDEN = 0.6180339887498949  # its multiples modulo 1 are spread evenly, however many there are


def measure(case: Case, clock: Clock) -> Row:
    """The longest of several waits."""
    if os.name != "posix":
        raise Unavailable("another process is interrupted by a POSIX signal")
    waits: list[float] = []
    times = _EACH * clock.repeats
    settings = {"case": case, "threads": clock.threads, "times": times}
    with fresh.talking(["-m", "benchmarks.interrupt"], settings) as says:
        pid = says(_START)["pid"]
        for number in range(times):
            clock.tick(f"interrupt {number + 1} of {times}")
            says(_PATIENCE)
            time.sleep(_LATEST * (number * _GOLDEN % 1))
            begin = time.monotonic()
            os.kill(pid, signal.SIGINT)
            try:
                waits.append(says(_PATIENCE)["noticed"] - begin)
            except fresh.Silent:
                return Row(case, value=_PATIENCE, details={"waits": waits}, stopped=True)
    return Row(case, value=max(waits), details={"waits": waits})


def _evaluate_until_interrupted(case: Case, threads: int, times: int) -> None:
    yardsticks.evaluate(data.make(case.of_at_most(_WARM_UP)), case.distance, threads, ties=case.ties)
    arrays = data.make(case)
    fresh.say({"pid": os.getpid()})
    for _ in range(times):
        try:
            fresh.say("evaluating")
            while True:
                yardsticks.evaluate(arrays, case.distance, threads, ties=case.ties)
        except KeyboardInterrupt:
            fresh.say({"noticed": time.monotonic()})


if __name__ == "__main__":
    given = fresh.settings()
    _evaluate_until_interrupted(Case(**given["case"]), given["threads"], given["times"])
