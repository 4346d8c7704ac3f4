"""Audit of a submission: in come embeddings and labels, out go findings, the most serious first.

embeddings, labels ──> evidence: every pass over the data, once ──> checks, one row each ──> findings ──> Audit
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.engine.distances.registry import find
from deadheat.engine.task import Task, rows_of
from deadheat.errors import InvalidValueError
from deadheat.reports.answer import Panel
from deadheat.reports.averaging import Average, Averaging, Singletons, SummaryOptions, fractions
from deadheat.reports.result import Result
from deadheat.reports.tables import count, plain, value
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.floats import plain_floats
from deadheat.support.means import all_or_none
from deadheat.trust.audits import findings, thresholds
from deadheat.trust.audits.evidence import Evidence, RowProperties, collect
from deadheat.trust.audits.findings import Audited, Finding, bounds, by_move, percent, points, share, some, worst

MEASURES = ("mAP", "MAP@R", "Hit@1")  # the headline first

# How serious it is that scores of this type move a measure by a point, and by a tenth of one. Nearly every evaluator
# computes in float32; float16 is what some serve; bfloat16 hardly anybody sorts by, but mixed precision can.
_OF_DTYPES = {"float32": ("serious", "warning"), "float16": ("warning", "note"), "bfloat16": ("note", "note")}


@plain_floats
def audit(
    task: Task,
    *,
    measures: str | Iterable[str] | None = MEASURES,
    singletons: Singletons = "skip",
    average: Average = "query",
    seed: int = 0,
) -> Audit:
    """Find what a careful referee would ask about a submission: embeddings and the labels that they are scored by.

    It checks how far the score moves with the way of breaking ties, with the type of the scores, and with the order of
    the samples under a plain sort; zero, constant and repeated embeddings; dead and saturated dimensions, and few
    levels; near ties that float32 cannot distinguish; labels in order, and embeddings that know that order; queries
    with nothing to find, unequal classes; and whether the score is above that of embeddings without information.

    Parameters
    ----------
    task : Task
        Made of embeddings, with exact ties. There is a pass for exact distances and one for all types of scores, each
        with its own progress; with several labels, a card or an executor, one for each type. Where rows have several
        labels, items are relevant that share one, rows of equal sets of labels are a class, and no random embeddings
        are drawn; shared labels cannot be counted as grades.
    measures, singletons, average
        As in `deadheat.evaluate`; by default mAP, MAP@R and Hit@1. The first is compared with chance.
    seed : int
        For shuffled orders, random embeddings, and the sample of queries where there are too many for whole rankings.
        The same seed gives the same findings on any machine.

    Returns
    -------
    Audit
        The findings, the most serious first. **Ties:** all values are given as lower, expected and upper, except those
        of a plain sort, which has only one. **Undefined:** NaN as in `deadheat.evaluate`, and for standard deviations
        of random embeddings that were not drawn.

    Notes
    -----
    A finding is *serious* where the score should not be believed as it stands, a *warning* where a reader has to know
    of it, a *note* where a reader may like to. The thresholds, and reasons for them, are in
    `deadheat.trust.audits.thresholds`.

    It takes a few times as long as `deadheat.evaluate`. Whole rankings, which a plain sort needs, are made only where a
    tie affects a measure, and for many items of a sample of the queries. Random embeddings are drawn for about a
    thousand samples at most; the deviation of random rankings is exact for any number.

    Examples
    --------
    Embeddings that are all zero, sorted by class:

    >>> import numpy as np
    >>> found = audit(Task(np.zeros((60, 4)), np.repeat(["a", "b", "c"], 20)))
    >>> [finding.name for finding in found.of("serious")]
    ['ties', 'sample order', 'chance', 'zero embeddings']
    >>> found.passes()
    False
    >>> print(found["zero embeddings"].sentence)
    All 60 rows are zero throughout (rows 0, 1, 2, 3, 4, ...) and carry no information.
    """
    summary = SummaryOptions.checked(measures, singletons, average)
    return audit_of(task, summary, checks.seed(seed))


@plain_floats
def audit_of(task: Task, summary: SummaryOptions, seed: int) -> Audit:
    """Return the audit of a task, for options that have been checked."""
    fractions(summary.measures)
    task = rows_of(task, "an audit", several=True)
    if task.options.relevance == "count":
        raise InvalidValueError("relevance", 'must be "any" or "same" for an audit, but is "count"')
    evidence = collect(task, summary, seed)
    return Audit(findings.most_serious_first(found for check in CHECKS for found in check(evidence)), evidence)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Audited):
    """The audit of a submission.

    Printing it gives the verdict, the measures by exact distances, rounded scores, plain sorts and chance, and then the
    findings. Iterating goes through the findings.

    Attributes
    ----------
    findings : tuple of Finding
        The most serious first; ``name``, ``severity``, ``sentence``, ``figures`` and ``advice`` of each.
    evidence : Evidence
        The facts behind the findings: ``evidence.report`` is that of `deadheat.evaluate`.
    """

    findings: tuple[Finding, ...]
    evidence: Evidence

    def about(self) -> str:
        (n, dim), gallery = self.evidence.task.pair.query.embeddings.shape, self.evidence.task.pair.gallery
        against = "" if gallery is None else f" against {len(gallery.labels)}"
        return f"{count(n, 'embedding', 'embeddings')}{against} of dim {dim}, {self.evidence.report.distance}"

    def panels(self) -> list[Panel]:
        """Return the measures in per cent: by exact distances, rounded scores, plain sorts and chance."""
        evidence = self.evidence
        reports = {"exact distances": evidence.report}
        reports |= {f"scores in {dtype}": report for dtype, report in evidence.rounded.items()}
        single = self._plain_sorts() | {"chance": {name: result.expected for name, result in evidence.chance.items()}}
        return [findings.table_of_ways(reports, single)]

    def facts(self) -> dict[str, Any]:
        """Return the distance, the number of queries, and the values of the table by measure."""
        evidence = self.evidence
        values = {what: bounds(report) for what, report in {**evidence.rounded, "chance": evidence.chance}.items()}
        measures = {
            name: ends
            | {what: each[name] for what, each in values.items()}
            | {"plain_sort": {title: each[name] for title, each in self._plain_sorts().items()}}
            for name, ends in bounds(evidence.report).items()
        }
        report = evidence.report
        return {"distance": report.distance, "n_query": report.n_query, "measures": plain(measures)}

    def _plain_sorts(self) -> dict[str, dict[str, float]]:
        """Return the rows of values by a plain sort, if ties make any difference."""
        sorts = self.evidence.sorts
        if sorts is None:
            return {}
        return {
            "plain sort, as in the file": sorts.file,
            "plain sort, reversed": sorts.backwards,
            "plain sort, shuffled": {name: values[0] for name, values in sorts.shuffled.items()},
        }


# ---------------------------------------------------------------------------------------------------------------------
# The checks: in comes the evidence, out come findings, mostly none. A new one is a function of the evidence and its row
# in `CHECKS`, below; thresholds are in `thresholds`.


def ties(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on how far the way of breaking ties moves the measures."""
    advice = "Report the lower bound, or all three values; a single sorted value says nothing within this range."
    yield from findings.of_ties(evidence.report, "items", advice, measures=bounds(evidence.report))


