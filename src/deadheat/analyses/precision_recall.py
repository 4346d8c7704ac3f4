"""Precision–recall curves, with bounds over all ways to break ties: in come tie profiles, out go curves.

The curve of one query has the precision at each relevant item. The a-th of m relevant items in a group of l, with k
items closer and n of these relevant, is at rank k + l - m + a in the worst order, at k + a in the best, and in a random
order at k + i with the chance of a negative hypergeometric distribution,

    P(i) = C(i - 1, a - 1) C(l - i, m - a) / C(l, m),    i = a .. l - m + a,

and the precision there is (n + a) / rank. Over many queries recalls differ, so that precisions are
taken at common recalls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import deadheat._core as _core
from deadheat.engine.evaluable import Evaluable, profile_of_task, require_judged
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import UndefinedError
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.measures.first_last_hit import reciprocal_moments
from deadheat.measures.groups import distinct
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.report import Report
from deadheat.reports.tables import count
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64, offsets_of, pieces
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_means
from deadheat.support.triple import Triple

_UNKNOWN = "Expected: not known for maxima over groups so large, or behind a cut; interpolate=False has the former."
_CUT = "Expected: not known where it depends on what was not returned, or under a tolerance."


@dataclass(frozen=True, eq=False)
class PrecisionRecall(Answer):
    """A precision–recall curve; all values are fractions in [0, 1].

    Attributes
    ----------
    recall : (n,) float64
        Ascending.
    lower, expected, upper : (n,) float64
        The precision at each recall. **Ties:** each is over all ways to break them; each bound is reached by one order,
        the same for all recalls of a query. **Undefined:** the expected value of an interpolated precision is NaN where
        it is for one query: where groups are too large for the distribution of a maximum (the measure IPrec), where it
        depends on what an index did not return, and under a tolerance.
    query : int or None
        The query; None for the mean over queries.
    interpolated : bool
        True if each precision is the best at its recall or beyond.
    n_query : int
        Queries that have a relevant item; the others have no curve.
    """

    recall: Float64
    lower: Float64
    expected: Float64
    upper: Float64
    query: int | None
    interpolated: bool
    n_query: int

    def panels(self) -> list[Panel]:
        """Return one table with a row for each recall."""
        points = [Triple(*row) for row in np.column_stack([self.lower, self.expected, self.upper]).tolist()]
        recall = Column("recall", self.recall.tolist(), "fraction", form=".4g")
        return [Panel([recall, Column("", points, "fraction", "precision", "bounds")], key="curve", by_name=False)]

    def notes(self) -> list[str]:
        """Return a note on the queries of the curve, and on interpolation."""
        if self.query is not None:
            return [f"Precision (%) at the {len(self.recall)} relevant items of query {self.query}, not interpolated."]
        what = "the best at that recall or beyond" if self.interpolated else "where that recall is first reached"
        notes = [f"Precision (%): {what}, mean over {count(self.n_query, 'query', 'queries')}."]
        if np.isnan(self.expected).any():
            notes.append(_UNKNOWN if self.interpolated else _CUT)
        return notes

    def facts(self) -> dict[str, Any]:
        return self._facts_of("query", "n_query", "interpolated")


@plain_floats
def precision_recall(
    task: Evaluable | TieProfile | Report, query: int | None = None, *, levels: int = 11, interpolate: bool = False
) -> PrecisionRecall:
    """Return precision against recall, with bounds over all tie-breakings, of one query or as a mean over queries.

    Parameters
    ----------
    task : Task, TieProfile or Report
        Of binary relevance, or of grades, where every grade above 0 is relevant.
    query : int, optional
        The curve of this query, counted from 0: the precision at each of its R relevant items, at recalls 1/R to 1,
        not interpolated [1]_. By default the mean over the queries.
    levels : int
        For the mean: the number of recalls, equally spaced from 0 to 1. 11 are usual in retrieval, 101 in detection.
    interpolate : bool
        For the mean: by default, the precision of a query at a recall is that at the first relevant item that reaches
        it, whose expectation is quick and always known. If true, it is the largest at any relevant item that reaches
        this recall or a higher one [2]_; the expectation of this maximum may be NaN or take minutes if many items tie.

    Returns
    -------
    PrecisionRecall
        **Ties:** lower, expected and upper over all ways to break them, of each precision; the mean over the recalls of
        one query is its AP. **Undefined:** queries without a relevant item have no curve, and are left out of the
        mean. A relevant item that was not retrieved has precision 0.

    Raises
    ------
    UndefinedError
        If the query, or every query, has no relevant item.

    References
    ----------
    .. [1] Nicolaou et al. 2018, arXiv:1806.07171, equation 2.
    .. [2] Manning, Raghavan, Schütze 2008, Introduction to Information Retrieval, section 8.4.

    Examples
    --------
    One relevant item is nearest; the other is tied with two irrelevant ones, so that it is at rank 2, 3 or 4:

    >>> from deadheat import TieProfile
    >>> profile = TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 3, 1)]], n_ranked=[5])
    >>> print(precision_recall(profile, 0))
    recall (%)  precision, lower  precision, expected  precision, upper
    50                    100.00               100.00            100.00
    100                    50.00                72.22            100.00
    <BLANKLINE>
    Precision (%) at the 2 relevant items of query 0, not interpolated.
    """
    profile = (
        require_judged(task.profile)
        if isinstance(task, Report)
        else profile_of_task(task, "a Task, a TieProfile or a Report")
    )
    levels = checks.whole_number(levels, "levels", 2, 10**6 + 1)
    has_relevant = profile.n_relevant > 0
    n_query = int(np.count_nonzero(has_relevant))
    if query is None:
        if not n_query:
            raise UndefinedError("no query has a relevant item, so that there is no curve")
        recalls = np.arange(levels) / (levels - 1)
        if checks.flag(interpolate, "interpolate"):
            # Recalls with six decimals start at the same relevant items: shares of R that are no integers are at least
            # 1/(levels - 1) above one, and R/10^6 is less for all R that rank measures are asked of.
            asked = (f"IPrec@{level * 10**6 // (levels - 1) / 10**6:.6f}" for level in range(levels))
            curves = (measure_values.per_query(profile, measure_names.parse(name)) for name in asked)
            means = np.array([exact_means(values) for values in curves]).T
        else:
            means = _means_reached(profile, np.flatnonzero(has_relevant), levels)
        lower, expected, upper = means
        return PrecisionRecall(recalls, lower, expected, upper, None, bool(interpolate), n_query)
    query = checks.whole_number(query, "query", most=profile.n_query - 1)
    if not has_relevant[query]:
        raise UndefinedError(f"query {query} has no relevant item, so that it has no curve")
    hits = np.arange(1, profile.n_relevant[query] + 1)
    lower, expected, upper = _precisions(profile[query], np.zeros_like(hits), hits)
    recalls = hits / len(hits)
    return PrecisionRecall(recalls, lower, expected, upper, query, False, n_query)


def _means_reached(profile: TieProfile, queries: Int64, levels: int) -> Float64:
    """Return lower, expected and upper mean precision where queries first reach each recall, (3, levels)."""
    hits = -(-np.arange(levels)[:, None] * profile.n_relevant[queries] // (levels - 1))  # r R, rounded up
    values = _precisions(profile, np.tile(queries, levels), np.maximum(hits, 1).ravel())
    return np.array([exact_means(Triple(*of_level)) for of_level in values.reshape(3, levels, -1).transpose(1, 0, 2)]).T


def _precisions(profile: TieProfile, query: Int64, hits: Int64) -> Float64:
    """Return lower, expected and upper precision of queries at one relevant item each, from 1: (3, n).

    It is 0 at a relevant item that was not retrieved. Beyond the cut of a ranking, ranks are unknown, and expectations
    are NaN.
    """
    running, values = offsets_of(profile.tied_relevant), np.zeros((3, len(hits)))
    at = np.searchsorted(running[1:], running[profile.offsets[query]] + hits)
    retrieved = np.flatnonzero(at < profile.offsets[query + 1])
    at, hits, query = at[retrieved], hits[retrieved], query[retrieved]
    k, tied, m = profile.closer[at], profile.tied[at], profile.tied_relevant[at]
    a = hits - profile.closer_relevant[at]
    lower, upper = hits / (k + tied - m + a), hits / (k + a)
    expected = lower.copy()
    open_ = np.flatnonzero(lower < upper)
    expected[open_] = hits[open_] * expected_reciprocals(k[open_], tied[open_], m[open_], a[open_])
    expected = np.minimum(np.maximum(expected, lower), upper)
    if profile.n_ordered is not None:
        expected[(k >= profile.n_ordered[query]) & (lower < upper)] = np.nan
    if profile.bounds_only:
        expected[:] = np.nan
    values[:, retrieved] = lower, expected, upper
    return values


def expected_reciprocals(k: Int64, tied: Int64, m: Int64, a: Int64) -> Float64:
    """Return the mean of 1/rank of the a-th of m relevant items in a random order of `tied` items behind k others."""
    one, number = distinct(k, tied, a, m)  # like groups one after the other
    k, tied, m, a = (each[one] for each in (k, tied, m, a))
    values = np.empty(len(one))
    for some in pieces(tied):
        _core.expected_reciprocals(k[some], tied[some], m[some], a[some], values[some])
    single = m == 1
    values[single] = reciprocal_moments(k[single], tied[single], tied[single])[0]
    return values[number]
