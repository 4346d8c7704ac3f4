"""Tables that sort and filter: columns of cells as people read them, each with what it is sorted by."""

from __future__ import annotations

import math
from typing import Any

from deadheat.reports import Report
from deadheat.reports.breakdown import Breakdown
from deadheat.reports.tables import value
from deadheat.support.triple import Triple

MOST_CLASSES = 10_000  # that a page holds, and a browser sorts at once


def of_classes(report: Report, digits: int) -> dict[str, Any]:
    """The classes, worst first."""
    found = report.per_class(MOST_CLASSES)
    return _grid("classes", "Each class", found, digits)


def of_queries(report: Report, n: int, digits: int) -> dict[str, Any]:
    """The worst queries."""
    return _grid("queries", "The worst queries", report.worst(n), digits)


def _grid(name: str, title: str, found: Breakdown, digits: int) -> dict[str, Any]:
    """The rows of a breakdown, column by column."""
    columns: list[dict[str, Any]] = [
        {"name": heading, "numeric": all(isinstance(cell, int) for cell in cells), "text": list(map(str, cells))}
        for heading, cells in found.rows.items()
    ]
    for column, cells in zip(columns, found.rows.values(), strict=True):
        column["keys"] = list(cells) if column["numeric"] else column["text"]
    for heading, values in found.per_row.items():
        triples = [Triple(*each) for each in zip(*(row.tolist() for row in values), strict=True)]
        columns.append(
            {
                "name": f"{heading} (%)", "numeric": True, "text": [value(each, digits) for each in triples],
                "keys": [_key(each) for each in triples],
            }
        )  # fmt: skip
    return {"name": name, "title": title, "columns": columns, "n": len(columns[0]["text"]), "notes": found.notes()}


def _key(triple: Triple[float]) -> float | None:
    """What a cell is sorted by: the expected value, or the lower one where there is none; None comes last."""
    key = triple.lower if math.isnan(triple.expected) else triple.expected
    return None if math.isnan(key) else round(key, 12)
