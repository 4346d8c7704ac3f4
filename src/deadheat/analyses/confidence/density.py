"""Where a confidence parameter lies: from samples of it, or its density, to a `HighestDensity`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.confidence.queries import Float64, confidences, plain_values
from deadheat.errors import InvalidValueError
from deadheat.reports.tables import Table, TabularResult
from deadheat.support import checks
from deadheat.support.extras import require
from deadheat.support.floats import plain_floats

_USUAL = 256  # powers of two up to which numbers are taken as they are


@dataclass(frozen=True, eq=False)
class HighestDensity(TabularResult):
    """The highest density region of a parameter.

    Attributes
    ----------
    intervals : (n_interval, 2) float64
        Lower and upper ends, ascending.
    mode : float
        Where the density is highest; the middle one of several such places.
    probability : float
        What the intervals hold: the share of the samples, or of the density's mass.
    """

    intervals: Float64
    mode: float
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """The region as plain Python values that JSON can hold."""
        return plain_values(self, self.__dataclass_fields__)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row an interval."""
        return {"low": self.intervals[:, 0].tolist(), "high": self.intervals[:, 1].tolist()}

    def tables(self) -> list[Table]:
        """The intervals, in the unit of the parameter."""
        return [Table(("low", "high"), [[f"{low:.6g}", f"{high:.6g}"] for low, high in self.intervals.tolist()])]

    def notes(self) -> list[str]:
        """What the intervals hold, and where the mode is."""
        return [f"This holds {100 * self.probability:.2f} %, and the mode is {self.mode:.6g}."]


@plain_floats
def highest_density_interval(
    values: ArrayLike, probability: float = 0.95, *, density: ArrayLike | None = None, multimodal: bool = False
) -> HighestDensity:
    """Return the smallest region that holds a confidence parameter with a probability: HPD intervals around its mode.

    Parameters
    ----------
    values : (n,)
        Samples of the parameter; or, with `density`, the places at which its density is given, ascending.
    probability : float
        Above 0 and below 1.
    density : (n,), optional
        The density at `values`, 0 or more, of any total; between the places it is taken to be linear.
    multimodal : bool
        For samples: whether the region may fall into pieces, around several modes. A density says itself.

    Returns
    -------
    HighestDensity

    Notes
    -----
    Samples go to `arviz_stats`: the shortest interval between two samples and the half-sample mode; or, if multimodal,
    the region of its kernel density estimate (bandwidth "isj") and the highest point of that. Integers count as
    discrete, as there.

    A density is cut into cells, at least 4096 of equal width. The region is all cells as dense as the least dense one
    that is needed [1]_. So a plateau belongs to it as a whole or not at all, and it can hold more than was asked for:
    `probability` says what it holds.

    Raises
    ------
    ValueError, TypeError
        If the probability is not between 0 and 1, there are no samples, a number is not finite, or a density is
        negative, zero everywhere, or given at places that do not ascend.
    ModuleNotFoundError
        Without arviz-stats, for samples; the message says how to install it.

    References
    ----------
    .. [1] Hyndman 1996, Computing and graphing highest density regions.

    Examples
    --------
    A triangle over [0, 2] with its top at 1. Three quarters of it are within 1/2 of the top:

    >>> found = highest_density_interval([0, 1, 2], 0.75, density=[0, 1, 0])
    >>> found.intervals, found.mode, found.probability
    (array([[0.5, 1.5]]), 1.0, 0.75)
    """
    chance = _chance(probability)
    places, exponent = _scaled(confidences(values, "values"), "values")
    if density is not None:
        if multimodal:
            raise InvalidValueError("multimodal", "must be left out where a density is given, which says itself")
        height, _ = _scaled(confidences(density, "density"), "density")
        found = _densest(places.astype(np.float64), height.astype(np.float64), chance)
    else:
        found = _shortest(places, chance, multimodal)
    return replace(found, intervals=np.ldexp(found.intervals, exponent), mode=math.ldexp(found.mode, exponent))


