"""One measure of a report: its means, the values of the queries, and confidence intervals of the means."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.engine.profiles.parts import at_level
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.inputs.samples import QueryLabels
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.measures.family import Measure
from deadheat.reports.answer import KINDS, notebook_row
from deadheat.reports.averaging import Average, Averaging, of_singleton
from deadheat.reports.tables import DIGITS, count, value
from deadheat.support.arrays import Float64
from deadheat.support.caching import cached_property
from deadheat.support.floats import PlainFloats
from deadheat.support.lazy import lazy
from deadheat.support.means import all_or_none, middle
from deadheat.support.triple import Triple

if TYPE_CHECKING:
    from deadheat.reports.statistics import intervals
    from deadheat.reports.statistics.intervals import Intervals
else:
    intervals = lazy("deadheat.reports.statistics.intervals")


ENDS = {"": "expected", "_lower": "lower", "_upper": "upper"}  # of the keys that a value has in other libraries
DEFAULT_METHOD = "percentile"  # of an interval over queries or classes; see `deadheat.reports.statistics.intervals`


@dataclass(frozen=True, eq=False)
class Result(PlainFloats):
    """One measure of a profile: means as fractions in [0, 1], or in the measure's unit, and the values of the queries.

    **Ties:** `lower` is the value when every tie is broken in the worst way, `upper` in the best, and `expected` is
    the exact mean over all ways to break them. **Undefined:** NaN where no query has a value, and `expected` under
    a tolerance, and where rankings were cut and the value of a query depends on what was not returned.

    Attributes
    ----------
    name : str
        The measure's name as deadheat writes it.
    lower, expected, upper : float
        Means, or for a measure such as ``median(MRR)`` medians; a median has an expected value only where its bounds
        are equal. Sums are correctly rounded (`math.fsum`), so that their bits do not depend on the order of the
        queries.
    std : float
        Standard deviation of the mean over independent, uniformly random tie-breaking of every query.
    per_query : Triple
        The arrays `lower`, `expected` and `upper`, shape (n_query,). NaN for queries that are left out of the mean.
    std_per_query : (n_query,)
        Standard deviation of each query's value over random tie-breaking.
    n_query : int
        Queries that count in the mean.
    n_undefined : int
        Queries left out although they have a relevant item, because the measure has no value there (AUC without
        an irrelevant item, or mAP(rel=2) without one of grade 2).
    measure : Measure
        With its unit, and the `sign` of better values.
    """

    name: str
    per_query: Triple[Float64]
    n_query: int
    n_undefined: int
    _profile: TieProfile = field(repr=False)
    _averaging: Averaging = field(repr=False)
    measure: Measure = field(repr=False)

    @cached_property
    def lower(self) -> float:
        return self._mean(self.per_query.lower)

    @cached_property
    def expected(self) -> float:
        if self.measure.median:
            return self.lower if self.lower == self.upper else math.nan
        expected = all_or_none(self.per_query).expected
        return self._averaging.mean(expected) if self._affected or np.isnan(expected).all() else self.lower

    @cached_property
    def upper(self) -> float:
        return self._mean(self.per_query.upper) if self._affected else self.lower

    def _mean(self, values: Float64) -> float:
        return middle(values) if self.measure.median else self._averaging.mean(values)

    @cached_property
    def _affected(self) -> bool:
        """True if ties make a difference to any query; otherwise the three values of every query are equal."""
        return bool((self.per_query.lower < self.per_query.upper).any())

    @cached_property
    def std_per_query(self) -> Float64:
        std = measure_values.std(self._profile, self.measure)
        none_relevant = at_level(self._profile, self.measure.rel).n_relevant == 0
        given_a_value = none_relevant & ~np.isnan(self.per_query.expected)
        return np.where(given_a_value, 0.0, std)

    @cached_property
    def std(self) -> float:
        if self.measure.median:
            return 0.0 if self.lower == self.upper else math.nan
        unknown = np.isnan(self.std_per_query) & ~np.isnan(self.per_query.lower)
        return math.nan if unknown.any() else self._averaging.std(np.square(self.std_per_query))

    def interval(
        self,
        *,
        confidence_level: float = 0.95,
        resample: Average | None = None,
        labels: QueryLabels | None = None,
        method: str | None = None,
        n_resamples: int = 9999,
        seed: int = 0,
    ) -> Intervals:
        """Return confidence intervals for the mean over the population that the queries were drawn from.

        Parameters
        ----------
        confidence_level : float
            The level of each of the three intervals by itself, strictly between 0 and 1.
        resample : {"query", "class"}, optional
            The unit that is drawn independently of the others: a query, or a whole class with all of its queries. By
            default classes, wherever labels are known and the queries were not ranked against a separate gallery: in
            leave one out the queries of a class are each other's gallery, and rise and fall together. Otherwise, and
            for a report on a profile without labels, queries.
        labels : (n_query,) or dict, optional
            The labels of the queries, or ``{query_id: label}``; by default the classes that the report knows. For a
            mean over queries they can be any other clusters that were drawn as a whole, such as pages or people.
        method : {"percentile", "BCa", "t"}, optional
            A bootstrap, by default ``"percentile"``, or the mean ± Student's quantile times its standard error; see
            `deadheat.reports.statistics.intervals`.
        n_resamples, seed : int
            The number of resamples of the bootstrap, and the seed of their draws.

        Returns
        -------
        Intervals
            For lower, expected and upper, all from the same resamples; fractions. **Ties:** `lower.low` to
            `upper.high` covers the effects of both ties and the drawing of queries. **Undefined:** NaN where fewer
            than two queries or classes have a value, and for `expected` under a tolerance. Queries without a value
            are left out. Ends are limited to [0, 1], and do not depend on the order of the samples. `notes` has a
            sentence if there are fewer than about ten classes.

        Raises
        ------
        ValueError
            If classes are to be drawn and are not known, or if queries are to be drawn for a mean over classes, where a
            query is not a unit by itself.
        MissingPackageError
            Without SciPy, which the extra ``stats`` brings; ``"percentile"`` does without.

        Notes
        -----
        The gallery stays as it is: the interval says nothing of another gallery. For n queries the time grows with
        n_resamples × n, in memory that does not (BCa: also with n²): about ten seconds for 100 000 queries, and far
        less where few of the values are distinct, as those of Hit@k are.

        Examples
        --------
        >>> from deadheat import evaluate, TieProfile
        >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)]], n_ranked=[2, 2])
        >>> interval = evaluate(profile, "Hit@1")["Hit@1"].interval()
        >>> interval.lower, interval.upper
        (Interval(low=0.0, high=1.0), Interval(low=0.5, high=1.0))
        """
        settings: dict[str, Any] = {
            "classes": self._averaging.clusters(resample, labels), "confidence_level": confidence_level,
            "method": DEFAULT_METHOD if method is None else method, "n_resamples": n_resamples, "seed": seed,
        }  # fmt: skip
        if self.measure.median:
            made = intervals.median_intervals(*self.per_query, **settings)
        else:
            made = intervals.mean_intervals(
                *self.per_query, average=self._averaging.average, weights=self._averaging.weights,
                within=self.measure.row.within, **settings,
            )  # fmt: skip
        notes = made.notes + self._averaging.caveats(resample, labels)
        return replace(made, notes=notes, kind=self.measure.unit)

    def summary(self, digits: int = DIGITS) -> str:
        """Return the number to report, in per cent: expected with [lower, upper], or one number where they are equal.

        Where lower and upper differ but would print the same, there are more decimals, up to six.

        Examples
        --------
        >>> from deadheat import evaluate, TieProfile
        >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)]], n_ranked=[2, 2])
        >>> evaluate(profile)["Hit@1"].summary(), evaluate(profile[1])["Hit@1"].summary()
        ('Hit@1 75.00 [50.00, 100.00] %', 'Hit@1 100.00 %')
        """
        kind = KINDS[self.measure.unit]
        return f"{self.name} {value(self, digits, kind.scale)} {kind.unit_shown}"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        what = "Median" if self.measure.median else "Mean"
        notes = [f"{what} over {count(self.n_query, 'query', 'queries')} with a value."]
        return notebook_row(self.name, self, notes, kind=self.measure.unit)

    def __repr__(self) -> str:
        return f"Result({self.name!r}, lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"


def results_of(
    profile: TieProfile,
    names: Iterable[str],
    singletons: str,
    averaging: Averaging,
    threads: int,
    coverage: bool = False,
) -> dict[str, Result]:
    """Return the results for some measures of a profile, by name."""
    parsed = [measure_names.parse(name) for name in names]
    left_out = np.zeros(profile.n_query, dtype=np.bool_) if averaging.weights is None else averaging.weights == 0
    has_relevant = (profile.n_relevant > 0) & ~left_out
    results = {}
    if any(measure.median for measure in parsed) and not averaging.is_plain:
        raise InvalidValueError("measures", "must be no medians where queries are weighted or the mean is over classes")
    for measure, values in zip(parsed, measure_values.all_bounds(profile, parsed, threads, coverage), strict=True):
        if singletons != "skip":  # they come as NaN, and get what they count as
            filler = of_singleton(singletons, measure.kind == "precision")
            if filler < measure.row.within[0] or (filler and measure.unit != "fraction"):
                rule = f"must be 'skip' for {measure.name}, which is in {measure.unit}, but is {singletons!r}"
                raise InvalidValueError("singletons", rule)
            for array in (values.lower, values.upper) if profile.bounds_only else values:
                array[at_level(profile, measure.rel).n_relevant == 0] = filler
        for array in values:
            array[left_out] = np.nan
        defined = ~np.isnan(values.lower)
        counts = int(np.count_nonzero(defined)), int(np.count_nonzero(has_relevant & ~defined))
        results[measure.name] = Result(measure.name, values, *counts, profile, averaging, measure)
    return results


@dataclass(frozen=True, eq=False)
class ScaledResult(Result):
    """A measure with each query's value times a factor of its own, which replaces the divisor of the measure."""

    _of: Result = field(repr=False)
    _factors: Float64 = field(repr=False)

    @cached_property
    def std_per_query(self) -> Float64:
        return self._of.std_per_query * self._factors


def over_min_of_k_and_relevant(result: Result, k: int) -> Result:
    """Return a measure that divides by R, the number of relevant items, with min(k, R) as its divisor instead.

    This is the ``map@k`` of sentence-transformers, and the capped recall of MTEB and BEIR.

    Examples
    --------
    Of three relevant items, one is found, at rank 1. AP@1 is 1/3, and 1 if divided by min(1, 3) instead:

    >>> from deadheat import evaluate, TieProfile
    >>> profile = TieProfile.from_groups([[(0, 0, 1, 1)]], n_ranked=[9], n_relevant=[3])
    >>> over_min_of_k_and_relevant(evaluate(profile, "mAP@1")["mAP@1"], 1).lower
    1.0
    """
    n_relevant = result._profile.n_relevant
    factors = n_relevant / np.minimum(k, np.maximum(n_relevant, 1))
    values = Triple(*(np.minimum(values * factors, 1.0) for values in result.per_query))
    name, counts = f"{result.name} over min(k, R)", (result.n_query, result.n_undefined)
    return ScaledResult(name, values, *counts, result._profile, result._averaging, result.measure, result, factors)
