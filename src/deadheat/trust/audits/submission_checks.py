"""The checks of a submission: in comes the evidence, out come findings, mostly none.

How far the score moves by what is no property of the model (ties, the type of scores, the order of the samples,
chance), and what the labels are. A new check is a function of the evidence and its row in `CHECKS`, below; its
thresholds are in `thresholds`, and findings about the numbers of the embeddings in `rows`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from deadheat.reports.averaging import Averaging
from deadheat.reports.result import Result
from deadheat.reports.tables import count, value
from deadheat.trust.audits import thresholds
from deadheat.trust.audits.evidence import Evidence
from deadheat.trust.audits.findings import (
    Finding,
    bounds,
    by_move,
    deviations,
    of_ties,
    percent,
    points,
    share,
    worst,
)
from deadheat.trust.audits.rows import findings_in

# How serious it is that scores of this type move a measure by a point, and by a tenth of one. Nearly every evaluator
# computes in float32; float16 is what some serve; bfloat16 hardly anybody sorts by, but mixed precision can.
_OF_DTYPES = {"float32": ("serious", "warning"), "float16": ("warning", "note"), "bfloat16": ("note", "note")}


def ties(evidence: Evidence) -> Iterator[Finding]:
    """How far breaking ties one way or another moves each measure."""
    advice = "Report the lower bound, or all three values; a single sorted value says nothing within this range."
    yield from of_ties(evidence.report, "items", advice, measures=bounds(evidence.report))


def dtypes(evidence: Evidence) -> Iterator[Finding]:
    """How much further rounding the scores to a type moves each measure."""
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
            f"Compute and sort scores in a wider type, or report the scores as they are served (ties={dtype!r}).",
        )


def near_ties(evidence: Evidence) -> Iterator[Finding]:
    """Relevant and irrelevant items that differ, but not in float32."""
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
    """How far near ties, once they count as ties, move each measure: what noise or rounding decided."""
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
        f"of ties=Tolerance({eps!r}).",
    )


def sample_order(evidence: Evidence) -> Iterator[Finding]:
    """What a plain stable sort gives in the order of the file, reversed and shuffled."""
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
        "deadheat.exploit finds how far an order can go.",
    )


def chance(evidence: Evidence) -> Iterator[Finding]:
    """The headline's lower bound against what embeddings that know nothing get."""
    name = evidence.headline
    found, nothing, draws = evidence.report[name], evidence.chance[name], evidence.draws
    stds = {"ties": nothing.std, "draws": math.nan if draws is None else draws.std}
    if found.n_query == 0:
        return
    above = found.lower - nothing.expected
    in_stds = {what: above / std if std > 0 else math.nan for what, std in stds.items()}
    likely = thresholds.UNDRAWN * nothing.std if draws is None else max(nothing.std, draws.std)
    beyond = above > thresholds.BEYOND_CHANCE * likely
    order = None if evidence.zero_sorts is None else evidence.zero_sorts.file[name]
    figures: dict[str, Any] = {
        "measure": name, "lower": found.lower, "chance": nothing.expected, "std": stds,
        "standard_deviations": in_stds, "all_zero_in_order_of_file": order,
    }  # fmt: skip
    if not beyond:
        severity, what = (
            "serious",
            f"is not above chance: embeddings that know nothing get {percent(nothing.expected)}",
        )
        advice = "Check what was submitted: the score does not show that it knows anything about the labels."
    elif order is not None and order >= found.lower:
        severity, what = (
            "serious",
            f"is no more than all-zero embeddings get from a plain sort of this file, {percent(order)}",
        )
        advice = "Shuffle the samples; as the file is sorted, a score like this needs no model."
    else:
        severity, what, advice = "note", f"is above chance, {percent(nothing.expected)}", ""
    sentence = f"The lower bound of {name}, {percent(found.lower)}, {what}{_how_far(in_stds)}."
    yield Finding("chance", severity, sentence, figures, advice)


def undefined(evidence: Evidence) -> Iterator[Finding]:
    """Measures that have no value for any query."""
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
    """Queries that find themselves."""
    n, n_query = evidence.report.n_in_gallery, evidence.report.n_query
    if n:
        yield Finding(
            "queries in the gallery",
            "serious",
            f"{share(n, n_query, 'queries').capitalize()} are in the gallery as an equal row with their label, "
            "and find themselves.",
            {"queries": n, "n_query": n_query},
            "Leave the gallery out, or give exclude=, the row of the gallery that each query is.",
        )


def rows(evidence: Evidence) -> Iterator[Finding]:
    """What the numbers of the embeddings look like."""
    for part, found in evidence.parts.items():
        yield from findings_in(found, part, evidence.options.distance != "hamming")


def in_runs(evidence: Evidence) -> Iterator[Finding]:
    """Classes that come one after the other in the file."""
    runs, sorts, name = evidence.runs, evidence.zero_sorts, evidence.headline
    if not runs.found or sorts is None:
        return
    nothing = evidence.chance[name].expected
    moved = max(result.upper - result.lower for result in evidence.report.values())
    yield Finding(
        "labels in order",
        "warning" if moved >= thresholds.PRINTED else "note",
        f"The labels come in {count(runs.n_run, 'run', 'runs')} of one class each, for {runs.n_class} classes; "
        f"a random order has about {runs.likely:.0f}. In this order a plain stable sort gives all-zero embeddings "
        f"{name} {percent(sorts.file[name])}, where knowing nothing gets {percent(nothing)}.",
        {
            "runs": runs.n_run, "classes": runs.n_class, "likely": runs.likely, "order": runs.order,
            "all_zero": {"file": sorts.file, "reversed": sorts.backwards, "expected": nothing},
        },
        "Shuffle the samples, so that no sort profits from the order of the labels.",
    )  # fmt: skip


def without_relevant(evidence: Evidence) -> Iterator[Finding]:
    """Queries with nothing to find."""
    n, n_query = evidence.report.n_singleton, evidence.report.n_query
    if n:
        yield Finding(
            "queries without a relevant item",
            "warning" if n >= thresholds.MANY_SINGLETONS * n_query else "note",
            f"{share(n, n_query, 'queries').capitalize()} have no relevant item among what is ranked; "
            f"singletons: {evidence.report.singletons}.",
            {"queries": n, "n_query": n_query, "singletons": evidence.report.singletons},
            "State how they count: excluded, as 0 or as 1; the means differ.",
        )


def imbalance(evidence: Evidence) -> Iterator[Finding]:
    """Classes that make up most of the mean, and what the mean over classes is."""
    report, name = evidence.report, evidence.headline
    assert report.classes is not None
    values = report[name].per_query.expected
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
        'Report both means (average="class"); they answer different questions.',
    )  # fmt: skip


CHECKS: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    ties, sample_order, dtypes, near_ties, noise, chance, undefined, queries_in_gallery, rows, in_runs,
    without_relevant, imbalance,
)  # fmt: skip


def _further(result: Result, exact: Result) -> float:
    """By how much the bounds of a result lie outside those of another."""
    return max(0.0, exact.lower - result.lower) + max(0.0, result.upper - exact.upper)


def _how_far(in_stds: Mapping[str, float]) -> str:
    of = {"ties": "of random rankings", "draws": "of random embeddings"}
    known = [f"{deviations(value)} {of[what]}" for what, value in in_stds.items() if not math.isnan(value)]
    return f" (in standard deviations: {', '.join(known)})" if known else ""
