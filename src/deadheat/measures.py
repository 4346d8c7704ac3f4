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
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.profiles import TieProfile

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
_LARGEST_EXPONENT = 500  # of the gain 2^g - 1: its square must not overflow


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


class Bounds(NamedTuple):
    """Three float64 arrays of shape (n_query,), with ``lower <= expected <= upper``; NaN where undefined."""

    lower: Float64
    expected: Float64
    upper: Float64


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


def per_query(profile: TieProfile, measure: Measure | str) -> Bounds:
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
    Bounds
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
    lower, expected, upper = _VALUES[measure.family](profile, measure)
    if profile.bounds_only:
        expected = np.full(profile.n_query, np.nan)
    # In exact arithmetic this changes nothing; it takes back what rounding may have put out of order.
    upper = np.maximum(lower, upper)
    expected = np.minimum(np.maximum(lower, expected), upper)
    return Bounds(lower, expected, upper)


def _average_precision(profile: TieProfile, measure: Measure) -> Bounds:
    from deadheat._measure_kernels import average_precision

    bounds = Bounds(*(np.empty(profile.n_query) for _ in range(3)))
    cutoff = _cutoffs(profile, measure)
    average_precision(*_groups(profile), _plain(profile.n_relevant), cutoff, *bounds)
    return bounds


def _first_k(profile: TieProfile, measure: Measure) -> Bounds:
    """P@k, Recall@k, F1@k and R-Precision: hits over something."""
    lower, upper, group = _hits(profile, _cutoffs(profile, measure))
    n, tied, m, slots = _straddling(profile, measure, group)
    divisor = _divisor(profile, measure)
    factor = 2.0 if measure.family == "F1" else 1.0
    found = group >= 0
    with np.errstate(invalid="ignore"):
        expected = np.zeros(profile.n_query)
        expected[found] = factor * (n * tied + m * slots) / (tied * divisor[found])
        return Bounds(
            _defined(profile, factor * lower / divisor),
            _defined(profile, expected),
            _defined(profile, factor * upper / divisor),
        )


def _hit(profile: TieProfile, measure: Measure) -> Bounds:
    """Hit@k: only the first group matters."""
    k, tied, m, query = _end_groups(profile, first=True)
    slots = np.clip(_cutoffs(profile, measure)[query] - k, 0, tied)
    value = np.minimum(slots, 1).astype(np.float64)
    open_ = (slots > 0) & (slots <= tied - m)
    value[open_] = _extremes(k, tied, m, slots, open_, kind=0)
    return Bounds(
        _spread(profile, query, slots > tied - m),
        _spread(profile, query, value),
        _spread(profile, query, slots > 0),
    )


def _reciprocal_rank(profile: TieProfile, measure: Measure) -> Bounds:
    """MRR and MRR@k: only the first group matters."""
    k, tied, m, query = _end_groups(profile, first=True)
    slots = np.clip(_cutoffs(profile, measure)[query] - k, 0, tied)
    best = np.where(slots > 0, 1 / (k + 1), 0.0)
    mean = best.copy()
    mixed = (tied > m) & (slots > 0)
    mean[mixed] = _extremes(k, tied, m, slots, mixed, kind=1)
    return Bounds(
        _spread(profile, query, np.where(slots > tied - m, 1 / (k + tied - m + 1), 0.0)),
        _spread(profile, query, mean),
        _spread(profile, query, best),
    )


def _inverse_penalty(profile: TieProfile, measure: Measure) -> Bounds:
    """mINP: only the last group matters, and that nothing relevant is missing."""
    retrieved, _, _ = _count_pairs(profile)
    k, tied, m, query = _end_groups(profile, first=False)
    complete = retrieved[query] == profile.n_relevant[query]
    r = np.where(complete, profile.n_relevant[query], 0)
    mean = r / (k + m)
    mixed = (tied > m) & complete
    mean[mixed] = r[mixed] * _extremes(k, tied, m, tied, mixed, kind=-1)
    return Bounds(
        _spread(profile, query, r / (k + tied)),
        _spread(profile, query, mean),
        _spread(profile, query, r / (k + m)),
    )


