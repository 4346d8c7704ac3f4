"""Scores of lists of different lengths, one for each query, and flat columns of scores, relevance and query.

lists, flat columns or a table ──one array each, with the query of every entry──> `keyed.profile_lists` ──> profile
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.evaluable import Origin
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.keyed import profile_lists
from deadheat.engine.ties.scores import ScoreTies
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, conversion, trec
from deadheat.inputs.labels import label_codes, labels
from deadheat.inputs.row_columns import NAMES, ColumnMap, column_of
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Array, Bool, Int64

_OF_TABLE = {  # usual names of columns
    "score": ("score", "prediction", "y_score"),
    "relevance": ("relevance", "rel", "label", "y", "y_true", "target", "grade", "rating"),
    "query": (*NAMES["query"], "group", "group_id"),
}
_LISTS = "a list for each query"


class ScoreLists(NamedTuple):
    """The scores and the gains of all lists, and the query of each of them."""

    scores: Array | None  # (n,), None for lists in rank order
    gains: Array  # (n,)
    query: Int64  # (n,)
    n_query: int
    query_ids: tuple[str, ...] | None

    @classmethod
    def of_flat(cls, scores: Any, relevant: Any, groups: Any) -> ScoreLists:
        """Return flat columns; `groups` has the id of each entry's query, or the sizes of queries in a row."""
        gains = conversion.plain(relevant, "relevant")
        flat = None if scores is None else conversion.plain(scores, "scores")
        for column, name in ((gains, "relevant"), (flat, "scores")):
            if column is not None and column.shape != (len(gains.ravel()),):
                rule = f"must be (n,) as the groups are given, but has shape {column.shape}"
                raise InvalidValueError(name, f"{rule} for {len(gains.ravel())} in relevant")
        given = conversion.plain(groups, "groups")
        if given.shape != gains.shape and given.dtype.kind in "iu":
            if given.ndim != 1 or given.sum() != len(gains) or given.min(initial=0) < 0:
                rule = "must have the query of each score, or sizes of queries that add up to all scores"
                got = f"but has shape {given.shape} and the sum {given.sum()} for {len(gains)} scores"
                raise InvalidValueError("groups", f"{rule}, {got}")
            return cls.checked(flat, gains, given.astype(np.int64), None)
        ids = labels(groups, len(gains), "groups", "scores")
        codes = label_codes(ids)[0]
        _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first))  # queries in the order in which they come
        names = tuple(str(ids[i]) for i in np.sort(first).tolist())
        return cls.checked(flat, gains, None, names)._replace(query=number[codes], n_query=len(names))

    @classmethod
    def of_table(cls, table: Any, columns: ColumnMap | None) -> ScoreLists:
        """Return the columns of a frame, or of a dictionary of columns."""
        held = list(getattr(table, "column_names", None) or getattr(table, "columns", table))
        names = column_of(held, _OF_TABLE, columns)
        return cls.of_flat(*(table[names[role]] for role in ("score", "relevance", "query")))

    @classmethod
    def of_lists(cls, scores: Any, relevant: Any) -> ScoreLists:
        """Return lists of scores and of relevance, by query or in one order; scores may be None for rank order."""
        names = None
        if isinstance(relevant, Mapping) or isinstance(scores, Mapping):
            odd = next(
                (each for each in (scores, relevant) if each is not None and not isinstance(each, Mapping)), None
            )
            if odd is not None or (scores is not None and scores.keys() != relevant.keys()):
                raise InvalidValueError("scores and relevant", "must both be dictionaries, of the same queries")
            names = tuple(trec.id_text(query, "the id of a query") for query in relevant)
            scores = None if scores is None else [scores[query] for query in relevant]
            relevant = list(relevant.values())
        gains, lengths = flattened(relevant, "relevant")
        flat = None
        if scores is not None:
            flat, of_scores = flattened(scores, "scores")
            wrong = _first_difference(of_scores, lengths)
            if wrong is not None:
                raise InvalidValueError("relevant", f"must have an entry for each score, but {wrong}")
        return cls.checked(flat, gains, lengths, names)

    @classmethod
    def checked(cls, scores: Array | None, gains: Array, lengths: Int64 | None, names: Any) -> ScoreLists:
        if not (len(gains) if lengths is None else len(lengths)):
            raise InvalidValueError("relevant", "must have at least one query, but is empty")
        if scores is not None and len(scores):
            scores = arrays.scores(scores[None], "scores")[0]
        gains = arrays.relevance(gains[None], (1, len(gains)))[0]
        lengths = np.zeros(0, dtype=np.int64) if lengths is None else lengths
        return cls(scores, gains, np.repeat(np.arange(len(lengths)), lengths), len(lengths), names)

    def counts(self, *, order: str, junk: Any, ties: Any, threads: int) -> tuple[TieProfile, Origin]:
        """Count the lists, without junk; lists in rank order have no ties."""
        checks.choice(order, ("descending", "ascending"), "order")
        rule, mask = ScoreTies.checked(ties), self._junk(junk)
        if self.scores is None and order == "ascending":
            raise InvalidValueError("order", "must be left out where relevant is in rank order, best first")
        scores = np.arange(len(self.gains), 0, -1) if self.scores is None else self.scores
        arrays.require_counted(scores, "scores", mask)
        kept = np.flatnonzero(~mask)
        kept = kept[np.argsort(self.query[kept], kind="stable")]
        gains = self.gains[kept] if self.gains.dtype.kind == "f" else self.gains[kept].astype(np.int64)
        lengths = np.bincount(self.query[kept], minlength=self.n_query)
        rule = rule if self.scores is not None else ScoreTies.checked("exact")
        profile = profile_lists(scores[kept], gains, lengths, rule, order)
        return replace(profile, query_ids=self.query_ids), Origin(tie_rule=rule.describe())

    def _junk(self, junk: Any) -> Bool:
        if junk is None:
            return np.zeros(len(self.gains), dtype=np.bool_)
        given = flattened(junk, "junk")[0] if rows_of_lists(junk) is not None else conversion.plain(junk, "junk")
        if given.shape != self.gains.shape or given.dtype != np.bool_:
            got = f"has shape {given.shape} and dtype {given.dtype}"
            raise InvalidValueError("junk", f"must have True or False for each of {len(self.gains)} scores, but {got}")
        return given


