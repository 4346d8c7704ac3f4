"""Rules for ties applied to scores that are given, not computed: rounded first, or within a tolerance of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine import exact
from deadheat.engine.ties.registry import make
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays
from deadheat.support.arrays import Float64


def rule_of(ties: Any) -> Ties:
    """Return the rule that an argument `ties` names, for scores.

    Examples
    --------
    >>> rule_of("float16")
    Rounded('float16', of=None)
    """
    rule = make(ties)
    if isinstance(rule, Rounded) and rule.of is not None:
        raise InvalidValueError("ties", f"must leave out of= where scores are given, but is {rule!r}")
    return rule


def described(ties: Any) -> str | None:
    """Return the text for a rule in a report on scores; None where scores are compared as they are."""
    rule = rule_of(ties)
    if isinstance(rule, Rounded):
        return f"{rule.dtype} scores"
    return f"tolerance {rule.eps!r}" if isinstance(rule, Tolerance) else None


def compared(scores: NDArray[Any], rule: Ties, name: str) -> NDArray[Any]:
    """Return scores as the rule compares them: as they are, or rounded; under a tolerance as float64.

    Examples
    --------
    >>> compared(np.array([1.0, 1.0001]), rule_of("float16"), "scores").tolist()
    [1.0, 1.0]
    """
    if not isinstance(rule, (Rounded, Tolerance)):
        return scores
    if scores.dtype.kind in "iu" and scores.size:
        arrays.require_exact(scores, name)
    values = scores.astype(np.float64)
    return exact.round_to(values, rule.dtype) if isinstance(rule, Rounded) else values


def window(scores: Float64, eps: float) -> tuple[Float64, Float64]:
    """Return the least and the greatest float64 within `eps` of each score, by the exact sums.

    Examples
    --------
    >>> low, high = window(np.array([1.0]), 2.0**-60)
    >>> low, high
    (array([1.]), array([1.]))
    """
    low, above = _sum(scores, -eps)
    high, below = _sum(scores, eps)
    return np.where(above > 0, np.nextafter(low, np.inf), low), np.where(below < 0, np.nextafter(high, -np.inf), high)


def _sum(scores: Float64, number: float) -> tuple[Float64, Float64]:
    """Return rounded sums, and the exact rest of each (Knuth); NaN where a sum overflows, which is outside anyway."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = scores + number
        part = total - scores
        return total, np.asarray((scores - (total - part)) + (number - part))
