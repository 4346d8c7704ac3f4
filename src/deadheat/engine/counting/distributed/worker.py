"""Jobs for workers, and the work that runs in them: portions of a counting pass.

A worker is sent a job, which is small, and reads the files that it names. Embeddings stay in their files. Data that are
in no file (arrays, labels, masks) are written once to a directory of the job, which is deleted with it. A worker opens
the problem of a task, keeps it open for the next task, and counts a portion. Portions of a group of queries share no
column, so the irrelevant items that are closer, or tied, are summed over portions:

                 columns, in groups                      leave one out, where a tile serves both of its sides:
    queries    [ 0,0* | 0,1 | 0,2 ]                      [ 0,0* | 0,1  | 0,2  ]
    in groups  [ 1,0* | 1,1 | 1,2 ]                      [      | 1,1* | 1,2  ]
                                                         [      |      | 2,2* ]
The first portion of a group of queries (*) also counts the items in no tile, and gives the relevant items.
"""

from __future__ import annotations

import itertools
import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Judged, Relevance
from deadheat.engine.counting.layout import ColumnRange
from deadheat.engine.counting.passes import Assembly, CountingPass, Section
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.ties.rule import Ties
from deadheat.errors import ClusterError
from deadheat.inputs import disk
from deadheat.inputs.disk import Place, open_places, write_rows
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Source
from deadheat.support.arrays import Array, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy, tempfile
from deadheat.support.locks import process_lock
from deadheat.support.scratch import PREFIX, opened_folder

if TYPE_CHECKING:
    from deadheat.engine.counting.card import card_pass as cards
    from deadheat.engine.counting.card import device as devices
else:
    cards = lazy("deadheat.engine.counting.card.card_pass")
    devices = lazy("deadheat.engine.counting.card.device")


@dataclass(frozen=True)
class Files:
    """Files of a run, sent with every task: the places of the rows, and the arrays of this run."""

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

    def array(self, name: str) -> Array | None:
        """Return an array of the folder as a memory map, or None if there is none of this name."""
        if name not in self.arrays:
            return None
        path = os.path.join(self.folder, f"{name}.npy")
        try:
            return np.asarray(np.load(path, mmap_mode="r"))
        except FileNotFoundError:
            raise ClusterError(
                f"every worker must see the files of the run, but one does not find '{path}': "
                "give Cluster(executor, scratch=...) a directory that all of them see"
            ) from None


class Cut(NamedTuple):
    """Numbers of groups of queries and of columns; symmetric if both are the same items."""

    queries: int
    columns: int
    symmetric: bool

    def portions(self) -> list[tuple[int, int]]:
        """Return all pairs of groups of queries and columns, large ones first, so that workers end at the same time."""
        first = [(group, group if self.symmetric else 0) for group in range(self.queries)]
        rest = [
            (group, columns)
            for group in range(self.queries)
            for columns in range(group + 1 if self.symmetric else 1, self.columns)
        ]
        return rest + first


@dataclass(frozen=True)
class Job:
    """One counting pass."""

    files: Files
    number: int  # of the pass, where a run has several
    distance: str
    rule: Ties
    cut: Cut
    threads: int
    device: str | None


class Writer:
    """Writer of the files of a run, to a folder of its own."""

    def __init__(self, scratch: str | None) -> None:
        self.key, self._shared = uuid4().hex, scratch is not None
        self._users: IO[bytes] | None = None
        if scratch is None:
            self.folder = tempfile.mkdtemp(prefix=f"{PREFIX}job-")
            self._users = opened_folder(self.folder)
        else:
            self.folder = os.path.join(scratch, f"{PREFIX}job-{self.key}")
            os.mkdir(self.folder)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)  # what is left costs disk space, and no result
        if self._users is not None:
            self._users.close()

    def places(self, source: Source, name: str) -> tuple[Place, ...]:
        """Return the places of the rows of a source, written to the folder if they are nowhere that workers see."""
        places = []
        for number, part in enumerate(disk.places_of(source)):
            if isinstance(part, Place) and not (self._shared and _is_temporary(part.path)):
                places.append(part)
                continue
            path = os.path.join(self.folder, f"{name}-{number}.rows")
            rows = source if isinstance(part, Place) else part
            with open(path, "wb") as file:
                places.append(write_rows(rows, file, path))
            if rows is source:  # all of it
                return tuple(places[-1:])
        return tuple(places)

    def array(self, name: str, array: Array) -> None:
        np.save(os.path.join(self.folder, f"{name}.npy"), array, allow_pickle=False)


