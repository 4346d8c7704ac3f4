"""What runs in a worker: it opens the problem that a task is of, keeps that open for the next task, and counts."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Judged, Relevance
from deadheat.engine.counting.distributed.job import Files, Job
from deadheat.engine.counting.distributed.portions import Portion, PortionedPass
from deadheat.engine.counting.passes import CountingPass
from deadheat.engine.distances import registry as distance_registry
from deadheat.errors import ClusterError
from deadheat.inputs.disk import open_places
from deadheat.inputs.source import Chosen, Source
from deadheat.support.arrays import Array, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.remote import LocalCopies


class Answer(NamedTuple):
    """What a task found, and how many bytes were fetched for it."""

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
    return opened.answer(opened.problem.count(Portion(queries, columns), job.threads))


def forget() -> None:
    """Close what is open in this process."""
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
    """The rows of queries and gallery."""
    try:
        gallery = None if files.gallery is None else open_places(files.gallery, copies.path, "gallery")
        return open_places(files.query, copies.path, "embeddings"), gallery
    except FileNotFoundError as error:
        raise ClusterError(f"every worker must see the embeddings, but one does not find '{error.filename}'") from None


def _pass(job: Job, part: int, copies: LocalCopies) -> CountingPass:
    """The counting pass over a part of the gallery, or over all of it."""
    known = _arrays(job, copies)  # first, so that a worker that sees no file of the run says so
    query, gallery = open_rows(job.files, copies)
    n_item = (query if gallery is None else gallery).shape[0]
    if known["shared"] is not None:
        assert gallery is not None
        index = _items(job, part, known["shared"])
        gallery, n_item = Chosen(gallery, index), len(index)
        known |= _chosen(known, index)
    distance = distance_registry.make(job.distance, query, gallery, job.rule.exact_only)
    junk = known["junk"]
    candidates = Candidates.of(
        distance.n_query, n_item, None if junk is None else np.ascontiguousarray(junk),
        leave_one_out=gallery is None, itself=known["itself"],
    )  # fmt: skip
    return CountingPass(distance, job.rule, _relevance(known, candidates))


def _arrays(job: Job, copies: LocalCopies) -> dict[str, Array | None]:
    """The arrays of a job; None for those that it has not."""
    of_run = {name: name for name in ("query_class", "gallery_class", "itself", "junk")}
    of_job = {name: f"{name}-{job.number}" for name in ("member_class", "member_item", "shared")}
    return {name: job.files.array(stored, copies) for name, stored in (of_run | of_job).items()}


def _relevance(known: dict[str, Array | None], candidates: Candidates) -> Relevance:
    """Who is relevant to whom."""
    member_class, member_item, of_query = (known[name] for name in ("member_class", "member_item", "query_class"))
    if member_class is not None and member_item is not None:
        return Judged.of(np.asarray(member_class), np.asarray(member_item), candidates)
    assert of_query is not None
    of_items = of_query if known["gallery_class"] is None else known["gallery_class"]
    return Relevance(of_query.astype(np.int64), of_items.astype(np.int64), candidates)


def _chosen(known: dict[str, Array | None], index: Int64) -> dict[str, Array | None]:
    """What is known of the items of a gallery, of some of them."""
    of_items, junk = known["gallery_class"], known["junk"]
    by_item = {name: known[name] for name in ("itself", "member_item")}
    return {
        "gallery_class": None if of_items is None else of_items[index],
        "junk": None if junk is None else junk[..., index],
        **{name: None if items is None else _places(items, index) for name, items in by_item.items()},
    }


def _items(job: Job, part: int, shared: Array) -> Int64:
    """The items of a part, ascending: those of its range, and those that are relevant to anybody."""
    start, stop = job.parts[part]
    first, last = np.searchsorted(shared, [start, stop])
    return np.concatenate([shared[:first], np.arange(start, stop), shared[last:]])


def _places(items: Array, index: Int64) -> Int64:
    """Where items are in an index, −1 for those that are not."""
    place = np.minimum(np.searchsorted(index, items), len(index) - 1)
    return np.where(index[place] == items, place, -1)
