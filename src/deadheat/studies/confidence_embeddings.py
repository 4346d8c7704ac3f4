"""Confidences of real embeddings, norm and label entropy, and highest density intervals of known distributions.

Input: a setting. Output: error-reject curves on scikit-learn's digits and George Washington's words, and the errors
of intervals by a density, by samples of it, and of two modes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import deadheat as dh
from deadheat.analyses.confidence import RejectCurve, error_reject_curve, hits, targets
from deadheat.analyses.confidence.regions import HighestDensity, highest_density_interval
from deadheat.engine.literals import DistanceName
from deadheat.plots import style
from deadheat.plots.confidences import error_reject, highest_density, reliability, risk_coverage
from deadheat.studies.published import GEORGE_WASHINGTON, digits, george_washington
from deadheat.studies.study import LEVEL, Finding, Outcome, Picture, Setting, Table, compared, missing
from deadheat.support.lazy import require

_BY = ("Hit@1", "MAP@R")
_NORM, _AGREEMENT = "norm", "agreement of the labels around"
_SHAPE = 3.0  # of the gamma distribution: a precision, say, skewed
_MODES, _DEVIATION = (-2.0, 2.0), 0.5
_WHY = "due to the grid of the density, or to random samples and a kernel density estimate of two modes"


class Real(NamedTuple):
    name: str
    title: str
    report: dh.Report
    confidences: dict[str, NDArray[np.float64]]

    def curve(self, confidence: str, by: str) -> RejectCurve:
        return error_reject_curve(self.report[by], self.confidences[confidence])


def norms_and_entropies(setting: Setting) -> Outcome:
    file = setting.file(GEORGE_WASHINGTON)
    images, labels = digits()
    kept = slice(400 if setting.quick else None)
    sets = [_real("digits", "scikit-learn's digits, euclidean", images[kept], labels[kept], 10, "euclidean", setting)]
    if file is not None:
        title = "George Washington, PHOCNet, cosine"
        sets.append(_real("washington", title, *george_washington(file), 5, "cosine", setting))
    findings = [finding for real in sets for finding in _real_findings(real)]
    if file is None:
        findings.append(missing("George Washington: norm and label entropy as confidence", GEORGE_WASHINGTON))
    return Outcome(
        findings=findings,
        pictures=[
            *[Picture(real.name, f"{real.title}: two confidences, by Hit@1. Bands: any order of equal confidences.",
                      _curves(real)) for real in sets],
            Picture("reliability", f"{sets[0].title}: is the agreement of the labels around a probability that the "
                    "nearest is right? The area of a mark is its number of queries.", _reliability(sets[0])),
        ],
        tables=[_real_table(sets)],
    )  # fmt: skip


def _real(
    name: str, title: str, embeddings: NDArray[Any], labels: NDArray[Any], k: int, distance: DistanceName,
    setting: Setting,
) -> Real:  # fmt: skip
    """The report, the norms, and 1 − normalised entropy of the k nearest labels."""
    entropy = targets.label_entropy(embeddings, labels, k, distance=distance, normalized=True, threads=setting.threads)
    report = dh.evaluate(embeddings, labels, distance=distance, measures=_BY, threads=setting.threads)
    return Real(name, title, report, {_NORM: targets.norms(embeddings), _AGREEMENT: 1 - entropy})


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
    found = targets.rank_correlation(real.confidences[_NORM], real.confidences[_AGREEMENT])
    what = f"{real.title}: Spearman's rho of the norm and the agreement of the labels around"
    return [*findings, Finding(what, f"{found.spearman:.3f} (p = {found.spearman_p:.2g})")]


def _curves(real: Real) -> Figure:
    figure = style.figure(8.6, 3.5)
    for ax, plot in zip(figure.subplots(1, 2), (error_reject, risk_coverage), strict=True):
        for number, confidence in enumerate(real.confidences):
            curve = real.curve(confidence, "Hit@1")
            plot(curve, ax=ax, label=confidence, number=number, references=number == 0)
    return figure


def _reliability(real: Real) -> Figure:
    figure = style.figure(4.6, 4.2)
    calibration = hits.calibration(real.report["Hit@1"], real.confidences[_AGREEMENT], bins=10)
    ax = reliability(calibration, ax=figure.subplots())
    ax.set_title(f"ECE {100 * calibration.ece.upper:.1f} %, Brier score {calibration.brier.expected:.3f}", fontsize=10)
    ax.legend(frameon=False, loc="lower right", fontsize=9)
    return figure


def _real_table(sets: Sequence[Real]) -> Table:
    rows = []
    for real in sets:
        for confidence, values in real.confidences.items():
            guess = hits.confidence_accuracy(real.report["Hit@1"], values)
            for by in _BY:
                curve = real.curve(confidence, by)
                rows.append(
                    [real.name, confidence, by, *curve.area, curve.random_area.expected, curve.optimal_area.upper,
                     curve.excess_area.lower, curve.excess_area.upper, curve.n_query, curve.n_tied, curve.n_open]
                    + ([guess.mean_accuracy.expected, guess.best_accuracy, guess.majority_accuracy, guess.auroc]
                       if by == "Hit@1" else [math.nan] * 4)
                )  # fmt: skip
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
    x = np.linspace(0, 16, 1601)
    y = np.linspace(-5, 5, 2001)
    mixture = sum(stats.norm(mode, _DEVIATION).pdf(y) for mode in _MODES) / 2
    size = 4000 if setting.quick else 40000
    samples = gamma.rvs(size, random_state=random)
    two = random.normal(random.choice(_MODES, size), _DEVIATION)
    regions = {
        "gamma, by its density": highest_density_interval(x, LEVEL, density=gamma.pdf(x)),
        f"gamma, by {size} samples": highest_density_interval(samples, LEVEL),
        "two modes, by the density": highest_density_interval(y, LEVEL, density=mixture),
        f"two modes, by {size} samples": highest_density_interval(two, LEVEL, multimodal=True),
    }
    half = _DEVIATION * float(stats.norm.ppf((1 + LEVEL) / 2))
    true_gamma = _shortest(gamma, optimize)
    truth = [true_gamma] * 2 + [[(mode - half, mode + half) for mode in _MODES]] * 2
    figure = style.figure(8.8, 3.0)
    names = list(regions)
    axes = figure.subplots(1, 3)
    highest_density(regions[names[0]], density=(x, gamma.pdf(x)), ax=axes[0])
    highest_density(regions[names[1]], samples=samples, ax=axes[1])
    highest_density(regions[names[3]], samples=two, density=(y, mixture), ax=axes[2])
    for ax, name in zip(axes, (names[0], names[1], names[3]), strict=True):
        ax.set_xlabel(name)
        ax.set_xlim((0, 10) if name.startswith("gamma") else (-4.5, 4.5))
        ax.set_ylim(top=1.55 * ax.get_ylim()[1])
        ax.legend(frameon=False, fontsize=8, loc="upper right")
    return Outcome(
        findings=_density_findings(regions, truth),
        pictures=[Picture("density", "95 % highest density intervals of a parameter: from its density, from samples of "
                          "it, and from samples with two modes.", figure)],
        tables=[_density_table(regions, truth)],
    )  # fmt: skip


def _shortest(gamma: Any, optimize: Any) -> list[tuple[float, float]]:
    """The interval between two points of equal density, by solving for it."""

    def upper(low: float) -> float:
        return float(gamma.ppf(min(gamma.cdf(low) + LEVEL, 1 - 1e-12)))

    most = 0.999999 * float(gamma.ppf(1 - LEVEL))
    low = float(optimize.brentq(lambda place: gamma.pdf(place) - gamma.pdf(upper(place)), 1e-9, most))
    return [(low, upper(low))]


def _density_findings(regions: dict[str, HighestDensity], truth: list[list[tuple[float, float]]]) -> list[Finding]:
    findings = []
    for (name, region), intervals in zip(regions.items(), truth, strict=True):
        if len(region.intervals) != len(intervals):
            what = f"{name}: pieces of the {100 * LEVEL:g} % region"
            findings.append(compared(what, len(region.intervals), len(intervals), unit="", digits=0, why=_WHY))
            continue
        worst = float(abs(region.intervals - np.array(intervals)).max())
        within = 0.01 if "density" in name else 0.25
        what = f"{name}: largest error of an end of the {100 * LEVEL:g} % region"
        findings.append(compared(what, worst, 0.0, unit="", digits=3, within=within, source="solved for", why=_WHY))
    return findings


def _density_table(regions: dict[str, HighestDensity], truth: list[list[tuple[float, float]]]) -> Table:
    rows = [
        [name, number, low, high, *(true[number] if number < len(true) else (math.nan, math.nan)), region.mode,
         region.probability]
        for (name, region), true in zip(regions.items(), truth, strict=True)
        for number, (low, high) in enumerate(region.intervals)
    ]  # fmt: skip
    columns = ["of", "piece", "lower end", "upper end", "true lower end", "true upper end", "mode", "holds"]
    return Table("density", f"Highest density regions of {100 * LEVEL:g} %", columns, rows)
