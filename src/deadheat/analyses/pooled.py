"""Measures of one pooled ranking: items with a score and a label, accepted or not by one threshold.

In come scores and labels, or pairs of embeddings and their labels; out goes a `Classification`.

A threshold accepts whole tie groups. A sort that breaks ties can also stop inside one, and does best right behind its
relevant items if these come first. Of a group of l tied items, m of them relevant, behind k with n relevant:

    at its threshold       n + m accepted relevant, (k - n) + (l - m) accepted irrelevant items
    best place inside it   n + m                    (k - n)

The worst order (irrelevant items first in each group) allows no more than thresholds do, so the value at a threshold is
the worst over all orders. A measure of thresholds is a goal, a function of these two counts to be maximised.

Pairs of embeddings are ranked by their exact closeness. Equal pairs are counted once. Float64 with a proven error bound
decides nearly all others; pairs whose intervals overlap form runs, and are compared as exact numbers with a pivot of
their run, until only ties are left.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.influences import influences
from deadheat.engine import exact
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Distance
from deadheat.engine.exact import Roots
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.keyed import keys_of
from deadheat.engine.sources.scores import from_scores
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import EmbeddingsLike
from deadheat.measures import values as measure_values
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.statistics.intervals import NOTHING, Intervals, class_sums, percentiles
from deadheat.reports.statistics.settings import StatisticsSettings
from deadheat.reports.tables import count, notebook_row
from deadheat.reports.unit_values import UnitValues
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64, slices
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple

Goal = Callable[[Int64, Int64, int, int], Any]  # of accepted relevant and irrelevant items, and of all of either


GROUPED_AP, _AT_FPR, _AT_FMR = "AP (scikit-learn)", "TPR@FPR=", "FNMR@FMR="
_AT_RATE = {  # other spellings, in lower case
    **dict.fromkeys(("tpr@fpr", "tar@far", "tmr@fmr", "gar@far"), _AT_FPR),
    **dict.fromkeys(("fnmr@fmr", "fnr@fpr", "frr@far"), _AT_FMR),
}
_GOALS: dict[str, Goal] = {
    "EER": lambda hits, false, relevant, irrelevant: -np.maximum(false / irrelevant, (relevant - hits) / relevant),
    "best F1": lambda hits, false, relevant, irrelevant: 2 * hits / (hits + false + relevant),
    "best accuracy": lambda hits, false, relevant, irrelevant: (hits + irrelevant - false) / (relevant + irrelevant),
}
NAMES = ("AP", GROUPED_AP, "AUC", f"{_AT_FPR}0.01", *_GOALS)
_ALIASES = {
    **{name.lower(): name for name in NAMES},
    **dict.fromkeys(("roc auc", "roc_auc", "roc-auc", "auroc"), "AUC"),
    **dict.fromkeys(
        ("average precision", "average_precision", "\N{MICRO SIGN}ap", "\N{GREEK SMALL LETTER MU}ap"), "AP"
    ),
}
_SPELLINGS = (  # of the negative and the positive class, in lower case; first 0 and 1, as the others are numbers then
    ("0", "1"), ("0.0", "1.0"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("negative", "positive"),
    ("nontarget", "target"), ("impostor", "genuine"), ("different", "same"),
)  # fmt: skip


def named(name: str) -> str:
    """Return the canonical name of a measure.

    Examples
    --------
    >>> named("AUROC"), named("eer"), named("TPR@FPR=1e-2"), named("TAR@FAR=1e-2"), named("FRR@FAR=.1")
    ('AUC', 'EER', 'TPR@FPR=0.01', 'TPR@FPR=0.01', 'FNMR@FMR=0.1')
    """
    rates, equals, text = name.partition("=") if isinstance(name, str) else ("", "", "")
    base = _AT_RATE.get(rates.strip().lower())
    if base is None:
        return checks.choice(name, (*NAMES, f"{_AT_FPR}x", f"{_AT_FMR}x"), "measure", _ALIASES)
    if not equals or not re.fullmatch(r"[0-9]*\.?[0-9]+(e-?[0-9]+)?", text.strip()) or float(text) > 1:
        raise InvalidValueError("measure", f"must have a rate from 0 to 1 behind {rates.strip()}=, but is {name!r}")
    return f"{base}{float(text)!r}"


def measured(profile: TieProfile, name: str) -> tuple[Triple[float], int | None]:
    """Return a measure of a one-query profile with both classes, and the last group that its best threshold accepts.

    The group is -1 if it accepts none, and None for a measure without a threshold.
    """
    if name in ("AP", "AUC"):
        return Triple(*(float(end[0]) for end in measure_values.per_query(profile, name))), None
    hits = profile.closer_relevant + profile.tied_relevant
    false, inside = profile.closer + profile.tied - hits, profile.closer - profile.closer_relevant
    if name == GROUPED_AP:  # the precision at each threshold, times the recall gained there
        grouped = math.fsum(profile.tied_relevant * (hits / (hits + false))) / int(profile.n_relevant[0])
        return Triple(grouped, grouped, grouped), None
    (lower, group), (upper, _) = (_optimum(profile, name, hits, accepted) for accepted in (false, inside))
    if name == "EER" or name.startswith(_AT_FMR):
        lower, upper = 0.0 - upper, 0.0 - lower
    return Triple(lower, lower if lower == upper else math.nan, upper), group


def n_irrelevant(profile: TieProfile) -> int:
    """Count the ranked items of a one-query profile that are irrelevant."""
    return int(profile.n_ranked[0] - profile.tied_relevant.sum())


def _optimum(profile: TieProfile, name: str, hits: Int64, false: Int64) -> tuple[float, int]:
    """Return the largest value behind any group, or with nothing accepted, and the first group that has it, or -1."""
    hits, false = np.append(0, hits), np.append(0, false)
    relevant, irrelevant = int(profile.n_relevant[0]), n_irrelevant(profile)
    if name in _GOALS:
        values = _GOALS[name](hits, false, relevant, irrelevant)
    else:
        accepted = false / irrelevant <= _rate(name)
        rates = hits / relevant if name.startswith(_AT_FPR) else (hits - relevant) / relevant
        values = np.where(accepted, rates, rates[0])  # as where nothing is accepted, which every rate allows
    best = int(np.argmax(values))
    return float(values[best]), best - 1


def _rate(name: str) -> float:
    """Return the rate in the name of a measure, such as TPR@FPR=0.01."""
    return float(name.partition("=")[2])


_AT_ONCE = 1 << 15  # pairs


def ranks_of_pairs(metric: Distance, pairs: Int64) -> tuple[Int64, Float64]:
    """Return the rank of each pair, (n_pair,), 0 for the farthest and equal for ties, and the closeness of each rank.

    The closeness is rounded down, so that a threshold there accepts the pairs of the rank.
    """
    columns = np.sort(metric.columns.column_of_item[pairs], axis=1)
    distinct, pair = np.unique(columns, axis=0, return_inverse=True)
    left, right = metric.columns.item_of_column[distinct[:, 0]], np.ascontiguousarray(distinct[:, 1])
    low, high = np.concatenate([_bounds(metric, left[some], right[some]) for some in slices(len(left), _AT_ONCE)], 1)
    order = np.argsort(low)
    starts = np.append(True, low[order][1:] > np.maximum.accumulate(high[order])[:-1])  # of runs that overlap
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(starts) - 1
    shared = np.flatnonzero(np.bincount(run)[run] > 1)
    run *= len(run)
    if len(shared):
        run[shared] += _ranks_in_runs(metric.exact_closeness(left[shared], right[shared]), run[shared])
    _, first, rank = np.unique(run, return_index=True, return_inverse=True)
    closeness = metric.exact_closeness(left[first], right[first])
    return rank[pair.ravel()], exact.round_down(closeness, low[first], high[first])


def _bounds(metric: Distance, left: Int64, right: Int64) -> tuple[Float64, Float64]:
    score = metric.scores.pair_scores(left, right)
    known = metric.exact_values(score)
    bound = 0.0 if known is not None else metric.scores.pair_bounds(left, right, score)
    return (known, known) if known is not None else metric.closeness(left, score - bound, score + bound)


def _ranks_in_runs(roots: Roots, run: Int64) -> Int64:
    """Rank numbers by run and by size in each, equal for equal numbers: a quicksort of all runs at once."""
    rank, left = run, np.arange(len(run))
    while len(left):
        _, group, size = np.unique(rank[left], return_inverse=True, return_counts=True)
        pivot = left[np.argsort(group, kind="stable")[np.cumsum(size) - size // 2 - 1]]
        step = np.zeros(len(rank), dtype=np.int64)
        step[left] = order = roots.compare(left, roots, pivot[group])
        rank, left = np.unique(3 * rank + step, return_inverse=True)[1], left[order != 0]
    return rank


@dataclass(frozen=True)
class PooledValue:
    """A measure of one pooled ranking.

    Attributes
    ----------
    lower, expected, upper : float
        Over all ways to break the ties, as fractions in [0, 1].
    threshold : float, int or None
        The last score that is accepted, an integer where float64 does not hold it; infinite if none is. None for a
        measure without a threshold.
    """

    name: str
    lower: float
    expected: float
    upper: float
    threshold: float | int | None

    def _repr_html_(self) -> str:
        return notebook_row(self.name, self, [f"Threshold: {_threshold(self.threshold)}."])


@dataclass(frozen=True, eq=False)
class Classification(Answer):
    """Measures of one pooled ranking by name: ``result["AP"].lower``.

    | name | value |
    |---|---|
    | ``AP`` | mean precision at the positives; µAP where the pairs of all queries are pooled |
    | ``AP (scikit-learn)`` | precision at each threshold times the recall gained there, summed |
    | ``AUC`` | share of (positive, negative) pairs in the right order: the area under the ROC curve |
    | ``TPR@FPR=x`` | the largest true positive rate where the false positive rate is at most x; TAR@FAR |
    | ``FNMR@FMR=x`` | an error: 1 - TPR@FPR=x, the least share of positives that is rejected; also FRR@FAR, FNR@FPR |
    | ``EER`` | the least e such that neither error rate is above e (equal error rate) |
    | ``best F1``, ``best accuracy`` | the largest of any threshold; one may accept nothing |

    **Ties:** `lower`, `expected` and `upper` are over all orders of each group of equal scores. A threshold accepts
    such a group as a whole or not at all; a sort that stops inside it reports a value that no threshold reaches.
    Thresholds reach `lower` of TPR@FPR, best F1 and best accuracy, and `upper` of the errors EER and FNMR@FMR; the
    other bound is that of the luckiest order. AP (scikit-learn) has one value: it takes the precision behind a group
    for all of its positives, which is never less than `lower` of AP, and may be more than any order has.

    **Undefined:** `expected` is NaN for a measure of thresholds that ties change.

    Attributes
    ----------
    profile : TieProfile
        Of one query, for `deadheat.precision_recall` and `deadheat.evaluate`.
    measures : tuple of str
        The measures in the table; others may be asked for by name.
    """

    profile: TieProfile = field(repr=False)
    measures: tuple[str, ...]
    _levels: NDArray[Any] = field(repr=False)  # (n_group,), the score of each group
    _keys: Int64 = field(repr=False)  # (n,), the highest is the best
    _positive: Bool = field(repr=False)
    _groups: Int64 | None = field(repr=False)
    _none: float = field(repr=False)  # the threshold that accepts nothing

    def __getitem__(self, name: str) -> PooledValue:
        (lower, expected, upper), group = measured(self.profile, named(name))
        threshold = None if group is None else self._none if group < 0 else _exactly(self._levels[group])
        return PooledValue(named(name), lower, expected, upper, threshold)

    @property
    def n_positive(self) -> int:
        """Number of positives, including those without a score."""
        return int(self.profile.n_relevant[0])

    @property
    def n_negative(self) -> int:
        return n_irrelevant(self.profile)

    @property
    def _n_missing(self) -> int:
        return self.n_positive - int(np.count_nonzero(self._positive))

    def interval(
        self, measure: str, *, confidence_level: float = 0.95, n_resamples: int = 999, seed: int = 0
    ) -> Intervals:
        """Return percentile bootstrap intervals for lower, expected and upper, by resampling items or whole groups.

        Parameters
        ----------
        measure : str
        confidence_level : float
            Strictly between 0 and 1.
        n_resamples, seed : int
            The number of resamples, and the seed of the random numbers.

        Returns
        -------
        Intervals
            `unit` is ``"item"`` or ``"group"``. **Ties:** items that tie do so in every resample; a best threshold is
            chosen anew in each. **Undefined:** NaN where the value is. Resamples of one class only are left out.

        Examples
        --------
        >>> from deadheat import classification
        >>> found = classification([3, 2, 2, 1] * 9, [1, 1, 0, 0] * 9)
        >>> print(found.interval("AUC"))
        lower     [55.55, 89.21]
        expected  [77.77, 94.61]
        upper     [100.00, 100.00]
        95 % intervals (%): percentile, over 36 items.
        """
        name, settings = named(measure), StatisticsSettings(confidence_level, "percentile", n_resamples, seed)
        level = settings.confidence_level
        units = self._units()
        rng, n, values = np.random.default_rng(settings.seed), len(units), []
        for _ in range(settings.n_resamples):
            drawn = rng.integers(0, n, n)
            items = units[drawn] if isinstance(units, np.ndarray) else np.concatenate([units[i] for i in drawn])
            scored = items[items < len(self._keys)]
            keys, positive = self._keys[scored], self._positive[scored]
            if positive.any() and not positive.all():
                profile = from_scores(keys[None], positive[None], threads=1).profile
                profile = replace(profile, n_relevant=profile.n_relevant + len(items) - len(scored))
                values.append(measured(profile, name)[0])
        lower, expected, upper = percentiles(np.array(values).T, level) if n > 1 and values else [NOTHING] * 3
        unit = "item" if self._groups is None else "group"
        return Intervals(lower, expected, upper, level, settings.method, n, unit)

    def _unit_values(self) -> UnitValues:
        """Return the value of each item in AP and AUC, for `deadheat.compare`: see `influences`."""
        if self._n_missing or min(self.n_positive, self.n_negative) < 2:
            rule = "must have two items of each class, and a score for each positive, to be compared"
            raise InvalidValueError("classification", rule)
        known, n, m = ("AP", "AUC"), len(self._keys), self.n_positive
        shown = tuple(name for name in self.measures if name in known)
        settings = {"labels": hashlib.sha256(self._positive.tobytes()).hexdigest()[:12]}

        def values(name: str) -> Triple[Float64]:
            return influences(self._keys, self._positive, name)

        def most(name: str) -> float:
            """Return the largest change of AUC by a unit, or of this measure by one that was drawn, over its items."""
            rows = np.stack([np.where(self._positive, n / m, n / (n - m)), *(row - row.mean() for row in values(name))])
            units = np.arange(n) if self._groups is None else self._groups
            sums, sizes = class_sums(rows, units)
            return float(np.abs(sums).max() / sizes.mean())

        return UnitValues(values, shown, n, known, settings, "item", self._groups, _most=most)

    def _units(self) -> Int64 | list[Int64]:
        """Return the items of each unit, in a canonical order; those without a score have the last numbers."""
        if self._groups is not None:
            order = np.argsort(self._groups, kind="stable")
            return np.split(order, np.flatnonzero(np.diff(self._groups[order])) + 1)
        order = np.lexsort((self._positive, self._keys))
        return np.append(order, np.arange(len(order), len(order) + self._n_missing))

    def panels(self) -> list[Panel]:
        """Return one table, a row for each measure, with its threshold as it is; in data it is NaN where infinite."""
        values = [self[name] for name in self.measures]
        limits = [math.nan if each.threshold is None or math.isinf(each.threshold) else each.threshold
                  for each in values]  # fmt: skip
        return [Panel([
            Column("measure", self.measures, "measure"),
            Column("", values, "fraction", shape="bounds"),
            Column("threshold", [_threshold(each.threshold) for each in values], only="table"),
            Column("threshold", limits, "number", only="data"),
        ])]  # fmt: skip

    def notes(self) -> list[str]:
        """Return notes on the numbers of items, the ties of both classes, and the meaning of the bounds."""
        unscored = f" ({self._n_missing} without a score)" if self._n_missing else ""
        notes = [
            f"{count(self.n_positive, 'positive', 'positives')}{unscored}, "
            f"{count(self.n_negative, 'negative', 'negatives')}, {len(np.unique(self._keys))} distinct scores."
        ]
        ties = self.profile.ties
        if ties.mixed_groups:
            groups = count(ties.mixed_groups, "group", "groups")
            notes.append(f"Ties of positives and negatives: {groups}, the largest of {ties.largest} items.")
            notes.append("Thresholds have the lower value, or the upper EER; the other bound cuts inside a tie.")
        if GROUPED_AP in self.measures and self[GROUPED_AP].upper > self["AP"].upper:
            notes.append(f"{GROUPED_AP} is above what any order of the ties has.")
        return [*notes, *self.remarks]

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on rates that the number of negatives does not resolve."""
        finest = 1 / self.n_negative
        below = [name for name in self.measures if name.startswith((_AT_FPR, _AT_FMR)) and 0 < _rate(name) < finest]
        says = f"{count(self.n_negative, 'negative resolves', 'negatives resolve')} a rate of {finest:.2g} and more"
        return tuple(f"{says}: {name} is the value at a rate of 0." for name in below)

    def facts(self) -> dict[str, Any]:
        about = self._facts_of("n_positive", "n_negative", "remarks")
        return about | {"profile": self.profile.digest(), "ties": self.profile.ties._asdict()}


