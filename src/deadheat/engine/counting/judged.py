"""Tie profiles of embeddings whose relevance was judged: not by labels, but query by query, and perhaps in grades.

One counting pass a grade, in which what has that grade is relevant. Items of one query that are tied have the same
number of items in front of them, whatever their grade, so that the groups of the passes are put together by that.

    embeddings, qrels ──> pairs (query, item, grade) ──one pass a grade──> binary profiles ──> profile
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Judged
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.passes import CountingPass
from deadheat.engine.distances.distance import Distance
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidTypeError, InvalidValueError, NotInGalleryWarning
from deadheat.inputs import trec
from deadheat.inputs.samples import EmbeddingsLike, Pair, Samples, open_rows
from deadheat.inputs.trec import Path, Table
from deadheat.support import checks
from deadheat.support.arrays import Int64, offsets_of
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy
from deadheat.support.progress import Progress, warn

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from deadheat.engine.counting.cluster import Cluster
    from deadheat.engine.counting.distributed import running as distributed_running
else:
    distributed_running = lazy("deadheat.engine.counting.distributed.running")

Ids = Sequence[Hashable]
Grades = Mapping[Any, Mapping[Any, int]]  # of what is relevant to each query, by id


@plain_floats
def profile_judged(
    queries: EmbeddingsLike,
    gallery: EmbeddingsLike,
    qrels: Path | Table,
    query_ids: Iterable[str],
    gallery_ids: Iterable[str],
    *,
    ignore_identical_ids: bool = False,
    distance: DistanceName = "cosine",
    ties: TiesName | Ties = "exact",
    threads: int | None = None,
    progress: bool | Progress = False,
    executor: Executor | Callable[[], Executor] | Cluster | None = None,
) -> TieProfile:
    """Count, for every query and every distance at which it has a relevant document, what is closer and what is tied.

    Relevant is what the qrels say, with grades if they have any.

    Parameters
    ----------
    queries : (n_query, dim) array of floats, integers or bool
        Embeddings of the queries: of NumPy, PyTorch, JAX or CuPy, a frame, the path of a file, a pattern such as
        ``"emb-*.npy"``, or a list of paths.
    gallery : (n_gallery, dim) array
        Embeddings of the documents, in any form that `queries` can have.
    qrels : path, dict, data frame or iterable of named tuples
        Lines ``qid iter docid rel``, or ``{query_id: {doc_id: grade}}``, or rows with ``query_id``, ``doc_id`` and
        ``relevance``; also a ranx ``Qrels``. Grades are integers; 0 and less, and documents that are not listed, are
        irrelevant. Queries that have no embedding do not count.
    query_ids : (n_query,) strings
        What the qrels call each query; each once.
    gallery_ids : (n_gallery,) strings
        What the qrels call each document; each once.
    ignore_identical_ids : bool
        Whether a query is not ranked against the document that has its id. As in BEIR and MTEB it still counts among
        the relevant ones if it was judged so.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them: "cos", "l2", "l1", "manhattan", "taxicab", "dot", "dot_product", "ip", "inner".
        Hamming takes bool, or uint8 with eight bits packed in each.
    ties : str, Rounded or Tolerance
        Which items tie. "exact": those at exactly the same distance. "float16", "bfloat16" or "float32" (or another
        name of one of them, such as "fp16" or "half"): those whose similarity or distance is the same once it is
        rounded to this type; `deadheat.Rounded` says which of the two. A `deadheat.Tolerance`, for bounds alone: those
        within it.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use, and one in each worker of an
        executor.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total).
    executor : concurrent.futures.Executor or Cluster, optional
        Workers that count, in other processes or on other machines: any executor of PEP 3148, such as Dask's
        ``client.get_executor(pure=False, retries=2)``, or a function that makes one. The profile is the same.
        `deadheat.Cluster` has options: a directory that all workers see, how many tasks, retries.

    Returns
    -------
    TieProfile
        Of all queries in their order; `query_ids` names them. A relevant document that is not in the gallery counts in
        `n_relevant` and in no group, and a `NotInGalleryWarning` says how many there are. Graded if a grade other than
        1 occurs.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; if ids come twice; if the qrels have none of the queries; for grades together
        with a tolerance.
    ClusterError
        If workers of an executor died or failed too often.

    Notes
    -----
    Ties: documents tie when their distances to the query are equal as real numbers, unless `ties` says otherwise.
    Undefined: a query without a relevant document is a singleton.

    Examples
    --------
    Documents a and b are equally far from the query, and b is relevant:

    >>> profile = profile_judged([[0]], [[1], [-1]], {"q": {"b": 1}}, ["q"], ["a", "b"], distance="euclidean")
    >>> profile.closer, profile.tied, profile.n_relevant
    (array([0]), array([2]), array([1]))
    """
    options = CountingOptions.checked(
        distance=distance, ties=ties, threads=threads, progress=progress, executor=executor
    )
    rows: Distance | Pair
    if options.cluster is None:
        rows = options.open(queries, gallery)
        n_query, n_gallery = rows.n_query, rows.n_gallery
    else:
        sources = open_rows(queries, "queries"), open_rows(gallery, "gallery")
        n_query, n_gallery = map(len, sources)
        rows = Pair(Samples(sources[0], np.arange(n_query)), Samples(sources[1], np.arange(n_gallery)))
    names = _unique(query_ids, n_query, "query_ids"), _unique(gallery_ids, n_gallery, "gallery_ids")
    judged = trec.open_qrels(qrels)
    known = judged.keys() & set(names[0])
    if not known:
        came = f"but query_ids are {checks.few(names[0])} and the qrels have {checks.few(judged)}"
        raise InvalidValueError("query_ids and qrels", f"must have a query in common, {came}")
    relevant = {query: {item: grade for item, grade in judged[query].items() if grade > 0} for query in known}
    _warn_of_missing(relevant, set(names[1]))
    if checks.flag(ignore_identical_ids, "ignore_identical_ids"):
        place = {name: row for row, name in enumerate(names[1])}
        options = replace(options, exclude=np.array([place.get(name, -1) for name in names[0]], dtype=np.int64))
    profile = profile_of_judged(rows, relevant, *names, options)
    return replace(profile, query_ids=tuple(map(str, names[0])), check=False)


def _warn_of_missing(relevant: Grades, gallery: set[str]) -> None:
    """Say how many relevant documents no query can find."""
    documents = {item for row in relevant.values() for item in row}
    n = len(documents - gallery)
    if n:
        came = f"{n} of {len(documents)} relevant documents of the qrels {'is' if n == 1 else 'are'} not in gallery_ids"
        warn(f"{came}: no query finds {'it' if n == 1 else 'them'}", NotInGalleryWarning)


@plain_floats
def profile_of_judged(
    rows: Distance | Pair, relevant: Grades, query_ids: Ids, gallery_ids: Ids, options: CountingOptions
) -> TieProfile:
    """The profile of what has been checked: an open distance, the grades above 0 of each query, ids and options.

    With a cluster in the options, the rows are those of its workers.
    """
    query, item, grade = _pairs(relevant, query_ids, gallery_ids)
    itself = options.exclude
    if itself is not None:
        item = np.where(item == itself[query], -1, item)
    grades = np.unique(grade) if len(grade) else np.ones(1, dtype=np.int64)
    graded = grades.tolist() != [1]
    if graded and options.rule.bounds_only:
        raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")
    candidates = Candidates.of(len(query_ids), len(gallery_ids), leave_one_out=False, itself=itself)
    ranked = [(grade == value) & (item >= 0) for value in grades.tolist()]
    relevances = [Judged.of(query[those], item[those], candidates) for those in ranked]
    if isinstance(rows, Pair):
        assert options.cluster is not None
        parts = distributed_running.profiles_on(options.cluster, rows, relevances, options)
    else:
        passes = (CountingPass(rows, options.rule, relevance) for relevance in relevances)
        parts = [each.run(options.threads, options.progress) for each in passes]
    n_relevant = np.zeros((len(query_ids), len(grades)), dtype=np.int64)
    np.add.at(n_relevant, (query, np.searchsorted(grades, grade)), 1)
    if not graded:
        return replace(parts[0], n_relevant=n_relevant[:, 0], check=False)
    return _graded(parts, grades, n_relevant)


def _graded(parts: list[TieProfile], grades: Int64, n_relevant: Int64) -> TieProfile:
    query, closer, tied = (
        np.concatenate(arrays)
        for arrays in zip(*((part.query_of_group, part.closer, part.tied) for part in parts), strict=True)
    )
    groups, first, place = np.unique(np.stack([query, closer]), axis=1, return_index=True, return_inverse=True)
    by_grade = np.zeros((groups.shape[1], len(grades)), dtype=np.int64)
    of_part = np.repeat(np.arange(len(parts)), [part.n_group for part in parts])
    by_grade[place, of_part] = np.concatenate([part.tied_relevant for part in parts])
    tied_relevant = by_grade.sum(axis=1)
    offsets = offsets_of(np.bincount(groups[0], minlength=len(n_relevant)))
    running = offsets_of(tied_relevant)
    closer_relevant = running[:-1] - running[offsets[groups[0]]]
    return TieProfile(
        offsets, groups[1], closer_relevant, tied[first], tied_relevant, parts[0].n_ranked, n_relevant.sum(axis=1),
        grades, tied_by_grade=by_grade, relevant_by_grade=n_relevant,
    )  # fmt: skip


def _pairs(relevant: Grades, query_ids: Ids, gallery_ids: Ids) -> Int64:
    """Query, item and grade of each relevant pair; −1 for an item that is not in the gallery."""
    place = {name: row for row, name in enumerate(gallery_ids)}
    pairs = [
        (row, place.get(item, -1), grade)
        for row, name in enumerate(query_ids)
        for item, grade in relevant.get(name, {}).items()
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 3).T


def _unique(ids: Any, n: int, name: str) -> list[str]:
    listed = checks.listed(ids, name, "a sequence of strings")
    odd = next((each for each in listed if not isinstance(each, str)), None)
    if odd is not None:
        raise InvalidTypeError(name, f"must be strings, but holds {checks.shown(odd)}")
    if len(listed) != n:
        raise InvalidValueError(name, f"must have one entry per row, but got {len(listed)} ids for {n} rows")
    if len(set(listed)) < n:
        seen: set[str] = set()
        twice = next(each for each in listed if each in seen or seen.add(each))  # type: ignore[func-returns-value]
        raise InvalidValueError(name, f"must hold each id once, but holds {twice!r} again")
    return listed
