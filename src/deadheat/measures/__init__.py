"""Measures: from tie profiles to the lower, expected and upper value of each query, and its standard deviation."""

from deadheat.measures.family import ClosedForms, Counted, Family, Measure, NoRankSum, RankSum
from deadheat.measures.names import DEFAULT_MEASURES, FAMILIES, find, listing, parse, parse_all
from deadheat.measures.registering import register, unregister
from deadheat.measures.values import all_bounds, per_query, std

__all__ = [
    "DEFAULT_MEASURES",
    "FAMILIES",
    "ClosedForms",
    "Counted",
    "Family",
    "Measure",
    "NoRankSum",
    "RankSum",
    "all_bounds",
    "find",
    "listing",
    "parse",
    "parse_all",
    "per_query",
    "register",
    "std",
    "unregister",
]


def __dir__() -> list[str]:
    return __all__
