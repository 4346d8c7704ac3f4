"""How much is computed."""

from __future__ import annotations

from typing import NamedTuple


class Extent(NamedTuple):
    """How much is computed."""

    many: int  # words
    few: int
    per_word: int  # pictures
    epochs: int
    batch: int
    dropouts: tuple[float, ...]
    seeds: int  # trainings of each kind
    sizes: tuple[int, ...]  # words in a subset, up to `many`
    draws: int  # of subsets of each size


FULL = Extent(400, 100, 16, 16, 64, (0.0, 0.2, 0.5, 0.8), 2, (10, 20, 50, 100, 200, 400), 20)
QUICK = Extent(60, 30, 8, 6, 16, (0.0, 0.5), 1, (10, 20, 40, 60), 3)
