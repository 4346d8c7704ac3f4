"""Tie profiles of what a vector index returned: the nearest neighbours of each query, and nothing of all the others.

What was not returned comes after what was, in unknown order. It is one last group, from which lower and
upper follow as from a tie; but it is none, and where a value depends on it there is no expectation. An item that was
not returned may also have the score of the last one that was, so those with that score are in the group too:

    returned, by score, with their ties             the rest, in unknown order
    ├──────────────┤ tied ├──────────┤ ┈┈┈ those with the last score, all that was not returned ┈┈┈┤
    rank 1                           n_ordered                                                     n_ranked
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.counting import judging
from deadheat.engine.counting.nearest import PAIRS, tie_groups
from deadheat.engine.counting.scored import KeyedGroups, assemble, count_keys, keys_of
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.inputs import item_ids
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64, offsets_of, slices
from deadheat.support.floats import plain_floats

_LOWEST = np.iinfo(np.int64).max  # above every key, so that a row without any has no last score


@plain_floats
def profile_neighbors(
    ids: Any,
    scores: Any = None,
    labels: LabelsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    relevant: Sequence[Collection[Any] | Mapping[Any, int]] | None = None,
    n_gallery: int | None = None,
    gallery_ids: ArrayLike | None = None,
    order: Literal["descending", "ascending"] = "descending",
    counts: ArrayLike | None = None,
    exclude: Any = None,
    cut_ties: bool = True,
    embeddings: EmbeddingsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    distance: str = "cosine",
    query_ids: Sequence[str] | None = None,
) -> TieProfile:
    """Count, for the neighbours that a vector index returned, what is closer and what is tied, and what is not known.

    Parameters
    ----------
    ids : (n_query, k) integers, or a list of rows of integers or strings
        Which items were returned: rows of the gallery, or ids that `gallery_ids` lists. The integer -1, with which
        faiss fills short rows, is nothing. No item comes twice in a row.
    scores : (n_query, k) array, or a list of rows
        The scores, or distances, of these items, best first in every row; anything beside -1. To be left out where
        `embeddings` and `gallery` are given.
    labels, gallery_labels : (n_query,) and (n_gallery,) integers or strings, optional
        Relevant to a query is what has its label. As in `deadheat.profile`.
    relevant : sequence of collections, optional
        In place of labels: for each query the ids that are relevant, or a dictionary from ids to grades, of which 0
        and less are irrelevant. It needs `n_gallery` or `gallery_ids`.
    n_gallery : int, optional
        How many items there are to return.
    gallery_ids : (n_gallery,) integers or strings, optional
        The id of each item, where ids are not rows of the gallery. An id in `relevant` that is not among them counts
        in `n_relevant` and is never found, as in a TREC run.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    counts : (n_query,) integers, optional
        How many entries of each row count, as usearch says it.
    exclude : (n_query,) ids, optional
        The id of each query itself, where it is in the gallery; -1, or None in a list, for none. It is not ranked. Ask
        the index for one neighbour more.
    cut_ties : bool
        Whether an item that was not returned may have the score of the last one that was, as in any k nearest. False
        where none does: after a range search, or where scores are known to differ.
    embeddings, gallery : (n_query, dim) and (n_gallery, dim) arrays, optional
        The embeddings themselves, as in `deadheat.profile`: what was returned is then ranked by its exact distance, in
        place of scores that the index rounded, and ties where that is equal.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Of embeddings and gallery.
    query_ids : sequence of str, optional
        Names of the queries, for the profile.

    Returns
    -------
    TieProfile
        With `n_ordered`, unless everything was returned.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Notes
    -----
    Ties: items tie when their scores are the same number. What was not returned is one group after the others, and so
    are, under `cut_ties`, the items with the score of the last one returned. Lower and upper hold for every complete
    ranking that begins as the index does: to know P@10 and Hit@10, ask for 11 neighbours, so that the tenth is not the
    last. Expected is the mean over the ties among what was returned. **Undefined:** expected is NaN for a query whose
    value depends on what was not returned, and so is then the mean.

    An approximate index may miss an item that is closer than one it returned. Here the ranking is that of the index;
    what it misses is for `deadheat.index_recall` to say.

    Examples
    --------
    Two of five items were returned, a relevant and an irrelevant one, and another relevant item was not. It may be
    anywhere from rank 2, as it may tie with the last one returned, to rank 5:

    >>> profile = profile_neighbors([[3, 1]], [[0.9, 0.5]], relevant=[{3, 4}], n_gallery=5)
    >>> profile.closer, profile.tied, profile.n_ordered
    (array([0, 1]), array([1, 4]), array([1]))
    >>> from deadheat.measures import per_query
    >>> print(*(f"{value[0]:.2f}" for value in per_query(profile, "AP")))
    0.70 nan 1.00
    >>> print(*(f"{value[0]:.2f}" for value in per_query(profile, "P@1")))
    1.00 1.00 1.00
    """
    checks.choice(order, ("descending", "ascending"), "order")
    if len({value is None for value in (embeddings, gallery)}) > 1 or (scores is None) != (embeddings is not None):
        raise InvalidValueError("scores", "must be given, or embeddings and gallery in place of them")
    rows = item_ids.id_rows(ids, "ids")
    there = item_ids.filled(rows, counts, "counts")
    returned = rows.take(there)
    exact = None if embeddings is None else _opened(embeddings, gallery, distance, len(rows.lengths))
    known = judging.judged(
        returned, labels, gallery_labels, relevant, n_gallery, gallery_ids, exclude,
        None if exact is None else exact.n_gallery,
    )  # fmt: skip
    item_ids.require_distinct(returned, known.codes, "ids")
    if exact is None:
        given = returned._replace(values=item_ids.score_rows(scores, rows, "scores")[there])
        keys = _ordered_keys(given, order)
    else:
        keys = _exact_keys(exact, returned, known.codes)
    names = None if query_ids is None else _names(query_ids, len(returned.lengths))
    return _profile(returned, keys, known, cut_ties, names)


def _ordered_keys(scores: item_ids.Rows, order: str) -> Int64:
    """The keys of scores, which must be finite and best first in each row."""
    row, values = scores.row, scores.values
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise InvalidValueError("scores", f"must be finite, but query {row[place]} has {values[place]}")
    keys = keys_of(values, order)
    wrong = np.flatnonzero((row[1:] == row[:-1]) & (keys[1:] > keys[:-1]))
    if len(wrong):
        here, falling = wrong[0], order == "descending"
        rule = f'must be best first in every row, and order="{order}" says that the best is the '
        came = f"query {row[here]} has {values[here]} before {values[here + 1]}"
        hint = 'order="ascending" is for distances' if falling else 'order="descending" is for similarities'
        raise InvalidValueError("scores", f"{rule}{'highest' if falling else 'lowest'}, but {came}; {hint}")
    return keys


def _opened(embeddings: EmbeddingsLike, gallery: Any, distance: str, n_query: int) -> Distance:
    """The distance between queries and gallery."""
    opened = distance_registry.make(distance_registry.named(distance), embeddings, gallery, True)
    if opened.n_query != n_query:
        rule = f"must have a row for each row of ids, but have {opened.n_query} for {n_query}"
        raise InvalidValueError("embeddings", rule)
    return opened


def _exact_keys(distance: Distance, returned: item_ids.Rows, items: Int64) -> Int64:
    """Keys that compare as the exact closeness of returned items does, in each row."""
    columns = returned.matrix(distance.columns.column_of_item[items], -1)
    keys = np.empty_like(columns)
    for some in slices(len(columns), max(1, PAIRS // columns.shape[1])):
        keys[some] = -tie_groups(distance, np.arange(len(columns))[some], columns[some])
    return np.asarray(keys[returned.row, returned.place])


def _names(query_ids: Sequence[str], n_query: int) -> tuple[str, ...]:
    """The names of the queries."""
    names = tuple(map(str, query_ids))
    if len(names) != n_query:
        raise InvalidValueError("query_ids", f"must have one entry per query, but got {len(names)} for {n_query}")
    return names


def _profile(
    returned: item_ids.Rows, keys: Int64, judged: judging.Judged, cut_ties: bool, names: tuple[str, ...] | None
) -> TieProfile:
    """The profile: groups of what is ordered, and a last one of the rest."""
    query, n_query, grade_values = returned.row, len(returned.lengths), judged.grade_values
    ranked = judged.grades != judging.JUNK
    missing = judged.n_ranked - np.bincount(query[ranked], minlength=n_query)
    in_rest = _in_rest(returned, keys, missing, cut_ties) & ranked
    ordered = count_keys(
        returned.matrix(keys, 0),
        returned.matrix(np.where(in_rest, judging.JUNK, judged.grades), judging.JUNK),
        grade_values,
    )
    found = np.zeros_like(judged.relevant)  # among what is ordered
    np.add.at(found, np.repeat(np.arange(n_query), ordered.n_group), ordered.by_grade)
    rest_by_grade = judged.in_gallery - found
    rest = missing + np.bincount(query[in_rest], minlength=n_query)
    _require_room(missing, rest, rest_by_grade.sum(axis=1))
    whole = _with_rest(ordered, rest, rest_by_grade, judged.n_ranked)
    profile = assemble([whole], grade_values, judged.relevant, names)
    return replace(profile, n_ordered=judged.n_ranked - rest) if rest.any() else profile


def _in_rest(returned: item_ids.Rows, keys: Int64, missing: Int64, cut_ties: bool) -> Bool:
    """Which items may tie with some that were not returned: those with the last score, where there are such."""
    if not cut_ties:
        return np.zeros(len(keys), dtype=np.bool_)
    last = np.full(len(missing), _LOWEST)
    np.minimum.at(last, returned.row, keys)
    return np.asarray((keys == last[returned.row]) & (missing > 0)[returned.row])


def _require_room(missing: Int64, rest: Int64, relevant: Int64) -> None:
    """Refuse more items than the gallery has."""
    wrong = np.flatnonzero((missing < 0) | (relevant > rest))
    if len(wrong):
        came = f"query {wrong[0]} has more: those returned, and those that are relevant and were not"
        raise InvalidValueError("n_gallery", f"must be the number of items there are, but {came}")


def _with_rest(ordered: KeyedGroups, rest: Int64, rest_by_grade: Int64, n_ranked: Int64) -> KeyedGroups:
    """Groups with the rest of every query as its last one, where something relevant is in it."""
    relevant = rest_by_grade.sum(axis=1)
    found = np.zeros(len(rest), dtype=np.int64)
    np.add.at(found, np.repeat(np.arange(len(rest)), ordered.n_group), ordered.groups[:, 3])
    last = np.column_stack([n_ranked - rest, found, rest, relevant])
    has = relevant > 0
    ends = offsets_of(ordered.n_group)[1:][has]
    return KeyedGroups(
        ordered.n_group + has,
        n_ranked,
        np.insert(ordered.groups, ends, last[has], axis=0),
        np.insert(ordered.by_grade, ends, rest_by_grade[has], axis=0),
    )