@contextmanager
def written(pair: Pair, arrays: Mapping[str, Array | None], scratch: str | None) -> Iterator[Files]:
    """Write the files of a run, and delete them in the end."""
    with closing(Writer(scratch)) as writer:
        gallery = None if pair.gallery is None else writer.places(pair.gallery.embeddings, "gallery")
        there = {name: array for name, array in arrays.items() if array is not None}
        for name, array in there.items():
            writer.array(name, array)
        query = writer.places(pair.query.embeddings, "embeddings")
        yield Files(writer.key, writer.folder, version("deadheat"), query, gallery, frozenset(there))


def arrays_of(relevance: Relevance, number: int) -> dict[str, Array | None]:
    """Return the arrays that describe relevance to workers, under the names that `worker` reads."""
    candidates, symmetric = relevance.candidates, relevance.candidates.symmetric
    junk = ~candidates.ranked if candidates.junk is None and not candidates.ranked.all() else candidates.junk
    arrays = {"junk": junk, "itself": None if symmetric else candidates.itself}
    if isinstance(relevance, Judged):
        of_query, of_items = relevance.member_class, relevance.member_item
        arrays |= {f"member_class-{number}": of_query, f"member_item-{number}": of_items}
    else:
        of_query, of_items = compressed(relevance)
        arrays |= {"query_class": of_query, "gallery_class": None if symmetric else of_items}
    return arrays


def compressed(relevance: Relevance) -> tuple[Array, Array]:
    """Return the classes of queries and items, in 32 bits if they fit; classes without a query become one class."""
    classes = np.unique(relevance.query_class[relevance.query_class >= 0])
    dtype = np.int32 if len(classes) < 2**31 else np.int64
    of_query = np.where(relevance.query_class < 0, -1, np.searchsorted(classes, relevance.query_class)).astype(dtype)
    of_items = np.searchsorted(classes, relevance.gallery_class)
    if len(classes):
        strange = classes[np.minimum(of_items, len(classes) - 1)] != relevance.gallery_class
        of_items[strange] = len(classes)
    return of_query, of_items.astype(dtype)


def _is_temporary(path: str) -> bool:
    temporary = os.path.realpath(tempfile.gettempdir())
    return os.path.commonpath([os.path.realpath(path), temporary]) == temporary


class PortionedPass:
    """A counting pass whose portions can be counted one by one, in any order, by any worker."""

    def __init__(self, counting_pass: CountingPass, cut: Cut) -> None:
        self._pass, self._cut = counting_pass, cut
        self._queries, ranges = counting_pass.cut_up
        self._blocks = _grouped([len(queries) for queries in self._queries], cut.queries)
        group_of = np.repeat(np.arange(cut.queries), [len(group) for group in self._blocks]).tolist()
        self._ranges: list[list[ColumnRange]] = [[] for _ in range(cut.columns)]
        loose = [columns for columns in ranges if columns.block < 0]
        for number, group in enumerate(_grouped([len(columns.columns) for columns in loose], cut.columns)):
            self._ranges[number] += [loose[place] for place in group]
        for columns in ranges:
            if columns.block >= 0:
                self._ranges[group_of[columns.block]].append(columns)

    def count(self, queries: int, columns: int, threads: int) -> dict[str, Array]:
        """Count a portion: return arrays named ``group.what``, with one entry per query or tie group of the queries.

        ``closer`` and ``tied`` count irrelevant items only.
        """
        both = self._cut.symmetric and queries != columns
        groups = [queries, columns] if both else [queries]
        sections = [Section(self._ranges[columns], self._blocks[queries])]
        if both:
            sections.append(Section(self._ranges[queries], self._blocks[columns]))
        numbers = sorted(number for group in groups for number in self._blocks[group])
        assembly = Assembly(self._pass.problem, self._queries_of(numbers))
        first = columns == (queries if self._cut.symmetric else 0)
        for shard in self._pass.layout.shards([self._queries[number] for number in numbers]):
            blocks = {numbers[place]: self._queries[numbers[place]] for place in shard}
            self._pass.count_shards([(blocks, sections)], assembly, threads, lambda _: None, outside_tiles=first)
        found: dict[str, Array] = {}
        for group in groups:
            known = assembly.of(np.sort(self._queries_of(self._blocks[group])))
            closer, closer_relevant, tied, tied_relevant = (known[f"groups_{k}"] for k in range(4))
            counts = {"queries": known["queries"], "closer": closer - closer_relevant, "tied": tied - tied_relevant}
            if first:
                counts |= {name: known[name] for name in ("n_group", "n_relevant")}
                counts |= {"closer_relevant": closer_relevant, "tied_relevant": tied_relevant}
            for name, array in counts.items():
                short = array.max(initial=0) < 2**31  # what travels is half as long
                found[f"{group}.{name}"] = array.astype(np.int32) if short else array
        return found

    def _queries_of(self, blocks: list[int]) -> Int64:
        return np.concatenate([np.empty(0, dtype=np.int64), *(self._queries[number] for number in blocks)])


