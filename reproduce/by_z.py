"""Intervals by the normal distribution, value ± z times the standard error, as the grouped measure's source has them.

deadheat itself takes Student's t for any number of units. The studies take z from 30 units on, as they always did.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from deadheat.analyses.gaps import Gap, SplitHalf, errors_by_class
from deadheat.analyses.grouped import GroupedResult
from deadheat.reports.report import Report
from deadheat.reports.statistics.intervals import Interval, normal_interval, standard_error
from deadheat.support.arrays import Float64
from deadheat.support.triple import Triple

FEW = 30  # units, below which Student's t is taken


def by_z(side: Gap | GroupedResult, level: float) -> Triple[Interval]:
    """Value ± z·se for lower, expected and upper, however many units there are; no end is cut."""
    return _around(Triple(side.lower, side.expected, side.upper), side.errors, level)


def interval(side: Gap | GroupedResult, level: float) -> Triple[Interval]:
    """The intervals for lower, expected and upper: Student's t below 30 groups or classes, z from there."""
    if _is_few(side):
        result = side.interval(confidence_level=level)
        return Triple(result.lower, result.expected, result.upper)
    least = -1 if isinstance(side, Gap) else 0
    return Triple(*(ends.within(least, 1) for ends in by_z(side, level)))


def margin(side: Gap, level: float) -> float:
    """`Gap.margin` with the quantile that `interval` has."""
    return side.margin(confidence_level=level) if _is_few(side) else margin_by_z(side, level)


def margin_by_z(side: Gap, level: float) -> float:
    """z·se, the largest of lower, expected and upper."""
    highest = (ends.high for ends in _around(Triple(0.0, 0.0, 0.0), side.errors, level))
    return max((high for high in highest if not math.isnan(high)), default=math.nan)


def bound(side: Gap, level: float) -> float:
    """`Gap.bound` with the quantile that `interval` has."""
    result = interval(side, level)
    return max(abs(result.lower.low), abs(result.upper.high))


def of_report(report: Report, measure: str, unit: Literal["query", "class"], level: float) -> Triple[Interval]:
    """The intervals by z for the mean over queries, or for that of whole classes."""
    result = report[measure]
    errors = Triple(*map(standard_error, result.per_query))
    if unit == "class":
        errors, _ = errors_by_class(report, measure)
    around = _around(Triple(result.lower, result.expected, result.upper), errors, level)
    return Triple(*(ends.within(0, 1) for ends in around))


class HalvesByZ(SplitHalf):
    """Table 1 with the bounds of section 3.2: value + z σ/√N, and z √(σ₁²/N₁ + σ₂²/N₂)."""

    @classmethod
    def of(cls, halves: SplitHalf) -> HalvesByZ:
        return cls(halves.measure, halves.groups, halves.whole)

    def margins(self, *, confidence_level: float = 0.95) -> Float64:
        return np.array([margin_by_z(gap, confidence_level) for gap in self.gaps])

    def upper_limit(self, *, confidence_level: float = 0.95) -> Triple[float]:
        return Triple(*(ends.within(0, 1).high for ends in by_z(self.grouped, confidence_level)))


def _is_few(side: Gap | GroupedResult) -> bool:
    return bool(np.min(side.n_unit) < FEW)


def _around(values: Triple[float], errors: Triple[float], level: float) -> Triple[Interval]:
    return Triple(*(normal_interval(value, error, level) for value, error in zip(values, errors, strict=True)))
