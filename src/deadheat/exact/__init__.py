"""Error bounds and exact arithmetic: in come numbers, out go what rounding can do to them, and what they really are."""

from deadheat.exact.bounds import gamma, underflow, unit_roundoff
from deadheat.exact.formats import ALIASES, FORMATS, cells, from_ordinals, named, ordinals, round_to
from deadheat.exact.roots import Roots

__all__ = [
    "ALIASES",
    "FORMATS",
    "Roots",
    "cells",
    "from_ordinals",
    "gamma",
    "named",
    "ordinals",
    "round_to",
    "underflow",
    "unit_roundoff",
]
