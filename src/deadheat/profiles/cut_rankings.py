"""Profiles of rankings that were cut: what was not returned, as one last group, and what is sure without it.

The last group of such a query is not a tie. Its items have an order that nobody knows, and that is not drawn.
"""

from __future__ import annotations

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Bool, Int64

Arrays = dict[str, Int64]


def unordered(closer: Int64, query: Int64, n_ordered: Int64) -> Bool:
    """Which groups are the unordered rest of their query, given the query of each group."""
    return np.asarray(closer >= n_ordered[query])


def check(closer: Int64, tied: Int64, query: Int64, n_ranked: Int64, n_ordered: Int64) -> None:
    """Refuse numbers of ordered items that no cut ranking has."""
    rest = unordered(closer, query, n_ordered)
    ends, ordered = closer + tied, n_ordered[query]
    fits = np.where(rest, (closer == ordered) & (ends == n_ranked[query]), ends <= ordered)
    if (n_ordered < 0).any() or (n_ordered > n_ranked).any() or not fits.all():
        rule = "n_ordered must be the end of one group, from which on all ranked items are in the next"
        raise InvalidValueError("not a tie profile:", rule)


def best_first(rest: Bool, by_grade: Int64, groups: Arrays) -> tuple[Int64, Arrays, Int64]:
    """The groups once the rest of every query is put in its best order: by grade descending, the irrelevant items last.

    Returns how many groups each group has become, the new groups, and their relevant items by grade.

    Examples
    --------
    >>> names = ("closer", "closer_relevant", "tied", "tied_relevant")
    >>> groups = {name: np.array([number]) for name, number in zip(names, (4, 1, 9, 3))}
    >>> lengths, best, by_grade = best_first(np.array([True]), np.array([[2, 1]]), groups)
    >>> lengths, best["closer"], best["tied"], by_grade
    (array([2]), array([4, 5]), array([1, 2]), array([[0, 1],
           [2, 0]]))
    """
    lengths = np.where(rest, (by_grade > 0).sum(axis=1), 1)
    new = {name: np.repeat(numbers, lengths) for name, numbers in groups.items()}
    new_by_grade = np.repeat(by_grade, lengths, axis=0)
    counts = by_grade[rest][:, ::-1]
    row, backwards = np.nonzero(counts)
    count, before = counts[row, backwards], (np.cumsum(counts, axis=1) - counts)[row, backwards]
    of_rest = np.repeat(rest, lengths)
    for name in ("closer", "closer_relevant"):
        new[name][of_rest] += before
    new["tied"][of_rest] = new["tied_relevant"][of_rest] = count
    new_by_grade[of_rest] = count[:, None] * (np.arange(counts.shape[1]) == counts.shape[1] - 1 - backwards[:, None])
    return lengths, new, new_by_grade
