"""Which query of one report is which of another, and whether the two can be compared at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidValueError
from deadheat.reports import Report

Int64 = NDArray[np.int64]

_BOTH = "a and b"


class Pairs(NamedTuple):
    """Where each query of A is in B."""

    in_b: Int64  # (n_query of A,), or -1
    n_query: int  # how many queries there are in A or B


def matched(a: Report, b: Report) -> Pairs:
    """Match queries by their ids if both reports have them, else by position."""
    ids_a, ids_b = a.profile.query_ids, b.profile.query_ids
    if ids_a is not None and ids_b is not None and ids_a != ids_b:
        return _matched_by_ids(a, ids_a, b, ids_b)
    if a.n_query != b.n_query:
        unlike = "" if ids_a is None and ids_b is None else ", and only one of them has query_ids"
        raise InvalidValueError(_BOTH, f"must be of the same queries, but have {a.n_query} and {b.n_query}{unlike}")
    return Pairs(np.arange(a.n_query), a.n_query)


def _matched_by_ids(a: Report, ids_a: tuple[str, ...], b: Report, ids_b: tuple[str, ...]) -> Pairs:
    in_a, in_b = _places(ids_a, "a"), _places(ids_b, "b")
    lacking = {"a": _counting(a, in_a, in_b), "b": _counting(b, in_b, in_a)}
    listed = [f"{len(ids)} only in {name} ({ids[0]!r}, ...)" for name, ids in lacking.items() if ids]
    if listed:
        raise InvalidValueError(_BOTH, f"must be of the same queries, but of those with a value {' and '.join(listed)}")
    place = np.array([in_b.get(query, -1) for query in ids_a], dtype=np.int64)
    return Pairs(place, len(in_a.keys() | in_b.keys()))


def _places(ids: tuple[str, ...], name: str) -> dict[str, int]:
    """Where each id is."""
    places = {query: place for place, query in enumerate(ids)}
    if len(places) < len(ids):
        raise InvalidValueError(name, "must have distinct query_ids to be matched by them, but has some twice")
    return places


def _counting(report: Report, places: dict[str, int], places_in_other: dict[str, int]) -> list[str]:
    """The ids that the other report lacks, of queries that can have a value."""
    missing = [query for query in places if query not in places_in_other]
    if report.singletons != "skip":
        return missing
    return [query for query in missing if report.profile.n_relevant[places[query]]]


def require_alike(a: Report, b: Report) -> None:
    """Refuse reports whose means are over different things."""
    for name in ("average", "singletons"):
        of_a, of_b = getattr(a, name), getattr(b, name)
        if of_a != of_b:
            raise InvalidValueError(_BOTH, f"must have the same {name}, but have {of_a!r} and {of_b!r}")


def require_same_classes(a: Report, b: Report, pairs: Pairs) -> None:
    """Refuse reports whose queries have different labels: they are other queries, or in another order."""
    if a.classes is None or b.classes is None:
        return
    in_both = pairs.in_b >= 0
    of_a, of_b = a.classes[in_both], b.classes[pairs.in_b[in_both]]
    n_distinct_pair = len(np.unique(np.stack([of_a, of_b]), axis=1).T)
    if not n_distinct_pair == len(np.unique(of_a)) == len(np.unique(of_b)):
        raise InvalidValueError(_BOTH, "must be of the same queries in the same order, but their labels differ")
