"""The recall of vector indexes by a published ground truth: ids and distances come in, and no vector.

What ties with the k-th nearest is decided by the distances that were published, within a tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.index_recall import ONE_INDEX, IndexRecall, Recall, require_names
from deadheat.errors import InvalidValueError
from deadheat.inputs import item_ids
from deadheat.reports.tables import count
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class TruthRecall(IndexRecall):
    """The recall of every index by its name, by a ground truth: an `IndexRecall` whose `n_base` is not known (−1).

    Attributes
    ----------
    tolerance : float
    n_cut : int
        Queries whose ground truth ends inside the tie with the k-th, so that more items may tie than it lists: an index
        that returned one of those has a higher recall than is shown.
    """

    tolerance: float
    n_cut: int

    def notes(self) -> list[str]:
        """What was compared, what ties do, and where the ground truth ends too early."""
        _, *others = super().notes()
        within = f", ties within {self.tolerance:g}" if self.tolerance else ""
        cut = (
            f"In {count(self.n_cut, 'query', 'queries')} the ground truth ends inside the tie with number {self.k}: "
            "recall is at least what is shown."
        )
        queries = count(self.n_query, "query", "queries")
        return [f"{queries}, {self.k} nearest by the ground truth{within}.", *others, *([cut] if self.n_cut else [])]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python values that JSON can hold; None where a value is undefined."""
        return {**super().to_dict(), "n_base": None, "tolerance": self.tolerance, "n_cut": self.n_cut}


@plain_floats
def index_recall_of_truth(
    returned: Any, ids: ArrayLike, distances: ArrayLike, k: int = 10, *, tolerance: float = 0.0
) -> TruthRecall:
    """Measure how many of the k nearest items an index returned, by the ids and distances of a ground truth.

    Parameters
    ----------
    returned : (n_query, k or more) integers, or a mapping of names to such
        What the index returned, best first: such ids as `ids` has; one entry for each index, or each of its settings.
        Only the first k of a row count, and the integer -1 is nothing.
    ids, distances : (n_query, depth)
        The nearest items of each query and how far they are, ascending; depth is at least k. For similarities, give
        them with the opposite sign.
    k : int
        How many neighbours are to be found.
    tolerance : float
        Items whose distance differs from that of the k-th by no more than this tie with it. ann-benchmarks takes 1e-3,
        and big-ann-benchmarks 1e-6; 0 compares the distances as they are.

    Returns
    -------
    TruthRecall

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Notes
    -----
    **Ties** count as in `deadheat.index_recall`: with c items closer than the k-th, no more than k − c of those that
    tie with it count. (big-ann-benchmarks counts the items of k groups of ties in place of k items.)

    Examples
    --------
    >>> result = index_recall_of_truth([[0, 2]], [[0, 1, 2, 3]], [[0.0, 1.0, 1.0, 5.0]], 2)
    >>> result["index"].recall, result["index"].recall_by_id
    (1.0, Triple(lower=0.5, expected=0.75, upper=1.0))
    """
    k, tolerance = checks.positive_integer(k, "k"), checks.real_number(tolerance, "tolerance", least=0)
    true, far = item_ids.id_rows(ids, "ids"), np.asarray(distances, dtype=np.float64)
    n_query = len(true.lengths)
    if far.ndim != 2 or len(far) != n_query or (true.lengths != far.shape[1]).any():
        rule = f"must have the shape of ids, but has {far.shape} where ids has {n_query} rows"
        raise InvalidValueError("distances", rule)
    if far.shape[1] < k:
        raise InvalidValueError("ids", f"must have at least k = {k} items for each query, but has {far.shape[1]}")
    wrong = np.flatnonzero(~(far[:, 1:] >= far[:, :-1]).all(axis=1) | ~np.isfinite(far).all(axis=1))
    if len(wrong):
        raise InvalidValueError(
            "distances", f"must be finite and ascend in each row, but those of row {wrong[0]} do not"
        )
    item_ids.require_distinct(true, true.values, "ids")
    gap = far - far[:, k - 1 : k]
    is_closer, is_tied = gap < -tolerance, np.abs(gap) <= tolerance
    closer, tied = is_closer.sum(axis=1), is_tied.sum(axis=1)
    indexes = returned if isinstance(returned, Mapping) else {ONE_INDEX: returned}
    require_names(indexes)
    recalls = {}
    for name, each in indexes.items():
        rows = _returned(each, f"returned[{name!r}]" if indexes is returned else "returned", n_query, k)
        place = _places(rows, true)
        row = rows.row[place >= 0]
        hits = place[place >= 0] - row * far.shape[1]
        found, of_tied = (np.bincount(row[kind[row, hits]], minlength=n_query) for kind in (is_closer, is_tied))
        recalls[name] = Recall(name, _recall(found, of_tied, closer, tied, k), rows.lengths)
    n_cut = int(np.count_nonzero(is_tied[:, -1]))
    n_tied = int(np.count_nonzero(tied > k - closer))
    return TruthRecall(recalls, k, "ground truth", n_query, -1, n_tied, tolerance, n_cut)


def _returned(ids: Any, title: str, n_query: int, k: int) -> item_ids.Rows:
    """The first k items of each row, without padding."""
    rows = item_ids.id_rows(ids, title)
    if len(rows.lengths) != n_query:
        rule = f"must have a row for each query, but has {len(rows.lengths)} for {n_query} queries"
        raise InvalidValueError(title, rule)
    rows = rows.take(item_ids.filled(rows, None, "counts"))
    item_ids.require_distinct(rows, rows.values, title)
    return rows.take(rows.place < k)


def _places(rows: item_ids.Rows, true: item_ids.Rows) -> Int64:
    """Where each item that was returned is in the ground truth of its query, counted over all rows; -1 if it is not."""
    distinct, codes = np.unique(np.concatenate([true.values, rows.values]), return_inverse=True)
    keys = np.concatenate([true.row, rows.row]) * len(distinct) + codes
    known, asked = keys[: len(true.values)], keys[len(true.values) :]
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], asked), len(known) - 1)
    return np.where(known[order][at] == asked, order[at], -1)


def _recall(found: Int64, of_tied: Int64, closer: Int64, tied: Int64, k: int) -> Triple[Float64]:
    """Lower, expected and upper over the tied items that one search may have kept."""
    kept = k - closer
    return Triple(
        (found + np.maximum(0, of_tied + kept - tied)) / k, (found + of_tied * kept / tied) / k,
        (found + np.minimum(of_tied, kept)) / k,
    )  # fmt: skip
