"""Tie profiles of embeddings whose relevance was judged: not by labels, but query by query, and perhaps in grades.

One counting pass has the groups of all relevant items. Which of them are in which group, and so how many of each grade,
follows from their exact distances alone.

    embeddings, qrels ──> pairs (query, item, grade) ──one pass──> binary profile ──tie groups of the pairs──> profile
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.engine.counting.candidates import Candidates, Judged
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.passes import CountingPass
from deadheat.engine.counting.ranking import pair_groups
from deadheat.engine.distances.distance import Distance
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.profiles.gains import leveled
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidTypeError, InvalidValueError, NotInGalleryWarning
from deadheat.inputs import trec
from deadheat.inputs.samples import EmbeddingsLike, Pair, Samples, open_rows
from deadheat.inputs.source import Chosen
from deadheat.inputs.trec import Path, Table
from deadheat.support import checks
from deadheat.support.arrays import Int64
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
Grades = Mapping[Any, Mapping[Any, float]]  # of what is relevant to each query, by id


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
    """Count the tie groups of embeddings with judgements: `deadheat.Task.from_judged`."""
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
    """Warn of relevant documents that are not in the gallery."""
    documents = {item for row in relevant.values() for item in row}
    n = len(documents - gallery)
    if n:
        came = f"{n} of {len(documents)} relevant documents of the qrels {'is' if n == 1 else 'are'} not in gallery_ids"
        warn(f"{came}: no query finds {'it' if n == 1 else 'them'}", NotInGalleryWarning)


@plain_floats
def profile_of_judged(
    rows: Distance | Pair, relevant: Grades, query_ids: Ids, gallery_ids: Ids, options: CountingOptions
) -> TieProfile:
    """Return the profile of checked data: an open distance, the grades above 0 of each query, ids and options.

    With a cluster in the options, `rows` are sources for its workers.
    """
    query, item, of_pairs = _pairs(relevant, query_ids, gallery_ids)
    grade, gains = leveled(query, of_pairs, len(query_ids))
    itself = options.exclude
    if itself is not None:
        item = np.where(item == itself[query], -1, item)
    grades = np.unique(grade) if len(grade) else np.ones(1, dtype=np.int64)
    graded = grades.tolist() != [1]
    if graded and options.rule.bounds_only:
        raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")
    candidates = Candidates.of(len(query_ids), len(gallery_ids), leave_one_out=False, itself=itself)
    place, there = np.searchsorted(grades, grade), item >= 0
    n_relevant = np.zeros((len(query_ids), len(grades)), dtype=np.int64)
    np.add.at(n_relevant, (query, place), 1)
    query, item, place = query[there], item[there], place[there]
    relevance = Judged.of(query, item, candidates)
    if isinstance(rows, Pair):
        assert options.cluster is not None
        (profile,) = distributed_running.profiles_on(options.cluster, rows, [relevance], options)
    else:
        profile = CountingPass(rows, options.rule, relevance).run(options.threads, options.progress)
    profile = replace(profile, n_relevant=n_relevant.sum(axis=1), gains=gains, check=False)
    if not graded:
        return profile
    return with_grades(profile, query, _groups_of(rows, options, query, item), place, grades, n_relevant)


def _groups_of(rows: Distance | Pair, options: CountingOptions, query: Int64, item: Int64) -> Int64:
    """Return `pair_groups`; of rows that a cluster counted, those of the pairs are opened here."""
    if isinstance(rows, Pair) and len(query):
        (queries, query), (items, item) = (np.unique(each, return_inverse=True) for each in (query, item))
        assert rows.gallery is not None
        rows = options.open(Chosen(rows.query.embeddings, queries), Chosen(rows.gallery.embeddings, items))
    return query if isinstance(rows, Pair) else pair_groups(rows, query, item, options.rule)


def with_grades(
    profile: TieProfile, query: Int64, group: Int64, place: Int64, grades: Int64, n_relevant: Int64
) -> TieProfile:
    """Return a binary profile with the grades of its relevant pairs: their query, group in it, and place in `grades`.

    `n_relevant` counts the relevant items of each query by grade, ranked or not.
    """
    by_grade = np.zeros((profile.n_group, len(grades)), dtype=np.int64)
    np.add.at(by_grade, (profile.offsets[query] + group, place), 1)
    return replace(profile, grades=grades, tied_by_grade=by_grade, relevant_by_grade=n_relevant)


def _pairs(relevant: Grades, query_ids: Ids, gallery_ids: Ids) -> tuple[Int64, Int64, list[float]]:
    """Return query, item and gain of each relevant pair; −1 for an item that is not in the gallery."""
    place = {name: row for row, name in enumerate(gallery_ids)}
    pairs = [(row, place.get(item, -1)) for row, name in enumerate(query_ids) for item in relevant.get(name, {})]
    gains = [gain for name in query_ids for gain in relevant.get(name, {}).values()]
    query, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return query, item, gains


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
