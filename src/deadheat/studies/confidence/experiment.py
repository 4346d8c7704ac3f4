"""The experiment: flipped labels, one confidence for all of them, and what the measures make of it.

In come a seed and a size; out come draws, measured at every step of that confidence, and what they show beside what
the published study says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat as dh
from deadheat.analyses import confidence as measures
from deadheat.analyses.confidence import ConfidenceAccuracy, RankCorrelation
from deadheat.studies import published, toy
from deadheat.studies.study import Finding, Mark
from deadheat.support.extras import require
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
    """The measures at one confidence of the flipped points: areas by Hit@1 and by MAP@R, and the rest.

    `by_default` is the mean accuracy over the thresholds that are left of the ROC curve by scikit-learn's default.
    """

    accuracy: ConfidenceAccuracy
    by_default: float
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

    Examples
    --------
    >>> data = flip(0, n=400)
    >>> bool((data.labels[data.flipped] == (data.points[data.flipped, 0] <= 0)).all())
    True
    """
    points, labels = toy.draw(2, seed, n)
    flipped = np.zeros(n, dtype=bool)
    flipped[np.random.default_rng([3, seed]).integers(0, n, n // 20)] = True
    return Flipped(points, np.where(flipped, 1 - labels, labels), flipped, confidences(points))


def confidences(points: Float64) -> Float64:
    """1 − the density of a normal distribution around 0 with deviation 0.5 at each point's x."""
    return np.asarray(1 - np.exp(-2 * points[:, 0] ** 2) / (0.5 * np.sqrt(2 * np.pi)))


def run(seed: int, n: int, threads: int | None = None) -> Draw:
    """One draw, measured at every step."""
    return measured(flip(seed, n), threads)


def measured(data: Flipped, threads: int | None = None) -> Draw:
    """Points with flipped labels, measured at every step."""
    report = dh.evaluate(data.points, data.labels, distance="euclidean", measures=["Hit@1", "MAP@R"], threads=threads)
    hit, map_at_r = report["Hit@1"].per_query, report["MAP@R"].per_query
    return Draw(data, hit, map_at_r, [step(data, hit, map_at_r, confidence) for confidence in STEPS.tolist()])


def step(data: Flipped, hit: Triple[Float64], map_at_r: Triple[Float64], confidence: float, scale: float = 1.0) -> Step:
    """The measures where the flipped points have one confidence, all confidences times `scale`."""
    moved = data.moved(confidence, scale)
    return Step(
        measures.confidence_accuracy(hit, moved),
        accuracy_over_roc(hit.expected, moved, drop_intermediate=True),
        measures.error_reject_curve(hit, moved).area,
        measures.error_reject_curve(map_at_r, moved).area,
        measures.rank_correlation(moved, data.original),
    )


def accuracy_over_roc(hit: Float64, confidence: Float64, *, drop_intermediate: bool) -> float:
    """The study's number: prec·TPR + (1 − prec)·(1 − FPR), averaged over the points of scikit-learn's ROC curve."""
    metrics = require("sklearn.metrics", "reproduce", "the confidence study")
    false, true, _ = metrics.roc_curve(hit, confidence, drop_intermediate=drop_intermediate)
    share = hit.mean()
    return float((share * true + (1 - share) * (1 - false)).mean())


def by_a_sort(values: Float64, confidence: Float64) -> float:
    """The study's number: the area after one stable sort, equal confidences in the order of the samples."""
    errors = (1 - values)[np.argsort(-confidence, kind="stable")]
    return float((np.cumsum(errors) / np.arange(1, len(errors) + 1)).mean())


def values_of(draws: Sequence[Draw], value: Callable[[Step], float | Triple[float]]) -> Float64:
    """A value of every draw and step: (draws, steps) or (draws, steps, 3)."""
    return np.array([[value(step) for step in draw.steps] for draw in draws], dtype=np.float64)


_README = published.RANKING_METRICS


def findings(draws: Sequence[Draw]) -> list[Finding]:
    return [*shapes(draws), *numbers(draws), *correlations(draws)]


def shapes(draws: Sequence[Draw]) -> list[Finding]:
    """What the study says of its pictures, which have no numbers: whether each curve only falls or only rises."""
    curves = {
        "confidence against Recall@1 never rises": -values_of(draws, lambda step: step.accuracy.mean_accuracy.expected),
        "the error-reject area by Hit@1 never falls": values_of(draws, lambda step: step.by_hit.expected),
        "the error-reject area by MAP@R never falls": values_of(draws, lambda step: step.by_map.expected),
    }
    found = []
    for what, curve in curves.items():
        held = int((np.diff(curve, axis=1) >= 0).all(axis=1).sum())
        least = np.array([STEPS[draw == draw.min()].max() for draw in curve])
        published = "the scores drop" if what.startswith("confidence") else "the errors increase"
        found.append(
            Finding(
                f"draws in which {what} with the confidence of the flipped",
                f"{held} of {len(draws)}",
                Mark.of(held == len(draws)),
                published,
                _README,
                f"at its best while the flipped are the least confident, up to {_span(least)}",
            )
        )
    return found


def numbers(draws: Sequence[Draw]) -> list[Finding]:
    """What the single numbers leave out: ties, guesses that are better, and the scale."""
    accuracy = values_of(draws, lambda step: step.accuracy.mean_accuracy)
    best = values_of(draws, lambda step: step.accuracy.best_accuracy)
    majority = values_of(draws, lambda step: step.accuracy.majority_accuracy)
    return [
        Finding(
            "draws and steps at which confidence against Recall@1 beats guessing that every query is right",
            f"{int((accuracy[:, :, 1] > majority).sum())} of {majority.size}",
            Mark.NEW,
            why=f"over all thresholds it is {_range(accuracy[:, :, 1])} on average, the guess {_range(majority)}, the "
            f"best threshold {_range(best)}; the library that the study follows takes the best",
        ),
        _default(draws),
        _scale(draws[0]),
        Finding(
            "confidence against Recall@1: largest distance of lower and upper",
            f"{100 * (accuracy[:, :, 2] - accuracy[:, :, 0]).max():.2f} points",
            Mark.NEW,
            why="equal confidences are on one side of every threshold: no tie can decide",
        ),
        _width("Hit@1", values_of(draws, lambda step: step.by_hit)),
        _width("MAP@R", values_of(draws, lambda step: step.by_map)),
        _sorts(draws),
        _cut(draws[0]),
    ]


def _default(draws: Sequence[Draw]) -> Finding:
    """What the number is if scikit-learn drops thresholds, as it does by default."""
    accuracy = values_of(draws, lambda step: step.accuracy.mean_accuracy.expected)
    by_default = values_of(draws, lambda step: step.by_default)
    return Finding(
        "confidence against Recall@1 over all thresholds, and over those that scikit-learn keeps by default",
        f"{_range(accuracy)}, and {_range(by_default)}",
        Mark.NEW,
        "drop_intermediate=False",
        "metrics.py, conf_vs_recall_at_1",
        "all thresholds, as here, is what the study's code asks for; the default drops those at which the curve goes "
        f"on as before: up to {100 * abs(by_default - accuracy).max():.2f} points away",
    )


def _width(by: str, areas: Float64) -> Finding:
    """How far the order of the equally confident can move an area."""
    return Finding(
        f"error-reject area by {by}: largest distance of lower and upper",
        f"{100 * (areas[:, :, 2] - areas[:, :, 0]).max():.2f} points",
        Mark.NEW,
        "a single number",
        "metrics.py, error_vs_reject_curve",
        "the order of the equally confident decides, and a sort decides that",
    )


def _span(values: Float64) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _range(values: Float64) -> str:
    return f"{100 * values.min():.1f} to {100 * values.max():.1f} %"


def _scale(draw: Draw) -> Finding:
    """The study says that the measure needs confidences in [0, 1]."""
    same = sum(
        step(draw.data, draw.hit, draw.map_at_r, confidence, SCALE).accuracy.mean_accuracy
        == plain.accuracy.mean_accuracy
        for confidence, plain in zip(STEPS.tolist(), draw.steps, strict=True)
    )
    return Finding(
        f"steps at which confidence against Recall@1 has the same bits with all confidences times {SCALE:g}",
        f"{same} of {len(STEPS)}",
        Mark.of(same < len(STEPS)),
        "only works with confidences in [0, 1]",
        _README,
        "a ROC curve sees the order of the confidences alone; what needs probabilities is calibration",
    )


def _sorts(draws: Sequence[Draw]) -> Finding:
    """The same sort on the same samples, in two orders, where that makes the greatest difference."""
    areas = []
    for draw in draws:
        for confidence in STEPS.tolist():
            moved, hit = draw.data.moved(confidence), draw.hit.expected
            areas.append((by_a_sort(hit, moved), by_a_sort(hit[::-1], moved[::-1]), confidence))
    forth, back, confidence = max(areas, key=lambda area: abs(area[0] - area[1]))
    return Finding(
        "error-reject area by Hit@1, one stable sort: samples as drawn, and backwards",
        f"{100 * forth:.3f} and {100 * back:.3f} %",
        Mark.NEW,
        why=f"the draw and step of the greatest difference, at a confidence of {confidence:g}",
    )


def _cut(draw: Draw) -> Finding:
    """MAP@R where the classes differ in size: the study cuts every ranking at the size of the smaller one."""
    theirs = toy.as_published(toy.Points(draw.data.points, draw.data.labels)).map_at_r
    ours = float(draw.map_at_r.expected.mean())
    sizes = np.bincount(draw.data.labels)
    return Finding(
        "MAP@R of one draw with its flipped labels, and by the study's code",
        f"{100 * ours:.3f} %",
        Mark.of(abs(ours - theirs) <= 1e-12),
        f"{100 * theirs:.3f} % (computed here)",
        "metrics.py, mean_average_precision_at_r",
        f"the classes have {sizes.min()} and {sizes.max()} points; there, R is {sizes.min() - 1} for both",
    )


def correlations(draws: Sequence[Draw]) -> list[Finding]:
    start = [measures.rank_correlation(draw.data.original * SCALE, draw.data.original) for draw in draws]
    rho = values_of(draws, lambda step: step.correlation.spearman)
    peaks = STEPS[rho.argmax(axis=1)]
    averages = np.array([draw.data.original[draw.data.flipped].mean() for draw in draws])
    near = int((abs(peaks - averages) <= STEPS[0]).sum())
    least = min(correlation.spearman for correlation in start)
    return [
        Finding(
            f"Spearman's rho of the original confidences and the same times {SCALE:g}",
            f"{least:.12g}",
            Mark.of(abs(least - 1) < 1e-12),
            "1",
            "tests/test_uncertainty.py",
        ),
        Finding(
            "draws in which Spearman's rho peaks within a step of the flipped points' average confidence before",
            f"{near} of {len(draws)}",
            Mark.NEW,
            "the score is the highest at the average",
            published.RANKING_METRICS,
            f"averages of {averages.min():.3f} to {averages.max():.3f}, peaks at {_span(peaks)}; "
            f"rho is {rho.min():.3f} at worst, and {rho.max(axis=1).min():.3f} or more at the peak",
        ),
    ]