def _threshold(value: float | int | None) -> str:
    return "-" if value is None else "none accepted" if math.isinf(value) else f"{value:.6g}"


@plain_floats
def classification(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    order: Literal["descending", "ascending"] = "descending",
    n_positive: int | None = None,
    measures: str | Iterable[str] = NAMES,
) -> Classification:
    """Measure scores of positives and negatives as one ranking: AP, AUC, and the best values of thresholds.

    For binary and pair classification, verification, and copy detection, where the pairs of all queries are pooled.

    Parameters
    ----------
    scores : (n,) array of floats, integers or bool
        Finite numbers, compared as they are given.
    labels : (n,) array of bool, of integers 0 and 1, or of strings
        True or 1 for a positive; both classes must occur. Of strings: "1" and "0", "True" and "False", "yes" and "no",
        "target" and "nontarget", "genuine" and "impostor", in any case. For others, compare: ``labels == "cat"``.
    groups : (n,) array of integers or strings, optional
        Whole groups are the units of `Classification.interval`, such as the pairs of one person; by default each item.
    order : {"descending", "ascending"}
        The order from the best score on: the best is the highest or, as for distances, the lowest.
    n_positive : int, optional
        The number of all positives, if some have no score because they were not returned: they rank behind all others,
        as in µAP [3]_.
    measures : str or iterable of str
        The measures in the table; `Classification` lists the names.

    Returns
    -------
    Classification
        **Ties:** lower, expected and upper over all orders of equal scores; no threshold lies inside a tie.

    Notes
    -----
    AP is the mean precision at the positives. Nothing is interpolated: straight lines between the points of a
    precision-recall curve are optimistic [1]_, and tools that draw different ones rank classifiers differently [2]_.

    References
    ----------
    .. [1] Davis, Goadrich 2006, The relationship between precision-recall and ROC curves.
    .. [2] Chen et al. 2024, Commonly used software tools produce conflicting and overly-optimistic AUPRC values, Genome
       Biology 25:118.
    .. [3] Douze et al. 2021, The 2021 image similarity dataset and challenge, arXiv:2106.09672.

    Examples
    --------
    A negative in front of two positives that tie. Every order has AP (1/2 + 2/3)/2 = 7/12:

    >>> print(classification([2, 1, 1], [0, 1, 1], measures=["AP", "AP (scikit-learn)", "best F1"]))
    measure (%)        value  threshold
    AP                 58.33          -
    AP (scikit-learn)  66.67          -
    best F1            80.00          1
    <BLANKLINE>
    2 positives, 1 negative, 2 distinct scores.
    AP (scikit-learn) is above what any order of the ties has.
    """
    checks.choice(order, ("descending", "ascending"), "order")
    numbers = conversion.plain(scores, "scores", unmasked="leave items out of all arguments")
    if numbers.ndim != 1:
        raise InvalidValueError("scores", f"must be one-dimensional (n,), but has shape {numbers.shape}")
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        entry = int(np.argmin(np.isfinite(numbers)))
        raise InvalidValueError("scores", f"must be finite, but holds {numbers[entry]} in entry {entry}")
    positive = classes(labels, len(numbers), "labels", "score")
    names = _names(measures)
    own = None if groups is None else input_labels.labels(groups, len(numbers), "groups", "scores")
    codes = None if own is None else input_labels.label_codes(own)[0]
    profile, keys = from_scores(numbers[None], positive[None], order=order).profile, keys_of(numbers, order)
    if n_positive is not None:
        if groups is not None:
            raise InvalidValueError("groups", "must be left out with n_positive: items without a score have no group")
        n_all = checks.whole_number(n_positive, "n_positive", int(np.count_nonzero(positive)), 2**62)
        profile = replace(profile, n_relevant=np.array([n_all]))
    levels = np.unique(numbers[positive])[:: -1 if order == "descending" else 1]
    nothing = np.inf if order == "descending" else -np.inf
    return Classification(profile, names, levels, keys, positive, codes, nothing)


