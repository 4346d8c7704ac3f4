"""Values of one system that are no report, in the form in which two systems are compared: a value for each unit.

In come the recall of an index, a hash look-up, pooled scores, or plain arrays; out go `UnitValues`, which
`deadheat.compare` takes as it takes a `Report`. Each of these results has a method `_unit_values` that makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.measures.family import Measure
from deadheat.measures.names import parse
from deadheat.reports.averaging import Averaging
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
    rows = {checks.text(name, "measure"): fractions(each, name) for name, each in values.items()}
    lengths = {name: len(row.lower) for name, row in rows.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidValueError("values", f"must be of one length, but have {checks.few(list(lengths.items()))}")
    names = tuple(rows)
    return UnitValues(rows.__getitem__, names, next(iter(lengths.values())), names, {})


def fractions(values: Any, name: str) -> Triple[Float64]:
    """Return lower, expected and upper values, (n,) each, checked: one array for all three, or one for each."""
    ends = values if isinstance(values, Triple) else (values,)
    rows = [_in_unit_interval(each, name) for each in ends]
    lengths = [len(row) for row in rows]
    if len(set(lengths)) > 1:
        raise InvalidValueError(name, f"must have three arrays of one length, but have {lengths}")
    lower, expected, upper = rows if len(rows) > 1 else rows * 3
    disordered = (lower > upper) | (expected < lower) | (expected > upper) | (np.isnan(lower) != np.isnan(upper))
    for at in np.flatnonzero(disordered)[:1]:
        given = f"query {at} has {lower[at]}, {expected[at]}, {upper[at]}"
        raise InvalidValueError(name, f"must have lower <= expected <= upper, but {given}")
    return Triple(lower, np.where(lower == upper, lower, expected), upper)


def _in_unit_interval(values: Any, name: str) -> Float64:
    array = numbers(values, name)
    for at in np.flatnonzero((array < 0) | (array > 1))[:1]:
        rule = f"must lie in [0, 1], NaN for a query that is left out, but query {at} has {array[at]}"
        raise InvalidValueError(name, rule)
    return array.astype(np.float64)


def numbers(values: Any, name: str) -> NDArray[Any]:
    """Return an array (n,) of real numbers in its own type; wide integers are not rounded."""
    ragged = "must be one number for each query, but its entries differ in length"
    array = conversion.plain(values, name, ragged=ragged, unmasked="NaN leaves a query out")
    if array.ndim != 1:
        raise InvalidValueError(name, f"must be one-dimensional, but has shape {array.shape}")
    if not len(array):
        return np.empty(0)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise InvalidTypeError(name, f"must hold real numbers of at most 64 bits, but has dtype {array.dtype}")
    return array
