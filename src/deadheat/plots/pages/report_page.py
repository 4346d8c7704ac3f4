"""The page about a report: from the report, and what else is known of it, to the text of one HTML file."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from deadheat.analyses.collisions import Collisions, CollisionTable
from deadheat.analyses.comparison import Comparison, compare
from deadheat.analyses.confidence.rejecting import error_reject_curve
from deadheat.errors import InvalidTypeError
from deadheat.plots.pages import drawing
from deadheat.reports.breakdown import Breakdown, triples
from deadheat.reports.report import Report
from deadheat.reports.tables import DIGITS, TabularResult, decimals, number, percents, program, value
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

MOST_CLASSES = 10_000  # that a page holds, and a browser sorts at once
WORST = 100  # queries that the page lists
MANY = 20_000  # queries beyond which intervals of means are not drawn, but computed
_TITLE = "Evaluation report"


@plain_floats
def html_report(
    report: Report,
    other: Report | None = None,
    *,
    title: str = _TITLE,
    names: tuple[str, str] = ("A", "B"),
    confidence: ArrayLike | None = None,
    collisions: Collisions | CollisionTable | None = None,
    digits: int = DIGITS,
) -> str:
    """A page about a report: one HTML file that loads nothing from elsewhere.

    It has the lower bounds to quote, each measure's interval drawn, what ties there are, the classes in a table that
    sorts and filters, and the worst queries. It can be read on a phone, in print, in the dark, by keyboard and by ear.

    Parameters
    ----------
    report : Report
    other : Report, optional
        A second report on the same queries, to be compared with the first (`deadheat.compare`).
    title : str
    names : pair of str
        What the two are called.
    confidence : (n_query,) numbers, optional
        The model's confidence in each query, higher is surer: adds the error against the share that is rejected.
    collisions : Collisions or CollisionTable, optional
        What `deadheat.collisions` found.
    digits : int
        Decimals of values in per cent.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described.
    MissingPackageError
        Without Jinja (the extra ``html``).

    Notes
    -----
    The tables hold at most the 10,000 worst classes and the 100 worst queries, so that a page of 100,000 queries opens
    at once. With labels, a 95 % interval is over classes where `Report.interval` takes these as the units; beyond
    20,000 queries it is the normal one.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0], [1], [-1], [4]], ["a", "a", "b", "b"], distance="euclidean", measures="mAP")
    >>> page = html_report(report, title="Four points")
    >>> page.startswith("<!doctype html>"), "<h1>Four points</h1>" in page
    (True, True)
    """
    for argument, given in (("report", report), ("other", other)):
        if not isinstance(given, Report) and not (argument == "other" and given is None):
            raise InvalidTypeError(argument, f"must be a Report, but is {type(given).__name__}")
    if collisions is not None and not isinstance(collisions, (Collisions, CollisionTable)):
        raise InvalidTypeError("collisions", f"must be what deadheat.collisions found, but is {type(collisions)}")
    decimals(digits)
    classes = None if report.classes is None else report.per_class(MOST_CLASSES)
    content = {
        "title": str(title),
        "version": program(),
        "report": report,
        "headline": _headline(report, digits),
        "measures": _measures(report, digits),
        "ties": drawing.tie_sizes(report.profile),
        "classes": classes and _grid("classes", "Each class", classes, digits),
        "worst": _grid("queries", "The worst queries", report.worst(WORST), digits),
        "reject": None if confidence is None else _reject(report, confidence, digits),
        "collisions": None if collisions is None else _tabular(collisions),
        "comparison": None if other is None else _compared(compare(report, other, names=names), digits),
    }
    jinja2 = require("jinja2", "html", "an HTML report")
    loader = jinja2.PackageLoader("deadheat.plots.pages", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return str(environment.get_template("page.html").render(content))


def _headline(report: Report, digits: int) -> list[dict[str, str]]:
    form = decimals(digits)
    cards = []
    for name in report:
        result = report[name]
        lower, expected, upper = (number(100 * getattr(result, end), form) for end in Triple._fields)
        about = f"expected {expected}, at most {upper}" if lower != upper else "ties move it by less than is shown"
        about = "no tie decides" if result.lower == result.upper else about
        cards.append({"name": name, "lower": lower, "about": about})
    return cards


def _measures(report: Report, digits: int) -> list[dict[str, Any]]:
    """Each measure: its cells, and the same drawn, with the interval of its mean where that is defined."""
    results = [report[name] for name in report]
    rows = []
    for result, (lower, expected, upper) in zip(results, percents(results, digits), strict=True):
        interval = _interval(report, result.name)
        shown = "" if interval is None else f"[{', '.join(number(100 * end, decimals(digits)) for end in interval)}]"
        rows.append(
            {
                "name": result.name, "lower": lower, "expected": expected, "upper": upper, "interval": shown,
                "bar": drawing.bar(result, interval), "n_query": result.n_query,
            }
        )  # fmt: skip
    return rows


def _interval(report: Report, name: str) -> tuple[float, float] | None:
    """The 95 % interval of a mean, round both of its bounds; None where there is none."""
    many = report.n_query > MANY  # then a mean is as good as normally distributed, and draws would take minutes
    intervals = report.interval(name, method="normal" if many else None)
    low, high = intervals.lower.low, intervals.upper.high
    return (low, high) if low == low and high == high else None


def _grid(name: str, title: str, found: Breakdown, digits: int) -> dict[str, Any]:
    """A table that sorts and filters: the rows of a breakdown, column by column, each with what it is sorted by."""
    columns: list[dict[str, Any]] = [
        {"name": heading, "numeric": all(isinstance(cell, int) for cell in cells), "text": list(map(str, cells))}
        for heading, cells in found.rows.items()
    ]
    for column, cells in zip(columns, found.rows.values(), strict=True):
        column["keys"] = list(cells) if column["numeric"] else column["text"]
    for heading, values in found.per_row.items():
        columns.append(
            {
                "name": f"{heading} (%)", "numeric": True, "text": [value(each, digits) for each in triples(values)],
                "keys": [_key(each) for each in triples(values)],
            }
        )  # fmt: skip
    return {"name": name, "title": title, "columns": columns, "n": len(columns[0]["text"]), "notes": found.notes()}


def _key(triple: Triple[float]) -> float | None:
    """What a cell is sorted by: the expected value, or the lower one where there is none; None comes last."""
    key = triple.lower if math.isnan(triple.expected) else triple.expected
    return None if math.isnan(key) else round(key, 12)


def _reject(report: Report, confidence: ArrayLike, digits: int) -> dict[str, Any]:
    """The error of the first measure against the share of queries that are rejected."""
    name = next(iter(report))
    curve = error_reject_curve(report[name], confidence)
    return {"name": name, "drawing": drawing.curve(curve), **_tabular(curve, digits=digits)}


def _compared(comparison: Comparison, digits: int) -> dict[str, Any]:
    differences = [comparison[name] for name in comparison]
    return {"names": comparison.names, "bars": drawing.differences(differences), **_tabular(comparison, digits=digits)}


def _tabular(result: TabularResult, **options: Any) -> dict[str, Any]:
    return {"tables": result.tables(**options), "notes": result.notes()}
