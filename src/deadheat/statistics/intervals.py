"""How far a mean over a sample may lie from the mean over the population that the sample was drawn from.

In come the values of independent units (queries, classes, groups); out go an `Interval` for their mean or, for the
lower, expected and upper values of a measure, three of them: `Intervals`. Bootstraps are SciPy's. Ties are another
matter: they make lower and upper differ for the very queries at hand, and an interval is put round each.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import inputs
from deadheat.support import checks
from deadheat.support.extras import require

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

PARAMETRIC = ("auto", "normal", "t")
BOOTSTRAP = ("percentile", "basic", "BCa")
METHODS = (*PARAMETRIC, *BOOTSTRAP)

_FEW = 30  # from here on "auto" takes the normal distribution for Student's
_AT_ONCE = 1 << 18  # values drawn in one go, so that memory stays flat
_REPEATS = 16  # units for each distinct value, from where drawing how often each is drawn is the faster way


class Interval(NamedTuple):
    """The two ends of an interval; both NaN where there is none."""

    low: float
    high: float


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals for the lower, expected and upper value of a measure.

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
        Independent units: queries, classes, or groups.
    """

    lower: Interval
    expected: Interval
    upper: Interval
    confidence_level: float
    method: str
    n: int

    def within(self, least: float, most: float) -> Intervals:
        """The same with ends cut to what the population's mean can be: z and Student's t know no such limits."""
        lower, expected, upper = (
            Interval(*(end if math.isnan(end) else min(max(end, least), most) for end in one))
            for one in (self.lower, self.expected, self.upper)
        )
        return replace(self, lower=lower, expected=expected, upper=upper)


# ---------------------------------------------------------------------------------------------------------------------
# one mean


