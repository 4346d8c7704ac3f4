"""From a TREC run and its qrels to a report; and `by_rule`, the values under one way of breaking ties.

run, qrels ──Task.from_run──> TieProfile ──measures──> Report
run, qrels ──each query sorted as a rule sorts it──> a run without ties ──> values by measure
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from deadheat.engine.counting.runs import RunOptions, RunTables, keys_of_numbers
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task
from deadheat.engine.ties.scores import EQUAL
from deadheat.errors import UndefinedError
from deadheat.inputs.trec import Checked, remarks_of
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.report import Report
from deadheat.reports.tables import count

MEASURES = ("mAP", "nDCG@10", "MRR", "P@10", "R-Precision", "Recall@100")


def report_on_run(task: Task, summary: SummaryOptions) -> Report:
    """Return the report on a run; `summary` has names of measures at the level of relevance of its task."""
    assert task.run is not None
    report = _report(task.run, task.profile, summary, labels=task.labels, remarks=task.remarks)
    report._compute(report.measures, task.threads)
    return report


def with_ids(report: Report, task: Task) -> Report:
    """Return a report on a run with the values of trec_eval, which ranks tied documents by id, the last one first."""
    assert task.run is not None
    scores, judged, _, options = task.run
    return replace(report, by_id=by_rule(BY_ID, scores, judged, report.measures, report.singletons, options))


def _report(
    run: RunTables, profile: TieProfile, summary: SummaryOptions, labels: Any = None, remarks: Iterable[str] = ()
) -> Report:
    scores, judged, queries, options = run
    lacking = _remarks(len(judged), len(judged.keys() - scores), len(scores.keys() - judged), options.complete)
    if summary.singletons == "skip" and not profile.n_relevant.any():
        raise UndefinedError(
            f"no query has a relevant document, so that no measure is defined, but got {len(queries)} queries, each "
            "judged without a grade above 0"
        )
    return Report(
        profile,
        summary.measures,
        summary.singletons,
        summary.average,
        labels=labels,
        separate_gallery=labels is None,  # classes that are given are the units
        tie_rule=options.rule.describe(),
        judged=run.profile_of_judged_documents(),
        rel=options.rel,
        remarks=(*lacking, *remarks_of(scores, judged), *remarks),
    )


def _remarks(n_judged: int, n_missing: int, n_unjudged: int, complete: bool) -> tuple[str, ...]:
    remarks = []
    if n_missing:
        is_not, them = ("is not", "it") if n_missing == 1 else ("are not", "them")
        effect = f": nothing is retrieved for {them}" if complete else ", and left out"
        queries = count(n_judged, "query", "queries")
        remarks.append(f"{n_missing} of {queries} of the qrels {is_not} in the run{effect}.")
    if n_unjudged:
        is_not = "is not" if n_unjudged == 1 else "are not"
        remarks.append(f"{count(n_unjudged, 'query', 'queries')} of the run {is_not} in the qrels, and left out.")
    return tuple(remarks)


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
    run = RunTables.of(distinct, judged, options._replace(rule=EQUAL))
    report = _report(run, run.profile(), summary)
    return {name: result.lower for name, result in report.items()}
