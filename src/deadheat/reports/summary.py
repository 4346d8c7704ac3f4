"""From a tie profile to the numbers that people quote: means over queries, and the report that shows them.

In come profiles and per-query values; out go a `Report` and its `Result`s. Nothing here knows how a distance is
computed, and nothing here rounds: text and tables are made in `_render`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import counting, inputs
from deadheat import measures as rank_measures
from deadheat import ties as tie_rules
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike, open_labels
from deadheat.profiles import Int64, TieProfile
from deadheat.profiles import Ties as TieCounts
from deadheat.reports import render
from deadheat.statistics.intervals import mean_intervals
from deadheat.support import checks
from deadheat.support.means import exact_mean, exact_total
from deadheat.support.triple import Triple

if TYPE_CHECKING:
    from deadheat.statistics.intervals import Intervals

Float64 = NDArray[np.float64]
Singletons = Literal["skip", "zero", "one", "balanced"]
Average = Literal["query", "class"]


def evaluate(
    embeddings: EmbeddingsLike,
    labels: LabelsLike,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    measures: str | Iterable[str] | None = None,
    distance: str = "cosine",
    ties: str | tie_rules.Ties = "exact",
    junk: ArrayLike | None = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    device: Any = None,
) -> Report:
    """Rank the gallery for each query by distance, and average each measure over the queries.

    The same as `measure(profile(...))`: see `deadheat.profile` for the embeddings, which can also be files, `distance`,
    `ties`, `junk`, `threads`, `progress`, `checkpoint` and `device`, and `measure` for the others.

    Parameters
    ----------
    embeddings : (n_query, dim)
        Embeddings of the queries. Without a gallery, each query is ranked against all others (leave one out).
    labels : (n_query,)
        Integers or strings.
    gallery, gallery_labels : (n_gallery, dim) and (n_gallery,), optional
        The items that are ranked.
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, ``"Hit@1"``, ``"nDCG@10"``; default `deadheat.measures.DEFAULT_MEASURES`.
    distance : str
        ``"cosine"``, ``"euclidean"``, ``"inner_product"``, ``"cityblock"`` or ``"hamming"``.
    ties : str, Tolerance or Rounded
        What it means that two items tie; by default, that their distances are equal as real numbers.
    junk, threads, progress, checkpoint, device
        As in `deadheat.profile`.
    singletons, average
        As in `measure`.

    Returns
    -------
    Report
        Lower bound, expectation and upper bound of each measure.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or no query has a relevant item. Names of measures, `singletons` and
        `average` are checked before the work begins.

    Examples
    --------
    Three points on a line, two of them of one class. Seen from 0, the points -1 and 1 are equally far:

    >>> report = evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures=["mAP"])
    >>> report["mAP"].lower, report["mAP"].expected, report["mAP"].upper
    (0.75, 0.875, 1.0)
    """
    names = canonical_measures(measures)
    check_options(singletons, average)
    rule = tie_rules.make(ties)
    known = _reusable(labels)
    taken = counting.profile(
        embeddings,
        known,
        gallery,
        gallery_labels,
        distance=distance,
        ties=rule,
        junk=junk,
        threads=threads,
        progress=progress,
        checkpoint=checkpoint,
        device=device,
    )
    return report_on(
        taken,
        names,
        singletons=singletons,
        average=average,
        labels=known,
        distance=distance,
        tie_rule=rule.describe(distance),
        threads=checks.thread_count(threads),
    )


def measure(
    profile: TieProfile,
    measures: str | Iterable[str] | None = None,
    *,
    singletons: Singletons = "skip",
    average: Average = "query",
    labels: ArrayLike | None = None,
    threads: int | None = None,
) -> Report:
    """Average measures of a profile over its queries.

    Parameters
    ----------
    profile : TieProfile
        From `deadheat.profile` or one of its siblings, or loaded from a file.
    measures : str or iterable of str, optional
        Names of measures; default `deadheat.measures.DEFAULT_MEASURES`.
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without any relevant item counts as. ``"skip"``: left out of the mean, its value is NaN (the
        paper's "chop"). ``"zero"`` (its "null") and ``"one"`` (its "perfect"): that value, in the means and per query.
        ``"balanced"``: 0 for measures of the precision kind and 1 for those of the recall kind.
    average : {"query", "class"}
        The mean over queries, or the mean over classes of the mean over the queries of a class. A class without a
        query that counts does not count.
    labels : (n_query,), optional
        The labels of the queries; needed for ``average="class"``. The report keeps them for `Report.interval`.
    threads : int, optional
        Worker threads, for this call alone; by default as many as there are processors. A small profile takes fewer.

    Returns
    -------
    Report
        Lower bound, expectation and upper bound of each measure.

    Raises
    ------
    ValueError, TypeError
        If a name is unknown, an option is not one of those above, or no query has a relevant item.

    Examples
    --------
    Two items at one distance, one of them relevant:

    >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)]], n_ranked=[2])
    >>> result = measure(profile, "mAP")["AP"]
    >>> result.lower, result.expected, result.upper
    (0.5, 0.75, 1.0)
    """
    if not isinstance(profile, TieProfile):
        raise TypeError(f"profile must be a TieProfile, but got {type(profile).__name__}")
    names = canonical_measures(measures)
    check_options(singletons, average)
    if average == "class" and labels is None:
        raise ValueError('average="class" needs labels, one for each query')
    return report_on(
        profile,
        names,
        singletons=singletons,
        average=average,
        labels=None if labels is None else _checked_labels(labels, profile.n_query),
        tie_rule="tolerance" if profile.bounds_only else None,
        threads=checks.thread_count(threads),
    )


def report_on(profile: TieProfile, names: tuple[str, ...], *, threads: int, **settings: Any) -> Report:
    """The report on a profile, with what was asked for computed at once."""
    if not profile.n_relevant.any():
        raise ValueError(
            f"no query has a relevant item, so that no measure is defined, but got {profile.n_query} queries, "
            "each without a ranked item of its own label"
        )
    report = Report(profile, names, **settings)
    report._compute(names, threads)
    return report


@dataclass(frozen=True, eq=False)
class Result:
    """One measure of a profile: means as fractions in [0, 1], and the values that they are means of.

    **Ties:** `lower` is the value when every tie is broken in the worst way, `upper` in the best, and `expected` is
    the exact mean over all ways to break them. **Undefined:** NaN where no query has a value, and `expected` under
    a tolerance.

    Attributes
    ----------
    name : str
        The measure's name as deadheat writes it.
    lower, expected, upper : float
        Means. Sums are correctly rounded (`math.fsum`), so that their bits do not depend on the order of the queries.
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
        an irrelevant item).
    """

    name: str
    per_query: Triple[Float64]
    n_query: int
    n_undefined: int
    _profile: TieProfile = field(repr=False)
    _classes: Int64 | None = field(repr=False)

    @cached_property
    def lower(self) -> float:
        return self._mean(self.per_query.lower)

    @cached_property
    def expected(self) -> float:
        if self._profile.bounds_only:
            return math.nan
        return self._mean(self.per_query.expected) if self._open else self.lower

    @cached_property
    def upper(self) -> float:
        return self._mean(self.per_query.upper) if self._open else self.lower

    @cached_property
    def _open(self) -> bool:
        """Whether a tie decides anything; where none does, the three values of every query are one."""
        return bool((self.per_query.lower < self.per_query.upper).any())

    @cached_property
    def std_per_query(self) -> Float64:
        std = rank_measures.std(self._profile, rank_measures.parse(self.name))
        filled = (self._profile.n_relevant == 0) & ~np.isnan(self.per_query.expected)
        return np.where(filled, 0.0, std)

    @cached_property
    def std(self) -> float:
        """Square root of the sum of the queries' variances, each with the square of its weight in the mean."""
        variance = np.square(self.std_per_query)
        if self._classes is None:
            sums = [exact_total(variance)]
        else:
            sums = [(math.fsum(variance[group].tolist()), len(group)) for group in self._groups]
        shares = [total / count**2 for total, count in sums if count]
        return math.sqrt(math.fsum(shares)) / len(shares) if shares else math.nan

    def _mean(self, values: Float64) -> float:
        """The mean over queries, or over classes of the mean over the queries of a class."""
        if self._classes is None:
            return exact_mean(values)
        means = [math.fsum(values[group].tolist()) / len(group) for group in self._groups]
        return math.fsum(means) / len(means) if means else math.nan

    @cached_property
    def _groups(self) -> list[Int64]:
        """The queries that count, apart by class."""
        assert self._classes is not None
        queries = np.flatnonzero(~np.isnan(self.per_query.lower))
        queries = queries[np.argsort(self._classes[queries], kind="stable")]
        return np.split(queries, np.flatnonzero(np.diff(self._classes[queries])) + 1) if len(queries) else []

    def __repr__(self) -> str:
        return f"Result({self.name!r}, lower={self.lower!r}, expected={self.expected!r}, upper={self.upper!r})"


