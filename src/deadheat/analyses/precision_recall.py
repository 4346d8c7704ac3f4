"""Precision–recall curves, with bounds over all ways to break ties: in come tie profiles, out go curves.

The curve of one query has the precision at each relevant item. The a-th of m relevant items in a group of l, with k
items closer and n of these relevant, is at rank k + l - m + a in the worst order, at k + a in the best, and in a random
order at k + i with the chance of a negative hypergeometric distribution,

    P(i) = C(i - 1, a - 1) C(l - i, m - a) / C(l, m),    i = a .. l - m + a,

and the precision there is (n + a) / rank. Over many queries recalls differ, so that precisions are
taken at common recalls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from deadheat.engine.evaluable import Evaluable, profile_of_task, require_judged
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import UndefinedError
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.measures.first_last_hit import reciprocal_moments
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.report import Report
from deadheat.reports.tables import count
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_means
from deadheat.support.triple import Triple

_UNKNOWN = "Expected: not known for maxima over groups so large, or behind a cut; interpolate=False has the former."
_CUT = "Expected: not known where it depends on what was not returned, or under a tolerance."
_NEGLIGIBLE = 2.0**-80  # of the likeliest place: chances fall ever faster, and what is left cannot change a digit


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
    task: Evaluable | TieProfile | Report, query: int | None = None, *, levels: int = 11, interpolate: bool = True
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
        For the mean: at each recall, the precision of a query is the largest at any relevant item that reaches this
        recall or a higher one [2]_. If false, it is that at the first relevant item that reaches it, whose expectation
        is quick and always known.

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
    lower, expected, upper = _precisions(profile, query, hits)
    recalls = hits / len(hits)
    return PrecisionRecall(recalls, lower, expected, upper, query, False, n_query)


def _means_reached(profile: TieProfile, queries: Int64, levels: int) -> Float64:
    """Return lower, expected and upper mean precision where queries first reach each recall, (3, levels)."""
    hits = -(-np.arange(levels)[:, None] * profile.n_relevant[queries] // (levels - 1))  # r R, rounded up
    hits = np.maximum(hits, 1)
    values = np.empty((3, levels, len(queries)))
    for column, query in enumerate(queries.tolist()):
        values[:, :, column] = _precisions(profile, query, hits[:, column])
    return np.array([exact_means(Triple(*of_level)) for of_level in values.transpose(1, 0, 2)]).T


def _precisions(profile: TieProfile, query: int, hits: Int64) -> Float64:
    """Return lower, expected and upper precision of a query at some of its relevant items, from 1: (3, n_hit).

    It is 0 at a relevant item that was not retrieved. Beyond the cut of a ranking, ranks are unknown, and expectations
    are NaN.
    """
    group = slice(profile.offsets[query], profile.offsets[query + 1])
    first, last = profile.closer_relevant[group], profile.closer_relevant[group] + profile.tied_relevant[group]
    values = np.zeros((3, len(hits)))
    for column, (hit, number) in enumerate(zip(hits.tolist(), np.searchsorted(last, hits).tolist(), strict=True)):
        if number < len(last):  # else it was not retrieved
            at = group.start + number
            k, tied, m = (int(each[at]) for each in (profile.closer, profile.tied, profile.tied_relevant))
            a = hit - int(first[number])
            lower, upper = hit / (k + tied - m + a), hit / (k + a)
            cut = profile.n_ordered is not None and k >= profile.n_ordered[query] and lower < upper
            unknown = profile.bounds_only or cut
            expected = math.nan if unknown else min(max(hit * expected_reciprocal(k, tied, m, a), lower), upper)
            values[:, column] = lower, expected, upper
    return values


@lru_cache(maxsize=2**14)
def expected_reciprocal(k: int, tied: int, m: int, a: int) -> float:
    """Return the mean of 1/rank of the a-th of m relevant items in a random order of `tied` items behind k others.

    Probabilities are products of the ratios of neighbours, outwards from about the most likely rank as far as they can
    change the last digit, divided by their sum.
    """
    if m == 1:
        return float(reciprocal_moments(*np.array([[k], [tied], [tied]]))[0, 0])
    others = tied - m
    likely = min((a - 1) * others // max(1, m - 1), others)  # irrelevant items in front of it
    below, above = _chances(likely, -1, others, m, a), _chances(likely, 1, others, m, a)
    chance = np.concatenate([below[::-1], [1.0], above])
    reciprocals = chance / (k + a + np.arange(likely - len(below), likely + len(above) + 1))
    return float(np.add.accumulate(reciprocals)[-1] / np.add.accumulate(chance)[-1])  # one order of adding everywhere


def _chances(likely: int, step: int, others: int, m: int, a: int) -> Float64:
    """Return the probabilities of the places on one side of the likely one, relative to that of the likely one."""
    parts, last, at, size = [], 1.0, likely, 64
    end = others if step > 0 else 0
    while at != end and last > _NEGLIGIBLE:
        stop = min(at + size, end) if step > 0 else max(at - size, end)
        before = np.arange(min(at, stop), max(at, stop))  # of the ratios of each place to the one before it
        ratio = (a + before) * (others - before) / ((before + 1.0) * (m - a + others - before))
        parts.append(last * np.multiply.accumulate(ratio if step > 0 else 1 / ratio[::-1]))
        last, at, size = float(parts[-1][-1]), stop, 2 * size
    return np.concatenate(parts) if parts else np.empty(0)
