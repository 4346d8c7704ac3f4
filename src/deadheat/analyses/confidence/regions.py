"""Highest density regions of a confidence parameter, and the items inside those of a query's posterior.

Samples of a parameter, or its density, give a `HighestDensity`. Posteriors, one per query, as densities at items and
samples or as normal distributions, give the share of items that their regions hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.confidence.hits import confidences, mean_of_all
from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, conversion
from deadheat.inputs.samples import LabelsLike, open_pair
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.tables import count
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

_CELLS = 4096  # at least, of a density
_USUAL = 256  # powers of two up to which numbers are taken as they are
MASSES = (0.5, 0.8, 0.9, 0.95, 0.99)
_PARTS = ("relevant", "others")


@dataclass(frozen=True, eq=False)
class HighestDensity(Answer):
    """The highest density region of a parameter.

    Attributes
    ----------
    intervals : (n_interval, 2) float64
        Lower and upper ends, ascending.
    mode : float
        The place of the highest density; the middle one if there are several.
    probability : float
        The share of the samples, or of the density's mass, that the intervals hold.
    """

    intervals: Float64
    mode: float
    probability: float

    def panels(self) -> list[Panel]:
        """Return a table of the intervals, in the unit of the parameter."""
        ends = {"low": self.intervals[:, 0].tolist(), "high": self.intervals[:, 1].tolist()}
        return [Panel([Column(name, values, "number", form=".6g") for name, values in ends.items()], key="")]

    def facts(self) -> dict[str, Any]:
        return self._facts_of("intervals", "mode", "probability")

    def notes(self) -> list[str]:
        """Return the share that the intervals hold, and the mode."""
        return [f"This holds {100 * self.probability:.2f} %, and the mode is {self.mode:.6g}."]


@plain_floats
def highest_density_interval(
    values: ArrayLike, probability: float = 0.95, *, density: ArrayLike | None = None, multimodal: bool = False
) -> HighestDensity:
    """Return the smallest region that holds a confidence parameter with a given probability: its HPD intervals.

    Parameters
    ----------
    values : (n,)
        Samples of the parameter; or, with `density`, the places at which its density is given, ascending.
    probability : float
        Above 0 and below 1.
    density : (n,), optional
        The density at `values`, 0 or more, of any total; between the places it is taken to be linear.
    multimodal : bool
        For samples: allow several intervals, around several modes. A density determines this itself.

    Notes
    -----
    Samples are handled by `arviz_stats`: the shortest interval between two samples and the half-sample mode; or, if
    multimodal, the region and the highest point of its kernel density estimate (bandwidth "isj"). Integers count as
    discrete, as there.

    A density is cut into at least 4096 cells of equal width. The region is all cells at least as dense as the least
    dense one that is needed [1]_. So a plateau belongs to it as a whole or not at all, and the region can hold more
    than was asked for: `probability` says how much.

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
    chance = checks.real_number(probability, "probability")
    if not 0 < chance < 1:
        raise InvalidValueError("probability", f"must lie above 0 and below 1, but is {checks.shown(probability)}")
    places, exponent = _scaled(confidences(values, "values"), "values")
    several = checks.flag(multimodal, "multimodal")
    if density is not None:
        if several:
            raise InvalidValueError("multimodal", "must be left out where a density is given, which shows its modes")
        height, _ = _scaled(confidences(density, "density"), "density")
        region = _densest(places.astype(np.float64), height.astype(np.float64), chance)
    else:
        region = _shortest(places, chance, several)
    return replace(region, intervals=np.ldexp(region.intervals, exponent), mode=math.ldexp(region.mode, exponent))


def _scaled(values: NDArray[Any], name: str) -> tuple[NDArray[Any], int]:
    """Scale numbers so that sums and squares neither overflow nor vanish; return the power of two divided out too."""
    if values.dtype.kind != "f":
        if len(values) and max(-int(values.min()), int(values.max())) > 2**53:
            raise InvalidValueError(name, "must hold integers up to 2^53 in size, but holds larger ones")
        return values.astype(np.int64), 0
    values = values.astype(np.float64)
    exponent = math.frexp(float(np.abs(values).max(initial=0.0)))[1]
    return (np.ldexp(values, -exponent), exponent) if abs(exponent) > _USUAL else (values, 0)


