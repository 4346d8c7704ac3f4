"""What the loops of several families share: types, the last rank that counts, and where values are stored."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from deadheat.support.compiling import inner

Array = NDArray[Any]
Arrays = tuple[Array, ...]  # `groups` are offsets, closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant


@inner
def last_rank(n_ranked: int, n_relevant: int, cutoff: int) -> int:
    """The last rank that counts, no larger than need be. A cutoff of 0 stands for the number of relevant items."""
    return n_relevant if cutoff == 0 else min(max(n_ranked, n_relevant), cutoff)


@inner
def store(out: Array, query: int, lower: float, expected: float, upper: float) -> None:
    """Keep the values of a query, and take back what rounding may have put out of order; NaN stays NaN."""
    upper = lower if upper < lower else upper
    expected = lower if expected < lower else expected
    expected = upper if expected > upper else expected
    out[0, query], out[1, query], out[2, query] = lower, expected, upper


@inner
def as_before(closer: Array, tied: Array, tied_relevant: Array, slots: Array, g: int) -> bool:
    """Whether group g equals the one before it, so that nothing need be computed again."""
    return (
        g > 0
        and closer[g] == closer[g - 1]
        and tied[g] == tied[g - 1]
        and tied_relevant[g] == tied_relevant[g - 1]
        and slots[g] == slots[g - 1]
    )
