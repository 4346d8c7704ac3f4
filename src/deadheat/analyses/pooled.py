"""Measures of one pooled ranking: items with a score and a label, accepted or not by one threshold.

In come scores and labels, pairs of embeddings and their labels, or trials; out goes a `Classification`.

    pairs ──ranks_of_pairs──> ranks ─┐
    scores ──────────────────────────┴─> levels of equal scores ──> `Accepted` ──thresholds──> lower, expected, upper
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.folds import Folds, fold_numbers, folds_of
from deadheat.analyses.influences import influences
from deadheat.analyses.pairs import IdPairs, Templates, of_people, ranks_of_pairs, rows_of_ids, templates_of
from deadheat.analyses.thresholds import (
    GROUPED_AP,
    NAMES,
    RANK,
    TPIR,
    Accepted,
    Search,
    has_rate,
    measured,
    named,
    names_in,
    number_of,
)
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.scores import from_scores
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.inputs.files import is_path
from deadheat.inputs.labels import joined, label_codes
from deadheat.inputs.labels import labels as checked_labels
from deadheat.inputs.samples import EmbeddingsLike
from deadheat.inputs.trials import Trials, classes, groups_of, read_trials, trials_of
from deadheat.reports.answer import Answer, Column, Panel, notebook_row
from deadheat.reports.statistics.intervals import NOTHING, Intervals, about_few, class_sums, percentiles
from deadheat.reports.statistics.settings import StatisticsSettings
from deadheat.reports.tables import count
from deadheat.reports.unit_values import UnitValues
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.caching import cached_property
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple


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
    | ``FPR@TPR=x`` | an error: the least false positive rate where the true positive rate is at least x; FPR95 |
    | ``pAUC@FPR=x`` | area under the ROC curve up to x, divided by x; with ``(McClish)`` as scikit-learn scales it |
    | ``best F1``, ``best accuracy`` | the largest of any threshold; one may accept nothing |
    | ``minDCF(p=0.01, miss=1, fa=1)`` | an error: least detection cost of any threshold, normalised as NIST does |
    | ``accuracy@threshold=x`` | at a given threshold; also F1, TPR and FPR |
    | ``rank-1``, ``rank-k`` | 1:N: share of the probes with a mate whose mate is among the first k people |
    | ``TPIR@FPIR=x`` | 1:N: share of them whose mate is first and accepted, with at most x of the others accepted |

    Detection cost: (C_miss p P_miss + C_fa (1 - p) P_fa) / min(C_miss p, C_fa (1 - p)), with the prior p of a target.
    In 1:N, each probe is the second of a pair, and is compared with every enrolled person, the first.

    **Ties:** `lower`, `expected` and `upper` are over all orders of each group of equal scores. A threshold accepts
    such a group as a whole or not at all; a sort that stops inside it reports a value that no threshold reaches.
    Thresholds reach `lower` of TPR@FPR, best F1 and best accuracy, and `upper` of the errors EER and FNMR@FMR; the
    other bound is that of the luckiest order. Detection cost and the measures at a given threshold are functions of
    the scores: they have one value. AP (scikit-learn) has one value: it takes the precision behind a group for all of
    its positives, which is never less than `lower` of AP, and may be more than any order has.

    **Undefined:** `expected` is NaN for a measure of thresholds that ties change; TPIR@FPIR is NaN without probes that
    have a mate, or without any that have none.

    Attributes
    ----------
    profile : TieProfile
        Of one query, for `deadheat.precision_recall` and `deadheat.evaluate`.
    measures : tuple of str
        The measures in the table; others may be asked for by name.
    """

    profile: TieProfile = field(repr=False)
    measures: tuple[str, ...]
    _levels: NDArray[Any] = field(repr=False)  # (n_level,), the distinct scores, the best first
    _level: Int64 = field(repr=False)  # (n,), of each item
    _positive: Bool = field(repr=False)
    _groups: Int64 | None = field(repr=False)  # (n, 1), or (n, 2): the subjects of the first and second of each pair
    _none: float = field(repr=False)  # the threshold that accepts nothing
    _ids: Int64 | None = field(default=None, repr=False)  # (n, 2), the first and second of each pair
    _folds: Int64 | None = field(default=None, repr=False)

    def __getitem__(self, name: str) -> PooledValue:
        name = named(name)
        values = self._measured(name)
        (lower, expected, upper), group = values or (Triple(*3 * [math.nan]), None)
        return PooledValue(name, lower, expected, upper, None if group is None else self._thresholds[group + 1])

    @cached_property
    def _thresholds(self) -> list[float | int]:
        return [self._none, *map(_exactly, self._levels)]

    def _measured(self, name: str, weight: Int64 | None = None, n_missing: int | None = None) -> Any:
        """Return a measure with weights of the items (of probes, in 1:N), and its group; None if a class is missing."""
        if name.startswith((RANK, TPIR)):
            return self._search.measured(name, weight)
        relevant, irrelevant = (
            np.bincount(self._level[kept], None if weight is None else weight[kept], len(self._levels)).astype(np.int64)
            for kept in (self._positive, ~self._positive)
        )
        accepted = Accepted.of(relevant, irrelevant, self._n_missing if n_missing is None else n_missing)
        if not (accepted.hits[-1] and accepted.n_irrelevant):
            return None
        return measured(accepted, name, self._n_accepted)

    @cached_property
    def _search(self) -> Search:
        if self._ids is None:
            rule = "must be a measure of scores; rank-k and TPIR@FPIR are of pairs by id, or of a matrix of scores"
            raise InvalidValueError("measure", rule)
        return Search.of_pairs(self._level, self._positive, self._ids, len(self._levels))

    def _n_accepted(self, threshold: float) -> int:
        """Count the levels that a threshold accepts; integers are compared as integers."""
        levels, up = self._levels, self._none > 0
        limit: Any = threshold
        if levels.dtype.kind in "iu" and math.isfinite(threshold):
            limit = math.ceil(threshold) if up else math.floor(threshold)
        return int(np.count_nonzero(levels >= limit if up else levels <= limit))

    @property
    def n_positive(self) -> int:
        """Number of positives, including those without a score."""
        return int(self.profile.n_relevant[0])

    @property
    def n_negative(self) -> int:
        return len(self._positive) - int(np.count_nonzero(self._positive))

    @property
    def _n_missing(self) -> int:
        return self.n_positive - int(np.count_nonzero(self._positive))

    def interval(
        self, measure: str, *, minus: Classification | None = None, confidence_level: float = 0.95,
        n_resamples: int = 999, seed: int = 0,
    ) -> Intervals:  # fmt: skip
        """Return percentile bootstrap intervals for lower, expected and upper, by resampling items, groups or subjects.

        Parameters
        ----------
        measure : str
        minus : Classification, optional
            Another system, on the same items in the same order: the intervals are those of the difference to it, with
            the same resamples of both. Its lower end is that of the worst case: lower minus the other's upper.
        confidence_level : float
            Strictly between 0 and 1.
        n_resamples, seed : int
            The number of resamples, and the seed of the random numbers.

        Returns
        -------
        Intervals
            `unit` is ``"item"``, ``"group"``, or ``"subject"`` where the subjects of both items of each pair are known,
            and for 1:N ``"probe"`` where they are not. **Ties:** items that tie do so in every resample; a best
            threshold is chosen anew in each. **Undefined:** NaN where the value is. Resamples of one class only are
            left out.

        Notes
        -----
        Pairs that share a person on either side are not independent. With subjects, those are drawn with replacement
        (the vertex bootstrap of [1]_): a pair of two subjects counts as often as the product of the numbers of times
        that each was drawn, a pair of one subject as often as this one was drawn. In 1:N, the subjects of the probes
        are drawn, and the enrolled people stay.

        References
        ----------
        .. [1] Fogliato, Patil, Perona 2024, Confidence intervals for error rates in 1:1 matching tasks, International
           Journal of Computer Vision; arXiv:2306.01198.

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
        of_probes, values = name.startswith((RANK, TPIR)), []
        if minus is not None:
            self._require_same_items(minus)
        n, unit = self._units(of_probes)
        for weight, n_missing in self._draws(of_probes, n, settings, self if minus is None else minus):
            both = [each._measured(name, weight, n_missing) for each in (self, minus) if each is not None]
            if None not in both:
                own, *other = (each[0] for each in both)
                values.append([x - y for x, y in zip(own, reversed(other[0]), strict=True)] if other else own)
        level = settings.confidence_level
        lower, expected, upper = percentiles(np.array(values).T, level) if n > 1 and values else [NOTHING] * 3
        return Intervals(lower, expected, upper, level, settings.method, n, unit, about_few(n, unit))

    def _unit_values(self) -> UnitValues:
        """Return the value of each item in AP and AUC, for `deadheat.compare`: see `influences`."""
        if self._n_missing or min(self.n_positive, self.n_negative) < 2:
            rule = "must have two items of each class, and a score for each positive, to be compared"
            raise InvalidValueError("classification", rule)
        if self._groups is not None and self._groups.shape[1] > 1:
            rule = "must be one for each item to be compared by a test, but are two; `interval(minus=)` takes both"
            raise InvalidValueError("groups", rule)
        groups = None if self._groups is None else self._groups[:, 0]
        known, n, m = ("AP", "AUC"), len(self._level), self.n_positive
        shown = tuple(name for name in self.measures if name in known)
        settings = {"labels": hashlib.sha256(self._positive.tobytes()).hexdigest()[:12]}

        def values(name: str) -> Triple[Float64]:
            return influences(-self._level, self._positive, name)

        def most(name: str) -> float:
            """Return the largest change of AUC by a unit, or of this measure by one that was drawn, over its items."""
            rows = np.stack([np.where(self._positive, n / m, n / (n - m)), *(row - row.mean() for row in values(name))])
            units = np.arange(n) if groups is None else groups
            sums, sizes = class_sums(rows, units)
            return float(np.abs(sums).max() / sizes.mean())

        return UnitValues(values, shown, n, known, settings, "item", groups, _most=most)

    def _require_same_items(self, other: Any) -> None:
        if not isinstance(other, Classification):
            raise InvalidTypeError("minus", f"must be a Classification, but is of type {type(other).__name__}")
        pairs = ((self._positive, other._positive), (self._groups, other._groups), (self._ids, other._ids))
        if self._n_missing != other._n_missing or not all(np.array_equal(*pair) for pair in pairs):
            rule = "must be of the same items in the same order, with the same labels and groups"
            raise InvalidValueError("minus", f"{rule}, but its own differ")

    def _units(self, of_probes: bool) -> tuple[int, str]:
        """Return the number and the kind of independent units; those of probes are of the second of each pair."""
        if self._groups is not None:
            of_units = self._groups[:, -1] if of_probes else self._groups
            return len(np.unique(of_units)), "group" if self._groups.shape[1] == 1 else "subject"
        return (len(self._search.mate), "probe") if of_probes else (len(self._level) + self._n_missing, "item")

    def _draws(
        self, of_probes: bool, n: int, settings: StatisticsSettings, other: Classification
    ) -> Iterator[tuple[Int64, int]]:
        """Yield how often each item counts in a resample, and those without a score; of units in a canonical order."""
        rng = np.random.default_rng(settings.seed)
        draws = (np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(settings.n_resamples))
        if of_probes:
            assert self._ids is not None
            _, first = np.unique(self._ids[:, 1], return_index=True)
            unit = np.arange(n) if self._groups is None else np.unique(self._groups[first, -1], return_inverse=True)[1]
            yield from ((drawn[unit], 0) for drawn in draws)
        elif self._groups is None:
            order = np.lexsort((self._positive, -other._level, -self._level))
            rank = np.argsort(order)
            yield from ((drawn[rank], int(drawn[len(order) :].sum())) for drawn in draws)
        else:
            first, last = self._groups[:, 0], self._groups[:, -1]
            yield from ((drawn[first] * np.where(first == last, 1, drawn[last]), 0) for drawn in draws)

    def folds(self, folds: Any = None) -> Folds:
        """Return the accuracy of each fold at the threshold that is the best for all other folds: LFW's protocol.

        Parameters
        ----------
        folds : int or (n,) array of integers or strings, optional
            The fold of each item, or a number of folds of consecutive items, the first ones one item larger if need be,
            as scikit-learn's KFold without shuffling. By default the folds of LFW's pairs.txt, or else 10.

        Returns
        -------
        Folds
            With `mean` and `standard_error` over folds. **Ties:** of thresholds that are equally good for the other
            folds the strictest is taken; `bounds` are over all of them.

        References
        ----------
        Huang et al. 2007, Labeled Faces in the Wild, technical report 07-49, University of Massachusetts, Amherst.

        Examples
        --------
        >>> from deadheat import classification
        >>> print(classification([4, 1, 3, 2, 5, 2], [1, 0, 1, 0, 1, 1]).folds(3))
        fold (%)  accuracy  lower   upper  threshold
        1           100.00  50.00  100.00          3
        2            50.00  50.00   50.00          2
        3            50.00  50.00   50.00          3
        <BLANKLINE>
        Accuracy 66.67 ± 16.67 %: mean and standard error of 3 folds.
        Other thresholds that are as good for the other folds have 50.00 to 66.67 %.
        """
        if self._n_missing:
            raise InvalidValueError("folds", "must have every positive, but some have no score and are in no fold")
        n = len(self._level)
        given = (10 if self._folds is None else self._folds + 1) if folds is None else folds
        names, numbers = fold_numbers(given, n)
        return folds_of(self._level, self._positive, numbers, names, self._thresholds)

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
            f"{count(self.n_negative, 'negative', 'negatives')}, {len(self._levels)} distinct scores."
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
        below = [name for name in self.measures if has_rate(name) and 0 < number_of(name) < finest]
        says = f"{count(self.n_negative, 'negative resolves', 'negatives resolve')} a rate of {finest:.2g} and more"
        return tuple(f"{says}: {name} is the value at a rate of 0." for name in below)

    def facts(self) -> dict[str, Any]:
        about = self._facts_of("n_positive", "n_negative", "remarks")
        return about | {"profile": self.profile.digest(), "ties": self.profile.ties._asdict()}


def _threshold(value: float | int | None) -> str:
    return "-" if value is None else "none accepted" if math.isinf(value) else f"{value:.6g}"


@plain_floats
def classification(
    scores: Any,
    labels: Any = None,
    groups: Any = None,
    *,
    order: Literal["descending", "ascending"] = "descending",
    n_positive: int | None = None,
    templates: Templates | None = None,
    measures: str | Iterable[str] = NAMES,
) -> Classification:
    """Measure scores of positives and negatives as one ranking: AP, AUC, and the best values of thresholds.

    For binary and pair classification, verification, identification, and copy detection, where the pairs of all queries
    are pooled.

    Parameters
    ----------
    scores : (n,) array of floats, integers or bool, (n_probe, n_gallery) matrix, or trials
        Finite numbers, compared as they are given. A matrix compares each probe with each enrolled person (1:N).
        Without labels, trials with a score: a file or rows, as `deadheat.pair_classification` takes them.
    labels : (n,) array of bool, of integers 0 and 1, or of strings, or a pair of label arrays
        True or 1 for a positive; both classes must occur. Of strings: "1" and "0", "True" and "False", "yes" and "no",
        "target" and "nontarget", "genuine" and "impostor", in any case. For others, compare: ``labels == "cat"``. For a
        matrix, the people of its rows and of its columns: (probes, gallery).
    groups : (n,) or (n, 2) array of integers or strings, or dict, optional
        The units of `Classification.interval`: whole groups, such as the pairs of one person; or the subjects of both
        items of each pair, as two columns or, for trials, as ``{id: subject}``. By default each item; for a matrix, its
        people.
    order : {"descending", "ascending"}
        The order from the best score on: the best is the highest or, as for distances, the lowest.
    n_positive : int, optional
        The number of all positives, if some have no score because they were not returned: they rank behind all others,
        as in µAP [3]_.
    templates : {"max", "mean"}, optional
        The score of a person with several columns of a matrix: that of the closest one, or the mean, rounded to
        float64. Without it such a matrix is refused.
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

    Three probes and two enrolled people, of whom one ties for the first place:

    >>> scores = [[0.9, 0.2], [0.6, 0.6], [0.3, 0.1]]
    >>> found = classification(scores, (["ann", "bob", "eve"], ["ann", "bob"]), measures="rank-1, TPIR@FPIR=0")
    >>> found["rank-1"].expected, found["TPIR@FPIR=0"].lower, found["TPIR@FPIR=0"].upper
    (0.75, 0.5, 1.0)
    """
    checks.choice(order, ("descending", "ascending"), "order")
    trials: Trials | None = None
    ids: Int64 | None = None
    if labels is None:
        trials = read_trials(scores) if is_path(scores) else trials_of(scores)
        if trials.scores is None or trials.same is None:
            raise InvalidValueError(
                "labels", "must be given with scores, unless these are trials of (a, b, label, score)"
            )
        scores, labels, ids = trials.scores, trials.same, _numbered(trials)
    numbers = conversion.plain(scores, "scores", unmasked="leave items out of all arguments")
    if numbers.dtype.kind == "f" and numbers.ndim and not np.isfinite(numbers).all():
        entry = int(np.argmin(np.isfinite(numbers)))
        raise InvalidValueError("scores", f"must be finite, but holds {numbers.ravel()[entry]} in entry {entry}")
    if numbers.ndim == 2 and isinstance(labels, (tuple, list)) and len(labels) == 2 and np.ndim(labels[0]):
        codes: Int64 | None
        numbers, positive, ids, codes = _matrix(numbers, labels, templates_of(templates), order)
        if groups is not None or n_positive is not None:
            raise InvalidValueError("groups and n_positive", "must be left out with a matrix, which has its people")
    else:
        if numbers.ndim != 1:
            raise InvalidValueError("scores", f"must be one-dimensional (n,), but has shape {numbers.shape}")
        if templates is not None:
            raise InvalidValueError("templates", "must be left out without a matrix of scores and its people")
        positive = classes(labels, "labels", len(numbers), "score")
        codes = groups_of(groups, len(numbers), trials, "scores")
    result = _classified(numbers, positive, codes, order, names_in(measures))
    result = replace(result, _ids=ids, _folds=None if trials is None else trials.folds)
    if n_positive is not None:
        if groups is not None:
            raise InvalidValueError("groups", "must be left out with n_positive: items without a score have no group")
        n_all = checks.whole_number(n_positive, "n_positive", int(np.count_nonzero(positive)), 2**62)
        result = replace(result, profile=replace(result.profile, n_relevant=np.array([n_all])))
    return result


def _classified(
    numbers: NDArray[Any], positive: Bool, groups: Int64 | None, order: str, measures: tuple[str, ...]
) -> Classification:
    """Return the classification of scores that are checked."""
    profile = from_scores(numbers[None], positive[None], order=order).profile  # type: ignore[arg-type]
    levels, level = np.unique(numbers, return_inverse=True)
    levels = levels.astype(
        np.float64 if levels.dtype.kind == "f" else np.int64 if levels.dtype.kind == "b" else levels.dtype
    )
    if order == "descending":
        levels, level = levels[::-1], len(levels) - 1 - level
    return Classification(
        profile, measures, levels, level, positive, groups, math.inf if order == "descending" else -math.inf
    )


def _matrix(
    scores: NDArray[Any], people: Any, templates: Templates | None, order: str
) -> tuple[NDArray[Any], Bool, Int64, Int64]:
    """Return the scores of all probes and people, the positives, and the person, probe and subjects of each."""
    probes = checked_labels(people[0], scores.shape[0], "labels[0]", "scores")
    gallery = checked_labels(people[1], scores.shape[1], "labels[1]", "the gallery, the columns of scores,")
    subject = label_codes(joined([(gallery, "labels[1]"), (probes, "labels[0]")]))[0]
    enrolled, person = np.unique(subject[: len(gallery)], return_inverse=True)
    of_probe = subject[len(gallery) :]
    numbers = of_people(scores, person, templates, order)
    probe, column = (each.ravel() for each in np.indices(numbers.shape))
    groups = np.stack([enrolled[column], of_probe[probe]], axis=1)
    positive = groups[:, 0] == groups[:, 1]
    if positive.all() or not positive.any():
        raise InvalidValueError(
            "labels", "must have probes with and without a person of theirs among several enrolled ones"
        )
    return numbers.ravel(), positive, np.stack([column, probe], axis=1), groups


def _numbered(trials: Trials) -> Int64:
    """Return numbers of the ids of each pair, (n, 2)."""
    return label_codes(trials.ids)[0].reshape(2, -1).T


@plain_floats
def pair_classification(
    embeddings: EmbeddingsLike | Mapping[Any, Any],
    pairs: Any,
    same: ArrayLike | None = None,
    groups: Any = None,
    *,
    ids: ArrayLike | None = None,
    templates: Templates | None = None,
    distance: DistanceName = "cosine",
    measures: str | Iterable[str] = NAMES,
) -> Classification:
    """Measure pairs of embeddings, of which those of the same class should be closer: face or speaker verification.

    Parameters
    ----------
    embeddings : (n, dim) array, path or list of paths, or dict
        In any form that `deadheat.Task` takes; or a dictionary from ids to rows, or to a matrix of several rows.
    pairs : (n_pair, 2) array of integers, path, or rows
        Two rows of the embeddings for each pair, counted from 0. With ids: pairs of them, or trials (label, a, b) or
        (a, b, label), or a file with one in each line: VoxCeleb's ``1 a b``, NIST's ``enrolled test target``, or LFW's
        pairs.txt, whose ids are ``name_0001``, and which has folds and subjects.
    same : (n_pair,) array of bool, or of integers 0 and 1, or of strings
        True or 1 for a positive pair. Left out for trials, which have it.
    groups : (n_pair,) or (n_pair, 2) array of integers or strings, or dict, optional
        The units of `Classification.interval`: whole groups, such as the pairs of one person; or the subjects of both
        items of each pair, as two columns or as ``{id: subject}``. By default each pair.
    ids : (n,) array of integers or strings, optional
        The id of each row. An id may have several rows, such as a person enrolled with several templates.
    templates : {"max", "mean"}, optional
        The closeness of ids that have several rows: that of their closest rows, or that of the means of their rows,
        which are rounded to float64 and not normalised. Without it several rows are refused.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming", "jaccard", "dice"}
        Or another name of one of them, such as "l2", "l1" or "dot". Codes are given as to `Task`.
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

    The same by id:

    >>> voices = {"ann-1": [1, 0], "ann-2": [2, 1], "bob-1": [0, 3], "cat-1": [3, 6]}
    >>> trials = [("ann-1", "ann-2", 1), ("bob-1", "cat-1", 0), ("ann-1", "cat-1", 0)]
    >>> pair_classification(voices, trials)["AP"].expected
    0.75
    """
    by_id = isinstance(embeddings, Mapping) or ids is not None
    trials = read_trials(pairs) if is_path(pairs) else trials_of(pairs) if by_id or same is None else None
    if trials is not None and trials.scores is not None:
        raise InvalidValueError(
            "pairs", "must be without scores, which dh.classification takes: leave out the embeddings"
        )
    if trials is not None and trials.same is not None and same is not None:
        raise InvalidValueError("same", "must be left out, as the trials have their labels")
    same = same if trials is None or trials.same is None else trials.same
    if same is None:
        raise InvalidValueError("same", "must be given, unless pairs are trials with their labels")
    expanded, rows = None, pairs
    if trials is not None:
        own = rows_of_ids(embeddings, ids) if by_id else (embeddings, None)
        if is_path(pairs) and own[1] is not None and isinstance(own[1].tolist()[0], str):
            trials = trials._replace(ids=trials.ids.astype(np.str_))  # 7 in a file is "7"
        if own[1] is None:
            rows = trials.ids.reshape(2, -1).T
        else:
            expanded = IdPairs(*own, trials.ids, templates_of(templates))
            embeddings, rows = expanded.embeddings, expanded.rows
    if expanded is None and templates is not None:
        raise InvalidValueError("templates", "must be left out without ids, of which several rows may have the same")
    metric = distance_registry.make(distance_registry.named(distance), embeddings, None, exact_only=False).measuring()
    rows = _rows(rows, metric.n_gallery)
    positive = classes(same, "same", len(rows) if trials is None else trials.n_pair, "pair")
    codes = groups_of(groups, len(positive), trials, "pairs")
    ranks, closeness = ranks_of_pairs(metric, rows)
    ranks = ranks if expanded is None else expanded.best(ranks)
    result = _classified(ranks, positive, codes, "descending", names_in(measures))
    numbers = rows if trials is None else _numbered(trials)
    folds = None if trials is None else trials.folds
    return replace(result, _levels=closeness[np.unique(ranks)[::-1]], _ids=numbers, _folds=folds)


def _rows(pairs: Any, n: int) -> Int64:
    """Check pairs of rows."""
    rows = conversion.plain(pairs, "pairs")
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InvalidValueError("pairs", f"must have shape (n_pair, 2), but has shape {rows.shape}")
    if rows.dtype.kind not in "iu":
        hint = "" if rows.dtype.kind == "f" else ": ids= or a dictionary has the id of each embedding"
        raise InvalidTypeError("pairs", f"must hold integers, but has dtype {rows.dtype}{hint}")
    odd = rows[(rows < 0) | (rows >= n)]
    if len(odd):
        raise InvalidValueError("pairs", f"must hold rows from 0 to {n - 1}, but holds {odd[0]}")
    return rows.astype(np.int64)


def _exactly(level: Any) -> float | int:
    """Return a score as a float, or as an integer where float64 does not hold it."""
    number = level.item()
    return number if isinstance(number, int) and float(number) != number else float(number)
