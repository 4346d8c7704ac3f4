"""What is said of one pooled ranking: measures by name, with bounds, thresholds and intervals, in one table."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deadheat.analyses.pooled.measuring import GROUPED_AP, measured, n_irrelevant, named
from deadheat.engine.counting.scored import profile_scores
from deadheat.engine.profiles.profile import TieProfile
from deadheat.reports.statistics.bootstrap import percentiles
from deadheat.reports.statistics.interval import NOTHING, Intervals, Settings
from deadheat.reports.tables import DIGITS, Table, TabularResult, columns_of_values, count, notebook_row, plain, program
from deadheat.support.arrays import Bool, Float64, Int64


@dataclass(frozen=True)
class PooledValue:
    """A measure of one pooled ranking.

    Attributes
    ----------
    name : str
    lower, expected, upper : float
        Over all ways to break the ties, as fractions in [0, 1].
    threshold : float or None
        The last score that is accepted; infinite if none is. None for a measure without a threshold.
    """

    name: str
    lower: float
    expected: float
    upper: float
    threshold: float | None

    def _repr_html_(self) -> str:
        return notebook_row(self.name, self, [f"Threshold: {_threshold(self.threshold)}."])


@dataclass(frozen=True, eq=False)
class Classification(TabularResult):
    """Measures of one pooled ranking by name: ``result["AP"].lower``.

    | name | value |
    |---|---|
    | ``AP`` | mean precision at the positives; µAP where the pairs of all queries are pooled |
    | ``AP (scikit-learn)`` | precision at each threshold times the recall gained there, summed |
    | ``AUC`` | share of (positive, negative) pairs in the right order: the area under the ROC curve |
    | ``TPR@FPR=x`` | the largest true positive rate where the false positive rate is at most x, such as 0.01 |
    | ``EER`` | the least e such that neither error rate is above e (equal error rate) |
    | ``best F1``, ``best accuracy`` | the largest of any threshold; one may accept nothing |

    **Ties:** `lower`, `expected` and `upper` are over all orders of each group of equal scores. A threshold accepts
    such a group or not; a sort that stops inside it reports what no threshold has. What thresholds have is `lower` of
    TPR@FPR, best F1 and best accuracy, and `upper` of EER, an error; the other bound is that of the luckiest order. AP
    (scikit-learn) has one value: it takes the precision behind a group for all of its positives, which is never less
    than `lower` of AP, and may be more than any order has.

    **Undefined:** `expected` is NaN for a measure of thresholds that ties change.

    Attributes
    ----------
    profile : TieProfile
        Of one query, for `deadheat.precision_recall` and `deadheat.measure`.
    measures : tuple of str
        What the table shows; others may be asked for by name.
    """

    profile: TieProfile = field(repr=False)
    measures: tuple[str, ...]
    _levels: Float64 = field(repr=False)  # (n_group,), the score of each group
    _keys: Int64 = field(repr=False)  # (n,), the highest is the best
    _positive: Bool = field(repr=False)
    _groups: Int64 | None = field(repr=False)
    _none: float = field(repr=False)  # the threshold that accepts nothing

    def __getitem__(self, name: str) -> PooledValue:
        (lower, expected, upper), group = measured(self.profile, named(name))
        threshold = None if group is None else self._none if group < 0 else float(self._levels[group])
        return PooledValue(named(name), lower, expected, upper, threshold)

    @property
    def n_positive(self) -> int:
        """Positives, also those without a score."""
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
        """Percentile bootstrap intervals for lower, expected and upper: items, or whole groups, are drawn again.

        Parameters
        ----------
        measure : str
        confidence_level : float
            Strictly between 0 and 1.
        n_resamples, seed : int
            How often to draw, and where the random numbers begin.

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
        name, settings = named(measure), Settings.checked(confidence_level, "percentile", n_resamples, seed)
        units = self._units()
        rng, n, values = np.random.default_rng(settings.seed), len(units), []
        for _ in range(settings.n_resamples):
            drawn = rng.integers(0, n, n)
            items = units[drawn] if isinstance(units, np.ndarray) else np.concatenate([units[i] for i in drawn])
            scored = items[items < len(self._keys)]
            keys, positive = self._keys[scored], self._positive[scored]
            if positive.any() and not positive.all():
                profile = profile_scores(keys[None], positive[None], threads=1)
                profile = replace(profile, n_relevant=profile.n_relevant + len(items) - len(scored))
                values.append(measured(profile, name)[0])
        ends = percentiles(np.array(values).T, settings.level) if n > 1 and values else [NOTHING] * 3
        lower, expected, upper = ends
        unit = "item" if self._groups is None else "group"
        return Intervals(lower, expected, upper, settings.level, settings.method, n, unit)

    def _units(self) -> Int64 | list[Int64]:
        """The items of each unit, in an order that is their own; those without a score have the last numbers."""
        if self._groups is not None:
            order = np.argsort(self._groups, kind="stable")
            return np.split(order, np.flatnonzero(np.diff(self._groups[order])) + 1)
        order = np.lexsort((self._positive, self._keys))
        return np.append(order, np.arange(len(order), len(order) + self._n_missing))

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """A row for each measure, in per cent, with its threshold as it is."""
        values = [self[name] for name in self.measures]
        names, cells = columns_of_values(values, digits)
        rows = [[value.name, *row, _threshold(value.threshold)] for value, row in zip(values, cells, strict=True)]
        return [Table(["measure (%)", *names, "threshold"], rows)]

    def notes(self) -> list[str]:
        """How many of what there are, what ties decide, and how to read the bounds."""
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
        return notes

    def to_dict(self) -> dict[str, Any]:
        """All values as plain Python values that JSON can hold; the threshold is None where nothing is accepted."""
        rows = [dict(zip(self.columns(), row, strict=True)) for row in zip(*self.columns().values(), strict=True)]
        about = {"n_positive": self.n_positive, "n_negative": self.n_negative, "profile": self.profile.digest()}
        values = {"ties": self.profile.ties._asdict(), "measures": {row.pop("measure"): plain(row) for row in rows}}
        return {"deadheat": program(), **about, **values}

    def columns(self) -> dict[str, list[Any]]:
        """The rows of the table; the threshold is NaN where there is none or nothing is accepted."""
        values = [self[name] for name in self.measures]
        columns = {end: [getattr(value, end) for value in values] for end in ("lower", "expected", "upper")}
        limits = [math.nan if value.threshold is None else value.threshold for value in values]
        columns["threshold"] = [limit if math.isfinite(limit) else math.nan for limit in limits]
        return {"measure": [value.name for value in values], **columns}


def _threshold(value: float | None) -> str:
    return "-" if value is None else "none accepted" if math.isinf(value) else f"{value:.6g}"
