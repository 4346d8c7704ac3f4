"""A report as trec_eval prints it, with the bounds: in comes a report on a run, out come lines in trec_eval's order.

measure (22 wide) ── query or all ── expected ── lower ── upper        measures, with 4 decimals
measure (22 wide) ── query or all ── number                            counts

What is no mean of a measure of the catalogue is made here from one: geometric means, precision over what is possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from deadheat import measures as rank_measures
from deadheat.measures.trec_names import parted, place, trec_name
from deadheat.profiles import Int64, at_level
from deadheat.reports.report import Report
from deadheat.reports.result import Float64
from deadheat.reports.trec_values import MADE, at, found_in, utility
from deadheat.support.means import exact_mean
from deadheat.support.triple import Triple

Shown = Literal["expected", "lower", "upper"]

COUNTS = {
    "num_q": "queries that count",
    "num_ret": "documents retrieved",
    "num_rel": "relevant documents",
    "num_rel_ret": "relevant documents retrieved",
}
_GEOMETRIC = {"gm_map": "mAP", "gm_bpref": "bpref"}
_LEAST = 1e-5  # what a value counts as in a geometric mean, at least


class Row(NamedTuple):
    """The values of one name: of each query, of all, and whether trec_eval prints each query."""

    of_queries: Triple[Float64] | Int64
    of_all: Triple[float] | int
    by_query: bool = True


def trec_lines(
    report: Report,
    names: Iterable[str] | None = None,
    *,
    rel: int = 1,
    by_query: bool = False,
    summary: bool = True,
    only: Shown | None = None,
    run_id: str | None = None,
    n_docs: int = 0,
) -> list[str]:
    """The lines of names, as `deadheat.measures.trec_names.expanded` gives them: of each query, then of all.

    Parameters
    ----------
    report : Report
    names : iterable of str, optional
        trec_eval's and ours; by default those of the report's measures. Those that trec_eval has come first, in its
        order.
    rel : int
        Its level of relevance: a measure has the name that it has there at this level.
    by_query, summary : bool
        Whether there are lines of each query, in order of id, and lines of all. A query without a value has none.
    only : {"expected", "lower", "upper"}, optional
        This value alone, so that the lines are trec_eval's own; by default all three.
    run_id : str, optional
        The tag of the run.
    n_docs : int
        Documents in the collection, for utility with a fourth coefficient.

    Examples
    --------
    >>> from deadheat import evaluate_run
    >>> run, qrels = {"q1": {"a": 0.5, "b": 0.5}}, {"q1": {"a": 1}}
    >>> report = evaluate_run(run, qrels, measures="AP")
    >>> for line in trec_lines(report, ["map", "num_q", "num_ret"]):
    ...     print(line.expandtabs(4))
    num_q                   all 1
    num_ret                 all 2
    map                     all 0.7500  0.5000  1.0000
    >>> print(trec_lines(report, only="upper")[0].expandtabs(4))
    map                     all 1.0000
    """
    named = _named(report if names is None else names, rel)
    rows = {name: _row(report, name, rel, n_docs) for name in sorted(named, key=place) if name != "runid"}
    lines = []
    if by_query:
        ids = report.profile.query_ids or tuple(map(str, range(report.n_query)))
        for i in sorted(range(report.n_query), key=lambda i: ids[i].encode("utf-8", "surrogateescape")):
            lines += [_line(name, ids[i], _one(row.of_queries, i), only) for name, row in rows.items() if row.by_query]
    if summary:
        lines += [f"{'runid':<22}\tall\t{run_id}"] if "runid" in named and run_id is not None else []
        lines += [_line(name, "all", row.of_all, only) for name, row in rows.items()]
    return [line for line in lines if line]


def measures_of(names: Iterable[str]) -> list[str]:
    """The measures of the catalogue among names, with the names that they have there."""
    return [rank_measures.parse(name).name for name in names if not is_of_lines(name)]


def is_of_lines(name: str) -> bool:
    """Whether a name is one of these lines alone, and of no measure of the catalogue."""
    base = parted(name)[0]
    return base in (*COUNTS, *_GEOMETRIC, *MADE, "runid", "utility") or name.startswith("utility_")


def _named(names: Iterable[str], rel: int) -> list[str]:
    """The names, as trec_eval has them where it does, each once."""
    called = (name if is_of_lines(name) else trec_name(rank_measures.parse(name).at_level(rel), rel) for name in names)
    return list(dict.fromkeys(called))


def _row(report: Report, name: str, rel: int, n_docs: int) -> Row:
    """The values of a name."""
    base, cutoff = parted(name)
    if name in COUNTS:
        counted = _counts(report, rel)[name]
        return Row(counted, int(counted.sum()), name != "num_q")
    if name in _GEOMETRIC:
        values = report[at(_GEOMETRIC[name], rel)].per_query
        return Row(values, _geometric(values), False)
    if base in MADE:
        return _mean(MADE[base](report, cutoff, rel))
    if name.startswith("utility"):
        return _mean(utility(report, name, rel, n_docs))
    result = report[at(name, rel)]
    return Row(result.per_query, Triple(result.lower, result.expected, result.upper))


def _counts(report: Report, rel: int) -> dict[str, Int64]:
    """What `COUNTS` are for each query."""
    level = at_level(report.profile, rel)
    return {
        "num_q": np.ones(level.n_query, dtype=np.int64),
        "num_ret": level.n_ranked,
        "num_rel": level.n_relevant,
        "num_rel_ret": found_in(level),
    }


def _geometric(values: Triple[Float64]) -> Triple[float]:
    """Geometric means; of the expected one only where no tie matters, since it is no function of expected values."""
    lower, upper = (math.exp(exact_mean(np.log(np.maximum(each, _LEAST)))) for each in (values.lower, values.upper))
    return Triple(lower, lower if lower == upper else math.nan, upper)


def _mean(values: Triple[Float64]) -> Row:
    """Values with their means."""
    return Row(values, Triple(*map(exact_mean, values)))


def _one(values: Triple[Float64] | Int64, query: int) -> Triple[float] | int:
    """Those of one query."""
    return Triple(*(float(row[query]) for row in values)) if isinstance(values, tuple) else int(values[query])


def _line(name: str, query: str, value: Triple[float] | int, only: Shown | None) -> str:
    """One line, whose first three fields are those of trec_eval; none for a value that is undefined."""
    if isinstance(value, int):
        return f"{name:<22}\t{query}\t{value}"
    if math.isnan(value.lower):
        return ""
    texts = {side: f"{each:6.4f}" for side, each in value._asdict().items()}
    if texts["lower"] == texts["upper"]:  # and so is what is between, also where it is not known exactly
        texts["expected"] = texts["lower"]
    shown = ("expected", "lower", "upper") if only is None else (only,)
    return "\t".join([f"{name:<22}", query, *(texts[side] for side in shown)])
