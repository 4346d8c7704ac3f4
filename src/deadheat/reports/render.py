"""Numbers and counts as people read them, and the sentences below a report: fractions become per cent here.

Plain ASCII, so that no terminal can choke on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from deadheat.profiles import Ties as TieCounts
from deadheat.reports.tables import Table, TabularResult
from deadheat.support.triple import Triple

_FEWEST_DIGITS, _MOST_DIGITS = 2, 6


def percents(results: Iterable[Any]) -> list[list[str]]:
    """Cells for lower, expected and upper of each result in per cent, all with as many digits.

    Examples
    --------
    >>> percents([Triple(0.5, math.nan, 1.0)])
    [['50.00', '-', '100.00']]
    """
    rows = [[100 * getattr(result, name) for name in Triple._fields] for result in results]
    fixed = f".{digits(rows)}f"
    return [[number(value, fixed) for value in row] for row in rows]


def number(value: float, form: str) -> str:
    """A number in a format of Python's, or a dash where it is undefined."""
    return "-" if math.isnan(value) else format(value, form)


def digits(rows: Sequence[Sequence[float]]) -> int:
    """The fewest digits that still tell lower from upper wherever they differ."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        if all(row[0] == row[2] or f"{row[0]:.{digits}f}" != f"{row[2]:.{digits}f}" for row in rows):
            return digits
    return _MOST_DIGITS


def count(n: int, singular: str, plural: str) -> str:
    """How many of what.

    Examples
    --------
    >>> count(1, "query", "queries"), count(2, "query", "queries")
    ('1 query', '2 queries')
    """
    return f"{n} {singular if n == 1 else plural}"


def about_queries(n_query: int, n_singleton: int, n_class: int | None, singletons: str) -> str:
    """How many queries there are, and which of them count."""
    queries = count(n_query, "query", "queries")
    mean = "" if n_class is None else f" Means are over {count(n_class, 'class', 'classes')}."
    if not n_singleton:
        return f"{queries}, each with a relevant item.{mean}"
    noun = "a singleton" if n_singleton == 1 else "singletons"
    treated = {
        "skip": "left out of the means",
        "zero": "counted as 0",
        "one": "counted as 100 %",
        "balanced": "counted as 0 in measures of precision and 100 % in those of recall",
    }[singletons]
    return f"{queries}, {n_singleton} of them without a relevant item ({noun}) and {treated}.{mean}"


def about_ties(ties: TieCounts, distance: str | None, rule: str | None, *, bounds_only: bool) -> str:
    """What the ties decide, by the distance and the rule where these are known."""
    where = ", ".join(filter(None, (distance, rule)))
    subject = f"Ties ({where})" if where else "Ties"
    if bounds_only:
        return f"{subject}: every relevant item may move by the tolerance, either way; that has no expectation."
    if not ties.mixed_groups:
        return f"{subject}: none decides anything, so lower, expected and upper are one value."
    groups = count(ties.mixed_groups, "mixed tie group", "mixed tie groups")
    size = f"of {ties.largest} items" if ties.mixed_groups == 1 else f"the largest of {ties.largest} items"
    return f"{subject}: {groups} in {count(ties.queries, 'query', 'queries')}, {size}."


def plain_table(rows: list[list[str]]) -> list[str]:
    """Lines of a plain table, of which the first row is the header."""
    return Table(rows[0], rows[1:]).to_text().split("\n")


def sentences(report: TabularResult) -> list[str]:
    """What a reader has to know beside the numbers of a report."""
    return report.notes()
