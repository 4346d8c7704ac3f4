"""Exact arithmetic: in come numbers, out goes what they really are, or round to."""

from deadheat.exact.formats import ALIASES, FORMATS, cells, from_ordinals, named, ordinals, round_to
from deadheat.exact.roots import Roots

__all__ = [
    "ALIASES",
    "FORMATS",
    "Roots",
    "cells",
    "from_ordinals",
    "named",
    "ordinals",
    "round_to",
]