def _shortest(places: NDArray[Any], chance: float, multimodal: bool) -> HighestDensity:
    if not len(places):
        raise InvalidValueError("values", "must hold at least one sample, but are empty")
    stats = require("arviz_stats.base", "stats", "highest_density_interval").array_stats
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
    """Return the region of a density that is linear between places."""
    _require_density(places, density)
    gaps = len(places) - 1
    n_cell = gaps * -(-_CELLS // gaps)  # with an edge on every one of the places, if these are equally far apart
    edges = np.linspace(places[0], places[-1], n_cell + 1)
    height = np.interp(edges, places, density)
    mass = height[1:] + height[:-1]  # of each cell, in units of half its width
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


def _require_density(places: Float64, density: Float64) -> None:
    if len(places) != len(density):
        numbers = f"{len(density)} for {len(places)} places"
        raise InvalidValueError("density", f"must have one entry per place, but got {numbers}")
    if len(places) < 2 or not (places[1:] > places[:-1]).all():
        raise InvalidValueError("values", "must be at least two ascending places where a density is given, but are not")
    if (density < 0).any() or not density.any():
        numbers = f"lies in [{density.min()}, {density.max()}]"
        raise InvalidValueError("density", f"must be 0 or more, and more somewhere, but {numbers}")


@dataclass(frozen=True, eq=False)
class CredibleRecall(Answer):
    """The shares of items in the highest density regions of the queries' posteriors, at each mass.

    Attributes
    ----------
    masses : (n_mass,) float64
        The posterior mass in the region.
    relevant, others : Triple
        The share of a query's relevant items that its region holds (recall), and of all others (fallout), averaged over
        the queries that have any: three arrays (n_mass,).
    relevant_per_query, others_per_query : Triple
        The same for each query, three arrays (n_query, n_mass); NaN for a query that has none.
    n_query, n_left_out, n_open : int
        Queries that have a relevant item, that have none, and that have one on the end of a region.
    """

    masses: Float64
    relevant: Triple[Float64]
    others: Triple[Float64]
    relevant_per_query: Triple[Float64]
    others_per_query: Triple[Float64]
    n_query: int
    n_left_out: int
    n_open: int

    def panels(self) -> list[Panel]:
        """Return a table of the means with a row for each mass."""
        columns = [Column("mass", self.masses.tolist(), "fraction", form=".6g")]
        for part in _PARTS:
            shares = [Triple(*row) for row in np.column_stack(getattr(self, part)).tolist()]
            columns.append(Column(part, shares, "fraction", f"{part} inside", "bounds"))
        return [Panel(columns, "each", key="")]

    def facts(self) -> dict[str, Any]:
        return self._facts_of("masses", *_PARTS, "n_query", "n_left_out", "n_open")

    def notes(self) -> list[str]:
        """Return the number of queries that count, and of those that the end of a region decides."""
        left_out = f", and {self.n_left_out} without a relevant item, left out" if self.n_left_out else ""
        on_end = f" The end of a region decides {self.n_open}." if self.n_open else ""
        return [f"{count(self.n_query, 'query', 'queries')}{left_out}.{on_end}"]


@plain_floats
def credible_recall(
    items: ArrayLike, samples: ArrayLike, relevant: Any, *, masses: ArrayLike = MASSES, junk: ArrayLike | None = None
) -> CredibleRecall:
    """Return the share of relevant items in the highest density region of each query's posterior.

    A model that predicts a distribution in its embedding space predicts where similar items lie: those of the same
    class, or those that show the same instance [1]_. The region of mass p is where the posterior is densest; it ends at
    the density of the ⌈p·n_sample⌉-th densest sample of the posterior [2]_. If relevant items follow the posterior, the
    region holds a share p of them. A posterior that is far too wide holds them too, which `others` shows.

    Parameters
    ----------
    items : (n_query, n_item)
        The density of each query's posterior at each item, or any score that orders items and samples in the same way:
        its logarithm, or minus the distance to the mean of a spherical posterior.
    samples : (n_query, n_sample)
        The same at samples from this posterior.
    relevant : (n_query, n_item), bool or integers
        Nonzero for an item to be found: same class, or same instance. Also a SciPy sparse matrix.
    masses : (n_mass,)
        Above 0 and below 1.
    junk : (n_item,) or (n_query, n_item) bool, optional
        True for an item that counts neither as relevant nor as other, such as the query itself.

    Notes
    -----
    Ties: densities are compared as they are given. An item as dense as the last sample in the region lies on its end:
    `lower` leaves it out, `upper` counts it, and `expected` is the mean over all orders of the item and the equally
    dense samples, of which only as many belong to the region as make up its mass. With one such sample, that is a half.
    The bounds are attained: all items of a query on the end are out, or all are in.

    Undefined: NaN for a query without a relevant item, which is left out of the means.

    References
    ----------
    .. [1] The study arrrrrmin/ranking-metrics, README, "Credible Intervals".
    .. [2] Hyndman 1996, Computing and graphing highest density regions, section 3.2.

    Examples
    --------
    Four samples, of which a region of mass 1/2 holds two. Of three relevant items one is denser than both, one is as
    dense as the second, and one is not as dense:

    >>> found = credible_recall([[9, 7, 1]], [[8, 7, 5, 2]], [[1, 1, 1]], masses=[0.5])
    >>> [float(share[0]) for share in found.relevant] == [1 / 3, 1.5 / 3, 2 / 3]
    True
    """
    density, drawn = arrays.finite_scores(items, "items"), arrays.finite_scores(samples, "samples")
    if density.dtype != drawn.dtype:  # numbers of one type, none of them rounded
        arrays.require_exact(density, "items")
        arrays.require_exact(drawn, "samples")
        density, drawn = density.astype(np.float64), drawn.astype(np.float64)
    if len(drawn) != len(density):
        raise InvalidValueError("samples", f"must have one row per row of items, {len(density)}, but has {len(drawn)}")
    matrix, mask = arrays.relevance(relevant, density.shape), arrays.junk_mask(junk, *density.shape)
    wanted = np.asarray((matrix.toarray() if hasattr(matrix, "toarray") else matrix) != 0)
    chances = _masses(masses)
    needed = [math.ceil(Fraction(repr(mass)) * drawn.shape[1]) for mass in chances.tolist()]  # 0.07 is 7/100
    shares = np.full((2, 3, len(density), len(chances)), np.nan)
    for query, (own, sample) in enumerate(zip(density, drawn, strict=True)):
        counted = np.full(len(own), True) if mask is None else ~(mask if mask.ndim == 1 else mask[query])
        order = np.sort(sample)
        denser = len(order) - np.searchsorted(order, own, side="right")
        reached = len(order) - np.searchsorted(order, own, side="left")
        for part, chosen in enumerate((wanted[query] & counted, ~wanted[query] & counted)):
            if chosen.any():
                shares[part, :, query] = np.transpose([_shares(denser[chosen], reached[chosen], m) for m in needed])
    return _result(chances, shares)


def _shares(denser: Int64, reached: Int64, needed: int) -> tuple[float, float, float]:
    """Return the shares of items in the region of the `needed` densest samples: without its end, expected, and with it.

    `denser` samples are denser than each item, and `reached` at least as dense. All items on the end are as dense as
    the last sample that is needed. Of the t + 1 places of such an item among the t samples as dense, the first
    needed − denser are in the region.
    """
    inside, on_end = reached < needed, (denser < needed) & (needed <= reached)
    n, certain, ends = len(denser), int(inside.sum()), int(on_end.sum())
    if not ends:
        return (certain / n,) * 3
    at = int(np.argmax(on_end))
    places = int(reached[at] - denser[at]) + 1
    expected = certain * places + ends * (needed - int(denser[at]))
    return certain / n, expected / (n * places), (certain + ends) / n


@plain_floats
def normal_credible_recall(
    embeddings: ArrayLike,
    sigma: ArrayLike,
    labels: LabelsLike,
    gallery: ArrayLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    masses: ArrayLike = MASSES,
) -> CredibleRecall:
    """Return the share of items of a query's label in the highest density region of its normal posterior.

    The region of mass p around the mean x, with the standard deviation σ in each dimension, holds an item y if
    Σ ((y − x)/σ)² is at most the p-quantile of the χ² distribution with `dim` degrees of freedom.

    Parameters
    ----------
    embeddings : (n_query, dim)
        Means of the posteriors.
    sigma : (n_query,) or (n_query, dim)
        Standard deviations, above 0: one for all dimensions, or one for each. Not variances, not their logarithms.
    labels : (n_query,), or (n_query, n_label) of 0 and 1
        Labels of classes, or of instances; or several a row, as `deadheat.Task` takes them: an item that shares one
        with the query is relevant.
    gallery, gallery_labels : (n_item, dim) and labels of n_item rows, optional
        The items and their labels; by default the embeddings themselves, each query left out.
    masses : (n_mass,)
        Above 0 and below 1.

    Notes
    -----
    Ties: only rounding can put an item on the end of such a region. An item within about 1e-12 of the quantile, where
    rounding could decide, is counted by `upper` and not by `lower`; `expected` is then NaN.

    Undefined: NaN for a query without an item of its label, which is left out of the means.

    See Also
    --------
    credible_recall : for any posterior that can be drawn from, and its references.

    Examples
    --------
    A normal posterior of one dimension holds 95 % within 1.96 standard deviations of its mean:

    >>> found = normal_credible_recall([[0.0]], [1.0], ["a"], [[1.9], [-2.0], [5.0]], ["a", "a", "b"], masses=[0.95])
    >>> found.relevant.expected.tolist(), found.others.expected.tolist()
    ([0.5], [0.0])
    """
    means = arrays.embeddings(embeddings, "embeddings").astype(np.float64)
    places = means if gallery is None else arrays.embeddings(gallery, "gallery").astype(np.float64)
    if gallery is not None:
        arrays.require_same_dim(means, places)
    n_query, dim = means.shape
    pair = open_pair(means, labels, None if gallery is None else places, gallery_labels)
    relevance = LabelRelevance(pair.query.labels, (pair.gallery or pair.query).labels)
    scale, chances = _deviations(sigma, means.shape), _masses(masses)
    quantiles = require("scipy.stats", "stats", "normal_credible_recall").chi2.ppf(chances, dim)
    rounding = 1e-12 + (dim + 8) * np.finfo(np.float64).eps  # of the quantile, and of a sum of squares
    shares = np.full((2, 3, n_query, len(chances)), np.nan)
    for query in range(n_query):
        with np.errstate(over="ignore"):  # infinitely far is outside
            away = np.square((places - means[query]) / scale[query]).sum(axis=1)
        counted = np.full(len(places), True) if gallery is not None else np.arange(len(places)) != query
        for part, same in enumerate((True, False)):
            chosen = away[counted & (relevance.of(query, slice(None)) == same), None]
            if len(chosen):
                bounds = [(chosen * (1 + sign * rounding) < quantiles).sum(axis=0) / len(chosen) for sign in (1, -1)]
                middle = np.where(bounds[0] == bounds[1], bounds[0], np.nan)
                shares[part, :, query] = bounds[0], middle, bounds[1]
    return _result(chances, shares)


def _result(masses: Float64, shares: Float64) -> CredibleRecall:
    """Average the shares of relevant items and of others, (2, 3, n_query, n_mass), over the queries."""
    relevant, others = (Triple(*part) for part in shares)
    of_relevant, of_others = (  # over the queries whose share is defined; NaN if an expected one of these is
        Triple(*(np.array([mean_of_all(column) for column in bound[~np.isnan(part[0, :, 0])].T]) for bound in part))
        for part in shares
    )
    n_open = int((relevant.lower < relevant.upper).any(axis=1).sum())
    n_left_out = int(np.isnan(relevant.lower[:, 0]).sum())
    n_query = len(relevant.lower) - n_left_out
    return CredibleRecall(masses, of_relevant, of_others, relevant, others, n_query, n_left_out, n_open)


def _masses(masses: ArrayLike) -> Float64:
    chances = confidences([masses] if isinstance(masses, (int, float)) else masses, "masses").astype(np.float64)
    odd = ~((chances > 0) & (chances < 1))
    if odd.any() or not len(chances):
        given = f"one is {chances[odd][0]}" if len(chances) else "there are none"
        raise InvalidValueError("masses", f"must lie above 0 and below 1, but {given}")
    return chances


def _deviations(sigma: ArrayLike, shape: tuple[int, ...]) -> Float64:
    array = conversion.plain(sigma, "sigma")
    if array.shape not in (shape, shape[:1]):
        raise InvalidValueError("sigma", f"must have shape {shape[:1]} or {shape}, but has shape {array.shape}")
    scale = arrays.embeddings(array.reshape(shape[0], -1), "sigma").astype(np.float64)
    if scale.min() <= 0:
        row = int(np.argwhere(scale <= 0)[0, 0])
        raise InvalidValueError("sigma", f"must be above 0, but is {scale[row].min()} for query {row}")
    return scale
