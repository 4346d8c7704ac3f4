"""`from_neighbors`: the output of a vector index, the nearest neighbours of each query without all other items.

Items that were not returned come after those that were, in unknown order. They are one last group, from which lower and
upper follow as from a tie; but it is no tie, and a value that depends on it has no expectation. An item that was not
returned may also have the score of the last one that was, so items with that score are in the group too:

    returned, by score, with their ties             the rest, in unknown order
    ├──────────────┤ tied ├──────────┤ ┈┈┈ those with the last score, all that was not returned ┈┈┈┤
    rank 1                           n_ordered                                                     n_ranked
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.engine.counting.ranking import looked_up, pair_groups
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.evaluable import Origin
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.gains import leveled
from deadheat.engine.profiles.profile import TieProfile, by_query
from deadheat.engine.sources import unmatched
from deadheat.engine.sources.counted import CountedTask
from deadheat.engine.sources.keyed import KeyedGroups, assemble, count_keys, keys_of
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import codes, conversion, item_ids, source
from deadheat.inputs.label_sets import LabelSets, as_sets
from deadheat.inputs.relevance import listed_ids
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, open_labels, open_pair, open_rows
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Float64, Int64, offsets_of
from deadheat.support.floats import plain_floats

_LOWEST = np.iinfo(np.int64).max  # above every key, so that a row without any has no last score
_JUNK = -1  # the grade of the query itself


@plain_floats
def from_neighbors(
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
    distance: DistanceName = "cosine",
    query_ids: Sequence[str] | None = None,
) -> CountedTask:
    """Make a task of the neighbours that a vector index returned; all other items are in unknown order.

    Parameters
    ----------
    ids : (n_query, k) integers, or a list of rows of integers or strings
        The items returned: rows of the gallery, or ids that `gallery_ids` lists. The integer -1, with which faiss
        fills short rows, is nothing. No item comes twice in a row.
    scores : (n_query, k) array, or a list of rows
        The scores, or distances, of these items, best first in every row; anything where the id is -1. By
        default `embeddings` and `gallery` must be given.
    labels : (n_query,) integers or strings, optional
        Items with the label of a query are relevant to it. An array, a path, a pattern, or a list of paths; or
        several labels a row, of which an item must share one.
    gallery_labels : (n_gallery,) integers or strings, optional
        In any form that `labels` can have.
    relevant : sequence of collections, optional
        In place of labels: for each query the ids that are relevant, or a dictionary from ids to grades, of which 0
        and less are irrelevant. It needs `n_gallery` or `gallery_ids`.
    n_gallery : int, optional
        The number of items in the gallery. By default as many as `gallery_labels`, `gallery_ids` or `gallery` has.
    gallery_ids : (n_gallery,) integers or strings, optional
        The id of each item. By default ids are rows of the gallery, or, with `relevant`, anything. An id in
        `relevant` that is not among them counts in `n_relevant` and is never found, as in a TREC run.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    counts : (n_query,) integers, optional
        The number of entries of each row that count, as usearch returns it. By default all but -1.
    exclude : (n_query,) ids, optional
        The id of each query itself, where it is in the gallery; -1, or None in a list, for none. It is not ranked.
        Ask the index for one neighbour more.
    cut_ties : bool
        Whether an item that was not returned may have the score of the last one that was, as in any k nearest.
        False where none does: after a range search, or where scores are known to differ.
    embeddings : (n_query, dim) array of floats, integers or bool, optional
        The queries themselves, in place of `scores`: returned items are then ranked by their exact distances, not
        by scores that the index rounded, and tie if these are equal. Of NumPy, PyTorch, JAX or CuPy, a frame, the
        path of a file, a pattern, or a list of paths.
    gallery : (n_gallery, dim) array, optional
        The items themselves, in any form that `embeddings` can have.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming", "correlation", "jaccard", "dice"}
        Of embeddings and gallery, as in `Task`.
    query_ids : sequence of str, optional
        Names of the queries, for the profile.

    Returns
    -------
    CountedTask
        With `n_ordered`, unless everything was returned.

    Notes
    -----
    Ties: items tie when their scores are the same number. Items that were not returned are one group after all
    others; it includes, under `cut_ties`, those with the score of the last one returned. Lower and upper hold for
    every complete ranking that begins as the index does: to know P@10 and Hit@10, ask for 11 neighbours, so that
    the tenth is not the last. Expected is the mean over the ties among the returned items. **Undefined:** expected
    is NaN for a query whose value depends on items that were not returned, and so is then the mean.

    An approximate index may miss an item that is closer than one it returned. Here the ranking is that of the
    index; `deadheat.index_recall` measures what it misses.

    Examples
    --------
    Two of five items were returned, a relevant and an irrelevant one, and another relevant item was not. It may be
    anywhere from rank 2, as it may tie with the last one returned, to rank 5:

    >>> profile = from_neighbors([[3, 1]], [[0.9, 0.5]], relevant=[{3, 4}], n_gallery=5).profile
    >>> profile.closer, profile.tied, profile.n_ordered
    (array([0, 1]), array([1, 4]), array([1]))
    >>> from deadheat.measures import per_query
    >>> print(*(f"{value[0]:.2f}" for value in per_query(profile, "AP")))
    0.70 nan 1.00
    >>> print(*(f"{value[0]:.2f}" for value in per_query(profile, "P@1")))
    1.00 1.00 1.00
    """
    if len({value is None for value in (embeddings, gallery)}) > 1 or (scores is None) != (embeddings is not None):
        raise InvalidValueError("scores", "must be given, or embeddings and gallery in place of them")
    if (labels is None) != (gallery_labels is None) or (labels is None) == (relevant is None):
        rule = "must be given together, or relevant in place of both"
        raise InvalidValueError("labels and gallery_labels", rule)
    rows = item_ids.id_rows(ids, "ids")
    there = item_ids.filled(rows, counts)
    returned, n_query = rows.take(there), len(rows.lengths)
    sources: tuple[source.Source, source.Source] | None = None
    if embeddings is not None:
        sources = open_rows(embeddings, "embeddings"), open_rows(gallery, "gallery")
        if len(sources[0]) != n_query:
            rule = f"must have a row for each row of ids, but have {len(sources[0])} for {n_query}"
            raise InvalidValueError("embeddings", rule)
    itself = _own_ids(exclude, n_query)
    of_items = None if gallery_labels is None else as_sets(open_labels(gallery_labels, "gallery_labels"))
    items = _GivenGallery.of(n_gallery, gallery_ids, of_items, None if sources is None else len(sources[1]))
    if of_items is None:
        known = _as_given(returned, relevant, items, itself)
    else:
        known = _by_label(returned, labels, of_items, items, itself)
    item_ids.require_distinct(returned, "ids", known.codes)
    closeness = sources or returned._replace(values=item_ids.score_rows(scores, "scores", rows)[there])
    opened = _ReturnedItems(returned, known, closeness, _names(query_ids, n_query))
    return CountedTask("neighbors", opened, {"order": order, "cut_ties": cut_ties, "distance": distance})


def _names(query_ids: Any, n_query: int) -> tuple[str, ...] | None:
    if query_ids is None:
        return None
    names = tuple(map(str, checks.listed(query_ids, "query_ids", "a name for each query")))
    if len(names) != n_query:
        raise InvalidValueError("query_ids", f"must have one entry per query, but got {len(names)} for {n_query}")
    return names


class _ReturnedItems(NamedTuple):
    returned: item_ids.IdRows
    known: _Known
    closeness: item_ids.IdRows | tuple[source.Source, source.Source]  # scores, or the rows of queries and gallery
    names: tuple[str, ...] | None

    def counts(self, *, order: str, cut_ties: Any, distance: Any) -> tuple[TieProfile, Origin]:
        checks.choice(order, ("descending", "ascending"), "order")
        checks.flag(cut_ties, "cut_ties")
        remarks: list[str] = []
        if isinstance(self.closeness, item_ids.IdRows):
            keys = _ordered_keys(self.closeness, order)
        else:
            exact = distance_registry.make(distance, *self.closeness, True)
            remarks += codes.remarks(exact.name, *self.closeness)
            keys = -pair_groups(exact, self.returned.row, self.known.codes)
        lacking = self.known.unmatched
        if lacking is not None:
            lacking = lacking if self.names is None else lacking._replace(query=self.names[lacking.query])
            remarks.append(lacking.sentence("ids", "relevant"))
        profile = _profile(self.returned, keys, self.known, cut_ties, self.names)
        return profile, Origin(self.known.labels, remarks=tuple(remarks), knows_gallery=True)


def _ordered_keys(scores: item_ids.IdRows, order: str) -> Int64:
    """Return the keys of scores, which must be finite and best first in each row."""
    row, values = scores.row, scores.values
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        first = int(np.argmin(np.isfinite(values)))
        raise InvalidValueError("scores", f"must be finite, but query {row[first]} has {values[first]}")
    keys = keys_of(values, order)
    wrong = np.flatnonzero((row[1:] == row[:-1]) & (keys[1:] > keys[:-1]))
    if len(wrong):
        here, falling = wrong[0], order == "descending"
        rule = f'must be best first in every row, and order="{order}" says that the best is the '
        actual = f"query {row[here]} has {values[here]} before {values[here + 1]}"
        hint = 'order="ascending" is for distances' if falling else 'order="descending" is for similarities'
        raise InvalidValueError("scores", f"{rule}{'highest' if falling else 'lowest'}, but {actual}; {hint}")
    return keys


def _profile(
    returned: item_ids.IdRows, keys: Int64, judged: _Known, cut_ties: bool, names: tuple[str, ...] | None
) -> TieProfile:
    query, n_query, grade_values = returned.row, len(returned.lengths), judged.grade_values
    ranked = judged.grades != _JUNK
    missing = judged.n_ranked - np.bincount(query[ranked], minlength=n_query)
    in_rest = np.zeros(len(keys), dtype=np.bool_)  # those that may tie with some that were not returned
    if cut_ties:
        last = np.full(n_query, _LOWEST)
        np.minimum.at(last, query, keys)
        in_rest = (keys == last[query]) & (missing > 0)[query] & ranked
    ordered = count_keys(
        returned.matrix(keys, 0)[None], returned.matrix(np.where(in_rest, _JUNK, judged.grades), _JUNK), grade_values
    )
    of_group = np.repeat(np.arange(n_query), ordered.n_group)
    rest_by_grade = judged.in_gallery - by_query(ordered.by_grade, of_group, n_query)
    rest = missing + np.bincount(query[in_rest], minlength=n_query)
    for wrong in np.flatnonzero((missing < 0) | (rest_by_grade.sum(axis=1) > rest))[:1]:
        actual = f"query {wrong} has more: those returned, and those that are relevant and were not"
        raise InvalidValueError("n_gallery", f"must be the number of items there are, but {actual}")
    whole = _with_rest(ordered, rest, rest_by_grade, judged.n_ranked)
    profile = assemble([whole], grade_values, judged.relevant, names, judged.gains)
    if not rest.any():
        return profile
    returned_by_grade = _returned(query[ranked], judged.grades[ranked], judged) if in_rest.any() else None
    return replace(profile, n_ordered=judged.n_ranked - rest, returned=returned_by_grade)


def _returned(query: Int64, grades: Int64, judged: _Known) -> Int64:
    """Count the returned items of each query, and by grade the relevant ones, (n_query, 1 + n_grade)."""
    counts = np.zeros((len(judged.n_ranked), 1 + len(judged.grade_values)), dtype=np.int64)
    np.add.at(counts[:, 0], query, 1)
    relevant = grades > 0
    np.add.at(counts, (query[relevant], 1 + np.searchsorted(judged.grade_values, grades[relevant])), 1)
    return counts


def _with_rest(ordered: KeyedGroups, rest: Int64, rest_by_grade: Int64, n_ranked: Int64) -> KeyedGroups:
    """Append to the groups of every query its unordered rest, if a relevant item is in it."""
    relevant = rest_by_grade.sum(axis=1)
    ahead = by_query(ordered.groups[:, 3:], np.repeat(np.arange(len(rest)), ordered.n_group), len(rest))
    last = np.column_stack([n_ranked - rest, ahead, rest, relevant])
    has = relevant > 0
    ends = offsets_of(ordered.n_group)[1:][has]
    return KeyedGroups(
        ordered.n_group + has,
        n_ranked,
        np.insert(ordered.groups, ends, last[has], axis=0),
        np.insert(ordered.by_grade, ends, rest_by_grade[has], axis=0),
    )


# Who is relevant, by labels or as the caller lists it ----------------------------------------------------------------


class _Known(NamedTuple):
    codes: Int64  # (n,), the number of each returned item
    grades: Int64  # (n,), 0 irrelevant, -1 the query itself; of `leveled` gains
    grade_values: Int64  # (n_grade,)
    n_ranked: Int64  # (n_query,)
    in_gallery: Int64  # (n_query, n_grade), relevant items that are ranked
    relevant: Int64  # (n_query, n_grade), and all
    gains: Float64 | None = None  # (n_query, n_grade)
    labels: Any = None  # (n_query,), where queries have one each
    unmatched: unmatched.Unmatched | None = None


class _GivenGallery(NamedTuple):
    size: int
    ids: Any  # as they were given; None where ids are rows, or anything
    as_rows: bool  # whether ids must be rows, where they are not listed

    @classmethod
    def of(cls, n_gallery: Any, ids: Any, gallery_labels: Any, n_row: int | None) -> _GivenGallery:
        """Return the gallery as the caller describes it; `n_row` counts rows of embeddings, if there are any."""
        sizes = {"gallery": n_row}
        sizes |= {"gallery_labels": None if gallery_labels is None else _n_row(gallery_labels, "gallery_labels")}
        sizes |= {"gallery_ids": None if ids is None else _n_row(ids, "gallery_ids")}
        if n_gallery is not None:
            sizes["n_gallery"] = checks.positive_integer(n_gallery, "n_gallery", 2**63 - 1)
        known = {name: size for name, size in sizes.items() if size is not None}
        if not known:
            raise InvalidValueError("relevant", "needs n_gallery, or gallery_ids")
        if len(set(known.values())) > 1:
            actual = ", ".join(f"{name} {size}" for name, size in known.items())
            raise InvalidValueError(" and ".join(known), f"must be of one size, but are: {actual}")
        return cls(next(iter(known.values())), ids, n_row is not None or gallery_labels is not None)

    def rows(self, ids: item_ids.IdRows, name: str, missing: bool = True) -> Int64:
        """Return the row of each id, -1 for one that is not there, if ids may be `missing`."""
        return item_ids.gallery_rows(ids, name, self.ids, self.size, missing)


@names_argument
def _n_row(values: Any) -> int:
    """Return the number of entries; refuse an iterator."""
    with suppress(TypeError), conversion.converting(values):
        return int(values.shape[0]) if hasattr(values, "tocsr") else len(values)
    raise InvalidTypeError(VALUES, f"must be a sequence of integers or strings, but is {checks.shown(values)}")


def _by_label(
    returned: item_ids.IdRows, labels: Any, gallery_labels: Any, gallery: _GivenGallery, itself: item_ids.IdRows
) -> _Known:
    n_query, n = len(returned.lengths), gallery.size
    unused = [source.Array(np.broadcast_to(np.False_, (size, 1))) for size in (n_query, n)]  # no row is examined
    names = "ids", "labels", "the gallery", "gallery_labels"
    of_query, of_items = open_pair(unused[0], labels, unused[1], gallery_labels, names=names)[:2]
    relevance = LabelRelevance(of_query.labels, (of_items or of_query).labels)
    codes = gallery.rows(returned, "ids", missing=False)
    own = np.full(n_query, -1)
    own[itself.row] = gallery.rows(itself, "exclude")
    total = relevance.n_relevant() - ((own >= 0) & relevance.of(np.arange(n_query), own))
    query = returned.row
    grades = np.where(codes == own[query], _JUNK, relevance.of(query, codes)).astype(np.int64)
    known = None if isinstance(of_query.labels, LabelSets) else of_query.labels
    return _Known(codes, grades, np.ones(1, np.int64), n - (own >= 0), total[:, None], total[:, None], labels=known)


def _as_given(returned: item_ids.IdRows, relevant: Any, gallery: _GivenGallery, itself: item_ids.IdRows) -> _Known:
    listed, grade = listed_ids(relevant, len(returned.lengths))
    if gallery.ids is not None or gallery.as_rows:
        codes = gallery.rows(returned, "ids", missing=False)
        of_listed, of_own = gallery.rows(listed, "relevant"), gallery.rows(itself, "exclude")
    else:
        parts = [(returned.values, "ids"), (listed.values, "relevant"), (itself.values, "exclude")]
        codes, of_listed, of_own = item_ids.numbered(parts)
    every_listed = of_listed
    query, of_query, n_query = returned.row, listed.row, len(returned.lengths)
    own = np.full(n_query, -1)
    own[itself.row] = of_own
    kept = (grade > 0) & ((of_listed != own[of_query]) | (of_listed < 0))
    of_query, of_listed = of_query[kept], of_listed[kept]
    grade, gains = leveled(of_query, grade[kept], n_query)
    grade_values = np.unique(grade) if len(grade) else np.ones(1, dtype=np.int64)
    known = of_listed >= 0
    in_gallery, every = np.zeros((2, n_query, len(grade_values)), dtype=np.int64)
    number = np.searchsorted(grade_values, grade)
    np.add.at(in_gallery, (of_query[known], number[known]), 1)
    np.add.at(every, (of_query, number), 1)
    n_code = int(max(codes.max(initial=-1), of_listed.max(initial=-1))) + 1
    pairs = of_query[known] * n_code + of_listed[known]
    grades = looked_up(pairs, grade[known], query * n_code + codes, 0)
    grades[codes == own[query]] = _JUNK
    lacking = unmatched.of_ids(returned, codes, listed, every_listed, grades > 0)
    return _Known(codes, grades, grade_values, gallery.size - (own >= 0), in_gallery, every, gains, unmatched=lacking)


def _own_ids(exclude: Any, n_query: int) -> item_ids.IdRows:
    """Return the id of each query that has one, in rows of one or none."""
    if exclude is None:
        return item_ids.IdRows(np.empty(0, dtype=np.int64), np.zeros(n_query, dtype=np.int64))
    own = (
        conversion.plain(exclude, "exclude")
        if hasattr(exclude, "__array__")
        else checks.listed(exclude, "exclude", "an id for each query")
    )
    shape = own.shape if isinstance(own, np.ndarray) else (len(own),)
    if shape != (n_query,):
        raise InvalidValueError("exclude", f"must be one id for each of the {n_query} queries, but has shape {shape}")
    if isinstance(own, np.ndarray) and own.dtype.kind not in "iuUSTO":
        raise InvalidTypeError("exclude", f"must hold integers or strings, but has dtype {own.dtype}")
    none = [item is None or (not isinstance(item, str) and item == item_ids.NOTHING) for item in own]
    if isinstance(own, list):
        return item_ids.id_rows([[] if no else [item] for item, no in zip(own, none, strict=True)], "exclude")
    return item_ids.id_rows(own[:, None], "exclude").take(~np.array(none, dtype=np.bool_))
