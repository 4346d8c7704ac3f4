"""A run on an executor, from the door to the profile."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Relevance
from deadheat.engine.counting.checkpoint import Checkpoint
from deadheat.engine.counting.cluster import Cluster
from deadheat.engine.counting.distributed import job as jobs
from deadheat.engine.counting.distributed import worker
from deadheat.engine.counting.distributed.job import Job
from deadheat.engine.counting.distributed.run import Run
from deadheat.engine.counting.distributed.sums import Sums
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.portions import Cut
from deadheat.engine.counting.problem import identity
from deadheat.engine.profiles.profile import TieProfile
from deadheat.inputs import arrays as input_arrays
from deadheat.inputs import labels
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Chosen, fingerprint
from deadheat.support.arrays import Array

_PAIRS = 1 << 20  # in a task, about, where there are few: some hundredths of a second
_TASKS = 64
_QUERIES = 1024  # in a group at least: columns are made ready for products anew for each;
_FEW_QUERIES, _GROUPS = 128, 8  # of few queries these, so that there are so many groups
_FEW_GROUPS = 16  # of queries: then columns are cut as well
_COLUMNS = 1 << 10  # in a group at least, and so many times what is relevant to a query: that is looked for anew for
_TIMES_RELEVANT = 1000  # each group
_SHARED = 1 / 4  # of a part, which what all parts share may be


def profile_on(cluster: Cluster, pair: Pair, options: CountingOptions) -> TieProfile:
    """The profile of what has been opened and checked, counted by the workers of a cluster."""
    _try_first_rows(pair, options)
    (profile,) = _profiles(cluster, pair, [_relevance(pair, options)], _junk(pair, options), options)
    return profile


def profiles_on(
    cluster: Cluster, pair: Pair, relevances: Sequence[Relevance], options: CountingOptions
) -> list[TieProfile]:
    """A profile for each way to be relevant, without junk; the tasks of all are handed out together."""
    _try_first_rows(pair, options)
    return _profiles(cluster, pair, relevances, None, options)


def _profiles(
    cluster: Cluster, pair: Pair, relevances: Sequence[Relevance], junk: Array | None, options: CountingOptions
) -> list[TieProfile]:
    parts = [_parts(cluster, relevance) for relevance in relevances]
    cuts = [_cut(cluster, *each) for each in zip(relevances, parts, strict=True)]
    arrays: dict[str, Array | None] = {}
    for number, relevance in enumerate(relevances):
        arrays |= jobs.arrays_of(relevance, junk, number, bool(parts[number]))
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
        run = Run(cluster, tasks, sum(map(_n_pair, relevances)), kept)
        sums = [Sums() for _ in made]

        def settle(number: int, counts: dict[str, Array]) -> None:
            job, part, *_ = tasks[number]
            sums[job.number].add(counts, job.times(part))

        run.each(worker.count, settle, options.progress)
        run.summarize(written, options.progress)
    both = zip(sums, relevances, strict=True)
    return [each.profile(relevance.candidates, options.rule.bounds_only) for each, relevance in both]


def _n_pair(relevance: Relevance) -> int:
    return len(relevance.asking()) * len(relevance.gallery_class)


def _try_first_rows(pair: Pair, options: CountingOptions) -> None:
    """Open the distance of two rows, so that what does not fit together is known before any worker is asked."""
    first = np.zeros(1, dtype=np.int64)
    gallery = None if pair.gallery is None else Chosen(pair.gallery.embeddings, first)
    options.open(Chosen(pair.query.embeddings, first), gallery)


def _junk(pair: Pair, options: CountingOptions) -> Array | None:
    """The junk as it was given, checked."""
    items = pair.query if pair.gallery is None else pair.gallery
    return input_arrays.junk_mask(options.junk, len(pair.query.labels), len(items.labels))


def _relevance(pair: Pair, options: CountingOptions) -> Relevance:
    """Who is relevant to whom."""
    items = pair.query.labels if pair.gallery is None else pair.gallery.labels
    candidates = Candidates.of(
        len(pair.query.labels), len(items), _junk(pair, options), leave_one_out=pair.gallery is None,
        itself=options.exclude,
    )  # fmt: skip
    codes = labels.label_codes(pair.query.labels, None if pair.gallery is None else items)
    return Relevance(*codes, candidates)


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
    """What the kept tasks are of."""

    def digest(of_query: bool) -> str:
        samples = pair.query if of_query or pair.gallery is None else pair.gallery
        return fingerprint(samples.embeddings).hex()

    known = identity(options.distance, options.rule, relevance, digest)
    tasks = f"{cut.queries} x {cut.columns} in {max(1, len(parts))} parts"
    return {**known, "tasks": tasks}