def _grouped(sizes: list[int], n_group: int) -> list[list[int]]:
    """Split a sequence of sizes into runs of about the same total; some may be empty."""
    middle = np.cumsum(sizes) - np.array(sizes) / 2
    group = np.minimum(n_group - 1, middle * n_group // max(1, sum(sizes))).astype(np.int64)
    return [np.flatnonzero(group == number).tolist() for number in range(n_group)]


_turn = process_lock()
_open: dict[tuple[str, int], Any] = {}  # the problem that is open in this process: at most one


@plain_floats
def count(job: Job, queries: int, columns: int) -> dict[str, Array]:
    """Count a portion; this is the task of a worker."""
    portioned: PortionedPass = open_once(job.files, job.number, lambda: PortionedPass(_pass(job), job.cut))
    return portioned.count(queries, columns, job.threads)


def forget() -> None:
    with _turn:
        _open.clear()


def open_once(files: Files, number: int, make: Callable[[], Any]) -> Any:
    """Return a problem of a run; the first task that asks for it opens it, and closes the one that was open before."""
    with _turn:
        key = files.key, number
        if key not in _open:
            files.require_version()
            _open.clear()
            _open[key] = make()
        return _open[key]


def open_rows(files: Files) -> tuple[Source, Source | None]:
    try:
        gallery = None if files.gallery is None else open_places(files.gallery, "gallery")
        return open_places(files.query, "embeddings"), gallery
    except FileNotFoundError as error:
        raise ClusterError(f"every worker must see the embeddings, but one does not find '{error.filename}'") from None


def _pass(job: Job) -> CountingPass:
    names = {name: name for name in ("query_class", "gallery_class", "itself", "junk")}
    names |= {name: f"{name}-{job.number}" for name in ("member_class", "member_item")}
    # first, so that a worker that sees no file of the run says so
    known = {name: job.files.array(stored) for name, stored in names.items()}
    query, gallery = open_rows(job.files)
    distance = distance_registry.make(job.distance, query, gallery, job.rule.exact_only)
    candidates = Candidates.of(
        distance.n_query, (query if gallery is None else gallery).shape[0], known["junk"],
        leave_one_out=gallery is None, itself=known["itself"],
    )  # fmt: skip
    of_query, of_items, member_class = known["query_class"], known["gallery_class"], known["member_class"]
    if member_class is not None and known["member_item"] is not None:
        relevance: Relevance = Judged.of(member_class, known["member_item"], candidates)
    else:
        assert of_query is not None
        of_items = of_query if of_items is None else of_items
        relevance = Relevance(of_query.astype(np.int64), of_items.astype(np.int64), candidates)
    card = _card(job)
    task = distance, job.rule, relevance
    return CountingPass(*task) if card is None else cards.CardPass(card, *task)


def _card(job: Job) -> devices.Card | None:
    """Return the card of this worker: the first on a machine takes its first card, and so on, round and round."""
    if job.device != "cuda":
        return None if job.device is None else devices.open_card(job.device)
    for number in itertools.count():
        with suppress(FileExistsError), open(f"{job.files.folder}/card-{number}-{platform.node()}", "x"):
            return devices.open_card("cuda", number)
    raise AssertionError
