"""How two measures of many models correlate: figure 2 of the paper, for any set of reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deadheat.analyses.grouped.grouping import GroupedReport
from deadheat.analyses.grouped.result import Float64
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, number, plain
from deadheat.statistics.standard_error import normal_interval
from deadheat.support.extras import require
from deadheat.support.triple import Triple

AnyReport = Report | GroupedReport


def model_correlation(
    first: Mapping[str, AnyReport],
    second: Mapping[str, AnyReport],
    *,
    measure: str = "Hit@1",
    names: tuple[str, str] | None = None,
) -> ModelCorrelation:
    """How a measure of many models correlates with another, such as the plain with the grouped one: figure 2 of [1]_.

    Parameters
    ----------
    first, second : mapping of str to Report or GroupedReport
        By model, the same models in both, at least two.
    measure : str
        The name of one measure.
    names : (str, str), optional
        What the tables and the plot call the two; by default the measure, with the groups' size where there are groups.

    Returns
    -------
    ModelCorrelation
        **Ties:** coefficients are those of the expected values (under a tolerance, of the lower ones); `n_open` counts
        the pairs of models whose order ties leave open. **Undefined:** NaN where either is constant.

    Raises
    ------
    ValueError, TypeError
        If the models differ, there are fewer than two, or a value is NaN.
    MissingPackageError
        Without SciPy.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    >>> from deadheat import evaluate, grouped
    >>> labels = list("aabbcc")
    >>> models = {"A": [[0], [1], [5], [6], [9], [10]], "B": [[0], [1], [5], [9], [6], [10]], "C": [[0], [5]] * 3}
    >>> plain = {name: evaluate(points, labels, distance="euclidean") for name, points in models.items()}
    >>> inside = {name: grouped(points, labels, group_size=2, distance="euclidean") for name, points in models.items()}
    >>> found = model_correlation(plain, inside)
    >>> round(found.spearman, 4), found.n_open
    (0.866, 0)
    """
    models = tuple(first)
    require_same_models("first and second", first, second)
    if len(models) < 2:
        raise InvalidValueError("first", f"must hold at least two models, but holds {len(models)}")
    values = [_values("first", first, models, measure), _values("second", second, models, measure)]
    if names is None:
        names = (_title(first[models[0]], measure), _title(second[models[0]], measure))
    return ModelCorrelation(models, names, values[0], values[1])


@dataclass(frozen=True, eq=False)
class ModelCorrelation(TabularResult):
    """Two values of many models, and how they correlate.

    `to_text` and its siblings take ``digits=``.

    Attributes
    ----------
    models : tuple of str
    names : (str, str)
        What the two values are.
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
        return self._coefficient("pearsonr")

    @cached_property
    def spearman(self) -> float:
        """Spearman's rho."""
        return self._coefficient("spearmanr")

    def pearson_interval(self, *, confidence_level: float = 0.95) -> tuple[float, float]:
        """The interval for Pearson's r by Fisher's transformation, tanh(artanh r ± z/√(n − 3)); NaN below 4 models.

        It takes the models as independent draws, which those of one family are not.
        """
        n = len(self.models)
        if n < 4 or not abs(self.pearson) < 1:
            return (self.pearson, self.pearson) if n > 3 else (math.nan, math.nan)
        ends = normal_interval(math.atanh(self.pearson), 1 / math.sqrt(n - 3), confidence_level)
        return math.tanh(ends.low), math.tanh(ends.high)

    @property
    def n_open(self) -> int:
        """Pairs of models whose order ties leave open in one of the two values or both."""
        a, b = np.triu_indices(len(self.models), 1)
        ranges = ((each.lower, each.upper) for each in (self.first, self.second))
        undecided = [(lower[a] < upper[b]) & (lower[b] < upper[a]) for lower, upper in ranges]
        return int(np.logical_or(*undecided).sum())

    def to_dict(self) -> dict[str, Any]:
        """The values and coefficients as plain Python values that JSON can hold; None where one is undefined."""
        return {
            "names": list(self.names),
            **plain(self.columns()),
            "pearson": plain(self.pearson),
            "spearman": plain(self.spearman),
            "pearson_interval": plain(list(self.pearson_interval())),
            "n_open": self.n_open,
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a model: the three values of both."""
        pairs = {"first": self.first, "second": self.second}
        ends = {f"{name}_{end}": getattr(each, end) for name, each in pairs.items() for end in Triple._fields}
        return {"model": list(self.models), **ends}

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """The values of each model in per cent; the coefficients, which are no shares and stay as they are."""
        form = decimals(digits)
        rows = [
            [model, *(number(100 * value, form) for value in values)]
            for model, *values in zip(self.models, *self.shown, strict=True)
        ]
        coefficients = [["Pearson's r", number(self.pearson, ".3f")], ["Spearman's rho", number(self.spearman, ".3f")]]
        return [Table(("model (%)", *self.names), rows), Table(("correlation", "coefficient"), coefficients)]

    def notes(self) -> list[str]:
        """How sure Pearson's r is, and what ties leave open."""
        low, high = self.pearson_interval()
        said = [f"{len(self.models)} models."]
        if not math.isnan(low):
            said.append(f"95 % interval of Pearson's r, if they were independent: {low:.3f} to {high:.3f}.")
        if self.n_open:
            said.append(f"Ties leave the order of {count(self.n_open, 'pair', 'pairs')} of models open.")
        return [" ".join(said)]

    def _coefficient(self, name: str) -> float:
        if any(values.min() == values.max() for values in self.shown):
            return math.nan
        stats = require("scipy.stats", "stats", "a correlation")
        return float(getattr(stats, name)(*self.shown).statistic)


def require_same_models(arguments: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    """Refuse two mappings of different models."""
    if set(first) != set(second):
        raise InvalidValueError(arguments, f"must hold the same models, but hold {_few(first)} and {_few(second)}")


def _values(argument: str, reports: Mapping[str, AnyReport], models: Sequence[str], measure: str) -> Triple[Float64]:
    """Lower, expected and upper of each model."""
    for model in models:
        if not isinstance(reports[model], Report | GroupedReport):
            kind = type(reports[model]).__name__
            raise InvalidTypeError(f"{argument}[{model!r}]", f"must be a Report or a GroupedReport, but is a {kind}")
    results = [reports[model][measure] for model in models]
    values = Triple(*(np.array([getattr(result, end) for result in results]) for end in Triple._fields))
    undefined = np.flatnonzero(np.isnan(values.lower))
    if len(undefined):
        title = f"{argument}[{models[undefined[0]]!r}]"
        raise InvalidValueError(title, f"must have a value of {measure}, but has none")
    return values


def _title(report: AnyReport, measure: str) -> str:
    name = report[measure].name
    return f"{name} in groups of {report.group_size}" if isinstance(report, GroupedReport) else f"{name}, plain"


def _few(names: Mapping[str, Any]) -> str:
    """Some names of models, for a message."""
    return f"{', '.join(list(names)[:3])}{', ...' if len(names) > 3 else ''} ({len(names)})"
