"""Times taken by turns, with as many BLAS threads as ours (threadpoolctl, which comes with scikit-learn)."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController

from benchmarks.yardsticks import Work

_PAUSE = 0.05  # seconds in which BLAS threads that still spin go to sleep

Tick = Callable[[str], None]


class Clock:
    """Times works with a number of BLAS threads, and says through `tick` what it is about to time."""

    def __init__(self, threads: int, repeats: int, tick: Tick = lambda what: None) -> None:
        self.threads, self.repeats, self.tick = threads, repeats, tick
        self._pools = ThreadpoolController()

    def by_turns(self, works: dict[str, Work]) -> dict[str, list[float]]:
        """Seconds of each work, `repeats` times: each once, then each once more, and so on."""
        taken: dict[str, list[float]] = {what: [] for what in works}
        for turn in range(self.repeats):
            for what, work in works.items():
                self.tick(f"{what}, turn {turn + 1} of {self.repeats}")
                taken[what].append(self.once(work))
        return taken

    def once(self, work: Work) -> float:
        """Seconds of some work; what it returns is freed after the clock has stopped."""
        gc.collect()
        with self.limited():
            time.sleep(_PAUSE)
            begin = time.perf_counter()
            kept = work()
            seconds = time.perf_counter() - begin
        del kept
        return seconds

    def limited(self) -> AbstractContextManager[object]:
        """BLAS with the clock's number of threads."""
        limited: AbstractContextManager[object] = self._pools.limit(limits=self.threads, user_api="blas")
        return limited
