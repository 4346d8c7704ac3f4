"""Recall of what indexes returned: an exact search by the embeddings, once for all of them, and a count for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat import distances, inputs
from deadheat.analyses.index_recall.result import IndexRecall, Recall
from deadheat.analyses.index_recall.searching import Returned, Search
from deadheat.counting.candidates import Candidates
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.own_rows import OwnRows
from deadheat.inputs.sources import EmbeddingsLike
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy
from deadheat.support.progress import Progress
from deadheat.support.triple import Triple

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from deadheat.analyses.index_recall import distributed
    from deadheat.counting import cluster as clusters
    from deadheat.counting.cluster import Cluster
else:
    clusters = lazy("deadheat.counting.cluster")
    distributed = lazy("deadheat.analyses.index_recall.distributed")

ONE_INDEX = "index"  # what it is called if it has no name


@plain_floats
def index_recall(
    returned: Any,
    queries: EmbeddingsLike,
    base: EmbeddingsLike,
    k: int = 10,
    *,
    distance: str,
    base_ids: ArrayLike | None = None,
    counts: Any = None,
    exclude: OwnRows | None = None,
    queries_per_second: float | Mapping[str, float] | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    executor: Executor | Callable[[], Executor] | Cluster | None = None,
) -> IndexRecall:
    """Measure how many of the k nearest items an index returned, against an exact search; of several, in one table.

    Parameters
    ----------
    returned : (n_query, k or more) integers, or a mapping of names to such
        What the index returned, best first: rows of `base`, or ids that `base_ids` lists; one entry for each index, or
        each of its settings. Only the first k of a row count. The integer -1 is nothing, rows may be lists of any
        lengths, and what is missing from a row was not found. No item comes twice in a row.
    queries, base : (n_query, dim) and (n_base, dim) embeddings
        As the index got them; as in `deadheat.profile`.
    k : int
        How many neighbours are to be found. Where there are fewer items, all of them are.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        What the index ranks by. Squared Euclidean distance ranks as "euclidean" does, and inner products of rows of
        length one as "inner_product", not quite as "cosine": rounded rows are not quite of length one.
    base_ids : (n_base,) integers or strings, optional
        The id of each item, where ids are not rows of `base`.
    counts : (n_query,) integers, or a mapping of names to such, optional
        How many entries of each row count, as usearch says it.
    exclude : (n_query,) integers, or a pair of ids, optional
        The row of `base` that each query is, -1 for none, as in `deadheat.profile`. It is nobody's neighbour here, and
        dropped where it was returned: ask the index for one more.
    queries_per_second : float or mapping of names to float, optional
        How fast each index was, for the table.
    threads, progress, executor
        As in `deadheat.profile`. A task is the search for some of the queries in all of `base`, which each worker opens
        as a whole.

    Returns
    -------
    IndexRecall

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.
    ClusterError
        If workers of an executor died or failed too often.

    Notes
    -----
    **Ties:** an item that ties with the k-th nearest is as near as that one, so whichever of them was returned counts,
    as far as there are places for them: c items are closer than the k-th, and of those that tie with it no more than
    k − c count. Distances are compared exactly, as the real numbers that they are, so that a "flat" index that ranks by
    rounded distances may miss a neighbour too. Comparing ids with those of one exact search depends on which of the
    tied items that search kept: `Recall.by_id` has the bounds, and the mean over all ways.

    Memory does not grow with n_query × n_base.

    Examples
    --------
    Items 1 and 2 are equally far from the query. Either will do as the second neighbour, but item 3 will not:

    >>> base = [[0.0], [1.0], [-1.0], [5.0]]
    >>> result = index_recall({"good": [[0, 2]], "bad": [[0, 3]]}, [[0.0]], base, 2, distance="euclidean")
    >>> result["good"].recall, result["bad"].recall
    (1.0, 0.5)
    >>> result["good"].recall_by_id
    Triple(lower=0.5, expected=0.75, upper=1.0)
    """
    k, n_thread = checks.positive_integer(k, "k"), checks.thread_count(threads)
    cluster = None if executor is None else clusters.cluster_of(executor)
    name, rows = _opened(queries, base, distance)
    n_query, n_base = map(len, rows)
    itself = None if exclude is None else inputs.own_rows(exclude, n_query, n_base)
    candidates = Candidates.of(n_query, n_base, leave_one_out=False, itself=itself)
    indexes = returned if isinstance(returned, Mapping) else {ONE_INDEX: returned}
    _require_names(indexes)
    speeds = _by_name(queries_per_second, indexes, "queries_per_second")
    of_counts = _by_name(counts, indexes, "counts")
    asked = [
        Returned.of(candidates, ids, base_ids, of_counts.get(each), k, _title(each, returned))
        for each, ids in indexes.items()
    ]
    if cluster is None:
        found = Search(distances.make(name, *rows, True), candidates, k, asked).of(range(n_query), n_thread, progress)
    else:
        worker_threads = 1 if threads is None else n_thread
        found = distributed.search_on(cluster, name, rows, candidates, k, asked, worker_threads, progress)
    recalls = {
        each: Recall(each, Triple(*values), np.bincount(ids.query, minlength=n_query), _speed(speeds.get(each)))
        for each, ids, values in zip(indexes, asked, found.by_id, strict=True)
    }
    return IndexRecall(recalls, k, name, n_query, n_base, found.n_tied)


def _opened(queries: EmbeddingsLike, base: EmbeddingsLike, distance: str) -> tuple[str, tuple[Any, Any]]:
    """The name of the distance and the rows of queries and base, with messages that call them so."""
    name = distances.named(distance)
    pair = distances.opened(queries, name, "queries"), distances.opened(base, name, "base")
    dims = [rows.shape[1] for rows in pair]
    if dims[0] != dims[1]:
        rule = f"must have the same dim, but have {dims[0]} and {dims[1]} columns"
        raise InvalidValueError("queries and base", rule)
    return name, pair


def _require_names(indexes: Mapping[Any, Any]) -> None:
    """Refuse a mapping of nothing, or without names."""
    if not indexes:
        raise InvalidValueError("returned", "must have at least one index, but is empty")
    for name in indexes:
        if not isinstance(name, str) or not name.strip():
            raise InvalidTypeError("returned", f"must have names that are not empty, but has {name!r}")


def _title(name: str, returned: Any) -> str:
    return f"returned[{name!r}]" if isinstance(returned, Mapping) else "returned"


def _by_name(values: Any, indexes: Mapping[str, Any], title: str) -> Mapping[str, Any]:
    """What belongs to each index; something that is no mapping belongs to the only one."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        if len(indexes) > 1:
            raise InvalidTypeError(title, "must be a mapping of names where there are several indexes")
        return dict.fromkeys(indexes, values)
    unknown = [name for name in values if name not in indexes]
    if unknown:
        rule = f"must have the names of indexes, {', '.join(map(repr, indexes))}, but has {unknown[0]!r}"
        raise InvalidValueError(title, rule)
    return values


def _speed(value: Any) -> float:
    return math.nan if value is None else checks.real_number(value, "queries_per_second", least=0)
