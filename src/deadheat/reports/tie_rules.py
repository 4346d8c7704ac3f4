"""How libraries break ties in a run: what a measure is by each rule, next to its bounds.

run, qrels ──each query sorted as a rule sorts it──> a run without ties ──> values by measure
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from deadheat.engine.counting.runs import RunOptions, profile_tables
from deadheat.inputs.trec import Checked
from deadheat.reports.averaging import Singletons
from deadheat.reports.evaluating import measure

Row = dict[str, Any]  # the scores of a query, in the order of the file

RULES: dict[str, Callable[[Row], list[str]]] = {  # documents, the best first
    "in the order of the file": lambda row: sorted(row, key=lambda each: -row[each]),
    "in the order of the file, reversed": lambda row: sorted(row, key=row.__getitem__)[::-1],
    "by id, ascending": lambda row: sorted(sorted(row), key=lambda each: -row[each]),
    "by id, descending": lambda row: sorted(sorted(row, reverse=True), key=lambda each: -row[each]),
}


def by_rule(
    rule: str, scores: Checked, judged: Checked, queries: Sequence[str], names: Sequence[str], singletons: Singletons
) -> dict[str, float]:
    """Means of measures once a rule has broken every tie.

    Examples
    --------
    >>> tied, judged = {"q": {"b": 1, "a": 1}}, {"q": {"b": 1}}
    >>> [by_rule(rule, tied, judged, ["q"], ["MRR"], "skip")["MRR"] for rule in RULES]
    [1.0, 0.5, 0.5, 1.0]
    """
    ranked = {query: RULES[rule](scores.get(query, {})) for query in queries}
    places = {query: dict(zip(row, range(len(row), 0, -1), strict=True)) for query, row in ranked.items()}
    report = measure(profile_tables(places, judged, queries, RunOptions()), names, singletons=singletons)
    return {name: result.lower for name, result in report.items()}
