"""Trends over many models: correlation of two measures, and of gaps with a number of each model, such as its size.

Figures 2 and 3 of the paper (arXiv:2306.13357), for any set of reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.analyses.gaps import Gap, GeneralizationGap
from deadheat.analyses.grouped import GroupedReport
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.report import Report
from deadheat.reports.statistics.intervals import normal_interval
from deadheat.reports.tables import count, plain
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.caching import cached_property
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

AnyReport = Report | GroupedReport


def model_correlation(
    first: Mapping[str, AnyReport],
    second: Mapping[str, AnyReport],
    *,
    measure: str = "Hit@1",
    names: tuple[str, str] | None = None,
) -> ModelCorrelation:
    """Correlate two values of a measure over many models, such as the plain and the grouped one.

    Figure 2 of Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Parameters
    ----------
    first, second : mapping of str to Report or GroupedReport
        By model, the same models in both, at least two.
    measure : str
        The name of one measure.
    names : (str, str), optional
        Names of the two in tables and in the plot; by default the measure, with the group size where there are groups.

    Returns
    -------
    ModelCorrelation
        **Ties:** coefficients are those of the expected values (under a tolerance, of the lower ones); `n_open` counts
        the pairs of models whose order depends on ties. **Undefined:** NaN where either is constant.

    Raises
    ------
    ValueError, TypeError
        If the models differ, there are fewer than two, or a value is NaN.
    MissingPackageError
        Without SciPy.

    Examples
    --------
    >>> from deadheat import evaluate, grouped, Task
    >>> labels = list("aabbcc")
    >>> models = {"A": [[0], [1], [5], [6], [9], [10]], "B": [[0], [1], [5], [9], [6], [10]], "C": [[0], [5]] * 3}
    >>> tasks = {name: Task(points, labels, distance="euclidean") for name, points in models.items()}
    >>> plain = {name: evaluate(task) for name, task in tasks.items()}
    >>> inside = {name: grouped(task, group_size=2) for name, task in tasks.items()}
    >>> found = model_correlation(plain, inside)
    >>> round(found.spearman, 4), found.n_open
    (0.866, 0)
    """
    by_model = "a mapping of models to reports"
    models = tuple(checks.mapping(first, "first", by_model))
    _require_same_models("first and second", first, checks.mapping(second, "second", by_model))
    if len(models) < 2:
        raise InvalidValueError("first", f"must hold at least two models, but holds {len(models)}")
    values = [_values("first", first, models, measure), _values("second", second, models, measure)]
    if names is not None:
        names = checks.two_names(names)
    else:
        names = (_title(first[models[0]], measure), _title(second[models[0]], measure))
    return ModelCorrelation(models, names, values[0], values[1])


@dataclass(frozen=True, eq=False)
class ModelCorrelation(Answer):
    """Two values of each of many models, and their correlation.

    `to_text` and its siblings take ``digits=``.

    Attributes
    ----------
    models : tuple of str
    names : (str, str)
        Names of the two values.
    first, second : Triple
        Lower, expected and upper values, (n_model,) each.
    """

    models: tuple[str, ...]
    names: tuple[str, str]
    first: Triple[Float64] = field(repr=False)
    second: Triple[Float64] = field(repr=False)

    @property
    def shown(self) -> tuple[Float64, Float64]:
        """The values that are correlated: the expected ones, or under a tolerance the lower ones."""
        tolerant = any(np.isnan(each.expected).any() for each in (self.first, self.second))
        return (self.first.lower, self.second.lower) if tolerant else (self.first.expected, self.second.expected)

    @cached_property
    def pearson(self) -> float:
        """Pearson's r."""
        return _correlation("pearsonr", *self.shown)

    @cached_property
    def spearman(self) -> float:
        """Spearman's rho."""
        return _correlation("spearmanr", *self.shown)

    def pearson_interval(self, *, confidence_level: float = 0.95) -> tuple[float, float]:
        """Return Fisher's interval for Pearson's r, tanh(artanh r ± z/√(n − 3)); NaN for fewer than 4 models.

        It assumes that models are independent draws, which those of one family are not.
        """
        n = len(self.models)
        if n < 4:
            return math.nan, math.nan
        if not abs(self.pearson) < 1:
            return self.pearson, self.pearson
        ends = normal_interval(math.atanh(self.pearson), 1 / math.sqrt(n - 3), confidence_level)
        return math.tanh(ends.low), math.tanh(ends.high)

    @property
    def n_open(self) -> int:
        """Number of pairs of models whose order, in one of the two values or both, depends on ties."""
        a, b = np.triu_indices(len(self.models), 1)
        ranges = ((each.lower, each.upper) for each in (self.first, self.second))
        undecided = [(lower[a] < upper[b]) & (lower[b] < upper[a]) for lower, upper in ranges]
        return int(np.logical_or(*undecided).sum())

    def panels(self) -> list[Panel]:
        """Return tables of the values of each model, in per cent, and of the coefficients, which are not shares."""
        pairs = zip(("first", "second"), self.names, (self.first, self.second), self.shown, strict=True)
        columns = [Column("model", self.models)]
        for key, name, values, shown in pairs:
            columns.append(Column(key, shown.tolist(), "fraction", name, only="table"))
            columns.append(Column(key, [Triple(*each) for each in zip(*values, strict=True)], "fraction",
                                  shape="bounds", only="data"))  # fmt: skip
        coefficients = {"Pearson's r": self.pearson, "Spearman's rho": self.spearman}
        of_pair = [Column("correlation", list(coefficients)),
                   Column("coefficient", list(coefficients.values()), "number", form=".3f")]  # fmt: skip
        return [Panel(columns, key="models"), Panel(of_pair, key="")]

    def facts(self) -> dict[str, Any]:
        return self._facts_of("names", "pearson", "spearman", "n_open") | {
            "pearson_interval": plain(self.pearson_interval())
        }

    def notes(self) -> list[str]:
        """Return the interval of Pearson's r, and the number of pairs whose order depends on ties."""
        low, high = self.pearson_interval()
        said = [f"{len(self.models)} models."]
        if not math.isnan(low):
            said.append(f"95 % interval of Pearson's r, if they were independent: {low:.3f} to {high:.3f}.")
        if self.n_open:
            said.append(f"Ties leave the order of {count(self.n_open, 'pair', 'pairs')} of models open.")
        return [" ".join(said)]


