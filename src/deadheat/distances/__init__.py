"""Distances: in come checked embeddings, out go fast scores with a proven error bound, and the exact closeness."""

from deadheat.distances.columns import Columns
from deadheat.distances.distance import Distance, Target
from deadheat.distances.levels import Level
from deadheat.distances.registry import ALIASES, find, make, named, names, opened, register

__all__ = [
    "ALIASES",
    "Columns",
    "Distance",
    "Level",
    "Target",
    "find",
    "make",
    "named",
    "names",
    "opened",
    "register",
]
