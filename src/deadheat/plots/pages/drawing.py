"""The drawings of a page: in come results, out go positions in hundredths of a drawing's width and height."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deadheat.analyses.confidence.rejecting import RejectCurve
from deadheat.analyses.difference import Difference
from deadheat.engine.profiles.parts import in_parts
from deadheat.engine.profiles.profile import TieProfile
from deadheat.reports.result import Result
from deadheat.support.arrays import Int64
from deadheat.support.triple import Triple

_POINTS = 400  # of a curve: more than a screen shows
_NEAR_ONE = 0.02  # of the width, below which a bar would not be seen


def bar(result: Result | Triple[float], interval: tuple[float, float] | None) -> dict[str, float] | None:
    """Where on an axis from 0 to 100 a measure's bar begins and ends, its expected value, and its interval."""
    if math.isnan(result.lower):
        return None
    lower, upper = 100 * result.lower, 100 * result.upper
    places = {"lower": lower, "width": max(upper - lower, _NEAR_ONE)}
    if not math.isnan(result.expected):
        places["expected"] = 100 * result.expected
    if interval is not None:
        low, high = (min(max(100 * end, 0.0), 100.0) for end in interval)
        places |= {"low": low, "high": high}
    return {name: round(place, 3) for name, place in places.items()}


def differences(found: Sequence[Difference]) -> list[dict[str, Any]]:
    """Where on an axis with 0 in the middle each difference A − B lies, from its lower to its upper end."""
    ends = [(each.lower, each.upper) for each in found]
    reach = max((abs(end) for pair in ends for end in pair if not math.isnan(end)), default=0.0) or 1.0
    bars = []
    for each, (lower, upper) in zip(found, ends, strict=True):
        known = not math.isnan(lower)
        left, right = (50 + 48 * end / reach if known else 50.0 for end in (lower, upper))
        width = max(right - left, 0.6)
        bars.append({"name": each.name, "known": known, "left": round(left, 3), "width": round(width, 3)})
    return bars


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


def _points(points: Any) -> str:
    """Points as SVG has them; those without a value are left out."""
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points if math.isfinite(x) and math.isfinite(y))
