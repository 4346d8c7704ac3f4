"""One case in, one row out, whatever happens on the way."""

from __future__ import annotations

import cProfile
import dataclasses
import pstats
import time
import traceback
from pathlib import Path

from benchmarks import data, fresh, growth, limited, memory, out_of_core, starting, yardsticks
from benchmarks.cases import SECTIONS, Case
from benchmarks.data import Unavailable
from benchmarks.results import Row, timed
from benchmarks.timing import Clock

_WARM_UP = 2_000  # items of the smaller data that a case is warmed up on
_OTHERWISE = ("memory", "growth", "out of core", "starting")
TIMED = tuple(section for section in SECTIONS if section not in _OTHERWISE)
"""The sections whose cases are timed by turns with a yardstick."""


def measure(case: Case, clock: Clock) -> Row:
    """The row of a case. One that cannot be measured here is skipped, one that raises an error has failed."""
    try:
        match case.section:
            case "memory":
                clock.tick("evaluating in a fresh process")
                return memory.measure(case, clock.threads)
            case "growth":
                return growth.measure(case, clock)
            case "out of core":
                return out_of_core.measure(case, clock.threads, clock.tick)
            case "starting":
                clock.tick("starting fresh processes")
                return starting.measure(case)
            case "cliffs":
                return limited.measure(case, clock)
        return _time(case, clock)
    except Unavailable as missing:
        return Row(case, state="skipped", reason=str(missing))
    except fresh.ChildFailed as error:
        return Row(case, state="failed", reason=str(error))
    except Exception as error:  # one case that fails must not take the others' results with it
        lines = str(error).splitlines() or [""]
        details = {"traceback": traceback.format_exc()}
        return Row(case, state="failed", reason=f"{type(error).__name__}: {lines[0]}", details=details)


def _time(case: Case, clock: Clock) -> Row:
    """Yardstick and evaluation by turns, after both have run once on smaller data."""
    clock.tick("warming up")
    for work in _works(_smaller(case), clock.threads).values():
        clock.once(work)
    clock.tick("generating the data")
    return timed(case, clock.by_turns(_works(case, clock.threads)))


def _works(case: Case, threads: int) -> dict[str, yardsticks.Work]:
    """What is timed."""
    return yardsticks.works(case, data.make(case), threads)


def _smaller(case: Case) -> Case:
    """The same kind of data, but less of it."""
    n = min(case.n, _WARM_UP)
    n_query = None if case.n_query is None else min(case.n_query, n // 4)
    return dataclasses.replace(case, n=n, class_size=min(case.class_size, n // 4), n_query=n_query)


def breakdown(case: Case, top: int = 15) -> list[tuple[str, int, float, float]]:
    """The functions of one evaluation that take the most processor time themselves, on one thread, by cProfile.

    Returns
    -------
    list of (function, calls, seconds, share)
    """
    evaluate = _works(case, threads=1)["evaluate"]
    evaluate()
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(evaluate)
    found = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in found.values())
    most = sorted(found.items(), key=lambda entry: -entry[1][2])[:top]
    return [(f"{Path(file).name}: {name}", calls, own, own / total) for (file, _, name), (_, calls, own, _, _) in most]
