"""Handing tasks to an executor: so many at a time, again where a worker died, and elsewhere too where one is silent."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any, NamedTuple

from deadheat.engine.counting.cluster import Cluster, n_worker
from deadheat.errors import ClusterError, DeadheatError

_PATIENCE = 60.0  # seconds that a task may take before it is handed out again, unless a timeout is given,
_TIMES_LONGEST = 10  # or so many times as long as the longest, if that is more; for the first there is no limit
_TICK = 1.0  # seconds between looks at the clock, at most


class _Handed(NamedTuple):
    number: int
    since: float


class Dispatch:
    """The tasks of a run, from the first submission to the last answer.

    Attributes
    ----------
    retries : int
        Tasks that were handed out once more, so far.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._owned = cluster, not hasattr(cluster.executor, "submit")
        self._executor: Executor = cluster.executor() if self._owned else cluster.executor  # type: ignore[operator,assignment]
        self._in_flight = cluster.in_flight or 2 * n_worker(self._executor)
        self._handed: dict[Future[Any], _Handed] = {}
        self._tries: Counter[int] = Counter()
        self._longest = 0.0
        self.retries = 0

    def answers(self, work: Callable[..., Any], tasks: Mapping[int, tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """The number of each task and its first answer, as they come.

        Raises
        ------
        ClusterError
            If a task has failed too often, or the executor is broken.
        """
        waiting, missing = deque(tasks), set(tasks)
        while missing:
            try:
                while waiting and len(self._handed) < self._in_flight:
                    if waiting[0] in missing:
                        self._hand_out(waiting[0], work, tasks)
                    waiting.popleft()
                for number, answer in self._finished(waiting, missing):
                    missing.remove(number)
                    yield number, answer
                for number in self._silent(missing):
                    self._hand_out(number, work, tasks)
            except BrokenExecutor as broken:
                self._renew(broken, len(tasks) - len(missing), len(tasks))
                waiting.extendleft(sorted({each.number for each in self._handed.values()} & missing, reverse=True))
                self._handed.clear()

    def _hand_out(self, number: int, work: Callable[..., Any], tasks: Mapping[int, tuple[Any, ...]]) -> None:
        future = self._executor.submit(work, *tasks[number])
        self._handed[future] = _Handed(number, time.monotonic())
        self._tries[number] += 1
        self.retries += self._tries[number] > 1

    def _finished(self, waiting: deque[int], missing: set[int]) -> Iterator[tuple[int, Any]]:
        """The answers that have come; who failed waits again."""
        tick = max(0.01, min(_TICK, self._limit() / 4))
        for future in wait(self._handed, tick, FIRST_COMPLETED).done:
            number, since = self._handed[future]
            try:
                answer = future.result()
            except (DeadheatError, BrokenExecutor):
                if number in missing:
                    raise
            except (Exception, CancelledError) as error:
                elsewhere = {each.number for other, each in self._handed.items() if other is not future}
                if number in missing and number not in elsewhere:
                    if self._tries[number] > self._cluster.retries:
                        failed = f"{self._tries[number]} times, at last with {type(error).__name__}: {error}"
                        raise ClusterError(f"a task has failed {failed}") from error
                    waiting.appendleft(number)
            else:
                self._longest = max(self._longest, time.monotonic() - since)
                if number in missing:
                    yield number, answer
            del self._handed[future]

    def _silent(self, missing: set[int]) -> list[int]:
        """The tasks that have taken too long, wherever they are, to be handed out once more."""
        latest = {each.number: each.since for each in self._handed.values()}  # in the order of handing out
        limit, now = self._limit(), time.monotonic()
        late = [number for number, since in latest.items() if number in missing and now - since > limit]
        for number in late:
            if self._tries[number] > self._cluster.retries:
                raise ClusterError(
                    f"no worker has answered a task that was handed out {self._tries[number]} times, "
                    f"each time for {limit:.3g} s: is that enough? Cluster(executor, timeout=...) gives it more"
                )
        return late

    def _limit(self) -> float:
        if self._cluster.timeout is not None:
            return self._cluster.timeout
        return max(_PATIENCE, _TIMES_LONGEST * self._longest) if self._longest else math.inf

    def _renew(self, broken: BaseException, n_done: int, n_task: int) -> None:
        died = f"a worker of the executor died ({type(broken).__name__}) after {n_done} of {n_task} tasks"
        if not self._owned:
            raise ClusterError(
                f"{died}, and such an executor cannot be used again: hand over a function that makes one, "
                "or give a checkpoint and start again with a new executor"
            ) from broken
        for number in {each.number for each in self._handed.values()}:
            if self._tries[number] > self._cluster.retries:
                raise ClusterError(f"{died}, as others did before it: a task may need more memory") from broken
        self.close()
        self._executor = self._cluster.executor()  # type: ignore[operator]

    def close(self) -> None:
        """Take back what no worker has begun, and end an executor that was made here."""
        for future in self._handed:
            future.cancel()
        if self._owned:
            self._executor.shutdown(wait=False)  # loky's takes no more than that
