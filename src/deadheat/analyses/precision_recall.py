"""Precision against recall: in come tie profiles, out go curves with the band that ties leave.

Of one query, the precision at each relevant item. The a-th of m relevant items in a group of l, with k items closer and
n of these relevant, is at rank k + l - m + a in the worst order, at k + a in the best, and in a random order at k + i
with the chance of a negative hypergeometric distribution,

    P(i) = C(i - 1, a - 1) C(l - i, m - a) / C(l, m),    i = a .. l - m + a,

and the precision there is (n + a) / rank. Over many queries recalls differ, so that precisions are
taken at common recalls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import UndefinedError
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.reports.report import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, columns_of_values, count, plain, program
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class PrecisionRecall(TabularResult):
    """A precision–recall curve; all values are fractions in [0, 1].

    Attributes
    ----------
    recall : (n,) float64
        Ascending.
    lower, expected, upper : (n,) float64
        The precision at each recall. **Ties:** each is over all ways to break them; the ends of the band are reached by
        two orders, one for all recalls of a query. **Undefined:** the expected value of an interpolated precision is
        NaN where groups are too large for the distribution of a maximum (the measure IPrec).
    query : int or None
        The query; None for the mean over queries.
    interpolated : bool
        Whether precisions are the best from a recall on.
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

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """A row for each recall, in per cent."""
        points = [Triple(*row) for row in zip(self.lower, self.expected, self.upper, strict=True)]
        names, rows = columns_of_values(points, digits)
        head = ["recall (%)", *(f"{name} precision" for name in names)]
        return [Table(head, [[f"{100 * recall:.4g}", *row] for recall, row in zip(self.recall, rows, strict=True)])]

    def notes(self) -> list[str]:
        """Whose curve it is, and whether it is interpolated."""
        if self.query is not None:
            return [f"Precision (%) at the {len(self.recall)} relevant items of query {self.query}, not interpolated."]
        what = "the best at that recall or beyond" if self.interpolated else "where that recall is first reached"
        notes = [f"Precision (%): {what}, mean over {count(self.n_query, 'query', 'queries')}."]
        if np.isnan(self.expected).any():
            notes.append("Expected: not known for maxima over groups so large; interpolate=False has it.")
        return notes

    def to_dict(self) -> dict[str, Any]:
        of_whom = {"query": self.query, "n_query": self.n_query, "interpolated": self.interpolated}
        return {"deadheat": program(), **of_whom, **{name: plain(each) for name, each in self.columns().items()}}

    def columns(self) -> dict[str, list[Any]]:
        return {name: getattr(self, name).tolist() for name in ("recall", "lower", "expected", "upper")}


@plain_floats
def precision_recall(
    profile: TieProfile | Report, query: int | None = None, *, levels: int = 11, interpolate: bool = True
) -> PrecisionRecall:
    """Precision against recall with the band that ties leave, of one query or as a mean over queries.

    Parameters
    ----------
    profile : TieProfile or Report
        Of binary relevance, or of grades, where every grade above 0 is relevant.
    query : int, optional
        The curve of this query, counted from 0: the precision at each of its R relevant items, at recalls 1/R to 1,
        not interpolated [1]_. By default the mean over the queries.
    levels : int
        Of the mean: recalls, equally spaced from 0 to 1. 11 are usual in retrieval, 101 in detection.
    interpolate : bool
        Of the mean: at each recall, the precision of a query is the largest at any relevant item that reaches this
        recall or a higher one [2]_. If not, it is that at the first relevant item that reaches it, whose expectation is
        quick and always known.

    Returns
    -------
    PrecisionRecall
        **Ties:** lower, expected and upper over all ways to break them, of each precision; the mean over the recalls of
        one query is its AP. **Undefined:** queries without a relevant item have no curve, and are left out of the
        mean. A relevant item that was not retrieved has precision 0.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If an argument breaks its rule.
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
    recall (%)  lower precision  expected precision  upper precision
    50                   100.00              100.00           100.00
    100                   50.00               72.22           100.00
    <BLANKLINE>
    Precision (%) at the 2 relevant items of query 0, not interpolated.
    """
    profile = profile.profile if isinstance(profile, Report) else profile
    levels = checks.whole_number(levels, "levels", least=2)
    asking = profile.n_relevant > 0
    n_query = int(np.count_nonzero(asking))
    if query is None:
        if not n_query:
            raise UndefinedError("no query has a relevant item, so that there is no curve")
        recalls = np.arange(levels) / (levels - 1)
        if interpolate:
            # Recalls with six decimals start at the same relevant items: shares of R that are no integers are at least
            # 1/(levels - 1) above one, and R/10^6 is less for all R that rank measures are asked of.
            asked = (f"IPrec@{level * 10**6 // (levels - 1) / 10**6:.6f}" for level in range(levels))
            found = (measure_values.per_query(profile, measure_names.parse(name)) for name in asked)
            means = np.array([[exact_mean(values) for values in bounds] for bounds in found]).T
        else:
            means = _means_reached(profile, np.flatnonzero(asking), levels)
        lower, expected, upper = means
        return PrecisionRecall(recalls, lower, expected, upper, None, bool(interpolate), n_query)
    query = checks.whole_number(query, "query", most=profile.n_query - 1)
    if not asking[query]:
        raise UndefinedError(f"query {query} has no relevant item, so that it has no curve")
    lower, expected, upper = _precisions(profile, query)
    recalls = np.arange(1, len(lower) + 1) / len(lower)
    return PrecisionRecall(recalls, lower, expected, upper, query, False, n_query)