def mean_interval(
    values: ArrayLike,
    *,
    confidence_level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Interval:
    """A confidence interval for the mean of a population, from values that were drawn from it independently.

    Parameters
    ----------
    values : (n,)
        NaN is left out.
    confidence_level : float
        The share of such intervals that hold the population's mean, strictly between 0 and 1.
    method : {"auto", "normal", "t", "percentile", "basic", "BCa"}
        ``"normal"``: mean ± z·s/√n, with s the standard deviation of the sample (n − 1 degrees of freedom). ``"t"``:
        Student's quantile for z. ``"auto"``: ``"t"`` below 30 values, ``"normal"`` from there. The others: SciPy's
        bootstrap, which draws the values again with replacement.
    n_resamples : int
        How often the bootstrap draws.
    seed : int
        For `numpy.random.default_rng`.

    Returns
    -------
    Interval
        Of width zero where all values are equal. **Undefined:** NaN for fewer than two values, and where BCa has no
        value because the mean lies outside all resampled ones.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.
    ModuleNotFoundError
        Without SciPy, which the extra ``stats`` brings.

    Notes
    -----
    The bootstrap draws n_resamples × n values, some hundred thousand at a time. Where few of the values are distinct
    it draws how often each occurs instead, which has the same distribution. BCa also leaves each value out in turn,
    which is n² work.

    Examples
    --------
    Four values with mean 5 and s = √(40/3), so that s/√n is √(10/3); Student's quantile for 3 degrees of freedom is
    3.1824:

    >>> low, high = mean_interval([1, 3, 7, 9])
    >>> round((high - 5) / (10 / 3) ** 0.5, 4), low + high
    (3.1824, 10.0)
    """
    level = _checked(confidence_level, method, n_resamples, seed)
    sample = _vector(values, "values")
    sample = sample[~np.isnan(sample)]
    return _intervals_of_rows(sample[None], None, level, method, n_resamples, seed)[0]


def ratio_interval(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    confidence_level: float = 0.95,
    method: str = "percentile",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Interval:
    """A confidence interval for a ratio of sums over independent units, such as a mean over queries by whole classes.

    Parameters
    ----------
    numerator : (n,)
        For each unit its part of the upper sum, such as the sum over the queries of a class. NaN is left out.
    denominator : (n,)
        Its part of the lower sum, such as how many queries it has; positive.
    confidence_level, n_resamples, seed
        As in `mean_interval`.
    method : {"percentile", "basic", "BCa", "auto", "normal", "t"}
        A bootstrap draws units with both of their parts. The others take the standard error of the linearised ratio:
        that of the mean of (numerator − ratio·denominator) / mean denominator.

    Returns
    -------
    Interval
        **Undefined:** NaN for fewer than two units.

    References
    ----------
    W. G. Cochran, Sampling Techniques, 3rd edition, 1977, chapter 6 (ratio estimators).

    Examples
    --------
    Two classes, of one query with value 1 and of three with value 0. A draw takes the first twice, both, or the
    second twice, with ratios 1, 1/4 and 0:

    >>> ratio_interval([1, 0], [1, 3])
    Interval(low=0.0, high=1.0)
    """
    level = _checked(confidence_level, method, n_resamples, seed)
    above, below = _vector(numerator, "numerator"), _vector(denominator, "denominator")
    if len(above) != len(below):
        raise ValueError(f"numerator and denominator must be of one length, but have {len(above)} and {len(below)}")
    keep = ~np.isnan(above) & ~np.isnan(below)
    if not (below[keep] > 0).all():
        raise ValueError(f"denominator must be positive, but holds {below[keep].min()}")
    return _intervals_of_rows(above[None, keep], below[keep], level, method, n_resamples, seed)[0]


def difference_interval(
    a: ArrayLike, b: ArrayLike, *, confidence_level: float = 0.95, method: str = "auto"
) -> Interval:
    """A confidence interval for the difference of two means, A − B, of samples drawn independently of each other.

    For two sets of queries or groups. Two systems on the same queries are paired: see `deadheat.compare`.

    Parameters
    ----------
    a, b : (n,) and (m,)
        NaN is left out.
    confidence_level : float
        Strictly between 0 and 1.
    method : {"auto", "normal", "t"}
        ``"t"``: Student's quantile for the degrees of freedom after Welch and Satterthwaite. ``"auto"``: that where
        either sample has fewer than 30 values, else ``"normal"``.

    Returns
    -------
    Interval
        **Undefined:** NaN where a sample has fewer than two values.

    References
    ----------
    B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
    Biometrika 34, 1947.

    Examples
    --------
    Both means have a standard error of √(1/3), their difference one of √(2/3), with 4 degrees of freedom, for which
    Student's quantile is 2.7764:

    >>> low, high = difference_interval([3, 4, 5], [1, 2, 3])
    >>> round((high - 2) / (2 / 3) ** 0.5, 4), low + high
    (2.7764, 4.0)
    """
    level = level_between(confidence_level)
    checks.choice(method, PARAMETRIC, "method")
    samples = [values[~np.isnan(values)] for values in (_vector(a, "a"), _vector(b, "b"))]
    errors = [standard_error(values) for values in samples]
    if any(map(math.isnan, errors)):
        return Interval(math.nan, math.nan)
    difference = math.fsum(samples[0]) / len(samples[0]) - math.fsum(samples[1]) / len(samples[1])
    if resolved(method, min(map(len, samples))) == "normal":
        return normal_interval(difference, math.hypot(*errors), level)
    degrees = welch_degrees(errors, [len(values) for values in samples])
    return normal_interval(difference, math.hypot(*errors), level, degrees)


def standard_error(values: ArrayLike) -> float:
    """The standard error of a mean: the sample's standard deviation (n − 1 degrees of freedom) over √n.

    Parameters
    ----------
    values : (n,)
        NaN is left out.

    Returns
    -------
    float
        0.0 where all values are equal. **Undefined:** NaN for fewer than two.

    Examples
    --------
    >>> standard_error([1, 3])
    1.0
    """
    sample = _vector(values, "values")
    sample = sample[~np.isnan(sample)]
    if len(sample) < 2:
        return math.nan
    if sample.min() == sample.max():
        return 0.0
    squares = np.square(sample - math.fsum(sample) / len(sample))
    return math.sqrt(math.fsum(squares) / (len(sample) - 1) / len(sample))


def normal_interval(
    mean: float, standard_error: float, confidence_level: float = 0.95, degrees_of_freedom: float | None = None
) -> Interval:
    """The interval mean ± quantile · standard error, of the normal distribution or of Student's.

    Parameters
    ----------
    mean, standard_error : float
        NaN in either gives NaN ends.
    confidence_level : float
        Strictly between 0 and 1.
    degrees_of_freedom : float, optional
        Student's quantile for so many; by default the normal distribution's.

    Examples
    --------
    >>> normal_interval(0, 1)
    Interval(low=-1.959963984540054, high=1.959963984540054)
    """
    level = level_between(confidence_level)
    stats = require("scipy.stats", "stats", "a confidence interval")
    if math.isnan(mean) or math.isnan(standard_error):
        return Interval(math.nan, math.nan)
    if standard_error == 0:
        return Interval(float(mean), float(mean))
    law = stats.norm if degrees_of_freedom is None else stats.t(degrees_of_freedom)
    reach = float(law.isf((1 - level) / 2)) * standard_error
    return Interval(mean - reach, mean + reach)


def welch_degrees(standard_errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Degrees of freedom for a sum or difference of means, after Welch and Satterthwaite.

    Examples
    --------
    >>> welch_degrees([1.0, 1.0], [3, 3])
    4.0
    """
    squares = [error**2 for error in standard_errors]
    parts = [square**2 / (size - 1) for square, size in zip(squares, sizes, strict=True)]
    return math.fsum(squares) ** 2 / math.fsum(parts) if any(parts) else math.inf


# ---------------------------------------------------------------------------------------------------------------------
# the three values of a measure


def mean_intervals(
    lower: ArrayLike,
    expected: ArrayLike,
    upper: ArrayLike,
    *,
    classes: NDArray[Any] | None = None,
    average: str = "query",
    confidence_level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Intervals:
    """Confidence intervals for the means of lower, expected and upper values, all three from the same resamples.

    Parameters
    ----------
    lower, expected, upper : (n,)
        Values of queries (or of groups, or differences of them). One without a lower or upper value is left out.
    classes : (n,) integers, optional
        Whole classes are the independent units; by default each value is one.
    average : {"query", "class"}
        With classes, whether the mean is over queries, a ratio of sums, or over classes of the means of their queries.
    confidence_level, method, n_resamples, seed
        As in `mean_interval` and, for a mean over queries by classes, `ratio_interval`.

    Returns
    -------
    Intervals
        **Undefined:** NaN for fewer than two units; and for `expected` where there is no expected value.

    Examples
    --------
    >>> mean_intervals([0, 1], [0.5, 1], [1, 1]).upper
    Interval(low=1.0, high=1.0)
    """
    level = _checked(confidence_level, method, n_resamples, seed)
    rows = np.stack([_vector(values, name) for values, name in _named(lower, expected, upper)])
    keep = ~np.isnan(rows[0]) & ~np.isnan(rows[2])
    rows, weights = rows[:, keep], None
    if classes is not None:
        rows, sizes = class_sums(rows, np.asarray(classes)[keep])
        rows, weights = (rows, sizes) if average == "query" else (rows / sizes, None)
    n = rows.shape[1]
    method = resolved(method, n)
    low, middle, high = _intervals_of_rows(rows, weights, level, method, n_resamples, seed)
    if method == "percentile":
        middle, high = _at_least(middle, low), _at_least(_at_least(high, low), middle)
    return Intervals(low, middle, high, level, method, n)


def _at_least(upper: Interval, lower: Interval) -> Interval:
    """Percentiles of the same draws ascend with the values; a rounding must not say otherwise. NaN says nothing."""
    return Interval(*(a if b < a else b for a, b in zip(lower, upper, strict=True)))


def class_sums(rows: Float64, classes: NDArray[Any]) -> tuple[Float64, Float64]:
    """Correctly rounded sums over each class that occurs, (k, n_class), and how many values each class has.

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2.0, 4.0]]), np.array([7, 3, 7]))
    (array([[2., 5.]]), array([1., 2.]))
    """
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.diff(classes[order])) + 1
    sums = [[math.fsum(part) for part in np.split(row[order], starts)] for row in rows]
    sizes = np.diff(np.concatenate([[0], starts, [len(order)]]))
    if not len(order):
        return np.zeros((len(rows), 0)), np.zeros(0)
    return np.array(sums), sizes.astype(np.float64)


# ---------------------------------------------------------------------------------------------------------------------
# rows of values, all drawn alike


def _intervals_of_rows(
    rows: Float64, weights: Float64 | None, level: float, method: str, n_resamples: int, seed: int
) -> list[Interval]:
    """An interval for the mean of each row (k, n), or for the ratio of its sum to that of the weights."""
    method = resolved(method, rows.shape[1])
    distinct = {row.tobytes(): row for row in rows}  # without ties in the ranking, all three are one
    found = {key: _without_draws(row, weights, level, method) for key, row in distinct.items()}
    varied = [key for key, interval in found.items() if interval is None]
    if varied:
        drawn = _bootstrap(np.stack([distinct[key] for key in varied]), weights, level, method, n_resamples, seed)
        found.update(zip(varied, drawn, strict=True))
    return [interval for row in rows if (interval := found[row.tobytes()]) is not None]


def _without_draws(row: Float64, weights: Float64 | None, level: float, method: str) -> Interval | None:
    """The interval where it takes no bootstrap; else None."""
    mean = _ratio(row, weights)
    each = row if weights is None else row / weights
    if len(row) < 2 or math.isnan(mean):
        return Interval(math.nan, math.nan)
    if each.min() == each.max():
        return Interval(mean, mean)
    return None if method in BOOTSTRAP else _parametric(row, weights, mean, level, method)


def _ratio(row: Float64, weights: Float64 | None) -> float:
    """The mean of a row, or its sum over that of the weights."""
    total = len(row) if weights is None else math.fsum(weights)
    return math.fsum(row) / total if total else math.nan


def _parametric(row: Float64, weights: Float64 | None, mean: float, level: float, method: str) -> Interval:
    """Normal or Student's, with the standard error of the mean or of the linearised ratio."""
    if weights is not None:
        row = (row - mean * weights) / (math.fsum(weights) / len(weights))
    return normal_interval(mean, standard_error(row), level, len(row) - 1 if method == "t" else None)


