"""A case by turns with its yardstick in a process of its own, which is ended where one evaluation takes too long.

Then the time that it had is what its row says, as a lower bound.
"""

from __future__ import annotations

import time

from benchmarks import fresh, yardsticks
from benchmarks.cases import Case
from benchmarks.results import Row, timed
from benchmarks.timing import Clock

LIMIT = 60.0  # seconds that one evaluation, or its yardstick, may take
_START = 300.0  # seconds to start, to generate the data and to run once on less of it
_WARM_UP = 240  # items of the smaller data that a case is warmed up on


def measure(case: Case, clock: Clock) -> Row:
    """A row like any other, or one that was stopped."""
    clock.tick(f"at most {LIMIT:g} s for one evaluation")
    settings = {"case": case, "threads": clock.threads, "repeats": clock.repeats, "enough": LIMIT}
    times: dict[str, list[float]] = {"yardstick": [], "evaluate": []}
    with fresh.talking(["-m", "benchmarks.limited"], settings) as says:
        says(_START)
        try:
            while (said := says(LIMIT)) is not None:
                times[said["what"]].append(said["seconds"])
        except fresh.Silent:
            return _stopped(case, times)
    return timed(case, times)


def _stopped(case: Case, times: dict[str, list[float]]) -> Row:
    """The row of a case that was ended after `LIMIT` seconds of silence: of its whole turns, if there were any."""
    yardstick, evaluate = times["yardstick"], times["evaluate"]
    if evaluate:
        return timed(case, {"yardstick": yardstick[: len(evaluate)], "evaluate": evaluate})
    if not yardstick:
        return Row(case, state="failed", reason=f"the yardstick took more than {LIMIT:g} s")
    return Row(case, yardstick[0], LIMIT, "s", times, stopped=True)


def _by_turns(case: Case, clock: Clock, enough: float) -> None:
    """Say how long each work took, as soon as that is known; no new turn begins after `enough` seconds."""
    for work in yardsticks.works(case.of_at_most(_WARM_UP), clock.threads).values():
        clock.once(work)
    works = yardsticks.works(case, clock.threads)
    fresh.say({"what": "ready"})
    begin = time.perf_counter()
    for turn in range(clock.repeats):
        if turn and time.perf_counter() - begin > enough:
            break
        for what, work in works.items():
            fresh.say({"what": what, "seconds": clock.once(work)})
    fresh.say(None)


if __name__ == "__main__":
    given = fresh.settings()
    _by_turns(Case(**given["case"]), Clock(given["threads"], given["repeats"]), given["enough"])
