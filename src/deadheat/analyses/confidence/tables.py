"""What the results here show alike: plain values, rows of lower, expected and upper, a sentence about the queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deadheat.reports import render
from deadheat.reports.tables import Table, TabularResult, plain
from deadheat.support.triple import Triple


def plain_values(result: TabularResult, names: Iterable[str]) -> dict[str, Any]:
    """Some values of a result by name, as JSON can hold them; triples by their names, None where one is undefined."""
    values = {name: getattr(result, name) for name in names}
    return {name: plain(value._asdict() if isinstance(value, Triple) else value) for name, value in values.items()}


def table_of_triples(title: str, rows: Mapping[str, Triple[float]]) -> Table:
    """A row for each name, in per cent."""
    values = {name: [100 * value for value in triple] for name, triple in rows.items()}
    fixed = f".{render.digits([row for row in values.values() if not math.isnan(row[0])])}f"
    cells = [[name, *(render.number(value, fixed) for value in row)] for name, row in values.items()]
    return Table((f"{title} (%)", *Triple._fields), cells)


def columns_of_triples(title: str, rows: Mapping[str, Triple[float]]) -> dict[str, Sequence[Any]]:
    """The same rows as columns of fractions."""
    values = {bound: [getattr(triple, bound) for triple in rows.values()] for bound in Triple._fields}
    return {title: list(rows), **values}


def about_queries(n_query: int, n_left_out: int, n_open: int) -> str:
    """How many queries count, how many have no value, and how many values distance ties leave open."""
    left_out = f", and {n_left_out} without a value, left out" if n_left_out else ""
    is_open = f" Distance ties leave {render.count(n_open, 'value', 'values')} open." if n_open else ""
    return f"{render.count(n_query, 'query', 'queries')}{left_out}.{is_open}"
