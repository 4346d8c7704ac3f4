"""Measures: from tie profiles to the lower, expected and upper value of each query, and its standard deviation.

`listing` names all measures, `find` one of them, `register` adds one of your own, and `per_query` and `std` compute
values from a `TieProfile`.
"""

from deadheat.measures.names import DEFAULT_MEASURES, find, listing
from deadheat.measures.registering import register, unregister
from deadheat.measures.values import per_query, std

__all__ = ["DEFAULT_MEASURES", "find", "listing", "per_query", "register", "std", "unregister"]


def __dir__() -> list[str]:
    return __all__
