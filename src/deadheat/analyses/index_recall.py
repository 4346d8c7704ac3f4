"""Recall of approximate indexes against an exact search: ids and embeddings come in, a table goes out.

One exact search by the embeddings serves all indexes, in this process or by the workers of an executor. Each index is
compared with its result: per query, the number of ids among the k nearest items and those that tie with the k-th. With
a published ground truth, ids and distances come in, and no vectors; the distances decide ties, within a tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.counting.executors import answers, executor_given, first_row, not_an_answer
from deadheat.engine.counting.ranking import looked_up, nearest
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Distance
from deadheat.engine.literals import DistanceName
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion, item_ids
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, open_rows
from deadheat.reports.answer import Answer, Column, Panel, notebook_row
from deadheat.reports.statistics.intervals import Interval, mean_interval
from deadheat.reports.tables import count
from deadheat.reports.unit_values import UnitValues
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.caching import cached_property
from deadheat.support.floats import PlainFloats, plain_floats
from deadheat.support.means import exact_mean
from deadheat.support.progress import Progress, Reporting
from deadheat.support.triple import Triple

_MOST = 2**31 - 1  # neighbours
_PORTIONS, _PAIRS = 64, 1 << 20  # at most, and in each at least,
_QUERIES = 64  # of so many queries, which share the rows of the gallery


class Returned(NamedTuple):
    """The items returned by one index that count."""

    query: Int64  # (n,), ascending
    item: Int64  # (n,)

    @classmethod
    def of(cls, candidates: Candidates, rows: item_ids.IdRows, gallery_ids: Any, depth: int, title: str) -> Returned:
        """Check the ids that an index returned, drop the query itself, and keep the first items of each row."""
        items = item_ids.gallery_rows(rows, title, gallery_ids, len(candidates.ranked))
        item_ids.require_distinct(rows, title, items)
        others = items != candidates.itself_of(np.arange(candidates.n_query))[rows.row]
        rows, items = rows.take(others), items[others]
        first = rows.place < depth
        return cls(rows.row[first], items[first])


def _shares(of_closer: Int64, of_tied: Int64, tied: Int64, closer: Int64, kept: Int64) -> Float64:
    """Return lower, expected and upper recall over the tied items that one search may have kept, and by distance."""
    with np.errstate(invalid="ignore", divide="ignore"):
        of_kept = np.maximum(0, of_tied + kept - tied), of_tied * kept / tied, np.minimum(of_tied, kept), of_tied
        return np.stack([np.minimum(1, (of_closer + counted) / (closer + kept)) for counted in of_kept])


class SearchOutcome(NamedTuple):
    shares: Float64  # (n_index, 4, n_query): lower, expected and upper by id, and by distance
    n_tied: int  # queries with a tie at the k-th place


@dataclass(frozen=True)
class ExactSearch:
    """The search for the k nearest items, in `n` portions of the queries: in this process, or the job of an executor.

    `rows` are queries and gallery, and `returned` the items that each index returned.
    """

    rows: tuple[Any, Any]
    distance: str
    candidates: Candidates
    k: int
    returned: Sequence[Returned]
    threads: int
    n: int = 1

    def open(self, progress: bool | Progress = False) -> Callable[[int], SearchOutcome]:
        """Return the function that searches for a portion by its number."""
        distance = distance_registry.make(self.distance, *self.rows, True)
        return lambda number: self._searched(distance, self.queries(number), progress)

    def queries(self, number: int) -> range:
        n_query = self.candidates.n_query
        return range(n_query * number // self.n, n_query * (number + 1) // self.n)

    def _searched(self, distance: Distance, queries: range, progress: bool | Progress) -> SearchOutcome:
        shares, n_tied = np.full((len(self.returned), 4, len(queries)), np.nan), 0
        places, n_gallery = np.minimum(self.k, self.candidates.n_ranked()), distance.n_gallery
        rows, column_of_item = np.arange(queries.start, queries.stop), distance.columns.column_of_item
        with Reporting(progress, len(queries) * n_gallery, "searching") as report:
            for block in nearest(distance, self.candidates, self.k, self.threads, rows):
                last, closer, tied = block.within(self.k)
                kept = places[block.queries] - closer  # of the tied items, by an exact search
                n_tied += int(np.count_nonzero(tied > kept))
                for values, ids in zip(shares, self.returned, strict=True):
                    here = slice(*np.searchsorted(ids.query, (block.queries[0], block.queries[-1] + 1)))
                    query, item = ids.query[here], ids.item[here]
                    kept_ids = ~self.candidates.left_out(query, item)
                    row, column = query[kept_ids] - block.queries[0], column_of_item[item[kept_ids]]
                    group = block.groups_of(row, column)  # the k-th nearest are in the group `last`
                    of_closer = np.bincount(row[group < last[row]], minlength=len(kept))
                    of_tied = np.bincount(row[group == last[row]], minlength=len(kept))
                    values[:, block.queries - queries.start] = _shares(of_closer, of_tied, tied, closer, kept)
                report(len(block.queries) * n_gallery)
        return SearchOutcome(shares, n_tied)

    def by(self, executor: Executor, progress: bool | Progress) -> SearchOutcome:
        """Search for all queries by the workers of an executor."""
        n_query, n_gallery = self.candidates.n_query, len(self.candidates.ranked)
        query, gallery = open_rows(self.rows[0], "queries"), open_rows(self.rows[1], "gallery")
        distance_registry.make(self.distance, first_row(query), first_row(gallery), True)  # refuses what does not fit
        n = max(1, min(n_query, _PORTIONS, -(-n_query * n_gallery // _PAIRS), -(-n_query // _QUERIES)))
        shares, n_tied = np.full((len(self.returned), 4, n_query), np.nan), 0
        job = replace(self, rows=(query, gallery), n=n)
        with (
            Reporting(progress, n_query * n_gallery, "searching") as report,
            closing(answers(executor, job, range(n))) as portions,
        ):
            for number, part in portions:
                queries = job.queries(number)
                if not isinstance(part, SearchOutcome) or part.shares.shape != (len(shares), 4, len(queries)):
                    raise not_an_answer(part)
                shares[:, :, queries.start : queries.stop] = part.shares
                n_tied += part.n_tied
                report(len(queries) * n_gallery)
        return SearchOutcome(shares, n_tied)


ONE_INDEX = "index"  # what it is called if it has no name


@dataclass(frozen=True, eq=False)
class Recall(PlainFloats):
    """The recall of one index: means as fractions in [0, 1], and the values of each query.

    Attributes
    ----------
    per_query : (n_query,)
        The share of the k true neighbours that were returned, where any item that ties with the k-th may be one of
        them. **Undefined:** NaN for a query without anything to find.
    by_id : Triple of (n_query,)
        The same, but comparing ids with those of one exact search: lower, expected and upper over all ways in which
        that search may break the tie at the k-th place. `upper` is `per_query`.
    by_distance : (n_query,)
        The rule of ann-benchmarks: the share of k that was returned and is no farther than the k-th true neighbour,
        so that items that tie with the k-th make up for a closer one that is missing. Not below `per_query`.
    n_returned : (n_query,)
        The number of items returned for each query, of the k that count.
    measure : str
        The name of the measure, such as recall@10.
    queries_per_second : float
        The speed given by the caller; NaN if none was given.

    Notes
    -----
    Two of them are compared query by query, and gated, as reports are: ``compare(found["old"], found["new"]).gate()``.
    The measures are ``recall@k``, ``recall@k by id`` and ``recall@k by distance``.
    """

    name: str
    by_id: Triple[Float64] = field(repr=False)
    by_distance: Float64 = field(repr=False)
    n_returned: Int64 = field(repr=False)
    measure: str
    queries_per_second: float = math.nan

    @property
    def per_query(self) -> Float64:
        return self.by_id.upper

    @cached_property
    def recall(self) -> float:
        """The mean over queries."""
        return exact_mean(self.per_query)

    @cached_property
    def recall_by_id(self) -> Triple[float]:
        """The means of `by_id`."""
        return Triple(*map(exact_mean, self.by_id))

    @cached_property
    def recall_by_distance(self) -> float:
        """The mean of `by_distance`, which is the recall of ann-benchmarks."""
        return exact_mean(self.by_distance)

    @cached_property
    def all_found(self) -> float:
        """The share of the queries with recall 1."""
        defined = self.per_query[~np.isnan(self.per_query)]
        return float(np.count_nonzero(defined == 1)) / len(defined) if len(defined) else math.nan

    def __repr__(self) -> str:
        return f"Recall({self.name!r}, recall={self.recall!r}, recall_by_id={self.recall_by_id!r})"

    def _unit_values(self) -> UnitValues:
        """Return the recall of each query, for `deadheat.compare`."""
        name, n_answered = self.measure, int(np.count_nonzero(self.n_returned))
        values = {name: Triple(*(self.per_query,) * 3), f"{name} by id": self.by_id,
                  f"{name} by distance": Triple(*(self.by_distance,) * 3)}  # fmt: skip
        return UnitValues(values.__getitem__, (name,), len(self.per_query), tuple(values), {"measure": name},
                          name="" if self.name == ONE_INDEX else self.name, n_answered=n_answered)  # fmt: skip

    def _repr_html_(self) -> str:
        notes = [f"Recall, where any item that ties with the k-th counts: {100 * self.recall:.2f} %."]
        return notebook_row(self.name, self.recall_by_id, notes, "by id")

    def interval(
        self, *, confidence_level: float = 0.95, method: str = "percentile", n_resamples: int = 9999, seed: int = 0
    ) -> Interval:
        """Return a confidence interval for the mean recall over the population that the queries were drawn from.

        Parameters are those of `deadheat.reports.statistics.intervals.mean_interval`. Index and gallery are held fixed.
        """
        return mean_interval(
            self.per_query, confidence_level=confidence_level, method=method, n_resamples=n_resamples, seed=seed
        ).within(0, 1)


@dataclass(frozen=True, eq=False)
class IndexRecall(Answer):
    """The recall of every index by its name: ``result["hnsw"]`` is a `Recall`.

    Printing gives a table in per cent; everything else is a fraction in [0, 1].

    Attributes
    ----------
    recalls : mapping of str to Recall
        By name, in the order in which they were given.
    k : int
        The number of neighbours to find.
    depth : int
        The number of returned items that count.
    n_tied : int
        Queries for which more items tie with the k-th than there are places, so that ids alone do not decide.
    n_outside : mapping of str to int
        The returned items that are not allowed for their query, by index.
    """

    recalls: Mapping[str, Recall]
    k: int
    depth: int
    distance: str
    n_query: int
    n_gallery: int
    n_tied: int
    n_outside: Mapping[str, int]

    def __getitem__(self, name: str) -> Recall:
        return checks.part(self.recalls, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.recalls)

    def __len__(self) -> int:
        return len(self.recalls)

    @property
    def measure(self) -> str:
        """The name of the measure: k-recall@R, or recall@k where as many returned items count."""
        return _measure(self.k, self.depth)

    @property
    def _distance_counts_more(self) -> bool:
        return any(each.recall_by_distance > each.recall for each in self.recalls.values())

    def panels(self, *, confidence_level: float = 0.95) -> list[Panel]:
        """Return one table with a row for each index."""
        intervals = [each.interval(confidence_level=confidence_level) for each in self.recalls.values()]
        recalls, speeds = self.recalls.values(), [each.queries_per_second for each in self.recalls.values()]
        return [Panel([
            Column("index", list(self.recalls)),
            Column("recall", [each.recall for each in recalls], "fraction", f"{self.measure} (%)"),
            Column("", intervals, "fraction", f"{100 * confidence_level:g} % interval", "interval"),
            Column("all_found", [each.all_found for each in recalls], "fraction"),
            Column("by_id", [each.recall_by_id for each in recalls], "fraction", shape="value",
                   only="" if self.n_tied else "data"),
            Column("by_distance", [each.recall_by_distance for each in recalls], "fraction",
                   only="" if self._distance_counts_more else "data"),
            Column("queries_per_second", speeds, "number", "queries/s", unit="1/s", form=",.0f",
                   only="data" if all(map(math.isnan, speeds)) else ""),
        ], "note", key="indexes")]  # fmt: skip

    def notes(self) -> list[str]:
        """Return notes on the search, the effect of ties, and queries with fewer than k returned items."""
        rows = count(self.n_query, "query", "queries")
        notes = [f"{rows}, {self.k} nearest of {self.n_gallery:,} by an exact search ({self.distance})."]
        if self.n_tied:
            tied = count(self.n_tied, "query", "queries")
            notes.append(
                f"In {tied} others tie with number {self.k}: each of them counts as found here; comparing ids counts "
                "those that one search happened to keep (by id: expected [lowest, highest])."
            )
        if self._distance_counts_more:
            more = "also in place of a closer one that is missing, as ann-benchmarks does"
            notes.append(f"By distance counts every item that is no farther than number {self.k}, {more}.")
        short = {name: int(np.count_nonzero(each.n_returned < self.depth)) for name, each in self.recalls.items()}
        notes += [f"{name}: fewer than {self.depth} came back for {n} of them." for name, n in short.items() if n]
        outside = "that are not allowed for their query, and were not to be found"
        notes += [f"{name}: returned {count(n, 'item', 'items')} {outside}." for name, n in self.n_outside.items() if n]
        return notes

    def facts(self) -> dict[str, Any]:
        return self._facts_of("k", "depth", "distance", "n_query", "n_gallery", "n_tied")


@plain_floats
def index_recall(
    returned: Any,
    queries: EmbeddingsLike,
    gallery: EmbeddingsLike,
    k: int = 10,
    *,
    distance: DistanceName,
    gallery_ids: ArrayLike | None = None,
    counts: Any = None,
    exclude: OwnRows | None = None,
    allowed: ArrayLike | None = None,
    depth: int | None = None,
    queries_per_second: float | Mapping[str, float] | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    executor: Executor | None = None,
) -> IndexRecall:
    """Measure the recall of one or several indexes: the share of the k nearest items, by exact search, that each found.

    Parameters
    ----------
    returned : (n_query, k or more) integers, or a mapping of names to such
        The ids that the index returned, best first: rows of `gallery`, or ids of `gallery_ids`; a mapping has one entry
        per index, or per setting. Only the first k items of a row count. The integer -1 is padding, and takes no place;
        rows may be lists of any lengths, and missing items were not found. No item may occur twice in a row.
    queries, gallery : (n_query, dim) and (n_gallery, dim) embeddings
        As the index got them: arrays or files in any form that `deadheat.Task` takes.
    k : int
        The number of neighbours to find; all items where there are fewer.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming", "jaccard", "dice"}
        The distance that the index ranks by. Squared Euclidean distance ranks as "euclidean" does, and inner products
        of rows of length one as "inner_product", not quite as "cosine": rounded rows are not quite of length one.
    gallery_ids : (n_gallery,) integers or strings, optional
        The id of each item, where ids are not rows of `gallery`.
    counts : (n_query,) integers, or a mapping of names to such, optional
        The number of entries of each row that count, as usearch returns it.
    exclude : (n_query,) integers, or a pair of ids, optional
        The row of `gallery` that each query is, -1 for none; or ``(query_ids, gallery_ids)``. This row is no neighbour
        of the query, and is dropped if it was returned: ask the index for one neighbour more.
    allowed : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        The items that pass the filter, of all queries or of each. Neighbours are searched among these; another item
        that an index returned takes a place, and counts as not found.
    depth : int, optional
        The number of returned items of each query that count, R of k-recall@R, at least k; by default k. With ``k=1``
        it is 1-recall@R, the share of the queries whose nearest item is among the first R (TEXMEX, faiss).
    queries_per_second : float or mapping of names to float, optional
        The speed of each index, for the table.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total).
    executor : concurrent.futures.Executor, optional
        Workers in other processes or on other machines; see `deadheat.Task`. Each opens `gallery` as a whole, and
        searches it for some of the queries. By default there are none.

    Raises
    ------
    ExecutorError
        If a worker of an executor died or failed, and the executor did not repeat its work.

    Notes
    -----
    **Ties:** any item that ties with the k-th nearest is as near, and counts if it was returned, up to the number of
    places: with c items closer than the k-th, at most k − c of those that tie with it count. Distances are compared
    exactly, as real numbers, so that a "flat" index that ranks by rounded distances may miss a neighbour too. Comparing
    ids with those of one exact search depends on which of the tied items that search kept: `Recall.by_id` has the
    bounds, and the mean over all ways. ann-benchmarks counts every item that ties with the k-th, also in place of a
    closer one that is missing: `Recall.by_distance`.

    Memory does not grow with n_query × n_gallery.

    Examples
    --------
    Items 1 and 2 are equally far from the query. Either will do as the second neighbour, but item 3 will not:

    >>> gallery = [[0.0], [1.0], [-1.0], [5.0]]
    >>> result = index_recall({"good": [[0, 2]], "bad": [[0, 3]]}, [[0.0]], gallery, 2, distance="euclidean")
    >>> result["good"].recall, result["bad"].recall
    (1.0, 0.5)
    >>> result["good"].recall_by_id
    Triple(lower=0.5, expected=0.75, upper=1.0)
    """
    (k, depth), n_thread = _k_and_depth(k, depth), checks.thread_count(threads)
    name = distance_registry.named(distance)
    if executor is not None:
        executor_given(executor)
    rows = distance_registry.opened(queries, name, "queries"), distance_registry.opened(gallery, name, "gallery")
    dims = [part.shape[1] for part in rows]
    if dims[0] != dims[1]:
        rule = f"must have the same dim, but have {dims[0]} and {dims[1]} columns"
        raise InvalidValueError("queries and gallery", rule)
    n_query, n_gallery = map(len, rows)
    itself = None if exclude is None else item_ids.own_rows(exclude, n_query, n_gallery)
    outside = _outside(allowed, n_query, n_gallery)
    candidates = Candidates.of(n_query, n_gallery, outside, leave_one_out=False, itself=itself)
    indexes = _indexes(returned, n_query, counts)
    speeds = _by_name(queries_per_second, list(indexes), "queries_per_second")
    asked = [Returned.of(candidates, ids, gallery_ids, depth, title) for ids, title in indexes.values()]
    search = ExactSearch(rows, name, candidates, k, asked, 1 if executor is not None and threads is None else n_thread)
    shares, n_tied = search.open(progress)(0) if executor is None else search.by(executor, progress)
    recalls, n_outside = {}, {}
    for index, ids, values in zip(indexes, asked, shares, strict=True):
        speed = speeds.get(index)
        speed = math.nan if speed is None else checks.real_number(speed, "queries_per_second", least=0)
        n_returned = np.bincount(ids.query, minlength=n_query)
        recalls[index] = Recall(index, Triple(*values[:3]), values[3], n_returned, _measure(k, depth), speed)
        n_outside[index] = 0 if outside is None else int(candidates.left_out(ids.query, ids.item).sum())
    return IndexRecall(recalls, k, depth, name, n_query, n_gallery, n_tied, n_outside)


def _measure(k: int, depth: int) -> str:
    return f"recall@{k}" if depth == k else f"{k}-recall@{depth}"


def _k_and_depth(k: Any, depth: Any) -> tuple[int, int]:
    k = checks.positive_integer(k, "k", _MOST)
    return k, k if depth is None else checks.whole_number(depth, "depth", k, _MOST)


def _outside(allowed: Any, n_query: int, n_gallery: int) -> Bool | None:
    """Return a mask of the items that do not pass the filter; None without a filter."""
    if allowed is None:
        return None
    mask = conversion.plain(allowed, "allowed")
    if mask.dtype != np.bool_ or mask.shape not in ((n_gallery,), (n_query, n_gallery)):
        rule = f"must be bool, ({n_gallery}) or ({n_query}, {n_gallery})"
        raise InvalidValueError("allowed", f"{rule}, but has shape {mask.shape} and dtype {mask.dtype}")
    return ~mask


def _indexes(returned: Any, n_query: int, counts: Any = None) -> dict[str, tuple[item_ids.IdRows, str]]:
    """Return, by the name of each index, the ids that it returned, without padding, and its name in messages."""
    titles = {ONE_INDEX: "returned"}
    if isinstance(returned, Mapping):
        if not len(returned):
            raise InvalidValueError("returned", "must have at least one index, but is empty")
        for name in returned:
            if not isinstance(name, str) or not name.strip():
                raise InvalidTypeError("returned", f"must have names that are not empty, but has {checks.shown(name)}")
        titles = {name: f"returned[{name!r}]" for name in returned}
    of_counts, indexes = _by_name(counts, list(titles), "counts"), {}
    for name, title in titles.items():
        rows = item_ids.id_rows(returned[name] if isinstance(returned, Mapping) else returned, title)
        if len(rows.lengths) != n_query:
            rule = f"must have a row for each query, but has {len(rows.lengths)} for {n_query} queries"
            raise InvalidValueError(title, rule)
        indexes[name] = rows.take(item_ids.filled(rows, of_counts.get(name))), title
    return indexes


def _by_name(values: Any, indexes: list[str], title: str) -> Mapping[str, Any]:
    """Return the values of each index by name; a value that is not a mapping belongs to the only one."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        if len(indexes) > 1:
            raise InvalidTypeError(title, "must be a mapping of names where there are several indexes")
        return {indexes[0]: values}
    unknown = [name for name in values if name not in indexes]
    if unknown:
        rule = f"must have the names of indexes, {', '.join(map(repr, indexes))}, but has {unknown[0]!r}"
        raise InvalidValueError(title, rule)
    return values