def _correlation(name: str, first: Float64, second: Float64) -> float:
    """Return a correlation coefficient from SciPy; NaN where either side is constant."""
    if any(values.min() == values.max() for values in (first, second)):
        return math.nan
    return float(getattr(require("scipy.stats", "stats", "a correlation"), name)(first, second).statistic)


def _require_same_models(arguments: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    if set(first) != set(second):
        few = [f"{', '.join([*each][:3])}{', ...' * (len(each) > 3)} ({len(each)})" for each in (first, second)]
        raise InvalidValueError(arguments, f"must hold the same models, but hold {' and '.join(few)}")


def _values(argument: str, reports: Mapping[str, AnyReport], models: Sequence[str], measure: str) -> Triple[Float64]:
    for model in models:
        if not isinstance(reports[model], Report | GroupedReport):
            kind = type(reports[model]).__name__
            raise InvalidTypeError(f"{argument}[{model!r}]", f"must be a Report or a GroupedReport, but is a {kind}")
    results = [reports[model][measure] for model in models]
    values = Triple(*(np.array([getattr(each, end) for each in results]) for end in Triple._fields))
    undefined = np.flatnonzero(np.isnan(values.lower))
    if len(undefined):
        title = f"{argument}[{models[undefined[0]]!r}]"
        raise InvalidValueError(title, f"must have a value of {measure}, but has none")
    return values


def _title(report: AnyReport, measure: str) -> str:
    name = report[measure].name
    return f"{name} in groups of {report.group_size}" if isinstance(report, GroupedReport) else f"{name}, plain"


_SIDES = ("grouped", "plain")


def gap_trend(gaps: Mapping[str, GeneralizationGap], numbers: Mapping[str, float], *, name: str = "size") -> GapTrend:
    """Relate the generalization gap of many models to a number of each, such as its size.

    Figure 3 of Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Parameters
    ----------
    gaps : mapping of str to GeneralizationGap
        By model; all of one measure and one size of groups, at least one.
    numbers : mapping of str to float
        A finite number for each model: parameters, dimensions, dropout, epochs.
    name : str
        The name of the number.

    Returns
    -------
    GapTrend
        Models by ascending number.

    Raises
    ------
    ValueError, TypeError
        If the models differ, or measures or sizes of groups do, or a number is not finite.

    Examples
    --------
    >>> from deadheat import generalization_gap, Task
    >>> labels = list("aabb")
    >>> near = Task([[0], [1], [5], [6]], labels, distance="euclidean")
    >>> mixed = Task([[0], [5], [1], [6]], labels, distance="euclidean")
    >>> gaps = {"small": generalization_gap(near, near, group_size=2),
    ...         "large": generalization_gap(near, mixed, group_size=2)}
    >>> trend = gap_trend(gaps, {"small": 1e6, "large": 2e7}, name="parameters")
    >>> [gap.expected for gap in trend.grouped]
    [0.0, 1.0]
    """
    if not checks.mapping(gaps, "gaps", "a mapping of models to gaps"):
        raise InvalidValueError("gaps", "must hold at least one model, but is empty")
    for model, gap in gaps.items():
        if not isinstance(gap, GeneralizationGap):
            raise InvalidTypeError(f"gaps[{model!r}]", f"must be a GeneralizationGap, but is a {type(gap).__name__}")
    _require_same_models("gaps and numbers", gaps, checks.mapping(numbers, "numbers", "a number for each model"))
    kinds = {(gap.measure, gap.train_groups.group_size) for gap in gaps.values()}
    if len(kinds) > 1:
        raise InvalidValueError("gaps", f"must be of one measure and one group_size, but are of {sorted(kinds)}")
    sizes = {model: checks.real_number(numbers[model], f"numbers[{model!r}]") for model in gaps}
    order = sorted(gaps, key=sizes.__getitem__)
    at, name = np.array([sizes[model] for model in order]), checks.text(name, "name")
    return GapTrend(name, tuple(order), at, tuple(gaps[model] for model in order))


@dataclass(frozen=True, eq=False)
class GapTrend(Answer):
    """Grouped and plain gaps of many models, ordered by a number of each.

    `to_text` and its siblings, `to_dict` and `to_json` take ``confidence_level=``.

    Attributes
    ----------
    name : str
        The name of the number.
    models : tuple of str
        By ascending number.
    numbers : (n_model,)
    gaps : tuple of GeneralizationGap
    """

    name: str
    models: tuple[str, ...]
    numbers: Float64
    gaps: tuple[GeneralizationGap, ...] = field(repr=False)

    @property
    def measure(self) -> str:
        return self.gaps[0].measure

    @property
    def group_size(self) -> int:
        return self.gaps[0].train_groups.group_size

    @property
    def grouped(self) -> tuple[Gap, ...]:
        return tuple(gap.grouped for gap in self.gaps)

    @property
    def plain(self) -> tuple[Gap, ...]:
        return tuple(gap.plain for gap in self.gaps)

    @property
    def titles(self) -> dict[str, tuple[Gap, ...]]:
        """The grouped and the plain gaps, by their titles."""
        return {f"in groups of {self.group_size}": self.grouped, "plain": self.plain}

    def spearman(self, gaps: Sequence[Gap]) -> float:
        """Return Spearman's rho of the number and gaps (under a tolerance, lower ones); NaN if either is constant."""
        values = np.array([gap.lower if math.isnan(gap.expected) else gap.expected for gap in gaps])
        return _correlation("spearmanr", self.numbers, values)

    def signs(self, gaps: Sequence[Gap], *, confidence_level: float = 0.95) -> tuple[int, int]:
        """Count the gaps whose interval, ties included, lies below 0, and those whose interval lies above."""
        result = [gap.interval(confidence_level=confidence_level) for gap in gaps]
        return sum(each.upper.high < 0 for each in result), sum(each.lower.low > 0 for each in result)

    def to_dict(self, **options: Any) -> dict[str, Any]:
        models = {}
        for model, at, gap in zip(self.models, self.numbers.tolist(), self.gaps, strict=True):
            sides = {side: getattr(gap, side).to_dict(**options) for side in _SIDES}
            models[model] = {"number": at, **sides}
        rho = {side: plain(self.spearman(getattr(self, side))) for side in _SIDES}
        about = {"number": self.name, "measure": self.measure, "group_size": self.group_size}
        return super().to_dict(**options) | {**about, "models": models, "spearman": rho}

    def panels(self, *, confidence_level: float = 0.95) -> list[Panel]:
        """Return one table, a row for each model: gaps in percentage points, each with its interval, ties included."""
        columns = [
            Column("model", self.models),
            Column("number", self.numbers.tolist(), "number", self.name, form="g"),
        ]
        for key, (title, gaps) in zip(_SIDES, self.titles.items(), strict=True):
            level = f"{100 * confidence_level:g} % interval"
            ends = [gap.interval(confidence_level=confidence_level).outer for gap in gaps]
            columns.append(Column(key, gaps, "fraction", f"gap, {title}", "value"))
            columns.append(Column(f"{key}_interval", ends, "fraction", f"{level}, {title}", "interval", only="table"))
        return [Panel(columns, "each", key="")]

    def notes(self) -> list[str]:
        """Return the numbers of gaps on either side of 0, and their rank correlation with the number."""
        said = []
        for title, gaps in self.titles.items():
            (below, above), rho = self.signs(gaps), self.spearman(gaps)
            trend = "" if math.isnan(rho) else f" Spearman's rho with {self.name}: {rho:.2f}."
            signs = f"{below} of {len(gaps)} intervals (95 %) below 0, {above} above, ties included."
            said.append(f"Gap {title}: {signs}{trend}")
        return said
