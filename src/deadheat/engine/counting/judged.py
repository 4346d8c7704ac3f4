"""Tie profiles of embeddings whose relevance was judged: not by labels, but query by query, and perhaps in grades.

There is one counting pass per grade, in which the items of that grade are relevant. Tied items of a query have the same
number of closer items, whatever their grade, so the groups of the passes are merged by this number.

    embeddings, qrels ──> pairs (query, item, grade) ──one pass a grade──> binary profiles ──> profile
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.counting.candidates import Judged
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.passes import CountingPass
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, item_ids, trec
from deadheat.inputs.samples import EmbeddingsLike, Pair, Samples, open_rows
from deadheat.inputs.trec import Path, Table
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64, offsets_of
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.engine.counting.distributed import running as distributed_running
else:
    distributed_running = lazy("deadheat.engine.counting.distributed.running")

Ids = Sequence[Hashable]
Grades = Mapping[Any, Mapping[Any, int]]  # of what is relevant to each query, by id
Junk = ArrayLike | Mapping[str, Collection[str]]


@plain_floats
def profile_judged(
    queries: EmbeddingsLike,
    gallery: EmbeddingsLike,
    qrels: Path | Table,
    query_ids: Iterable[str],
    gallery_ids: Iterable[str],
    **settings: Any,
) -> TieProfile:
    """Count the tie groups of embeddings with judgements: `deadheat.Task.from_judged`."""
    options = CountingOptions.checked(**settings)
    rows: Distance | Pair
    if options.cluster is None:
        rows = options.open(queries, gallery)
        n_query, n_gallery = rows.n_query, rows.n_gallery
    else:
        sources = open_rows(queries, "queries"), open_rows(gallery, "gallery")
        n_query, n_gallery = map(len, sources)
        rows = Pair(Samples(sources[0], np.arange(n_query)), Samples(sources[1], np.arange(n_gallery)))
    names = unique_ids(query_ids, n_query, "query_ids"), unique_ids(gallery_ids, n_gallery, "gallery_ids")
    judged = trec.open_qrels(qrels)
    known = judged.keys() & set(names[0])
    if not known:
        came = f"but query_ids are {checks.few(names[0])} and the qrels have {checks.few(judged)}"
        raise InvalidValueError("query_ids and qrels", f"must have a query in common, {came}")
    relevant = {query: {item: grade for item, grade in judged[query].items() if grade > 0} for query in known}
    own = None if options.exclude is None else item_ids.own_rows(options.exclude, n_query, n_gallery)
    options = replace(options, junk=_junk_mask(options.junk, *names), exclude=own)
    profile = profile_of_judged(rows, relevant, *names, options)
    return replace(profile, query_ids=tuple(map(str, names[0])), check=False)


def _junk_mask(junk: Junk | None, query_ids: list[str], gallery_ids: list[str]) -> Bool | None:
    """Return junk as a mask, from a mask or from ids; ids that have no row do not count."""
    shape = len(query_ids), len(gallery_ids)
    if not isinstance(junk, Mapping):
        return arrays.junk_mask(junk, *shape)
    ids = {query: checks.listed(row, "junk", "lists of document ids") for query, row in junk.items()}
    odd = next((each for row in ids.values() for each in row if not isinstance(each, str)), None)
    if odd is not None:
        raise InvalidTypeError("junk", f"must hold document ids, which are strings, but holds {checks.shown(odd)}")
    query, item, _ = _pairs({query: dict.fromkeys(row, 1) for query, row in ids.items()}, query_ids, gallery_ids)
    if any(ids.values()) and not (item >= 0).any():
        came = f"but has none for {checks.few(ids)}, such as {next(filter(None, ids.values()))[0]!r}"
        raise InvalidValueError("junk", f"must name documents of gallery_ids for queries of query_ids, {came}")
    mask = np.zeros(shape, dtype=np.bool_)
    mask[query[item >= 0], item[item >= 0]] = True
    return mask


@plain_floats
def profile_of_judged(
    rows: Distance | Pair, relevant: Grades, query_ids: Ids, gallery_ids: Ids, options: CountingOptions
) -> TieProfile:
    """Return the profile of checked data: an open distance, the grades above 0 of each query, ids and options.

    With a cluster in the options, `rows` are sources for its workers.
    """
    query, item, grade = _pairs(relevant, query_ids, gallery_ids)
    candidates = options.candidates(len(query_ids), len(gallery_ids), leave_one_out=False)
    kept = (item < 0) | ~candidates.left_out(query, item)  # what is not in the gallery counts, and is never found
    query, item, grade = query[kept], item[kept], grade[kept]
    grades = np.unique(grade) if len(grade) else np.ones(1, dtype=np.int64)
    graded = grades.tolist() != [1]
    if graded and options.rule.bounds_only:
        raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")
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
    return joined_grades(parts, grades, n_relevant)


def joined_grades(parts: list[TieProfile], grades: Int64, n_relevant: Int64) -> TieProfile:
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
    """Return query, item and grade of each relevant pair; −1 for an item that is not in the gallery."""
    place = {name: row for row, name in enumerate(gallery_ids)}
    pairs = [
        (row, place.get(item, -1), grade)
        for row, name in enumerate(query_ids)
        for item, grade in relevant.get(name, {}).items()
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 3).T


def unique_ids(ids: Any, n: int, name: str) -> list[str]:
    """Check ids: one string for each of `n` rows, each once."""
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
