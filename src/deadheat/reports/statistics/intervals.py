"""Confidence intervals for the mean over the population that a sample was drawn from.

In come the values of independent units (queries, classes, groups); out go an `Interval` for their mean or, for the
lower, expected and upper values of a measure, three of them: `Intervals`. Ties are a separate matter: they make lower
and upper differ for the queries at hand, and each gets an interval. Units are sorted by their values, so that no result
depends on the order in which they came.

Results have an `interval` method, whose default is ``"percentile"`` for a mean over queries or classes, of which there
are many, ``"t"`` for one over groups, of which there are few, and what `deadheat.compare` was given.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.reports.answer import KINDS, Caution, KindName
from deadheat.reports.statistics.settings import BOOTSTRAP, StatisticsSettings, level_between
from deadheat.reports.tables import Table, notebook
from deadheat.support.arrays import Float64, Int64
from deadheat.support.lazy import require
from deadheat.support.means import all_or_none, exact_mean
from deadheat.support.triple import Triple

FEW_UNITS = 6  # below, the same of queries
FEW_CLASSES = 10  # below, an interval or a test over classes says less than it seems to
UNITS = {"query": "queries", "class": "classes", "group": "groups", "item": "items", "task": "tasks"}
UNITS |= {"subject": "subjects", "probe": "probes"}  # of pairs
_ROUNDING = 2.0**-50  # a value times its weight, over that, may be another by so much
_AT_ONCE = 1 << 18  # values drawn in one go, so that memory stays flat
_REPEATS = 16  # units for each distinct value, from where drawing how often each is drawn is the faster way


class Interval(NamedTuple):
    """The two ends of an interval; both NaN where there is none."""

    low: float
    high: float

    def within(self, least: float, most: float) -> Interval:
        """Return the interval with its ends cut to these limits."""
        return Interval(*(end if math.isnan(end) else min(max(end, least), most) for end in self))

    def at_least(self, other: Interval) -> Interval:
        """Return the interval with no end below that of another."""
        return Interval(*(least if end < least else end for end, least in zip(self, other, strict=True)))

    def shown(self, scale: float = 100.0) -> str:
        """Format the ends, for a fraction in per cent; a dash where there is no interval."""
        return "-" if math.isnan(self.low) else f"[{scale * self.low:z.2f}, {scale * self.high:z.2f}]"


NOTHING = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals for the lower, expected and upper value of a measure.

    Printed, they are in per cent, with the notes; everything else is a fraction.

    Attributes
    ----------
    lower, expected, upper : Interval
        For the mean of the worst values, of the expected ones and of the best ones. `lower.low` and `upper.high`
        enclose the effects of ties and sampling together.
    confidence_level : float
        The level of each of the three by itself, in (0, 1).
    method : str
        The method, as `mean_interval` names it.
    n : int
        The number of independent units.
    unit : {"query", "class", "group", "item", "subject", "probe"}
        The kind of these units.
    notes : tuple of str
        Sentences to read with the numbers, such as that there are few classes.
    kind : str
        The unit of the measure: "fraction", which is printed in per cent, "ranks", "gain" or "times".

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
    kind: KindName = "fraction"

    @property
    def outer(self) -> Interval:
        """The interval over ties and sampling: from the low end for lower to the high end for upper."""
        return Interval(self.lower.low, self.upper.high)

    def within(self, least: float, most: float) -> Intervals:
        """Return the intervals with ends limited to the possible means of the population; Student's t ignores these."""
        lower, expected, upper = (ends.within(least, most) for ends in (self.lower, self.expected, self.upper))
        return replace(self, lower=lower, expected=expected, upper=upper)

    def mirrored(self) -> Intervals:
        """Return the intervals for the means of the same values with the opposite sign."""
        upper, expected, lower = (
            Interval(0.0 - ends.high, 0.0 - ends.low) for ends in (self.lower, self.expected, self.upper)
        )
        return replace(self, lower=lower, expected=expected, upper=upper)

    def __str__(self) -> str:
        ends, notes = self._shown()
        width = max(map(len, ends))
        return "\n".join([*(f"{name:{width}}  {text}" for name, text in ends.items()), *notes])

    def _repr_html_(self) -> str:
        ends, notes = self._shown()
        title = f"{100 * self.confidence_level:g} % interval ({KINDS[self.kind].unit_shown})"
        return notebook([Table(["of", title], list(ends.items()))], notes)

    def _shown(self) -> tuple[dict[str, str], list[str]]:
        kind = KINDS[self.kind]
        ends = {name: getattr(self, name).shown(kind.scale) for name in ("lower", "expected", "upper")}
        if len(set(ends.values())) == 1:
            ends = {"interval": ends["lower"]}
        return ends, self.about(f"{'intervals' if len(ends) > 1 else 'interval'} ({kind.unit_shown})")

    def about(self, kind: str = "intervals") -> list[str]:
        """Return the method and the units in a sentence, and the notes."""
        level, units = f"{100 * self.confidence_level:g} %", counted(self.n, self.unit)
        return [f"{level} {kind}: {self.method}, over {units}.", *self.notes]


