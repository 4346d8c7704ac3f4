"""How far the score moves by what is no property of the model: ties, the type of scores, the order, chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from deadheat.audits.finding import Finding
from deadheat.audits.submission import limits
from deadheat.audits.submission.evidence import Evidence
from deadheat.audits.submission.orders import PlainSorts
from deadheat.audits.submission.wording import between, interval, many, percent, points, share
from deadheat.reports import Report, Result
from deadheat.reports.tables import count
from deadheat.support.triple import Triple

# What it is worth that scores of this type move a measure by a point, and by a tenth of one. Nearly every evaluator
# computes in float32; float16 is what some serve; bfloat16 hardly anybody sorts by, but mixed precision can.
_OF_DTYPES = {"float32": ("serious", "warning"), "float16": ("warning", "note"), "bfloat16": ("note", "note")}

_DTYPE_ADVICE = (
    "Compute and sort scores in a longer type, or report what is true of those that are served (ties={0!r})."
)


def ties(evidence: Evidence) -> Iterator[Finding]:
    """How far breaking ties one way or another moves each measure."""
    report = evidence.report
    widths = {name: result.upper - result.lower for name, result in report.items()}
    name, width = _worst(widths)
    if width <= 0:
        return
    found, about = report[name], report.ties
    yield Finding(
        "ties",
        _by_move(width),
        f"How ties are broken moves {name} {between(found.lower, found.upper)}; expected "
        f"{percent(found.expected)}. {count(about.mixed_groups, 'tie group holds', 'tie groups hold')} "
        f"relevant and irrelevant items, in {count(about.queries, 'query', 'queries')}; the largest has "
        f"{about.largest}.",
        {"measures": _bounds(report), "moves": widths, **about._asdict()},
        "Report the lower bound, or all three values; a single sorted value says nothing within this range.",
    )


def dtypes(evidence: Evidence) -> Iterator[Finding]:
    """How much further rounding the scores to a type moves each measure."""
    for dtype, (serious, mild) in _OF_DTYPES.items():
        report = evidence.rounded[dtype]
        moves = {name: _further(result, evidence.report[name]) for name, result in report.items()}
        name, move = _worst(moves)
        if move < limits.PRINTED:
            continue
        yield Finding(
            f"scores in {dtype}",
            serious if move >= limits.CLAIMED else mild,
            f"Rounded to {dtype}, scores leave {name} anywhere in {interval(report[name])}: {points(move)} more "
            f"than exact distances ({interval(evidence.report[name])}).",
            {"dtype": dtype, "measures": _bounds(report), "moves": moves, **report.ties._asdict()},
            _DTYPE_ADVICE.format(dtype),
        )


def near_ties(evidence: Evidence) -> Iterator[Finding]:
    """Relevant and irrelevant items that float32 cannot tell apart, although they differ."""
    exact, rounded = evidence.report.ties, evidence.rounded["float32"].ties
    groups = rounded.mixed_groups - exact.mixed_groups
    if groups <= 0:
        return
    n_query = evidence.report.n_query
    queries = max(0, rounded.queries - exact.queries)
    yield Finding(
        "near ties",
        "warning" if queries >= limits.MANY_NEAR_TIES * n_query else "note",
        f"In {count(groups, 'tie group', 'tie groups')} float32 makes different distances of relevant and irrelevant "
        f"items equal: {share(rounded.queries, n_query, 'queries')} have ties there, {exact.queries} exactly.",
        {"groups": groups, "queries_in_float32": rounded.queries, "queries": exact.queries, "n_query": n_query},
        "Rounding decides the order there, so that threads, batches and devices may give other values.",
    )


def noise(evidence: Evidence) -> Iterator[Finding]:
    """How far near ties, once they count as ties, move each measure: what noise bought, or rounding decided."""
    if evidence.near is None:
        return
    eps, report = evidence.near
    moves = {name: _further(result, evidence.report[name]) for name, result in report.items()}
    name, move = _worst(moves)
    if move < limits.PRINTED:
        return
    bounds = f"{percent(report[name].lower)} to {percent(report[name].upper)}"
    yield Finding(
        "noise",
        _by_move(move),
        f"Distances that differ by {eps:.2g} at most, the precision of float32 here, decide {name}: once they count as "
        f"equal, its bounds are {bounds} ({points(move)} further than exact ones, {interval(evidence.report[name])}).",
        {
            "eps": eps,
            "measures": {name: {"lower": r.lower, "upper": r.upper} for name, r in report.items()},
            "moves": moves,
        },
        "Look for rows that are equal but for noise, which makes the expectation of a lower bound; report the bounds "
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
    special = {name: move for name, move in moves.items() if move > limits.BEYOND_SHUFFLES * chances[name]}
    name, move = _worst(special or moves)
    if move < limits.PRINTED:
        return
    low, high = min(sorts.shuffled[name]), max(sorts.shuffled[name])
    sample = f" (estimated from {sorts.ranked.n_query} queries)" if sorts.sampled else ""
    yield Finding(
        "sample order",
        _by_move(move) if special else "note",
        f"A plain stable sort gives {name} {percent(sorts.file[name])} in the order of the file, "
        f"{percent(sorts.backwards[name])} reversed, {percent(low)} to {percent(high)} shuffled{sample}; "
        f"{percent(report[name].expected)} is the mean over all ways to break ties.",
        {
            "orders": _orders(sorts),
            "moves": moves,
            "by_chance": chances,
            "n_query": sorts.ranked.n_query,
            "sampled": sorts.sampled,
        },
        "Shuffle the samples before any evaluation that sorts, or use bounds, which no order changes; "
        "deadheat.exploit finds how far an order can go.",
    )


def chance(evidence: Evidence) -> Iterator[Finding]:
    """The headline's lower bound against what embeddings that know nothing earn."""
    name = evidence.headline
    found, nothing, draws = evidence.report[name], evidence.chance[name], evidence.draws
    deviations = {"ties": nothing.std, "draws": math.nan if draws is None else draws.std}
    if found.n_query == 0:
        return
    above = found.lower - nothing.expected
    distances = {what: above / std if std > 0 else math.nan for what, std in deviations.items()}
    likely = limits.UNDRAWN * nothing.std if draws is None else max(nothing.std, draws.std)
    beyond = above > limits.BEYOND_CHANCE * likely
    order = None if evidence.zero_sorts is None else evidence.zero_sorts.file[name]
    figures: dict[str, Any] = {
        "measure": name, "lower": found.lower, "chance": nothing.expected, "std": deviations,
        "standard_deviations": distances, "all_zero_in_order_of_file": order,
    }  # fmt: skip
    if not beyond:
        what = f"is not beyond chance: embeddings that know nothing earn {percent(nothing.expected)}"
        advice = "Look at what was handed in: the score does not show that it knows anything of the labels."
    elif order is not None and order >= found.lower:
        what = f"is no more than all-zero embeddings get from a plain sort of this file, {percent(order)}"
        advice = "Shuffle the samples; as the file is sorted, a score like this needs no model."
    else:
        what = f"is beyond chance, {percent(nothing.expected)}{_how_far(distances)}"
        yield Finding("chance", "note", f"The lower bound of {name}, {percent(found.lower)}, {what}.", figures)
        return
    said = f"The lower bound of {name}, {percent(found.lower)}, {what}{_how_far(distances)}."
    yield Finding("chance", "serious", said, figures, advice)