_TRUTH, _IDS_ALONE = "ground truth", "ground truth, by ids"
_FAR = float(np.float32(3.4e38))  # with which faiss fills short rows


@dataclass(frozen=True, eq=False)
class TruthRecall(IndexRecall):
    """The recall of every index by its name, against a ground truth: an `IndexRecall` with unknown `n_gallery` (−1).

    Attributes
    ----------
    n_cut : int
        Queries whose ground truth ends inside the tie with the k-th, so that more items may tie than it lists: an index
        that returned one of those has a higher recall than is shown.
    n_only_k : int
        Of these, the queries whose ground truth ends with the k-th itself, so that nothing says whether any others tie.
    n_few : int
        Queries with fewer than k true neighbours: their recall is over those that exist. Without any it is undefined.
    """

    tolerance: float
    n_cut: int
    n_only_k: int
    n_few: int

    def notes(self) -> list[str]:
        """Return notes on the comparison, the effect of ties, and queries whose ground truth ends too early."""
        _, *others = super().notes()
        within = f", ties within {self.tolerance:g}" if self.tolerance else ""
        queries, n_inside = count(self.n_query, "query", "queries"), self.n_cut - self.n_only_k
        notes = [f"{queries}, {self.k} nearest by the ground truth{within}.", *others]
        if n_inside:
            cut = f"In {count(n_inside, 'query', 'queries')} the ground truth ends inside the tie with number {self.k}"
            notes.append(f"{cut}: recall is at least what is shown.")
        if self.n_only_k:
            ends = f"In {count(self.n_only_k, 'query', 'queries')} the ground truth ends with number {self.k}"
            notes.append(
                f"{ends}, so that ties with it are unknown: if there are any, recall is at least what is shown."
            )
        if self.n_few:
            n_none = max(int(np.isnan(each.per_query).sum()) for each in self.recalls.values())
            none = f"; {n_none} without any {'is' if n_none == 1 else 'are'} left out" if n_none else ""
            few = count(self.n_few, "query has", "queries have")
            notes.append(f"{few} fewer than {self.k} true neighbours: recall is over those that exist{none}.")
        if self.distance != _TRUTH:
            notes.append("The ground truth has no distances, so that ids alone are compared, and ties are unknown.")
        return notes

    def facts(self) -> dict[str, Any]:
        more = self._facts_of("tolerance", "n_cut", "n_only_k", "n_few")
        return super().facts() | {"n_gallery": None} | more