def rows_of_lists(values: Any) -> list[Any] | None:
    """Return the rows of lists of different lengths, or of any if one is empty; None for anything else."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return None
    if not isinstance(values, (list, tuple)) and (conversion.is_frame(values) or conversion.n_dim(values) != 1):
        return None
    rows = values.to_list() if hasattr(values, "to_list") else list(values)
    if not rows or not all(map(conversion.is_row, rows)):
        return None
    if any(conversion.n_dim(row) not in (None, 1) for row in rows):  # matrices, sparse ones too
        return None
    lengths = {len(row) for row in rows}
    return rows if len(lengths) > 1 or 0 in lengths else None


@names_argument
def flattened(lists: Any) -> tuple[Array, Int64]:
    """Return the numbers of all lists in one array that holds each of them, and the lengths of the lists."""
    rows = checks.listed(lists, VALUES, _LISTS)
    odd = next((row for row in rows if not conversion.is_row(row)), None)
    if odd is not None:
        raise InvalidTypeError(VALUES, f"must be {_LISTS}, but has {checks.shown(odd)} for one")
    if rows and all(isinstance(row, np.ndarray) for row in rows) and len({row.dtype for row in rows}) == 1:
        flat = np.concatenate([conversion.plain(row) for row in rows])
    else:
        parts = (row.tolist() if hasattr(row, "tolist") else row for row in rows)
        entries = [entry for row in parts for entry in row]
        flat = conversion.plain(entries) if entries else np.zeros(0, dtype=np.int64)
    if flat.ndim != 1:
        raise InvalidValueError(VALUES, f"must be {_LISTS} of numbers, but its lists hold lists")
    return flat, np.array([len(row) for row in rows], dtype=np.int64)


def _first_difference(scores: Int64, relevant: Int64) -> str | None:
    """Return the first query whose lists differ in length, for a message; None if there is none."""
    if len(scores) != len(relevant):
        return f"has {len(relevant)} lists for {len(scores)}"
    wrong = np.flatnonzero(scores != relevant)
    return f"has {relevant[wrong[0]]} for {scores[wrong[0]]} of query {wrong[0]}" if len(wrong) else None