@plain_floats
def pair_classification(
    embeddings: EmbeddingsLike,
    pairs: ArrayLike,
    same: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    distance: DistanceName = "cosine",
    measures: str | Iterable[str] = NAMES,
) -> Classification:
    """Measure pairs of embeddings, of which those of the same class should be closer: verification.

    Parameters
    ----------
    embeddings : (n, dim) array, path or list of paths
        In any form that `deadheat.Task` takes.
    pairs : (n_pair, 2) array of integers
        Two rows of the embeddings for each pair, counted from 0.
    same : (n_pair,) array of bool, or of integers 0 and 1
        True or 1 for a positive pair.
    groups : (n_pair,) array of integers or strings, optional
        Whole groups are the units of `Classification.interval`, such as the pairs of one person; by default each pair.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them, such as "l2", "l1" or "dot". Hamming takes codes, as `Task` does.
    measures : str or iterable of str
        The measures in the table; `Classification` lists the names.

    Returns
    -------
    Classification
        Thresholds are similarities or minus distances, rounded down to float64, so that each accepts the pairs of that
        closeness. **Ties:** pairs tie where their closeness is equal as a real number; no rounded value decides.

    Examples
    --------
    The cosines of the first two pairs are 2/√5, whatever rounding makes of them:

    >>> found = pair_classification([[1, 0], [2, 1], [0, 3], [3, 6]], [[0, 1], [2, 3], [0, 3]], [1, 0, 0])
    >>> found["AP"].lower, found["AP"].expected, found["AP"].upper
    (0.5, 0.75, 1.0)
    """
    metric = distance_registry.make(distance_registry.named(distance), embeddings, None, exact_only=False).measuring()
    rows = conversion.plain(pairs, "pairs")
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InvalidValueError("pairs", f"must have shape (n_pair, 2), but has shape {rows.shape}")
    if rows.dtype.kind not in "iu":
        raise InvalidTypeError("pairs", f"must hold integers, but has dtype {rows.dtype}")
    odd = rows[(rows < 0) | (rows >= metric.n_gallery)]
    if len(odd):
        raise InvalidValueError("pairs", f"must hold rows from 0 to {metric.n_gallery - 1}, but holds {odd[0]}")
    positive = classes(same, len(rows), "same", "pair")
    ranks, closeness = ranks_of_pairs(metric, rows.astype(np.int64))
    result = classification(ranks, positive, groups, measures=measures)
    return replace(result, _levels=closeness[np.unique(ranks[positive])[::-1]])


