"""Measures of one ranking at its thresholds: error rates, detection cost, areas, identification, by name.

In come the items accepted at each threshold, as `Accepted`; out go lower, expected and upper value of a measure.

A threshold accepts whole tie groups. A sort that breaks ties can also stop inside one, and does best right behind its
relevant items if these come first. Of a group of l tied items, m of them relevant, behind k with n relevant:

    at its threshold       n + m accepted relevant, (k - n) + (l - m) accepted irrelevant items
    best place inside it   n + m                    (k - n)

The worst order (irrelevant items first in each group) allows no more than thresholds do, so the value at a threshold is
the worst over all orders. A goal is a function of these two counts to be maximised.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.scores import from_scores
from deadheat.errors import InvalidValueError
from deadheat.measures import values as measure_values
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64
from deadheat.support.means import exact_means
from deadheat.support.triple import Triple

Goal = Callable[[Int64, Int64, int, int], Any]  # of accepted relevant and irrelevant items, and of all of either

GROUPED_AP, MCCLISH = "AP (scikit-learn)", " (McClish)"
AT_FPR, AT_FMR, _AT_TPR, _PARTIAL = "TPR@FPR=", "FNMR@FMR=", "FPR@TPR=", "pAUC@FPR="
RANK, TPIR = "rank-", "TPIR@FPIR="
_GOALS: dict[str, Goal] = {
    "EER": lambda hits, false, relevant, irrelevant: -np.maximum(false / irrelevant, (relevant - hits) / relevant),
    "best F1": lambda hits, false, relevant, irrelevant: 2 * hits / (hits + false + relevant),
    "best accuracy": lambda hits, false, relevant, irrelevant: (hits + irrelevant - false) / (relevant + irrelevant),
}
_ERRORS = ("EER", AT_FMR, _AT_TPR)  # goals that are minus these
_GIVEN: dict[str, Goal] = {  # at a threshold that is given
    "accuracy@threshold=": _GOALS["best accuracy"],
    "F1@threshold=": _GOALS["best F1"],
    "TPR@threshold=": lambda hits, false, relevant, irrelevant: hits / relevant,
    "FPR@threshold=": lambda hits, false, relevant, irrelevant: false / irrelevant,
}
_WITH_NUMBER = {
    name.lower(): name for name in (AT_FPR, AT_FMR, _AT_TPR, _PARTIAL, TPIR, *_GIVEN)
} | {  # other spellings
    **dict.fromkeys(("tar@far=", "tmr@fmr=", "gar@far="), AT_FPR),
    **dict.fromkeys(("fnr@fpr=", "frr@far="), AT_FMR),
    **dict.fromkeys(("far@tar=", "fmr@tmr=", "far@gar="), _AT_TPR),
    **dict.fromkeys(("auc@fpr=", "partial auc@fpr="), _PARTIAL),
}
_COST = re.compile(r"mindcf *(?:\((.*)\))?", re.IGNORECASE)
_COSTS = {"p": "p", "p_target": "p", "miss": "miss", "c_miss": "miss", "fa": "fa", "c_fa": "fa"}
_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(e-?[0-9]+)?")
NAMES = ("AP", GROUPED_AP, "AUC", f"{AT_FPR}0.01", *_GOALS)
KNOWN = (
    *NAMES[:3], *(f"{name}x" for name in (AT_FPR, AT_FMR, _AT_TPR, _PARTIAL)), *_GOALS, "minDCF(p=x)",
    *(f"{name}x" for name in _GIVEN), f"{RANK}1", f"{TPIR}x",
)  # fmt: skip
_ALIASES = {
    **{name.lower(): name for name in NAMES},
    **dict.fromkeys(("roc auc", "roc_auc", "roc-auc", "auroc"), "AUC"),
    **dict.fromkeys(
        ("average precision", "average_precision", "\N{MICRO SIGN}ap", "\N{GREEK SMALL LETTER MU}ap"), "AP"
    ),
    "equal error rate": "EER",
}


def names_in(measures: Any) -> tuple[str, ...]:
    """Return the canonical names of measures, of a list or of one text with commas between them."""
    text = isinstance(measures, str)
    listed = re.split(r",(?![^()]*\))", measures) if text else checks.listed(measures, "measures", "names of measures")
    return tuple(dict.fromkeys(named(each.strip() if text else each) for each in listed))


def named(name: str) -> str:
    """Return the canonical name of a measure.

    Examples
    --------
    >>> named("AUROC"), named("eer"), named("TPR@FPR=1e-2"), named("TAR@FAR=1e-2"), named("FRR@FAR=.1")
    ('AUC', 'EER', 'TPR@FPR=0.01', 'TPR@FPR=0.01', 'FNMR@FMR=0.1')
    >>> named("FPR95"), named("minDCF"), named("minDCF(0.001, c_miss=10)"), named("AUC@FPR=.1 (mcclish)")
    ('FPR@TPR=0.95', 'minDCF(p=0.01)', 'minDCF(p=0.001, miss=10.0, fa=1.0)', 'pAUC@FPR=0.1 (McClish)')
    """
    text = name.strip().lower() if isinstance(name, str) else ""
    if cost := _COST.fullmatch(text):
        return _cost_named(name, cost[1])
    if rank := re.fullmatch(r"(?:rank[-@]|cmc@)0*([1-9][0-9]{0,8})", text):
        return f"{RANK}{rank[1]}"
    base, equals, number = text.partition("=")
    base = _WITH_NUMBER.get(f"{base.strip()}=", "")
    if not base:
        return f"{_AT_TPR}0.95" if text == "fpr95" else checks.choice(name, KNOWN, "measure", _ALIASES)
    kind = MCCLISH if base == _PARTIAL and number.endswith(MCCLISH.lower()) else ""
    number = number.removesuffix(kind.lower()).strip()
    rates = name.partition("=")[0].strip()
    if base in _GIVEN:
        if not equals or not _NUMBER.fullmatch(number.removeprefix("-")):
            raise InvalidValueError("measure", f"must have a number behind {rates}=, but is {name!r}")
    elif not _NUMBER.fullmatch(number) or float(number) > 1 or (base == _PARTIAL and not float(number)):
        least = "above 0 up to" if base == _PARTIAL else "from 0 to"
        raise InvalidValueError("measure", f"must have a rate {least} 1 behind {rates}=, but is {name!r}")
    return f"{base}{float(number)!r}{kind}"


def _cost_named(name: str, text: str | None) -> str:
    """Return the canonical name of a detection cost: its prior, and its costs if they are not 1."""
    values = {"p": "0.01", "miss": "1", "fa": "1"} if not text else {"miss": "1", "fa": "1"}
    for index, part in enumerate(text.split(",") if text else ()):
        key, equals, number = part.rpartition("=")
        key = _COSTS.get(key.strip(), "") if equals else ("p", "miss", "fa", "")[min(index, 3)]
        values[key] = number.strip()
    numbers = {key: float(each) if _NUMBER.fullmatch(each) else 0.0 for key, each in values.items()}
    sound = numbers.keys() == {"p", "miss", "fa"} and min(numbers.values()) > 0 and max(numbers.values()) < math.inf
    if not sound or numbers["p"] >= 1:
        rule = "must have a prior between 0 and 1, and costs above 0, as in minDCF(p=0.01, miss=1, fa=1)"
        raise InvalidValueError("measure", f"{rule}, but is {name!r}")
    costs = "" if numbers["miss"] == numbers["fa"] == 1 else f", miss={numbers['miss']!r}, fa={numbers['fa']!r}"
    return f"minDCF(p={numbers['p']!r}{costs})"


def number_of(name: str) -> float:
    """Return the number in the name of a measure, such as TPR@FPR=0.01."""
    return float(name.removesuffix(MCCLISH).partition("=")[2])


def has_rate(name: str) -> bool:
    """Return whether a measure is at a given rate of accepted negatives."""
    return name.startswith((AT_FPR, AT_FMR))


class Accepted(NamedTuple):
    """The items that each threshold accepts: nothing, then the groups of equal scores up to each, the best first."""

    hits: Int64  # (n_group + 1,)
    false: Int64  # (n_group + 1,)
    n_relevant: int  # those without a score included
    n_irrelevant: int

    @classmethod
    def of(cls, relevant: Int64, irrelevant: Int64, n_missing: int = 0) -> Accepted:
        """Count the items of groups, (n_group,), of which the first has the best score."""
        hits, false = (np.append(0, np.cumsum(each)) for each in (relevant, irrelevant))
        return cls(hits, false, int(hits[-1]) + n_missing, int(false[-1]))

    def profile(self) -> TieProfile:
        """Return the profile of one query."""
        relevant, before = np.diff(self.hits), np.flatnonzero(np.diff(self.hits))
        closer, end = (self.hits + self.false)[before], (self.hits + self.false)[before + 1]
        n_ranked = np.array([self.hits[-1] + self.false[-1]])
        groups = closer, self.hits[before], end - closer, relevant[before]
        return TieProfile(np.array([0, len(before)]), *groups, n_ranked, np.array([self.n_relevant]), np.array([1]))


def measured(accepted: Accepted, name: str, up_to: Callable[[float], int]) -> tuple[Triple[float], int | None]:
    """Return a measure of a ranking with both classes, and the last group that its best threshold accepts.

    The group is -1 if it accepts none, and None for a measure without a threshold of its own. `up_to` gives the number
    of groups that a given threshold accepts.
    """
    hits, false, relevant, irrelevant = accepted
    if name in ("AP", "AUC"):
        return Triple(*(float(end[0]) for end in measure_values.per_query(accepted.profile(), name))), None
    if name.startswith(_PARTIAL):
        return _partial_area(accepted, name), None
    if name == GROUPED_AP:  # the precision at each threshold, times the recall gained there
        gains = np.flatnonzero(np.diff(hits)) + 1
        grouped = math.fsum(np.diff(hits)[gains - 1] * (hits[gains] / (hits[gains] + false[gains]))) / relevant
        return Triple(*3 * [grouped]), None
    if name.startswith("minDCF"):
        cost, at = _least_cost(accepted, name)
        return Triple(*3 * [cost]), at - 1
    if given := next((goal for base, goal in _GIVEN.items() if name.startswith(base)), None):
        at = up_to(number_of(name))
        return Triple(*3 * [float(given(hits[at], false[at], relevant, irrelevant))]), None
    inside = np.append(0, false[:-1])
    (lower, group), (upper, _) = (_optimum(accepted._replace(false=each), name) for each in (false, inside))
    if name.startswith(_ERRORS):
        lower, upper = 0.0 - upper, 0.0 - lower
    return Triple(lower, lower if lower == upper else math.nan, upper), group


def _optimum(accepted: Accepted, name: str) -> tuple[float, int]:
    """Return the largest value behind any group, or with nothing accepted, and the first group that has it, or -1."""
    hits, false, relevant, irrelevant = accepted
    if name in _GOALS:
        values = _GOALS[name](hits, false, relevant, irrelevant)
    elif name.startswith(_AT_TPR):
        enough = hits / relevant >= number_of(name)
        if not enough[-1]:  # positives without a score are reached only by accepting all
            return -1.0, len(hits) - 2
        values = np.where(enough, -(false / irrelevant), -2.0)
    else:
        allowed = false / irrelevant <= number_of(name)
        rates = hits / relevant if name.startswith(AT_FPR) else (hits - relevant) / relevant
        values = np.where(allowed, rates, rates[0])  # as where nothing is accepted, which every rate allows
    best = int(np.argmax(values))
    return float(values[best]), best - 1


def _least_cost(accepted: Accepted, name: str) -> tuple[float, int]:
    """Return the least normalised detection cost of any threshold, and the first threshold that has it.

    C = (C_miss p P_miss + C_fa (1 - p) P_fa) / min(C_miss p, C_fa (1 - p)), where nothing rejected or nothing accepted
    costs at least 1; NIST's evaluation plans. Costs that float64 does not distinguish are compared as fractions.
    """
    hits, false, relevant, irrelevant = accepted
    prior, *costs = (Fraction(each) for each in re.findall(r"=([0-9.e-]+)", name))
    of_miss, of_false = costs or (1, 1)
    weights = of_miss * prior, of_false * (1 - prior)
    miss, alarm = (each / min(weights) for each in weights)
    rough = float(miss) * ((relevant - hits) / relevant) + float(alarm) * (false / irrelevant)
    near = np.flatnonzero(rough <= rough.min() * (1 + 2**-40))

    def cost(at: int) -> Fraction:
        return miss * Fraction(relevant - int(hits[at]), relevant) + alarm * Fraction(int(false[at]), irrelevant)

    best = min(near.tolist(), key=cost)
    return float(cost(best)), best


def _partial_area(accepted: Accepted, name: str) -> Triple[float]:
    """Return the mean true positive rate over the false positive rates up to x: the area below the ROC curve, over x.

    The curve of an order is a step function. Of a group of m relevant and q irrelevant items in a random order,
    j m / (q + 1) relevant ones are expected before its j-th irrelevant one; only the group that x cuts needs the sum.
    """
    hits, false, relevant, irrelevant = accepted
    rate = Fraction(repr(number_of(name)))
    most = rate * irrelevant  # irrelevant items, of which the last may count in part
    cut = int(np.searchsorted(false[1:], math.ceil(most)))  # the group that holds it
    whole, (q, m) = slice(0, cut), (int(np.diff(each[cut : cut + 2])[0]) for each in (false, hits))
    width, before = np.diff(false)[whole], int(hits[cut])
    low, high = (int(width @ each) for each in (hits[:-1][whole], hits[1:][whole]))
    rest = most - int(false[cut])
    full = math.floor(rest)
    inside = Fraction(full * (full + 1), 2) + (rest - full) * (full + 1)
    areas = (
        low + rest * before,
        Fraction(low + high, 2) + rest * before + inside * m / (q + 1),
        high + rest * (before + m),
    )
    values = (Fraction(area) / (relevant * most) for area in areas)
    if name.endswith(MCCLISH):  # 1/2 for a random order, 1 for a perfect one
        values = ((1 + (value - rate / 2) / (1 - rate / 2)) / 2 for value in values)
    return Triple(*map(float, values))


# Identification -------------------------------------------------------------------------------------------------------


class Search(NamedTuple):
    """The level of the mate of each probe, 0 for the best, and of the first of all others; `n_level` without one.

    Each probe is compared with every enrolled person (1:N). One with a mate is identified at a threshold if its mate is
    first and accepted; one without a mate is a false positive if anybody is accepted. TPIR@FPIR=x is therefore
    TPR@FPR=x of one level for each probe: that of its mate, missing if the mate is not first, or that of the first
    person for a probe without a mate. Where a mate ties for the first place, it is first in the luckiest order, and is
    not in the worst.
    """

    mate: Int64  # (n_probe,)
    other: Int64  # (n_probe,)
    profile: TieProfile  # a query for each probe
    n_level: int

    @classmethod
    def of_pairs(cls, level: Int64, positive: Bool, ids: Int64, n_level: int) -> Search:
        """Order pairs by probe and person; each probe must be compared with everybody, once."""
        person, probe = ids.T
        order, n_probe = np.lexsort((person, probe)), len(np.unique(probe))
        people = person[order].reshape(n_probe, -1) if len(person) % n_probe == 0 else person[None, :0]
        complete = people.size and (people == people[0]).all() and (np.diff(people[0]) > 0).all()
        if not complete or (np.diff(probe[order].reshape(n_probe, -1)) != 0).any():
            rule = "compare each probe (the second of a pair) with every enrolled person (the first), once"
            raise InvalidValueError("pairs", f"must {rule}, for {RANK}k and {TPIR}x")
        levels, mates = (each[order].reshape(n_probe, -1) for each in (level, positive))
        mate, other = (np.where(kept, levels, n_level).min(axis=1) for kept in (mates, ~mates))
        return cls(mate, other, from_scores(n_level - levels, mates, threads=1).profile, n_level)

    def measured(self, name: str, weight: Int64 | None = None) -> tuple[Triple[float], int | None] | None:
        """Return a measure of the probes, and the last level that its threshold accepts; None where it is undefined."""
        mated = self.mate < self.n_level
        weight = np.ones(len(mated), dtype=np.int64) if weight is None else weight
        if name.startswith(RANK):
            if not weight[mated].any():
                return None
            values = measure_values.per_query(self.profile, f"Hit@{name.removeprefix(RANK)}")
            return exact_means(Triple(*(np.repeat(end, weight) for end in values))), None
        if not (weight[mated].any() and weight[~mated].any()):
            return None
        (worst, group), (best, _) = (self._at(number_of(name), first, weight) for first in (False, True))
        lower, upper = worst.lower, best.upper
        return Triple(lower, lower if lower == upper else np.nan, upper), group

    def _at(self, rate: float, tied_first: bool, weight: Int64) -> tuple[Triple[float], int | None]:
        """Return the measure where mates that tie for the first place are first, or are not."""
        mated = self.mate < self.n_level
        first = mated & ((self.mate <= self.other) if tied_first else (self.mate < self.other))
        relevant, irrelevant = (
            np.bincount(levels[kept], weight[kept], self.n_level).astype(np.int64)
            for levels, kept in ((self.mate, first), (self.other, ~mated))
        )
        accepted = Accepted.of(relevant, irrelevant, int(weight[mated & ~first].sum()))
        return measured(accepted, f"{AT_FPR}{rate!r}", lambda _: 0)
