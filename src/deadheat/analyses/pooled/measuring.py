"""Measures of a pooled ranking: in comes its tie profile, out go lower, expected, upper and the best threshold.

A threshold accepts whole tie groups. A sort that breaks ties can also stop inside one, and does best behind the
relevant items of a group if these come first. Of a group of l tied items, m of them relevant, behind k with n relevant:

    at its threshold       n + m accepted relevant, (k - n) + (l - m) accepted irrelevant items
    best place inside it   n + m                    (k - n)

The worst order (irrelevant items first in each group) allows no more than thresholds do, so the value at a threshold is
the worst over all orders. A measure of thresholds is a goal, a function of these two counts to be maximised.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.measures import values as measure_values
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.triple import Triple

Goal = Callable[[Int64, Int64, int, int], Any]  # of accepted relevant and irrelevant items, and of all of either


GROUPED_AP, _AT_FPR = "AP (scikit-learn)", "TPR@FPR="
_GOALS: dict[str, Goal] = {
    "EER": lambda hits, false, relevant, irrelevant: -np.maximum(false / irrelevant, (relevant - hits) / relevant),
    "best F1": lambda hits, false, relevant, irrelevant: 2 * hits / (hits + false + relevant),
    "best accuracy": lambda hits, false, relevant, irrelevant: (hits + irrelevant - false) / (relevant + irrelevant),
}
NAMES = ("AP", GROUPED_AP, "AUC", f"{_AT_FPR}0.01", *_GOALS)
_ALIASES = {"roc auc": "AUC", "\N{MICRO SIGN}ap": "AP", "\N{GREEK SMALL LETTER MU}ap": "AP"}


def named(name: str) -> str:
    """The name of a measure as it is shown.

    Examples
    --------
    >>> named("ROC AUC"), named("TPR@FPR=1e-2")
    ('AUC', 'TPR@FPR=0.01')
    """
    if not (isinstance(name, str) and name.startswith(_AT_FPR)):
        return checks.choice(name, (*NAMES, f"{_AT_FPR}x"), "measure", _ALIASES)
    text = name.removeprefix(_AT_FPR)
    if not re.fullmatch(r"[0-9]*\.?[0-9]+(e-?[0-9]+)?", text) or float(text) > 1:
        raise InvalidValueError("measure", f"must have a rate from 0 to 1 behind {_AT_FPR}, but is {name!r}")
    return f"{_AT_FPR}{float(text)!r}"


def measured(profile: TieProfile, name: str) -> tuple[Triple[float], int | None]:
    """A measure of a profile of one query with both classes, and the last group that its best threshold accepts.

    That is -1 if it accepts none, and None for a measure without a threshold.

    Examples
    --------
    Two positives tie behind a negative. Every order has AP 7/12, which scikit-learn's 2/3 is not:

    >>> profile = TieProfile.from_groups([[(1, 0, 2, 2)]], n_ranked=[3])
    >>> [round(measured(profile, name)[0].expected, 4) for name in ("AP", "AP (scikit-learn)")]
    [0.5833, 0.6667]
    """
    if name in ("AP", "AUC"):
        return Triple(*(float(end[0]) for end in measure_values.per_query(profile, name))), None
    hits = profile.closer_relevant + profile.tied_relevant
    false, inside = profile.closer + profile.tied - hits, profile.closer - profile.closer_relevant
    if name == GROUPED_AP:  # the precision at each threshold, times the recall gained there
        grouped = math.fsum(profile.tied_relevant * (hits / (hits + false))) / int(profile.n_relevant[0])
        return Triple(grouped, grouped, grouped), None
    (lower, group), (upper, _) = (_optimum(profile, _goal(name), hits, accepted) for accepted in (false, inside))
    if name == "EER":
        lower, upper = 0.0 - upper, 0.0 - lower
    return Triple(lower, lower if lower == upper else math.nan, upper), group


def n_irrelevant(profile: TieProfile) -> int:
    """How many ranked items of a profile of one query are irrelevant."""
    return int(profile.n_ranked[0] - profile.tied_relevant.sum())


def _goal(name: str) -> Goal:
    if name in _GOALS:
        return _GOALS[name]
    fpr = float(name.removeprefix(_AT_FPR))
    return lambda hits, false, relevant, irrelevant: np.where(false / irrelevant <= fpr, hits / relevant, 0.0)


def _optimum(profile: TieProfile, goal: Goal, hits: Int64, false: Int64) -> tuple[float, int]:
    """The largest value behind any group, or where nothing is accepted, and the first group that has it, or -1."""
    hits, false = np.append(0, hits), np.append(0, false)
    values = goal(hits, false, int(profile.n_relevant[0]), n_irrelevant(profile))
    best = int(np.argmax(values))
    return float(values[best]), best - 1
