"""What runs in a worker: it opens the problem that a task is of, keeps that open for the next task, and counts."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Judged, Relevance, places_of
from deadheat.engine.counting.distributed.job import Files, Job
from deadheat.engine.counting.distributed.portions import PortionedPass
from deadheat.engine.counting.passes import CountingPass
from deadheat.engine.distances import registry as distance_registry
from deadheat.errors import ClusterError
from deadheat.inputs.disk import open_places
from deadheat.inputs.source import Chosen, Source
from deadheat.support.arrays import Array
from deadheat.support.floats import plain_floats
from deadheat.support.scratch import LocalCopies


class Answer(NamedTuple):
    arrays: dict[str, Array]
    fetched: int


class Open(NamedTuple):
    """A problem that is open in this process."""

    key: tuple[str, int, int]
    problem: Any
    copies: LocalCopies

    def answer(self, arrays: dict[str, Array]) -> Answer:
        """What a task found, with the bytes that were fetched since the last one."""
        fetched, self.copies.fetched = self.copies.fetched, 0
        return Answer(arrays, fetched)


_turn = Lock()
_open: list[Open] = []  # at most one


@plain_floats
def count(job: Job, part: int, queries: int, columns: int) -> Answer:
    """The task: count a portion of a part of the gallery."""
    opened = open_once(job.files, (job.number, part), lambda copies: PortionedPass(_pass(job, part, copies), job.cut))
    return opened.answer(opened.problem.count(queries, columns, job.threads))


def forget() -> None:
    with _turn:
        while _open:
            _open.pop().copies.close()


def open_once(files: Files, number: tuple[int, int], make: Callable[[LocalCopies], Any]) -> Open:
    """A problem of a run, opened by the first task that asks for it, and in the place of what was open before."""
    with _turn:
        key = (files.key, *number)
        if not _open or _open[0].key != key:
            files.require_version()
            copies = LocalCopies(files.key)
            while _open:
                _open.pop().copies.close()
            _open.append(Open(key, make(copies), copies))
        return _open[0]


def open_rows(files: Files, copies: LocalCopies) -> tuple[Source, Source | None]:
    try:
        gallery = None if files.gallery is None else open_places(files.gallery, copies.path, "gallery")
        return open_places(files.query, copies.path, "embeddings"), gallery
    except FileNotFoundError as error:
        raise ClusterError(f"every worker must see the embeddings, but one does not find '{error.filename}'") from None


def _pass(job: Job, part: int, copies: LocalCopies) -> CountingPass:
    names = {name: name for name in ("query_class", "gallery_class", "itself", "junk")}
    names |= {name: f"{name}-{job.number}" for name in ("member_class", "member_item", "shared")}
    # first, so that a worker that sees no file of the run says so
    known = {name: job.files.array(stored, copies) for name, stored in names.items()}
    query, gallery = open_rows(job.files, copies)
    n_item = (query if gallery is None else gallery).shape[0]
    of_query, of_items, junk, shared = (known[name] for name in ("query_class", "gallery_class", "junk", "shared"))
    itself, member_class, member_item = (known[name] for name in ("itself", "member_class", "member_item"))
    if gallery is not None and shared is not None:  # those of the part, and those that are relevant to any query
        start, stop = job.parts[part]
        first, last = np.searchsorted(shared, [start, stop])
        index = np.concatenate([shared[:first], np.arange(start, stop), shared[last:]])
        gallery, n_item = Chosen(gallery, index), len(index)
        of_items, junk = None if of_items is None else of_items[index], None if junk is None else junk[..., index]
        itself, member_item = (None if items is None else places_of(items, index) for items in (itself, member_item))
    distance = distance_registry.make(job.distance, query, gallery, job.rule.exact_only)
    candidates = Candidates.of(
        distance.n_query, n_item, None if junk is None else np.ascontiguousarray(junk),
        leave_one_out=gallery is None, itself=itself,
    )  # fmt: skip
    if member_class is not None and member_item is not None:
        relevance: Relevance = Judged.of(np.asarray(member_class), np.asarray(member_item), candidates)
    else:
        assert of_query is not None
        of_items = of_query if of_items is None else of_items
        relevance = Relevance(of_query.astype(np.int64), of_items.astype(np.int64), candidates)
    return CountingPass(distance, job.rule, relevance)
