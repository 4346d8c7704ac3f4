"""A run on an executor: tasks are handed out, and what comes back is put together into the profile.

So many tasks at a time, again where a worker died, and elsewhere too where one is silent.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Relevance
from deadheat.engine.counting.checkpoint import Checkpoint, what_is_kept
from deadheat.engine.counting.cluster import Cluster, Summary, n_worker
from deadheat.engine.counting.distributed import worker
from deadheat.engine.counting.distributed.worker import Cut, Job
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.problem import identity
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import ClusterError, DeadheatError
from deadheat.inputs import labels
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Chosen, fingerprint
from deadheat.support import scratch
from deadheat.support.arrays import Array, Int64, offsets_of, spread
from deadheat.support.progress import Progress, Reporting

_PATIENCE = 60.0  # seconds that a task may take before it is handed out again, unless a timeout is given,
_TIMES_LONGEST = 10  # or so many times as long as the longest, if that is more; for the first there is no limit
_TICK = 1.0  # seconds between looks at the clock, at most

_PAIRS = 1 << 20  # in a task, about, where there are few: some hundredths of a second
_TASKS = 64
_QUERIES = 1024  # in a group at least, as each group prepares the columns for products again;
_FEW_QUERIES, _GROUPS = 128, 8  # of few queries these, so that there are so many groups
_FEW_GROUPS = 16  # of queries: then columns are cut as well
_COLUMNS = 1 << 10  # in a group at least, and
_TIMES_RELEVANT = 1000  # times what is relevant to a query, as each group looks for that again
_SHARED = 1 / 4  # of a part, which what all parts share may be

_OF_FIRST = ("n_group", "n_relevant", "closer_relevant", "tied_relevant")


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
        left: dict[int, tuple[Any, ...]] = {}
        for number, task in enumerate(self.tasks):
            arrays = None if self.kept is None else self.kept.load(number)
            if arrays is None:
                left[number] = task
            else:
                settle(number, arrays)
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
                raise KeyboardInterrupt(what_is_kept(self.kept, n_done, len(self.tasks), "tasks")) from None
            finally:
                dispatch.close()
                self.retries = dispatch.retries

    def summarize(self, written: int, progress: bool | Progress) -> None:
        """Give the cluster the summary, and print it where a bar was shown."""
        n_pair, n_task = self.n_pair - self._pairs(self.n_kept), len(self.tasks) - self.n_kept
        seconds = time.monotonic() - self.begin
        self.cluster.summary = Summary(n_pair, seconds, n_task, self.retries, written + self.moved)
        if progress is True:
            print(self.cluster.summary, file=sys.stderr)

    def _pairs(self, n_task: int) -> int:
        """How many pairs so many tasks are, which are about the same for each."""
        return self.n_pair * n_task // max(1, len(self.tasks))


class Sums:
    """Sums of the counts of portions, whatever the order in which these come: they are integers."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Int64]] = {}  # of each group of queries; `closer` and `tied` are irrelevant

    def add(self, counts: dict[str, Array], times: int) -> None:
        """Add the counts of a portion, so many times; `times` is below 0 for what other portions counted too often."""
        for name in {key.partition(".")[0] for key in counts}:
            queries, closer, tied = (counts[f"{name}.{what}"] for what in ("queries", "closer", "tied"))
            zeros = np.zeros((2, len(closer)), dtype=np.int64)
            group = self._groups.setdefault(name, {"queries": queries, "closer": zeros[0], "tied": zeros[1]})
            if not np.array_equal(group["queries"], queries) or len(group["closer"]) != len(closer):
                raise ClusterError("workers must agree on the tie groups of a query, but two do not: do all of them "
                                   "see the same files?")  # fmt: skip
            group["closer"] += times * closer.astype(np.int64)
            group["tied"] += times * tied.astype(np.int64)
            if f"{name}.n_group" in counts:
                group |= {what: counts[f"{name}.{what}"].astype(np.int64) for what in _OF_FIRST}

    def profile(self, candidates: Candidates, bounds_only: bool) -> TieProfile:
        n_group, n_relevant = np.zeros((2, candidates.n_query), dtype=np.int64)
        for group in self._groups.values():
            n_group[group["queries"]], n_relevant[group["queries"]] = group["n_group"], group["n_relevant"]
        offsets = offsets_of(n_group)
        arrays = scratch.arrays(4, int(offsets[-1]))
        for group in self._groups.values():
            places = spread(offsets[group["queries"]], group["n_group"])
            for k, what in enumerate(("closer", "tied")):
                arrays[2 * k][places] = group[what] + group[f"{what}_relevant"]
                arrays[2 * k + 1][places] = group[f"{what}_relevant"]
            scratch.let_go(*arrays)
        closer, closer_relevant, tied, tied_relevant = arrays
        return TieProfile(
            offsets, closer, closer_relevant, tied, tied_relevant, candidates.n_ranked(), n_relevant,
            bounds_only=bounds_only, check=False,
        )  # fmt: skip