def mean_interval(
    values: ArrayLike,
    *,
    confidence_level: float = 0.95,
    method: str = "t",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval for the mean of a population, from values drawn from it independently.

    Parameters
    ----------
    values : (n,)
        NaN is left out.
    confidence_level : float
        The share of such intervals that hold the population's mean, strictly between 0 and 1.
    method : {"t", "percentile", "BCa"}
        ``"t"``: mean ± t·s/√n, with Student's quantile and the standard deviation of the sample (n − 1 degrees of
        freedom). The others are SciPy's bootstraps, which draw the values again with replacement.
    n_resamples : int
        The number of resamples of the bootstrap.
    seed : int
        For `numpy.random.default_rng`. The draws do not depend on the order of the values.

    Returns
    -------
    Interval
        Of width zero where all values are equal. **Undefined:** NaN for fewer than two values, and where BCa has no
        value because the mean lies outside all resampled ones.

    Raises
    ------
    MissingPackageError
        Without SciPy, which the extra ``stats`` brings; ``"percentile"`` does without.

    Notes
    -----
    Where few of the values are distinct, the bootstrap draws how often each occurs, which has the same distribution.
    BCa is SciPy's, which leaves each value out: n² work.

    Examples
    --------
    Mean 5, s = √(40/3), so that s/√n is √(10/3); Student's quantile for 3 degrees of freedom is 3.1824:

    >>> low, high = mean_interval([1, 3, 7, 9])
    >>> round((high - 5) / (10 / 3) ** 0.5, 4), low + high
    (3.1824, 10.0)
    """
    settings = StatisticsSettings(confidence_level, method, n_resamples, seed)
    return _of_rows(defined(values, "values")[None], None, settings)[0]


def difference_interval(a: ArrayLike, b: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Return a confidence interval for the difference of two means, A − B, of samples drawn independently.

    For two sets of queries or groups. Two systems on the same queries are paired: see `deadheat.compare`.

    Parameters
    ----------
    a, b : (n,) and (m,)
        NaN is left out.
    confidence_level : float
        Strictly between 0 and 1.

    Returns
    -------
    Interval
        The difference ± Student's quantile, for the degrees of freedom after Welch and Satterthwaite, times its
        standard error. **Undefined:** NaN where a sample has fewer than two values.

    References
    ----------
    B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
    Biometrika 34, 1947.

    Examples
    --------
    The difference has a standard error of √(2/3), with 4 degrees of freedom, so that Student's quantile is 2.7764:

    >>> low, high = difference_interval([3, 4, 5], [1, 2, 3])
    >>> round((high - 2) / (2 / 3) ** 0.5, 4), low + high
    (2.7764, 4.0)
    """
    samples = defined(a, "a"), defined(b, "b")
    difference = exact_mean(samples[0]) - exact_mean(samples[1])
    errors = [standard_error(sample) for sample in samples]
    return welch_interval(difference, errors, [len(sample) for sample in samples], confidence_level)


