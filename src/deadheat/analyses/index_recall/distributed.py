"""The search on an executor: a task is a range of the queries, and what comes back is their recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from deadheat import distances
from deadheat.analyses.index_recall.searching import Found, Returned, Search
from deadheat.counting.candidates import Candidates
from deadheat.counting.cluster import Cluster
from deadheat.counting.distributed import job as jobs
from deadheat.counting.distributed import worker
from deadheat.counting.distributed.run import Run
from deadheat.inputs import Pair, Samples
from deadheat.inputs.source import Chosen
from deadheat.inputs.sources import open_rows
from deadheat.support.arrays import Array
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress
from deadheat.support.remote import LocalCopies

_TASKS, _PAIRS = 64, 1 << 20  # at most, and in each at least,
_QUERIES = 64  # of so many queries, which share the rows of the base


@dataclass(frozen=True)
class SearchJob:
    """What every worker gets with every task."""

    files: jobs.Files
    distance: str
    k: int
    n_index: int
    threads: int


def search_on(
    cluster: Cluster, distance: str, rows: tuple[Any, Any], candidates: Candidates, k: int,
    returned: Sequence[Returned], threads: int, progress: bool | Progress,
) -> Found:  # fmt: skip
    """What the search for all queries finds, by the workers of a cluster."""
    n_query, n_base = candidates.n_query, len(candidates.ranked)
    query, base = open_rows(rows[0], "queries"), open_rows(rows[1], "base")
    first = np.zeros(1, dtype=np.int64)
    distances.make(distance, Chosen(query, first), Chosen(base, first), True)  # what does not fit is known now
    none = np.empty(0, dtype=np.int64)  # nobody asks for labels
    arrays: dict[str, Array | None] = {"itself": candidates.itself}
    for number, ids in enumerate(returned):
        arrays |= {f"query-{number}": ids.query, f"item-{number}": ids.item}
    by_id, n_tied = np.full((len(returned), 3, n_query), np.nan), []
    pair = Pair(Samples(query, none), Samples(base, none))
    try:
        with jobs.written(pair, arrays, cluster.scratch) as (files, written):
            job = SearchJob(files, distance, k, len(returned), threads)
            ranges = list(pairwise(_cuts(cluster, n_query, n_base)))
            run = Run(cluster, [(job, *each) for each in ranges], n_query * n_base)

            def settle(number: int, found: dict[str, Array]) -> None:
                by_id[:, :, slice(*ranges[number])] = found["by_id"]
                n_tied.append(int(found["n_tied"][0]))

            run.each(search, settle, progress, title="searching")
            run.summarize(written, progress)
    finally:
        worker.forget()  # where threads of this process were the workers
    return Found(by_id, sum(n_tied))


@plain_floats
def search(job: SearchJob, start: int, stop: int) -> worker.Answer:
    """The task: search for the queries from `start` to before `stop`."""
    opened = worker.open_once(job.files, (0, 0), lambda copies: _opened(job, copies))
    found: Found = opened.problem.of(range(start, stop), job.threads)
    return opened.answer({"by_id": found.by_id, "n_tied": np.array([found.n_tied])})


def _opened(job: SearchJob, copies: LocalCopies) -> Search:
    """The problem, as the workers have it."""

    def array(name: str) -> Array:
        found = job.files.array(name, copies)
        assert found is not None
        return found

    returned = [Returned(array(f"query-{number}"), array(f"item-{number}")) for number in range(job.n_index)]
    distance = distances.make(job.distance, *worker.open_rows(job.files, copies), True)
    itself = job.files.array("itself", copies)
    candidates = Candidates.of(distance.n_query, distance.n_gallery, leave_one_out=False, itself=itself)
    return Search(distance, candidates, job.k, returned)


def _cuts(cluster: Cluster, n_query: int, n_base: int) -> list[int]:
    """Where the queries are cut, into tasks of about the same size."""
    most = min(_TASKS, -(-n_query * n_base // _PAIRS), -(-n_query // _QUERIES))
    n_task = max(1, min(n_query, cluster.tasks or most))
    return [n_query * number // n_task for number in range(n_task + 1)]