def _auc(profile: TieProfile, measure: Measure) -> Bounds:
    retrieved, inverted, undecided = _count_pairs(profile)
    most = retrieved * (profile.n_ranked - retrieved) - inverted
    least = most - undecided
    with np.errstate(invalid="ignore"):
        pairs = _pairs(profile, retrieved)
        return Bounds(least / pairs, (least + most) / (2 * pairs), most / pairs)


def _discounted_gain(profile: TieProfile, measure: Measure) -> Bounds:
    from deadheat._measure_kernels import normalised_gain

    bounds = Bounds(*(np.empty(profile.n_query) for _ in range(3)))
    cutoff = _cutoffs(profile, measure)
    by_grade, relevant_by_grade, gains = _grades(profile, measure)
    offsets, closer, _, tied, tied_relevant = _groups(profile)
    table = _discounts(profile, cutoff)
    normalised_gain(
        offsets, closer, tied, tied_relevant, by_grade, gains, relevant_by_grade, cutoff, *table, *bounds
    )  # fmt: skip
    return bounds


_VALUES = {
    "mAP": _average_precision,
    "MAP@R": _average_precision,
    "R-Precision": _first_k,
    "P": _first_k,
    "Recall": _first_k,
    "Hit": _hit,
    "MRR": _reciprocal_rank,
    "nDCG": _discounted_gain,
    "F1": _first_k,
    "AUC": _auc,
    "mINP": _inverse_penalty,
}


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
    from deadheat._measure_kernels import precision_variances

    mixed, slots = _groups_within(profile, measure, profile.tied > profile.tied_relevant)
    k, n = profile.closer[mixed], profile.closer_relevant[mixed]
    tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
    order = np.lexsort((slots, m, tied, n, k))  # equal groups side by side are computed once
    variance = np.empty(len(mixed))
    precision_variances(k[order], n[order], tied[order], m[order], slots[order], variance)
    with np.errstate(invalid="ignore"):
        return np.sqrt(_sum_by_query(profile, mixed[order], variance)) / _defined(profile, profile.n_relevant)


def _first_k_std(profile: TieProfile, measure: Measure) -> Float64:
    _, _, group = _hits(profile, _cutoffs(profile, measure))
    _, tied, m, slots = _straddling(profile, measure, group)
    others = np.maximum(tied - 1, 1)
    variance = np.zeros(profile.n_query)
    variance[group >= 0] = slots * (m / tied) * ((tied - m) / tied) * ((tied - slots) / others)
    factor = 2.0 if measure.family == "F1" else 1.0
    with np.errstate(invalid="ignore"):
        return _defined(profile, factor * np.sqrt(variance) / _divisor(profile, measure))


def _hit_std(profile: TieProfile, measure: Measure) -> Float64:
    k, tied, m, query = _end_groups(profile, first=True)
    slots = np.clip(_cutoffs(profile, measure)[query] - k, 0, tied)
    return _extreme_std(profile, (k, tied, m, slots), query, (slots > 0) & (slots <= tied - m), kind=0)


def _reciprocal_rank_std(profile: TieProfile, measure: Measure) -> Float64:
    k, tied, m, query = _end_groups(profile, first=True)
    slots = np.clip(_cutoffs(profile, measure)[query] - k, 0, tied)
    return _extreme_std(profile, (k, tied, m, slots), query, (tied > m) & (slots > 0), kind=1)


def _inverse_penalty_std(profile: TieProfile, measure: Measure) -> Float64:
    retrieved, _, _ = _count_pairs(profile)
    k, tied, m, query = _end_groups(profile, first=False)
    complete = retrieved[query] == profile.n_relevant[query]
    deviation = _extreme_std(profile, (k, tied, m, tied), query, (tied > m) & complete, kind=-1)
    return profile.n_relevant * deviation


def _auc_std(profile: TieProfile, measure: Measure) -> Float64:
    mixed = np.flatnonzero(profile.tied > profile.tied_relevant)
    tied, m = profile.tied[mixed], profile.tied_relevant[mixed]
    variance = _sum_by_query(profile, mixed, m.astype(np.float64) * (tied - m) * (tied + 1) / 12)
    retrieved, _, _ = _count_pairs(profile)
    with np.errstate(invalid="ignore"):
        return np.sqrt(variance) / _pairs(profile, retrieved)


