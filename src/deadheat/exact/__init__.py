"""Error bounds and exact arithmetic: in come numbers, out go what rounding can do to them, and what they really are."""

from deadheat.exact.bounds import gamma, underflow, unit_roundoff
from deadheat.exact.formats import FORMATS, cells, from_ordinal, ordinals, round_to
from deadheat.exact.integers import exact_absolute_differences, scaled_dots
from deadheat.exact.roots import SignedRoot

__all__ = [
    "FORMATS",
    "SignedRoot",
    "cells",
    "exact_absolute_differences",
    "from_ordinal",
    "gamma",
    "ordinals",
    "round_to",
    "scaled_dots",
    "underflow",
    "unit_roundoff",
]
