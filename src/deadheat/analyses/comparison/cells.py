"""How p-values and lists of names are written in comparisons and leaderboards."""

from __future__ import annotations

import math


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
