"""Reports on TREC runs: `by_rule`, the values under one way of breaking ties.

run, qrels ──each query sorted as a rule sorts it──> a run without ties ──> values by measure
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from deadheat.engine.sources.run import RunTask, task_of_tables
from deadheat.engine.sources.run_tables import RunOptions, keys_of_numbers
from deadheat.engine.ties.scores import EQUAL
from deadheat.inputs.trec import Checked
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.evaluating import report_of
from deadheat.reports.report import Report


def with_ids(report: Report, task: RunTask) -> Report:
    """Return a report on a run with the values of trec_eval, which ranks tied documents by id, the last one first."""
    scores, judged, _, options = task.run
    return replace(report, by_id=by_rule(BY_ID, scores, judged, report.measures, report.singletons, options))


BY_ID = "by id, descending"  # as trec_eval
Row = dict[str, Any]  # the scores of a query, in the order of the file

RULES: dict[str, Callable[[Row], list[str]]] = {  # documents, the best first
    "in the order of the file": lambda row: sorted(row, key=lambda each: -row[each]),
    "in the order of the file, reversed": lambda row: sorted(row, key=row.__getitem__)[::-1],
    "by id, ascending": lambda row: sorted(sorted(row), key=lambda each: -row[each]),
    BY_ID: lambda row: sorted(sorted(row, reverse=True), key=lambda each: -row[each]),
}


def by_rule(
    rule: str, scores: Checked, judged: Checked, names: Iterable[str], singletons: str,
    options: RunOptions | None = None,
) -> dict[str, float]:  # fmt: skip
    """Return the means of measures once a rule has broken every tie.

    Examples
    --------
    >>> tied, judged = {"q": {"b": 1, "a": 1}}, {"q": {"b": 1}}
    >>> [by_rule(rule, tied, judged, ["MRR"], "skip")["MRR"] for rule in RULES]
    [1.0, 0.5, 0.5, 1.0]
    """
    options = options or RunOptions()
    compared = {query: dict(zip(row, keys_of_numbers(list(row.values()), options.rule).tolist(), strict=True))
                for query, row in scores.items()}  # fmt: skip
    ranked = {query: RULES[rule](row) for query, row in compared.items()}
    distinct = {query: dict(zip(row, range(len(row), 0, -1), strict=True)) for query, row in ranked.items()}
    summary = SummaryOptions.checked(names, singletons, rel=options.rel)
    report = report_of(task_of_tables(distinct, judged, options._replace(rule=EQUAL)), summary)
    return {name: result.lower for name, result in report.items()}