def dtypes(evidence: Evidence) -> Iterator[Finding]:
    """Yield findings on how much further the measures move if the scores are rounded to a type."""
    for dtype, (serious, mild) in _OF_DTYPES.items():
        report = evidence.rounded[dtype]
        moves = {name: _further(result, evidence.report[name]) for name, result in report.items()}
        name, move = worst(moves)
        if move < thresholds.PRINTED:
            continue
        yield Finding(
            f"scores in {dtype}",
            serious if move >= thresholds.CLAIMED else mild,
            f"Rounded to {dtype}, scores leave {name} anywhere in {value(report[name])} %: {points(move)} more "
            f"than exact distances ({value(evidence.report[name])} %).",
            {"dtype": dtype, "measures": bounds(report), "moves": moves, **report.ties._asdict()},
            f"Compute and sort scores in a wider type, or report the scores as they are served: "
            f"ties={dtype!r} (--ties {dtype}).",
        )


def near_ties(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on relevant and irrelevant items whose distances differ, but not in float32."""
    exact, rounded = evidence.report.ties, evidence.rounded["float32"].ties
    groups = rounded.mixed_groups - exact.mixed_groups
    if groups <= 0:
        return
    n_query = evidence.report.n_query
    queries = max(0, rounded.queries - exact.queries)
    yield Finding(
        "near ties",
        "warning" if queries >= thresholds.MANY_NEAR_TIES * n_query else "note",
        f"In {count(groups, 'tie group', 'tie groups')} float32 makes different distances of relevant and irrelevant "
        f"items equal: {share(rounded.queries, n_query, 'queries')} have ties there, {exact.queries} exactly.",
        {"groups": groups, "queries_in_float32": rounded.queries, "queries": exact.queries, "n_query": n_query},
        "Rounding decides the order there, so threads, batches and devices may change the values.",
    )


def noise(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on how far near ties, counted as ties, move the measures: the effect of noise or rounding."""
    eps, report = evidence.eps, evidence.near
    if report is None:
        return
    moves = {name: _further(result, evidence.report[name]) for name, result in report.items()}
    name, move = worst(moves)
    if move < thresholds.PRINTED:
        return
    bounds = f"{percent(report[name].lower)} to {percent(report[name].upper)}"
    yield Finding(
        "noise",
        by_move(move),
        f"Distances that differ by {eps:.2g} at most, the precision of float32 here, decide {name}: once they count as "
        f"equal, its bounds are {bounds} ({points(move)} further than exact ones, {value(evidence.report[name])} %).",
        {
            "eps": eps,
            "measures": {name: {"lower": r.lower, "upper": r.upper} for name, r in report.items()},
            "moves": moves,
        },
        "Look for rows that are equal up to noise, which turns a lower bound into the expectation; report the bounds "
        f"of ties=Tolerance({eps!r}) (--ties tolerance={eps!r}).",
    )


def sample_order(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on the values of a plain stable sort in the order of the file, reversed and shuffled."""
    sorts = evidence.sorts
    if sorts is None:
        return
    report = evidence.report
    moves = {name: sorts.moved(name, report[name].expected) for name in report}
    chances = {name: sorts.by_chance(name, report[name].expected) for name in report}
    special = {name: move for name, move in moves.items() if move > thresholds.BEYOND_SHUFFLES * chances[name]}
    name, move = worst(special or moves)
    if move < thresholds.PRINTED:
        return
    low, high = min(sorts.shuffled[name]), max(sorts.shuffled[name])
    sample = f" (estimated from {sorts.ranked.n_query} queries)" if sorts.sampled else ""
    yield Finding(
        "sample order",
        by_move(move) if special else "note",
        f"A plain stable sort gives {name} {percent(sorts.file[name])} in the order of the file, "
        f"{percent(sorts.backwards[name])} reversed, {percent(low)} to {percent(high)} shuffled{sample}; "
        f"{percent(report[name].expected)} is the mean over all ways to break ties.",
        {
            "orders": {
                name: {"file": sorts.file[name], "reversed": sorts.backwards[name], "shuffled": sorts.shuffled[name]}
                for name in report
            },
            "moves": moves,
            "by_chance": chances,
            "n_query": sorts.ranked.n_query,
            "sampled": sorts.sampled,
        },
        "Shuffle the samples before any evaluation that sorts, or use bounds, which no order changes; "
        "dh.exploit (deadheat exploit) finds how far an order can go.",
    )


def chance(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on the headline's lower bound against the value of embeddings without information."""
    name = evidence.headline
    result, random, draws = evidence.report[name], evidence.chance[name], evidence.draws
    stds = {"ties": random.std, "draws": math.nan if draws is None else draws.std}
    if result.n_query == 0:
        return
    above = result.lower - random.expected
    in_stds = {what: above / std if std > 0 else math.nan for what, std in stds.items()}
    likely = thresholds.UNDRAWN * random.std if draws is None else max(random.std, draws.std)
    beyond = above > thresholds.BEYOND_CHANCE * likely
    order = None if evidence.zero_sorts is None else evidence.zero_sorts.file[name]
    figures: dict[str, Any] = {
        "measure": name, "lower": result.lower, "chance": random.expected, "std": stds,
        "standard_deviations": in_stds, "all_zero_in_order_of_file": order,
    }  # fmt: skip
    severity, advice = (
        "serious",
        "Check what was submitted: the score does not show that it knows anything about the labels.",
    )
    if not beyond:
        what = f"is not above chance: a random ranking has {percent(random.expected)}"
    elif order is not None and order >= result.lower:
        what = f"is no more than all-zero embeddings get from a plain sort of this file, {percent(order)}"
        advice = "Shuffle the samples; as the file is sorted, a score like this needs no model."
    else:
        severity, what, advice = "note", f"is above chance, {percent(random.expected)}", ""
    sentence = f"The lower bound of {name}, {percent(result.lower)}, {what}{_how_far(in_stds)}."
    yield Finding("chance", severity, sentence, figures, advice)


def undefined(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for each measure that has no value for any query."""
    for name, result in evidence.report.items():
        if result.n_query == 0:
            yield Finding(
                "undefined measure",
                "serious",
                f"{name} has no value for any of the queries, so there is no score.",
                {"measure": name, "queries": result.n_undefined},
                "Choose a measure that is defined for these queries and this gallery.",
            )


def queries_in_gallery(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on queries that find themselves."""
    n, n_query = evidence.report.n_in_gallery, evidence.report.n_query
    if n:
        yield some(
            "queries in the gallery", "serious", n, n_query, "queries",
            "are in the gallery as an equal row with their label, and find themselves.",
            "Leave the gallery out, or exclude from it the row that each query is (`exclude`).",
            queries=n, n_query=n_query,
        )  # fmt: skip


def rows(evidence: Evidence) -> Iterator[Finding]:
    """Yield findings on the numbers in the embeddings."""
    numbers = find(evidence.task.options.distance).takes == "numbers"  # or binary codes
    for part, properties in evidence.parts.items():
        coded = not numbers or properties.dimensions.quantised
        made = [*_equal_rows(properties, part, coded)]
        if numbers:
            made = [*_empty_rows(properties, part), *made, *_poor_dimensions(properties, part)]
        for finding in made:
            yield finding if part == "embeddings" else replace(finding, name=f"{finding.name} in the gallery")


def _empty_rows(rows: RowProperties, part: str) -> Iterator[Finding]:
    """Yield findings on rows that are zero, zero except for noise, or one number throughout."""
    if len(rows.zero):
        what = f"zero throughout ({findings.listed(rows.zero)}) and carry no information."
        advice = "Find out where they come from: unreadable items, or a dead layer."
        yield _of_rows(rows.zero, rows, part, "zero embeddings", "serious", what, advice)
    if len(rows.faint):
        length = f"shorter than {thresholds.PRECISION:.2g} times the mean length"
        what = f"{length} ({findings.listed(rows.faint)}): zero, but for noise or rounding."
        advice = "Set them to zero, so that they tie; under cosine such rows are ranked by the direction of the noise."
        yield _of_rows(rows.faint, rows, part, "nearly zero embeddings", "serious", what, advice)
    if len(rows.constant):
        what = f"one number throughout ({findings.listed(rows.constant)})."
        advice = "They say nothing but that number; under cosine all of one sign are the same."
        yield _of_rows(rows.constant, rows, part, "constant embeddings", "warning", what, advice)


def _equal_rows(rows: RowProperties, part: str, coded: bool) -> Iterator[Finding]:
    """Yield findings on equal rows under different labels, and under one label, where they find each other first.

    Codes of few levels have them by design, so they are never serious there: the finding "ties" has their effect.
    """
    most, n = "warning" if coded else "serious", len(rows.inside)
    number, distinct = f"{rows.n_distinct} rows are distinct.", {"distinct": rows.n_distinct, "largest": rows.largest}
    if len(rows.across):
        what = f"equal to a row of another class ({findings.listed(rows.across)}). {number}"
        advice = "Look for items that were submitted twice under two labels, or that the model cannot distinguish."
        yield _of_rows(rows.across, rows, part, "duplicates across classes", most, what, advice, **distinct)
    if n:
        what = f"equal to a row of their own class ({findings.listed(rows.inside)}). {number}"
        advice = "Take copies of an item out; if the items differ, ask how the model comes to one embedding for all."
        finding = _of_rows(rows.inside, rows, part, "duplicates inside classes", most, what, advice, **distinct)
        mild = "warning" if n >= thresholds.MANY_COPIES * rows.n else "note"
        yield replace(finding, severity=most if n >= thresholds.MOSTLY_COPIES * rows.n else mild)


def _poor_dimensions(rows: RowProperties, part: str) -> Iterator[Finding]:
    """Yield findings on dimensions with one number, mostly at their largest or smallest, or with few levels."""
    dims, dim, things = rows.dimensions, rows.dim, "dimensions"
    dead = np.flatnonzero(dims.dead)
    if len(dead) and rows.n > 1:
        yield some(
            "dead dimensions", "warning" if len(dead) >= thresholds.DEAD_DIMENSIONS * dim else "note",
            len(dead), dim, things, f"of the {part} have the same number in every row.",
            "Look for dead units or inputs that never vary, and drop these dimensions.",
            dimensions=len(dead), dim=dim, which=dead[: thresholds.EXAMPLES].tolist(),
        )  # fmt: skip
    stuck = np.flatnonzero(~dims.dead & (dims.levels > 2) & (dims.at_limit >= thresholds.SATURATED_ROWS))
    if len(stuck):
        yield some(
            "saturated dimensions", "warning" if len(stuck) >= thresholds.SATURATED_DIMENSIONS * dim else "note",
            len(stuck), dim, things,
            f"of the {part} are at their largest or smallest number in {100 * thresholds.SATURATED_ROWS:.0f} % of the "
            "rows or more.",
            "Submit what comes before the sigmoid, tanh or clipping.",
            dimensions=len(stuck), dim=dim, which=stuck[: thresholds.EXAMPLES].tolist(), rows_looked_at=dims.n_sampled,
        )  # fmt: skip
    if dims.quantised:
        n = int(dims.few_levels.sum())
        with_zero = dims.levels + (dims.filled < dims.n_sampled)
        levels = int(np.median(with_zero[dims.few_levels]))
        yield some(
            "few levels", "warning" if levels <= thresholds.VERY_FEW_LEVELS else "note", n, dim, things,
            f"of the {part} have few distinct numbers: mostly {levels}.",
            "Say that they are quantised; deadheat quantization shows what that costs.",
            dimensions=n, dim=dim, levels=levels, rows_looked_at=dims.n_sampled,
        )  # fmt: skip


def _of_rows(
    which: Int64, rows: RowProperties, part: str, name: str, most: str, what: str, advice: str, **more: int
) -> Finding:
    """Return a finding on some rows, as serious as their share is, but no more than `most`."""
    severity = max(findings.by_share(len(which), rows.n), most, key=findings.SEVERITIES.index)
    where = "are" if part == "embeddings" else "of the gallery are"
    examples = which[: thresholds.EXAMPLES].tolist()
    return some(
        name, severity, len(which), rows.n, "rows", f"{where} {what}", advice,
        rows=len(which), n=rows.n, which=examples, **more,
    )  # fmt: skip


def file_order(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on embeddings that are close because their rows are, where row numbers alone score."""
    numbered, near, name = evidence.numbered, evidence.nearness, evidence.headline
    if numbered is None or near is None or not near.found:
        return
    alone, nothing = numbered[name].expected, evidence.chance[name].expected
    if not alone - nothing >= thresholds.CLAIMED:
        return
    pairs = count(near.n, "pair", "pairs")
    where = f"at {pairs} of rows where the class changes" if near.across else f"in {pairs} of rows inside classes"
    yield Finding(
        "file order",
        "serious" if near.across else "warning",
        f"Neighbouring rows are close because they are neighbours: {where}, a row is farther from "
        f"{percent(near.share)} of the class of the next one, where labels explain 50 %. Row numbers alone get {name} "
        f"{percent(alone)} in this order, and this submission {percent(evidence.report[name].lower)}.",
        {
            "measure": name, "lower": evidence.report[name].lower, "row_numbers": bounds(numbered),
            "pairs": near.n, "of_different_classes": near.across, "share": near.share, "std": near.std,
        },
        "Shuffle the samples and have them embedded again; the score may be of the order and not of the items.",
    )  # fmt: skip


def in_runs(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on classes that come one after the other in the file."""
    runs, sorts, name = evidence.runs, evidence.zero_sorts, evidence.headline
    if evidence.numbered is None or sorts is None:
        return
    chance = evidence.chance[name].expected
    moved = max(result.upper - result.lower for result in evidence.report.values())
    yield Finding(
        "labels in order",
        "warning" if moved >= thresholds.PRINTED else "note",
        f"The labels come in {count(runs.n_run, 'run', 'runs')} of one class each, for {runs.n_class} classes; "
        f"a random order has about {runs.likely:.0f}. In this order a plain stable sort gives all-zero embeddings "
        f"{name} {percent(sorts.file[name])}, and row numbers alone get {percent(evidence.numbered[name].expected)}, "
        f"where a random ranking has {percent(chance)}.",
        {
            "runs": runs.n_run, "classes": runs.n_class, "likely": runs.likely, "order": runs.order,
            "all_zero": {"file": sorts.file, "reversed": sorts.backwards, "expected": chance},
            "row_numbers": bounds(evidence.numbered),
        },
        "Shuffle the samples, so that neither a sort nor an embedding profits from the order of the labels.",
    )  # fmt: skip


def without_relevant(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on queries without a relevant item."""
    n, n_query, singletons = evidence.report.n_singleton, evidence.report.n_query, evidence.report.singletons
    if n:
        yield some(
            "queries without a relevant item", "warning" if n >= thresholds.MANY_SINGLETONS * n_query else "note",
            n, n_query, "queries", f"have no relevant item among what is ranked; singletons: {singletons}.",
            "State how they count: excluded, as 0 or as 1; the means differ.",
            queries=n, n_query=n_query, singletons=singletons,
        )  # fmt: skip


def imbalance(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding on classes that make up most of the mean, and on the mean over classes."""
    report, name = evidence.report, evidence.headline
    if report.classes is None:  # rows have several labels
        return
    values = all_or_none(report[name].per_query).expected
    sizes = np.bincount(report.classes[~np.isnan(values)])
    sizes = np.sort(sizes[sizes > 0])[::-1]
    n_class, total = len(sizes), int(sizes.sum())
    if not total:
        return
    over_queries, over_classes = (
        Averaging(average, report.n_query, report.labels).mean(values) for average in ("query", "class")
    )
    dominated = sizes[0] >= max(thresholds.DOMINANT_CLASS, 2 / n_class) * total
    if not dominated and abs(over_queries - over_classes) < thresholds.MEANS_DIFFER:
        return
    yield Finding(
        "class imbalance",
        "warning",
        f"The largest of {n_class} classes has {share(int(sizes[0]), total, 'queries that count')}, the smallest "
        f"{sizes[-1]}; the mean of {name} is {percent(over_queries)} over queries and {percent(over_classes)} over "
        "classes.",
        {
            "classes": n_class, "largest": int(sizes[0]), "smallest": int(sizes[-1]), "queries": total,
            "effective_classes": total**2 / float(np.square(sizes, dtype=np.float64).sum()),
            "over_queries": over_queries, "over_classes": over_classes,
        },
        'Report both means: average="class" (--average class) has the other. They answer different questions.',
    )  # fmt: skip


CHECKS: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    ties, sample_order, dtypes, near_ties, noise, chance, undefined, queries_in_gallery, rows, file_order,
    in_runs, without_relevant, imbalance,
)  # fmt: skip


def _further(result: Result, exact: Result) -> float:
    """Return how far the bounds of a result lie outside those of another."""
    return max(0.0, exact.lower - result.lower) + max(0.0, result.upper - exact.upper)


def _how_far(in_stds: Mapping[str, float]) -> str:
    kinds = {"ties": "of random rankings", "draws": "of random embeddings"}
    known = [f"{findings.deviations(value)} {kinds[what]}" for what, value in in_stds.items() if not math.isnan(value)]
    return f" (in standard deviations: {', '.join(known)})" if known else ""
