"""How findings write numbers: scores in per cent, rows by number, counts with their shares."""

from __future__ import annotations

from typing import Any

from deadheat.audits.submission import limits
from deadheat.reports.tables import value
from deadheat.support.arrays import Int64


def percent(score: float) -> str:
    """A fraction in per cent, with two decimals.

    Examples
    --------
    >>> percent(0.18684)
    '18.68 %'
    """
    return f"{100 * score:.2f} %"


def points(difference: float) -> str:
    """A difference of scores in points of per cent, to two digits.

    Examples
    --------
    >>> points(0.25), points(0.000123), points(0.01), points(1)
    ('25 points', '0.012 points', '1 point', '100 points')
    """
    text = _short(100 * difference)
    return f"{text} point{'' if text == '1' else 's'}"


def interval(result: Any) -> str:
    """Expected value and bounds, in per cent."""
    return f"{value(result)} %"


def between(low: float, high: float) -> str:
    """Two scores that something lies between, or where they look alike, how far they are apart.

    Examples
    --------
    >>> between(0.25, 0.5), between(0.25, 0.250001)
    ('between 25.00 % and 50.00 % (25 points)', 'by 0.0001 points')
    """
    texts, apart = (percent(low), percent(high)), points(high - low)
    return f"by {apart}" if texts[0] == texts[1] else f"between {texts[0]} and {texts[1]} ({apart})"


def share(n: int, total: int, what: str) -> str:
    """How many of what, with their share.

    Examples
    --------
    >>> share(12, 48, "rows")
    '12 of 48 rows (25 %)'
    """
    return f"{n} of {total} {what} ({_short(100 * n / total)} %)" if n < total else f"all {total} {what}"


def _short(number: float) -> str:
    """Two digits, and never an exponent where there are more before the point."""
    return f"{number:.2g}" if number < 99.5 else f"{number:.0f}"


def named(rows: Int64) -> list[int]:
    """The first of some rows."""
    found: list[int] = rows[: limits.EXAMPLES].tolist()
    return found


def listed(rows: Int64) -> str:
    """The first of some rows, as a sentence has them.

    Examples
    --------
    >>> import numpy as np
    >>> listed(np.array([3])), listed(np.arange(20))
    ('row 3', 'rows 0, 1, 2, 3, 4, ...')
    """
    shown = ", ".join(map(str, rows[:5].tolist()))
    return f"row{'' if len(rows) == 1 else 's'} {shown}{', ...' if len(rows) > 5 else ''}"


def many(number: float) -> str:
    """A number of standard deviations, to about three digits.

    Examples
    --------
    >>> many(-1.46), many(20345.6)
    ('-1.46', '20,346')
    """
    return f"{number:.3g}" if abs(number) < 100 else f"{number:,.0f}"
