"""A function under audit: it is called with one case after the other, and each answer is written down.

In come a function, its form and cases; out go observations, each with what is possible, as far as it is known which
measure the function computes. That is found by trying every measure of the catalogue, in every reading and convention,
on inputs without ties. A reading says how arguments become rankings (which distance, whether the query is in its own
ranking, which end of the scores is best, one ranking a query or one for all pairs), a convention how values of queries
become one number.

    case, reading ──> tie profile ──> measure ──> values of queries ──> convention ──> lower, expected, upper

Whatever the function does, an answer comes back: a number, or what was raised.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evaluators.cases import MAKERS, Case
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.scores import from_scores
from deadheat.engine.task import Task
from deadheat.errors import reason
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.measures.family import Measure, NoRankSum
from deadheat.measures.names import FAMILIES
from deadheat.reports.tables import plain
from deadheat.support import checks
from deadheat.support.arrays import Array, Float64, Int64
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple

Evaluator = Callable[[Array, Array], Any]

SAME = 1e-6  # two values that differ by less are one: what float32 leaves of a mean
_DECIMALS = 5  # that some libraries round to
_NARROW = 0.005  # the largest gap between bounds at which a value still distinguishes definitions
_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)


class Observation(NamedTuple):
    """A case and the answer to it."""

    case: Case
    value: float  # NaN where there is none
    error: str | None = None  # what was raised
    wrote: bool = False  # to its arguments
    truth: Triple[float] | None = None  # which values are possible, as far as that is known

    @property
    def impossible(self) -> bool:
        """True if no way to break the ties gives this value."""
        if self.truth is None or math.isnan(self.value) or math.isnan(self.truth.lower):
            return False
        return not possible(self.truth, self.value)

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values that JSON can hold."""
        truth = None if self.truth is None else self.truth._asdict()
        return {"input": self.case.name, "value": plain(self.value), "error": self.error, "possible": plain(truth)}


class EmptySystem(NamedTuple):
    """The score of a system that knows nothing: its value in some orders of the samples, and what is possible.

    `few_levels` is another system, of which only some scores tie.
    """

    by_order: dict[str, Observation]
    truth: Triple[float] | None
    deviation: float
    few_levels: Observation

    @property
    def highest(self) -> Observation:
        """The answer in the order that gives most."""
        return max(self.by_order.values(), key=lambda each: -math.inf if math.isnan(each.value) else each.value)

    @property
    def sigmas(self) -> float:
        """The distance to the expectation of random rankings, in their standard deviations."""
        if self.truth is None or not self.deviation > 0:
            return math.nan
        return (self.highest.value - self.truth.expected) / self.deviation

    @property
    def verdict(self) -> str:
        """The treatment of ties, in a few words."""
        if math.isnan(self.highest.value):
            return "no value"
        if widest(self.by_order.values()) > SAME:
            return "by order"
        if self.truth is None or self.few_levels.truth is None:
            return "not by order"
        seen = [(self.truth, self.highest.value), (self.few_levels.truth, self.few_levels.value)]
        for end, name in enumerate(("lower bound", "expectation", "upper bound")):
            if all(abs(truth[end] - value) <= slack(value) for truth, value in seen):
                return name
        return "neither bound nor expectation"


