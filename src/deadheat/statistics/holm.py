"""Many tests at once: p-values adjusted so that the chance of even one false finding stays below the level."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def holm(pvalues: Mapping[Key, float]) -> dict[Key, float]:
    """P-values adjusted after Holm: the smallest of m times m, the next times m − 1, and so on, never descending.

    That holds for tests that depend on each other in any way, as all pairs of some systems do. NaN stays NaN and does
    not count.

    References
    ----------
    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6(2), 1979.

    Examples
    --------
    >>> holm({"a": 0.02, "b": 0.01, "c": 0.5})
    {'a': 0.04, 'b': 0.03, 'c': 0.5}
    """
    adjusted = dict(pvalues)
    ascending = sorted((key for key in pvalues if not math.isnan(pvalues[key])), key=lambda key: pvalues[key])
    largest = 0.0
    for n_before, key in enumerate(ascending):
        largest = max(largest, min(1.0, (len(ascending) - n_before) * pvalues[key]))
        adjusted[key] = largest
    return adjusted
