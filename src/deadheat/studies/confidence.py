"""Ranking measures with a model's confidence: the ranking-metrics study's experiment, and real embeddings beside it.

In comes a setting; out come the curves of the experiment with their bounds, the norm and the label entropy as
confidences of real embeddings, and highest density intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import deadheat as dh
from deadheat.analyses import confidence as measures
from deadheat.analyses.confidence import ConfidenceAccuracy, RankCorrelation
from deadheat.plots import _style
from deadheat.plots import confidence as plots
from deadheat.studies import _real_confidence, toy
from deadheat.studies._densities import densities
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table
from deadheat.support.triple import Triple

TITLE = "Ranking measures with a model's confidence"
SOURCE = (
    "the study arrrrrmin/ranking-metrics, tests/test_uncertainty.py, after Musgrave et al. 2020 and the library "
    "tinkoff-ai/probabilistic-embeddings; excess AURC: Geifman, Uziel, El-Yaniv 2019"
)
ABOUT = (
    "In the second toy example, 100 drawn labels are flipped. The flipped points all get one confidence, which moves "
    "from 0.05 to 1, and the measures of confidence are to notice. Because the flipped are equally confident, the "
    "study's single numbers depend on a sort; here each has a lower bound, an expectation and an upper bound. Then the "
    "norm and the entropy of the neighbours' labels serve as confidences of real embeddings."
)

STEPS = np.arange(1, 21) / 20
SCALE = 12500.0  # another scale for the same confidences, as in the study
_README = "README of arrrrrmin/ranking-metrics"
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
    given = data.moved(confidence, scale)
    return Step(
        measures.confidence_accuracy(hit, given),
        measures.error_reject_curve(hit, given).area,
        measures.error_reject_curve(map_at_r, given).area,
        measures.rank_correlation(given, data.original),
    )


def by_a_sort(values: Float64, confidence: Float64) -> float:
    """The study's number: the area after one stable sort, equal confidences in the order of the samples."""
    errors = (1 - values)[np.argsort(-confidence, kind="stable")]
    return float((np.cumsum(errors) / np.arange(1, len(errors) + 1)).mean())


def run(setting: Setting) -> Outcome:
    """The experiment over several draws, real embeddings, and highest density intervals."""
    n, seeds = (400, range(2)) if setting.quick else (2000, range(20))
    setting.say(f"{len(seeds)} draws of {n} points, {len(STEPS)} steps each")
    draws = [experiment(seed, n, setting.threads) for seed in seeds]
    setting.say("real embeddings")
    real = _real_confidence.run(setting)
    regions = densities(setting.quick)
    return Outcome(
        findings=[*_shapes(draws), *_numbers(draws), *_correlations(draws), *real.findings, *regions.findings],
        pictures=[*_pictures(draws), *real.pictures, *regions.pictures],
        tables=[_table(draws), *real.tables, *regions.tables],
        text=_text(draws),
    )


# ---------------------------------------------------------------------------------------------------------------------
# findings


def _all(draws: Sequence[Draw], value: Callable[[Step], float | Triple[float]]) -> Float64:
    """A value of every draw and step: (draws, steps) or (draws, steps, 3)."""
    return np.array([[value(one) for one in draw.steps] for draw in draws], dtype=np.float64)


def _shapes(draws: Sequence[Draw]) -> list[Finding]:
    """What the study says of its pictures, which have no numbers: whether each curve only falls or only rises."""
    curves = {
        "confidence against Recall@1 never rises": -_all(draws, lambda one: one.accuracy.mean_accuracy.expected),
        "the error-reject area by Hit@1 never falls": _all(draws, lambda one: one.by_hit.expected),
        "the error-reject area by MAP@R never falls": _all(draws, lambda one: one.by_map.expected),
    }
    findings = []
    for what, curve in curves.items():
        held = int((np.diff(curve, axis=1) >= 0).all(axis=1).sum())
        least = np.array([STEPS[one == one.min()].max() for one in curve])
        published = "the scores drop" if what.startswith("confidence") else "the errors increase"
        findings.append(
            Finding(
                f"draws in which {what} with the confidence of the flipped",
                f"{held} of {len(draws)}",
                Mark.AGREES if held == len(draws) else Mark.DIFFERS,
                published,
                _README,
                f"at its best while the flipped are the least confident, up to {_span(least)}",
            )
        )
    return findings