class Bench:
    """A function, what it computes as far as that is known, and all that it has answered."""

    def __init__(self, fn: Evaluator, form: str, asked: Measure | None, labels: Int64, seed: int) -> None:
        self._fn, self.form, self.maker = fn, form, MAKERS[form]
        self.labels, self.seed = labels, seed  # of the system that knows nothing; of all inputs
        self.tried = list(candidates(form, asked, len(labels) - 1))
        self.definitions: list[Definition] = []
        self.seen: list[Observation] = []

    def define(self, cases: Iterable[Case]) -> None:
        """Find what the function computes from its answers to cases without ties."""
        result = self.tried
        answers = [self.call(case) for case in cases]
        for case, value, *_ in answers:  # those that give the value; in a reading with a few ties here, up to these
            truths = [(definition, definition.truth(case)) for definition in result]
            result = [each for each, truth in truths if truth.upper - truth.lower < _NARROW and possible(truth, value)]
        self.definitions = result
        self.seen += [answer._replace(truth=span(result, answer.case)) for answer in answers]

    def see(self, case: Case, *, ranged: bool = True) -> Observation:
        """Call and write the answer down; the possible values are unknown where another check compares the value."""
        observation = self.call(case)._replace(truth=span(self.definitions, case) if ranged else None)
        self.seen.append(observation)
        return observation

    def call(self, case: Case) -> Observation:
        """Call the function with copies of its arguments."""
        given = case.first.copy(), case.second.copy()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = _mean_of_queries(self._fn, *given) if self.form == "query" else _number(self._fn(*given))
        except (Exception, SystemExit) as error:
            return Observation(case, math.nan, f"{type(error).__name__}: {reason(error)}".strip(": "))
        same = np.array_equal(case.first, given[0]) and np.array_equal(case.second, given[1])
        return Observation(case, value, wrote=not same)

    @property
    def scale(self) -> float:
        """The unit of the values of the function: 100 if they are in per cent."""
        return self.definitions[0].convention.scale if self.definitions else 1.0

    def per_cent(self, value: float, digits: int = 2) -> str:
        """A value as people read it."""
        return f"{100 * value / self.scale:.{digits}f} %"


def widest(outcomes: Iterable[Observation]) -> float:
    """The largest difference of values; 0 if there are none."""
    values = [each.value for each in outcomes if not math.isnan(each.value)]
    return max(values) - min(values) if values else 0.0


def _mean_of_queries(fn: Evaluator, scores: Array, relevant: Array) -> float:
    """The mean over the queries with something relevant; a single query counts whether it has that or not."""
    counted = relevant.astype(bool).any(axis=1) | (len(relevant) == 1)
    values = [_number(fn(*row)) for row in zip(scores[counted], relevant[counted], strict=True)]
    return math.nan if any(map(math.isnan, values)) else exact_mean(np.array(values))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"an evaluator must return one number, but returned {checks.shown(value)}") from None


# ---------------------------------------------------------------------------------------------------------------------
# definitions: a measure, a reading and a convention


class Reading(NamedTuple):
    """Conversions of arguments to rankings."""

    name: str
    profile: Callable[[Array, Array], TieProfile]
    of_classes: bool = False  # whether labels are known, so that classes can be averaged


class Convention(NamedTuple):
    """Ways to average the values of queries."""

    name: str
    scale: float = 1.0
    of_classes: bool = False  # the mean over classes, not over queries
    over_what_fits: bool = False  # mAP@k divided by the relevant items that fit into k ranks: R / min(R, k) times it

    def fits(self, measure: Measure, reading: Reading) -> bool:
        """Return whether it makes a difference to a measure."""
        cut_average_precision = measure.row.name == "mAP" and measure.cutoff is not None
        return (reading.of_classes or not self.of_classes) and (cut_average_precision or not self.over_what_fits)


@dataclass(frozen=True)
class Definition:
    """A measure, a reading and a convention: what a number may be."""

    measure: Measure
    reading: Reading
    convention: Convention

    def __str__(self) -> str:
        return ", ".join(filter(None, [self.measure.name, self.reading.name, self.convention.name]))

    def truth(self, case: Case) -> Triple[float]:
        """Lower, expected and upper of a case."""
        ends = measure_values.per_query(ranked(self.reading, case), self.measure)
        terms = (self._terms(case, values) for values in ends)
        return Triple(*(self.convention.scale * math.fsum(each) if len(each) else math.nan for each in terms))

    def deviation(self, case: Case) -> float:
        """The standard deviation of the value if each query breaks its ties at random, on its own."""
        terms = self._terms(case, measure_values.std(ranked(self.reading, case), self.measure))
        return self.convention.scale * math.sqrt(math.fsum(np.square(terms)))

    def _terms(self, case: Case, values: Float64) -> Float64:
        """Return what each query that has a value adds to the mean."""
        n_relevant = ranked(self.reading, case).n_relevant
        with_relevant = n_relevant > 0
        if self.convention.over_what_fits:
            values = values * (n_relevant / np.maximum(1, np.minimum(n_relevant, self.measure.limit)))
        if self.convention.of_classes:
            _, codes = np.unique(case.second, return_inverse=True)
            sizes = np.bincount(codes[with_relevant], minlength=int(codes.max()) + 1)
            weights = with_relevant / np.maximum(1, sizes[codes]) / np.maximum(1, np.count_nonzero(sizes))
        else:
            weights = with_relevant / np.maximum(1, np.count_nonzero(with_relevant))
        terms = values * weights
        return np.asarray(terms[~np.isnan(terms)])


