"""`from_ranks`: the first and the last possible rank of one relevant item a query.

One tie group a query suffices: with the optimistic rank o, the pessimistic rank p and N candidates, o - 1 are closer,
p - o + 1 tied and N ranked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.counted import CountedProfile, CountedTask
from deadheat.errors import InvalidValueError
from deadheat.inputs.conversion import integers
from deadheat.support.arrays import offsets_of
from deadheat.support.floats import plain_floats

_NOT_FOUND = np.iinfo(np.int64).min


@plain_floats
def from_ranks(optimistic: ArrayLike, pessimistic: ArrayLike, n_candidates: ArrayLike) -> CountedTask:
    """Make a task of queries with one positive each, from its first and its last possible rank.

    Parameters
    ----------
    optimistic : (n_query,) integers
        The rank of the positive, from 1 on, in front of all candidates with its score; None, in lists, where it is not
        among them, so that it counts and is never found.
    pessimistic : (n_query,) integers
        Its rank behind all candidates with its score.
    n_candidates : int or (n_query,) integers
        The number of ranked candidates, with the positive and without other known positives.

    Returns
    -------
    CountedTask
        One group a query, with one relevant item.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or not ``1 <= optimistic <= pessimistic <= n_candidates``.

    Notes
    -----
    Ties: all ranks from `optimistic` to `pessimistic` are equally likely. Their mean, the "realistic" rank, does
    not suffice: the mean of 1/rank is not one over the mean rank.

    Examples
    --------
    A scorer that gives the same score to all of 1,000 candidates:

    >>> from deadheat import link_prediction
    >>> found = link_prediction(from_ranks([1], [1000], 1000), ["MRR", "Hits@10"])
    >>> print(f"{found['MRR'].expected:.4f} {found['Hits@10'].expected:.3f}")
    0.0075 0.010
    """
    return CountedTask("ranks", CountedProfile(profile_of_ranks(optimistic, pessimistic, n_candidates)), {})


def profile_of_ranks(optimistic: ArrayLike, pessimistic: ArrayLike, n_candidates: ArrayLike) -> TieProfile:
    named = {"optimistic": optimistic, "pessimistic": pessimistic, "n_candidates": n_candidates}
    first, last, n_ranked = (integers(_ranks(values), name) for name, values in named.items())
    n_ranked = np.full(first.shape, n_ranked) if n_ranked.ndim == 0 else n_ranked
    if first.ndim != 1 or not first.shape == last.shape == n_ranked.shape:
        actual = f"but have shapes {first.shape}, {last.shape} and {n_ranked.shape}"
        raise InvalidValueError(" and ".join(named), f"must have one entry per query, {actual}")
    there = ~((first == _NOT_FOUND) & (last == _NOT_FOUND))
    for wrong in np.flatnonzero(there & ((first < 1) | (last < first) | (n_ranked < last)))[:1]:
        actual = f"query {wrong} has {first[wrong]}, {last[wrong]} and {n_ranked[wrong]}"
        raise InvalidValueError(" and ".join(named), f"must be at least 1 and in this order, but {actual}")
    n_relevant, first, last = np.ones_like(first), first[there], last[there]
    zeros, ones = np.zeros_like(first), np.ones_like(first)
    return TieProfile(offsets_of(there), first - 1, zeros, last - first + 1, ones, n_ranked, n_relevant, check=False)


def _ranks(values: Any) -> Any:
    """Return ranks with a number in the place of None."""
    is_list = isinstance(values, (list, tuple))
    return [_NOT_FOUND if rank is None else rank for rank in values] if is_list else values
