"""What an interval is, for one mean or for the three of a measure, and what those who compute one share.

These are the options, checked; the units (queries, classes or groups) that a mean is over, in an order of their own, so
that no result depends on the order in which they came; and what there is to say of their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.reports.tables import Table, notebook
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64, offsets_of

PARAMETRIC = ("auto", "normal", "t")
BOOTSTRAP = ("percentile", "basic", "BCa")
METHODS = (*PARAMETRIC, *BOOTSTRAP)

MOST_RESAMPLES = 10**7  # beyond which no digit that anybody quotes changes, and a call takes hours
_FEW = 30  # from here on "auto" takes the normal distribution for Student's
FEW_CLASSES = 10  # below, an interval or a test over classes says less than it seems to
UNITS = {"query": "queries", "class": "classes", "group": "groups", "item": "items"}


def resolved(method: str, n: int) -> str:
    """The method that "auto" stands for with n units; any other as it is."""
    return method if method != "auto" else "t" if n < _FEW else "normal"


class Interval(NamedTuple):
    """The two ends of an interval; both NaN where there is none."""

    low: float
    high: float

    def within(self, least: float, most: float) -> Interval:
        """The same with its ends cut to these."""
        return Interval(*(end if math.isnan(end) else min(max(end, least), most) for end in self))

    def at_least(self, other: Interval) -> Interval:
        """The same with no end below that of another."""
        return Interval(*(least if end < least else end for end, least in zip(self, other, strict=True)))

    def per_cent(self, digits: int = 2) -> str:
        """The ends of an interval for a fraction in per cent; a dash where there is none."""
        return "-" if math.isnan(self.low) else f"[{100 * self.low:z.{digits}f}, {100 * self.high:z.{digits}f}]"


NOTHING = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals for the lower, expected and upper value of a measure.

    Printed, they are in per cent, with what a reader has to know; everything else is a fraction.

    Attributes
    ----------
    lower, expected, upper : Interval
        For the mean of the worst values, of the expected ones and of the best ones. `lower.low` and `upper.high`
        enclose what ties and sampling can do together.
    confidence_level : float
        Of each of the three by itself, in (0, 1).
    method : str
        How they were made, as `mean_interval` names it; never ``"auto"``.
    n : int
        Independent units.
    unit : {"query", "class", "group"}
        What they are.
    notes : tuple of str
        What a reader has to know in addition to the numbers, such as that there are few classes.

    Examples
    --------
    >>> print(Intervals(Interval(0.4, 0.6), Interval(0.5, 0.7), Interval(0.5, 0.8), 0.95, "percentile", 12, "class"))
    lower     [40.00, 60.00]
    expected  [50.00, 70.00]
    upper     [50.00, 80.00]
    95 % intervals (%): percentile, over 12 classes.
    """

    lower: Interval
    expected: Interval
    upper: Interval
    confidence_level: float
    method: str
    n: int
    unit: str = "query"
    notes: tuple[str, ...] = field(default=(), compare=False)

    def within(self, least: float, most: float) -> Intervals:
        """The same with ends cut to what the population's mean can be: z and Student's t know no such limits."""
        lower, expected, upper = (ends.within(least, most) for ends in (self.lower, self.expected, self.upper))
        return replace(self, lower=lower, expected=expected, upper=upper)

    def mirrored(self) -> Intervals:
        """Those for the means of the same values with the opposite sign."""
        lower, expected, upper = (
            Interval(0.0 - ends.high, 0.0 - ends.low) for ends in (self.lower, self.expected, self.upper)
        )
        return replace(self, lower=upper, expected=expected, upper=lower)

    def __str__(self) -> str:
        ends, notes = self._shown()
        width = max(map(len, ends))
        return "\n".join([*(f"{name:{width}}  {text}" for name, text in ends.items()), *notes])

    def _repr_html_(self) -> str:
        ends, notes = self._shown()
        return notebook([Table(["of", f"{100 * self.confidence_level:g} % interval (%)"], list(ends.items()))], notes)

    def _shown(self) -> tuple[dict[str, str], list[str]]:
        ends = {name: getattr(self, name).per_cent() for name in ("lower", "expected", "upper")}
        if len(set(ends.values())) == 1:
            ends = {"interval": ends["lower"]}
        kind = f"{100 * self.confidence_level:g} % {'intervals' if len(ends) > 1 else 'interval'} (%)"
        about = f"{kind}: {self.method}, over {counted(self.n, self.unit)}."
        return ends, [about, *self.notes]