def mean_intervals(
    lower: ArrayLike,
    expected: ArrayLike,
    upper: ArrayLike,
    *,
    classes: NDArray[Any] | None = None,
    average: str = "query",
    weights: Float64 | None = None,
    unit: str | None = None,
    within: tuple[float, float] = (-math.inf, math.inf),
    **settings: Any,
) -> Intervals:
    """Return confidence intervals for the means of lower, expected and upper values, from the same resamples.

    Parameters
    ----------
    lower, expected, upper : (n,)
        Values of queries (or of groups, or differences of them). One without a lower or upper value is left out.
    classes : (n,) integers, optional
        Whole classes are the independent units; by default each value is one.
    average : {"query", "class"}
        With classes, whether the mean is over queries, a ratio of sums, or over classes of the means of their queries.
    weights : (n,), optional
        The weights of the values, above 0: a ratio of sums again, for a mean over queries.
    unit : {"query", "class", "group"}, optional
        The name of the independent units; by default ``"class"`` with classes and ``"query"`` without.
    within : (float, float)
        The least and the greatest value that a unit can have. Ends are limited to them, and a constant sample has an
        interval for the values that it may have missed.
    settings
        `confidence_level`, `method`, `n_resamples` and `seed` of `mean_interval`. For a mean over queries by classes, a
        bootstrap draws classes with their sums and sizes, and ``"t"`` takes the standard error of the linearised ratio:
        that of the mean of (sum − ratio·size) / mean size.

    Returns
    -------
    Intervals
        **Undefined:** NaN for fewer than two units; and for `expected` where there is no expected value.

    References
    ----------
    W. G. Cochran, Sampling Techniques, 3rd edition, 1977, chapter 6 (ratio estimators).

    Examples
    --------
    >>> mean_intervals([0, 1], [0.5, 1], [1, 1]).upper
    Interval(low=1.0, high=1.0)
    """
    chosen = StatisticsSettings(**settings)
    lengths = [len(np.atleast_1d(np.asarray(values))) for values in (lower, expected, upper)]
    if len(set(lengths)) != 1:
        raise InvalidValueError("lower, expected and upper", f"must be of one length, but have {lengths}")
    rows = np.stack([vector(lower, "lower"), vector(expected, "expected"), vector(upper, "upper")])
    keep, classes = ~np.isnan(rows[0]) & ~np.isnan(rows[2]), None if classes is None else np.asarray(classes)
    rows = np.stack(all_or_none(Triple(*rows[:, keep])))
    if weights is not None:
        weights = weights[keep]
        rows = rows * weights
    if classes is not None:
        sums = class_sums(np.vstack([rows, np.ones(rows.shape[1]) if weights is None else weights]), classes[keep])[0]
        rows, weights = (sums[:-1], sums[-1]) if average == "query" else (sums[:-1] / sums[-1], None)
    n = rows.shape[1]
    method = chosen.method
    if (
        method == "percentile"
        and within == (0, 1)
        and classes is weights is None
        and n > 1
        and np.isin(rows, (0, 1)).all()
    ):
        method, ends_of_rows = "Wilson", [wilson(exact_mean(row), n, chosen.confidence_level) for row in rows]
    else:
        ends_of_rows = [ends.within(*within) for ends in _of_rows(rows, weights, chosen, within)]
    worst, middle, best = ends_of_rows
    if method == "percentile":  # of the same draws: they ascend with the values, whatever is rounded
        middle, best = middle.at_least(worst), best.at_least(worst).at_least(middle)
    unit = unit or ("query" if classes is None else "class")
    return Intervals(worst, middle, best, chosen.confidence_level, method, n, unit, about_few(n, unit))


