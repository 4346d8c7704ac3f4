"""Neighbours that are at most so far apart: decided from bounds where these show it, and from exact numbers elsewhere.

In come rankings and the starts of their tie groups; out goes which of the groups are linked to the one before.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.collisions.groups import Bool, Int64
from deadheat.counting.ranking import Ranked, Rankings
from deadheat.errors import InvalidValueError
from deadheat.support import checks
from deadheat.ties import Exact, Ties

PAIRS_AT_ONCE = 1 << 15  # pairs whose exact distances are held at a time

Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


def checked_width(within: Any, rule: Ties) -> Fraction | None:
    """The greatest gap that links, as an exact number; None where ties are all that is looked for."""
    if within is None:
        return None
    width = checks.real_number(within, "within", least=0)
    if not isinstance(rule, Exact):
        raise InvalidValueError(
            "within", f"must be left out unless ties are exact, but is {within!r} with ties {rule!r}"
        )
    return Fraction(width) or None


def linked(rankings: Rankings, block: Ranked, starts: Bool, width: Fraction) -> Bool:
    """Where a tie group starts that is at most `width` farther than the one before it."""
    farther_starts, is_linked = starts.copy(), np.zeros_like(starts)
    farther_starts[:, 0] = False
    row, rank = np.nonzero(farther_starts)
    low, high = rankings.closeness(block)
    nearer, farther = (low[row, rank - 1], high[row, rank - 1]), (low[row, rank], high[row, rank])
    links, is_open = decided(nearer, farther, float(width))
    open_row, open_rank = row[is_open], rank[is_open]
    items = block.items[open_row, open_rank - 1], block.items[open_row, open_rank]
    links[is_open] = settled(rankings, block.queries[open_row], *items, width)
    is_linked[row, rank] = links
    return is_linked


def decided(nearer: Bounds, farther: Bounds, width: float) -> tuple[Bool, Bool]:
    """Whether gaps are at most `width` as far as bounds on the closeness of both show it, and where they do not.

    A difference that is rounded to something other than the width is on that side of it, since rounding keeps the
    order. Where it is rounded to the width itself and both sides are known exactly, the sign of what was rounded off
    decides.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        widest, narrowest = nearer[1] - farther[0], nearer[0] - farther[1]
        back = nearer[1] - widest
        lost = (nearer[1] - (widest + back)) + (back - farther[0])  # exact difference − rounded difference (Knuth)
    is_exact = (nearer[0] == nearer[1]) & (farther[0] == farther[1])
    links = (widest < width) | (is_exact & (widest == width) & (lost <= 0))
    return links, ~links & ~is_exact & (narrowest <= width)


def settled(rankings: Rankings, queries: Int64, nearer: Int64, farther: Int64, width: Fraction) -> Bool:
    """Whether the exact distances of pairs of items to a query differ by at most `width`."""
    metric, links = rankings.metric, np.empty(len(queries), dtype=np.bool_)
    for start in range(0, len(queries), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        near, far = (
            metric.exact_closeness(queries[part], metric.columns.column_of_item[items[part]])
            for items in (nearer, farther)
        )
        pairs = np.arange(len(near))
        links[part] = near.compare_shifted(pairs, far, pairs, float(width)) <= 0
    return links
