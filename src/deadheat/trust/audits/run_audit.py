"""Audit of a file of scores: in come a run and perhaps its qrels, out go findings, the most serious first.

run ──> its scores ──────────────> their distribution: constant, few, saturated, of a short type, tied at the top
run, qrels ──> bounds, tie rules ──> the effect of ties and near ties, and whether the file puts positives first
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.engine import exact
from deadheat.engine.sources import unmatched
from deadheat.engine.sources.run import from_run
from deadheat.engine.sources.run_tables import RunTables
from deadheat.engine.ties.scores import nearest_float64
from deadheat.errors import InvalidTypeError
from deadheat.inputs import trec
from deadheat.inputs.predictions import read_predictions
from deadheat.inputs.row_columns import ColumnMap
from deadheat.inputs.trec import Checked
from deadheat.inputs.trec import Table as Scores
from deadheat.reports.answer import Panel
from deadheat.reports.averaging import Singletons
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.reports.runs import RULES, by_rule
from deadheat.reports.tables import count, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.trust.audits import findings, thresholds
from deadheat.trust.audits.findings import Audited, Finding, bounds, by_move, percent, points, share, some, worst

MEASURES = ("nDCG@10", "MRR@10", "mAP")  # the headline first
_FILE = next(iter(RULES))


@dataclass(frozen=True)
class Looks:
    """Statistics of the scores of a run, without regard to relevance.

    Attributes
    ----------
    n_query, n_score : int
        Queries with at least two documents, and the scores of these.
    constant, tied_first : int
        Queries with one score for all documents, and those whose highest score several documents have.
    distinct : float
        The median over queries of the share of scores that are distinct.
    at_zero, at_one : int
        Scores that are exactly 0 or 1, where all lie between; else 0.
    dtype : str or None
        The shortest of bfloat16, float16 and float32 that holds every score, unless all are integers or too few.
    """

    n_query: int
    n_score: int
    constant: int
    tied_first: int
    distinct: float
    at_zero: int
    at_one: int
    dtype: str | None

    @classmethod
    def of(cls, scores: Checked) -> Looks:
        """Compute the statistics from all scores of queries with at least two documents.

        Examples
        --------
        >>> Looks.of({"q": {"a": 0.5, "b": 0.5, "c": 0.0}})
        Looks(n_query=1, n_score=3, constant=0, tied_first=1, distinct=0.6666666666666666, at_zero=1, at_one=0,
        dtype=None)
        """
        rows = [list(row.values()) for row in scores.values() if len(row) > 1]
        n_distinct = [len(set(row)) for row in rows]
        numbers = np.array([nearest_float64(each) for row in rows for each in row], dtype=np.float64)
        bounded = len(numbers) > 0 and bool(((numbers >= 0) & (numbers <= 1)).all())
        return cls(
            n_query=len(rows),
            n_score=len(numbers),
            constant=n_distinct.count(1),
            tied_first=sum(row.count(max(row)) > 1 for row in rows),
            distinct=float(np.median([n / len(row) for n, row in zip(n_distinct, rows, strict=True)])) if rows else 1.0,
            at_zero=int(np.count_nonzero(numbers == 0)) if bounded else 0,
            at_one=int(np.count_nonzero(numbers == 1)) if bounded else 0,
            dtype=_shortest(numbers),
        )


def _shortest(numbers: Float64) -> str | None:
    """Return the shortest type that holds all numbers; None if none does, or too few of them are not integers."""
    broken = numbers[numbers != np.rint(numbers)]
    if len(np.unique(broken)) < thresholds.FEWEST_SCORES:
        return None
    held = (name for name in ("bfloat16", "float16", "float32") if (exact.round_to(broken, name) == broken).all())
    return next(held, None)


@dataclass(frozen=True)
class First:
    """Counts of the tie groups in which the file lists relevant documents before irrelevant ones.

    Attributes
    ----------
    groups, relevant_first : int
        Tie groups with both, and those in which all relevant documents stand before all others.
    likely, std : float
        The mean number of the latter in a random order, and its standard deviation.
    """

    groups: int
    relevant_first: int
    likely: float
    std: float

    @classmethod
    def of(cls, scores: Checked, judged: Checked) -> First:
        """Count over all tie groups of the queries that are in both.

        Examples
        --------
        >>> First.of({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 1}})
        First(groups=1, relevant_first=1, likely=0.3333333333333333, std=0.4714045207910317)
        """
        n_first, chances = 0, []
        for query, grades in judged.items():
            tied: dict[Any, list[bool]] = {}
            for document, score in scores.get(query, {}).items():
                tied.setdefault(score, []).append(grades.get(document, 0) > 0)
            for marks in tied.values():
                n = sum(marks)
                if 0 < n < len(marks):
                    chances.append(1 / math.comb(len(marks), n))
                    n_first += all(marks[:n])
        variance = math.fsum(chance * (1 - chance) for chance in chances)
        return cls(len(chances), n_first, math.fsum(chances), math.sqrt(variance))

    @property
    def beyond(self) -> float:
        """The excess of `relevant_first` over chance, in standard deviations."""
        return (self.relevant_first - self.likely) / self.std if self.std else 0.0


def _near_ties(scores: Checked, judged: Checked, report: Report, singletons: Singletons) -> dict[str, Any]:
    """Return the precision of scores, the queries where a step of it joins scores, and the bounds once it does.

    Each relevant document is moved by one step, down and up. Queries whose scores are all integers have no near ties.
    """
    numbers = {query: _floats(row) for query, row in scores.items()}
    precision, places_of, step = _precision(np.concatenate(list(numbers.values())))
    near = {}
    for query, grades in judged.items():
        values = numbers.get(query, np.zeros(0))
        if (values == np.rint(values)).all():
            continue
        relevant = np.fromiter((grades.get(each, 0) > 0 for each in scores[query]), np.bool_, len(values))
        places, moved = places_of(values), relevant & np.isfinite(values)
        others, own = np.sort(places[~relevant]), places[moved]
        within = np.searchsorted(others, own + step, "right") - np.searchsorted(others, own - step)
        equal = np.searchsorted(others, own, "right") - np.searchsorted(others, own)
        if (within > equal).any():
            near[query] = places, moved * step

    def bound(end: str, side: int) -> dict[str, float]:
        moved = {query: dict(zip(scores[query], (places + side * steps).tolist(), strict=True))
                 for query, (places, steps) in near.items()}  # fmt: skip
        results = (
            evaluate(from_run(scores | moved, judged), report.measures, singletons=singletons) if moved else report
        )
        return {name: getattr(results[name], end) for name in report.measures}

    return {"precision": precision, "queries": len(near), "lower": bound("lower", -1), "upper": bound("upper", 1)}


def _floats(row: Mapping[str, Any]) -> Float64:
    return np.fromiter(map(nearest_float64, row.values()), np.float64, len(row))


def _precision(numbers: Float64) -> tuple[str, Callable[[Float64], Int64], int]:
    """Return the precision of scores, their places in it as integers, and the places of one step.

    Scores with more digits than float32 has may still have been computed in it, so that their step is one of float32.
    """
    if dtype := _shortest(numbers):
        return dtype, lambda values: exact.ordinals(exact.round_to(values, dtype), dtype), 1
    broken = numbers[numbers != np.rint(numbers)]
    powers = (10.0**digits for digits in range(1, thresholds.MOST_DECIMALS + 1))
    scale = next((power for power in powers if (np.rint(broken * power) / power == broken).all()), 0.0)
    if scale and len(np.unique(broken)) >= thresholds.FEWEST_SCORES:
        digits, most = round(math.log10(scale)), 2.0**62  # far beyond numbers that have decimals
        name = "1 decimal" if digits == 1 else f"{digits} decimals"
        return name, lambda values: np.rint(np.clip(values * scale, -most, most)).astype(np.int64), 1
    wide = any(
        float(f"{number:.9g}") != number for number in broken[broken != exact.round_to(broken, "float32")].tolist()
    )
    return "float64" if wide else "float32", exact.by_size, 1 << 29  # of the 52 bits, those that float32 does not have


@plain_floats
def audit_run(
    run: str | os.PathLike[str] | Scores,
    qrels: str | os.PathLike[str] | Scores | None = None,
    *,
    measures: str | Iterable[str] | None = MEASURES,
    singletons: Singletons = "skip",
    subset: str | None = None,
    split: str | None = None,
    repeats: trec.Repeats | None = None,
    documents: trec.Documents | None = None,
    columns: ColumnMap | None = None,
    qrels_columns: ColumnMap | None = None,
) -> RunAudit:
    """Find what a careful referee would ask about a file of scores, such as those of a reranker.

    It checks how far ties, near ties and the order of the file move the measures; whether the file lists positives
    first among ties; queries with one score for all documents, ties for the first place, few distinct scores,
    scores that are exactly 0 or 1 as a saturated sigmoid leaves them, and scores of a short type.

    Parameters
    ----------
    run : path, dict, data frame or iterable of named tuples
        As in `deadheat.from_run`, also what MTEB saves as ``{task}_predictions.json``. The order of the documents
        is that of the file.
    qrels : path, dict, data frame or iterable of named tuples, optional
        As for the run. Without them, only the scores are checked.
    measures, singletons
        As in `deadheat.evaluate`; by default nDCG@10, MRR@10 and mAP. Queries that the run lacks count as 0.
    subset, split : str, optional
        The subset and the split of MTEB's file, where it holds several.
    repeats, documents, columns, qrels_columns
        As in `deadheat.from_run`.

    Returns
    -------
    RunAudit
        The findings, the most serious first. **Ties:** values are given as lower, expected and upper, except under the
        rules by which libraries break ties, where there is only one. **Undefined:** NaN as in `deadheat.evaluate`.

    Raises
    ------
    OSError, TypeError, ValueError
        As `deadheat.from_run` does; for a file of predictions, see `deadheat.integrations.mteb.read_predictions`.

    Notes
    -----
    Severities and thresholds are those of `deadheat.audit`.

    Examples
    --------
    A reranker that gives every candidate the same score, where the positive is listed first:

    >>> run = {f"q{i}": dict.fromkeys(["z", "a", "b", "c"], 0.5) for i in range(20)}
    >>> found = audit_run(run, {query: {"z": 1} for query in run}, measures="MRR@10")
    >>> [finding.name for finding in found.of("serious")]
    ['ties', 'order of the file', 'positives first', 'constant scores']
    >>> print(found["positives first"].sentence)
    In all 20 tie groups of relevant and irrelevant documents the file lists the relevant ones first; a random order
    would in 5.0 (7.75 standard deviations).
    """
    if subset is not None or split is not None:
        if not isinstance(run, (str, os.PathLike)):
            rule = f"must be a file of MTEB's where subset or split is given, but is {checks.shown(run)}"
            raise InvalidTypeError("run", rule)
        run = read_predictions(run, subset=subset, split=split)
    scores = trec.open_run(run, repeats=repeats, documents=documents, columns=columns)
    looks = Looks.of(scores)
    if qrels is None:
        return RunAudit(findings.most_serious_first(_of_scores(looks)), looks, None, None, {})
    judged = trec.open_qrels(qrels, columns=qrels_columns)
    task = from_run(scores, judged)
    report = evaluate(task, measures, singletons=singletons)
    first, near = First.of(scores, judged), _near_ties(scores, judged, report, singletons)
    rules = {rule: by_rule(rule, scores, judged, report.measures, singletons) for rule in RULES}
    made = [*_of_ids(task.run), *_of_ties(report, first, rules), *_of_near_ties(report, near), *_of_scores(looks)]
    return RunAudit(findings.most_serious_first(made), looks, report, first, rules)


@dataclass(frozen=True, eq=False, repr=False)
class RunAudit(Audited):
    """The audit of a file of scores.

    Printing it gives the verdict, the measures with their bounds and by each rule for ties, and then the findings.

    Attributes
    ----------
    findings : tuple of Finding
        The most serious first; ``name``, ``severity``, ``sentence``, ``figures`` and ``advice`` of each.
    looks : Looks
        Statistics of the scores.
    report : Report or None
        That of `deadheat.evaluate`; None without qrels, as is `first`.
    first : First or None
        Counts of the tie groups in which the file lists relevant documents first.
    rules : dict of str to dict of str to float
        The value of each measure by each rule for ties.
    """

    findings: tuple[Finding, ...]
    looks: Looks
    report: Report | None
    first: First | None
    rules: Mapping[str, Mapping[str, float]]

    def about(self) -> str:
        return f"{count(self.looks.n_query, 'query', 'queries')} of {self.looks.n_score} scores"

    def panels(self) -> list[Panel]:
        """Return the measures in per cent: with their bounds, and by each rule for ties where there are any."""
        if self.report is None:
            return []
        tied = self.first is not None and self.first.groups
        rules = {f"ties {rule}": values for rule, values in self.rules.items()} if tied else {}
        return [findings.table_of_ways({"all ways to break ties": self.report}, rules)]

    def facts(self) -> dict[str, Any]:
        """Return statistics of the scores, and the values of each measure."""
        measures = {
            name: {**ends, "rules": {rule: values[name] for rule, values in self.rules.items()}}
            for name, ends in ({} if self.report is None else bounds(self.report)).items()
        }
        return {"scores": plain(vars(self.looks)), "measures": plain(measures)}


def _of_ids(run: RunTables | None) -> Iterator[Finding]:
    """Yield findings on documents that are not in the qrels, and on queries that are ranked for themselves."""
    assert run is not None
    if (lacking := unmatched.documents(run)) is not None:
        severity = "serious" if lacking.n == lacking.n_query else "warning"
        figures = {"queries": lacking.n, "n_query": lacking.n_query}
        yield Finding("documents not in the qrels", severity, lacking.sentence(advice=""), figures, unmatched.CHUNKS)
    if own := unmatched.own_queries(run):
        n_query = len(run.scores)
        figures = {"queries": len(own), "n_query": n_query}
        fact, advice = unmatched.about_own(len(own), n_query)
        yield Finding("queries ranked for themselves", findings.by_share(len(own), n_query), fact, figures, advice)


def _of_ties(report: Report, first: First, rules: Mapping[str, Mapping[str, float]]) -> Iterator[Finding]:
    """Yield findings on ties, by the measure that they move most seriously, and on the order of the file."""
    yield from findings.of_ties(report, "documents", "Report the lower bound, or all three values.")
    moved = {name: abs(rules[_FILE][name] - result.expected) for name, result in report.items()}
    name = max(moved, key=lambda each: -1.0 if math.isnan(moved[each]) else moved[each])
    if moved[name] >= thresholds.PRINTED:
        values = ", ".join(f"{percent(values[name])} {rule}" for rule, values in rules.items())
        yield Finding(
            "order of the file",
            by_move(moved[name]),
            f"{name} depends on the rule for ties: {values}. The mean over all orders is "
            f"{percent(report[name].expected)}, {points(moved[name])} from that of the file.",
            {"moves": moved, "rules": rules},
            "Do not compare with results of another rule for ties; shuffle the candidates before they are scored.",
        )
    if first.relevant_first and first.beyond > thresholds.BEYOND_CHANCE:
        yield Finding(
            "positives first",
            by_move(moved[name]),
            f"In {share(first.relevant_first, first.groups, 'tie groups')} of relevant and irrelevant documents the "
            f"file lists the relevant ones first; a random order would in {first.likely:.1f} "
            f"({findings.deviations(first.beyond)} standard deviations).",
            vars(first),
            "A stable sort rewards ties in such a file; shuffle the candidates.",
        )


def _of_near_ties(report: Report, near: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield a finding on how far near ties move the measure that they move most seriously, beyond exact ties."""
    moves = {
        name: max(0.0, result.lower - near["lower"][name]) + max(0.0, near["upper"][name] - result.upper)
        for name, result in report.items()
    }
    name, move = worst(moves)
    if move < thresholds.PRINTED:
        return
    n_query = report.n_query
    low, high = (percent(near[end][name]) for end in ("lower", "upper"))
    differ, remedy = (
        f"by one step of {near['precision']} at most",
        "compute the scores in float64, or report these bounds",
    )
    if near["precision"] == "float64":  # 0.1 + 0.2 and 0.3
        differ, remedy = "only in digits that float32 does not have", "report these bounds, or round the scores"
    yield Finding(
        "near ties",
        by_move(move),
        f"In {share(near['queries'], n_query, 'queries')} scores of relevant and irrelevant documents differ {differ}: "
        f"once these count as ties, {name} is anywhere from {low} to {high} "
        f"({points(move)} further than equal scores leave open).",
        {**near, "moves": moves, "n_query": n_query},
        f"Rounding decides the order there: {remedy}.",
    )


