"""What an audit of an evaluator gives: what it computes, what an empty system gets from it, and findings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from deadheat.audits.evaluator.bench import Observation
from deadheat.audits.evaluator.orders import Empty
from deadheat.audits.finding import SEVERITIES, Finding, passes
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, number, plain, program
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class EvaluatorAudit(TabularResult):
    """What an audit says of an evaluator.

    Values are as the evaluator gave them, fractions mostly. Printing shows what a system that knows nothing gets, in
    per cent, and then the findings.

    Attributes
    ----------
    name : str
    form : str
    version : str or None
        Of the package that it is in, where that is known.
    definitions : tuple of str
        The measures that it agrees with where nothing ties, the plainest first.
    findings : tuple of Finding
        The most serious first.
    observations : tuple of Observation
        Every input that it was given, with its answer and what is possible.
    empty : Empty
        Of a system that knows nothing: what it scores, by the order of the samples.
    n_samples : int
        Samples of that system.
    unknown : tuple of str
        What could not be tried here, and why.
    """

    name: str
    form: str
    version: str | None
    definitions: tuple[str, ...]
    findings: tuple[Finding, ...]
    observations: tuple[Observation, ...] = field(repr=False)
    empty: Empty = field(repr=False)
    n_samples: int
    unknown: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether nothing serious was found."""
        return passes(self.findings)

    @property
    def ties(self) -> str:
        """What ties count as: a bound, the expectation, neither of these, or "by order"."""
        return self.empty.verdict

    @property
    def sigmas(self) -> float:
        """Standard deviations above the expectation of random rankings, of what an empty system can get."""
        return self.empty.sigmas

    @property
    def truth(self) -> Triple[float]:
        """What is possible for a system that knows nothing; NaN where it is not known what is computed."""
        return self.empty.truth or Triple(math.nan, math.nan, math.nan)

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """What an empty system scores in each order, in per cent, and the findings."""
        form = decimals(digits)
        rows = [[name, number(100 * each.value, form)] for name, each in self.empty.by_order.items()]
        rows += [[f"possible: {name}", number(100 * value, form)] for name, value in self.truth._asdict().items()]
        tables = [Table([f"a system that knows nothing, {self.n_samples} samples", "%"], rows)]
        if self.findings:
            told = [[each.severity, each.name] for each in self.findings]
            tables.append(Table(["severity", "finding"], told))
        return tables

    def notes(self) -> list[str]:
        """What it computes, and each finding in a sentence with what to do."""
        version = f" {self.version}" if self.version else ""
        computes = " or ".join(self.definitions) or "none of the measures that were tried"
        told = [f"{each.name}: {' '.join(filter(None, [each.sentence, each.advice]))}" for each in self.findings]
        tried = f"{count(len(self.observations), 'input was', 'inputs were')} tried."
        return [f"{self.name}{version} computes {computes}, as far as that can be seen. {tried}", *self.unknown, *told]

    def to_dict(self) -> dict[str, Any]:
        """All findings, and every input with its answer, as plain Python values that JSON can hold."""
        return {
            "deadheat": program(),
            "evaluator": self.name,
            "version": self.version,
            "form": self.form,
            "passes": self.passes,
            "definitions": list(self.definitions),
            "ties": self.ties,
            "empty_system": {
                "samples": self.n_samples,
                "values": plain({name: each.value for name, each in self.empty.by_order.items()}),
                "possible": plain(self.truth._asdict()),
                "random_std": plain(self.empty.deviation),
                "standard_deviations_above_random": plain(self.sigmas),
            },
            "findings": [each.to_dict() for each in self.findings],
            "observations": [each.to_dict() for each in self.observations],
            "not_tried": list(self.unknown),
        }

    def columns(self) -> dict[str, list[Any]]:
        """The findings."""
        return {
            name: [getattr(each, name) for each in self.findings] for name in ("severity", "name", "sentence", "advice")
        }


@dataclass(frozen=True, eq=False)
class EvaluatorSurvey(TabularResult):
    """Several evaluators side by side: a row each, of what a system that knows nothing gets from it.

    Attributes
    ----------
    audits : sequence of EvaluatorAudit
    missing : tuple of str
        Evaluators whose library is not installed.
    """

    audits: Sequence[EvaluatorAudit]
    missing: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether nothing serious was found anywhere."""
        return all(each.passes for each in self.audits)

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """Values of an empty system in per cent, what is possible, and how far above random it can get."""
        form = decimals(digits)
        shown = ["sorted by class", "half sorted", "half sorted, reversed", "interleaved"]
        header = [
            "evaluator",
            "version",
            *shown,
            "possible",
            "expected",
            "sd above random",
            "ties count as",
            *SEVERITIES,
        ]
        return [Table(header, [self._row(each, shown, form) for each in self.audits])]

    def notes(self) -> list[str]:
        """What the columns are, and who is missing."""
        sizes = ", ".join(sorted({f"{each.n_samples}" for each in self.audits}))
        about = f"A system that knows nothing: every item ties with every other ({sizes} samples); values in per cent."
        counts = f"{', '.join(SEVERITIES)}: how many findings of an audit, see `deadheat audit-evaluator NAME`."
        missing = [f"Not installed: {', '.join(self.missing)}."] if self.missing else []
        return [about, counts, *missing]

    def to_dict(self) -> dict[str, Any]:
        """Every audit as plain Python values that JSON can hold."""
        return {
            "deadheat": program(),
            "passes": self.passes,
            "audits": [each.to_dict() for each in self.audits],
            "not_installed": list(self.missing),
        }

    def columns(self) -> dict[str, list[Any]]:
        """A row an evaluator."""
        orders = list(self.audits[0].empty.by_order) if self.audits else []
        return {
            "evaluator": [each.name for each in self.audits],
            "version": [each.version for each in self.audits],
            **{order: [each.empty.by_order[order].value for each in self.audits] for order in orders},
            **{end: [getattr(each.truth, end) for each in self.audits] for end in Triple._fields},
            "standard_deviations_above_random": [each.sigmas for each in self.audits],
            "ties": [each.ties for each in self.audits],
        }

    @staticmethod
    def _row(each: EvaluatorAudit, orders: Sequence[str], form: str) -> list[str]:
        values = [number(100 * each.empty.by_order[order].value, form) for order in orders]
        lower, expected, upper = (number(100 * value, form) for value in each.truth)
        sigmas = number(each.sigmas + 0.0, ".0f") if abs(each.sigmas) >= 0.5 else number(abs(each.sigmas), ".0f")
        severities = [str(sum(found.severity == severity for found in each.findings)) for severity in SEVERITIES]
        possible = f"[{lower}, {upper}]"
        return [each.name, each.version or "-", *values, possible, expected, sigmas, each.ties, *severities]
