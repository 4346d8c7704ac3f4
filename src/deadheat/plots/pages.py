"""The page about a report: from the report, and further facts about it, to the text of one HTML file.

The file needs no network, for a supplement or a pull request; `templates/` has its parts. Positions in its drawings are
in hundredths of the width and height. Matplotlib is not needed.
"""

from __future__ import annotations

import datetime
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.collisions import Collisions, CollisionTable
from deadheat.analyses.comparison import BY, Comparison, compare
from deadheat.analyses.confidence.rejecting import RejectCurve, error_reject_curve
from deadheat.analyses.difference import Difference
from deadheat.analyses.sliced_comparison import SlicedComparison
from deadheat.engine.profiles.parts import in_parts
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError
from deadheat.plots.arguments import kind_of
from deadheat.reports.answer import KINDS, Answer, Column
from deadheat.reports.breakdown import Breakdown, triples
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.slices import Slices
from deadheat.reports.statistics.intervals import Interval, Intervals
from deadheat.reports.tables import (
    DIGITS,
    decimals,
    distinct_digits,
    has_ties,
    headline,
    number,
    program,
    value,
)
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

MOST_CLASSES = 10_000  # that a page holds, and a browser sorts at once
WORST = 100  # queries that the page lists
MANY = 20_000  # queries beyond which intervals of means are not drawn, but computed
_TITLE = "Evaluation report"
_POINTS = 400  # of a curve: more than a screen shows
_NEAR_ONE = 0.02  # of the width, below which a bar would not be seen
_BINS = 20  # of a histogram
_TICKS = 5  # of an axis, at most so many steps


@plain_floats
def html_report(
    report: Report,
    other: Report | None = None,
    *,
    title: str = _TITLE,
    names: tuple[str, str] = ("A", "B"),
    about: Mapping[str, str] | None = None,
    confidence: ArrayLike | None = None,
    collisions: Collisions | CollisionTable | None = None,
    slices: Slices | SlicedComparison | None = None,
    digits: int = DIGITS,
    **settings: Any,
) -> str:
    """Return a page about a report: one HTML file that loads nothing from elsewhere.

    It opens with the result in one sentence and a card for each measure. Then come each measure with its interval, the
    distribution of the values of the queries, the ties, the classes in a table that sorts and filters, and the worst
    queries. It can be read on a phone, in print, in dark mode, by keyboard and by screen reader.

    Parameters
    ----------
    report : Report
    other : Report, optional
        A second report on the same queries, to be compared with the first (`deadheat.compare`).
    title : str
    names : pair of str
        The names of the two reports.
    about : mapping of str to str, optional
        Further entries at the top of the page, such as ``{"data set": "CUB-200, test", "command": "..."}``. The date
        and the versions are there by default; an entry of the same name replaces them, and an empty one removes it.
    confidence : (n_query,) numbers, optional
        The model's confidence in each query, higher is surer: adds the error against the share that is rejected.
    collisions : Collisions or CollisionTable, optional
        The result of `deadheat.collisions`.
    slices : Slices or SlicedComparison, optional
        From ``by_slice`` of the report, or of the comparison: a table, and a drawing of the first measure.
    digits : int
        Decimals of values in per cent.
    **settings
        With `other`: for `deadheat.compare`.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Raises
    ------
    MissingPackageError
        Without Jinja (the extra ``plots``).

    Notes
    -----
    The tables hold at most the 10,000 worst classes and the 100 worst queries, so that a page of 100,000 queries opens
    at once. With labels, a 95 % interval is over classes where `Report.interval` takes these as the units; beyond
    20,000 queries it is the normal one.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0], [1], [-1], [4]], ["a", "a", "b", "b"], distance="euclidean", measures="mAP")
    >>> page = html_report(report, title="Four points")
    >>> page.startswith("<!doctype html>"), "<h1>Four points</h1>" in page
    (True, True)
    """
    for argument, given in (("report", report), ("other", other)):
        if not isinstance(given, Report) and not (argument == "other" and given is None):
            raise InvalidTypeError(argument, f"must be a Report, but is {type(given).__name__}")
    if collisions is not None and not isinstance(collisions, (Collisions, CollisionTable)):
        raise InvalidTypeError("collisions", f"must be what deadheat.collisions found, but is {type(collisions)}")
    if settings and other is None:
        raise InvalidTypeError(next(iter(settings)), "goes with a second report to compare with, but there is none")
    if slices is not None and not isinstance(slices, (Slices, SlicedComparison)):
        raise InvalidTypeError("slices", f"must come from by_slice, but is {type(slices).__name__}")
    decimals(digits)
    about = checks.mapping({} if about is None else about, "about", "a mapping of names to texts")
    comparison = None if other is None else compare(report, other, names=names, **settings)
    systems = {"": report} if other is None else dict(zip(names, (report, other), strict=True))
    intervals = {(system, name): _interval(each, name) for system, each in systems.items() for name in each}
    means = [name for name in report if not report[name].measure.median]
    classes = report.by_class(MOST_CLASSES, measures=means) if means and report.classes is not None else None
    columns, measures = _measures(systems, intervals, digits)
    content = {
        "title": checks.text(title, "title"),
        "version": program(),
        "about": _about(systems.values(), about),
        "reports": systems,
        "verdict": _verdict(report, comparison, digits),
        "order": None if comparison is None else _order(comparison, digits),
        "cards": {name: _cards(each, comparison, name, digits) for name, each in systems.items()},
        "columns": columns,
        "mixed": any(_is_other(each[name]) for each in systems.values() for name in each),
        "measures": measures,
        "intervals": _about_intervals(systems, intervals),
        "spreads": _distributions(systems),
        "ties": {name: tie_sizes(each.profile) for name, each in systems.items()},
        "classes": classes and _grid("classes", "Each class", classes, digits),
        "worst": _grid("queries", "The worst queries", report.worst(WORST), digits),
        "reject": None if confidence is None else _reject(report, confidence, digits),
        "collisions": None if collisions is None else _tabular(collisions),
        "slices": None if slices is None else _sliced(slices, digits),
        "comparison": None if comparison is None else _compared(comparison, digits),
    }
    jinja2 = require("jinja2", "plots", "an HTML report")
    loader = jinja2.PackageLoader("deadheat.plots", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return str(environment.get_template("page.html").render(content))


def _is_other(result: Result | Difference) -> bool:
    """Return whether a measure is no fraction, so that it has no bar from 0 to 100 %."""
    return kind_of(result).unit != "fraction"


def _unit_value(result: Result, digits: int) -> str:
    kind = kind_of(result)
    return f"{value(result, digits, kind.scale)} {kind.unit_shown}"


def _about(reports: Iterable[Report], about: Mapping[str, str]) -> dict[str, str]:
    """Return the entries at the top of the page, by name."""
    rows = [(f"{each.n_query:,}", (each.distance or "").replace("_", " "), each.tie_rule or "") for each in reports]
    n_query, distance, ties = (" and ".join(filter(None, dict.fromkeys(column))) for column in zip(*rows, strict=True))
    known = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "queries": n_query,
        "distance": distance,
        "ties": ties,
        "versions": f"deadheat {program()}, Python {'.'.join(map(str, sys.version_info[:3]))}, NumPy {np.__version__}",
    }
    return {name: str(text) for name, text in {**known, **about}.items() if text}


