"""A report as trec_eval prints it, with the bounds beside: in comes a report on a run, out come lines.

measure (22 wide) ── query or all ── expected ── lower ── upper        measures, with 4 decimals
measure (22 wide) ── query or all ── number                            counts
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat import measures as rank_measures
from deadheat.measures.trec_names import trec_name
from deadheat.profiles import Int64, TieProfile, at_level
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.support.triple import Triple

COUNTS = {
    "num_q": "queries that count",
    "num_ret": "documents retrieved",
    "num_rel": "relevant documents",
    "num_rel_ret": "relevant documents retrieved",
}


def trec_lines(report: Report, counts: Sequence[str] = (), *, rel: int = 1, by_query: bool = False) -> list[str]:
    """The lines: counts and then measures, of all queries and before that, if asked for, of each, in order of id.

    A measure has the name that it has in trec_eval at the level of relevance `rel`. A query without a value has no line
    for it.

    Examples
    --------
    >>> from deadheat import evaluate_run
    >>> run, qrels = {"q1": {"a": 0.5, "b": 0.5}}, {"q1": {"a": 1}}
    >>> for line in trec_lines(evaluate_run(run, qrels, measures="AP"), ["num_q", "num_ret"]):
    ...     print(line.expandtabs(4))
    num_q                   all 1
    num_ret                 all 2
    map                     all 0.7500  0.5000  1.0000
    """
    names = {name: trec_name(rank_measures.parse(name), rel) for name in report}
    counted = _counts(report.profile, rel)
    lines = []
    if by_query:
        ids = report.profile.query_ids or tuple(map(str, range(report.n_query)))
        for i in sorted(range(report.n_query), key=ids.__getitem__):
            lines += [_line(name, ids[i], int(counted[name][i])) for name in counts if name != "num_q"]
            values = {name: Triple(*(row[i] for row in report[name].per_query)) for name in report}
            lines += [_line(names[name], ids[i], *_shown(of)) for name, of in values.items() if of.lower == of.lower]
    lines += [_line(name, "all", int(counted[name].sum())) for name in counts]
    return lines + [_line(names[name], "all", *_shown(report[name])) for name in report]


def _counts(profile: TieProfile, rel: int) -> dict[str, Int64]:
    """What `COUNTS` are for each query."""
    level = at_level(profile, rel)
    found = np.bincount(level.query_of_group, level.tied_relevant, level.n_query).astype(np.int64)
    return {
        "num_q": np.ones(profile.n_query, dtype=np.int64),
        "num_ret": profile.n_ranked,
        "num_rel": level.n_relevant,
        "num_rel_ret": found,
    }


def _shown(values: Triple[float] | Result) -> tuple[float, float, float]:
    """Expected, lower and upper."""
    return values.expected, values.lower, values.upper


def _line(name: str, query: str, *values: float) -> str:
    """One line, whose first three fields are those of trec_eval."""
    return "\t".join([f"{name:<22}", query, *(f"{v:6.4f}" if isinstance(v, float) else str(v) for v in values)])
