"""A run on an executor: what is handed out, what came back, and what that took."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deadheat.engine.counting.checkpoint import Checkpoint
from deadheat.engine.counting.cluster import Cluster, Summary
from deadheat.engine.counting.distributed.dispatch import Dispatch
from deadheat.support.arrays import Array
from deadheat.support.progress import Progress, Reporting

Settle = Callable[[int, dict[str, Array]], None]  # what is done with the number of a task and its arrays


class Run:
    """Tasks of about equally many pairs each, and what became of them."""

    def __init__(
        self, cluster: Cluster, tasks: Sequence[tuple[Any, ...]], n_pair: int, kept: Checkpoint | None = None
    ) -> None:
        self.cluster, self.tasks, self.kept, self.n_pair = cluster, tasks, kept, n_pair
        cluster.summary = None
        self.begin, self.moved, self.n_kept, self.retries = time.monotonic(), 0, 0, 0

    def each(
        self, work: Callable[..., Any], settle: Settle, progress: bool | Progress, *, title: str = "counting"
    ) -> None:
        """Settle the arrays of every task, those first that a checkpoint has."""
        left: Mapping[int, tuple[Any, ...]] = {
            number: task for number, task in enumerate(self.tasks) if not self._settled(number, settle)
        }
        n_done = self.n_kept = len(self.tasks) - len(left)
        with Reporting(progress, self.n_pair, title, done=self._pairs(n_done)) as report:
            dispatch = Dispatch(self.cluster)
            try:
                for number, answer in dispatch.answers(work, left):
                    settle(number, answer.arrays)
                    if self.kept is not None:
                        self.kept.save(number, answer.arrays)
                    self.moved += answer.fetched + sum(array.nbytes for array in answer.arrays.values())
                    n_done += 1
                    report(self._pairs(n_done) - self._pairs(n_done - 1))
            except KeyboardInterrupt:
                raise KeyboardInterrupt(self._what_is_kept(n_done)) from None
            finally:
                dispatch.close()
                self.retries = dispatch.retries

    def summarize(self, written: int, progress: bool | Progress) -> None:
        """Tell the cluster what it took, and whoever has seen a bar."""
        n_pair, n_task = self.n_pair - self._pairs(self.n_kept), len(self.tasks) - self.n_kept
        seconds = time.monotonic() - self.begin
        self.cluster.summary = Summary(n_pair, seconds, n_task, self.retries, written + self.moved)
        if progress is True:
            print(self.cluster.summary, file=sys.stderr)

    def _settled(self, number: int, settle: Settle) -> bool:
        """Whether a checkpoint has the arrays of a task."""
        arrays = None if self.kept is None else self.kept.load(number)
        if arrays is not None:
            settle(number, arrays)
        return arrays is not None

    def _pairs(self, n_task: int) -> int:
        """How many pairs so many tasks are, which are about the same for each."""
        return self.n_pair * n_task // max(1, len(self.tasks))

    def _what_is_kept(self, n_done: int) -> str:
        if self.kept is None:
            return "nothing is kept: give a checkpoint to go on from where a run was interrupted"
        return f"{n_done} of {len(self.tasks)} tasks are kept in {self.kept}"