def _verdict(report: Report, comparison: Comparison | None, digits: int) -> str:
    """Return the result in the first measure, in one sentence."""
    name = next(iter(report if comparison is None else comparison))
    if comparison is None:
        result, kind = report[name], kind_of(report[name])
        width = number(kind.scale * (result.upper - result.lower), decimals(digits))
        if math.isnan(result.lower):
            return f"{name} is undefined: no query has a value."
        if not has_ties(result):
            return f"{name} is {_unit_value(result, digits)}, and no tie affects it."
        return f"{name} is {_unit_value(result, digits)}: ties leave {width} {kind.points} open."
    difference, (a, b) = comparison[name], comparison.names
    p, form = f"p = {difference.pvalue:.2g}", decimals(digits)
    kind = kind_of(difference)
    values = f" by {BY[difference.end]}" if has_ties(difference) else ""
    if math.isnan(difference.tested):
        return f"{name}{values} is undefined."
    if difference.ahead is None:
        points = number(kind.scale * difference.tested, form)
        return f"No significant difference in {name}{values} ({a} − {b}: {points} {kind.points}, {p})."
    first, last = (a, b) if difference.ahead == "A" else (b, a)
    is_certain = difference.ahead == difference.ahead_worst_case
    certain = ", whatever the ties do" if is_certain else ", but not for every tie-breaking"
    points = f"{number(kind.scale * abs(difference.tested), form)} {kind.points}{values}{certain if values else ''}"
    return f"{first} is ahead of {last} in {name} by {points} ({p})."


