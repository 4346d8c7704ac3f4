"""What runs in a worker: it opens the problem that a task is of, keeps that open for the next task, and counts."""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np

from deadheat import distances
from deadheat.counting.candidates import Candidates, Relevance
from deadheat.counting.distributed.job import Job
from deadheat.counting.passes import CountingPass
from deadheat.counting.portions import Portion, PortionedPass
from deadheat.errors import ClusterError
from deadheat.inputs.places import open_places
from deadheat.inputs.source import Chosen, Source
from deadheat.support.arrays import Array, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.remote import LocalCopies


class Answer(NamedTuple):
    """The counts of a portion, and how many bytes were fetched for them."""

    counts: dict[str, Array]
    fetched: int


class _Open(NamedTuple):
    """A problem that is open in this process."""

    key: tuple[str, int]
    portioned: PortionedPass
    copies: LocalCopies


_turn = Lock()
_open: list[_Open] = []  # at most one


@plain_floats
def count(job: Job, part: int, queries: int, columns: int) -> Answer:
    """The task: count a portion of a part of the gallery."""
    opened = _opened(job, part)
    counts = opened.portioned.count(Portion(queries, columns), job.threads)
    fetched, opened.copies.fetched = opened.copies.fetched, 0
    return Answer(counts, fetched)


def forget() -> None:
    """Close what is open in this process."""
    with _turn:
        while _open:
            _open.pop().copies.close()


def _opened(job: Job, part: int) -> _Open:
    """The problem of a part, opened by the first task that asks for it."""
    with _turn:
        if not _open or _open[0].key != (job.key, part):
            job.require_version()
            copies = LocalCopies(job.key)
            while _open:
                _open.pop().copies.close()
            counting_pass = _pass(job, part, copies)
            _open.append(_Open((job.key, part), PortionedPass(counting_pass, job.cut), copies))
        return _open[0]


def _pass(job: Job, part: int, copies: LocalCopies) -> CountingPass:
    """The counting pass over a part of the gallery, or over all of it."""
    arrays = {
        name: job.array(name, copies) for name in ("query_class", "gallery_class", "itself", "junk", "shared")
    }  # first, because that tells where no file of the run can be seen
    try:
        query = open_places(job.query, copies.path, "embeddings")
        gallery = None if job.gallery is None else open_places(job.gallery, copies.path, "gallery")
    except FileNotFoundError as error:
        raise ClusterError(f"every worker must see the embeddings, but one does not find '{error.filename}'") from None
    query_class, gallery_class = arrays["query_class"], arrays["gallery_class"]
    itself, junk = arrays["itself"], arrays["junk"]
    assert query_class is not None
    if gallery is None or gallery_class is None:
        gallery_class = query_class
    elif arrays["shared"] is not None:
        index = _items(job, part, arrays["shared"])
        gallery, gallery_class = Chosen(gallery, index), gallery_class[index]
        itself = None if itself is None else _places(itself, index)
        junk = None if junk is None else junk[..., index]
    return _counting_pass(job, query, gallery, query_class, gallery_class, itself, junk)


def _counting_pass(
    job: Job, query: Source, gallery: Source | None, query_class: Array, gallery_class: Array,
    itself: Array | None, junk: Array | None,
) -> CountingPass:  # fmt: skip
    distance = distances.make(job.distance, query, gallery, job.rule.exact_only)
    candidates = Candidates.of(
        distance.n_query, distance.n_gallery, None if junk is None else np.ascontiguousarray(junk),
        leave_one_out=gallery is None, itself=itself,
    )  # fmt: skip
    relevance = Relevance(query_class.astype(np.int64), gallery_class.astype(np.int64), candidates)
    return CountingPass(distance, job.rule, relevance)


def _items(job: Job, part: int, shared: Array) -> Int64:
    """The items of a part, ascending: those of its range, and those that are relevant to anybody."""
    start, stop = job.parts[part]
    first, last = np.searchsorted(shared, [start, stop])
    return np.concatenate([shared[:first], np.arange(start, stop), shared[last:]])


def _places(items: Array, index: Int64) -> Int64:
    """Where items are in an index, −1 for those that are not."""
    place = np.minimum(np.searchsorted(index, items), len(index) - 1)
    return np.where(index[place] == items, place, -1)
