"""Who is relevant to each query of a vector index, by labels or as a caller lists it, and how many there are of them.

In come rows of ids; out go their numbers and grades, and counts over the whole gallery, without the query itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion, item_ids
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import open_labels
from deadheat.support import checks
from deadheat.support.arrays import Int64

JUNK = -1  # the grade of the query itself


class Judged(NamedTuple):
    """What of the returned items, and of all, is relevant."""

    codes: Int64  # (n,), the number of each returned item
    grades: Int64  # (n,), 0 irrelevant, -1 the query itself
    grade_values: Int64  # (n_grade,)
    n_ranked: Int64  # (n_query,)
    in_gallery: Int64  # (n_query, n_grade), relevant items that are ranked
    relevant: Int64  # (n_query, n_grade), and all


class Gallery(NamedTuple):
    """What there is to return: how many items, and what they are called."""

    size: int
    ids: Any  # as they were given; None where ids are rows, or anything
    as_rows: bool  # whether ids must be rows, where they are not listed

    @classmethod
    def of(cls, n_gallery: Any, ids: Any, gallery_labels: Any, n_row: int | None) -> Gallery:
        """The gallery as the caller describes it; `n_row` are rows of embeddings, if there are any."""
        sizes = {"gallery": n_row}
        sizes |= {"gallery_labels": None if gallery_labels is None else len(gallery_labels)}
        sizes |= {"gallery_ids": None if ids is None else len(ids)}
        if n_gallery is not None:
            sizes["n_gallery"] = checks.positive_integer(n_gallery, "n_gallery")
        known = {name: size for name, size in sizes.items() if size is not None}
        if not known:
            raise InvalidValueError("relevant", "needs n_gallery, or gallery_ids")
        if len(set(known.values())) > 1:
            came = ", ".join(f"{name} {size}" for name, size in known.items())
            raise InvalidValueError(" and ".join(known), f"must be of one size, but are: {came}")
        return cls(next(iter(known.values())), ids, n_row is not None or gallery_labels is not None)

    def rows(self, ids: item_ids.Rows, name: str, missing: bool = True) -> Int64:
        """The row of each id, -1 where it may be missing."""
        return item_ids.gallery_rows(ids, self.ids, self.size, name, missing=missing)


def judged(
    returned: item_ids.Rows, labels: Any, gallery_labels: Any, relevant: Any, n_gallery: Any, gallery_ids: Any,
    exclude: Any, n_row: int | None,
) -> Judged:  # fmt: skip
    """Who is relevant, by labels or as it is given."""
    if (labels is None) != (gallery_labels is None) or (labels is None) == (relevant is None):
        rule = "must be given together, or relevant in place of both"
        raise InvalidValueError("labels and gallery_labels", rule)
    itself = _own_ids(exclude, len(returned.lengths))
    if relevant is not None:
        return _as_given(returned, relevant, Gallery.of(n_gallery, gallery_ids, None, n_row), itself)
    of_items = open_labels(gallery_labels, "gallery_labels")
    return _by_label(returned, labels, of_items, Gallery.of(n_gallery, gallery_ids, of_items, n_row), itself)


def _by_label(
    returned: item_ids.Rows, labels: Any, gallery_labels: Any, gallery: Gallery, itself: item_ids.Rows
) -> Judged:
    """Relevant is what has the label of the query."""
    n_query, n = len(returned.lengths), gallery.size
    query_labels = input_labels.labels(open_labels(labels, "labels"), n_query, "labels", "ids")
    item_labels = input_labels.labels(gallery_labels, n, "gallery_labels", "the gallery")
    of_query, of_item = input_labels.label_codes(query_labels, item_labels)
    codes = gallery.rows(returned, "ids", missing=False)
    own = np.full(n_query, -1)
    own[itself.row] = gallery.rows(itself, "exclude")
    total = np.where(of_query >= 0, np.bincount(of_item, minlength=1)[of_query], 0)
    total -= (own >= 0) & (of_item[own] == of_query)
    query = returned.row
    grades = np.where(codes == own[query], JUNK, of_item[codes] == of_query[query]).astype(np.int64)
    return Judged(codes, grades, np.ones(1, np.int64), n - (own >= 0), total[:, None], total[:, None])


def _as_given(returned: item_ids.Rows, relevant: Any, gallery: Gallery, itself: item_ids.Rows) -> Judged:
    """Relevant is what the caller lists."""
    listed, grade = _listed(relevant, len(returned.lengths))
    if gallery.ids is not None or gallery.as_rows:
        codes = gallery.rows(returned, "ids", missing=False)
        of_listed, of_own = gallery.rows(listed, "relevant"), gallery.rows(itself, "exclude")
    else:
        parts = [(returned.values, "ids"), (listed.values, "relevant"), (itself.values, "exclude")]
        codes, of_listed, of_own = item_ids.numbered(parts)
    own = np.full(len(returned.lengths), -1)
    own[itself.row] = of_own
    return _graded(returned.row, codes, listed.row, of_listed, grade, own, gallery.size)


def _graded(
    query: Int64, codes: Int64, of_query: Int64, of_listed: Int64, grade: Int64, own: Int64, n_gallery: int
) -> Judged:
    """The grades of returned items, and how many items of each grade there are."""
    n_query = len(own)
    kept = (grade > 0) & ((of_listed != own[of_query]) | (of_listed < 0))
    of_query, of_listed, grade = of_query[kept], of_listed[kept], grade[kept]
    grade_values = np.unique(grade) if len(grade) else np.ones(1, dtype=np.int64)
    known = of_listed >= 0
    counts = np.zeros((2, n_query, len(grade_values)), dtype=np.int64)
    number = np.searchsorted(grade_values, grade)
    np.add.at(counts[0], (of_query[known], number[known]), 1)
    np.add.at(counts[1], (of_query, number), 1)
    n_code = int(max(codes.max(initial=-1), of_listed.max(initial=-1))) + 1
    pairs, of_pair = of_query[known] * n_code + of_listed[known], grade[known]
    ascending = np.argsort(pairs)
    pairs, of_pair = np.append(pairs[ascending], -1), np.append(of_pair[ascending], 0)
    wanted = query * n_code + codes
    place = np.searchsorted(pairs[:-1], wanted)
    grades = np.where(pairs[place] == wanted, of_pair[place], 0)
    grades[codes == own[query]] = JUNK
    return Judged(codes, grades, grade_values, n_gallery - (own >= 0), *counts)


def _listed(relevant: Any, n_query: int) -> tuple[item_ids.Rows, Int64]:
    """The relevant ids of all queries, and their grades."""
    rows = list(relevant)
    if len(rows) != n_query:
        raise InvalidValueError("relevant", f"must have one entry per query, but got {len(rows)} for {n_query} queries")
    listed = item_ids.id_rows([_distinct(row) for row in rows], "relevant")
    grades = [grade for row in rows for grade in (row.values() if isinstance(row, Mapping) else ())]
    for grade in grades:
        checks.whole_number(grade, "grades in relevant", least=-(2**63), most=2**63 - 1)
    of_rows = [list(row.values()) if isinstance(row, Mapping) else [1] * len(_distinct(row)) for row in rows]
    return listed, np.array([int(grade) for row in of_rows for grade in row], dtype=np.int64)


def _distinct(row: Any) -> list[Any]:
    """The ids of one query, each once."""
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise InvalidTypeError("relevant", f"must be a collection of ids for each query, but one is {row!r}")
    return list(dict.fromkeys(row.tolist() if hasattr(row, "tolist") else row))


def _own_ids(exclude: Any, n_query: int) -> item_ids.Rows:
    """The id of each query that has one, in rows of one or none."""
    if exclude is None:
        return item_ids.Rows(np.empty(0, dtype=np.int64), np.zeros(n_query, dtype=np.int64))
    own = conversion.plain(exclude, "exclude") if hasattr(exclude, "__array__") else list(exclude)
    if len(own) != n_query or getattr(own, "ndim", 1) != 1:
        raise InvalidValueError("exclude", f"must be one id for each of the {n_query} queries, but got {len(own)}")
    none = [item is None or (not isinstance(item, str) and item == item_ids.NOTHING) for item in own]
    if isinstance(own, list):
        return item_ids.id_rows([[] if no else [item] for item, no in zip(own, none, strict=True)], "exclude")
    return item_ids.id_rows(own[:, None], "exclude").take(~np.array(none, dtype=np.bool_))
