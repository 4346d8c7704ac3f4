"""Reports on TREC runs: `by_rule`, the values under one way of breaking ties; `over_union`, reports to compare.

run, qrels ──each query sorted as a rule sorts it──> a run without ties ──> values by measure
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.engine.sources.run import RunTask, task_of_tables
from deadheat.engine.sources.run_tables import RunOptions, keys_of_numbers
from deadheat.engine.ties.scores import EQUAL
from deadheat.errors import InvalidValueError
from deadheat.inputs.trec import Checked
from deadheat.measures.completions import Unjudged
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
    untied = options._replace(rule=EQUAL, unjudged="junk" if options.unjudged == "junk" else "irrelevant")
    report = report_of(task_of_tables(distinct, judged, untied), summary)
    return {name: result.lower for name, result in report.items()}


UNION = "Unjudged documents are unknown, over the union of what the systems retrieved."


def over_union(reports: Sequence[Report]) -> list[Report]:
    """Return reports in which the unjudged documents that any of them retrieved are unknown, if they are in one.

    Examples
    --------
    >>> import deadheat as dh
    >>> runs, judged = ({"q": {"a": 2, "b": 1}}, {"q": {"a": 2, "c": 1}}), {"q": {"a": 1}}
    >>> both = [dh.evaluate(dh.from_run(run, judged, unjudged="unknown"), "Recall@2") for run in runs]
    >>> [report["Recall@2"].lower for report in (*both, *over_union(both))]
    [1.0, 1.0, 0.5, 0.5]
    """
    unknown = [report.profile.n_unjudged is not None for report in reports]
    if not any(unknown):
        return list(reports)
    if not all(unknown) or len({gain for each in reports for gain in Unjudged.of(each.profile).gain.tolist()}) != 1:
        raise InvalidValueError("reports", "must have unjudged documents as unknown in all, of one gain, or in none")
    pools: dict[str, set[str]] = {}
    for report in reports:
        if report.pool is None or report.profile.query_ids is None:
            rule = "must be of runs to be compared with unjudged documents as unknown, as the union of them counts"
            raise InvalidValueError("reports", f"{rule}, but one is of a profile")
        for query in report.profile.query_ids:
            pools.setdefault(query, set()).update(report.pool(query))
    return [
        _with_unjudged(report, [len(pools[query]) for query in report.profile.query_ids or ()]) for report in reports
    ]


def _with_unjudged(report: Report, n: list[int]) -> Report:
    own = Unjudged.of(report.profile).in_all
    in_all = np.maximum(own, n)
    if np.array_equal(in_all, own):
        return report
    larger = replace(report, profile=replace(report.profile, n_unjudged=in_all, check=False))
    larger._compute(report.measures, threads=1)
    return larger
