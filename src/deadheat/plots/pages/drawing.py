"""The drawings of a page: in come results, out go positions in hundredths of a drawing's width and height."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from deadheat.analyses.confidence import RejectCurve
from deadheat.analyses.difference import Difference
from deadheat.engine.profiles.parts import in_parts
from deadheat.engine.profiles.profile import TieProfile
from deadheat.reports.result import Result
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple

_POINTS = 400  # of a curve: more than a screen shows
_NEAR_ONE = 0.02  # of the width, below which a bar would not be seen
_BINS = 20  # of a histogram
_TICKS = 6  # of an axis, at most so many steps


def bar(result: Result | Triple[float], interval: tuple[float, float] | None) -> dict[str, float] | None:
    """Where on an axis from 0 to 100 a measure's bar begins and ends, its expected value, and its interval."""
    if math.isnan(result.lower):
        return None
    return _bar(result, interval, lambda end: 100 * end)


def _bar(values: Any, interval: tuple[float, float] | None, place: Any) -> dict[str, float]:
    lower, upper = place(values.lower), place(values.upper)
    places = {"lower": lower, "width": max(upper - lower, _NEAR_ONE)}
    if not math.isnan(values.expected):
        places["expected"] = place(values.expected)
    if interval is not None:
        low, high = (min(max(place(end), 0.0), 100.0) for end in interval)
        places |= {"low": low, "high": high}
    return {name: round(number, 3) for name, number in places.items()}


def differences(found: Sequence[Difference]) -> dict[str, Any]:
    """Each difference A − B with its interval, on one axis that holds 0: its ticks in points, and the bars."""
    intervals = [(each.interval().lower.low, each.interval().upper.high) for each in found]
    ends = [(0.0,), *((each.lower, each.upper) for each in found), *intervals]
    known = [100 * end for pair in ends for end in pair if not math.isnan(end)]
    width = max(known) - min(known) or 1.0
    power = 10.0 ** math.floor(math.log10(width / _TICKS))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * _TICKS >= width)
    first, last = math.floor(min(known) / step), max(math.ceil(max(known) / step), 1)
    ticks = [
        (round(100 * (tick - first) / (last - first), 3), f"{tick * step:+g}" if tick else "0")
        for tick in range(first, last + 1)
    ]
    bars = []
    for each, pair in zip(found, intervals, strict=True):
        whiskers = None if math.isnan(pair[0]) else pair
        drawn = _bar(each, whiskers, lambda end: 100 * (100 * end / step - first) / (last - first))
        bars.append({"name": each.name, "ahead": each.ahead, "bar": None if math.isnan(each.lower) else drawn})
    return {"ticks": ticks, "bars": bars}


def per_query_name(measure: str) -> str:
    """What a measure is called that is no mean.

    Examples
    --------
    >>> [per_query_name(name) for name in ("mAP@10", "MAP@R", "MRR", "mINP", "Hit@1")]
    ['AP@10', 'AP@R', 'RR', 'INP', 'Hit@1']
    """
    return re.sub("^[mM](?=AP|RR|INP)", "", measure)


def spread(result: Result) -> Int64:
    """How many queries have a value in each twentieth of [0, 1], by the expected value or the middle of the bounds.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean")  # AP of 0.75, of 1, and none
    >>> spread(report["mAP"])[14:].tolist()
    [0, 1, 0, 0, 0, 1]
    """
    return np.histogram(middle(result.per_query), bins=_BINS, range=(0, 1))[0]


def middle(values: Triple[Float64]) -> Float64:
    """The expected values, or where there are none the middle of the bounds, without those that are undefined."""
    kept = ~np.isnan(values.lower)
    lower, expected, upper = (end[kept] for end in values)
    return np.where(np.isnan(expected), (lower + upper) / 2, expected)


def steps(counts: Int64, most: int, *, down: bool = False) -> str:
    """The outline of a histogram as the points of an SVG polygon, on its base line at 50, upwards or downwards."""
    sign, width = (1 if down else -1), 100 / len(counts)
    heights = 50 + sign * 50 * counts / most
    corners = [(x * width, height) for i, height in enumerate(heights) for x in (i, i + 1)]
    return _points([(0, 50), *corners, (100, 50)])


def curve(found: RejectCurve) -> dict[str, Any]:
    """The points of an error-reject curve, as SVG has them: its band, its middle, the perfect order."""
    n = found.n_query
    kept = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.int64))
    across = 100 * found.rejected[kept]
    finite = [row[kept][np.isfinite(row[kept])] for row in (found.upper, found.optimal.upper)]
    highest = max((float(part.max()) for part in finite if len(part)), default=0.0) or 1.0
    rows = {"lower": found.lower, "upper": found.upper, "expected": found.expected, "best": found.optimal.lower}
    down = {name: 100 - 100 * row[kept] / highest for name, row in rows.items()}
    band = [*zip(across, down["upper"], strict=True), *zip(across[::-1], down["lower"][::-1], strict=True)]
    return {
        "highest": highest,
        "band": _points(band),
        "expected": _points(zip(across, down["expected"], strict=True)),
        "best": _points(zip(across, down["best"], strict=True)),
    }


def tie_sizes(profile: TieProfile) -> dict[str, Any]:
    """How many tie groups of relevant and irrelevant items there are, by their size, in powers of two."""
    sizes: Int64 = np.zeros(64, dtype=np.int64)
    for _, part in in_parts(profile):
        mixed = part.tied[part.tied_relevant < part.tied]
        if len(mixed):
            sizes += np.bincount(np.frexp(mixed - 0.5)[1], minlength=len(sizes))
    used = np.flatnonzero(sizes)
    most = int(sizes.max()) or 1
    rows = [
        {"sizes": _range(power), "groups": int(sizes[power]), "width": round(100 * float(sizes[power]) / most, 2)}
        for power in (range(int(used[0]), int(used[-1]) + 1) if len(used) else ())
    ]
    return {"rows": rows, "groups": profile.ties.mixed_groups, "queries": profile.ties.queries}


def _range(power: int) -> str:
    low, high = 2 ** (power - 1) + 1, 2**power
    return f"{low}" if low == high else f"{low} to {high}"


def _points(points: Iterable[tuple[float, float]]) -> str:
    """Points as SVG has them; those without a value are left out."""
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points if math.isfinite(x) and math.isfinite(y))
