"""Measures: in come tie profiles, out go lower, expected and upper value of each query, and their deviation."""

from deadheat.measures.family import ClosedForms, Counted, Family, Measure, NoRankSum, RankSum
from deadheat.measures.names import DEFAULT_MEASURES, FAMILIES, find, listing, parse, parse_all
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
    "std",
]


def __dir__() -> list[str]:
    return __all__