def _of_scores(looks: Looks) -> Iterator[Finding]:
    """Yield findings on the scores themselves."""
    n, scores = looks.n_query, looks.n_score
    if looks.constant:
        yield some(
            "constant scores", findings.by_share(looks.constant, n), looks.constant, n, "queries",
            "have one score for all documents.",
            "Look for inputs that were cut off before the documents differ, or a model that failed.",
            queries=looks.constant, n_query=n,
        )  # fmt: skip
    if looks.tied_first:
        severity = findings.by_share(looks.tied_first, n)
        yield Finding(
            "ties for the first place",
            "warning" if severity == "serious" else severity,
            f"In {share(looks.tied_first, n, 'queries')} several documents have the highest score.",
            {"queries": looks.tied_first, "n_query": n},
            "The sort decides who is first.",
        )
    if looks.distinct < thresholds.FEW_DISTINCT:
        yield Finding(
            "few distinct scores",
            "warning",
            f"In half of the queries at most {100 * looks.distinct:.0f} % of the scores are distinct.",
            {"distinct": looks.distinct},
            "Rank by scores before they are rounded.",
        )
    for number_, n_there in ((0, looks.at_zero), (1, looks.at_one)):
        if n_there >= thresholds.SOME_ROWS * scores and n_there > 1:
            yield some(
                f"scores of exactly {number_}", "warning" if n_there >= thresholds.MANY_ROWS * scores else "note",
                n_there, scores, "scores", f"are exactly {number_}, the end of their range.",
                "If a sigmoid made them, rank by the logits: it is 1 from 17 on in float32, from 6.3 in bfloat16.",
                scores=n_there, n_score=scores,
            )  # fmt: skip
    if looks.dtype in ("bfloat16", "float16"):
        yield Finding(
            f"scores in {looks.dtype}",
            "warning",
            f"All {scores} scores are numbers of {looks.dtype}, which has few of them.",
            {"dtype": looks.dtype},
            "Compute the last step in float32; in Python, dh.compare of both runs shows what that changes.",
        )
