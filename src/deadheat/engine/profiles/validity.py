"""Whether arrays can be a tie profile: their lengths, and what the counts of any ranking obey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Int64, offsets_of

OF_GROUPS, OF_QUERIES = ("closer", "closer_relevant", "tied", "tied_relevant"), ("n_ranked", "n_relevant")

Arrays = Mapping[str, Int64]  # those of a profile that are not None


def check(arrays: Arrays, query_ids: tuple[str, ...] | None, bounds_only: bool) -> None:
    offsets = arrays["offsets"]
    n_group, n_query = len(arrays["closer"]), len(offsets) - 1
    _require(n_query >= 0 and offsets[0] == 0, "offsets must begin with 0")
    _require(np.all(np.diff(offsets) >= 0), "offsets must not decrease")
    _require(offsets[-1] == n_group, f"offsets must end with the number of groups, {n_group}")
    of_queries = {name: arrays[name] for name in (*OF_QUERIES, "n_ordered") if name in arrays}
    ids = {} if query_ids is None else {"query_ids": query_ids}
    by_length = (("group", n_group, {name: arrays[name] for name in OF_GROUPS}), ("query", n_query, of_queries | ids))
    for what, n, sequences in by_length:
        for name, sequence in sequences.items():
            _require(len(sequence) == n, f"{name} must have one entry per {what}, {n}, but has {len(sequence)}")
    query = np.repeat(np.arange(n_query), np.diff(offsets))
    _check_groups(arrays, query, bounds_only)
    _check_grades(arrays)
    if "n_ordered" in arrays:
        _check_cut_rankings(arrays, query)


def _check_groups(arrays: Arrays, query: Int64, bounds_only: bool) -> None:
    offsets, n_ranked, n_relevant = (arrays[name] for name in ("offsets", *OF_QUERIES))
    closer, closer_relevant, tied, tied_relevant = (arrays[name] for name in OF_GROUPS)
    _require(np.all(tied_relevant >= 1), "tied_relevant must be at least 1 in every group")
    _require(np.all(tied >= tied_relevant), "tied must not be less than tied_relevant")
    _require(np.all(closer_relevant >= 0), "closer_relevant must not be negative")
    _require(np.all(closer >= closer_relevant), "closer must not be less than closer_relevant")
    running = offsets_of(tied_relevant)
    _require(
        np.array_equal(closer_relevant, running[:-1] - running[offsets[query]]),
        "closer_relevant must be the sum of tied_relevant over the groups before",
    )
    _require(np.all(np.diff(running[offsets]) <= n_relevant), "the groups hold more relevant items than n_relevant")
    ends = closer + tied
    _require(np.all(ends <= n_ranked[query]), "closer + tied must not be more than n_ranked")
    if not bounds_only:
        same_query = np.diff(query) == 0
        gap = closer[1:] - ends[:-1]
        _require(np.all(gap[same_query] >= 0), "closer must not be less than closer + tied of the group before")


def _check_grades(arrays: Arrays) -> None:
    grades, tied, relevant = arrays["grades"], arrays.get("tied_by_grade"), arrays.get("relevant_by_grade")
    tied_relevant, n_relevant = arrays["tied_relevant"], arrays["n_relevant"]
    _require(np.all(np.diff(grades, prepend=0) > 0), "grades must be positive and ascending")
    _require((tied is None) == (relevant is None), "tied_by_grade and relevant_by_grade must be given together")
    if tied is None or relevant is None:
        return
    _require(tied.shape == (len(tied_relevant), len(grades)), "tied_by_grade must be (n_group, n_grade)")
    _require(relevant.shape == (len(n_relevant), len(grades)), "relevant_by_grade must be (n_query, n_grade)")
    _require(np.array_equal(tied.sum(axis=1), tied_relevant), "tied_by_grade must add up to tied_relevant")
    _require(np.array_equal(relevant.sum(axis=1), n_relevant), "relevant_by_grade must add up to n_relevant")


def _check_cut_rankings(arrays: Arrays, query: Int64) -> None:
    closer, n_ranked, n_ordered = arrays["closer"], arrays["n_ranked"], arrays["n_ordered"]
    ends, ordered = closer + arrays["tied"], n_ordered[query]
    fits = np.where(closer >= ordered, (closer == ordered) & (ends == n_ranked[query]), ends <= ordered)
    possible = fits.all() and (n_ordered >= 0).all() and (n_ordered <= n_ranked).all()
    _require(possible, "n_ordered must be the end of one group, from which on all ranked items are in the next")


def _require(holds: Any, rule: str) -> None:
    if not holds:
        raise InvalidValueError("not a tie profile:", rule)