def _order(comparison: Comparison, digits: int) -> str:
    """Rank the two reports by the tested value of the first measure, in one sentence."""
    result, form = comparison[next(iter(comparison))], decimals(digits)
    kind, sign = kind_of(result), result.measure.sign
    scores = getattr(result.a, result.end), getattr(result.b, result.end)
    ranked = sorted(zip(scores, comparison.names, strict=True), key=lambda pair: -sign * pair[0])
    (best, first), (worst, last) = ranked
    if not sign * best > sign * worst:
        return f"By {BY[result.end]} of {result.name}, {comparison.names[0]} and {comparison.names[1]} are equal."
    unit = kind.unit_shown
    shown = (f"{name} ({number(kind.scale * score, form)} {unit})" for score, name in ((best, first), (worst, last)))
    return f"By {BY[result.end]} of {result.name}, {' ranks before '.join(shown)}."


def _cards(report: Report, comparison: Comparison | None, system: str, digits: int) -> list[dict[str, Any]]:
    """Return for each measure the number to report, in two lines, and the second system's change from the first."""
    cards = []
    for name in report:
        kind = kind_of(report[name])
        shown, _, bounds = value(report[name], digits, kind.scale).partition(" [")
        card: dict[str, Any] = {"name": name, "value": shown, "bounds": bounds and f"[{bounds}", "change": None}
        card["unit"] = kind.unit_shown
        if comparison is not None and system == comparison.names[1] and name in comparison:
            result = comparison[name]
            side = {"A": "worse", "B": "better", None: "same"}[result.ahead]
            change = abs(result.tested)
            points = (
                "no significant change" if side == "same" else f"{number(kind.scale * change, decimals(digits))} {side}"
            )
            card["change"] = {"side": side, "text": points}
        cards.append(card)
    return cards


