"""One case in, one row out, whatever happens on the way."""

from __future__ import annotations

import cProfile
import pstats
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    candidates,
    fresh,
    growth,
    interpreter,
    interrupt,
    limited,
    memory,
    out_of_core,
    questions,
    several,
    size,
    starting,
    threads,
    yardsticks,
)
from benchmarks.cases import Case
from benchmarks.data import Unavailable
from benchmarks.results import Row, timed
from benchmarks.timing import Clock

_WARM_UP = 2_000  # items of the smaller data that a case is warmed up on


def measure(case: Case, clock: Clock) -> Row:
    """The row of a case. One that cannot be measured here is skipped, one that raises an error has failed."""
    try:
        return OTHERWISE.get(case.section, _time)(case, clock)
    except Unavailable as missing:
        return Row(case, state="skipped", reason=str(missing))
    except fresh.ChildFailed as error:
        return Row(case, state="failed", reason=str(error))
    except Exception as error:  # one case that fails must not take the others' results with it
        lines = str(error).splitlines() or [""]
        details = {"traceback": traceback.format_exc()}
        return Row(case, state="failed", reason=f"{type(error).__name__}: {lines[0]}", details=details)


OTHERWISE: dict[str, Callable[[Case, Clock], Row]] = {
    "size": size.measure,
    "threads": threads.measure,
    "interpreter": interpreter.measure,
    "candidates": candidates.measure,
    "cliffs": limited.measure,
    "memory": memory.measure,
    "questions": questions.measure,
    "several labels": several.measure,
    "interrupt": interrupt.measure,
    "out of core": out_of_core.measure,
    "growth": growth.measure,
    "starting": starting.measure,
}
"""The sections whose cases are not just timed by turns with a yardstick."""


def _time(case: Case, clock: Clock) -> Row:
    """Yardstick and evaluation by turns, after both have run once on smaller data."""
    clock.tick("warming up")
    for work in yardsticks.works(case.of_at_most(_WARM_UP), clock.threads).values():
        clock.once(work)
    clock.tick("generating the data")
    return timed(case, clock.by_turns(yardsticks.works(case, clock.threads)))


def breakdown(case: Case, top: int = 15) -> list[tuple[str, int, float, float]]:
    """The functions of one evaluation that take the most processor time themselves, on one thread, by cProfile.

    Returns
    -------
    list of (function, calls, seconds, share)
    """
    evaluate = yardsticks.works(case, threads=1)["evaluate"]
    evaluate()
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(evaluate)
    result = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in result.values())
    most = sorted(result.items(), key=lambda entry: -entry[1][2])[:top]
    return [(f"{Path(file).name}: {name}", calls, own, own / total) for (file, _, name), (_, calls, own, _, _) in most]