class Settings(NamedTuple):
    """How an interval is made."""

    level: float
    method: str
    n_resamples: int
    seed: int

    @classmethod
    def checked(
        cls, confidence_level: float = 0.95, method: str = "auto", n_resamples: int = 9999, seed: int = 0
    ) -> Settings:
        """The settings, or an error that names the argument."""
        return cls(
            method=checks.choice(method, METHODS, "method"),
            n_resamples=checks.positive_integer(n_resamples, "n_resamples", MOST_RESAMPLES),
            seed=checks.whole_number(seed, "seed"),
            level=level_between(confidence_level),
        )


def level_between(confidence_level: Any) -> float:
    """A level strictly between 0 and 1.

    Examples
    --------
    >>> level_between(95)
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: confidence_level must lie strictly between 0 and 1, but is 95
    """
    if isinstance(confidence_level, (bool, np.bool_)) or not isinstance(
        confidence_level, (float, int, np.floating, np.integer)
    ):
        raise InvalidTypeError("confidence_level", f"must be a number, but is {confidence_level!r}")
    if not 0 < confidence_level < 1:
        raise InvalidValueError("confidence_level", f"must lie strictly between 0 and 1, but is {confidence_level}")
    return float(confidence_level)


def vector(values: ArrayLike, name: str) -> Float64:
    """Real numbers in one dimension, as float64; NaN where there is no value."""
    array = conversion.plain(values, name, unmasked="NaN leaves a value out")
    if array.ndim != 1:
        raise InvalidValueError(name, f"must be one-dimensional, but has shape {array.shape}")
    if array.dtype.kind not in "biuf" and array.size:
        raise InvalidTypeError(name, f"must hold real numbers, but has dtype {array.dtype}")
    array = array.astype(np.float64)
    if np.isinf(array).any():
        raise InvalidValueError(name, f"must not be infinite, but holds {array[np.isinf(array)][0]}")
    return array


def defined(values: ArrayLike, name: str) -> Float64:
    """Real numbers in one dimension, without NaN."""
    array = vector(values, name)
    return array[~np.isnan(array)]


def class_sums(rows: Float64, classes: NDArray[Any]) -> tuple[Float64, Float64]:
    """Correctly rounded sums over each class that occurs, (k, n_class), and how many values each class has.

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2.0, 4.0]]), np.array([7, 3, 7]))
    (array([[2., 5.]]), array([1., 2.]))
    """
    sizes = np.unique(classes, return_counts=True)[1]
    order, ends = np.argsort(classes, kind="stable"), offsets_of(sizes)
    sums = [[math.fsum(row[i:j]) for i, j in pairwise(ends.tolist())] for row in rows[:, order].tolist()]
    return np.array(sums, dtype=np.float64).reshape(len(rows), len(sizes)), sizes.astype(np.float64)


def own_order(*rows: Float64) -> Int64:
    """The order of the columns by the first row, then by the second and so on, (n,).

    Examples
    --------
    >>> own_order(np.array([0.5, 0.0, 0.5]), np.array([2.0, 1.0, 1.0]))
    array([1, 2, 0])
    """
    return np.lexsort(rows[::-1])


def counted(n: int, unit: str) -> str:
    """How many of which unit.

    Examples
    --------
    >>> counted(1, "class"), counted(12, "class")
    ('1 class', '12 classes')
    """
    return f"{n} {unit if n == 1 else UNITS[unit]}"


def about_few(n: int, unit: str) -> tuple[str, ...]:
    """A sentence where units are too few to say much; none where they are not.

    Examples
    --------
    >>> about_few(6, "class")
    ('Only 6 classes: with fewer than about 10 neither intervals nor p-values can be trusted.',)
    """
    if unit != "class" or n >= FEW_CLASSES:
        return ()
    return (
        f"Only {counted(n, unit)}: with fewer than about {FEW_CLASSES} neither intervals nor p-values can be trusted.",
    )
