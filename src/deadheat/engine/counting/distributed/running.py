"""A run on an executor: submits tasks, and puts their answers together into the profile.

All tasks are submitted at once, and again if they failed or their worker died.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import ExitStack
from queue import SimpleQueue
from typing import Any

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Relevance
from deadheat.engine.counting.checkpoint import Checkpoint, report_found, what_is_kept
from deadheat.engine.counting.cluster import Cluster, Summary
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
from deadheat.support.checks import cause
from deadheat.support.progress import Progress, Reporting

_PAIRS = 1 << 20  # in a task, about, where there are few: some hundredths of a second
_TASKS = 64
_QUERIES = 1024  # in a group at least, as each group prepares the columns for products again;
_FEW_QUERIES, _GROUPS = 128, 8  # of few queries these, so that there are so many groups
_FEW_GROUPS = 16  # of queries: then columns are cut as well
_COLUMNS = 1 << 10  # in a group at least, and
_TIMES_RELEVANT = 1000  # times what is relevant to a query, as each group looks for that again

_OF_FIRST = ("n_group", "n_relevant", "closer_relevant", "tied_relevant")


class Dispatch:
    """The tasks of a run, from the first submission to the last answer.

    Attributes
    ----------
    retries : int
        Tasks that were handed out once more, so far.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._owned = cluster, not isinstance(cluster.executor, Executor)
        self._executor = cluster.made()
        self._handed: dict[Future[Any], int] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        self._failures: Counter[int] = Counter()
        self._broken = 0  # executors, since the last answer
        self.retries = 0

    def answers(self, work: Callable[..., Any], tasks: Mapping[int, tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Yield the number and the answer of each task, in the order in which they finish.

        Raises
        ------
        ClusterError
            If a task has failed too often, or the executor is broken.
        """
        waiting, n_done = deque(tasks), 0
        while waiting or self._handed:
            try:
                while waiting:
                    future = self._submitted(work, tasks[waiting[0]])
                    self._handed[future] = waiting.popleft()
                future = self._done.get()
                if future not in self._handed:  # of an executor that is broken
                    continue
                try:
                    answer = future.result()
                except (DeadheatError, BrokenExecutor):
                    raise
                except (Exception, CancelledError) as error:
                    self._failed(self._handed[future], error)
                    waiting.append(self._handed.pop(future))
                else:
                    n_done, self._broken = n_done + 1, 0
                    yield self._handed.pop(future), answer
            except BrokenExecutor as broken:
                self._renew(broken, n_done, len(tasks))
                self.retries += len(self._handed)
                waiting.extendleft(sorted(self._handed.values(), reverse=True))
                self._handed.clear()

    def _submitted(self, work: Callable[..., Any], task: tuple[Any, ...]) -> Future[Any]:
        try:
            future = self._executor.submit(work, *task)
            future.add_done_callback(self._done.put)
        except (DeadheatError, BrokenExecutor):
            raise
        except Exception as error:  # such as one that was shut down
            raise ClusterError(f"the executor takes no task: {cause(error)}") from error
        return future

    def _failed(self, number: int, error: BaseException) -> None:
        self._failures[number] += 1
        self.retries += 1
        if self._failures[number] > self._cluster.retries:
            failed = f"{self._failures[number]} times, at last with {cause(error)}"
            raise ClusterError(f"a task has failed {failed}") from error

    def _renew(self, broken: BaseException, n_done: int, n_task: int) -> None:
        died = f"a worker of the executor died ({type(broken).__name__}) after {n_done} of {n_task} tasks"
        if not self._owned:
            raise ClusterError(
                f"{died}, and such an executor cannot be used again: hand over a function that makes one, "
                "or give a checkpoint and start again with a new executor"
            ) from broken
        self._broken += 1
        if self._broken > self._cluster.retries:
            raise ClusterError(f"{died}, as others did before it: a task may need more memory") from broken
        self.close()
        self._executor = self._cluster.made()

    def close(self) -> None:
        """Cancel the tasks that no worker has begun, and shut down an executor that was made here."""
        for future in self._handed:
            future.cancel()
        if self._owned:
            self._executor.shutdown(wait=False)  # loky's takes no more than that


def run(
    cluster: Cluster,
    work: Callable[..., dict[str, Array]],
    tasks: Sequence[tuple[Any, ...]],
    settle: Callable[[int, dict[str, Array]], None],
    n_pair: int,
    progress: bool | Progress,
    *,
    title: str = "counting",
    kept: Checkpoint | None = None,
) -> None:
    """Call `settle` with the number and arrays of every task, first those in the checkpoint, and set the summary.

    All tasks have about the same number of pairs.
    """

    def pairs(n: int) -> int:
        return n_pair * n // max(1, len(tasks))

    begin, left, cluster.summary = time.monotonic(), {}, None
    for number, task in enumerate(tasks):
        arrays = None if kept is None else kept.load(number)
        if arrays is None:
            left[number] = task
        else:
            settle(number, arrays)
    n_done = n_kept = len(tasks) - len(left)
    if kept is not None:
        report_found(kept, n_kept, len(tasks), "tasks", progress)
    with Reporting(progress, n_pair, title, done=pairs(n_kept)) as report:
        dispatch = Dispatch(cluster)
        try:
            for number, arrays in dispatch.answers(work, left):
                try:
                    settle(number, arrays)
                except (LookupError, TypeError, ValueError) as error:
                    raise ClusterError(f"the answer of a worker does not fit its task: {cause(error)}") from error
                if kept is not None:
                    kept.save(number, arrays)
                n_done += 1
                report(pairs(n_done) - pairs(n_done - 1))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(what_is_kept(kept, n_done, len(tasks), "tasks")) from None
        finally:
            dispatch.close()
    cluster.summary = Summary(n_pair - pairs(n_kept), time.monotonic() - begin, len(left), dispatch.retries)
    if progress is True:
        print(cluster.summary, file=sys.stderr)


class Sums:
    """Sums of the counts of portions; these are integers, so their order does not matter."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Int64]] = {}  # of each group of queries; `closer` and `tied` are irrelevant

    def add(self, counts: dict[str, Array]) -> None:
        """Add the counts of a portion."""
        for name in {key.partition(".")[0] for key in counts}:
            queries, closer, tied = (counts[f"{name}.{what}"] for what in ("queries", "closer", "tied"))
            zeros = np.zeros((2, len(closer)), dtype=np.int64)
            group = self._groups.setdefault(name, {"queries": queries, "closer": zeros[0], "tied": zeros[1]})
            if not np.array_equal(group["queries"], queries) or len(group["closer"]) != len(closer):
                raise ClusterError("workers must agree on the tie groups of a query, but two do not: do all of them "
                                   "see the same files?")  # fmt: skip
            group["closer"] += closer
            group["tied"] += tied
            if f"{name}.n_group" in counts:
                group |= {what: counts[f"{name}.{what}"].astype(np.int64) for what in _OF_FIRST}

    def require_whole(self, asking: Int64) -> None:
        """Refuse answers that lack groups, or all queries: then an executor has not returned what its tasks did."""
        groups = self._groups.values()
        sizes = ((group.get("n_group", group["queries"][:0]), group) for group in groups)
        fit = all(len(n) == len(group["queries"]) and n.sum() == len(group["closer"]) for n, group in sizes)
        if not fit or (len(asking) and not groups):
            raise ClusterError("workers must count every group of every query, but their answers lack some")

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
    """Return a profile for each of the `relevances`; the tasks of all of them are submitted together."""
    # the distance of two rows, so that what does not fit together is known before any worker is asked
    first, gallery = np.zeros(1, dtype=np.int64), None if pair.gallery is None else pair.gallery.embeddings
    options.open(Chosen(pair.query.embeddings, first), None if gallery is None else Chosen(gallery, first))
    cuts = [_cut(cluster, relevance) for relevance in relevances]
    arrays: dict[str, Array | None] = {}
    for number, relevance in enumerate(relevances):
        arrays |= worker.arrays_of(relevance, number)
    with ExitStack() as stack:
        kept = None
        if options.checkpoint is not None:
            digests = [fingerprint(rows).hex() for rows in (pair.query.embeddings, gallery) if rows is not None]
            known = identity(
                options.distance, options.rule, relevances[0], lambda of_query: digests[0 if of_query else -1]
            )
            known["tasks"] = f"{cuts[0].queries} x {cuts[0].columns}"
            kept = stack.enter_context(Checkpoint(options.checkpoint, known))
        stack.callback(worker.forget)  # where threads of this process were the workers
        files = stack.enter_context(worker.written(pair, arrays, cluster.scratch))
        made = [
            Job(files, number, options.distance, options.rule, cut, options.worker_threads, cluster.device)
            for number, cut in enumerate(cuts)
        ]
        tasks = [(job, *portion) for job in made for portion in job.cut.portions()]
        n_pair, sums = sum(len(each.asking()) * len(each.gallery_class) for each in relevances), [Sums() for _ in made]

        def add(number: int, counts: dict[str, Array]) -> None:
            sums[tasks[number][0].number].add(counts)

        run(cluster, worker.count, tasks, add, n_pair, options.progress, kept=kept)
    both = list(zip(sums, relevances, strict=True))
    for each, relevance in both:
        each.require_whole(relevance.asking())
    return [each.profile(relevance.candidates, options.rule.bounds_only) for each, relevance in both]


def _cut(cluster: Cluster, relevance: Relevance) -> Cut:
    """Return the numbers of groups of queries and columns; they follow from the data, so a run can resume elsewhere."""
    n_query, n_item = len(relevance.asking()), len(relevance.gallery_class)
    n_task = max(1, cluster.tasks or min(_TASKS, -(-n_query * n_item // _PAIRS)))
    worth = n_item // max(_COLUMNS, int(_TIMES_RELEVANT * relevance.mean_relevant()))
    if relevance.candidates.symmetric:
        n_group = next(n for n in range(1, n_task + 1) if n * (n + 1) // 2 >= n_task)
        if not cluster.tasks:
            n_group = min(n_group, max(2, worth // 2 * 2))  # of an even number of groups, two workers have the same
        return Cut(n_group, n_group, symmetric=True)
    n_group = max(1, min(n_task, n_query // min(_QUERIES, max(_FEW_QUERIES, n_query // _GROUPS))))
    most = n_task if cluster.tasks else worth  # who asks for tasks gets them
    n_column = 1 if n_group >= _FEW_GROUPS else max(1, min(-(-n_task // n_group), most))
    return Cut(n_group, n_column, symmetric=False)
