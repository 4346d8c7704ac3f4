"""Confidences of real embeddings, known densities, σ-targets and credible regions: the study's parts on other data.

Input: a setting. Output: error-reject curves by norm and label entropy, on scikit-learn's digits and George
Washington's words; the errors of highest density intervals; and, as scikit-learn has neither a probabilistic model nor
data with several annotators, stand-ins on damaged digits: one half trains linear discriminants, the other half are
queries. They give the rank correlations of confidences with the levels of the damage and with the entropy of the
annotations, and the shares of items of the same instance, and of the same class, in regions of increasing mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import deadheat as dh
from deadheat.analyses.confidence import hits
from deadheat.analyses.confidence import targets as confidence_targets
from deadheat.analyses.confidence.regions import (
    CredibleRecall,
    HighestDensity,
    credible_recall,
    highest_density_interval,
    normal_credible_recall,
)
from deadheat.analyses.confidence.rejecting import RejectCurve, error_reject_curve
from deadheat.analyses.confidence.targets import RankCorrelation, rank_correlation
from deadheat.cli import demo
from deadheat.engine.literals import DistanceName
from deadheat.plots import confidences, style
from deadheat.support.lazy import require
from deadheat.support.triple import Triple
from reproduce import study
from reproduce.plots import highest_density
from reproduce.study import LEVEL, Finding, Mark, Outcome, Picture, Setting, Table, compared, missing

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
_BY = ("Hit@1", "MAP@R")
_NORM, _AGREEMENT = "norm", "label agreement"
_SHAPE = 3.0  # of the gamma distribution: a precision, say, skewed
_MODES, _DEVIATION = (-2.0, 2.0), 0.5
_WHY = "due to the grid of the density, or to random samples and a kernel density estimate of two modes"
SIDE = 8  # pixels
_TARGETS = 'README of arrrrrmin/ranking-metrics, "Ground truth σ", after Wu and Goodman 2020 (arXiv:2010.02038)'
_LEVEL, _ENTROPY = "level of the damage", "entropy of the annotators"
_N_ANNOTATOR, _N_SEEN = 15, 60  # images that each annotator has seen
_MODELS = ("whole images only", "damaged images too")  # what each was trained on
_MASSES = np.arange(1, 20) / 20
_SHOWN = 0.5
_N_DRAW, _N_ITEM = 50, 10  # of each image: draws that make its posterior, and items to be found
_REGIONS = 'README of arrrrrmin/ranking-metrics, "Credible Intervals", which prints no value'
_INSTANCE, _OTHER, _CLASS = "same instance, draws", "same class, draws of one image", "same class, normal"


class Real(NamedTuple):
    name: str
    title: str
    report: dh.Report
    confidences: dict[str, Float64]

    def curve(self, confidence: str, by: str) -> RejectCurve:
        return error_reject_curve(self.report[by], self.confidences[confidence])


def norms_and_entropies(setting: Setting) -> Outcome:
    file = setting.file(study.GEORGE_WASHINGTON)
    images, labels = demo.digits()
    kept = slice(400 if setting.quick else None)
    sets = [_real("digits", "scikit-learn's digits, euclidean", images[kept], labels[kept], 10, "euclidean", setting)]
    if file is not None:
        title = "George Washington, PHOCNet, cosine"
        sets.append(_real("washington", title, *study.george_washington(file), 5, "cosine", setting))
    findings = [finding for real in sets for finding in _real_findings(real)]
    if file is None:
        findings.append(missing("George Washington: norm and label entropy as confidence", study.GEORGE_WASHINGTON))
    pictures = []
    for real in sets:
        figure = style.figure(8.6, 3.5)
        for ax, plot in zip(figure.subplots(1, 2), (confidences.error_reject, confidences.risk_coverage), strict=True):
            for number, name in enumerate(real.confidences):
                plot(real.curve(name, "Hit@1"), ax=ax, label=name, number=number, references=number == 0)
        caption = f"{real.title}: two confidences, by Hit@1. Bands: any order of equal confidences."
        pictures.append(Picture(real.name, caption, figure))
    calibration = hits.calibration(sets[0].report["Hit@1"], sets[0].confidences[_AGREEMENT], bins=10)
    figure = style.figure(4.6, 4.2)
    ax = confidences.reliability(calibration, ax=figure.subplots())
    ax.set_title(f"ECE {100 * calibration.ece.upper:.1f} %, Brier score {calibration.brier.expected:.3f}", fontsize=10)
    ax.legend(frameon=False, loc="lower right", fontsize=9)
    caption = (
        f"{sets[0].title}: is the agreement of the labels around a probability that the nearest is right? The area of "
        "a mark is its number of queries."
    )
    return Outcome(findings, [*pictures, Picture("reliability", caption, figure)], [_real_table(sets)])


def _real(
    name: str, title: str, embeddings: NDArray[Any], labels: NDArray[Any], k: int, distance: DistanceName,
    setting: Setting,
) -> Real:  # fmt: skip
    """The report, the norms, and 1 − normalised entropy of the k nearest labels."""
    task = dh.Task(embeddings, labels, distance=distance, threads=setting.threads)
    entropy = confidence_targets.label_entropy(task, k, normalized=True)
    report = dh.evaluate(task, _BY)
    return Real(name, title, report, {_NORM: confidence_targets.norms(embeddings), _AGREEMENT: 1 - entropy})


def _real_findings(real: Real) -> list[Finding]:
    findings = []
    for confidence in real.confidences:
        curve = real.curve(confidence, "Hit@1")
        area, random = curve.area, curve.random_area.expected
        better = "below" if area.upper < random else "above" if area.lower > random else "on both sides of"
        what = f"{real.title}: error-reject area by Hit@1, confidence: {confidence}"
        here = f"{100 * area.expected:.2f} % [{100 * area.lower:.2f}, {100 * area.upper:.2f}]"
        why = (
            f"{better} that of a random order, {100 * random:.2f} %; {curve.n_tied} of {curve.n_query} queries share "
            "their confidence with another"
        )
        findings.append(Finding(what, here, why=why))
    result = rank_correlation(real.confidences[_NORM], real.confidences[_AGREEMENT])
    what = f"{real.title}: Spearman's rho of the norm and the agreement of the labels around"
    return [*findings, Finding(what, f"{result.spearman:.3f} (p = {result.spearman_p:.2g})")]


def _real_table(sets: Sequence[Real]) -> Table:
    rows = []
    for real in sets:
        for confidence, values in real.confidences.items():
            guess = hits.confidence_accuracy(real.report["Hit@1"], values)
            accuracies = guess.mean_accuracy.expected, guess.best_accuracy, guess.majority_accuracy, guess.auroc
            for by in _BY:
                curve = real.curve(confidence, by)
                rows.append([
                    real.name, confidence, by, *curve.area, curve.random_area.expected, curve.optimal_area.upper,
                    curve.excess_area.lower, curve.excess_area.upper, curve.n_query, curve.n_tied, curve.n_open,
                    *(accuracies if by == "Hit@1" else [math.nan] * 4),
                ])  # fmt: skip
    columns = ["data", "confidence", "by", "ERC lower", "ERC expected", "ERC upper", "random order", "perfect order",
               "excess lower", "excess upper", "queries", "equally confident", "open values",
               "mean accuracy", "best accuracy", "majority", "AUROC"]  # fmt: skip
    in_percent = [*columns[3:10], *columns[13:]]
    return Table("real", "Real embeddings: areas and accuracies", columns, rows, percent=in_percent)


# ---------------------------------------------------------------------------------------------------------------------
# highest density intervals


def densities(setting: Setting) -> Outcome:
    stats, optimize = (require(f"scipy.{name}", "stats", "the confidence study") for name in ("stats", "optimize"))
    gamma, random = stats.gamma(_SHAPE), np.random.default_rng(0)
    x, y = np.linspace(0, 16, 1601), np.linspace(-5, 5, 2001)
    mixture = sum(stats.norm(mode, _DEVIATION).pdf(y) for mode in _MODES) / 2
    size = 4000 if setting.quick else 40000
    samples = gamma.rvs(size, random_state=random)
    two = random.normal(random.choice(_MODES, size), _DEVIATION)
    half = _DEVIATION * float(stats.norm.ppf((1 + LEVEL) / 2))
    of_gamma, of_two = [_shortest(gamma, optimize)], [(mode - half, mode + half) for mode in _MODES]
    regions = [  # the name, what is found, the true intervals
        ("gamma, by its density", highest_density_interval(x, LEVEL, density=gamma.pdf(x)), of_gamma),
        (f"gamma, by {size} samples", highest_density_interval(samples, LEVEL), of_gamma),
        ("two modes, by the density", highest_density_interval(y, LEVEL, density=mixture), of_two),
        (f"two modes, by {size} samples", highest_density_interval(two, LEVEL, multimodal=True), of_two),
    ]
    figure = style.figure(8.8, 3.0)
    shown: tuple[tuple[int, tuple[float, float], dict[str, Any]], ...] = (
        (0, (0, 10), {"density": (x, gamma.pdf(x))}),
        (1, (0, 10), {"samples": samples}),
        (3, (-4.5, 4.5), {"samples": two, "density": (y, mixture)}),
    )
    for ax, (number, limits, data) in zip(figure.subplots(1, 3), shown, strict=True):
        name, region, _ = regions[number]
        highest_density(region, ax=ax, **data)
        ax.set(xlabel=name, xlim=limits)
        ax.set_ylim(top=1.55 * ax.get_ylim()[1])
        ax.legend(frameon=False, fontsize=8, loc="upper right")
    findings, rows = [], []
    for name, region, true in regions:
        findings.append(_density_finding(name, region, true))
        for number, ends in enumerate(region.intervals):
            known = true[number] if number < len(true) else (math.nan, math.nan)
            rows.append([name, number, *ends, *known, region.mode, region.probability])
    columns = ["of", "piece", "lower end", "upper end", "true lower end", "true upper end", "mode", "holds"]
    caption = (
        "95 % highest density intervals of a parameter: from its density, from samples of it, and from samples with "
        "two modes."
    )
    table = Table("density", f"Highest density regions of {100 * LEVEL:g} %", columns, rows)
    return Outcome(findings, [Picture("density", caption, figure)], [table])


def _shortest(gamma: Any, optimize: Any) -> tuple[float, float]:
    """The interval between two points of equal density, by solving for it."""

    def upper(low: float) -> float:
        return float(gamma.ppf(min(gamma.cdf(low) + LEVEL, 1 - 1e-12)))

    most = 0.999999 * float(gamma.ppf(1 - LEVEL))
    low = float(optimize.brentq(lambda place: gamma.pdf(place) - gamma.pdf(upper(place)), 1e-9, most))
    return low, upper(low)


def _density_finding(name: str, region: HighestDensity, true: Sequence[tuple[float, float]]) -> Finding:
    if len(region.intervals) != len(true):
        what = f"{name}: pieces of the {100 * LEVEL:g} % region"
        return compared(what, len(region.intervals), len(true), unit="", digits=0, why=_WHY)
    worst = float(abs(region.intervals - np.array(true)).max())
    within = 0.01 if "density" in name else 0.25
    what = f"{name}: largest error of an end of the {100 * LEVEL:g} % region"
    return compared(what, worst, 0.0, unit="", digits=3, within=within, source="solved for", why=_WHY)


# ---------------------------------------------------------------------------------------------------------------------
# damaged digits and a model of them


class Halves(NamedTuple):
    train: Float64  # images (n, 64)
    train_labels: Int64  # which digit each shows
    query: Float64
    query_labels: Int64


def halves(quick: bool) -> Halves:
    images, labels = demo.digits()
    n_query = 150 if quick else None
    return Halves(images[::2], labels[::2], images[1::2][:n_query], labels[1::2][:n_query])


def blurred(images: Float64, deviation: float) -> Float64:
    """Images (n, 64) after a Gaussian filter, deviation in pixels."""
    square = images.reshape(-1, SIDE, SIDE)
    filtered = require("scipy.ndimage", "stats", "the confidence study").gaussian_filter(
        square, (0, deviation, deviation)
    )
    return np.asarray(filtered if deviation else square).reshape(len(images), -1)


def cropped(images: Float64, width: float) -> Float64:
    """Images (n, 64), zero outside a central window `width` pixels wide."""
    left = int(SIDE - width) // 2
    window = np.zeros((SIDE, SIDE))
    window[left : left + int(width), left : left + int(width)] = 1
    return images * window.ravel()


def discriminants(images: Float64, labels: Int64) -> Any:
    """Fit linear discriminants: `transform` embeds, with unit deviation in each class; `predict_proba` classifies."""
    module = require("sklearn.discriminant_analysis", "demo", "the confidence study")
    return module.LinearDiscriminantAnalysis().fit(images, labels)


class Damage(NamedTuple):
    """A way to make images ambiguous, and its levels, the first of which leaves them as they are."""

    name: str
    change: Callable[[Float64, float], Float64]
    levels: tuple[float, ...]
    unit: str


DAMAGES = (
    Damage("blur", blurred, (0.0, 0.5, 1.0, 1.5, 2.0), "deviation of the blur (pixels)"),
    Damage("crop", cropped, (8, 7, 6, 5, 4), "width of the crop (pixels)"),
)


# ---------------------------------------------------------------------------------------------------------------------
# σ-targets


class Judged(NamedTuple):
    """The confidences of a model in damaged images, and how they rank with the two targets."""

    damage: Damage
    model: str
    level: Int64
    confidence: Float64
    hit: Triple[Float64]
    correlations: dict[str, RankCorrelation]
    areas: dict[str, Triple[float]]


def targets(setting: Setting) -> Outcome:
    data = halves(setting.quick)
    random = np.random.default_rng(5)
    judged = [one for damage in DAMAGES for one in _judged(damage, data, random, setting)]
    caption = (
        "Digits with increasing damage: the confidence of two stand-in models, as the share of queries with less, and "
        "how often the nearest image shows the same digit."
    )
    text = (
        "The models are linear discriminants of one half of scikit-learn's digits, and the confidence is their "
        f"largest class probability. They stand in for a probabilistic model, and {_N_ANNOTATOR} "
        f"nearest-neighbour rules, each with {_N_SEEN} random images, stand in for annotators."
    )
    pictures = [Picture("targets", caption, _targets_figure(judged))]
    return Outcome(list(map(_target_finding, judged)), pictures, [_targets_table(judged)], [text])


def _judged(damage: Damage, data: Halves, random: np.random.Generator, setting: Setting) -> list[Judged]:
    level = random.integers(0, len(damage.levels), len(data.query))
    query = _damaged(data.query, damage, level)
    entropy = confidence_targets.annotation_entropy(_annotations(query, data, random))
    trained_on = random.integers(0, len(damage.levels), len(data.train))
    images = np.concatenate([data.train, _damaged(data.train, damage, trained_on)])
    models = (discriminants(data.train, data.train_labels), discriminants(images, np.tile(data.train_labels, 2)))
    result = []
    for name, model in zip(_MODELS, models, strict=True):
        report = dh.evaluate(
            model.transform(query), data.query_labels, model.transform(data.train), data.train_labels,
            distance="euclidean", measures="Hit@1", threads=setting.threads,
        )  # fmt: skip
        hit, sure = report["Hit@1"].per_query, model.predict_proba(query).max(axis=1)
        ideals = {_LEVEL: level, _ENTROPY: entropy}
        orders = {"confidence": sure, _LEVEL: -level, _ENTROPY: -entropy}
        correlations = {target: rank_correlation(sure, values) for target, values in ideals.items()}
        areas = {order: error_reject_curve(hit, values).area for order, values in orders.items()}
        result.append(Judged(damage, name, level, sure, hit, correlations, areas))
    return result


def _damaged(images: Float64, damage: Damage, level: Int64) -> Float64:
    return np.stack([damage.change(images, amount) for amount in damage.levels])[level, np.arange(len(images))]


def _annotations(query: Float64, data: Halves, random: np.random.Generator) -> Int64:
    """The label of each image by each annotator, (n, n_annotator): that of the nearest image that it has seen."""
    seen = [random.choice(len(data.train), _N_SEEN, replace=False) for _ in range(_N_ANNOTATOR)]
    away = ((query[:, None] - data.train[None]) ** 2).sum(axis=2)
    return np.stack([data.train_labels[own[away[:, own].argmin(axis=1)]] for own in seen], axis=1)


def _target_finding(judged: Judged) -> Finding:
    level, entropy = (judged.correlations[target] for target in (_LEVEL, _ENTROPY))
    area, ideal = judged.areas["confidence"], judged.areas[_LEVEL]
    return Finding(
        f"{judged.damage.name}, trained on {judged.model}: Spearman's rho of the confidence and the {_LEVEL}",
        f"{level.spearman:.3f}, ties broken [{level.rho.lower:.3f}, {level.rho.upper:.3f}]", Mark.OTHER_DATA,
        "a confidence is judged by its rank correlation with a σ-target", _TARGETS,
        f"a good confidence has a negative one; with the {_ENTROPY} {entropy.spearman:.3f}; the error-reject area is "
        f"{100 * area.expected:.1f} % by the confidence, {100 * ideal.expected:.1f} % [{100 * ideal.lower:.1f}, "
        f"{100 * ideal.upper:.1f}] by the {_LEVEL}",
    )  # fmt: skip


def _targets_table(judged: Sequence[Judged]) -> Table:
    rows = [
        [one.damage.name, one.model, target, recall.spearman, recall.kendall, *recall.rho, *recall.tau,
         *one.areas["confidence"], *one.areas[target]]
        for one in judged for target, recall in one.correlations.items()
    ]  # fmt: skip
    columns = ["damage", "trained on", "target", "Spearman's rho", "Kendall's tau-b",
               *(f"{name}, ties broken: {end}" for name in ("rho", "tau") for end in Triple._fields),
               *(f"ERC by {order}: {end}" for order in ("confidence", "target") for end in Triple._fields)]  # fmt: skip
    return Table("targets", "Confidences and σ-targets", columns, rows, percent=columns[-6:])


def _targets_figure(judged: Sequence[Judged]) -> Figure:
    figure = style.figure(8.6, 3.6)
    for ax, damage in zip(figure.subplots(1, len(DAMAGES), sharey=True), DAMAGES, strict=True):
        _by_level([one for one in judged if one.damage is damage], style.quiet(ax))
        ax.set_xlabel(damage.unit)
    figure.axes[0].set_ylabel("less sure, or right (% of the queries)")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return figure


def _by_level(judged: Sequence[Judged], ax: Axes) -> None:
    """The mean rank of the confidence at each level, and the share of right queries, of each model."""
    for number, one in enumerate(judged):
        rank = np.searchsorted(np.sort(one.confidence), one.confidence) / len(one.confidence)
        line = style.marked_line(number)
        levels = range(len(one.damage.levels))
        ax.plot(levels, [100 * rank[one.level == at].mean() for at in levels], label=f"sure, trained on {one.model}",
                markersize=4, linewidth=1.6, **line)  # fmt: skip
        right = [100 * one.hit.expected[one.level == at].mean() for at in levels]
        ax.plot(levels, right, label=f"right, trained on {one.model}", markersize=3, linewidth=0.9,
                **{**line, "linestyle": style.DOTTED})  # fmt: skip
    damage = judged[0].damage
    ax.set(xticks=range(len(damage.levels)), xticklabels=[f"{level:g}" for level in damage.levels], ylim=(-3, 103))


# ---------------------------------------------------------------------------------------------------------------------
# credible regions of a known posterior: of an image, and of a class


def regions(setting: Setting) -> Outcome:
    result = _found(halves(setting.quick))
    figure = style.figure(7.4, 5.0)
    ax = figure.subplots()
    for number, (name, recall) in enumerate(result.items()):
        confidences.credible_recall(recall, ax=ax, label=name, number=number, others=False, legend=False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    caption = (
        "How many items of the same instance, or class, lie in the highest density region of a query's posterior. In "
        "the band, ties at the boundary decide."
    )
    text = (
        "The posterior of an image is that of its embedding under blur and crop: "
        f"{_N_DRAW} draws from 12 kinds of damage; {_N_ITEM} further draws are the items of the same instance. "
        "Since draws repeat, items often have exactly the density of the draw at the boundary of a region. The "
        "posterior of a class is normal: discriminants give each class a standard deviation of 1 in each "
        "dimension, so that the difference of two of its members has \N{SQUARE ROOT}2."
    )
    columns = ["items", "mass", *(f"{part} inside, {end}" for part in ("relevant", "others") for end in Triple._fields)]
    rows = [[name, *row] for name, recall in result.items() for row in zip(*recall.columns().values(), strict=True)]
    table = Table("regions", "Items in highest density regions", columns, rows, percent=columns[1:])
    findings = [_region_finding(name, recall) for name, recall in result.items()]
    return Outcome(findings, [Picture("regions", caption, figure)], [table], [text])


def _found(data: Halves) -> dict[str, CredibleRecall]:
    model = discriminants(data.train, data.train_labels)
    kinds = [
        cropped(blurred(data.query, deviation), width) for deviation in (0, 0.25, 0.5, 0.75) for width in (8, 7, 6)
    ]
    n, n_kind = len(data.query), len(kinds)
    places = model.transform(np.concatenate(kinds)).reshape(n_kind, n, -1).swapaxes(0, 1)  # each kind embedded once
    random, own = np.random.default_rng(6), np.arange(n)[:, None]
    draws, chosen = random.integers(0, n_kind, (n, _N_DRAW)), random.integers(0, n_kind, (n, _N_ITEM))
    mean = places[own, draws].mean(axis=1)
    density = np.stack([-((places - centre) ** 2).sum(axis=2) for centre in mean])  # minus the squared distance
    items = density[:, own, chosen].reshape(n, -1)
    of_item = np.repeat(np.arange(n), _N_ITEM)
    same_instance, same_class = of_item == own, data.query_labels[of_item] == data.query_labels[:, None]
    drawn = density[own, own, draws]
    return {
        _INSTANCE: credible_recall(items, drawn, same_instance, masses=_MASSES),
        _OTHER: credible_recall(items, drawn, same_class, masses=_MASSES, junk=same_instance),
        _CLASS: normal_credible_recall(
            model.transform(data.query), np.full(n, np.sqrt(2)), data.query_labels, masses=_MASSES
        ),
    }


def _region_finding(name: str, recall: CredibleRecall) -> Finding:
    at = int(np.flatnonzero(recall.masses == _SHOWN)[0])
    share, others = (Triple(*(100 * float(bound[at]) for bound in part)) for part in (recall.relevant, recall.others))
    what = f"{name}: items in the region of {100 * _SHOWN:g} %"
    here = f"{share.expected:.1f} % [{share.lower:.1f}, {share.upper:.1f}]"
    ties = f"ties at the boundary matter for {recall.n_open} of {recall.n_query} queries"
    return Finding(what, here, source=_REGIONS, why=f"of all other items {others.expected:.1f} %; {ties}")
