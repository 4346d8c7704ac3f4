"""A run on an executor: what is handed out, what came back and what that took, and the profile that it adds up to."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import numpy as np

from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.checkpoint import Checkpoint, what_is_kept
from deadheat.engine.counting.cluster import Cluster, Summary
from deadheat.engine.counting.distributed import job as jobs
from deadheat.engine.counting.distributed import worker
from deadheat.engine.counting.distributed.dispatch import Dispatch
from deadheat.engine.counting.distributed.job import Job
from deadheat.engine.counting.distributed.portions import Cut, Sums
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.problem import identity
from deadheat.engine.profiles.profile import TieProfile
from deadheat.inputs import labels
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Chosen, fingerprint
from deadheat.support.arrays import Array
from deadheat.support.progress import Progress, Reporting

_PAIRS = 1 << 20  # in a task, about, where there are few: some hundredths of a second
_TASKS = 64
_QUERIES = 1024  # in a group at least, as each group prepares the columns for products again;
_FEW_QUERIES, _GROUPS = 128, 8  # of few queries these, so that there are so many groups
_FEW_GROUPS = 16  # of queries: then columns are cut as well
_COLUMNS = 1 << 10  # in a group at least, and
_TIMES_RELEVANT = 1000  # times what is relevant to a query, as each group looks for that again
_SHARED = 1 / 4  # of a part, which what all parts share may be

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


def profile_on(cluster: Cluster, pair: Pair, options: CountingOptions) -> TieProfile:
    _try_first_rows(pair, options)
    items = pair.query.labels if pair.gallery is None else pair.gallery.labels
    candidates = options.candidates(len(pair.query.labels), len(items), leave_one_out=pair.gallery is None)
    codes = labels.label_codes(pair.query.labels, None if pair.gallery is None else items)
    (profile,) = _profiles(cluster, pair, [Relevance(*codes, candidates)], options)
    return profile


def profiles_on(
    cluster: Cluster, pair: Pair, relevances: Sequence[Relevance], options: CountingOptions
) -> list[TieProfile]:
    """A profile for each way to be relevant, without junk; the tasks of all are handed out together."""
    _try_first_rows(pair, options)
    return _profiles(cluster, pair, relevances, options)


def _profiles(
    cluster: Cluster, pair: Pair, relevances: Sequence[Relevance], options: CountingOptions
) -> list[TieProfile]:
    parts = [_parts(cluster, relevance) for relevance in relevances]
    cuts = [_cut(cluster, *each) for each in zip(relevances, parts, strict=True)]
    arrays: dict[str, Array | None] = {}
    for number, relevance in enumerate(relevances):
        arrays |= jobs.arrays_of(relevance, number, bool(parts[number]))
    with ExitStack() as stack:
        kept = None
        if options.checkpoint is not None:
            known = _identity(pair, relevances[0], options, cuts[0], parts[0])
            kept = stack.enter_context(Checkpoint(options.checkpoint, known))
        stack.callback(worker.forget)  # where threads of this process were the workers
        files, written = stack.enter_context(jobs.written(pair, arrays, cluster.scratch))
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


def _try_first_rows(pair: Pair, options: CountingOptions) -> None:
    """Open the distance of two rows, so that what does not fit together is known before any worker is asked."""
    first = np.zeros(1, dtype=np.int64)
    gallery = None if pair.gallery is None else Chosen(pair.gallery.embeddings, first)
    options.open(Chosen(pair.query.embeddings, first), gallery)


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


def _identity(
    pair: Pair, relevance: Relevance, options: CountingOptions, cut: Cut, parts: tuple[tuple[int, int], ...]
) -> dict[str, str]:

    def digest(of_query: bool) -> str:
        samples = pair.query if of_query or pair.gallery is None else pair.gallery
        return fingerprint(samples.embeddings).hex()

    known = identity(options.distance, options.rule, relevance, digest)
    tasks = f"{cut.queries} x {cut.columns} in {max(1, len(parts))} parts"
    return {**known, "tasks": tasks}
