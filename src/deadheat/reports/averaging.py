"""The checked options of a report, and its means: over queries or classes, and which of these are independent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import InputError, InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import QueryLabels, labels_of_queries
from deadheat.measures.names import parse_all
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.caching import cached_property
from deadheat.support.means import all_or_none, exact_mean, exact_total
from deadheat.support.triple import Triple

NO_LABELS = (
    "No labels are known, so each query counts as independent; where queries come in classes, give their labels."
)


Singletons = Literal["skip", "zero", "one", "balanced"]
Average = Literal["query", "class"]


def of_singleton(singletons: str, of_precision: bool) -> float:
    """Return the value, in a measure of precision or recall, of a query without a relevant item; NaN if left out."""
    return {"skip": np.nan, "zero": 0.0, "one": 1.0, "balanced": 0.0 if of_precision else 1.0}[singletons]


class SummaryOptions(NamedTuple):
    """The options of `deadheat.evaluate`, checked.

    Attributes
    ----------
    measures : tuple of str
        The canonical names of the measures, each once, in the order in which they were asked for.
    singletons, average : str
    """

    measures: tuple[str, ...]
    singletons: str = "skip"
    average: str = "query"

    @classmethod
    def checked(
        cls,
        measures: str | Iterable[str] | None,
        singletons: str = "skip",
        average: str = "query",
        rel: float | None = None,
    ) -> SummaryOptions:
        """Return the options, or raise an error that names the argument.

        Examples
        --------
        >>> SummaryOptions.checked("AP, success@1").measures
        ('mAP', 'Hit@1')
        """
        return cls(
            measure_names(measures, rel),
            checks.choice(singletons, get_args(Singletons), "singletons"),
            checks.choice(average, get_args(Average), "average"),
        )


def measure_names(measures: str | Iterable[str] | None, rel: float | None = None) -> tuple[str, ...]:
    """Return the canonical names, each once, where gains from `rel` on are relevant; the default ones for None."""
    return tuple(measure.name for measure in parse_all(measures, rel=rel))


def fractions(measures: str | Iterable[str] | None, rel: float | None = None) -> tuple[str, ...]:
    """Return the canonical names of means that are fractions in [0, 1]; others are refused.

    Examples
    --------
    >>> fractions("AP MnR")
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: measures must be means in [0, 1] here, but MnR is not
    """
    parsed = parse_all(measures, rel=rel)
    other = next((each.name for each in parsed if each.median or each.row.within != (0, 1)), None)
    if other is not None:
        raise InvalidValueError("measures", f"must be means in [0, 1] here, but {other} is not")
    return tuple(measure.name for measure in parsed)


def require_no_measures(value: Any, name: str, rule: str) -> None:
    """Refuse names of measures in the place of another argument."""
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, str):
        try:
            measure_names(value)
        except InputError:  # names of files
            return
        raise InvalidTypeError(name, f"must be {rule}, but is {checks.shown(value)}; did you mean measures=?")


@dataclass(frozen=True, eq=False)
class Averaging:
    """The mean over queries, perhaps weighted, or over classes of the mean over the queries of a class."""

    average: str  # "query" or "class"
    n_query: int
    labels: Any = field(default=None, repr=False)  # (n_query,), where they are known
    separate_gallery: bool = False  # whether the queries are known to be ranked against others than themselves
    query_ids: tuple[str, ...] | None = field(default=None, repr=False)
    weights: Float64 | None = field(default=None, repr=False)  # (n_query,) of the queries; by default each counts once

    @property
    def is_plain(self) -> bool:
        """True for the mean over queries, each of which counts once."""
        return self.average == "query" and self.weights is None

    @cached_property
    def classes(self) -> Int64 | None:
        """The class of each query by number, (n_query,); None where the labels are not known."""
        return None if self.labels is None else class_numbers(self.labels, self.n_query)

    def mean(self, values: Float64) -> float:
        """Return the mean of the values that are not NaN, (n_query,); a class without any does not count."""
        if self.weights is not None:
            known = ~np.isnan(values)
            total = math.fsum(self.weights[known])
            return math.fsum(self.weights[known] * values[known]) / total if total else math.nan
        return exact_mean(np.array([exact_mean(part) for part in self.parts(values)]))

    def means(self, values: Triple[Float64]) -> Triple[float]:
        """Return the means of lower, expected and upper, of expected as `all_or_none` has it."""
        return Triple(*map(self.mean, all_or_none(values)))

    def std(self, variances: Float64) -> float:
        """Return the standard deviation of the mean of independent values, from their variances, (n_query,)."""
        if self.weights is not None:
            known = ~np.isnan(variances)
            total = math.fsum(self.weights[known])
            return math.sqrt(math.fsum(self.weights[known] ** 2 * variances[known])) / total if total else math.nan
        sums = [exact_total(part) for part in self.parts(variances)]
        shares = [total / count**2 for total, count in sums if count]
        return math.sqrt(math.fsum(shares)) / len(shares) if shares else math.nan

    def clusters(self, resample: str | None = None, labels: QueryLabels | None = None) -> Int64 | None:
        """Return the classes to draw as a whole, by `labels` or else those known; None to draw each query by itself."""
        if self.units(resample, labels) == "query":
            if self.average == "class":
                raise InvalidValueError("resample", 'must be "class" for a mean over classes, but is "query"')
            if labels is not None:
                raise InvalidValueError("labels", 'must be left out unless resample is "class", but it is "query"')
            return None
        if labels is None:
            if self.classes is None:
                raise InvalidValueError('resample="class"', "needs labels, one for each query")
            return self.classes
        if self.average == "class":
            raise InvalidValueError(
                "labels", "must be left out for a mean over classes, which are drawn as the report has them"
            )
        return class_numbers(labels, self.n_query, self.query_ids)

    def units(self, resample: str | None, labels: QueryLabels | None = None) -> str:
        """Return the unit that is drawn, "query" or "class".

        By default classes if the mean is over them, if their `labels` are given, or if they are known and there is no
        separate gallery: in leave one out the values of the queries of a class rise and fall together.
        """
        if resample is not None:
            return checks.choice(resample, get_args(Average), "resample")
        together = self.labels is not None and not self.separate_gallery
        return "class" if self.average == "class" or labels is not None or together else "query"

    def caveats(self, resample: str | None, labels: QueryLabels | None = None) -> tuple[str, ...]:
        """Return a sentence if queries are drawn only because their classes are not known; else none."""
        known = resample is not None or labels is not None or self.labels is not None or self.separate_gallery
        return () if known else (NO_LABELS,)

    def parts(self, values: Float64) -> list[Float64]:
        """Return the values of each class, without NaN; all in one part for a mean over queries."""
        if self.average == "query" or self.classes is None:
            return [values]
        queries = np.flatnonzero(~np.isnan(values))
        queries = queries[np.argsort(self.classes[queries], kind="stable")]
        cuts = np.flatnonzero(np.diff(self.classes[queries])) + 1
        return np.split(values[queries], cuts) if len(queries) else []


def query_weights(weights: ArrayLike | Mapping[Any, float], n_query: int, ids: Sequence[str] | None) -> Float64:
    """Return the weight of each query, checked: in their order, or by their `ids` in a dictionary.

    Examples
    --------
    >>> query_weights({"q2": 3, "q1": 1}, 2, ["q1", "q2"])
    array([1., 3.])
    """
    if isinstance(weights, Mapping):
        if ids is None:
            raise InvalidValueError("weights", "must be an array, one for each query, for the queries have no ids")
        by_id = {str(query): weight for query, weight in weights.items()}
        missing = next((query for query in ids if query not in by_id), None)
        if missing is not None:
            raise InvalidValueError("weights", f"must have every query, but has not {checks.shown(missing)}")
        weights = [by_id[query] for query in ids]
    array = conversion.plain(weights, "weights", unmasked="0 leaves a query out")
    if array.shape != (n_query,):
        rule = f"must have one entry for each query, but have shape {array.shape} for {n_query} queries"
        raise InvalidValueError("weights", rule)
    if array.dtype.kind not in "biuf":
        raise InvalidTypeError("weights", f"must be numbers, but have dtype {array.dtype}")
    array = array.astype(np.float64)
    wrong = array[~(np.isfinite(array) & (array >= 0))]
    if len(wrong) or not array.any():
        got = f"one is {wrong[0]:g}" if len(wrong) else "all are 0"
        raise InvalidValueError("weights", f"must be finite, not negative, and not all 0, but {got}")
    return array


def class_numbers(labels: QueryLabels, n_query: int, ids: Sequence[str] | None = None) -> Int64:
    """Return the class of each query of a profile by number; `ids` are those of a dictionary of labels."""
    return input_labels.label_codes(labels_of_queries(labels, n_query, ids))[1]