def _discounted_gain_std(profile: TieProfile, measure: Measure) -> Float64:
    from deadheat._measure_kernels import discount_spreads, ideal_gains

    cutoff = _cutoffs(profile, measure)
    table = _discounts(profile, cutoff)
    by_grade, relevant_by_grade, gains = _grades(profile, measure)
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
    "Hit": _hit_std,
    "MRR": _reciprocal_rank_std,
    "nDCG": _discounted_gain_std,
    "F1": _first_k_std,
    "AUC": _auc_std,
    "mINP": _inverse_penalty_std,
}


# ---------------------------------------------------------------------------------------------------------------------
# what several measures need


def _plain(array: Int64) -> Int64:
    """The array in the one form that the kernels are compiled for: writable (a loaded one may not be)."""
    return array if array.flags.writeable else array.copy()


def _groups(profile: TieProfile) -> tuple[Int64, Int64, Int64, Int64, Int64]:
    arrays = (profile.offsets, profile.closer, profile.closer_relevant, profile.tied, profile.tied_relevant)
    return tuple(map(_plain, arrays))  # type: ignore[return-value]


def _cutoffs(profile: TieProfile, measure: Measure) -> Int64:
    """The last rank that counts, (n_query,)."""
    if measure.family in ("MAP@R", "R-Precision"):
        return _plain(profile.n_relevant)
    cutoff = np.maximum(profile.n_ranked, profile.n_relevant)
    return cutoff if measure.cutoff is None else np.minimum(cutoff, measure.cutoff)


def _divisor(profile: TieProfile, measure: Measure) -> Float64:
    """What the hits are divided by, (n_query,)."""
    relevant = profile.n_relevant.astype(np.float64)
    if measure.family in ("Recall", "R-Precision") or measure.cutoff is None:
        return relevant
    return measure.cutoff + (relevant if measure.family == "F1" else 0.0 * relevant)


def _hits(profile: TieProfile, cutoff: Int64) -> tuple[Int64, Int64, Int64]:
    """Fewest and most relevant items among the first `cutoff`, and the last group that begins there, or -1."""
    from deadheat._measure_kernels import first_ranks

    lower, upper, group = (np.empty(profile.n_query, dtype=np.int64) for _ in range(3))
    first_ranks(*_groups(profile), cutoff, lower, upper, group)
    return lower, upper, group


def _straddling(profile: TieProfile, measure: Measure, group: Int64) -> tuple[Int64, Int64, Int64, Int64]:
    """The counts of the group at the cutoff, where there is one, and how many of its slots are within."""
    found = group >= 0
    chosen = group[found]
    k, tied = profile.closer[chosen], profile.tied[chosen]
    slots = np.minimum(_cutoffs(profile, measure)[found] - k, tied)
    return profile.closer_relevant[chosen], tied, profile.tied_relevant[chosen], slots


def _groups_within(profile: TieProfile, measure: Measure, chosen: NDArray[np.bool_]) -> tuple[Int64, Int64]:
    """The groups chosen that begin before the cutoff, and how many of their slots are within it."""
    group = np.flatnonzero(chosen)
    slots = _cutoffs(profile, measure)[profile.query_of_group[group]] - profile.closer[group]
    within = slots > 0
    return group[within], np.minimum(slots[within], profile.tied[group[within]])


def _end_groups(profile: TieProfile, first: bool) -> tuple[Int64, Int64, Int64, Int64]:
    """`closer`, `tied` and `tied_relevant` of the first or last group of each query that has one, and these queries."""
    query = np.flatnonzero(np.diff(profile.offsets))
    group = profile.offsets[query] if first else profile.offsets[query + 1] - 1
    return profile.closer[group], profile.tied[group], profile.tied_relevant[group], query


def _extremes(
    k: Int64, tied: Int64, m: Int64, slots: Int64, chosen: NDArray[np.bool_], *, kind: int, deviation: bool = False
) -> Float64:
    """Expectation (or deviation) of a function of the first or last relevant slot, for the groups chosen."""
    from deadheat._measure_kernels import extremes

    arrays = [array[chosen] for array in (k, tied, m, slots)]
    order = np.lexsort(arrays[::-1])  # equal groups side by side are computed once
    k, tied, m, slots = (array[order] for array in arrays)
    mean, variance, out = np.zeros((3, len(order)))
    extremes(k, tied, m, slots, kind, deviation, np.zeros(len(order)), False, mean)
    if deviation:
        extremes(k, tied, m, slots, kind, True, mean, True, variance)
    out[order] = np.sqrt(variance) if deviation else mean
    return out


