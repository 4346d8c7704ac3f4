"""How values, intervals and p-values are written in comparisons and leaderboards: one rule for all of them.

Equal bounds are one number; otherwise it is the expected value with [lower, upper], and the bounds alone where there is
no expected value.
"""

from __future__ import annotations

import math
from typing import Any


def spread(value: Any, digits: int) -> str:
    """What has `lower`, `expected` and `upper`, in per cent.

    Examples
    --------
    >>> from deadheat.support.triple import Triple
    >>> spread(Triple(0.5, 0.5, 0.5), 2), spread(Triple(0.5, 0.75, 1.0), 2), spread(Triple(0.5, math.nan, 1.0), 1)
    ('50.00', '75.00 [50.00, 100.00]', '[50.0, 100.0]')
    """
    lower, expected, upper = (100 * part for part in (value.lower, value.expected, value.upper))
    if math.isnan(lower):
        return "-"
    if lower == upper:
        return f"{lower:z.{digits}f}"
    bounds = f"[{lower:z.{digits}f}, {upper:z.{digits}f}]"
    return bounds if math.isnan(expected) else f"{expected:z.{digits}f} {bounds}"


def p_value(value: float) -> str:
    """A p-value with four decimals, or as a power of ten below that; a dash where it is undefined.

    Examples
    --------
    >>> p_value(0.03125), p_value(2e-5), p_value(math.nan)
    ('0.0312', '2e-05', '-')
    """
    return "-" if math.isnan(value) else f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def listed(names: list[str]) -> str:
    """Names as a sentence has them.

    Examples
    --------
    >>> listed(["mAP"]), listed(["mAP", "MRR", "Hit@1"])
    ('mAP', 'mAP, MRR and Hit@1')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