@dataclass(frozen=True, eq=False)
class Report:
    """The measures of a profile, and what there is to know about its ties.

    `report["mAP"]` is the `Result` for a measure, under any of its names; one that was not asked for is computed
    from the profile, which the report keeps. Printing a report gives a table in per cent; everything else is a
    fraction in [0, 1].

    Attributes
    ----------
    profile : TieProfile
        What was measured.
    measures : tuple of str
        The measures that the table shows.
    singletons, average : str
        How queries without a relevant item were treated, and what the mean is over.
    distance : str or None
        The distance, where the report comes from embeddings.
    labels : (n_query,) or None
        The labels of the queries, where they were given.
    tie_rule : str or None
        What a tie was: ``"exact"``, a rounding such as ``"float16 similarity"``, or a tolerance; None if not known.

    Examples
    --------
    >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)], []], n_ranked=[2, 2, 2])
    >>> print(measure(profile, ["mAP", "Hit@1"]))
    measure (%)   lower  expected   upper
    mAP           75.00     87.50  100.00
    Hit@1         50.00     75.00  100.00
    <BLANKLINE>
    3 queries, 1 of them without a relevant item (a singleton) and left out of the means.
    Ties: 1 mixed tie group in 1 query, of 2 items.
    """

    profile: TieProfile = field(repr=False)
    measures: tuple[str, ...]
    singletons: str = "skip"
    average: str = "query"
    labels: Any = field(default=None, repr=False)
    distance: str | None = None
    tie_rule: str | None = None
    _results: dict[str, Result] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Result:
        """The result for a measure; raises ValueError for an unknown name."""
        parsed = rank_measures.parse(name)
        if parsed.name not in self._results:
            self._compute([parsed.name], threads=1)
        return self._results[parsed.name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def _compute(self, names: Iterable[str], threads: int) -> None:
        """Add the results for some measures."""
        parsed = [rank_measures.parse(name) for name in names]
        found = self.profile.n_relevant > 0
        for measure, values in zip(parsed, rank_measures.all_bounds(self.profile, parsed, threads), strict=True):
            self._fill(values, measure.kind, ~found)
            defined = ~np.isnan(values.lower)
            counts = int(np.count_nonzero(defined)), int(np.count_nonzero(found & ~defined))
            classes = self.classes if self.average == "class" else None
            self._results[measure.name] = Result(measure.name, values, *counts, self.profile, classes)

    def _fill(self, values: Triple[Float64], kind: str, singleton: NDArray[np.bool_]) -> None:
        """Give singletons the value that the report counts them as; they come as NaN."""
        if self.singletons != "skip":
            filler = {"zero": 0.0, "one": 1.0, "balanced": 0.0 if kind == "precision" else 1.0}[self.singletons]
            for array in (values.lower, values.upper) if self.profile.bounds_only else values:
                array[singleton] = filler

    @property
    def n_query(self) -> int:
        """How many queries there are, singletons included."""
        return self.profile.n_query

    @property
    def n_singleton(self) -> int:
        """How many queries have no relevant item."""
        return int((self.profile.n_relevant == 0).sum())

    @cached_property
    def classes(self) -> Int64 | None:
        """The classes of the queries by number, (n_query,); None where their labels were not given."""
        return None if self.labels is None else inputs.label_codes(_checked_labels(self.labels, self.n_query))[1]

    @property
    def n_class(self) -> int | None:
        """How many classes have a query with a relevant item; None unless the average is over classes."""
        if self.classes is None or self.average != "class":
            return None
        return len(np.unique(self.classes[self.profile.n_relevant > 0]))

    @property
    def ties(self) -> TieCounts:
        """The mixed tie groups: how many, in how many queries, and the size of the largest."""
        return self.profile.ties

    def interval(
        self,
        measure: str,
        *,
        confidence_level: float = 0.95,
        resample: Average | None = None,
        labels: ArrayLike | None = None,
        method: str = "percentile",
        n_resamples: int = 9999,
        seed: int = 0,
    ) -> Intervals:
        """Confidence intervals for the mean of a measure over the population that the queries were drawn from.

        Parameters
        ----------
        measure : str
            Any measure of the profile, whether or not the table shows it.
        confidence_level : float
            Of each of the three intervals by itself, strictly between 0 and 1.
        resample : {"query", "class"}, optional
            What is drawn, each independently of the others: queries, or whole classes with all of their queries. By
            default what the report averages over. Queries of one class that resemble each other, or that are each
            other's gallery in leave one out, are not independent; then classes are the safer choice.
        labels : (n_query,), optional
            The labels of the queries, for ``resample="class"``; by default the classes that the report knows. Any
            other clusters that were drawn as a whole, such as pages or people, will do for a mean over queries.
        method : {"percentile", "basic", "BCa", "auto", "normal", "t"}
            One of SciPy's bootstraps, or the mean ± a quantile times its standard error; see
            `deadheat.statistics.intervals.mean_interval`.
        n_resamples, seed
            How often the bootstrap draws, and the seed of what it draws.

        Returns
        -------
        Intervals
            For lower, expected and upper, all from the same resamples; fractions. **Ties:** `lower.low` to
            `upper.high` covers both what ties and what the drawing of queries can do. **Undefined:** NaN where fewer
            than two queries or classes have a value, and for `expected` under a tolerance. Queries without a value
            are left out. Ends are cut to [0, 1].

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described; if classes are to be drawn and are not known; or if queries are to be
            drawn for a mean over classes, where no query stands for itself.
        ModuleNotFoundError
            Without SciPy, which the extra ``stats`` brings.

        Notes
        -----
        The gallery stays as it is: the interval says nothing of another gallery. For n queries the time grows with
        n_resamples × n, in memory that does not (BCa: also with n²): about ten seconds for 100 000 queries, and far
        less where few of the values are distinct, as those of Hit@k are.

        Examples
        --------
        >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)]], n_ranked=[2, 2])
        >>> found = measure(profile, "Hit@1").interval("Hit@1")
        >>> found.lower, found.upper
        (Interval(low=0.0, high=1.0), Interval(low=1.0, high=1.0))
        """
        chosen = checks.choice(self.average if resample is None else resample, get_args(Average), "resample")
        return mean_intervals(
            *self[measure].per_query,
            classes=self._clusters(chosen, labels),
            average=self.average,
            confidence_level=confidence_level,
            method=method,
            n_resamples=n_resamples,
            seed=seed,
        ).within(0, 1)

    def _clusters(self, resample: str, labels: ArrayLike | None) -> Int64 | None:
        """The classes to draw as a whole; None where each query is drawn by itself."""
        if resample == "query":
            if self.average == "class":
                raise ValueError('resample must be "class" for a mean over classes, but is "query"')
            if labels is not None:
                raise ValueError('labels must be left out unless resample is "class", but it is "query"')
            return None
        if labels is None:
            if self.classes is None:
                raise ValueError('resample="class" needs labels, one for each query')
            return self.classes
        if self.average == "class":
            raise ValueError("labels must be left out for a mean over classes, which are drawn as the report has them")
        return inputs.label_codes(_checked_labels(labels, self.n_query))[1]

    def to_dict(self, *, std: bool = False) -> dict[str, Any]:
        """The report as plain Python values that JSON can hold; None where a value is undefined.

        Parameters
        ----------
        std : bool
            Also the standard deviation of each mean over random tie-breaking.
        """
        from importlib.metadata import version

        columns = ("lower", "expected", "upper", *(("std",) if std else ()))
        results = {
            name: {
                **{column: json_number(getattr(self[name], column)) for column in columns},
                "n_query": self[name].n_query,
                "n_undefined": self[name].n_undefined,
            }
            for name in self.measures
        }
        return {
            "deadheat": version("deadheat"),
            "distance": self.distance,
            "ties": {"rule": self.tie_rule, **vars(self.ties)},
            "singletons": self.singletons,
            "average": self.average,
            "n_query": self.n_query,
            "n_singleton": self.n_singleton,
            "n_class": self.n_class,
            "measures": results,
            "profile": self.profile.digest(),
        }

    def to_json(self, *, std: bool = False) -> str:
        """`to_dict` as JSON text; null where a value is undefined."""
        return json.dumps(self.to_dict(std=std), indent=2, allow_nan=False)

    def to_markdown(self, *, std: bool = False) -> str:
        """The table in Markdown, in per cent, with what there is to say below it."""
        return render.markdown(self, std=std)

    def to_text(self, *, std: bool = False) -> str:
        """The table as plain text, in per cent, with what there is to say below it: what `print` shows."""
        return render.text(self, std=std)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def canonical_measures(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """The measures' own names, each once, in the order in which they were asked for."""
    if names is None:
        names = rank_measures.DEFAULT_MEASURES
    asked = (names,) if isinstance(names, str) else tuple(names)
    if not asked:
        raise ValueError("measures must name at least one measure, but got none")
    return tuple(dict.fromkeys(rank_measures.parse(name).name for name in asked))


def check_options(singletons: str, average: str) -> None:
    checks.choice(singletons, get_args(Singletons), "singletons")
    checks.choice(average, get_args(Average), "average")


def _reusable(labels: LabelsLike) -> Any:
    """Labels that can be gone through twice, and whose files are read once."""
    opened = open_labels(labels, "labels")
    return list(opened) if isinstance(opened, Iterator) else opened


def _checked_labels(labels: LabelsLike, n_query: int) -> NDArray[Any]:
    """One label for each query of a profile."""
    return inputs.labels(open_labels(labels, "labels"), n_query, "labels", "the profile")


def json_number(value: float) -> float | None:
    return None if math.isnan(value) else value
