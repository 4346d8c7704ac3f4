"""How the gaps of many models go with a number of each, such as its size: figure 3 of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.analyses.grouped.correlation import require_same_models
from deadheat.analyses.grouped.gap import Gap
from deadheat.analyses.grouped.generalization import GeneralizationGap
from deadheat.analyses.grouped.result import Float64, ends_of
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports.tables import DIGITS, Table, TabularResult, plain, value
from deadheat.support import checks
from deadheat.support.extras import require
from deadheat.support.triple import Triple

_SIDES = ("grouped", "plain")


def gap_trend(gaps: Mapping[str, GeneralizationGap], numbers: Mapping[str, float], *, name: str = "size") -> GapTrend:
    """How the generalization gap of many models goes with a number of each, such as its size: figure 3 of [1]_.

    Parameters
    ----------
    gaps : mapping of str to GeneralizationGap
        By model; all of one measure and one size of groups, at least one.
    numbers : mapping of str to float
        A finite number for each model: parameters, dimensions, dropout, epochs.
    name : str
        What the number is.

    Returns
    -------
    GapTrend
        Models by ascending number.

    Raises
    ------
    ValueError, TypeError
        If the models differ, or measures or sizes of groups do, or a number is not finite.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    >>> from deadheat import generalization_gap
    >>> near, mixed, labels = [[0], [1], [5], [6]], [[0], [5], [1], [6]], list("aabb")
    >>> how = {"group_size": 2, "distance": "euclidean"}
    >>> gaps = {"small": generalization_gap(near, labels, near, labels, **how),
    ...         "large": generalization_gap(near, labels, mixed, labels, **how)}
    >>> trend = gap_trend(gaps, {"small": 1e6, "large": 2e7}, name="parameters")
    >>> [gap.expected for gap in trend.grouped]
    [0.0, 1.0]
    """
    if not gaps:
        raise InvalidValueError("gaps", "must hold at least one model, but is empty")
    for model, gap in gaps.items():
        if not isinstance(gap, GeneralizationGap):
            raise InvalidTypeError(f"gaps[{model!r}]", f"must be a GeneralizationGap, but is a {type(gap).__name__}")
    require_same_models("gaps and numbers", gaps, numbers)
    kinds = {(gap.measure, gap.train_groups.group_size) for gap in gaps.values()}
    if len(kinds) > 1:
        raise InvalidValueError("gaps", f"must be of one measure and one group_size, but are of {sorted(kinds)}")
    sizes = {model: checks.real_number(numbers[model], f"numbers[{model!r}]") for model in gaps}
    order = sorted(gaps, key=sizes.__getitem__)
    at = np.array([sizes[model] for model in order])
    return GapTrend(name, tuple(order), at, tuple(gaps[model] for model in order))


@dataclass(frozen=True, eq=False)
class GapTrend(TabularResult):
    """Gaps of many models, grouped and plain, by a number of each.

    `to_text` and its siblings, `to_dict` and `to_json` take ``confidence_level=``.

    Attributes
    ----------
    name : str
        What the number is.
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
        """The grouped and the plain gaps, by what people call them."""
        return {f"in groups of {self.group_size}": self.grouped, "plain": self.plain}

    def spearman(self, gaps: Sequence[Gap]) -> float:
        """Spearman's rho of the number with these gaps (under a tolerance, lower ones); NaN if either is constant."""
        values = np.array([gap.lower if math.isnan(gap.expected) else gap.expected for gap in gaps])
        if any(each.min() == each.max() for each in (values, self.numbers)):
            return math.nan
        return float(require("scipy.stats", "stats", "a correlation").spearmanr(self.numbers, values).statistic)

    def signs(self, gaps: Sequence[Gap], *, confidence_level: float = 0.95) -> tuple[int, int]:
        """How many of these gaps have an interval, ties included, that lies below 0, and how many above."""
        found = [gap.interval(confidence_level=confidence_level) for gap in gaps]
        return sum(each.upper.high < 0 for each in found), sum(each.lower.low > 0 for each in found)

    def to_dict(self, *, confidence_level: float = 0.95) -> dict[str, Any]:
        """All gaps as plain Python values that JSON can hold; None where one is undefined."""
        models = {
            model: {
                "number": float(at),
                **{side: getattr(gap, side).to_dict(confidence_level=confidence_level) for side in _SIDES},
            }
            for model, at, gap in zip(self.models, self.numbers, self.gaps, strict=True)
        }
        rho = {side: plain(self.spearman(getattr(self, side))) for side in _SIDES}
        about = {"number": self.name, "measure": self.measure, "group_size": self.group_size}
        return {**about, "models": models, "spearman": rho}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a model: its number and the three values of both gaps."""
        ends = {
            f"{side}_{end}": [getattr(gap, end) for gap in getattr(self, side)]
            for side in _SIDES
            for end in Triple._fields
        }
        return {"model": list(self.models), "number": self.numbers.tolist(), **ends}

    def tables(self, *, digits: int = DIGITS, confidence_level: float = 0.95) -> list[Table]:
        """A row a model: gaps in percentage points, each with its interval, ties included."""
        header, columns = ["model", self.name], [list(self.models), [f"{at:g}" for at in self.numbers]]
        for title, gaps in self.titles.items():
            header += [f"gap, {title}", f"{100 * confidence_level:g} % interval"]
            columns += [
                [value(gap, digits) for gap in gaps],
                [ends_of(gap, confidence_level).per_cent(digits) for gap in gaps],
            ]
        return [Table(header, list(map(list, zip(*columns, strict=True))))]

    def notes(self) -> list[str]:
        """How many gaps lie on either side of 0, and how they go with the number."""
        said = []
        for title, gaps in self.titles.items():
            (below, above), rho = self.signs(gaps), self.spearman(gaps)
            trend = "" if math.isnan(rho) else f" Spearman's rho with {self.name}: {rho:.2f}."
            said.append(
                f"Gap {title}: {below} of {len(gaps)} intervals (95 %) below 0, {above} above, ties included.{trend}"
            )
        return said