def median_intervals(
    lower: Float64, expected: Float64, upper: Float64, *, classes: NDArray[Any] | None = None, **settings: Any
) -> Intervals:
    """Return percentile bootstrap intervals for the medians of lower and upper values, from the same resamples.

    Parameters
    ----------
    lower, expected, upper : (n,)
        Values of queries; one without a lower value is left out. `expected` has an interval where ties change nothing.
    classes : (n,) integers, optional
        Whole classes are drawn; by default each value is a unit.
    settings
        `confidence_level`, `method`, which must be "percentile", `n_resamples` and `seed` of `mean_interval`.

    References
    ----------
    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> values = np.arange(1.0, 100.0)
    >>> median_intervals(values, values, values, method="percentile").lower
    Interval(low=40.0, high=60.0)
    """
    chosen = StatisticsSettings(**settings)
    if chosen.method != "percentile":
        raise InvalidValueError("method", f'must be "percentile" for a median, but is {chosen.method!r}')
    kept = ~np.isnan(lower)
    rows = np.stack([lower, upper])[:, kept]
    of_value = np.arange(rows.shape[1]) if classes is None else np.unique(classes[kept], return_inverse=True)[1]
    order = own_order(*class_sums(rows, of_value)[0])  # of the units, whatever the order in which they came
    n, position = len(order), np.argsort(order)
    ends = [NOTHING, NOTHING]
    if n > 1:
        rng, step, pieces = np.random.default_rng(chosen.seed), max(1, _AT_ONCE // rows.shape[1]), []
        ascending = np.argsort(rows, axis=1, kind="stable")
        for first in range(0, chosen.n_resamples, step):
            size = min(step, chosen.n_resamples - first)
            drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
            times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
            pieces.append([_medians(row[at], times[:, position[of_value[at]]]) for row, at in zip(rows, ascending,
                           strict=True)])  # fmt: skip
        ends = percentiles(np.concatenate(pieces, axis=1), chosen.confidence_level)
    worst, best = ends[0], ends[1].at_least(ends[0])
    middle = worst if (rows[0] == rows[1]).all() else NOTHING
    unit = "query" if classes is None else "class"
    return Intervals(worst, middle, best, chosen.confidence_level, chosen.method, n, unit, about_few(n, unit))


def _medians(values: Float64, times: Int64) -> Float64:
    """Return the median of ascending values, of which each occurs so many times, for each row of (k, n)."""
    seen = np.cumsum(times, axis=1)
    total = seen[:, -1:]
    low, high = (2 * seen >= total).argmax(axis=1), (2 * seen > total).argmax(axis=1)
    return np.asarray((values[low] + values[high]) / 2)


def standard_error(values: ArrayLike) -> float:
    """Return the standard error of a mean: the sample's standard deviation (n − 1 degrees of freedom) over √n.

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
    sample = defined(values, "values")
    if len(sample) < 2:
        return math.nan
    if sample.min() == sample.max():
        return 0.0
    squares = np.square(sample - exact_mean(sample))
    return math.sqrt(math.fsum(squares) / (len(sample) - 1) / len(sample))


def normal_interval(
    mean: float, standard_error: float, confidence_level: float = 0.95, degrees_of_freedom: float | None = None
) -> Interval:
    """Return the interval mean ± quantile · standard error, of the normal distribution or of Student's.

    Parameters
    ----------
    mean, standard_error : float
        NaN in either gives NaN ends.
    confidence_level : float
        Strictly between 0 and 1.
    degrees_of_freedom : float, optional
        Those of Student's distribution; by default the quantile is that of the normal distribution.

    Examples
    --------
    >>> normal_interval(0, 1)
    Interval(low=-1.959963984540054, high=1.959963984540054)
    """
    level = level_between(confidence_level)
    stats = require("scipy.stats", "stats", "a confidence interval")
    if math.isnan(mean) or math.isnan(standard_error):
        return NOTHING
    if standard_error == 0:
        return Interval(float(mean), float(mean))
    law, nu = (stats.norm, ()) if degrees_of_freedom is None else (stats.t, (degrees_of_freedom,))
    margin = float(law.isf((1 - level) / 2, *nu)) * standard_error
    return Interval(mean - margin, mean + margin)


def welch_interval(
    difference: float, standard_errors: Sequence[float], sizes: Sequence[int], confidence_level: float
) -> Interval:
    """Return the interval for a difference of means of two independent samples, from standard errors and sizes."""
    level = level_between(confidence_level)
    if min(sizes) < 2:
        return NOTHING
    return normal_interval(difference, math.hypot(*standard_errors), level, welch_degrees(standard_errors, sizes))


def welch_degrees(standard_errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Return the degrees of freedom for a sum or difference of means, after Welch and Satterthwaite.

    Examples
    --------
    >>> welch_degrees([1.0, 1.0], [3, 3])
    4.0
    """
    squares = [error**2 for error in standard_errors]
    parts = [square**2 / (size - 1) for square, size in zip(squares, sizes, strict=True)]
    return math.fsum(squares) ** 2 / math.fsum(parts) if any(parts) else math.inf


def _of_rows(
    rows: Float64, weights: Float64 | None, settings: StatisticsSettings,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> list[Interval]:  # fmt: skip
    """Return an interval for the mean of each row (k, n), or for the ratio of its sum to that of the weights."""
    order = own_order(*rows) if weights is None else own_order(*rows, weights)
    rows, weights = rows[:, order], None if weights is None else weights[order]
    distinct = {row.tobytes(): row for row in rows}  # without ties in the ranking, all three are one
    intervals = {key: _without_draws(row, weights, settings, within) for key, row in distinct.items()}
    open_keys = [key for key, interval in intervals.items() if interval is None]
    if open_keys:
        drawn = _bootstrap(np.stack([distinct[key] for key in open_keys]), weights, settings)
        intervals.update(zip(open_keys, drawn, strict=True))
    return [interval for row in rows if (interval := intervals[row.tobytes()]) is not None]


def _without_draws(
    row: Float64, weights: Float64 | None, settings: StatisticsSettings, within: tuple[float, float]
) -> Interval | None:
    """Return the interval of a row by a formula; None if it needs draws."""
    total = len(row) if weights is None else math.fsum(weights)
    mean = math.fsum(row) / total if total else math.nan
    ratios = row if weights is None else row / weights
    if len(row) < 2 or math.isnan(mean):
        return NOTHING
    if ratios.max() - ratios.min() <= (0 if weights is None else _ROUNDING * abs(mean)):
        return unseen(mean, len(row), settings.confidence_level, *within)
    if settings.method in BOOTSTRAP:
        return None
    if weights is not None:  # linearised
        row = (row - mean * weights) / (total / len(weights))
    return normal_interval(mean, standard_error(row), settings.confidence_level, len(row) - 1)


def _bootstrap(rows: Float64, weights: Float64 | None, settings: StatisticsSettings) -> list[Interval]:
    """Return the interval of each row, by the method "percentile" or "BCa"."""
    n, rng = rows.shape[1], np.random.default_rng(settings.seed)

    def ratio(drawn: Int64, axis: int) -> Float64:
        sums: Float64 = np.stack([row.take(drawn).sum(axis) for row in rows])
        sums /= drawn.shape[axis] if weights is None else weights.take(drawn).sum(axis)
        return sums

    if settings.method == "BCa":
        return [Interval(float(a), float(b)) for a, b in zip(*_bca(ratio, n, settings, rng), strict=True)]
    distinct, counts = (rows, np.ones(n)) if weights is not None else np.unique(rows, axis=1, return_counts=True)
    repeated = len(counts) * _REPEATS <= n  # then it is quicker to draw how often each is drawn
    step, pieces = max(1, _AT_ONCE // (len(counts) if repeated else n)), []
    for first in range(0, settings.n_resamples, step):
        size = min(step, settings.n_resamples - first)
        if repeated:
            drawn = rng.multinomial(n, counts / n, size=size)
            pieces.append(np.stack([(drawn * row).sum(axis=1) for row in distinct]) / n)
        else:
            pieces.append(ratio(rng.integers(0, n, (size, n)), axis=-1))
    return percentiles(np.concatenate(pieces, axis=1), expanded(settings.confidence_level, n))


def wilson(share: float, n: int, level: float) -> Interval:
    """Return Wilson's score interval for a share of n independent hits.

    References
    ----------
    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22, 1927.

    Examples
    --------
    >>> low, high = wilson(1.0, 20, 0.95)
    >>> round(low, 4), high
    (0.8389, 1.0)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, scale = (share + z * z / (2 * n)), 1 + z * z / n
    half = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    return Interval(max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))


def unseen(value: float, n: int, level: float, least: float, most: float) -> Interval:
    """Return the interval of a mean of which n units all have one value, for the values that they may have missed.

    A share of at most 1 − (α/2)^(1/n) of the population has others, which lie between `least` and `most`. Without
    these limits the interval has width zero.

    Examples
    --------
    >>> low, high = unseen(1.0, 20, 0.95, 0.0, 1.0)
    >>> round(low, 4), high
    (0.8316, 1.0)
    """
    if math.isinf(most - least):
        return Interval(value, value)
    missed = missed_share(n, level)
    return Interval(value - missed * (value - least), value + missed * (most - value))


def missed_share(n: float, level: float) -> float:
    """Return the largest share of a population that n units miss with a chance of at least (1 − level) / 2."""
    return float(1 - ((1 - level) / 2) ** (1 / n))


def expanded(level: float, n: int) -> float:
    """Return the level at which the percentile interval of n units is as wide as Student's t and n − 1 ask for.

    References
    ----------
    T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69, 2015, section 5.3.

    Examples
    --------
    >>> round(expanded(0.95, 20), 4), round(expanded(0.95, 1000), 4)
    (0.9682, 0.9504)
    """
    return 2 * NormalDist().cdf(student_quantile(level, n - 1) * math.sqrt(n / (n - 1))) - 1


def student_quantile(level: float, nu: float) -> float:
    """Return Student's two-sided quantile for `nu` degrees of freedom, from that of the normal distribution.

    By the expansion of Abramowitz and Stegun, 26.7.5.

    Examples
    --------
    >>> round(student_quantile(0.95, 10), 3)
    2.228
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    terms = (
        (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )  # fmt: skip
    return z + sum(term / nu**power for power, term in enumerate(terms, 1))


def _bca(statistic: Callable[..., Float64], n: int, settings: StatisticsSettings, rng: np.random.Generator) -> Any:
    """Run SciPy's bias-corrected and accelerated bootstrap on the numbers of the units; NaN where it has no value."""
    stats = require("scipy.stats", "stats", "a bootstrap interval")
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", getattr(stats, "DegenerateDataWarning", RuntimeWarning))
        return stats.bootstrap(
            (np.arange(n),),
            statistic,
            n_resamples=settings.n_resamples,
            batch=max(1, _AT_ONCE // n),
            confidence_level=settings.confidence_level,
            method="BCa",
            rng=rng,
        ).confidence_interval


def percentiles(values: Float64, level: float) -> list[Interval]:
    """Return the percentile interval of each row, from its values of all resamples; NaN where one has none.

    Quantiles are linear between order statistics (Hyndman and Fan 1996, number 7).

    Examples
    --------
    >>> percentiles(np.array([[0.0, 0.25, 0.5, 0.75, 1.0]]), 0.5)
    [Interval(low=0.25, high=0.75)]
    """
    shares = np.array([(1 - level) / 2, 1 - (1 - level) / 2])
    ordered, n = np.sort(values, axis=1), values.shape[1]
    position = shares * n + (1 - shares)  # counted from 1
    below, part = position // 1 - 1, position % 1
    near, far = (ordered[:, np.clip(rank, 0, n - 1).astype(np.int64)] for rank in (below, below + 1))
    return [Interval(*map(float, ends)) for ends in (1 - part) * near + part * far]


# Checks, and notes about the units


def vector(values: ArrayLike, name: str) -> Float64:
    """Return real numbers in one dimension as float64; NaN where there is no value."""
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
    """Return real numbers in one dimension, without NaN."""
    array = vector(values, name)
    return array[~np.isnan(array)]


def class_sums(rows: Float64, classes: NDArray[Any]) -> tuple[Float64, Float64]:
    """Return correctly rounded sums over each class that occurs, (k, n_class), and the classes' numbers of values.

    Examples
    --------
    >>> class_sums(np.array([[1.0, 2.0, 4.0]]), np.array([7, 3, 7]))
    (array([[2., 5.]]), array([1., 2.]))
    """
    order = np.argsort(classes, kind="stable")
    in_order, n = classes[order], len(classes)
    ends = np.append(np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1])[:n]), n)
    sizes = np.diff(ends)
    sums = [[math.fsum(row[i:j]) for i, j in pairwise(ends.tolist())] for row in rows[:, order].tolist()]
    return np.array(sums, dtype=np.float64).reshape(len(rows), len(sizes)), sizes.astype(np.float64)


def own_order(*rows: Float64) -> Int64:
    """Return the order of the columns by the first row, then by the second and so on, (n,).

    Examples
    --------
    >>> own_order(np.array([0.5, 0.0, 0.5]), np.array([2.0, 1.0, 1.0]))
    array([1, 2, 0])
    """
    return np.lexsort(rows[::-1])


def counted(n: int, unit: str) -> str:
    """Format a number of units.

    Examples
    --------
    >>> counted(1, "class"), counted(12, "class")
    ('1 class', '12 classes')
    """
    return f"{n} {unit if n == 1 else UNITS[unit]}"


def about_few(n: int, unit: str, where: str = "") -> tuple[str, ...]:
    """Return a sentence if there are too few units to say much; else none. `where` says which of several sets has them.

    Examples
    --------
    >>> about_few(6, "class")
    ('Only 6 classes: with fewer than about 10 neither intervals nor p-values can be trusted.',)
    """
    least = FEW_CLASSES if unit in ("class", "group", "subject", "task") else FEW_UNITS
    if n >= least:
        return ()
    fewer = f"with fewer than about {least} neither intervals nor p-values can be trusted"
    return (Caution(f"Only {counted(n, unit)}{where}: {fewer}."),)