@plain_floats
def index_recall_of_truth(
    returned: Any, ids: Any, distances: Any = None, k: int = 10, *, tolerance: float = 0.0,
    order: Literal["ascending", "descending"] = "ascending", depth: int | None = None,
) -> TruthRecall:  # fmt: skip
    """Measure the recall of one or several indexes, by the ids and distances of a ground truth.

    Parameters
    ----------
    returned : (n_query, k or more) integers, or a mapping of names to such
        The ids that the index returned, best first, of the kind in `ids`; a mapping has one entry per index, or per
        setting. Only the first k items of a row count; the integer -1 is padding, and takes no place.
    ids, distances : (n_query, depth)
        The nearest items of each query and their distances, ascending; arrays, or lists of rows. An entry is nothing if
        its id is the integer -1, or its distance is infinite or 3.4e38 and more; and so is what is missing at the end
        of a shorter row of a list. Recall is over the items that exist. Rows that all end before k are refused.
        Without distances, ids alone are compared, and nothing ties.
    k : int
        The number of neighbours to find.
    tolerance : float
        Items whose distance differs from that of the k-th by no more than this tie with it. ann-benchmarks takes 1e-3,
        and big-ann-benchmarks 1e-6; 0 compares the distances as they are.
    order : {"ascending", "descending"}
        "descending" for similarities, of which the largest comes first.
    depth : int, optional
        The number of returned items of each query that count, R of k-recall@R, at least k; by default k.

    Notes
    -----
    **Ties** count as in `deadheat.index_recall`: with c items closer than the k-th, no more than k − c of those that
    tie with it count. ann-benchmarks counts all of them, `Recall.by_distance`; big-ann-benchmarks counts the items of
    k groups of ties in place of k items.

    Examples
    --------
    >>> result = index_recall_of_truth([[0, 2]], [[0, 1, 2, 3]], [[0.0, 1.0, 1.0, 5.0]], 2)
    >>> result["index"].recall, result["index"].recall_by_id
    (1.0, Triple(lower=0.5, expected=0.75, upper=1.0))
    """
    (k, depth), tolerance = _k_and_depth(k, depth), checks.real_number(tolerance, "tolerance", least=0)
    checks.choice(order, ("ascending", "descending"), "order")
    if distances is None and tolerance:
        raise InvalidValueError("tolerance", f"must be left out without distances, but is {tolerance:g}")
    true, far, is_whole = _truth(ids, distances, k, order)
    n_query, places = len(true.lengths), np.minimum(k, true.lengths)
    with np.errstate(invalid="ignore"):  # what is missing is infinitely far; of a query without anything, all is
        gap = far - far[np.arange(n_query), places - 1, None]
    is_closer, is_tied = gap < -tolerance, np.abs(gap) <= tolerance
    closer, tied = is_closer.sum(axis=1), is_tied.sum(axis=1)
    recalls = {}
    for name, (rows, title) in _indexes(returned, n_query).items():
        item_ids.require_distinct(rows, title, rows.values)
        rows = rows.take(rows.place < depth)
        at = _places(rows, true)
        row, hits = rows.row[at >= 0], at[at >= 0]
        of_closer, of_tied = (np.bincount(row[kind[row, hits]], minlength=n_query) for kind in (is_closer, is_tied))
        shares = _shares(of_closer, of_tied, tied, closer, places - closer)
        recalls[name] = Recall(name, Triple(*shares[:3]), shares[3], rows.lengths, _measure(k, depth))
    is_cut = is_tied[np.arange(n_query), true.lengths - 1] & ~is_whole
    n_tied = int(np.count_nonzero(tied > places - closer))
    n_few = int(np.count_nonzero(places < k))
    by, is_cut = (_IDS_ALONE, np.zeros_like(is_cut)) if distances is None else (_TRUTH, is_cut)
    n_cut, n_only_k = (int(np.count_nonzero(which)) for which in (is_cut, is_cut & (true.lengths == k)))
    return TruthRecall(recalls, k, depth, by, n_query, -1, n_tied, {}, tolerance, n_cut, n_only_k, n_few)