def _bootstrap(
    rows: Float64, weights: Float64 | None, level: float, method: str, n_resamples: int, seed: int
) -> list[Interval]:
    """SciPy's bootstrap of the numbers of the units, so that all rows get the same draws."""
    stats = require("scipy.stats", "stats", "a bootstrap interval")
    n, rng, ready = rows.shape[1], np.random.default_rng(seed), None

    def statistic(drawn: Int64, axis: int) -> Float64:
        sums: Float64 = np.stack([row.take(drawn).sum(axis) for row in rows])
        if weights is not None:
            sums /= weights.take(drawn).sum(axis)
        else:
            sums /= drawn.shape[axis]
        return sums

    if weights is None and method != "BCa":
        distinct, counts = np.unique(rows, axis=1, return_counts=True)
        if len(counts) * _REPEATS <= n:
            means = _means_of_repeated(distinct, counts, n_resamples, rng)
            n_resamples, ready = 0, SimpleNamespace(bootstrap_distribution=means)
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", getattr(stats, "DegenerateDataWarning", RuntimeWarning))
        low, high = stats.bootstrap(
            (np.arange(n),),
            statistic,
            n_resamples=n_resamples,
            batch=max(1, _AT_ONCE // n),
            confidence_level=level,
            method=method,
            bootstrap_result=ready,
            rng=rng,
        ).confidence_interval
    return [Interval(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def _means_of_repeated(distinct: Float64, counts: Int64, n_resamples: int, rng: np.random.Generator) -> Float64:
    """Means of resamples (k, n_resamples), from how often each distinct column is drawn: multinomial numbers."""
    n = counts.sum()
    step = max(1, _AT_ONCE // len(counts))
    parts = []
    for first in range(0, n_resamples, step):
        drawn = rng.multinomial(n, counts / n, size=min(step, n_resamples - first))
        parts.append(np.stack([(drawn * row).sum(axis=1) for row in distinct]) / n)
    return np.concatenate(parts, axis=1)


# ---------------------------------------------------------------------------------------------------------------------
# checks


def level_between(confidence_level: float) -> float:
    """A level strictly between 0 and 1.

    Examples
    --------
    >>> level_between(95)
    Traceback (most recent call last):
    ValueError: confidence_level must lie strictly between 0 and 1, but is 95
    """
    if isinstance(confidence_level, (bool, np.bool_)) or not isinstance(
        confidence_level, (float, int, np.floating, np.integer)
    ):
        raise TypeError(f"confidence_level must be a number, but is {confidence_level!r}")
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie strictly between 0 and 1, but is {confidence_level}")
    return float(confidence_level)


def _checked(confidence_level: float, method: str, n_resamples: int, seed: int) -> float:
    """Check what all intervals are given, and return the level."""
    checks.choice(method, METHODS, "method")
    checks.positive_integer(n_resamples, "n_resamples")
    checks.whole_number(seed, "seed")
    return level_between(confidence_level)


def resolved(method: str, n: int) -> str:
    """The method that "auto" stands for with n units; any other as it is."""
    return method if method != "auto" else "t" if n < _FEW else "normal"


def _vector(values: ArrayLike, name: str) -> Float64:
    """Real numbers in one dimension, as float64; NaN where there is no value."""
    array = np.asarray(inputs.from_tensor(values))
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but has shape {array.shape}")
    if array.dtype.kind not in "biuf" and array.size:
        raise TypeError(f"{name} must hold real numbers, but has dtype {array.dtype}")
    array = array.astype(np.float64)
    if np.isinf(array).any():
        raise ValueError(f"{name} must not be infinite, but holds {array[np.isinf(array)][0]}")
    return array


def _named(lower: ArrayLike, expected: ArrayLike, upper: ArrayLike) -> list[tuple[ArrayLike, str]]:
    """The three values with their names, refused if their lengths differ."""
    lengths = [len(np.atleast_1d(np.asarray(values))) for values in (lower, expected, upper)]
    if len(set(lengths)) != 1:
        raise ValueError(f"lower, expected and upper must be of one length, but have {lengths}")
    return [(lower, "lower"), (expected, "expected"), (upper, "upper")]
