"""The exact search for some of the queries, and how much of what it finds each index has returned.

On an executor a task is a range of the queries, and what comes back is their recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.counting.cluster import Cluster
from deadheat.engine.counting.distributed import job as jobs
from deadheat.engine.counting.distributed import worker
from deadheat.engine.counting.distributed.running import Run
from deadheat.engine.counting.nearest import Nearest, nearest
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Distance
from deadheat.errors import InvalidValueError
from deadheat.inputs import item_ids
from deadheat.inputs.samples import Pair, Samples, open_rows
from deadheat.inputs.source import Chosen
from deadheat.support.arrays import Array, Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress, Reporting
from deadheat.support.remote import LocalCopies

_TASKS, _PAIRS = 64, 1 << 20  # at most, and in each at least,
_QUERIES = 64  # of so many queries, which share the rows of the base


class Returned(NamedTuple):
    """What one index returned, as far as it counts."""

    query: Int64  # (n,), ascending
    item: Int64  # (n,)

    @classmethod
    def of(cls, candidates: Candidates, ids: Any, base_ids: Any, counts: Any, k: int, title: str) -> Returned:
        """Check what an index returned; no more than the first k items of each row count, and no query itself."""
        n_query = candidates.n_query
        rows = item_ids.id_rows(ids, title)
        if len(rows.lengths) != n_query:
            rule = f"must have a row for each query, but has {len(rows.lengths)} for {n_query} queries"
            raise InvalidValueError(title, rule)
        rows = rows.take(item_ids.filled(rows, counts, "counts"))
        items = item_ids.gallery_rows(rows, base_ids, len(candidates.ranked), title, ("base", "base_ids"))
        item_ids.require_distinct(rows, items, title)
        others = items != candidates.itself_of(np.arange(n_query))[rows.row]
        rows, items = rows.take(others), items[others]
        first = rows.place < k
        return cls(rows.row[first], items[first])


class Found(NamedTuple):
    """The recall of some queries."""

    by_id: Float64  # (n_index, 3, n_query): lower, expected, upper
    n_tied: int  # queries with a tie at the k-th place


class Search(NamedTuple):
    """A problem: queries and base, and what indexes returned."""

    distance: Distance
    candidates: Candidates
    k: int
    returned: Sequence[Returned]

    def of(self, queries: range, threads: int, progress: bool | Progress = False) -> Found:
        """Search for a range of the queries."""
        by_id, n_tied = np.full((len(self.returned), 3, len(queries)), np.nan), 0
        places, n_base = np.minimum(self.k, self.candidates.n_ranked()), self.distance.n_gallery
        rows = np.arange(queries.start, queries.stop)
        with Reporting(progress, len(queries) * n_base, "searching") as report:
            for block in nearest(self.distance, self.candidates, self.k, threads, rows):
                last, closer, tied = block.within(self.k)
                kept = places[block.queries] - closer  # of the tied items, by an exact search
                n_tied += int(np.count_nonzero(tied > kept))
                for values, ids in zip(by_id, self.returned, strict=True):
                    values[:, block.queries - queries.start] = self._recall(ids, block, last, tied, closer, kept)
                report(len(block.queries) * n_base)
        return Found(by_id, n_tied)

    def _recall(
        self, ids: Returned, block: Nearest, last: Int64, tied: Int64, closer: Int64, kept: Int64
    ) -> tuple[Float64, Float64, Float64]:
        """Lower, expected and upper value of the queries of a block, whose k-th nearest are in the group `last`."""
        here, n = slice(*np.searchsorted(ids.query, (block.queries[0], block.queries[-1] + 1))), len(block.queries)
        row, column = ids.query[here] - block.queries[0], self.distance.columns.column_of_item[ids.item[here]]
        group = block.groups_of(row, column)
        found = np.bincount(row[group < last[row]], minlength=n)
        of_tied = np.bincount(row[group == last[row]], minlength=n)
        with np.errstate(invalid="ignore", divide="ignore"):
            lower = (found + np.maximum(0, of_tied + kept - tied)) / (closer + kept)
            expected = (found + of_tied * kept / tied) / (closer + kept)
            return lower, expected, (found + np.minimum(of_tied, kept)) / (closer + kept)


@dataclass(frozen=True)
class SearchJob:
    """What every worker gets with every task."""

    files: jobs.Files
    distance: str
    k: int
    n_index: int
    threads: int

    def opened(self, copies: LocalCopies) -> Search:
        """The problem, as the workers have it."""
        arrays: dict[str, Any] = {
            name: self.files.array(name, copies)
            for number in range(self.n_index)
            for name in (f"query-{number}", f"item-{number}")
        }
        returned = [Returned(arrays[f"query-{number}"], arrays[f"item-{number}"]) for number in range(self.n_index)]
        distance = distance_registry.make(self.distance, *worker.open_rows(self.files, copies), True)
        itself = self.files.array("itself", copies)
        candidates = Candidates.of(distance.n_query, distance.n_gallery, leave_one_out=False, itself=itself)
        return Search(distance, candidates, self.k, returned)


def search_on(
    cluster: Cluster, distance: str, rows: tuple[Any, Any], candidates: Candidates, k: int,
    returned: Sequence[Returned], threads: int, progress: bool | Progress,
) -> Found:  # fmt: skip
    """What the search for all queries finds, by the workers of a cluster."""
    n_query, n_base = candidates.n_query, len(candidates.ranked)
    query, base = open_rows(rows[0], "queries"), open_rows(rows[1], "base")
    first = np.zeros(1, dtype=np.int64)
    distance_registry.make(distance, Chosen(query, first), Chosen(base, first), True)  # what does not fit is known now
    none = np.empty(0, dtype=np.int64)  # nobody asks for labels
    arrays: dict[str, Array | None] = {"itself": candidates.itself}
    for number, ids in enumerate(returned):
        arrays |= {f"query-{number}": ids.query, f"item-{number}": ids.item}
    by_id, n_tied = np.full((len(returned), 3, n_query), np.nan), []
    pair = Pair(Samples(query, none), Samples(base, none))
    try:
        with jobs.written(pair, arrays, cluster.scratch) as (files, written):
            job = SearchJob(files, distance, k, len(returned), threads)
            most = min(_TASKS, -(-n_query * n_base // _PAIRS), -(-n_query // _QUERIES))
            n_task = max(1, min(n_query, cluster.tasks or most))
            ranges = list(pairwise(n_query * number // n_task for number in range(n_task + 1)))
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
    opened = worker.open_once(job.files, (0, 0), job.opened)
    found: Found = opened.problem.of(range(start, stop), job.threads)
    return opened.answer({"by_id": found.by_id, "n_tied": np.array([found.n_tied])})