def _extreme_std(
    profile: TieProfile,
    groups: tuple[Int64, Int64, Int64, Int64],
    query: Int64,
    chosen: NDArray[np.bool_],
    kind: int,
) -> Float64:
    deviation = np.zeros(len(query))
    deviation[chosen] = _extremes(*groups, chosen, kind=kind, deviation=True)
    return _spread(profile, query, deviation)


def _spread(profile: TieProfile, query: Int64, values: NDArray[Any]) -> Float64:
    """Put the values of some queries where they belong: the others get 0, and NaN where nothing is relevant."""
    out = np.zeros(profile.n_query)
    out[query] = values
    return _defined(profile, out)


def _defined(profile: TieProfile, values: NDArray[Any]) -> Float64:
    return np.where(profile.n_relevant > 0, values, np.nan)


def _count_pairs(profile: TieProfile) -> tuple[Int64, Int64, Int64]:
    """Ranked relevant items, and their pairs with an irrelevant one in front, and at the same distance, (n_query,)."""
    from deadheat._measure_kernels import count_pairs

    counts = tuple(np.empty(profile.n_query, dtype=np.int64) for _ in range(3))
    count_pairs(*_groups(profile), *counts)
    return counts  # type: ignore[return-value]


def _pairs(profile: TieProfile, retrieved: Int64) -> Float64:
    """Pairs of a relevant and a ranked irrelevant item, (n_query,); NaN for none, so that what is over them is too."""
    pairs = profile.n_relevant.astype(np.float64) * (profile.n_ranked - retrieved)
    return np.where(pairs > 0, pairs, np.nan)


def _sum_by_query(profile: TieProfile, group: Int64, values: Float64) -> Float64:
    """Sums of the values of some groups over each query, (n_query,).

    One after the other, in the order of the groups: np.add.reduceat has no order that is the same everywhere.
    """
    order = np.argsort(group)
    return np.bincount(profile.query_of_group[group[order]], values[order], profile.n_query).astype(np.float64)


def _grades(profile: TieProfile, measure: Measure) -> tuple[Int64, Int64, Float64]:
    """Counts by grade, (n_group, n_grade) and (n_query, n_grade), and the gain of each grade."""
    by_grade, relevant_by_grade = profile.tied_by_grade, profile.relevant_by_grade
    if by_grade is None or relevant_by_grade is None:
        by_grade, relevant_by_grade = profile.tied_relevant[:, None], profile.n_relevant[:, None]
    if len(profile.grades) == 1:
        return _plain(by_grade), _plain(relevant_by_grade), np.ones(1)  # its gain cancels out
    gains = profile.grades.astype(np.float64)
    if measure.gain == "exponential":
        if profile.grades[-1] > _LARGEST_EXPONENT:
            raise ValueError(
                f"an exponential gain takes grades up to {_LARGEST_EXPONENT}, but one is {profile.grades[-1]}"
            )
        gains = np.array([math.ldexp(1.0, int(grade)) - 1 for grade in profile.grades], dtype=np.float64)
    return _plain(by_grade), _plain(relevant_by_grade), gains


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


def _discounts(profile: TieProfile, cutoff: Int64) -> tuple[Float64, Float64, Float64]:
    """1/log2(rank + 1) for every rank that can count, and its running sums."""
    furthest = int(cutoff.max(initial=1023))
    if furthest > 1023:
        reach = (profile.closer + profile.tied).max(initial=1023)
        furthest = int(min(furthest, max(reach, profile.n_relevant.max(initial=0))))
    return _discount_table(furthest.bit_length())


@lru_cache(maxsize=4)
def _discount_table(bits: int) -> tuple[Float64, Float64, Float64]:
    from deadheat._measure_kernels import BLOCK, discounts

    size = 2**bits
    table = (np.zeros(size), np.zeros(size // BLOCK + 1), np.zeros(size // BLOCK + 1))
    discounts(*table)
    return table