def _means_reached(profile: TieProfile, queries: NDArray[np.int64], levels: int) -> Float64:
    """Lower, expected and upper, (3, levels): the mean precision of some queries where each recall is first reached."""
    values = np.empty((3, levels, len(queries)))
    for number, query in enumerate(queries.tolist()):
        of_query = _precisions(profile, query)
        first = -(-np.arange(levels) * of_query.shape[1] // (levels - 1))  # r R, rounded up
        values[:, :, number] = of_query[:, np.maximum(first, 1) - 1]
    return np.array([[exact_mean(row) for row in rows] for rows in values])


def _precisions(profile: TieProfile, query: int) -> Float64:
    """Lower, expected and upper precision, (3, R), at the relevant items of a query."""
    group = slice(profile.offsets[query], profile.offsets[query + 1])
    columns = profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant
    values = np.zeros((3, int(profile.n_relevant[query])))
    for k, n, tied, m in zip(*(column[group].tolist() for column in columns), strict=True):
        hit = np.arange(1, m + 1)
        reciprocals = 1 / (k + tied - m + hit), expected_reciprocals(k, tied, m), 1 / (k + hit)
        lower, expected, upper = ((n + hit) * each for each in reciprocals)
        values[:, n : n + m] = lower, np.clip(expected, lower, upper), upper
    return values


@lru_cache(maxsize=2**12)
def _expected_reciprocal(k: int, tied: int, m: int, a: int) -> float:
    """The mean of 1/rank of the a-th of m relevant items in a random order of so many tied, behind k others.

    Chances are taken from the ratios of neighbours, outwards from about the most likely rank, and divided by their sum.
    """
    others = tied - m
    between = np.arange(others)  # irrelevant items in front of it, and one more
    ratio = (a + between) * (others - between) / ((between + 1.0) * (m - a + others - between))
    likely = (a - 1) * others // max(1, m - 1)
    chance = np.ones(others + 1)
    chance[likely + 1 :] = np.multiply.accumulate(ratio[likely:])
    chance[:likely] = np.multiply.accumulate(1 / ratio[:likely][::-1])[::-1]
    reciprocals = chance / (k + a + np.arange(others + 1))
    return float(np.add.accumulate(reciprocals)[-1] / np.add.accumulate(chance)[-1])  # one order of adding everywhere


def expected_reciprocals(k: int, tied: int, m: int) -> Float64:
    """The mean of 1/rank of each relevant item of a group, (m,), in the order in which they come."""
    if tied == m:
        return 1 / (k + np.arange(1.0, m + 1))
    return np.array([_expected_reciprocal(k, tied, m, a) for a in range(1, m + 1)])