def candidates(form: str, asked: Measure | None, n_items: int) -> Iterator[Definition]:
    """All definitions of a form, or those of one measure; the plainest first, and no cutoff beyond so many items."""
    families = _OF_ONE_POSITIVE if form == "candidates" else None
    for reading in _READINGS[form]:
        for convention in _CONVENTIONS:
            for measure in _catalogue(n_items, families) if asked is None else (asked,):
                if convention.fits(measure, reading):
                    yield Definition(measure, reading, convention)


def possible(truth: Triple[float], value: float) -> bool:
    """Return whether some way to break the ties gives a value."""
    return truth.lower - slack(value) <= value <= truth.upper + slack(value)


def slack(value: float) -> float:
    """Return the rounding error of a value: half of its last decimal if it has five at most."""
    return 0.5 * 10.0**-_DECIMALS + 1e-12 if value == round(value, _DECIMALS) else SAME


def span(outcomes: Sequence[Definition], case: Case) -> Triple[float] | None:
    """The possible values of a case under any of some definitions, and what the first expects; None without one."""
    if not outcomes:
        return None
    truths = [definition.truth(case) for definition in outcomes]
    return Triple(min(each.lower for each in truths), truths[0].expected, max(each.upper for each in truths))


@lru_cache(maxsize=64)
def ranked(reading: Reading, case: Case) -> TieProfile:
    """The tie profile of a case; the last ones are kept, since many measures read the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that queries are in the gallery is meant
        return reading.profile(case.first, case.second)


# ---------------------------------------------------------------------------------------------------------------------
# readings


def _of_embeddings(distance: DistanceName, itself: bool) -> Reading:
    name = f"{distance}, {'the query itself in its ranking' if itself else 'leave one out'}"

    def profile(rows: Array, labels: Array) -> TieProfile:
        return Task(rows, labels, *((rows, labels) * itself), distance=distance).profile

    return Reading(name, profile, of_classes=True)


_DISTANCES: tuple[DistanceName, ...] = ("cosine", "euclidean", "inner_product", "cityblock")


def _profile_scores(*scored: Array, **order: Any) -> TieProfile:
    return from_scores(*scored, **order).profile


_BY_QUERY = (
    Reading("the highest score first", _profile_scores),
    Reading("the lowest score first", lambda scores, relevant: _profile_scores(scores, relevant, order="ascending")),
)
_READINGS = {
    "embeddings": tuple(_of_embeddings(distance, itself) for itself in (False, True) for distance in _DISTANCES),
    "scores": (
        *_BY_QUERY,
        Reading("all pairs in one ranking", lambda *pair: _profile_scores(*(each.reshape(1, -1) for each in pair))),
    ),
    "query": _BY_QUERY,
    "candidates": _BY_QUERY,
}
_OF_ONE_POSITIVE = ("MRR", "Hit")  # of which mAP, recall and others are then further names


_CONVENTIONS = (
    Convention(""),
    Convention("mean over classes", of_classes=True),
    Convention("over min(R, k)", over_what_fits=True),
    Convention("in per cent", scale=100.0),
)


def _catalogue(n_items: int, families: Sequence[str] | None) -> list[Measure]:
    """Every measure of some families that is a sum over the relevant items, with every cutoff that matters."""
    names: list[str] = []
    for row in FAMILIES:
        if row.unit != "fraction" or row.forms.coverage:  # no value of relevance alone in [0, 1]
            continue
        if not isinstance(row.forms, NoRankSum) and (families is None or row.name in families):
            names += [row.name] if row.cutoff != "must" else []
            names += [f"{row.name}@{k}" for k in _CUTOFFS if k < n_items and row.cutoff in ("may", "must")]
    return list(measure_names.parse_all(names))
