"""The values of measures: in comes a tie profile, out go lower, expected and upper of every query, or the deviation.

Every value is a closed form of the profile's integers, computed with +, -, *, / and square roots in a fixed order, so
it has the same bits on every machine. Lower and upper are computed from each group by itself: the a-th relevant item of
a group has rank closer + tied - tied_relevant + a at worst and closer + a at best. So they are also valid where groups
are the overlapping windows of a tolerance; expected value and deviation have no meaning there and are NaN. If a ranking
was cut, its rest is such a group too, and they are NaN for a query whose value depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from deadheat.engine.profiles.parts import at_level, each_part, in_parts
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.measures.completions import Unjudged, completed, condensed
from deadheat.measures.family import Measure
from deadheat.measures.groups import in_threads, last_ranks
from deadheat.measures.names import parse
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple

WORTH_A_THREAD = 2**16  # as many groups take longer than to start a thread
MOST_AT_ONCE = 2**17  # groups in a call, so that no interrupt waits long; a large mixed one takes some microseconds


@plain_floats
def per_query(profile: TieProfile, measure: Measure | str) -> Triple[Float64]:
    """Return the lower bound, the exact expectation and the upper bound of a measure for every query.

    ``print(deadheat.measures.listing())`` shows the definition of each measure; the file of its family has the closed
    forms and their sources.

    Parameters
    ----------
    profile : TieProfile
    measure : Measure or str

    Returns
    -------
    Triple of arrays
        Three float64 arrays of shape (n_query,), fractions in [0, 1].

    Notes
    -----
    Ties: lower has the relevant items last in each tie group (ascending gains), upper has them first, and expected is
    the mean over all orders of each group, all equally likely. Only for ``mAP(over='hits')@k``, which is not monotone,
    can the least and the greatest value over all orders, which lower and upper are, belong to other orders. Where no
    group is mixed the three are equal, bit by bit. For a profile that is `bounds_only`, expected is NaN; so it is for a
    query whose ranking was cut (`n_ordered`) if the value depends on the order of what was not returned.

    Undefined: NaN for a query that has no relevant item, and for AUC also where no irrelevant item is ranked.

    Examples
    --------
    Three items at one distance, one of them relevant. The precision at its rank is 1/3, 1/2 or 1, on average 11/18:

    >>> profile = TieProfile.from_groups([[(0, 0, 3, 1)]], n_ranked=[3])
    >>> lower, expected, upper = per_query(profile, "mAP")
    >>> print(f"{lower[0]:.4f} {expected[0]:.4f} {upper[0]:.4f}")
    0.3333 0.6111 1.0000
    """
    return all_bounds(profile, (measure,))[0]


@plain_floats
def all_bounds(
    profile: TieProfile, measures: Iterable[Measure | str], threads: int = 1, coverage: bool = False
) -> list[Triple[Float64]]:
    """Compute `per_query` for several measures, in threads; each thread has its own queries.

    `coverage` is True for a profile in which the judged items are the relevant ones, of which Judged@k is a measure.
    """
    listed = [_parsed(measure) for measure in checks.listed(measures, "measures", "names, such as ['mAP', 'P@10']")]
    for name in [measure.name for measure in listed if measure.row.forms.coverage and not coverage]:
        raise InvalidValueError("measures", f"must be without {name}, which needs the documents of a run and its qrels")
    profile, threads = _profile(profile), checks.positive_integer(threads, "threads", checks.MOST_THREADS)
    out = np.full((len(listed), 3, profile.n_query), np.nan)
    levels = dict.fromkeys(measure.rel for measure in listed)

    def fill(queries: slice, part: TieProfile, threads: int) -> None:
        for rel in levels:
            some = {i: measure for i, measure in enumerate(listed) if measure.rel == rel}
            _fill(at_level(part, rel), list(some.values()), [out[i][:, queries] for i in some], threads)

    each_part(profile, fill, threads)
    return [Triple(*values) for values in out]


def _parsed(measure: Measure | str) -> Measure:
    return measure if isinstance(measure, Measure) else parse(measure)


def _profile(profile: TieProfile) -> TieProfile:
    if not isinstance(profile, TieProfile):
        raise InvalidTypeError("profile", f"must be a TieProfile, as task.profile is, but is {checks.shown(profile)}")
    return profile


def _fill(profile: TieProfile, measures: Sequence[Measure], out: Sequence[Float64], threads: int) -> None:
    """Write the values of several measures of one level of relevance, (3, n_query) each."""
    if profile.n_unjudged is not None:
        for measure, values in zip(measures, out, strict=True):
            _fill_unknown(profile, measure, values, threads)
        return
    fills = [measure.row.forms.loop(profile, measure, values) for measure, values in zip(measures, out, strict=True)]
    in_threads(lambda first, last: [fill(first, last) for fill in fills], ranges_of_queries(profile, threads), threads)
    for measure, values in zip(measures, out, strict=True):
        if profile.bounds_only:
            values[1] = np.nan
        else:
            measure.row.forms.complete(profile, measure, Triple(*values), threads)
    if profile.n_ordered is not None:
        _forget_expected(profile, measures, out, threads)


def _fill_unknown(profile: TieProfile, measure: Measure, out: Float64, threads: int) -> None:
    """Write the least and the greatest value over what unjudged items may be, and an expectation where these agree."""
    forms, has_relevant = measure.row.forms, profile.n_relevant > 0
    if forms.judged:
        _fill(condensed(profile), [measure], [out], threads)
        return
    low, high = (np.full_like(out, np.nan) for _ in range(2))
    for n, values, worst in zip(forms.deciding(profile, measure), (low, high), (True, False), strict=True):
        _fill(completed(profile, n, worst, forms.graded), [measure], [values], threads)
    out[0], out[2] = low[0], np.maximum(low[0], high[2])
    open_to_it = (Unjudged.of(profile).in_all > 0) & (out[0] < out[2])
    out[1] = np.where(open_to_it, np.nan, np.where(out[0] == out[2], out[0], low[1]))
    out[:, ~has_relevant] = np.nan


def ranges_of_queries(profile: TieProfile, threads: int) -> list[tuple[int, int]]:
    """Split the queries into ranges with about equal numbers of groups: one for each thread if it pays, or more."""
    n = profile.n_group
    count = max(1, min(threads, n // WORTH_A_THREAD), n // MOST_AT_ONCE)
    ends = np.searchsorted(profile.offsets, [n * i // count for i in range(1, count)])
    return list(pairwise((0, *ends.tolist(), profile.n_query)))


def _forget_expected(profile: TieProfile, measures: Sequence[Measure], out: Sequence[Float64], threads: int) -> None:
    """Set expected values over ties alone, and NaN where one depends on the order of items that were not returned.

    None does if these are equal to the measure, or all behind its cutoff. Otherwise one does exactly if their best
    order alone, in place of every order, changes a bound, and the bounds differ. The lower bound shows it, but for a
    measure that one hit less can raise.
    """
    best = [np.full_like(values, np.nan) for values in out]
    _fill(profile.best_completed(), measures, best, threads)
    for measure, values, at_best in zip(measures, out, best, strict=True):
        known = (values[0] == at_best[0]) & (values[2] == at_best[2])
        over_ties = np.where(known, at_best[1], np.where(values[0] == values[2], values[0], np.nan))
        values[1] = np.where(_rest_counts(profile, measure), over_ties, values[1])


def _rest_counts(profile: TieProfile, measure: Measure) -> Bool:
    """Return whether items that differ to the measure are in the unordered rest, and begin within the cutoff."""
    by_grade = profile.counts_by_grade[0] if measure.row.forms.graded else profile.tied_relevant[:, None]
    within = profile.closer < last_ranks(profile, measure)[profile.query_of_group]
    differ = profile.is_cut & within & (by_grade != profile.tied[:, None]).all(axis=1)
    return np.bincount(profile.query_of_group[differ], minlength=profile.n_query) > 0


@plain_floats
def std(profile: TieProfile, measure: Measure | str) -> Float64:
    """Return the standard deviation of a measure over random tie-breaking, for every query.

    It has a closed form for each tie group, in O(tied) or better, but for ``mAP(over='hits')@k``: the group that the
    cutoff divides takes that for each likely number of hits. Groups are ordered independently, so that their
    variances add up. For AP the sum of a group is a polynomial of degree two in a uniformly drawn slice of its slots;
    its variance is split into a linear and an orthogonal part [1]_. Hits are hypergeometric, nDCG is a linear rank
    statistic, AUC is the rank sum of Mann and Whitney, and MRR and mINP depend on one order statistic.

    Parameters
    ----------
    profile : TieProfile
    measure : Measure or str

    Returns
    -------
    float64 array of shape (n_query,)
        Not negative; at most 1/2.

    Notes
    -----
    Ties: 0 where no group that counts is mixed. Undefined: NaN where the expected value of `per_query` is, so
    everywhere for a profile that is `bounds_only`.

    References
    ----------
    .. [1] Hoeffding 1951, A combinatorial central limit theorem; Filmus 2016, An orthogonal basis for functions over
       a slice of the Boolean hypercube.

    Examples
    --------
    AP is 1/3, 1/2 or 1 with mean 11/18, so the variance is (1/9 + 1/4 + 1)/3 - (11/18)^2 = 26/324:

    >>> profile = TieProfile.from_groups([[(0, 0, 3, 1)]], n_ranked=[3])
    >>> print(f"{std(profile, 'mAP')[0] ** 2:.6f} {26 / 324:.6f}")
    0.080247 0.080247
    """
    profile, measure = _profile(profile), _parsed(measure)
    if profile.bounds_only:
        return np.full(profile.n_query, np.nan)
    if profile.n_unjudged is not None:
        return _deviation_of_known(profile, measure)
    deviation = measure.row.forms.deviation
    if profile.n_ordered is not None:
        unknown = np.isnan(per_query(profile, measure).expected)
        return np.where(unknown, np.nan, std(profile.best_completed(), measure))
    return np.concatenate([deviation(at_level(part, measure.rel), measure) for _, part in in_parts(profile)])


def _deviation_of_known(profile: TieProfile, measure: Measure) -> Float64:
    """Return the deviation of queries whose value does not depend on what unjudged items are; NaN for the others."""
    if measure.row.forms.judged:
        return std(condensed(profile), measure)
    of_level, nothing = at_level(profile, measure.rel), np.zeros(profile.n_query, dtype=np.int64)
    forms = measure.row.forms
    over_ties = forms.deviation(completed(of_level, nothing, True, forms.graded), measure)
    expected = per_query(profile, measure).expected
    return np.where(Unjudged.of(of_level).in_all == 0, over_ties, np.where(np.isnan(expected), np.nan, 0.0))
