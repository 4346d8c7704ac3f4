"""Ranking measures with a model's confidence: the experiment of the study arrrrrmin/ranking-metrics.

Input: a setting. Output: the curves of the experiment with their bounds, on new draws and on the study's own.
Its tests draw one after the other: the README's number is that of tests/test_uncertainty.py run alone, the number in
the figure that of all tests run together, where the toy examples are drawn first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat as dh
from deadheat.analyses.confidence.hits import confidence_accuracy
from deadheat.analyses.confidence.rejecting import error_reject_curve
from deadheat.analyses.confidence.targets import rank_correlation
from deadheat.plots import style
from deadheat.plots.confidences import error_reject
from deadheat.support.lazy import require
from deadheat.support.triple import Triple
from reproduce import confidence_data, toy
from reproduce.plots import labelled_points
from reproduce.study import Finding, Mark, Outcome, Picture, Setting, Table, compared, joined
from reproduce.toy import RANKING_METRICS

TITLE = "Ranking measures with a model's confidence"
SOURCE = (
    "the study arrrrrmin/ranking-metrics, tests/test_uncertainty.py, after Musgrave et al. 2020 and the library "
    "tinkoff-ai/probabilistic-embeddings; excess AURC: Geifman, Uziel, El-Yaniv 2019"
)
ABOUT = (
    "In the second toy example, 100 labels are flipped at random. The flipped points all get one confidence, which "
    "rises from 0.05 to 1; a measure of confidence should show this. Because the flipped points are equally confident, "
    "the study's single numbers depend on a sort; here each has a lower bound, an expectation and an upper bound. Then "
    "the norm and the entropy of the neighbours' labels serve as confidences of real embeddings. Stand-in models of "
    "digits that are blurred, cropped and labelled by stand-in annotators show what a σ-target measures, and which "
    "items lie in the credible regions of a posterior."
)
NEEDS = ("scipy", "sklearn", "arviz_stats")

RANK_CORRELATION_PEAK = 6827.5  # confidence of the flipped points with the highest score, on their scale of 12500
RANK_CORRELATION_FIGURE = "figures/rank_corr_over_simulated_sigmas.png, legend"
RANK_CORRELATION_AVERAGE = 6777.5  # the same in the figure: "Avrg. of original confidences"
MOVED_FIGURE = "figures/confidence_recall_metrics.png, right axis"
MOVED_ERROR = 23  # per cent, read off: the error by Recall@1 where the flipped points have confidence 1
STEPS = np.arange(1, 21) / 20
SCALE = 12500.0  # a second scale for the same confidences, as in the study
_ACCURACY, _DEFAULT, _BEST = "confidence against Recall@1", "by scikit-learn's default", "best accuracy"
_BY_HIT, _BY_MAP, _MAJORITY = "ERC by Hit@1", "ERC by MAP@R", "majority"

Float64 = NDArray[np.float64]
Steps = Mapping[str, Float64]  # by measure: a value or a triple for each step; with several draws, for each of these


def run(setting: Setting) -> Outcome:
    """Run the experiment on several draws and on the study's own; then real embeddings, σ-targets, credible regions."""
    n, seeds = (400, range(2)) if setting.quick else (2000, range(20))
    setting.say(f"{len(seeds)} draws of {n} points, {len(STEPS)} steps each")
    draws = [measured(flip(seed, n), setting.threads) for seed in seeds]
    setting.say("the study's own draws, real embeddings, σ-targets, highest densities, credible regions")
    steps = {name: np.stack([draw.steps[name] for draw in draws]) for name in draws[0].steps}
    area, accuracy = steps[_BY_HIT], steps[_ACCURACY][..., 1]
    first, last = 100 * area[:, 0, 1].mean(), 100 * area[:, -1, 1].mean()
    conclusion = (
        f"The error-reject area shows wrong confidences: it rises from {first:.1f} to {last:.1f} % as the flipped "
        f"points become the most confident. But where confidences tie it is not a single number: the order of equally "
        f"confident queries moves it by up to {_width(area)} points. Confidence against Recall@1 averages over all "
        f"thresholds ({_range(accuracy)}), and stays below the guess that every query is "
        f"right in {100 * (accuracy <= steps[_MAJORITY]).mean():.0f} % of the cases."
    )
    flipped = [int(draw.data.flipped.sum()) for draw in draws]
    unflipped = np.concatenate([draw.data.original[~draw.data.flipped] for draw in draws])
    wrong = [1 - draw.hit.expected[draw.data.flipped].mean() for draw in draws]
    text = (
        f"The flipped points are drawn with replacement; {min(flipped)} to {max(flipped)} of them are "
        f"distinct. Of these, {100 * min(wrong):.0f} to {100 * max(wrong):.0f} % have a nearest neighbour of the "
        f"other label. The confidences of all other points lie between {unflipped.min():.3f} and "
        f"{unflipped.max():.3f}, so that nothing changes while that of the flipped points is below or above this range."
    )
    pictures = [_points(draws[0]), _moved(draws), _curves(draws[0]), _correlation(draws[0])]
    ours = Outcome([*_shapes(steps), *_numbers(draws, steps), *_correlations(draws, steps)], pictures, [_table(steps)])
    parts = (
        own_draws, confidence_data.norms_and_entropies, confidence_data.targets, confidence_data.densities,
        confidence_data.regions,
    )  # fmt: skip
    return joined([ours, *(part(setting) for part in parts)], [text], conclusion)