def undefined(evidence: Evidence) -> Iterator[Finding]:
    """Measures that have no value for any query."""
    for name, result in evidence.report.items():
        if result.n_query == 0:
            yield Finding(
                "undefined measure",
                "serious",
                f"{name} has no value for any of the queries, so that there is no score.",
                {"measure": name, "queries": result.n_undefined},
                "Ask for a measure that these queries and this gallery define.",
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


def _by_move(move: float) -> str:
    """How serious it is that a score moves so far."""
    return "serious" if move >= limits.CLAIMED else "warning" if move >= limits.PRINTED else "note"


def _worst(moves: Mapping[str, float]) -> tuple[str, float]:
    """The first measure that moves as seriously as any, or of those that move little the one that does most."""
    known = {name: 0.0 if math.isnan(move) else move for name, move in moves.items()}  # what is undefined does not move
    name = most = max(known, key=lambda name: known[name])
    if known[most] >= limits.PRINTED:
        name = next(name for name, move in known.items() if _by_move(move) == _by_move(known[most]))
    return name, known[name]


def _further(result: Result, exact: Result) -> float:
    """By how much the bounds of a result lie outside those of another."""
    return max(0.0, exact.lower - result.lower) + max(0.0, result.upper - exact.upper)


def _bounds(report: Report) -> dict[str, Any]:
    return {name: {end: getattr(result, end) for end in Triple._fields} for name, result in report.items()}


def _orders(sorts: PlainSorts) -> dict[str, Any]:
    return {
        name: {"file": sorts.file[name], "reversed": sorts.backwards[name], "shuffled": sorts.shuffled[name]}
        for name in sorts.file
    }


def _how_far(distances: Mapping[str, float]) -> str:
    """How many standard deviations of what."""
    of = {"ties": "of random rankings", "draws": "of random embeddings"}
    told = [f"{many(value)} {of[what]}" for what, value in distances.items() if not math.isnan(value)]
    return f" (in standard deviations: {', '.join(told)})" if told else ""