def _measures(
    systems: Mapping[str, Report], intervals: Mapping[tuple[str, str], Intervals], digits: int
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns of values, and a row for each measure and system: its cells, its bar, and its interval."""
    shown = [(system, report, name) for system, report in systems.items() for name in report]
    kinds = [kind_of(report[name]) for _, report, name in shown]
    results = [report[name] for _, report, name in shown]
    column = Column("", results, shape="bounds", kinds=[result.measure.unit for result in results])
    cells = column.cells(digits, column.least_digits(digits), with_unit=False)
    names = list(dict.fromkeys(name for _, _, name in shown))
    rows = []
    for (system, report, name), kind, values in zip(shown, kinds, zip(*cells.values(), strict=True), strict=True):
        interval, form = _round_bounds(intervals[system, name]), decimals(digits)
        text = "-" if interval is None else f"[{', '.join(number(kind.scale * end, form) for end in interval)}]"
        row = {"system": system, "name": name, "values": values, "interval": text, "unit": kind.unit_shown}
        drawn = bar(report[name], interval) if kind.unit == "fraction" else None
        rows.append(row | {"bar": drawn, "summary": value(report[name], digits, kind.scale)})
    return list(cells), sorted(rows, key=lambda row: names.index(row["name"]))


def _round_bounds(intervals: Intervals) -> tuple[float, float] | None:
    """Return an interval around both bounds of a mean; None where there is none."""
    low, high = intervals.lower.low, intervals.upper.high
    return (low, high) if low == low and high == high else None


def _interval(report: Report, measure: str) -> Intervals:
    """Return the 95 % intervals of a mean."""
    many = report.n_query > MANY  # then a mean is as good as normally distributed, and draws would take minutes
    return report.interval(measure, method="t" if many and not report[measure].measure.median else None)


def _about_intervals(systems: Mapping[str, Report], intervals: Mapping[tuple[str, str], Intervals]) -> list[str]:
    """Return the method and the units of the intervals of each system, and the caution if these are few."""
    result = {
        system: min((intervals[system, name] for name in report), key=lambda each: each.n).about()
        for system, report in systems.items()
    }
    if len(set(map(tuple, result.values()))) == 1:
        return next(iter(result.values()))
    return [f"{system}: {sentence}" for system, about in result.items() for sentence in about]


def _distributions(systems: Mapping[str, Report]) -> list[dict[str, Any]]:
    """Return for each measure the histogram of the queries' values, and that of the second system downwards."""
    drawn = []
    for name, result in next(iter(systems.values())).items():
        if _is_other(result) or result.measure.median:
            continue
        counts = [histogram(report[name]) for report in systems.values()]
        most = max(int(each.max()) for each in counts)
        if not most:
            continue
        middles = [middle(report[name].per_query) for report in systems.values()]
        drawn.append({
            "name": per_query_name(name),
            "most": most,
            "outlines": [steps(each, most, down=bool(place)) for place, each in enumerate(counts)],
            "medians": [f"{100 * float(np.median(each)):.1f}" for each in middles],
        })  # fmt: skip
    return drawn


def _grid(name: str, title: str, breakdown: Breakdown, digits: int) -> dict[str, Any]:
    """Return a breakdown as a table that sorts and filters: its columns, each with the keys to sort it by."""
    columns: list[dict[str, Any]] = []
    for heading, cells in breakdown.rows.items():
        text, numeric = list(map(str, cells)), all(isinstance(cell, int) for cell in cells)
        keys: list[Any] = list(cells) if numeric else text
        columns.append({"name": heading, "numeric": numeric, "text": text, "keys": keys})
    for heading, values in breakdown.per_row.items():
        rows = triples(values)
        kind = KINDS[breakdown.units.get(heading, "fraction")]
        keys, common = list(map(_key, rows)), distinct_digits(rows, digits, kind.scale)
        text = [value(row, common, kind.scale).replace(", ", ",\N{NO-BREAK SPACE}") for row in rows]  # wraps before [
        columns.append({"name": f"{heading} ({kind.unit_shown})", "numeric": True, "text": text, "keys": keys})
    return {"name": name, "title": title, "columns": columns, "n": len(columns[0]["text"]), "notes": breakdown.notes()}


def _key(triple: Triple[float]) -> float | None:
    """Return the sort key of a cell: its expected value, or the lower one if there is none. None sorts last."""
    key = float(headline(triple))
    return None if math.isnan(key) else round(key, 12)


def _reject(report: Report, confidence: ArrayLike, digits: int) -> dict[str, Any]:
    """Return the error of the first measure against the share of rejected queries, as a drawing and tables."""
    name = next(iter(report))
    curve = error_reject_curve(report[name], confidence)
    return {"name": name, "drawing": _drawn_curve(curve), **_tabular(curve, digits=digits)}


def _compared(comparison: Comparison, digits: int) -> dict[str, Any]:
    drawn = differences([comparison[name] for name in comparison if not _is_other(comparison[name])])
    return {"names": comparison.names, **drawn, **_tabular(comparison, digits=digits)}


def _sliced(slices: Slices | SlicedComparison, digits: int) -> dict[str, Any]:
    """Return the tables of slices, and a bar for each slice and for all in the first measure, on one axis."""
    name = next(iter(slices.whole))
    results, intervals, _ = slices.drawn(name)
    names = [*map(str, slices.names), "mean of slices", "all"]
    drawn = placed(names, results, intervals, from_zero=isinstance(slices, SlicedComparison))
    systems = slices.whole[name].names if isinstance(slices, SlicedComparison) else ()
    return {"name": name, "names": systems, **drawn, **_tabular(slices, digits=digits)}


def _tabular(result: Answer, **options: Any) -> dict[str, Any]:
    return {"tables": result.tables(**options), "notes": result.notes()}


# Drawings


def bar(
    values: Result | Difference | Triple[float],
    interval: tuple[float, float] | None,
    scaled: Callable[[float], float] = lambda end: 100 * end,
) -> dict[str, float] | None:
    """Return positions on an axis from 0 to 100: of a bar, its expected value, and its interval; None if undefined."""
    if math.isnan(values.lower):
        return None
    lower = scaled(values.lower)
    places = {"lower": lower, "width": max(scaled(values.upper) - lower, _NEAR_ONE)}
    if not math.isnan(values.expected):
        places["expected"] = scaled(values.expected)
    if interval is not None and not math.isnan(interval[0]):
        places["low"], places["high"] = (min(max(scaled(end), 0.0), 100.0) for end in interval)
    return {name: round(number, 3) for name, number in places.items()}


def differences(results: Sequence[Difference]) -> dict[str, Any]:
    """Place all differences A − B, with their intervals, on one axis that contains 0: its ticks in points, and bars."""
    drawn = placed([each.name for each in results], results, [each.tested_interval for each in results], from_zero=True)
    for row, result in zip(drawn["bars"], results, strict=True):
        row |= {"ahead": result.ahead, "but": _reservation(result)}
    return drawn


def placed(
    names: Sequence[str], results: Sequence[Any], intervals: Sequence[Interval], *, from_zero: bool
) -> dict[str, Any]:
    """Place results with their intervals on one axis, in points from 0 or in per cent: its ticks, and bars."""
    ends = [(0.0,), *((each.lower, each.upper) for each in results), *intervals]
    known = [100 * end for pair in ends for end in pair if not math.isnan(end)]
    width = max(known) - min(known) or 1.0
    power = 10.0 ** math.floor(math.log10(width / _TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * _TICKS >= width)
    first, last = math.floor(min(known) / step), max(math.ceil(max(known) / step), 1)

    def scaled(end: float) -> float:
        return float(100 * (100 * end / step - first) / (last - first))

    sign = "+" if from_zero else ""
    ticks = [
        (round(100 * (tick - first) / (last - first), 3), f"{tick * step:{sign}g}" if tick else "0")
        for tick in range(first, last + 1)
    ]
    bars = [
        {"name": name, "bar": bar(each, pair, scaled)}
        for name, each, pair in zip(names, results, intervals, strict=True)
    ]
    return {"ticks": ticks, "bars": bars}


def _reservation(result: Difference) -> str:
    """Return a limit on who is called ahead: tie-breakings without it, or an interval that says otherwise."""
    certain = result.ahead == result.ahead_worst_case
    ends = ["" if certain else ", not for every tie-breaking", "" if result.interval_agrees else ", by the test alone"]
    return "".join(ends) if result.ahead is not None else ""


def per_query_name(measure: str) -> str:
    """Return the name of a measure for one query, which is not a mean.

    Examples
    --------
    >>> [per_query_name(name) for name in ("mAP@10", "MAP@R", "MRR", "mINP", "Hit@1")]
    ['AP@10', 'AP@R', 'RR', 'INP', 'Hit@1']
    """
    return re.sub("^[mM](?=AP|RR|INP)", "", measure)


def histogram(result: Result) -> Int64:
    """Count the queries with a value in each twentieth of [0, 1], by the expected value or the middle of the bounds.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean")  # AP of 0.75, of 1, and none
    >>> histogram(report["mAP"])[14:].tolist()
    [0, 1, 0, 0, 0, 1]
    """
    return np.histogram(middle(result.per_query), bins=_BINS, range=(0, 1))[0]


def middle(values: Triple[Float64]) -> Float64:
    """Return the expected values, or the middle of the bounds where there are none, without undefined ones."""
    kept = ~np.isnan(values.lower)
    lower, expected, upper = (end[kept] for end in values)
    return np.where(np.isnan(expected), (lower + upper) / 2, expected)


def steps(counts: Int64, most: int, *, down: bool = False) -> str:
    """Return a histogram's outline as points of an SVG polygon, from a base line at 50, upwards or downwards."""
    sign, width = (1 if down else -1), 100 / len(counts)
    heights = 50 + sign * 50 * counts / most
    corners = [(x * width, height) for i, height in enumerate(heights) for x in (i, i + 1)]
    return _points([(0, 50), *corners, (100, 50)])


def _drawn_curve(curve: RejectCurve) -> dict[str, Any]:
    """Return the points of an error-reject curve for SVG: its band, its middle, the perfect order."""
    n = curve.n_query
    kept = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.int64))
    across = 100 * curve.rejected[kept]
    errors = np.concatenate([curve.upper[kept], curve.optimal.upper[kept]])
    highest = float(errors[np.isfinite(errors)].max(initial=0.0)) or 1.0
    rows = {"lower": curve.lower, "upper": curve.upper, "expected": curve.expected, "best": curve.optimal.lower}
    down = {name: 100 - 100 * row[kept] / highest for name, row in rows.items()}
    band = [*zip(across, down["upper"], strict=True), *zip(across[::-1], down["lower"][::-1], strict=True)]
    return {
        "highest": highest,
        "band": _points(band),
        "expected": _points(zip(across, down["expected"], strict=True)),
        "best": _points(zip(across, down["best"], strict=True)),
    }


def tie_sizes(profile: TieProfile) -> dict[str, Any]:
    """Count the tie groups of relevant and irrelevant items by their size, in powers of two."""
    sizes: Int64 = np.zeros(64, dtype=np.int64)
    for _, part in in_parts(profile):
        mixed = part.tied[part.tied_relevant < part.tied]
        sizes += np.bincount(np.frexp(mixed - 0.5)[1], minlength=len(sizes))
    used, most = np.flatnonzero(sizes).tolist(), int(sizes.max()) or 1
    rows = []
    for power in range(used[0], used[-1] + 1) if used else ():
        low, high, n = 2 ** (power - 1) + 1, 2**power, int(sizes[power])
        named = f"{low}" if low == high else f"{low} to {high}"
        rows.append({"sizes": named, "groups": n, "width": round(100 * n / most, 2)})
    return {"rows": rows, "groups": profile.ties.mixed_groups, "queries": profile.ties.queries}


def _points(points: Iterable[tuple[float, float]]) -> str:
    """Format points for SVG; those without a value are left out."""
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points if math.isfinite(x) and math.isfinite(y))
