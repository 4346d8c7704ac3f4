"""p-values of average precision against random orders of as many items: of each query, or of the mean of a class."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, Literal

import numpy as np

from deadheat.engine.evaluable import Evaluable, profile_of_task
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.inputs import labels as input_labels
from deadheat.measures import values as measure_values
from deadheat.measures.groups import found
from deadheat.reports.breakdown import Breakdown, plain_label
from deadheat.reports.statistics.settings import MOST_RESAMPLES
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_means
from deadheat.support.triple import Triple

_ROUNDING = 2.0**-40  # up to which means are equal, as in the permutation test


@plain_floats
def p_values(
    task: Evaluable | TieProfile, *, by: Literal["class", "query"] = "class", n_resamples: int = 100_000, seed: int = 0
) -> Breakdown:
    """Test average precision: the share of random orders of as many items whose value is at least as high.

    Parameters
    ----------
    task : Task
        One that ranks all relevant items. Queries without one are left out.
    by : {"class", "query"}
        Test the mean of the queries of each label, or each query.
    n_resamples, seed : int
        The number of random orders, to which the observed one is added, and their seed. Where there are no more orders
        than these, and the queries of a row have the same numbers of items, every order is tried.

    Returns
    -------
    Breakdown
        With ``mAP``, ``p`` and ``q``, which is p adjusted over the rows after Benjamini and Hochberg. **Ties:** `upper`
        of p is that of the lower bound of AP, `lower` of its upper bound, and `expected` of its expectation.

    Notes
    -----
    Queries of a class with equal numbers of relevant and of ranked items have one random order, as in copairs:
    replicates rank each other, so that their values depend on each other.

    Examples
    --------
    The relevant item has rank 2 or 3 of four, so AP is 1/2 or 1/3, and 5/12 on average:

    >>> from deadheat import from_scores
    >>> p_values(from_scores([[4, 3, 3, 1]], [[0, 1, 0, 0]]), by="query").per_row["p"]
    Triple(lower=array([0.5]), expected=array([0.5]), upper=array([0.75]))
    """
    profile, by = profile_of_task(task), checks.choice(by, ("class", "query"), "by")  # type: ignore[assignment]
    n, seed = checks.positive_integer(n_resamples, "n_resamples", MOST_RESAMPLES), checks.seed(seed)
    queries = np.flatnonzero(profile.n_relevant)
    if not len(queries) or (found(profile) < profile.n_relevant).any():
        raise InvalidValueError("task", "must rank every relevant item, and have one")
    labels: Any = np.arange(profile.n_query) if by == "query" else getattr(task, "labels", None)
    if labels is None:
        raise InvalidValueError("task", 'must have one label a query, or by must be "query"')
    groups = input_labels.label_codes(labels)[0][queries]
    _, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    values, tests = np.array(measure_values.per_query(profile, "mAP")), []
    for members in np.split(queries[np.argsort(groups, kind="stable")], np.cumsum(sizes)[:-1]):
        numbers = np.stack([profile.n_relevant[members], profile.n_ranked[members]])
        tests.append(_test(exact_means(Triple(*values[:, members])), numbers, n, seed))
    mean, p, exact = zip(*tests, strict=True)
    per_row = {name: Triple(*np.array(each).T) for name, each in (("mAP", mean), ("p", p))}
    per_row["q"] = Triple(*(each if np.isnan(each).any() else _adjusted(each) for each in per_row["p"]))
    rows = {by: [*map(plain_label, labels[queries[first]])], "queries": sizes.tolist()}
    drawn = "" if all(exact) else f", and estimated from {n:,} random orders (seed {seed}) in the others"
    about = f"p is exact (all orders enumerated) in {sum(exact)} of {len(exact)} rows{drawn}."
    return Breakdown(rows, per_row, (about,))


def _adjusted(p: Float64) -> Float64:
    """Return p-values adjusted after Benjamini and Hochberg: SciPy's, whose import would take most of the time."""
    order, rank = np.argsort(p)[::-1], np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(p[order] * (len(p) / rank))
    return np.clip(adjusted, 0, 1)


def _test(mean: Triple[float], numbers: Int64, n: int, seed: int) -> tuple[Triple[float], list[float], bool]:
    """Return a mean, the p-values of its upper bound, expectation and lower bound, and whether they are exact."""
    kinds, sizes = np.unique(numbers, axis=1, return_counts=True)
    sizes = sizes if len(sizes) > 1 else np.ones_like(sizes)
    null, exact = _null(tuple(map(tuple, np.vstack([kinds, sizes]).T.tolist())), n, seed)
    more = 0 if exact else 1
    at_least = len(null) + more - np.searchsorted(null, np.array(mean) - _ROUNDING)
    p = np.where(np.isnan(mean), np.nan, at_least / (len(null) + more))
    return mean, p[::-1].tolist(), exact


@lru_cache(maxsize=64)
def _null(kinds: tuple[tuple[int, ...], ...], n: int, seed: int) -> tuple[Float64, bool]:
    """Return the means in every order, or in n random orders, ascending, and whether it is every one.

    `kinds` are numbers of relevant items, of ranked items, and of the queries that have these.
    """
    (n_relevant, n_ranked, _), *others = kinds
    if not others and (n_order := math.comb(n_ranked, n_relevant)) <= n:
        every = chain.from_iterable(combinations(range(1, n_ranked + 1), n_relevant))
        ranks = np.fromiter(every, dtype=np.int32, count=n_order * n_relevant).reshape(n_order, n_relevant)
        return np.sort((np.arange(1, n_relevant + 1) / ranks).sum(axis=1) / n_relevant), True
    drawn = [size * _drawn(*kind, n, seed) for *kind, size in kinds]
    return np.sort(sum(drawn) / sum(size for *_, size in kinds)), False


@lru_cache(maxsize=64)
def _drawn(n_relevant: int, n_ranked: int, n: int, seed: int) -> Float64:
    """Return AP of n random orders, the relevant ranks of which are drawn as Floyd does."""
    rng, ranks = np.random.default_rng([seed, n_relevant, n_ranked]), np.zeros((n_relevant, n), dtype=np.int32)
    for i, last in enumerate(range(n_ranked - n_relevant + 1, n_ranked + 1)):
        rank = rng.integers(1, last + 1, n)
        ranks[i] = np.where((ranks[:i] == rank).any(axis=0), last, rank)
    ranks.sort(axis=0)
    return np.asarray(sum(number / rank for number, rank in enumerate(ranks, 1)) / n_relevant)
