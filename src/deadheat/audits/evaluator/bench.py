"""The bench that a function is on: it is called with one case after the other, and each answer is written down.

In come a function, its form and cases; out go observations, each with what is possible, as far as that is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from deadheat.audits.evaluator.calling import Answer, Evaluator, ask
from deadheat.audits.evaluator.definitions import Definition, candidates, matching, possible, span
from deadheat.audits.evaluator.inputs import MAKERS, Case
from deadheat.measures import Measure
from deadheat.reports.tables import plain
from deadheat.support.triple import Triple


class Observation(NamedTuple):
    """A case, the answer to it, and which values are possible (None where that is not known)."""

    case: Case
    answer: Answer
    truth: Triple[float] | None

    @property
    def value(self) -> float:
        return self.answer.value

    @property
    def impossible(self) -> bool:
        """Whether no way to break the ties gives this value."""
        if self.truth is None or math.isnan(self.value) or math.isnan(self.truth.lower):
            return False
        return not possible(self.truth, self.value)

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values that JSON can hold."""
        truth = None if self.truth is None else self.truth._asdict()
        return {
            "input": self.case.name,
            "value": plain(self.value),
            "error": self.answer.error,
            "possible": plain(truth),
        }


class Bench:
    """A function, what it computes as far as that is known, and all that it has answered."""

    def __init__(self, fn: Evaluator, form: str, asked: Measure | None, n_items: int) -> None:
        self.fn, self.form, self.maker = fn, form, MAKERS[form]
        self.tried = list(candidates(form, asked, n_items))
        self.definitions: list[Definition] = []
        self.seen: list[Observation] = []

    def define(self, cases: Iterable[Case]) -> None:
        """Find what the function computes from its answers to cases without ties."""
        found = self.tried
        answers = [(case, ask(self.fn, self.form, case.first, case.second)) for case in cases]
        for case, answer in answers:
            found = matching(found, case, answer.value)
        self.definitions = found
        self.seen += [Observation(case, answer, span(found, case)) for case, answer in answers]

    def see(self, case: Case, *, ranged: bool = True) -> Observation:
        """Call the function with a case; what is possible is left open where another check compares the value."""
        observation = self.try_out(case, span(self.definitions, case) if ranged else None)
        self.seen.append(observation)
        return observation

    def try_out(self, case: Case, truth: Triple[float] | None = None) -> Observation:
        """The same without writing it down."""
        return Observation(case, ask(self.fn, self.form, case.first, case.second), truth)

    @property
    def scale(self) -> float:
        """What 1 is in the values of the function: 100 if they are in per cent."""
        return self.definitions[0].convention.scale if self.definitions else 1.0

    def per_cent(self, value: float, digits: int = 2) -> str:
        """A value as people read it."""
        return f"{100 * value / self.scale:.{digits}f} %"


def spread(found: Iterable[Observation]) -> float:
    """How far values lie apart; 0 if there are none."""
    values = [each.value for each in found if not math.isnan(each.value)]
    return max(values) - min(values) if values else 0.0
