"""What the analyses of confidences share: values of queries, checked and matched, exact sums, and parts of tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.tables import Table, TabularResult, columns_of_values, count, plain
from deadheat.support.arrays import Float64
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple

Values: TypeAlias = "ArrayLike | Triple[Float64] | Result"

UNDEFINED = Triple(math.nan, math.nan, math.nan)


def matched(values: Values, confidence: ArrayLike, name: str) -> tuple[Triple[Float64], NDArray[Any], int]:
    """The queries that have a value, with their confidence, and how many have none."""
    bounds, sure = _bounds(values, name), confidences(confidence, "confidence")
    if len(bounds.lower) != len(sure):
        came = f"{len(sure)} confidences for {len(bounds.lower)} queries"
        raise InvalidValueError("confidence", f"must have one entry per query, but got {came}")
    counted = ~np.isnan(bounds.lower)
    return Triple(*(array[counted] for array in bounds)), sure[counted], int(np.count_nonzero(~counted))


def matched_hits(correct: Values, confidence: ArrayLike) -> tuple[Triple[Float64], NDArray[Any], int]:
    """As `matched`, of values that are 0 or 1."""
    hits, sure, n_left_out = matched(correct, confidence, "correct")
    for array in (hits.lower, hits.upper):
        for odd in array[(array != 0) & (array != 1)][:1]:
            raise InvalidValueError("correct", f"must be 0 or 1 for each query, as Hit@1 is, but holds {odd}")
    return hits, sure, n_left_out


def _bounds(values: Values, name: str) -> Triple[Float64]:
    """Check values: three arrays (n_query,) in [0, 1], in order, NaN at the same queries."""
    if isinstance(values, Report):
        raise InvalidTypeError(name, "must be those of one measure, such as report['Hit@1'], but is a whole Report")
    per_query = values.per_query if isinstance(values, Result) else values
    if isinstance(per_query, Triple):
        lower, expected, upper = (_fractions(array, name) for array in per_query)
    else:
        lower = expected = upper = _fractions(per_query, name)
    lengths = [len(lower), len(expected), len(upper)]
    if len(set(lengths)) > 1:
        raise InvalidValueError(name, f"must have three arrays of one length, but have {lengths}")
    disordered = (lower > upper) | (expected < lower) | (expected > upper) | (np.isnan(lower) != np.isnan(upper))
    for at in np.flatnonzero(disordered)[:1]:
        came = f"query {at} has {lower[at]}, {expected[at]}, {upper[at]}"
        raise InvalidValueError(name, f"must have lower <= expected <= upper, but {came}")
    return Triple(lower, np.where(lower == upper, lower, expected), upper)


def _fractions(values: Any, name: str) -> Float64:
    array = _numbers(values, name)
    for at in np.flatnonzero((array < 0) | (array > 1))[:1]:
        rule = f"must lie in [0, 1], NaN for a query that is left out, but query {at} has {array[at]}"
        raise InvalidValueError(name, rule)
    return array.astype(np.float64)


def confidences(values: Any, name: str) -> NDArray[Any]:
    array = _numbers(values, name)
    for at in np.flatnonzero(~np.isfinite(array))[:1]:
        raise InvalidValueError(name, f"must be finite, but entry {at} is {array[at]}")
    return array


def _numbers(values: Any, name: str) -> NDArray[Any]:
    """An array (n,) of real numbers, in the type that it came in; wide integers are not rounded."""
    ragged = "must be one number for each query, but its entries differ in length"
    array = conversion.plain(values, name, ragged=ragged, unmasked="NaN leaves a query out")
    if array.ndim != 1:
        raise InvalidValueError(name, f"must be one-dimensional, but has shape {array.shape}")
    if not len(array):
        return np.empty(0)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise InvalidTypeError(name, f"must hold real numbers of at most 64 bits, but has dtype {array.dtype}")
    return array


def mean_of_all(values: Float64) -> float:
    """The mean of values none of which may be missing: NaN if one is, or if there are none."""
    return math.nan if np.isnan(values).any() else exact_mean(values)


def integers(values: Float64) -> tuple[list[int], int]:
    """Floats as integers over one power of two. Python divides integers of any size with one rounding."""
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    scale = max((denominator for _, denominator in ratios), default=1)
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale


def plain_values(result: TabularResult, names: Iterable[str]) -> dict[str, Any]:
    """Some values of a result by name, as JSON can hold them; triples by their names, None where one is undefined."""
    values = {name: getattr(result, name) for name in names}
    return {name: plain(value._asdict() if isinstance(value, Triple) else value) for name, value in values.items()}


def table_of_triples(title: str, rows: Mapping[str, Triple[float]], digits: int) -> Table:
    """A row for each name, in per cent."""
    columns, cells = columns_of_values(list(rows.values()), digits)
    return Table((f"{title} (%)", *columns), [[name, *row] for name, row in zip(rows, cells, strict=True)])


def about_queries(n_query: int, n_left_out: int, n_open: int) -> str:
    """How many queries count, how many have no value, and how many values distance ties decide."""
    left_out = f", and {n_left_out} without a value, left out" if n_left_out else ""
    decided = f" Distance ties decide {count(n_open, 'value', 'values')}." if n_open else ""
    return f"{count(n_query, 'query', 'queries')}{left_out}.{decided}"