def _numbers(draws: Sequence[Draw]) -> list[Finding]:
    """What the single numbers leave out: ties, guesses that are better, and the scale."""
    accuracy = _all(draws, lambda one: one.accuracy.mean_accuracy)
    best = _all(draws, lambda one: one.accuracy.best_accuracy)
    majority = _all(draws, lambda one: one.accuracy.majority_accuracy)
    widths = {
        name: 100 * (values[:, :, 2] - values[:, :, 0]).max()
        for name, values in (
            ("Hit@1", _all(draws, lambda one: one.by_hit)),
            ("MAP@R", _all(draws, lambda one: one.by_map)),
        )
    }
    return [
        Finding(
            "draws and steps at which confidence against Recall@1 beats guessing that every query is right",
            f"{int((accuracy[:, :, 1] > majority).sum())} of {majority.size}",
            Mark.NEW,
            why=f"over all thresholds it is {_range(accuracy[:, :, 1])} on average, the guess {_range(majority)}, the "
            f"best threshold {_range(best)}; the library that the study follows takes the best",
        ),
        _scale(draws[0]),
        Finding(
            "confidence against Recall@1: largest distance of lower and upper",
            f"{100 * (accuracy[:, :, 2] - accuracy[:, :, 0]).max():.2f} points",
            Mark.NEW,
            why="equal confidences are on one side of every threshold: no tie can decide",
        ),
        *[
            Finding(
                f"error-reject area by {name}: largest distance of lower and upper",
                f"{width:.2f} points",
                Mark.NEW,
                "a single number",
                "metrics.py, error_vs_reject_curve",
                "the order of the equally confident decides, and a sort decides that",
            )
            for name, width in widths.items()
        ],
        *_sorts(draws),
        _cut(draws[0]),
    ]


def _span(values: Float64) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _range(values: Float64) -> str:
    return f"{100 * values.min():.1f} to {100 * values.max():.1f} %"


def _scale(draw: Draw) -> Finding:
    """The study says that the measure needs confidences in [0, 1]."""
    same = sum(
        step(draw.data, draw.hit, draw.map_at_r, confidence, SCALE).accuracy.mean_accuracy == one.accuracy.mean_accuracy
        for confidence, one in zip(STEPS.tolist(), draw.steps, strict=True)
    )
    return Finding(
        f"steps at which confidence against Recall@1 has the same bits with all confidences times {SCALE:g}",
        f"{same} of {len(STEPS)}",
        Mark.DIFFERS if same == len(STEPS) else Mark.AGREES,
        "only works with confidences in [0, 1]",
        _README,
        "a ROC curve sees the order of the confidences alone; what needs probabilities is calibration",
    )


def _sorts(draws: Sequence[Draw]) -> list[Finding]:
    """The same sort on the same samples, in two orders, where that makes the greatest difference."""
    found = []
    for draw in draws:
        for confidence in STEPS.tolist():
            given, hit = draw.data.moved(confidence), draw.hit.expected
            found.append((by_a_sort(hit, given), by_a_sort(hit[::-1], given[::-1]), confidence))
    forth, back, confidence = max(found, key=lambda one: abs(one[0] - one[1]))
    return [
        Finding(
            "error-reject area by Hit@1, one stable sort: samples as drawn, and backwards",
            f"{100 * forth:.3f} and {100 * back:.3f} %",
            Mark.NEW,
            why=f"the draw and step of the greatest difference, at a confidence of {confidence:g}",
        )
    ]


def _cut(draw: Draw) -> Finding:
    """MAP@R where the classes differ in size: the study cuts every ranking at the size of the smaller one."""
    theirs = toy.as_published(toy.Points(draw.data.points, draw.data.labels)).map_at_r
    ours = float(draw.map_at_r.expected.mean())
    sizes = np.bincount(draw.data.labels)
    return Finding(
        "MAP@R of one draw with its flipped labels, and by the study's code",
        f"{100 * ours:.3f} %",
        Mark.DIFFERS if abs(ours - theirs) > 1e-12 else Mark.AGREES,
        f"{100 * theirs:.3f} % (computed here)",
        "metrics.py, mean_average_precision_at_r",
        f"the classes have {sizes.min()} and {sizes.max()} points; there, R is {sizes.min() - 1} for both",
    )


def _correlations(draws: Sequence[Draw]) -> list[Finding]:
    start = [measures.rank_correlation(draw.data.original * SCALE, draw.data.original) for draw in draws]
    rho = _all(draws, lambda one: one.correlation.spearman)
    peaks = STEPS[rho.argmax(axis=1)]
    averages = np.array([draw.data.original[draw.data.flipped].mean() for draw in draws])
    near = int((abs(peaks - averages) <= STEPS[0]).sum())
    least = min(one.spearman for one in start)
    return [
        Finding(
            f"Spearman's rho of the original confidences and the same times {SCALE:g}",
            f"{least:.12g}",
            Mark.AGREES if abs(least - 1) < 1e-12 else Mark.DIFFERS,
            "1",
            "tests/test_uncertainty.py",
        ),
        Finding(
            "draws in which Spearman's rho peaks within a step of the flipped points' average confidence before",
            f"{near} of {len(draws)}",
            Mark.NEW,
            "a line at the average, no number",
            "figures/rank_corr_over_simulated_sigmas.png",
            f"averages of {averages.min():.3f} to {averages.max():.3f}, peaks at {_span(peaks)}; "
            f"rho is {rho.min():.3f} at worst, and {rho.max(axis=1).min():.3f} or more at the peak",
        ),
    ]


