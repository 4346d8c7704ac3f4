"""Values of one system that are no report, in the form in which two systems are compared: a value for each unit.

In come the recall of an index, a hash look-up, pooled scores, or plain arrays; out go `UnitValues`, which
`deadheat.compare` takes as it takes a `Report`. Each of these results has a method `_unit_values` that makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.measures.family import Measure
from deadheat.measures.names import parse
from deadheat.reports.averaging import Averaging
from deadheat.reports.statistics.intervals import vector
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.caching import cached_property
from deadheat.support.triple import Triple


class PerUnit(NamedTuple):
    """The values of one measure, (n,) each; NaN for a unit without a value."""

    per_query: Triple[Float64]


@runtime_checkable
class HasUnits(Protocol):
    """A result that has a value for each unit."""

    def _unit_values(self) -> UnitValues: ...


@dataclass(frozen=True, eq=False)
class UnitValues:
    """The values of each unit by measure; it has the attributes of a `Report` that a comparison reads.

    Attributes
    ----------
    measures : tuple of str
        Those that a table shows.
    n_query : int
        The number of units, or of the items that the units group.
    known : tuple of str
        The names that may be asked for, for messages.
    settings : mapping of str to value
        Facts that must be the same in two systems, such as the number of neighbours.
    unit : {"query", "item"}
    labels : (n,) integers, optional
        The group of each item. Whole groups are then the units.
    name : str
        The name of the system; empty for none.
    n_answered : int
        Units for which the system returned anything.
    """

    _values: Callable[[str], Triple[Float64]] = field(repr=False)
    measures: tuple[str, ...]
    n_query: int
    known: tuple[str, ...]
    settings: Mapping[str, Any]
    unit: str = "query"
    labels: Int64 | None = None
    name: str = ""
    n_answered: int = 1
    _most: Callable[[str], float] = field(default=lambda _: 1.0, repr=False)

    average = "query"
    rel = None
    remarks = ()

    def __getitem__(self, name: str) -> PerUnit:
        return PerUnit(self._values(self._own_name(name)))

    def most(self, name: str) -> float:
        """Return the largest possible difference of two systems in one unit: 1 for fractions."""
        return self._most(self._own_name(name))

    def measure(self, name: str) -> Measure:
        """Return a measure of that name, a fraction of which more is better: its unit and direction alone count."""
        return replace(parse("R-Precision"), name=name)

    def _about_weights(self) -> list[str]:
        return []

    def _own_name(self, name: str) -> str:
        return checks.choice(name, self.known, "measure")

    def _names(self, measures: str | Iterable[str]) -> tuple[str, ...]:
        """Return the names of measures that are asked for."""
        several = measures.split(",") if isinstance(measures, str) else checks.listed(measures, "measures", "names")
        return tuple(dict.fromkeys(self._own_name(each.strip()) for each in several))

    @cached_property
    def _averaging(self) -> Averaging:
        return Averaging("query", self.n_query, self.labels, self.labels is None)

    @property
    def separate_gallery(self) -> bool:
        """False where groups are known, so that whole groups are the units."""
        return self.labels is None

    @property
    def classes(self) -> Int64 | None:
        """The group of each item by number; None where each unit is by itself."""
        return self._averaging.classes


def unit_values(values: Any) -> UnitValues | None:
    """Return the values of each unit of a result, or of arrays by the names of their measures; None of anything else.

    Examples
    --------
    >>> unit_values({"hit": [1, 0, 1]})["hit"].per_query.lower
    array([1., 0., 1.])
    """
    if isinstance(values, HasUnits):
        return values._unit_values()
    if not isinstance(values, Mapping) or not values:
        return None
    rows = {checks.text(name, "measure"): _fractions(each, name) for name, each in values.items()}
    lengths = {name: len(row.lower) for name, row in rows.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidValueError("values", f"must be of one length, but have {checks.few(list(lengths.items()))}")
    names = tuple(rows)
    return UnitValues(rows.__getitem__, names, next(iter(lengths.values())), names, {})


def _fractions(values: Any, name: str) -> Triple[Float64]:
    """Return lower, expected and upper values of a measure, checked: one array for all three, or one for each."""
    rows = [vector(each, name) for each in (values if isinstance(values, Triple) else (values,) * 3)]
    lower, expected, upper = rows
    if len({len(lower), len(expected), len(upper)}) > 1:
        raise InvalidValueError(name, "must have as many lower, expected and upper values")
    known = ~np.isnan(lower)
    odd = np.concatenate([row[(row < 0) | (row > 1)] for row in rows])
    if len(odd):
        raise InvalidValueError(name, f"must hold fractions in [0, 1], and NaN for none, but holds {odd[0]:g}")
    if (np.isnan(upper) == known).any() or (lower > np.fmin(upper, expected)).any() or (expected > upper).any():
        raise InvalidValueError(name, "must have lower <= expected <= upper in each unit, or NaN in all")
    return Triple(lower, expected, upper)
