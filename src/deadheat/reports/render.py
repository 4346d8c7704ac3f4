"""A report as text: the only place where fractions become per cent.

In comes a `Report`; out go a plain table, a Markdown table, and the sentences under them. Plain ASCII, so that no
terminal can choke on it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deadheat.reports.summary import Report

_FEWEST_DIGITS, _MOST_DIGITS = 2, 6


def text(report: Report, *, std: bool = False) -> str:
    """The report as a plain table with a few sentences below."""
    return "\n".join([*plain_table(_cells(report, std)), "", *sentences(report)])


def markdown(report: Report, *, std: bool = False) -> str:
    """The report as a Markdown table with a few sentences below."""
    return "\n".join([*markdown_table(_cells(report, std)), "", *sentences(report)]) + "\n"


def plain_table(rows: list[list[str]]) -> list[str]:
    """Lines of a plain table: the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def markdown_table(rows: list[list[str]]) -> list[str]:
    """Lines of a Markdown table, of which the first row is the header."""
    header, *others = rows
    rule = [":--", *("--:" for _ in header[1:])]
    return [f"| {' | '.join(row)} |" for row in (header, rule, *others)]


def sentences(report: Report) -> list[str]:
    """What a reader has to know beside the numbers: the queries that count, and the ties."""
    undefined = [
        f"{name} is undefined for {count(report[name].n_undefined, 'query', 'queries')} with a relevant item, "
        "left out of its mean."
        for name in report.measures
        if report[name].n_undefined
    ]
    return [_about_queries(report), *undefined, _about_ties(report)]


def _cells(report: Report, std: bool) -> list[list[str]]:
    columns = ["lower", "expected", "upper"]
    values = [[100 * getattr(report[name], column) for column in columns] for name in report.measures]
    fixed = f".{digits(values)}f"
    rows = [
        [name, *(number(value, fixed) for value in row), *([number(100 * report[name].std, ".3g")] if std else [])]
        for name, row in zip(report.measures, values, strict=True)
    ]
    return [["measure (%)", *columns, *(["std"] if std else [])], *rows]


def number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def digits(rows: list[list[float]]) -> int:
    """The fewest digits that still tell lower from upper wherever they differ."""
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        if all(row[0] == row[2] or f"{row[0]:.{digits}f}" != f"{row[2]:.{digits}f}" for row in rows):
            return digits
    return _MOST_DIGITS


def _about_queries(report: Report) -> str:
    queries = count(report.n_query, "query", "queries")
    mean = f" Means are over {count(report.n_class, 'class', 'classes')}." if report.n_class is not None else ""
    if not report.n_singleton:
        return f"{queries}, each with a relevant item.{mean}"
    some = "a singleton" if report.n_singleton == 1 else "singletons"
    treated = {
        "skip": "left out of the means",
        "zero": "counted as 0",
        "one": "counted as 100 %",
        "balanced": "counted as 0 in measures of precision and 100 % in those of recall",
    }[report.singletons]
    return f"{queries}, {report.n_singleton} of them without a relevant item ({some}) and {treated}.{mean}"


def _about_ties(report: Report) -> str:
    ties, where = report.ties, ", ".join(part for part in (report.distance, report.tie_rule) if part)
    subject = f"Ties ({where})" if where else "Ties"
    if report.profile.bounds_only:
        return f"{subject}: every relevant item may move by the tolerance, either way; that has no expectation."
    if not ties.mixed_groups:
        return f"{subject}: none decides anything, so lower, expected and upper are one value."
    groups = count(ties.mixed_groups, "mixed tie group", "mixed tie groups")
    size = f"of {ties.largest} items" if ties.mixed_groups == 1 else f"the largest of {ties.largest} items"
    return f"{subject}: {groups} in {count(ties.queries, 'query', 'queries')}, {size}."


def count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"
