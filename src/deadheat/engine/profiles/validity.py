"""Whether arrays can be a tie profile: their lengths, and what the counts of any ranking obey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Int64, offsets_of

OF_GROUPS, OF_QUERIES = ("closer", "closer_relevant", "tied", "tied_relevant"), ("n_ranked", "n_relevant")

Arrays = Mapping[str, Int64]  # those of a profile that are not None


def check(arrays: Arrays, query_ids: tuple[str, ...] | None, bounds_only: bool) -> None:
    for holds, rule in _rules(arrays, query_ids, bounds_only):
        if not holds:
            raise InvalidValueError("not a tie profile:", rule)


Rules = Iterator[tuple[Any, str]]  # whether each rule holds: what comes later relies on what was before


def _rules(arrays: Arrays, query_ids: tuple[str, ...] | None, bounds_only: bool) -> Rules:
    offsets = arrays["offsets"]
    n_group, n_query = len(arrays["closer"]), len(offsets) - 1
    yield n_query >= 0 and offsets[0] == 0, "offsets must begin with 0"
    yield np.all(np.diff(offsets) >= 0), "offsets must not decrease"
    yield offsets[-1] == n_group, f"offsets must end with the number of groups, {n_group}"
    of_queries = {name: arrays[name] for name in (*OF_QUERIES, "n_ordered") if name in arrays}
    ids = {} if query_ids is None else {"query_ids": query_ids}
    by_length = (("group", n_group, {name: arrays[name] for name in OF_GROUPS}), ("query", n_query, of_queries | ids))
    for what, n, sequences in by_length:
        for name, sequence in sequences.items():
            yield len(sequence) == n, f"{name} must have one entry per {what}, {n}, but has {len(sequence)}"
    query = np.repeat(np.arange(n_query), np.diff(offsets))
    yield from _rules_of_groups(arrays, query, bounds_only)
    yield from _rules_of_grades(arrays)
    if "n_ordered" in arrays:
        yield from _rules_of_cut_rankings(arrays, query)


def _rules_of_groups(arrays: Arrays, query: Int64, bounds_only: bool) -> Rules:
    offsets, n_ranked, n_relevant = (arrays[name] for name in ("offsets", *OF_QUERIES))
    closer, closer_relevant, tied, tied_relevant = (arrays[name] for name in OF_GROUPS)
    yield np.all(tied_relevant >= 1), "tied_relevant must be at least 1 in every group"
    yield np.all(tied >= tied_relevant), "tied must not be less than tied_relevant"
    yield np.all(closer_relevant >= 0), "closer_relevant must not be negative"
    yield np.all(closer >= closer_relevant), "closer must not be less than closer_relevant"
    running = offsets_of(tied_relevant)
    adds_up = np.array_equal(closer_relevant, running[:-1] - running[offsets[query]])
    yield adds_up, "closer_relevant must be the sum of tied_relevant over the groups before"
    yield np.all(np.diff(running[offsets]) <= n_relevant), "the groups hold more relevant items than n_relevant"
    ends = closer + tied
    yield np.all(ends <= n_ranked[query]), "closer + tied must not be more than n_ranked"
    if not bounds_only:
        gap, same_query = closer[1:] - ends[:-1], np.diff(query) == 0
        yield np.all(gap[same_query] >= 0), "closer must not be less than closer + tied of the group before"


def _rules_of_grades(arrays: Arrays) -> Rules:
    grades, tied, relevant = arrays["grades"], arrays.get("tied_by_grade"), arrays.get("relevant_by_grade")
    tied_relevant, n_relevant = arrays["tied_relevant"], arrays["n_relevant"]
    yield np.all(np.diff(grades, prepend=0) > 0), "grades must be positive and ascending"
    yield (tied is None) == (relevant is None), "tied_by_grade and relevant_by_grade must be given together"
    if tied is not None and relevant is not None:
        yield tied.shape == (len(tied_relevant), len(grades)), "tied_by_grade must be (n_group, n_grade)"
        yield relevant.shape == (len(n_relevant), len(grades)), "relevant_by_grade must be (n_query, n_grade)"
        yield np.array_equal(tied.sum(axis=1), tied_relevant), "tied_by_grade must add up to tied_relevant"
        yield np.array_equal(relevant.sum(axis=1), n_relevant), "relevant_by_grade must add up to n_relevant"


def _rules_of_cut_rankings(arrays: Arrays, query: Int64) -> Rules:
    closer, n_ranked, n_ordered = arrays["closer"], arrays["n_ranked"], arrays["n_ordered"]
    ends, ordered = closer + arrays["tied"], n_ordered[query]
    fits = np.where(closer >= ordered, (closer == ordered) & (ends == n_ranked[query]), ends <= ordered)
    possible = fits.all() and (n_ordered >= 0).all() and (n_ordered <= n_ranked).all()
    yield possible, "n_ordered must be the end of one group, from which on all ranked items are in the next"
