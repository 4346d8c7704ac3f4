"""The experiment: flipped labels, one confidence for all of them, and what the measures make of it.

In come a seed and a size; out come draws, measured at every step of that confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat as dh
from deadheat.analyses import confidence as measures
from deadheat.analyses.confidence import ConfidenceAccuracy, RankCorrelation
from deadheat.studies import toy
from deadheat.support.triple import Triple

STEPS = np.arange(1, 21) / 20
SCALE = 12500.0  # another scale for the same confidences, as in the study
Float64 = NDArray[np.float64]


class Flipped(NamedTuple):
    """Points of example 2, their labels after flipping, which were flipped, and the simulated confidences."""

    points: Float64
    labels: NDArray[np.int64]
    flipped: NDArray[np.bool_]
    original: Float64

    def moved(self, confidence: float, scale: float = 1.0) -> Float64:
        """All confidences, with that of the flipped points set to a value, on another scale."""
        return np.where(self.flipped, confidence, self.original) * scale


class Step(NamedTuple):
    """The measures at one confidence of the flipped points: areas by Hit@1 and by MAP@R, and the rest."""

    accuracy: ConfidenceAccuracy
    by_hit: Triple[float]
    by_map: Triple[float]
    correlation: RankCorrelation


class Draw(NamedTuple):
    """One draw of the experiment: its points, the values of the queries, and the steps."""

    data: Flipped
    hit: Triple[Float64]
    map_at_r: Triple[Float64]
    steps: list[Step]


def flip(seed: int, n: int = 2000) -> Flipped:
    """Example 2 with up to 100 flipped labels: drawn with replacement as in the study, each flipped once.

    The confidence of a point is 1 − the density of a normal distribution around 0 with deviation 0.5 at its x.

    Examples
    --------
    >>> data = flip(0, n=400)
    >>> bool((data.labels[data.flipped] == (data.points[data.flipped, 0] <= 0)).all())
    True
    """
    points, labels = toy.draw(2, seed, n)
    flipped = np.zeros(n, dtype=bool)
    flipped[np.random.default_rng([3, seed]).integers(0, n, n // 20)] = True
    original = 1 - np.exp(-2 * points[:, 0] ** 2) / (0.5 * np.sqrt(2 * np.pi))
    return Flipped(points, np.where(flipped, 1 - labels, labels), flipped, original)


def experiment(seed: int, n: int, threads: int | None = None) -> Draw:
    """One draw, measured at every step."""
    data = flip(seed, n)
    report = dh.evaluate(data.points, data.labels, distance="euclidean", measures=["Hit@1", "MAP@R"], threads=threads)
    hit, map_at_r = report["Hit@1"].per_query, report["MAP@R"].per_query
    return Draw(data, hit, map_at_r, [step(data, hit, map_at_r, confidence) for confidence in STEPS.tolist()])


def step(data: Flipped, hit: Triple[Float64], map_at_r: Triple[Float64], confidence: float, scale: float = 1.0) -> Step:
    """The measures where the flipped points have one confidence, all confidences times `scale`."""
    moved = data.moved(confidence, scale)
    return Step(
        measures.confidence_accuracy(hit, moved),
        measures.error_reject_curve(hit, moved).area,
        measures.error_reject_curve(map_at_r, moved).area,
        measures.rank_correlation(moved, data.original),
    )


def by_a_sort(values: Float64, confidence: Float64) -> float:
    """The study's number: the area after one stable sort, equal confidences in the order of the samples."""
    errors = (1 - values)[np.argsort(-confidence, kind="stable")]
    return float((np.cumsum(errors) / np.arange(1, len(errors) + 1)).mean())


def values_of(draws: Sequence[Draw], value: Callable[[Step], float | Triple[float]]) -> Float64:
    """A value of every draw and step: (draws, steps) or (draws, steps, 3)."""
    return np.array([[value(step) for step in draw.steps] for draw in draws], dtype=np.float64)