def _names(measures: Any) -> tuple[str, ...]:
    text = isinstance(measures, str)
    listed = measures.split(",") if text else checks.listed(measures, "measures", "names of measures")
    return tuple(dict.fromkeys(named(each.strip() if text else each) for each in listed))


def _exactly(level: Any) -> float | int:
    """Return a score as a float, or as an integer where float64 does not hold it."""
    number = level.item()
    return number if isinstance(number, int) and float(number) != number else float(number)


def classes(labels: ArrayLike, n: int, name: str, what: str) -> Bool:
    """Return which items are positive; both classes must occur, in a spelling that is known."""
    array = conversion.plain(labels, name)
    if array.shape != (n,):
        raise InvalidValueError(name, f"must have one entry per {what}, but has shape {array.shape} for {n}")
    if array.dtype.kind in "OUT" and all(isinstance(each, str) for each in array.tolist()):
        array = _from_text(array.tolist(), name)
    if array.dtype.kind not in "biuf":
        raise InvalidTypeError(name, f"must be bool, or integers 0 and 1, but has dtype {array.dtype}")
    if set(values := np.unique(array).tolist()) != {0, 1}:
        raise InvalidValueError(name, f"must hold 0 and 1 (or False and True), and both, but holds {values}"[:200])
    return array.astype(np.bool_)


def _from_text(cells: list[str], name: str) -> Bool:
    """Return the items that text calls positive, by the spellings that are known."""
    lower = {cell.strip().lower() for cell in cells}
    for negative, positive in _SPELLINGS:
        if lower == {negative, positive}:
            return np.array([cell.strip().lower() == positive for cell in cells])
    rule = f"must hold two classes in a known spelling, such as 0 and 1, but holds {checks.few(sorted(set(cells)))}"
    raise InvalidValueError(name, f"{rule}; say which is positive: labels == 'cat'")