def _text(draws: Sequence[Draw]) -> list[str]:
    flipped = [int(draw.data.flipped.sum()) for draw in draws]
    others = np.concatenate([draw.data.original[~draw.data.flipped] for draw in draws])
    wrong = [1 - draw.hit.expected[draw.data.flipped].mean() for draw in draws]
    return [
        f"The flipped points are drawn with replacement, so that {min(flipped)} to {max(flipped)} of them are "
        f"different. Of these, {100 * min(wrong):.0f} to {100 * max(wrong):.0f} % have a nearest neighbour of the "
        f"other label. The confidences of all other points lie between {others.min():.3f} and {others.max():.3f}, so "
        "that nothing changes while that of the flipped moves below or above this range.",
    ]


# ---------------------------------------------------------------------------------------------------------------------
# pictures and the table


def _pictures(draws: Sequence[Draw]) -> list[Picture]:
    return [
        Picture(
            "points",
            "Example 2 with flipped labels (ringed). The fainter a point, the less confident; the flipped are as "
            "confident as can be, as in the study's picture.",
            _points(draws[0]),
        ),
        Picture(
            "moved",
            "What the confidence of the flipped does. One draw is strong, with a band where the order of the equally "
            "confident decides; the other draws are pale.",
            _moved(draws),
        ),
        Picture(
            "curves",
            "Error against reject by Hit@1, one draw, at three confidences of the flipped. In the bands, their order "
            "decides.",
            _curves(draws[0]),
        ),
        Picture(
            "correlation",
            "Rank correlation with the original confidences, on two scales: the same values. One draw.",
            _correlation(draws[0]),
        ),
    ]


def _points(draw: Draw) -> Figure:
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    ax = figure.subplots()
    data = draw.data
    plots.labelled_points(data.points, data.labels, confidence=data.moved(1.0), marked=data.flipped, ax=ax)
    ax.set(xlim=(-1.03, 1.03), ylim=(-0.03, 1.03), xticks=[-1, 0, 1], yticks=[0, 1])
    figure.legend(loc="outside upper right", ncols=3, frameon=False, markerscale=1.6)
    return figure


def _moved(draws: Sequence[Draw]) -> Figure:
    figure = Figure(figsize=(8.6, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    curves: list[tuple[Callable[[Step], Triple[float]], str]] = [
        (lambda one: one.accuracy.mean_accuracy, "confidence against Recall@1"),
        (lambda one: one.by_hit, "error-reject area by Hit@1"),
        (lambda one: one.by_map, "error-reject area by MAP@R"),
    ]
    for number, (value, label) in enumerate(curves):
        ax = right if number else left
        for draw in draws[1:]:
            ax.plot(
                STEPS,
                [value(one).expected for one in draw.steps],
                color=_style.GREY,
                alpha=0.3,
                linewidth=0.7,
                zorder=0.5,
            )
        shown = [value(one) for one in draws[0].steps]
        plots.against_confidence(STEPS.tolist(), shown, ax=ax, label=label, number=number)
    for ax, what in ((left, "mean accuracy over all thresholds (%)"), (right, "error-reject area (%)")):
        ax.set_ylabel(what)
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def _curves(draw: Draw) -> Figure:
    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    ax = figure.subplots()
    for number, confidence in enumerate((0.05, 0.6, 1.0)):
        curve = measures.error_reject_curve(draw.hit, draw.data.moved(confidence))
        plots.error_reject(curve, ax=ax, label=f"flipped at {confidence:g}", number=number, references=number == 0)
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    figure.legend(handles=lines, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


def _correlation(draw: Draw) -> Figure:
    figure = Figure(figsize=(8.2, 3.4), layout="constrained")
    average = float(draw.data.original[draw.data.flipped].mean())
    for ax, scale in zip(figure.subplots(1, 2, sharey=True), (1.0, SCALE), strict=True):
        found = [step(draw.data, draw.hit, draw.map_at_r, c, scale).correlation for c in STEPS.tolist()]
        plots.correlations((STEPS * scale).tolist(), found, ax=ax, average=average * scale)
    figure.axes[1].set(xlabel=f"the same times {SCALE:g}", ylabel="")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def _table(draws: Sequence[Draw]) -> Table:
    """Means over the draws at every step."""
    named: dict[str, Callable[[Step], float | Triple[float]]] = {
        "confidence against Recall@1": lambda one: one.accuracy.mean_accuracy,
        "ERC by Hit@1": lambda one: one.by_hit,
        "ERC by MAP@R": lambda one: one.by_map,
        "best accuracy": lambda one: one.accuracy.best_accuracy,
        "AUROC": lambda one: one.accuracy.auroc,
        "Spearman": lambda one: one.correlation.spearman,
        "Kendall": lambda one: one.correlation.kendall,
    }
    columns, cells = ["confidence of the flipped"], [STEPS]
    for name, value in named.items():
        mean = _all(draws, value).mean(axis=0)
        columns += [f"{name}: {end}" for end in Triple._fields] if mean.ndim == 2 else [name]
        cells += list(mean.T) if mean.ndim == 2 else [mean]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return Table("moved", f"Means over {len(draws)} draws, as fractions", columns, rows)
