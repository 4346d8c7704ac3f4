"""What workers are sent: a job, which is small, and the files that it names.

Embeddings stay in the files that they are in. What is in no file (arrays, labels, masks) is written once to a directory
that is the job's own and goes with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import IO
from uuid import uuid4

import numpy as np

from deadheat.engine.counting.candidates import Judged, Relevance
from deadheat.engine.counting.distributed.portions import Cut
from deadheat.engine.ties.rule import Ties
from deadheat.errors import ClusterError
from deadheat.inputs.disk import Place, places_of, write_rows
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Source
from deadheat.support.arrays import Array
from deadheat.support.lazy import tempfile
from deadheat.support.scratch import PREFIX, LocalCopies, delete_folder, is_url, joined, opened_folder, writing


@dataclass(frozen=True)
class Files:
    """What every worker gets with every task: where the rows are, and the arrays of this run."""

    key: str
    folder: str
    version: str
    query: tuple[Place, ...]
    gallery: tuple[Place, ...] | None
    arrays: frozenset[str]  # files in the folder

    def require_version(self) -> None:
        if self.version != version("deadheat"):
            raise ClusterError(
                f"workers must have the version of deadheat that asks them, {self.version}, "
                f"but one has {version('deadheat')}"
            )

    def array(self, name: str, local: LocalCopies) -> Array | None:
        """One of the arrays in the folder, as a memory map, or None if there is none of this name."""
        if name not in self.arrays:
            return None
        path = local.path(joined(self.folder, f"{name}.npy"))
        try:
            return np.asarray(np.load(path, mmap_mode="r"))
        except FileNotFoundError:
            raise ClusterError(
                f"every worker must see the files of the run, but one does not find '{path}': "
                "give Cluster(executor, scratch=...) a directory that all of them see"
            ) from None


@dataclass(frozen=True)
class Job:
    """One counting pass.

    A large gallery is cut into parts, ranges of its items, of which a worker opens one at a time. What is relevant to
    any query belongs to every part, so that each of them finds the same groups; part 0 is that alone, and what it
    counts is taken away again from the others.
    """

    files: Files
    number: int  # of the pass, where a run has several
    distance: str
    rule: Ties
    parts: tuple[tuple[int, int], ...]  # of the gallery, from item to item; () if it is opened as a whole
    cut: Cut
    threads: int

    @property
    def tasks(self) -> list[tuple[int, int, int]]:
        """Portions of parts of the gallery: what a worker is called with, after the job."""
        return [(part, *portion) for part in range(max(1, len(self.parts))) for portion in self.cut.portions()]

    def times(self, part: int) -> int:
        """How often the counts of a part are added: each part counts what all parts share, which is to count once."""
        return 1 if not self.parts or part else 2 - len(self.parts)


class Writer:
    """Writes the files of a run, and knows how much that was."""

    def __init__(self, scratch: str | None) -> None:
        self.key, self._shared, self.written = uuid4().hex, scratch is not None, 0
        self._users: IO[bytes] | None = None
        if scratch is None:
            self.folder = tempfile.mkdtemp(prefix=f"{PREFIX}job-")
            self._users = opened_folder(self.folder)
        else:
            self.folder = joined(scratch, f"deadheat-job-{self.key}")
            if not is_url(scratch):
                os.mkdir(self.folder)

    def close(self) -> None:
        delete_folder(self.folder)
        if self._users is not None:
            self._users.close()

    def places(self, source: Source, name: str) -> tuple[Place, ...]:
        """Where the rows of a source are, for workers; written to the folder if they are nowhere that these see."""
        places = []
        for number, part in enumerate(places_of(source)):
            if isinstance(part, Place) and not (self._shared and _is_temporary(part.path)):
                places.append(part)
                continue
            path = joined(self.folder, f"{name}-{number}.rows")
            rows = source if isinstance(part, Place) else part
            with writing(path) as file:
                places.append(write_rows(rows, file, path))
            self.written += places[-1].nbytes
            if rows is source:  # all of it
                return tuple(places[-1:])
        return tuple(places)

    def array(self, name: str, array: Array) -> None:
        with writing(joined(self.folder, f"{name}.npy")) as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
        self.written += array.nbytes


@contextmanager
def written(pair: Pair, arrays: Mapping[str, Array | None], scratch: str | None) -> Iterator[tuple[Files, int]]:
    """Write the files of a run, and delete them in the end: where they are, and how many bytes were written."""
    with closing(Writer(scratch)) as writer:
        gallery = None if pair.gallery is None else writer.places(pair.gallery.embeddings, "gallery")
        there = {name: array for name, array in arrays.items() if array is not None}
        for name, array in there.items():
            writer.array(name, array)
        query = writer.places(pair.query.embeddings, "embeddings")
        yield Files(writer.key, writer.folder, version("deadheat"), query, gallery, frozenset(there)), writer.written


def arrays_of(relevance: Relevance, number: int, in_parts: bool) -> dict[str, Array | None]:
    """What workers need to know of who is relevant to whom, under the names that `worker` reads."""
    candidates, symmetric = relevance.candidates, relevance.candidates.symmetric
    junk = ~candidates.ranked if candidates.junk is None and not candidates.ranked.all() else candidates.junk
    arrays = {"junk": junk, "itself": None if symmetric else candidates.itself}
    if isinstance(relevance, Judged):
        of_query, of_items = relevance.member_class, relevance.member_item
        arrays |= {f"member_class-{number}": of_query, f"member_item-{number}": of_items}
    else:
        of_query, of_items = compressed(relevance)
        arrays |= {"query_class": of_query, "gallery_class": None if symmetric else of_items}
    return arrays | ({f"shared-{number}": relevance.relevant_items()} if in_parts else {})


def compressed(relevance: Relevance) -> tuple[Array, Array]:
    """The classes of queries and of items in 32 bits where they fit; what no query has is one class."""
    classes = np.unique(relevance.query_class[relevance.query_class >= 0])
    dtype = np.int32 if len(classes) < 2**31 else np.int64
    of_query = np.where(relevance.query_class < 0, -1, np.searchsorted(classes, relevance.query_class)).astype(dtype)
    of_items = np.searchsorted(classes, relevance.gallery_class)
    if len(classes):
        strange = classes[np.minimum(of_items, len(classes) - 1)] != relevance.gallery_class
        of_items[strange] = len(classes)
    return of_query, of_items.astype(dtype)


def _is_temporary(path: str) -> bool:
    if is_url(path):
        return False
    temporary = os.path.realpath(tempfile.gettempdir())
    return os.path.commonpath([os.path.realpath(path), temporary]) == temporary
