"""A run on an executor, from the door to the profile."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from deadheat import inputs
from deadheat.counting.candidates import Candidates, Relevance
from deadheat.counting.checkpoint import Checkpoint
from deadheat.counting.cluster import Cluster, Summary
from deadheat.counting.distributed import job as jobs
from deadheat.counting.distributed import worker
from deadheat.counting.distributed.dispatch import Dispatch
from deadheat.counting.distributed.sums import Sums
from deadheat.counting.options import CountingOptions
from deadheat.counting.portions import Cut
from deadheat.counting.problem import identity
from deadheat.inputs import Pair
from deadheat.inputs.source import Chosen, fingerprint
from deadheat.profiles import TieProfile
from deadheat.support.arrays import Array
from deadheat.support.progress import Reporting

_PAIRS = 1 << 22  # in a task at least: a fraction of a second
_TASKS = 64
_QUERIES = 1024  # in a group at least: columns are made ready for products anew for each
_FEW_GROUPS = 16  # of queries: then columns are cut as well
_COLUMNS = 1 << 10  # in a group at least, and so many times what is relevant to a query: that is looked for anew for
_TIMES_RELEVANT = 1000  # each group
_SHARED = 1 / 4  # of a part, which what all parts share may be


class Task(NamedTuple):
    """A portion of a part of the gallery; with the job before it, it is what a worker is called with."""

    part: int
    queries: int
    columns: int


def profile_on(cluster: Cluster, pair: Pair, options: CountingOptions) -> TieProfile:
    """The profile of what has been opened and checked, counted by the workers of a cluster."""
    _try_first_rows(pair, options)
    relevance, junk = _relevance(pair, options)
    parts = _parts(cluster, relevance)
    cut = _cut(cluster, relevance, max(1, len(parts)))
    of_pass = [*cut.portions()]
    tasks = [Task(part, *portion) for part in range(max(1, len(parts))) for portion in of_pass]
    cluster.summary = None
    with ExitStack() as stack:
        kept = None
        if options.checkpoint is not None:
            kept = stack.enter_context(Checkpoint(options.checkpoint, _identity(pair, relevance, options, cut, parts)))
        stack.callback(worker.forget)  # where threads of this process were the workers
        job, written = stack.enter_context(
            jobs.written(
                pair, relevance, junk, distance=options.distance, rule=options.rule, scratch=cluster.scratch,
                parts=parts, cut=cut, threads=options.worker_threads,
            )
        )  # fmt: skip
        run = Run(cluster, job, tasks, kept, relevance)
        sums = run.sums(options)
        cluster.summary = run.summary(written)
    if options.progress is True:
        print(cluster.summary, file=sys.stderr)
    return sums.profile(relevance.candidates, options.rule.bounds_only)


class Run:
    """One run: what of it was kept, what is handed out, and what that took."""

    def __init__(
        self, cluster: Cluster, job: jobs.Job, tasks: list[Task], kept: Checkpoint | None, relevance: Relevance
    ) -> None:
        self.cluster, self.job, self.tasks, self.kept = cluster, job, tasks, kept
        self.n_pair = int((relevance.query_class >= 0).sum()) * len(relevance.gallery_class)
        self.begin, self.moved, self.n_kept, self.retries = time.monotonic(), 0, 0, 0

    def sums(self, options: CountingOptions) -> Sums:
        """Add up the answers, those first that a checkpoint has."""
        sums, left = Sums(), {}
        for number, task in enumerate(self.tasks):
            counts = None if self.kept is None else self.kept.load(number)
            if counts is None:
                left[number] = (self.job, *task)
            else:
                sums.add(counts, self._times(task))
        n_done = self.n_kept = len(self.tasks) - len(left)
        with Reporting(options.progress, self.n_pair, done=self._pairs(n_done)) as report:
            dispatch = Dispatch(self.cluster)
            try:
                for number, answer in dispatch.answers(worker.count, left):
                    sums.add(answer.counts, self._times(self.tasks[number]))
                    if self.kept is not None:
                        self.kept.save(number, answer.counts)
                    self.moved += answer.fetched + sum(array.nbytes for array in answer.counts.values())
                    n_done += 1
                    report(self._pairs(n_done) - self._pairs(n_done - 1))
            except KeyboardInterrupt:
                raise KeyboardInterrupt(self._what_is_kept(n_done)) from None
            finally:
                dispatch.close()
                self.retries = dispatch.retries
        return sums

    def summary(self, written: int) -> Summary:
        """What it took."""
        n_pair, n_task = self.n_pair - self._pairs(self.n_kept), len(self.tasks) - self.n_kept
        return Summary(n_pair, time.monotonic() - self.begin, n_task, self.retries, written + self.moved)

    def _pairs(self, n_task: int) -> int:
        """How many pairs so many tasks are, which are about the same for each."""
        return self.n_pair * n_task // max(1, len(self.tasks))

    def _times(self, task: Task) -> int:
        """How often the counts of a task are added: each part counts what all parts share, which is to count once."""
        n_part = len(self.job.parts)
        return 1 if not n_part or task.part else 2 - n_part

    def _what_is_kept(self, n_done: int) -> str:
        if self.kept is None:
            return "nothing is kept: give a checkpoint to go on from where a run was interrupted"
        return f"{n_done} of {len(self.tasks)} tasks are kept in {self.kept}"


def _try_first_rows(pair: Pair, options: CountingOptions) -> None:
    """Open the distance of two rows, so that what does not fit together is known before any worker is asked."""
    first = np.zeros(1, dtype=np.int64)
    gallery = None if pair.gallery is None else Chosen(pair.gallery.embeddings, first)
    options.open(Chosen(pair.query.embeddings, first), gallery)


def _relevance(pair: Pair, options: CountingOptions) -> tuple[Relevance, Array | None]:
    """Who is relevant to whom, and the junk as it was given."""
    items = pair.query.labels if pair.gallery is None else pair.gallery.labels
    junk = inputs.junk_mask(options.junk, len(pair.query.labels), len(items))
    candidates = Candidates.of(
        len(pair.query.labels), len(items), junk, leave_one_out=pair.gallery is None, itself=options.exclude
    )
    codes = inputs.label_codes(pair.query.labels, None if pair.gallery is None else items)
    return Relevance(*codes, candidates), junk


def _parts(cluster: Cluster, relevance: Relevance) -> tuple[tuple[int, int], ...]:
    """The parts of a large gallery, the first of them empty: it is what the others share."""
    n_item, most = len(relevance.gallery_class), cluster.gallery_items
    if relevance.candidates.symmetric or n_item <= most or len(jobs.shared_items(relevance)) > _SHARED * most:
        return ()
    n_part = -(-n_item // most)
    ends = [n_item * number // n_part for number in range(n_part + 1)]
    return ((0, 0), *pairwise(ends))


def _cut(cluster: Cluster, relevance: Relevance, n_part: int) -> Cut:
    """Into how many groups queries and columns are cut: it follows from the data, so that a run can go on elsewhere."""
    n_query, n_item = int((relevance.query_class >= 0).sum()), len(relevance.gallery_class)
    n_task = cluster.tasks or min(_TASKS, -(-n_query * n_item // _PAIRS))
    n_task = max(1, -(-n_task // n_part))
    worth = n_item // n_part // max(_COLUMNS, int(_TIMES_RELEVANT * _mean_relevant(relevance)))
    if relevance.candidates.symmetric:
        n_group = next(n for n in range(1, n_task + 1) if n * (n + 1) // 2 >= n_task)
        if not cluster.tasks:
            n_group = min(n_group, max(2, worth // 2 * 2))  # of an even number of groups, two workers have the same
        return Cut(n_group, n_group, symmetric=True)
    n_group = max(1, min(n_task, n_query // _QUERIES))
    most = n_task if cluster.tasks else worth  # who asks for tasks gets them
    n_column = 1 if n_group >= _FEW_GROUPS else max(1, min(-(-n_task // n_group), most))
    return Cut(n_group, n_column, symmetric=False)


def _mean_relevant(relevance: Relevance) -> float:
    """How many items have the label of a query, about."""
    asked = relevance.query_class[relevance.query_class >= 0]
    return float(np.bincount(relevance.gallery_class)[asked].mean()) if len(asked) else 0.0


def _identity(
    pair: Pair, relevance: Relevance, options: CountingOptions, cut: Cut, parts: tuple[tuple[int, int], ...]
) -> dict[str, str]:
    """What the kept tasks are of."""

    def digest(of_query: bool) -> str:
        samples = pair.query if of_query or pair.gallery is None else pair.gallery
        return fingerprint(samples.embeddings).hex()

    known = identity(options.distance, options.rule, relevance, digest)
    tasks = f"{cut.queries} x {cut.columns} in {max(1, len(parts))} parts"
    return {**known, "tasks": tasks}
