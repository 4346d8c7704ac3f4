"""Tie profiles of embeddings whose relevance was judged: not by labels, but query by query, and perhaps in grades.

One counting pass has the groups of all relevant items. Which of them are in which group, and so how many of each grade,
follows from their exact distances alone.

    embeddings, qrels ──> pairs (query, item, grade) ──one pass──> binary profile ──tie groups of the pairs──> profile
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.count import count_judged, count_judged_in_portions
from deadheat.engine.counting import unmatched
from deadheat.engine.counting.candidates import Judged
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import pair_groups
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.gains import leveled, with_grades
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, codes, item_ids, trec
from deadheat.inputs.samples import EmbeddingsLike, Pair, Samples, open_rows
from deadheat.inputs.source import Chosen
from deadheat.inputs.trec import Path, Table
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64
from deadheat.support.floats import plain_floats

Ids = Sequence[Hashable]
Grades = Mapping[Any, Mapping[Any, float]]  # of what is relevant to each query, by id
Junk = ArrayLike | Mapping[str, Collection[str]]


@plain_floats
def profile_judged(
    queries: EmbeddingsLike,
    gallery: EmbeddingsLike,
    qrels: Path | Table,
    query_ids: Iterable[str | int],
    gallery_ids: Iterable[str | int],
    **settings: Any,
) -> tuple[TieProfile, list[str]]:
    """Count the tie groups of embeddings with judgements: `deadheat.Task.from_judged`; remarks come with them."""
    options = CountingOptions.checked(**settings)
    sources = open_rows(queries, "queries"), open_rows(gallery, "gallery")
    n_query, n_gallery = map(len, sources)
    rows: Distance | Pair
    if options.executor is None:
        rows = options.open(*sources)
    else:
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
    remarks = [*codes.remarks(options.distance, *sources), *unmatched.of_gallery(judged, *names)]
    return replace(profile, query_ids=tuple(names[0]), check=False), remarks


def _junk_mask(junk: Junk | None, query_ids: list[str], gallery_ids: list[str]) -> Bool | None:
    """Return junk as a mask, from a mask or from ids; ids that have no row do not count."""
    shape = len(query_ids), len(gallery_ids)
    if not isinstance(junk, Mapping):
        given: Bool | None = arrays.junk_mask(junk, *shape)
        return given
    kind = "lists of document ids"
    ids = {
        trec.id_text(query, "an id in junk"): [
            trec.id_text(each, "an id in junk") for each in checks.listed(row, "junk", kind)
        ]
        for query, row in junk.items()
    }
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

    With an executor in the options, `rows` are sources for its workers.
    """
    query, item, of_pairs = _pairs(relevant, query_ids, gallery_ids)
    candidates = options.candidates(len(query_ids), len(gallery_ids), leave_one_out=False)
    kept = (item < 0) | ~candidates.left_out(query, item)  # what is not in the gallery counts, and is never found
    query, item, of_pairs = query[kept], item[kept], list(compress(of_pairs, kept.tolist()))
    grade, gains = leveled(query, of_pairs, len(query_ids))
    grades = np.unique(grade) if len(grade) else np.ones(1, dtype=np.int64)
    graded = grades.tolist() != [1]
    if graded and options.rule.bounds_only:
        raise InvalidValueError("ties", "must have tie groups where relevance is graded, but a tolerance has none")
    place, there = np.searchsorted(grades, grade), item >= 0
    n_relevant = np.zeros((len(query_ids), len(grades)), dtype=np.int64)
    np.add.at(n_relevant, (query, place), 1)
    query, item, place = query[there], item[there], place[there]
    relevance = Judged.of(query, item, candidates)
    if isinstance(rows, Pair):
        profile = count_judged_in_portions(rows, relevance, options)
    else:
        profile = count_judged(rows, relevance, options)
    profile = replace(profile, n_relevant=n_relevant.sum(axis=1), gains=gains, check=False)
    if not graded:
        return profile
    return with_grades(profile, query, _groups_of(rows, options, query, item), place, grades, n_relevant)


def _groups_of(rows: Distance | Pair, options: CountingOptions, query: Int64, item: Int64) -> Int64:
    """Return `pair_groups`; of rows that an executor counted, those of the pairs are opened here."""
    if isinstance(rows, Pair) and len(query):
        (queries, query), (items, item) = (np.unique(each, return_inverse=True) for each in (query, item))
        assert rows.gallery is not None
        rows = options.open(Chosen(rows.query.embeddings, queries), Chosen(rows.gallery.embeddings, items))
    return query if isinstance(rows, Pair) else pair_groups(rows, query, item, options.rule)


def _pairs(relevant: Grades, query_ids: Ids, gallery_ids: Ids) -> tuple[Int64, Int64, list[float]]:
    """Return query, item and gain of each relevant pair; −1 for an item that is not in the gallery."""
    place = {name: row for row, name in enumerate(gallery_ids)}
    pairs = [(row, place.get(item, -1)) for row, name in enumerate(query_ids) for item in relevant.get(name, {})]
    gains = [gain for name in query_ids for gain in relevant.get(name, {}).values()]
    query, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return query, item, gains


def unique_ids(ids: Any, n: int, name: str) -> list[str]:
    """Check ids: one string or integer, as its decimal text, for each of `n` rows, each once."""
    listed = [
        trec.id_text(each, f"an id in {name}") for each in checks.listed(ids, name, "a sequence of strings or integers")
    ]
    if len(listed) != n:
        raise InvalidValueError(name, f"must have one entry per row, but got {len(listed)} ids for {n} rows")
    if len(set(listed)) < n:
        seen: set[str] = set()
        twice = next(each for each in listed if each in seen or seen.add(each))  # type: ignore[func-returns-value]
        raise InvalidValueError(name, f"must hold each id once, but holds {twice!r} again")
    return listed