def _scaled(values: NDArray[Any], name: str) -> tuple[NDArray[Any], int]:
    """Numbers whose sums and squares neither overflow nor vanish, and the power of two that these are smaller by."""
    if values.dtype.kind != "f":
        if len(values) and max(-int(values.min()), int(values.max())) > 2**53:
            raise InvalidValueError(name, "must hold integers up to 2^53 in size, but holds larger ones")
        return values.astype(np.int64), 0
    values = values.astype(np.float64)
    exponent = math.frexp(float(np.abs(values).max(initial=0.0)))[1]
    return (np.ldexp(values, -exponent), exponent) if abs(exponent) > _USUAL else (values, 0)


def _shortest(places: NDArray[Any], chance: float, multimodal: bool) -> HighestDensity:
    """The region of samples."""
    if not len(places):
        raise InvalidValueError("values", "must hold at least one sample, but are empty")
    stats = require("arviz_stats.base", "confidence", "highest_density_interval").array_stats
    if not multimodal or len(np.unique(places)) == 1:
        intervals, mode = np.atleast_2d(stats.hdi(places, chance)), float(stats.mode(places))
    else:
        intervals = stats.hdi(places, chance, method="multimodal", max_modes=max(len(places), 512))
        if places.dtype.kind == "f":
            grid, height, _ = stats.kde(places, bw="isj")
            mode = float(grid[np.argmax(height)])
        else:
            mode = float(stats.mode(places))
    inside = (places[:, None] >= intervals[:, 0]) & (places[:, None] <= intervals[:, 1])
    return HighestDensity(intervals.astype(np.float64), mode, int(inside.any(axis=1).sum()) / len(places))


def _densest(places: Float64, density: Float64, chance: float) -> HighestDensity:
    """The region of a density that is linear between places."""
    _require_density(places, density)
    edges = np.linspace(places[0], places[-1], _cells(len(places)) + 1)
    height = np.interp(edges, places, density)
    mass = (height[1:] + height[:-1]) / 2
    order = np.argsort(-mass, kind="stable")
    held = np.cumsum(mass[order])
    needed = min(int(np.searchsorted(held, chance * held[-1] * (1 - 1e-12))), len(order) - 1)
    inside = mass >= mass[order[needed]] * (1 - 1e-12)  # equal but for rounding is equal: a level goes in as a whole
    starts = np.flatnonzero(inside & ~np.append(False, inside[:-1]))
    ends = np.flatnonzero(inside & ~np.append(inside[1:], False)) + 1
    top = density == density.max()
    middle = float(places[top][np.count_nonzero(top) // 2])
    held_by = math.fsum(mass[inside].tolist()) / math.fsum(mass.tolist())
    return HighestDensity(np.column_stack([edges[starts], edges[ends]]), middle, held_by)


def _cells(n_place: int) -> int:
    """A number of cells that puts an edge on every one of the places, if these are equally far apart."""
    gaps = n_place - 1
    return gaps * -(-4096 // gaps)


def _require_density(places: Float64, density: Float64) -> None:
    if len(places) != len(density):
        came = f"{len(density)} for {len(places)} places"
        raise InvalidValueError("density", f"must have one entry per place, but got {came}")
    if len(places) < 2 or not (places[1:] > places[:-1]).all():
        raise InvalidValueError("values", "must be at least two ascending places where a density is given, but are not")
    if (density < 0).any() or not density.any():
        came = f"lies in [{density.min()}, {density.max()}]"
        raise InvalidValueError("density", f"must be 0 or more, and more somewhere, but {came}")


def _chance(probability: Any) -> float:
    chance = checks.real_number(probability, "probability")
    if not 0 < chance < 1:
        raise InvalidValueError("probability", f"must lie above 0 and below 1, but is {probability!r}")
    return chance
