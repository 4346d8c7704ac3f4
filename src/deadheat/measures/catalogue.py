"""Rank measures of a tie profile: per query a lower bound, the exact expectation and an upper bound.

In come the integers of a `TieProfile`; out go float64 arrays of shape (n_query,), fractions in [0, 1]. Every value is a
closed form of these integers, computed with +, -, *, / and square roots in a fixed order, so it has the same bits on
every machine. The loops over tie groups are in `_measure_kernels`, which is imported when it is first needed: it
brings in numba.

    parse        the name of a measure  ->  Measure
    per_query    profile, measure       ->  lower, expected, upper
    std          profile, measure       ->  standard deviation over random tie-breaking

Lower and upper need nothing but each group on its own: the a-th relevant item of a group has rank
closer + tied - tied_relevant + a at worst and closer + a at best. So they also hold where groups are the overlapping
windows of a tolerance; expected value and deviation have no meaning there and are NaN.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deadheat.measures import kernels
from deadheat.measures.kernels import (
    BLOCK,
    discount_spreads,
    discounts,
    extremes,
    ideal_gains,
    precision_variances,
    straddling_groups,
)
from deadheat.profiles import TieProfile
from deadheat.support.triple import Triple

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

DEFAULT_MEASURES: tuple[str, ...] = ("mAP", "MAP@R", "R-Precision", "Hit@1", "Hit@10", "MRR", "nDCG@10")

# Whether a name may or must end in @k.
_CUTOFF = {
    "mAP": "may",
    "MAP@R": "never",
    "R-Precision": "never",
    "P": "must",
    "Recall": "must",
    "Hit": "must",
    "MRR": "may",
    "nDCG": "may",
    "F1": "must",
    "AUC": "never",
    "mINP": "never",
}

# Other spellings, in small letters and without blanks, hyphens and underscores. They are those of trec_eval,
# ir_measures, ranx, torchmetrics (after "Retrieval"), pytorch-metric-learning, sentence-transformers and the papers.
_ALIASES = {
    "mAP": "map ap averageprecision meanaverageprecision mapcut",
    "MAP@R": "map@r ap@r mapr mapatr averageprecisionatr meanaverageprecisionatr",
    "R-Precision": "rprecision rprec precisionatr precision@r p@r",
    "P": "p precision prec",
    "Recall": "recall r",
    "Hit": "hit hits hitrate hitratio hr success cmc rank accuracy",
    "MRR": "mrr rr reciprank reciprocalrank meanreciprocalrank",
    "nDCG": "ndcg ndcgcut normalizeddcg normaliseddcg normalizeddiscountedcumulativegain",
    "F1": "f1 f1score",
    "AUC": "auc rocauc aucroc auroc rocaucscore",
    "mINP": "minp inp",
}
_EXPONENTIAL = ("ndcgburges", "ndcgexp")  # nDCG with the gain of Burges et al. 2005
_FAMILY_OF = {alias: family for family, aliases in _ALIASES.items() for alias in aliases.split()}
_FAMILY_OF |= dict.fromkeys(_EXPONENTIAL, "nDCG")

_GAINS = {"log2": "linear", "exp-log2": "exponential"}  # as ir_measures calls them
_LARGEST_CUTOFF = 2**53
_NO_CUTOFF = 2**62  # beyond every rank
_LARGEST_EXPONENT = 500  # of the gain 2^g - 1: its square must not overflow
_WORTH_A_THREAD = 2**16  # as many groups take longer than to start a thread


@dataclass(frozen=True)
class Measure:
    """A measure: what `parse` makes of its name.

    Attributes
    ----------
    name : str
        The canonical name, such as ``"mAP"``, ``"P@10"`` or ``"nDCG(dcg='exp-log2')@10"``; it parses to itself.
    family : str
        The name without cutoff and parameters, such as ``"P"``.
    cutoff : int or None
        Only the first so many ranks count; None where all do, or where it is the number of relevant items.
    kind : {"precision", "recall"}
        How the measure sees an empty answer: a recall is 1 where there is nothing to find, a precision is 0.
    gain : {"linear", "exponential"}
        Of nDCG: the grade g itself, or 2^g - 1.
    """

    name: str
    family: str
    cutoff: int | None = None
    kind: Literal["precision", "recall"] = "precision"
    gain: Literal["linear", "exponential"] = "linear"

    def __str__(self) -> str:
        return self.name


# ---------------------------------------------------------------------------------------------------------------------
# names


def parse(name: str) -> Measure:
    """Return the measure that a name stands for.

    Parameters
    ----------
    name : str
        One of mAP, mAP@k, MAP@R, R-Precision, P@k, Recall@k, Hit@k, MRR, MRR@k, nDCG, nDCG@k, F1@k, AUC, mINP, with
        k a positive integer. Case, blanks, hyphens and underscores do not matter, and the usual other names are
        known: AP, RR, Rprec, Success@k, CMC@k, ``precision_at_1``, ``map_cut_10``, ``P_10``, ... The parameter
        ``nDCG(dcg='exp-log2')@10`` is written as in ir_measures. ``Recall@k`` is the share of the relevant items
        among the first k; what metric learning calls Recall@K is ``Hit@k``.

    Returns
    -------
    Measure

    Raises
    ------
    TypeError
        If `name` is not a string.
    ValueError
        If there is no such measure, or if k is missing, superfluous, or not a positive integer.

    Examples
    --------
    >>> parse("success@5").name
    'Hit@5'
    >>> parse("mean_average_precision_at_r").name
    'MAP@R'
    >>> parse("nDGC@10")
    Traceback (most recent call last):
    ValueError: unknown measure 'nDGC@10'; did you mean 'nDCG@10'?
    """
    if not isinstance(name, str):
        raise TypeError(f"a measure must be given by its name, such as 'mAP' or 'P@10', but got {name!r}")
    return _parse(str(name))


@lru_cache(maxsize=256)
def _parse(name: str) -> Measure:
    text, gain = _split_gain(name)
    base, cutoff_text = _split_cutoff(text)
    family = _FAMILY_OF.get(_key(base))
    if family is None:
        raise ValueError(f"unknown measure {name!r}; {_suggestion(base, cutoff_text)}")
    if gain is not None and family != "nDCG":
        raise ValueError(f"only nDCG takes parameters, but got {name!r}")
    if _key(base) in _EXPONENTIAL:
        gain = "exponential"
    return _measure(family, _cutoff(family, cutoff_text, name), gain or "linear")


def _key(text: str) -> str:
    key = re.sub(r"[\s_-]", "", text.lower())
    return key.removeprefix("retrieval")


def _split_gain(name: str) -> tuple[str, str | None]:
    """Take the parameter out of ``nDCG(dcg='exp-log2')@10``."""
    match = re.fullmatch(r"([^()]*)\(([^()]*)\)([^()]*)", name)
    if match is None:
        return name, None
    parameter = re.fullmatch(r"""\s*dcg\s*=\s*(['"]?)([\w-]*)\1\s*""", match[2])
    if parameter is None or parameter[2] not in _GAINS:
        raise ValueError(f"the parameter of nDCG must be dcg='log2' or dcg='exp-log2', but got {name!r}")
    return match[1] + match[3], _GAINS[parameter[2]]


def _split_cutoff(text: str) -> tuple[str, str | None]:
    """Split ``P@10``, ``precision_at_10`` or ``P_10``; a name that is an alias as a whole has no cutoff."""
    if _key(text) in _FAMILY_OF:
        return text, None
    if "@" in text:
        base, _, cutoff = text.rpartition("@")
        return base, cutoff.strip()
    match = re.fullmatch(r"(.+?)(?:_at_|_cut_|[\s_-]?)([0-9][0-9.]*)", text.strip(), flags=re.IGNORECASE)
    return (match[1], match[2]) if match else (text, None)


def _cutoff(family: str, text: str | None, name: str) -> int | None:
    rule = _CUTOFF[family]
    if text is None:
        if rule == "must":
            raise ValueError(f"{family} needs a cutoff, as in '{family}@10', but got {name!r}")
        return None
    if rule == "never":
        raise ValueError(f"{family} takes no cutoff, but got {name!r}")
    cutoff = int(text) if re.fullmatch(r"[0-9]{1,20}", text) else 0
    if not 1 <= cutoff <= _LARGEST_CUTOFF:
        raise ValueError(f"the cutoff of {family}@k must be an integer from 1 to 2**53, but got {text!r} in {name!r}")
    return cutoff


def _measure(family: str, cutoff: int | None, gain: str) -> Measure:
    name = family
    if gain == "exponential":
        name += "(dcg='exp-log2')"
    if cutoff is not None:
        name += f"@{cutoff}"
    kind: Literal["precision", "recall"] = "recall" if family in ("Recall", "Hit") else "precision"
    return Measure(name, family, cutoff, kind, "exponential" if gain == "exponential" else "linear")


def _suggestion(base: str, cutoff: str | None) -> str:
    close = difflib.get_close_matches(_key(base), _FAMILY_OF, n=1)
    if not close:
        names = [family + {"never": "", "may": "[@k]", "must": "@k"}[rule] for family, rule in _CUTOFF.items()]
        return f"the measures are {', '.join(names)}"
    family = _FAMILY_OF[close[0]]
    if _CUTOFF[family] == "must" or (_CUTOFF[family] == "may" and cutoff is not None):
        family += "@" + (cutoff if cutoff is not None and re.fullmatch("[1-9][0-9]{0,9}", cutoff) else "10")
    return f"did you mean {family!r}?"


# ---------------------------------------------------------------------------------------------------------------------
# the values


def per_query(profile: TieProfile, measure: Measure | str) -> Triple[Float64]:
    """Return the lower bound, the exact expectation and the upper bound of a measure for every query.

    With R the number of relevant items of the query, retrieved or not, and hits those in the first k ranks:

    =============  ===================================================================================================
    mAP            AP: the precisions at the ranks of the relevant items, summed, over R
    mAP@k          the same, ranks up to k only; still over R, as trec_eval's map_cut (others divide by min(k, R))
    MAP@R          mAP@k with k = R [1]_
    R-Precision    hits / R with k = R
    P@k            hits / k, also where fewer than k items are ranked
    Recall@k       hits / R
    Hit@k          1 if hits > 0, else 0: "Recall@K" of metric learning, Success@k, CMC@k
    F1@k           2 hits / (k + R), the harmonic mean of P@k and Recall@k
    MRR, MRR@k     one over the rank of the first relevant item, 0 if that is beyond k
    nDCG, nDCG@k   the sum of gain / log2(rank + 1) over that of the best order of all relevant items [2]_ [3]_
    AUC            the share of pairs of a relevant and a ranked irrelevant item with the relevant one in front; a
                   relevant item that was not retrieved is behind all
    mINP           R over the rank of the last relevant item, 0 if one was not retrieved [4]_
    =============  ===================================================================================================

    Parameters
    ----------
    profile : TieProfile
    measure : Measure or str

    Returns
    -------
    Triple of arrays
        Three float64 arrays of shape (n_query,), fractions in [0, 1].

    Raises
    ------
    ValueError, TypeError
        If `measure` is a name that `parse` refuses, or a grade is too large for an exponential gain.

    Notes
    -----
    Ties: lower has the relevant items last in each tie group (ascending gains), upper has them first, and expected is
    the mean over all orders of each group, all equally likely. Where no group is mixed the three are equal, bit by
    bit. For a profile that is `bounds_only`, expected is NaN.

    Undefined: NaN for a query that has no relevant item, and for AUC also where no irrelevant item is ranked.

    References
    ----------
    .. [1] Musgrave, Belongie, Lim 2020, A metric learning reality check.
    .. [2] Järvelin, Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.
    .. [3] Burges et al. 2005, Learning to rank using gradient descent, for the exponential gain.
    .. [4] Ye et al. 2021, Deep learning for person re-identification: a survey and outlook.

    Examples
    --------
    Three items at one distance, one of them relevant. The precision at its rank is 1/3, 1/2 or 1, on average 11/18:

    >>> profile = TieProfile.from_groups([[(0, 0, 3, 1)]], n_ranked=[3])
    >>> lower, expected, upper = per_query(profile, "mAP")
    >>> print(f"{lower[0]:.4f} {expected[0]:.4f} {upper[0]:.4f}")
    0.3333 0.6111 1.0000
    """
    measure = parse(measure) if isinstance(measure, str) else measure
    return all_bounds(profile, (measure,))[0]


def all_bounds(profile: TieProfile, measures: Sequence[Measure], threads: int = 1) -> list[Triple[Float64]]:
    """`per_query` of several measures, in threads."""
    out = _closed_forms(profile, measures, threads)
    for measure, (lower, expected, upper) in zip(measures, out, strict=True):
        if profile.bounds_only:
            expected[:] = np.nan
        elif measure.family in _EXTREMES:
            query = np.flatnonzero(lower < upper)
            if not len(query):
                continue  # and nothing is compiled
            groups = _end_groups(profile, measure, query)
            mean = _extremes(*groups, kind=_EXTREMES[measure.family], threads=threads)
            if measure.family == "mINP":
                mean *= profile.n_relevant[query]
            expected[query] = np.minimum(np.maximum(lower[query], mean), upper[query])
    return [Triple(*values) for values in out]


def _closed_forms(profile: TieProfile, measures: Sequence[Measure], threads: int = 1) -> Float64:
    """Lower, expected and upper values, (n_measure, 3, n_query); each thread has its own queries.

    The expected values of `_EXTREMES` are still NaN where lower and upper differ.
    """
    out = np.empty((len(measures), 3, profile.n_query))
    groups = _groups(profile)
    work = [_kernel(profile, measure, groups, values) for measure, values in zip(measures, out, strict=True)]

    def fill(first: int, last: int) -> None:
        for kernel, *arguments in work:
            kernel(first, last, *arguments)

    _in_threads(fill, _ranges(profile, threads))
    return out


def _kernel(profile: TieProfile, measure: Measure, groups: tuple[Int64, ...], out: Float64) -> tuple[Any, ...]:
    """The loop that fills in a measure, and what it takes after the range of queries."""
    family, cutoff = measure.family, _fixed_cutoff(measure)
    if family in _HITS:
        factor, size, share = _HITS[family]
        return kernels.hits, groups, cutoff, factor, size * cutoff, share, out
    if family == "nDCG":
        graded = (_counts_by_grade(profile), _gains(profile, measure))
        return kernels.discounted_gains, groups, cutoff, *graded, _discounts(profile, measure), out
    if family in ("Hit", "MRR"):
        return kernels.first_hits, groups, cutoff, family == "MRR", out
    if family == "AUC":
        return kernels.areas, groups, out
    if family == "mINP":
        return kernels.inverse_penalties, groups, out
    return kernels.average_precisions, groups, cutoff, out


def _ranges(profile: TieProfile, threads: int) -> list[tuple[int, int]]:
    """The queries, divided in ranges with about as many groups each; fewer than threads where that is not worth it."""
    parts = max(1, min(threads, profile.n_group // _WORTH_A_THREAD))
    inner = np.searchsorted(profile.offsets, profile.n_group * np.arange(1, parts) // parts).tolist()
    return list(pairwise((0, *inner, profile.n_query)))


def _in_threads(work: Callable[[int, int], None], ranges: Iterable[tuple[int, int]]) -> None:
    """Do the work for each range, all at once; the first in this thread."""
    first, *others = ranges
    with ThreadPoolExecutor(max(1, len(others))) as pool:  # starts no thread that it has no work for
        running = [pool.submit(work, *some) for some in others]
        work(*first)
        for some in running:
            some.result()


# What P@k, Recall@k, R-Precision and F1@k are, as factors: a hits / (b k + c R).
_HITS = {"P": (1.0, 1.0, 0.0), "Recall": (1.0, 0.0, 1.0), "R-Precision": (1.0, 0.0, 1.0), "F1": (2.0, 1.0, 1.0)}

# Measures that depend on one end of the ranking, and what `_extremes` takes the mean of.
_EXTREMES = {"Hit": 0, "MRR": 1, "mINP": -1}


# ---------------------------------------------------------------------------------------------------------------------
# the standard deviation over random tie-breaking


def std(profile: TieProfile, measure: Measure | str) -> Float64:
    """Return the standard deviation of a measure over random tie-breaking, for every query.

    In closed form for each tie group, in O(tied) or better. Groups are ordered independently of each other, so their
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

    Raises
    ------
    ValueError, TypeError
        As `per_query`.

    Notes
    -----
    Ties: 0 where no group that counts is mixed. Undefined: NaN where `per_query` is, and everywhere for a profile that
    is `bounds_only`.

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
    measure = parse(measure) if isinstance(measure, str) else measure
    if profile.bounds_only:
        return np.full(profile.n_query, np.nan)
    return _DEVIATIONS[measure.family](profile, measure)


def _average_precision_std(profile: TieProfile, measure: Measure) -> Float64:
    mixed, slots = _groups_within(profile, measure, profile.tied > profile.tied_relevant)
    k, n = profile.closer[mixed], profile.closer_relevant[mixed]
    tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
    order = np.lexsort((slots, m, tied, n, k))  # equal groups side by side are computed once
    variance = np.empty(len(mixed))
    precision_variances(k[order], n[order], tied[order], m[order], slots[order], variance)
    with np.errstate(invalid="ignore"):
        return np.sqrt(_sum_by_query(profile, mixed[order], variance)) / _defined(profile, profile.n_relevant)


def _first_k_std(profile: TieProfile, measure: Measure) -> Float64:
    cutoff, group = _cutoffs(profile, measure), np.empty(profile.n_query, dtype=np.int64)
    straddling_groups(_plain(profile.offsets), _plain(profile.closer), cutoff, group)
    found = group >= 0
    group = group[found]
    tied, m = profile.tied[group], profile.tied_relevant[group]
    slots = np.minimum(cutoff[found] - profile.closer[group], tied)
    others = np.maximum(tied - 1, 1)
    variance = np.zeros(profile.n_query)
    variance[found] = slots * (m / tied) * ((tied - m) / tied) * ((tied - slots) / others)
    factor, size, share = _HITS[measure.family]
    divisor = size * _fixed_cutoff(measure) + share * profile.n_relevant
    with np.errstate(invalid="ignore"):
        return _defined(profile, factor * np.sqrt(variance) / divisor)


def _extreme_std(profile: TieProfile, measure: Measure) -> Float64:
    """Hit@k, MRR and mINP."""
    lower, _, upper = _closed_forms(profile, [measure])[0]
    query = np.flatnonzero(lower < upper)
    deviation = np.zeros(profile.n_query)
    groups = _end_groups(profile, measure, query)
    deviation[query] = _extremes(*groups, kind=_EXTREMES[measure.family], deviation=True)
    return _defined(profile, profile.n_relevant * deviation if measure.family == "mINP" else deviation)


def _auc_std(profile: TieProfile, measure: Measure) -> Float64:
    mixed = np.flatnonzero(profile.tied > profile.tied_relevant)
    tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
    variance = _sum_by_query(profile, mixed, m.astype(np.float64) * (tied - m) * (tied + 1) / 12)
    query = np.flatnonzero(np.diff(profile.offsets))
    last = profile.offsets[query + 1] - 1
    irrelevant = profile.n_ranked.copy()
    irrelevant[query] -= profile.closer_relevant[last] + profile.tied_relevant[last]
    pairs = profile.n_relevant.astype(np.float64) * irrelevant
    with np.errstate(invalid="ignore"):
        return np.sqrt(variance) / np.where(pairs > 0, pairs, np.nan)


def _discounted_gain_std(profile: TieProfile, measure: Measure) -> Float64:
    cutoff = _cutoffs(profile, measure)
    table = _discounts(profile, measure)
    by_grade, relevant_by_grade = _counts_by_grade(profile)
    gains = _gains(profile, measure)
    ideal = np.empty(profile.n_query)
    ideal_gains(relevant_by_grade, gains, cutoff, *table, ideal)

    group, slots = _groups_within(profile, measure, profile.tied > 1)
    k, tied = profile.closer[group], profile.tied[group]
    order = np.lexsort((slots, tied, k))
    variance = np.empty(len(group))
    discount_spreads(k[order], tied[order], slots[order], table[0], variance)
    variance *= _gain_spread(by_grade[group], gains, tied)[order] / (tied[order] - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(_sum_by_query(profile, group[order], variance)) / ideal


_DEVIATIONS = {
    "mAP": _average_precision_std,
    "MAP@R": _average_precision_std,
    "R-Precision": _first_k_std,
    "P": _first_k_std,
    "Recall": _first_k_std,
    "Hit": _extreme_std,
    "MRR": _extreme_std,
    "nDCG": _discounted_gain_std,
    "F1": _first_k_std,
    "AUC": _auc_std,
    "mINP": _extreme_std,
}


# ---------------------------------------------------------------------------------------------------------------------
# what several measures need


def _plain(array: Int64) -> Int64:
    """The array in the one form that the kernels are compiled for: writable (a loaded one may not be)."""
    return array if array.flags.writeable else array.copy()


def _groups(profile: TieProfile) -> tuple[Int64, ...]:
    """The arrays of a profile, in the order that the kernels know."""
    ranking = (profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant)
    return tuple(map(_plain, (profile.offsets, *ranking, profile.n_ranked, profile.n_relevant)))


def _fixed_cutoff(measure: Measure) -> int:
    """The cutoff as the kernels know it: 0 stands for the number of relevant items."""
    if measure.family in ("MAP@R", "R-Precision"):
        return 0
    return _NO_CUTOFF if measure.cutoff is None else measure.cutoff


def _cutoffs(profile: TieProfile, measure: Measure) -> Int64:
    """The last rank that counts, (n_query,)."""
    cutoff = _fixed_cutoff(measure)
    if cutoff == 0:
        return _plain(profile.n_relevant)
    return np.minimum(np.maximum(profile.n_ranked, profile.n_relevant), cutoff)


def _query_of(profile: TieProfile, group: Int64) -> Int64:
    """The queries that some groups belong to."""
    return np.searchsorted(profile.offsets, group, side="right") - 1


def _groups_within(profile: TieProfile, measure: Measure, chosen: NDArray[np.bool_]) -> tuple[Int64, Int64]:
    """The groups chosen that begin before the cutoff, and how many of their slots are within it."""
    group = np.flatnonzero(chosen)
    slots = _cutoffs(profile, measure)[_query_of(profile, group)] - profile.closer[group]
    within = slots > 0
    return group[within], np.minimum(slots[within], profile.tied[group[within]])


def _end_groups(profile: TieProfile, measure: Measure, query: Int64) -> tuple[Int64, Int64, Int64, Int64]:
    """`closer`, `tied`, `tied_relevant` and the slots that count of the first (mINP: last) group of some queries."""
    group = profile.offsets[query + 1] - 1 if measure.family == "mINP" else profile.offsets[query]
    k, tied = profile.closer[group], profile.tied[group]
    return k, tied, profile.tied_relevant[group], np.clip(_cutoffs(profile, measure)[query] - k, 0, tied)


def _extremes(
    k: Int64, tied: Int64, m: Int64, slots: Int64, *, kind: int, deviation: bool = False, threads: int = 1
) -> Float64:
    """Expectation (or deviation) of a function of the first or last relevant slot, for some groups."""
    order = np.lexsort((slots, m, tied, k))  # equal groups side by side are computed once
    k, tied, m, slots = (array[order] for array in (k, tied, m, slots))
    mean, variance, out = np.zeros((3, len(order)))
    shift = np.zeros(len(order))
    parts = max(1, min(threads, len(order) // 16))
    cuts = (len(order) * np.arange(parts + 1) // parts).tolist()
    _in_threads(lambda i, j: extremes(i, j, k, tied, m, slots, kind, deviation, shift, False, mean), pairwise(cuts))
    if deviation:
        extremes(0, len(order), k, tied, m, slots, kind, True, mean, True, variance)
    out[order] = np.sqrt(variance) if deviation else mean
    return out


def _defined(profile: TieProfile, values: NDArray[Any]) -> Float64:
    return np.where(profile.n_relevant > 0, values, np.nan)


def _sum_by_query(profile: TieProfile, group: Int64, values: Float64) -> Float64:
    """Sums of the values of some groups over each query, (n_query,).

    One after the other, in the order of the groups: np.add.reduceat has no order that is the same everywhere.
    """
    order = np.argsort(group)
    return np.bincount(_query_of(profile, group[order]), values[order], profile.n_query).astype(np.float64)


def _counts_by_grade(profile: TieProfile) -> tuple[Int64, Int64]:
    """The relevant items by grade, (n_group, n_grade) and (n_query, n_grade)."""
    if profile.tied_by_grade is None or profile.relevant_by_grade is None:
        return _plain(profile.tied_relevant[:, None]), _plain(profile.n_relevant[:, None])
    return _plain(profile.tied_by_grade), _plain(profile.relevant_by_grade)


def _gains(profile: TieProfile, measure: Measure) -> Float64:
    """The gain of each grade."""
    if len(profile.grades) == 1:
        return np.ones(1)  # its gain cancels out
    if measure.gain == "linear":
        return profile.grades.astype(np.float64)
    if profile.grades[-1] > _LARGEST_EXPONENT:
        raise ValueError(f"an exponential gain takes grades up to {_LARGEST_EXPONENT}, but one is {profile.grades[-1]}")
    return np.array([math.ldexp(1.0, int(grade)) - 1 for grade in profile.grades], dtype=np.float64)


def _gain_spread(by_grade: Int64, gains: Float64, tied: Int64) -> Float64:
    """Sum over the items of each group of (gain - mean gain)^2, irrelevant ones included; exactly 0 for equal gains."""
    counts = np.column_stack([tied - by_grade.sum(axis=1), by_grade])
    gains = np.concatenate([[0.0], gains])
    mean = np.zeros(len(tied))
    for count, gain in zip(counts.T, gains, strict=True):
        mean += count * gain
    mean /= tied
    spread = np.zeros(len(tied))
    for count, gain in zip(counts.T, gains, strict=True):
        spread += count * (gain - mean) ** 2
    spread[(counts > 0).sum(axis=1) == 1] = 0.0
    return spread


def _discounts(profile: TieProfile, measure: Measure) -> tuple[Float64, Float64, Float64]:
    """1/log2(rank + 1) for every rank that can count, and its running sums."""
    furthest = int(_cutoffs(profile, measure).max(initial=1023))
    if furthest > 1023:
        last = profile.offsets[np.flatnonzero(np.diff(profile.offsets)) + 1] - 1
        reach = (profile.closer[last] + profile.tied[last]).max(initial=1023)
        furthest = int(min(furthest, max(reach, profile.n_relevant.max(initial=0))))
    return discount_table(furthest.bit_length())


@lru_cache(maxsize=4)
def discount_table(bits: int) -> tuple[Float64, Float64, Float64]:
    size = 2**bits
    table = (np.zeros(size), np.zeros(size // BLOCK + 1), np.zeros(size // BLOCK + 1))
    discounts(*table)
    return table