# ---------------------------------------------------------------------------------------------------------------------
# the experiment


class Flipped(NamedTuple):
    """Points of example 2, their labels after flipping, which were flipped, and the simulated confidences."""

    points: Float64
    labels: NDArray[np.int64]
    flipped: NDArray[np.bool_]
    original: Float64

    def moved(self, confidence: float, scale: float = 1.0) -> Float64:
        """All confidences, with that of the flipped points set to a value, on another scale."""
        return np.where(self.flipped, confidence, self.original) * scale


class Draw(NamedTuple):
    data: Flipped
    hit: Triple[Float64]  # of each query
    map_at_r: Triple[Float64]
    steps: Steps


def flip(seed: int, n: int = 2000) -> Flipped:
    """Example 2 with up to 100 flipped labels: drawn with replacement as in the study, each flipped once.

    Examples
    --------
    >>> data = flip(0, n=400)
    >>> bool((data.labels[data.flipped] == (data.points[data.flipped, 0] <= 0)).all())
    True
    """
    toys = toy.draw(2, seed, n)
    return _flipped(toys, np.random.default_rng([3, seed]).integers(0, n, n // 20))


def _flipped(toys: toy.Points, items: NDArray[np.int64]) -> Flipped:
    flipped = np.zeros(len(toys.labels), dtype=bool)
    flipped[items] = True
    return Flipped(toys.points, np.where(flipped, 1 - toys.labels, toys.labels), flipped, confidences(toys.points))


def confidences(points: Float64) -> Float64:
    """1 − the density of a normal distribution around 0 with deviation 0.5 at each point's x."""
    return np.asarray(1 - np.exp(-2 * points[:, 0] ** 2) / (0.5 * np.sqrt(2 * np.pi)))


def measured(data: Flipped, threads: int | None = None) -> Draw:
    report = dh.evaluate(data.points, data.labels, distance="euclidean", measures=["Hit@1", "MAP@R"], threads=threads)
    hit, map_at_r = report["Hit@1"].per_query, report["MAP@R"].per_query
    return Draw(data, hit, map_at_r, _steps(data, hit, map_at_r))


def _steps(data: Flipped, hit: Triple[Float64], map_at_r: Triple[Float64], scale: float = 1.0) -> Steps:
    """The measures at every confidence of the flipped points, all confidences times `scale`."""
    result: dict[str, list[float | Triple[float]]] = defaultdict(list)
    for confidence in STEPS.tolist():
        moved = data.moved(confidence, scale)
        accuracy = confidence_accuracy(hit, moved)
        correlation = rank_correlation(moved, data.original)
        result[_ACCURACY].append(accuracy.mean_accuracy)
        result[_DEFAULT].append(accuracy_over_roc(hit.expected, moved, drop_intermediate=True))
        result[_BY_HIT].append(error_reject_curve(hit, moved).area)
        result[_BY_MAP].append(error_reject_curve(map_at_r, moved).area)
        result[_BEST].append(accuracy.best_accuracy)
        result["AUROC"].append(accuracy.auroc)
        result["Spearman"].append(correlation.spearman)
        result["Kendall"].append(correlation.kendall)
        result[_MAJORITY].append(accuracy.majority_accuracy)
    return {name: np.array(values, dtype=np.float64) for name, values in result.items()}


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


def _shapes(steps: Steps) -> list[Finding]:
    """Return the findings on pictures, which have no numbers: whether each curve only falls or only rises."""
    result = []
    for what, said, curves in (
        ("confidence against Recall@1 never rises", "the scores drop", -steps[_ACCURACY][..., 1]),
        ("the error-reject area by Hit@1 never falls", "the errors increase", steps[_BY_HIT][..., 1]),
        ("the error-reject area by MAP@R never falls", "the errors increase", steps[_BY_MAP][..., 1]),
    ):
        n_hold = int((np.diff(curves, axis=1) >= 0).all(axis=1).sum())
        least = np.array([STEPS[curve == curve.min()].max() for curve in curves])
        what = f"draws in which {what} with the confidence of the flipped points"
        why = f"best while the flipped points are the least confident, up to a confidence of {_span(least)}"
        here, mark = f"{n_hold} of {len(curves)}", Mark.of_every_draw(n_hold, len(curves))
        result.append(Finding(what, here, mark, said, RANKING_METRICS, why))
    return result


def _numbers(draws: Sequence[Draw], steps: Steps) -> list[Finding]:
    """Return what the single numbers hide: ties, better guesses, and the scale."""
    bounds, majority, by_default = steps[_ACCURACY], steps[_MAJORITY], steps[_DEFAULT]
    accuracy = bounds[..., 1]
    same = int((_steps(*draws[0][:3], SCALE)[_ACCURACY] == draws[0].steps[_ACCURACY]).all(axis=1).sum())
    why = "the order of equally confident queries decides, and a sort chooses that order"
    return [
        Finding("draws and steps at which confidence against Recall@1 beats guessing that every query is right",
                f"{int((accuracy > majority).sum())} of {majority.size}",
                why=f"over all thresholds it is {_range(accuracy)} on average, the guess {_range(majority)}, the "
                f"best threshold {_range(steps[_BEST])}; the library that the study follows takes the best"),
        Finding("confidence against Recall@1 over all thresholds, and over those that scikit-learn keeps by default",
                f"{_range(accuracy)}, and {_range(by_default)}", Mark.NEW, "drop_intermediate=False",
                "metrics.py, conf_vs_recall_at_1", "the study's code uses all thresholds, as deadheat does; "
                "scikit-learn's default drops those at which the curve does not bend, which changes the value by up to "
                f"{100 * abs(by_default - accuracy).max():.2f} points"),
        Finding(f"steps at which confidence against Recall@1 has the same bits with all confidences times {SCALE:g}",
                f"{same} of {len(STEPS)}", Mark.of(same < len(STEPS)), "only works with confidences in [0, 1]",
                RANKING_METRICS,
                "a ROC curve depends on the order of the confidences alone; only calibration needs probabilities"),
        Finding("confidence against Recall@1: largest difference between lower and upper", f"{_width(bounds)} points",
                why="equal confidences are on the same side of every threshold, so that ties have no effect"),
        *(Finding(f"error-reject area by {by}: largest difference between lower and upper", f"{_width(steps[name])} "
                  "points", Mark.NEW, "a single number", "metrics.py, error_vs_reject_curve", why)
          for by, name in (("Hit@1", _BY_HIT), ("MAP@R", _BY_MAP))),
        _sorts(draws),
        _cut(draws[0]),
    ]  # fmt: skip


def _width(bounds: Float64) -> str:
    return f"{100 * (bounds[..., 2] - bounds[..., 0]).max():.2f}"


def _span(values: Float64) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _range(values: Float64) -> str:
    return f"{100 * values.min():.1f} to {100 * values.max():.1f} %"


def _sorts(draws: Sequence[Draw]) -> Finding:
    """The same sort of the same samples in two orders, where the difference is greatest."""
    areas = []
    for draw in draws:
        for confidence in STEPS.tolist():
            moved, hit = draw.data.moved(confidence), draw.hit.expected
            areas.append((by_a_sort(hit, moved), by_a_sort(hit[::-1], moved[::-1]), confidence))
    forth, back, confidence = max(areas, key=lambda area: abs(area[0] - area[1]))
    what = "error-reject area by Hit@1, one stable sort: samples in the order drawn, and reversed"
    why = f"the draw and step with the greatest difference, at a confidence of {confidence:g}"
    return Finding(what, f"{100 * forth:.3f} and {100 * back:.3f} %", why=why)


def _cut(draw: Draw) -> Finding:
    """MAP@R where the classes differ in size: the study cuts every ranking at the size of the smaller one."""
    theirs = toy.as_published(toy.Points(draw.data.points, draw.data.labels)).map_at_r
    ours = float(draw.map_at_r.expected.mean())
    sizes = np.bincount(draw.data.labels)
    return Finding(
        "MAP@R of one draw with its flipped labels, and by the study's code", f"{100 * ours:.3f} %",
        Mark.of(abs(ours - theirs) <= 1e-12), f"{100 * theirs:.3f} % (recomputed)",
        "metrics.py, mean_average_precision_at_r",
        f"the classes have {sizes.min()} and {sizes.max()} points; the study's R is {sizes.min() - 1} for both",
    )  # fmt: skip


def _correlations(draws: Sequence[Draw], steps: Steps) -> list[Finding]:
    least = min(rank_correlation(one.data.original * SCALE, one.data.original).spearman for one in draws)
    rho = steps["Spearman"]
    peaks = STEPS[rho.argmax(axis=1)]
    averages = np.array([draw.data.original[draw.data.flipped].mean() for draw in draws])
    near = int((abs(peaks - averages) <= STEPS[0]).sum())
    return [
        Finding(f"Spearman's rho of the original confidences and the same times {SCALE:g}", f"{least:.12g}",
                Mark.of(abs(least - 1) < 1e-12), "1", "tests/test_uncertainty.py"),
        Finding("draws in which Spearman's rho peaks within a step of the flipped points' original average confidence",
                f"{near} of {len(draws)}", Mark.NEW, "the score is the highest at the average",
                RANKING_METRICS,
                f"averages of {averages.min():.3f} to {averages.max():.3f}, peaks at {_span(peaks)}; "
                f"rho is {rho.min():.3f} at worst, and {rho.max(axis=1).min():.3f} or more at the peak"),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# the study's own draws


def drawn_there(toys_first: bool) -> tuple[Flipped, float]:
    """Return what the tests of the study draw, with or without the tests of the toy examples before them.

    Returns the points of the first test with their flipped labels, and from the second test the average of the drawn
    confidences on the second scale, rounded as its code rounds it.
    """
    twister = np.random.RandomState(toy.SEED)
    for stripes in toy.STRIPES.values() if toys_first else ():
        toy.points_there(twister, stripes)
    (first, items), (second, chosen) = (
        (toy.points_there(twister, toy.STRIPES[2]), toy.uniform(twister, 0.0, 2000.0, 100).astype(np.int64))
        for _ in range(2)
    )
    return _flipped(first, items), round(float(confidences(second.points)[chosen].mean()), 4) * SCALE


def own_draws(setting: Setting) -> Outcome:
    averages, areas, rows, default = [], [], [], []
    for toys_first, run, order, printed, source in (
        (False, "tests/test_uncertainty.py alone", "in the order in which this file draws",
         RANK_CORRELATION_PEAK, RANKING_METRICS),
        (True, "all tests together", "after the toy examples",
         RANK_CORRELATION_AVERAGE, RANK_CORRELATION_FIGURE),
    ):  # fmt: skip
        data, value = drawn_there(toys_first)
        steps = measured(data, setting.threads).steps
        what = f"average of the original confidences times {SCALE:g}, {run}"
        why = f"the study's own points: PyTorch's generator with the seed 42, {order}"
        averages.append(compared(what, value, printed, unit="", digits=1, source=source, why=why))
        lower, expected, upper = 100 * steps[_BY_HIT][-1]  # the right end of the figure's axis
        areas.append(Finding(
            f"error-reject area by Hit@1 at a confidence of 1, {run}",
            f"{expected:.2f} % [{lower:.2f}, {upper:.2f}]", Mark.of(abs(expected - MOVED_ERROR) <= 0.5),
            f"about {MOVED_ERROR} %", MOVED_FIGURE,
            "read off the axis, to half a point; the study's sort decides where in the interval its number lies",
        ))  # fmt: skip
        if not toys_first:
            what = "confidence against Recall@1 at a confidence of 0.5: all thresholds, and scikit-learn's default"
            why = (
                "the study's own points, tests/test_uncertainty.py alone; its code uses all thresholds "
                "(drop_intermediate=False), the default drops those at which the ROC curve does not bend"
            )
            at = int(np.flatnonzero(STEPS == 0.5)[0])
            here = f"{100 * steps[_ACCURACY][at, 1]:.2f} and {100 * steps[_DEFAULT][at]:.2f} %"
            default.append(Finding(what, here, why=why))
        columns = steps[_ACCURACY][:, 1], steps[_DEFAULT], *steps[_BY_HIT].T, *steps[_BY_MAP].T
        rows += [[run, *row] for row in zip(STEPS, *columns, strict=True)]
    names = [f"{name}: {end}" for name in (_BY_HIT, _BY_MAP) for end in Triple._fields]
    headings = ["run", "confidence of the flipped points", "all thresholds", "scikit-learn's default", *names]
    table = Table("own-draws", "The study's own draws", headings, rows, percent=headings[2:])
    return Outcome([*averages, *areas, *default], tables=[table])


# ---------------------------------------------------------------------------------------------------------------------
# pictures and table


def _points(draw: Draw) -> Picture:
    figure, data = style.figure(6.4, 3.6), draw.data
    ax = figure.subplots()
    labelled_points(data.points, data.labels, confidence=data.moved(1.0), marked=data.flipped, mark="flipped label",
                    ax=ax, legend=False)  # fmt: skip
    ax.set(xlim=(-1.03, 1.03), ylim=(-0.03, 1.03), xticks=[-1, 0, 1], yticks=[0, 1])
    figure.legend(loc="outside upper right", ncols=3, frameon=False, markerscale=1.6)
    caption = (
        "Example 2 with flipped labels (ringed). The fainter a point, the less confident; the flipped points have "
        "confidence 1, as in the study's picture."
    )
    return Picture("points", caption, figure)


def _moved(draws: Sequence[Draw]) -> Picture:
    figure = style.figure(8.6, 3.6)
    left, right = figure.subplots(1, 2)
    for number, (name, label) in enumerate(
        ((_ACCURACY, _ACCURACY), (_BY_HIT, "error-reject area by Hit@1"), (_BY_MAP, "error-reject area by MAP@R"))
    ):
        ax = style.quiet(right if number else left)
        for draw in draws[1:]:
            ax.plot(STEPS, draw.steps[name][:, 1], color=style.GREY, alpha=0.3, linewidth=0.7, zorder=0.5)
        lower, expected, upper = draws[0].steps[name].T
        line = style.marked_line(number)
        ax.fill_between(STEPS, lower, upper, color=line["color"], alpha=0.25, linewidth=0)
        ax.plot(STEPS, expected, markersize=4, linewidth=1.4, label=label, **line)
    for ax, what in ((left, "mean accuracy over all thresholds (%)"), (right, "error-reject area (%)")):
        ax.set(xlabel="confidence given to the flipped", ylabel=what)
        ax.yaxis.set_major_formatter(style.per_cent)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    caption = (
        "Effect of the confidence of the flipped points. One draw is drawn dark, with a band where the order of "
        "equally confident queries decides; the other draws are pale."
    )
    return Picture("moved", caption, figure)


def _curves(draw: Draw) -> Picture:
    figure = style.figure(6.0, 4.0)
    ax = figure.subplots()
    for number, confidence in enumerate((0.05, 0.6, 1.0)):
        curve = error_reject_curve(draw.hit, draw.data.moved(confidence))
        label = f"flipped at {confidence:g}"
        error_reject(curve, ax=ax, label=label, number=number, references=number == 0, legend=False)
    caption = (
        "Error against reject by Hit@1, one draw, at three confidences of the flipped points. In the bands, their "
        "order decides."
    )
    return Picture("curves", caption, figure)


def _correlation(draw: Draw) -> Picture:
    figure = style.figure(8.2, 3.4)
    average = float(draw.data.original[draw.data.flipped].mean())
    for ax, scale in zip(figure.subplots(1, 2, sharey=True), (1.0, SCALE), strict=True):
        steps = _steps(*draw[:3], scale)
        style.quiet(ax)
        for number, (name, label) in enumerate((("Spearman", "Spearman's rho"), ("Kendall", "Kendall's tau-b"))):
            look = style.marked_line(number)
            ax.plot(STEPS * scale, steps[name], **look, markersize=4, linewidth=1.4, label=label)
        look = {"color": style.INK, "linestyle": style.DOTTED, "linewidth": 1.2}
        ax.axvline(average * scale, **look, label="their average before")
        ax.set(xlabel="confidence given to the flipped", ylabel="rank correlation with the original")
    figure.axes[1].set(xlabel=f"the same times {SCALE:g}", ylabel="")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    caption = "Rank correlation with the original confidences, on two scales: the values are the same. One draw."
    return Picture("correlation", caption, figure)


def _table(steps: Steps) -> Table:
    columns: dict[str, Float64] = {"confidence of the flipped points": STEPS}
    for name, values in steps.items():
        mean = values.mean(axis=0)
        if mean.ndim == 2:
            columns |= {f"{name}: {end}": column for end, column in zip(Triple._fields, mean.T, strict=True)}
        elif name != _MAJORITY:
            columns[name] = mean
    names, rows = list(columns), list(zip(*columns.values(), strict=True))
    return Table("moved", f"Means over {len(next(iter(steps.values())))} draws", names, rows, percent=names[1:-2])
