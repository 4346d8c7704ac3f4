"""Evaluators under audit: in comes somebody's metric, out go what it computes, and what else it can be made to give.

fn ──> no ties: what does it compute? ──> ties, orders, types, labels, scales, threads ──> observations ──> findings
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.evaluators import cases, checks
from benchmarks.evaluators.bench import Bench, EmptySystem, Evaluator, Observation
from deadheat.errors import InvalidTypeError
from deadheat.measures import names as measure_names
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.tables import count, plain
from deadheat.support import checks as arguments
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple
from deadheat.trust.audits.findings import SEVERITIES, Audited, Finding, most_serious_first

_INPUTS_WITHOUT_TIES = 3
_MOST = 1_000_000  # classes, items of each, and draws


@plain_floats
def audit_evaluator(
    fn: Evaluator,
    *,
    form: str = "embeddings",
    measure: str | None = None,
    name: str | None = None,
    version: str | None = None,
    n_classes: int = 10,
    class_size: int = 100,
    draws: int = 1,
    seed: int = 0,
) -> EvaluatorAudit:
    """Find out what somebody's metric computes, and whether it can be made to give something else.

    The function is called with some forty constructed inputs whose possible values are known: without ties, all tied,
    of few levels, with copies, in many orders (adversarial ones too), types, labels and scales, on one thread and on
    two.

    Parameters
    ----------
    fn : callable
        Takes two arrays and returns one number, higher being better. It gets copies, and may raise.
    form : {"embeddings", "scores", "query", "candidates"}
        What the two arrays are: embeddings (n, dim) float32 and labels (n,) int64, each sample a query ranked against
        all others; scores (n_query, n_item) float64, highest best, and relevance of that shape, bool; both of one
        query, (n_item,), and the audit takes the mean over the queries that have a relevant item; or as "scores",
        with one relevant item a query, as in reranking and link prediction.
    measure : str, optional
        What the function is meant to compute; by default, all measures are tried.
    name, version : str, optional
        For the report; by default where the function was defined.
    n_classes, class_size : int
        Of the samples of the system that knows nothing.
    draws : int
        Random orders of these.
    seed : int
        Of all cases.

    Returns
    -------
    EvaluatorAudit
        `passes()` says whether nothing serious was found.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If an argument breaks its rule. What `fn` raises is a finding.

    Notes
    -----
    **Ties:** what is possible, lower to upper, and what random rankings are expected to get is deadheat's own exact
    result for the measure that `fn` agrees with where nothing ties. An input is out of range if no order of tied items
    gives its value, up to 1e-6. If several definitions agree, their ranges are joined. If none does, only invariance
    is checked.

    The standard deviation above random is that of the mean over queries that each break their ties on their own.

    **Undefined:** NaN is a finding, unless nothing is defined. What is written to standard output by `fn` stays there.

    Examples
    --------
    Precision at 1 by `argmax`, which takes the first of equals, so that the order of the list counts:

    >>> def first_hit(scores, relevant):
    ...     return relevant[scores.argmax()]
    >>> audit = audit_evaluator(first_hit, form="query", n_classes=4, class_size=5)
    >>> audit.definitions[0], audit.ties, audit.passes()
    ('P@1, the highest score first', 'by order', False)
    >>> [each.name for each in audit.findings if each.severity == "serious"]
    ['sample order', 'sample order with ties', 'place in the list']
    """
    if not callable(fn):
        raise InvalidTypeError("fn", f"must be callable, but is {arguments.shown(fn)}")
    arguments.choice(form, cases.MAKERS, "form")
    asked = None if measure is None else measure_names.parse(measure)
    n_classes = arguments.whole_number(n_classes, "n_classes", 2, _MOST)
    class_size = arguments.whole_number(class_size, "class_size", 2, _MOST)
    draws = arguments.whole_number(draws, "draws", 0, _MOST)
    seed = arguments.whole_number(seed, "seed")
    bench = Bench(fn, form, asked, np.repeat(np.arange(n_classes), class_size), seed)
    bench.define(_without_ties(bench))
    empty = checks.empty_system(bench, draws)
    result = [
        _definition(bench, None if asked is None else asked.name),
        *checks.findings_of_empty(bench, empty),
        *(finding for check in checks.CHECKS for finding in check(bench)),
    ]
    return EvaluatorAudit(
        name=name or f"{getattr(fn, '__module__', '')}:{getattr(fn, '__qualname__', type(fn).__name__)}",
        form=form,
        version=version,
        definitions=tuple(map(str, bench.definitions)),
        findings=most_serious_first(result),
        observations=tuple(bench.seen),
        empty=empty,
        n_samples=len(bench.labels),
        unknown=() if checks.thread_control() else ("threads not tried, without threadpoolctl",),
    )


def _without_ties(bench: Bench) -> Iterator[cases.Case]:
    """Small inputs with uneven classes, and one of the size of the empty system, so that cutoffs show."""
    small, maker = cases.small_labels(), bench.maker
    for i in range(_INPUTS_WITHOUT_TIES):
        yield maker.case(f"no ties, {i + 1}", maker.all_distinct(maker.distinct(small, bench.seed + i)), small)
    rows = maker.all_distinct(maker.far(bench.labels, bench.seed))
    yield maker.case(f"no ties, {len(bench.labels)} samples", rows, bench.labels)


def _definition(bench: Bench, asked: str | None) -> Finding:
    """Return what the function agrees with where nothing ties."""
    agree, n = list(map(str, bench.definitions)), len(bench.tried)
    if bench.definitions:
        severity, what, advice = "note", f"it agrees with {' and '.join(agree)}", ""
    elif asked is not None:
        severity, what = "serious", f"it does not give {asked}, in none of {n} readings"
        advice = "Compare it with deadheat.evaluate query by query."
    else:
        severity, what = "warning", f"none of {n} definitions fits, so that its range is not known"
        advice = "Say which measure it is, and compare on an example."
    return Finding("definition", severity, f"Where nothing ties, {what}.", {"tried": n, "agree": agree}, advice)


@dataclass(frozen=True, eq=False, repr=False)
class EvaluatorAudit(Audited):
    """The result of the audit of an evaluator.

    Values are as the evaluator gave them, fractions mostly. Printing shows the verdict, what a system that knows
    nothing has, in per cent, and then the findings.

    Attributes
    ----------
    name, form : str
    version : str or None
        Of the package that it is in, where that is known.
    definitions : tuple of str
        The measures that it agrees with where nothing ties, the plainest first.
    findings : tuple of Finding
        The most serious first.
    observations : tuple of Observation
        Every input that it was given, with its answer and what is possible.
    empty : EmptySystem
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
    observations: tuple[Observation, ...]
    empty: EmptySystem
    n_samples: int
    unknown: tuple[str, ...] = ()

    @property
    def ties(self) -> str:
        """The value under ties: a bound, the expectation, neither of these, or "by order"."""
        return self.empty.verdict

    @property
    def sigmas(self) -> float:
        """Standard deviations above the expectation of random rankings, of what an empty system can get."""
        return self.empty.sigmas

    @property
    def truth(self) -> Triple[float]:
        """The best score of a system that knows nothing; NaN where the computed measure is unknown."""
        return self.empty.truth or Triple(math.nan, math.nan, math.nan)

    def about(self) -> str:
        computes = " or ".join(self.definitions) or "none of the measures that were tried"
        tried = count(len(self.observations), "input", "inputs")
        version = f" {self.version}" if self.version else ""
        return "; ".join([f"{self.name}{version} computes {computes}, by {tried}", *self.unknown])

    def panels(self) -> list[Panel]:
        """Return what an empty system scores in each order, in per cent."""
        values = {name: each.value for name, each in self.empty.by_order.items()}
        values |= {f"possible: {name}": value for name, value in self.truth._asdict().items()}
        title = f"a system that knows nothing, {self.n_samples} samples"
        return [Panel([Column("order", list(values), title=title), Column("%", list(values.values()), "fraction")],
                      "each", key="")]  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Return what was evaluated, and every input with its answer, as plain Python values that JSON can hold."""
        return {
            "evaluator": self.name,
            **self._facts_of("version", "form", "definitions", "ties"),
            "passes": self.passes(),
            "empty_system": {
                "samples": self.n_samples,
                "values": plain({name: each.value for name, each in self.empty.by_order.items()}),
                "possible": plain(self.truth),
                "random_std": plain(self.empty.deviation),
                "standard_deviations_above_random": plain(self.sigmas),
            },
            "observations": [each.to_dict() for each in self.observations],
            "not_tried": list(self.unknown),
        }


@dataclass(frozen=True, eq=False)
class EvaluatorSurvey(Answer):
    """Several evaluators side by side: a row each, of the score of a system that knows nothing.

    Attributes
    ----------
    audits : sequence of EvaluatorAudit
    missing : tuple of str
        Evaluators whose library is not installed.
    """

    audits: Sequence[EvaluatorAudit]
    missing: tuple[str, ...] = ()

    def passes(self) -> bool:
        """Return whether nothing serious was found anywhere."""
        return all(each.passes() for each in self.audits)

    def panels(self) -> list[Panel]:
        """Values of an empty system in per cent, what is possible, and how far above random it can get."""
        audits, orders = self.audits, list(self.audits[0].empty.by_order) if self.audits else []
        shown = ["sorted by class", "half sorted", "half sorted, reversed", "interleaved"]
        counts = [each.counts() for each in audits]

        def values(order: str) -> list[float]:
            return [each.empty.by_order[order].value for each in audits]

        return [Panel([
            Column("evaluator", [each.name for each in audits]),
            Column("ties", [each.ties for each in audits], title="ties count as"),
            Column("highest", [each.empty.highest.value for each in audits], "fraction", only="table"),
            Column("", [each.truth for each in audits], "fraction", shape="bounds", only="data"),
            Column("expected", [each.truth.expected for each in audits], "fraction", only="table"),
            Column("possible", [(each.truth.lower, each.truth.upper) for each in audits], "fraction",
                   shape="interval", only="table"),
            Column("standard_deviations_above_random", [each.sigmas for each in audits], "number", "sd above random",
                   form="z.0f"),
            Column("serious", [each[SEVERITIES[0]] for each in counts], "count", only="table"),
            *(Column(order, values(order), "fraction", only="" if order in shown else "data")
              for order in dict.fromkeys([*shown, *orders])),
            Column("version", [each.version for each in audits], only=""),
            *(Column(name, [each[name] for each in counts], "count", only="table") for name in SEVERITIES[1:]),
        ], "each", key="")]  # fmt: skip

    def notes(self) -> list[str]:
        """Return what the columns are, and who is missing."""
        sizes = ", ".join(sorted({f"{each.n_samples}" for each in self.audits}))
        about = f"A system that knows nothing: every item ties with every other ({sizes} samples); values in per cent."
        counts = f"{', '.join(SEVERITIES)}: how many findings of an audit, see `python -m benchmarks.evaluators NAME`."
        missing = [f"Not installed: {', '.join(self.missing)}."] if self.missing else []
        return [about, counts, *missing]

    def facts(self) -> dict[str, Any]:
        """Every audit as plain Python values that JSON can hold."""
        audits = [each.to_dict() for each in self.audits]
        return {"passes": self.passes(), "audits": audits, "not_installed": list(self.missing)}