def profile_on(cluster: Cluster, pair: Pair, options: CountingOptions) -> TieProfile:
    items = pair.query.labels if pair.gallery is None else pair.gallery.labels
    candidates = options.candidates(len(pair.query.labels), len(items), leave_one_out=pair.gallery is None)
    codes = labels.label_codes(pair.query.labels, None if pair.gallery is None else items)
    (profile,) = profiles_on(cluster, pair, [Relevance(*codes, candidates)], options)
    return profile


def profiles_on(
    cluster: Cluster, pair: Pair, relevances: Sequence[Relevance], options: CountingOptions
) -> list[TieProfile]:
    """A profile for each way to be relevant; the tasks of all are handed out together."""
    # the distance of two rows, so that what does not fit together is known before any worker is asked
    first, gallery = np.zeros(1, dtype=np.int64), None if pair.gallery is None else pair.gallery.embeddings
    options.open(Chosen(pair.query.embeddings, first), None if gallery is None else Chosen(gallery, first))
    parts = [_parts(cluster, relevance) for relevance in relevances]
    cuts = [_cut(cluster, *each) for each in zip(relevances, parts, strict=True)]
    arrays: dict[str, Array | None] = {}
    for number, relevance in enumerate(relevances):
        arrays |= worker.arrays_of(relevance, number, bool(parts[number]))
    with ExitStack() as stack:
        kept = None
        if options.checkpoint is not None:
            digests = [fingerprint(rows).hex() for rows in (pair.query.embeddings, gallery) if rows is not None]
            known = identity(
                options.distance, options.rule, relevances[0], lambda of_query: digests[0 if of_query else -1]
            )
            known["tasks"] = f"{cuts[0].queries} x {cuts[0].columns} in {max(1, len(parts[0]))} parts"
            kept = stack.enter_context(Checkpoint(options.checkpoint, known))
        stack.callback(worker.forget)  # where threads of this process were the workers
        files, written = stack.enter_context(worker.written(pair, arrays, cluster.scratch))
        made = [
            Job(files, number, options.distance, options.rule, *each, options.worker_threads)
            for number, each in enumerate(zip(parts, cuts, strict=True))
        ]
        tasks = [(job, *task) for job in made for task in job.tasks]
        run = Run(cluster, tasks, sum(len(each.asking()) * len(each.gallery_class) for each in relevances), kept)
        sums = [Sums() for _ in made]

        def settle(number: int, counts: dict[str, Array]) -> None:
            job, part, *_ = tasks[number]
            sums[job.number].add(counts, job.times(part))

        run.each(worker.count, settle, options.progress)
        run.summarize(written, options.progress)
    both = zip(sums, relevances, strict=True)
    return [each.profile(relevance.candidates, options.rule.bounds_only) for each, relevance in both]


def _parts(cluster: Cluster, relevance: Relevance) -> tuple[tuple[int, int], ...]:
    """The parts of a large gallery, the first of them empty: it is what the others share."""
    n_item, most = len(relevance.gallery_class), cluster.gallery_items
    if relevance.candidates.symmetric or n_item <= most or len(relevance.relevant_items()) > _SHARED * most:
        return ()
    n_part = -(-n_item // most)
    ends = [n_item * number // n_part for number in range(n_part + 1)]
    return ((0, 0), *pairwise(ends))


def _cut(cluster: Cluster, relevance: Relevance, parts: tuple[tuple[int, int], ...]) -> Cut:
    """Into how many groups queries and columns are cut: it follows from the data, so that a run can go on elsewhere."""
    n_query, n_item, n_part = len(relevance.asking()), len(relevance.gallery_class), max(1, len(parts))
    n_task = cluster.tasks or min(_TASKS, -(-n_query * n_item // _PAIRS))
    n_task = max(1, -(-n_task // n_part))
    worth = n_item // n_part // max(_COLUMNS, int(_TIMES_RELEVANT * relevance.mean_relevant()))
    if relevance.candidates.symmetric:
        n_group = next(n for n in range(1, n_task + 1) if n * (n + 1) // 2 >= n_task)
        if not cluster.tasks:
            n_group = min(n_group, max(2, worth // 2 * 2))  # of an even number of groups, two workers have the same
        return Cut(n_group, n_group, symmetric=True)
    n_group = max(1, min(n_task, n_query // min(_QUERIES, max(_FEW_QUERIES, n_query // _GROUPS))))
    most = n_task if cluster.tasks else worth  # who asks for tasks gets them
    n_column = 1 if n_group >= _FEW_GROUPS else max(1, min(-(-n_task // n_group), most))
    return Cut(n_group, n_column, symmetric=False)