def _truth(ids: Any, distances: Any, k: int, order: str) -> tuple[item_ids.IdRows, Float64, Bool]:
    """Return the unpadded ids of a ground truth, their distances, and a mask of the rows that are complete."""
    rows = item_ids.id_rows(ids, "ids")
    depth = int(rows.lengths.max(initial=0))
    if len(rows.lengths) and depth < k:  # else a shorter row than k has no more
        given = f"query {np.argmax(rows.lengths)} has {depth}; -1 stands for nothing, where there are no more"
        raise InvalidValueError("ids", f"must have at least k = {k} items for each query, but {given}")
    values = rows.place if distances is None else item_ids.score_rows(distances, "distances", rows)
    values = -values.astype(np.float64) if order == "descending" else values.astype(np.float64)
    there = item_ids.filled(rows) & ~(values >= _FAR)
    true, values = rows.take(there), values[there]
    item_ids.require_distinct(true, "ids", true.values)
    falls = (values[1:] < values[:-1]) & (true.row[1:] == true.row[:-1])
    wrong = np.concatenate([true.row[~np.isfinite(values)], true.row[1:][falls]])
    if len(wrong):
        rises = (values[1:] > values[:-1]) & (true.row[1:] == true.row[:-1])
        hint = "" if rises.any() or order == "descending" else '; order="descending" is for similarities'
        way = "descend" if order == "descending" else "ascend"
        rule = f"must be finite and {way} in each row, but those of row {wrong.min()} do not{hint}"
        raise InvalidValueError("distances", rule)
    return true, true.matrix(values, np.inf), (true.lengths < rows.lengths) | (rows.lengths < k)


def _places(rows: item_ids.IdRows, true: item_ids.IdRows) -> Int64:
    """Return the place of each returned item in the ground truth of its query; -1 if it is not there."""
    distinct, codes = np.unique(np.concatenate([true.values, rows.values]), return_inverse=True)
    keys = np.concatenate([true.row, rows.row]) * len(distinct) + codes
    known, asked = keys[: len(true.values)], keys[len(true.values) :]
    return looked_up(known, true.place, asked, -1)
