"""A function under audit: it is called with one case after the other, and each answer is written down.

In come a function, its form and cases; out go observations, each with what is possible, as far as that is known.
Whatever the function does, an answer comes back: a number, or what was raised.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from deadheat.errors import reason
from deadheat.measures.family import Measure
from deadheat.reports.tables import plain
from deadheat.support import checks
from deadheat.support.arrays import Array, Int64
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple
from deadheat.trust.audits.cases import MAKERS, Case
from deadheat.trust.audits.definitions import SAME, Definition, candidates, matching, possible, slack, span

Evaluator = Callable[[Array, Array], Any]


class Observation(NamedTuple):
    """A case and the answer to it."""

    case: Case
    value: float  # NaN where there is none
    error: str | None = None  # what was raised
    wrote: bool = False  # to its arguments
    truth: Triple[float] | None = None  # which values are possible, as far as that is known

    @property
    def impossible(self) -> bool:
        """Whether no way to break the ties gives this value."""
        if self.truth is None or math.isnan(self.value) or math.isnan(self.truth.lower):
            return False
        return not possible(self.truth, self.value)

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values that JSON can hold."""
        truth = None if self.truth is None else self.truth._asdict()
        return {"input": self.case.name, "value": plain(self.value), "error": self.error, "possible": plain(truth)}


class EmptySystem(NamedTuple):
    """What a system that knows nothing gets: its value in some orders of the samples, and what is possible.

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
        """How many standard deviations of random rankings that is above their expectation."""
        if self.truth is None or not self.deviation > 0:
            return math.nan
        return (self.highest.value - self.truth.expected) / self.deviation

    @property
    def verdict(self) -> str:
        """What the function makes of ties, in a few words."""
        if math.isnan(self.highest.value):
            return "no value"
        if spread(self.by_order.values()) > SAME:
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
        found = self.tried
        answers = [self.call(case) for case in cases]
        for answer in answers:
            found = matching(found, answer.case, answer.value)
        self.definitions = found
        self.seen += [answer._replace(truth=span(found, answer.case)) for answer in answers]

    def see(self, case: Case, *, ranged: bool = True) -> Observation:
        """Call and write the answer down; what is possible is left open where another check compares the value."""
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
        """What 1 is in the values of the function: 100 if they are in per cent."""
        return self.definitions[0].convention.scale if self.definitions else 1.0

    def per_cent(self, value: float, digits: int = 2) -> str:
        """A value as people read it."""
        return f"{100 * value / self.scale:.{digits}f} %"


def spread(found: Iterable[Observation]) -> float:
    """The largest difference of values; 0 if there are none."""
    values = [each.value for each in found if not math.isnan(each.value)]
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
