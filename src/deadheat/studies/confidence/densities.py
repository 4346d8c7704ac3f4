"""Highest density intervals of distributions whose intervals are known: a density, samples of it, and two modes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deadheat import plots
from deadheat.analyses.confidence import HighestDensity, highest_density_interval
from deadheat.plots import style
from deadheat.studies.study import Finding, Outcome, Picture, Setting, Table, beside
from deadheat.support.extras import require

_CHANCE = 0.95
_SHAPE = 3.0  # of the gamma distribution: a precision, say, skewed
_MODES, _DEVIATION = (-2.0, 2.0), 0.5
_WHY = "cells of the density, or chance in the samples and a kernel density estimate of two modes"


def run(setting: Setting) -> Outcome:
    """Intervals by density and by samples, beside those of the distributions."""
    stats, optimize = (require(f"scipy.{name}", "stats", "the confidence study") for name in ("stats", "optimize"))
    gamma, random = stats.gamma(_SHAPE), np.random.default_rng(0)
    x = np.linspace(0, 16, 1601)
    y = np.linspace(-5, 5, 2001)
    mixture = sum(stats.norm(mode, _DEVIATION).pdf(y) for mode in _MODES) / 2
    size = 4000 if setting.quick else 40000
    samples = gamma.rvs(size, random_state=random)
    two = random.normal(random.choice(_MODES, size), _DEVIATION)
    regions = {
        "gamma, by its density": highest_density_interval(x, _CHANCE, density=gamma.pdf(x)),
        f"gamma, by {size} samples": highest_density_interval(samples, _CHANCE),
        "two modes, by the density": highest_density_interval(y, _CHANCE, density=mixture),
        f"two modes, by {size} samples": highest_density_interval(two, _CHANCE, multimodal=True),
    }
    half = _DEVIATION * float(stats.norm.ppf((1 + _CHANCE) / 2))
    true_gamma = _shortest(gamma, optimize)
    truth = [true_gamma] * 2 + [[(mode - half, mode + half) for mode in _MODES]] * 2
    figure = style.figure(8.8, 3.0)
    names = list(regions)
    axes = figure.subplots(1, 3)
    plots.highest_density(regions[names[0]], density=(x, gamma.pdf(x)), ax=axes[0])
    plots.highest_density(regions[names[1]], samples=samples, ax=axes[1])
    plots.highest_density(regions[names[3]], samples=two, density=(y, mixture), ax=axes[2])
    for ax, name in zip(axes, (names[0], names[1], names[3]), strict=True):
        ax.set_xlabel(name)
        ax.set_xlim((0, 10) if name.startswith("gamma") else (-4.5, 4.5))
        ax.set_ylim(top=1.55 * ax.get_ylim()[1])
        ax.legend(frameon=False, fontsize=8, loc="upper right")
    return Outcome(
        findings=_findings(regions, truth),
        pictures=[Picture("density", "95 % highest density intervals of a parameter: from its density, from samples of "
                          "it, and from samples with two modes.", figure)],
        tables=[_table(regions, truth)],
    )  # fmt: skip


def _shortest(gamma: Any, optimize: Any) -> list[tuple[float, float]]:
    """The interval between two points of equal density, by solving for it."""

    def upper(low: float) -> float:
        return float(gamma.ppf(min(gamma.cdf(low) + _CHANCE, 1 - 1e-12)))

    most = 0.999999 * float(gamma.ppf(1 - _CHANCE))
    low = float(optimize.brentq(lambda place: gamma.pdf(place) - gamma.pdf(upper(place)), 1e-9, most))
    return [(low, upper(low))]


def _findings(regions: dict[str, HighestDensity], truth: list[list[tuple[float, float]]]) -> list[Finding]:
    """Each end beside the true one: a density is cut into cells, and samples are random."""
    findings = []
    for (name, region), intervals in zip(regions.items(), truth, strict=True):
        if len(region.intervals) != len(intervals):
            what = f"{name}: pieces of the {100 * _CHANCE:g} % region"
            findings.append(beside(what, len(region.intervals), len(intervals), unit="", digits=0, why=_WHY))
            continue
        worst = float(abs(region.intervals - np.array(intervals)).max())
        within = 0.01 if "density" in name else 0.25
        what = f"{name}: largest error of an end of the {100 * _CHANCE:g} % region"
        findings.append(beside(what, worst, 0.0, unit="", digits=3, within=within, source="solved for", why=_WHY))
    return findings


def _table(regions: dict[str, HighestDensity], truth: list[list[tuple[float, float]]]) -> Table:
    rows = [
        [name, number, low, high, *(true[number] if number < len(true) else (math.nan, math.nan)), region.mode,
         region.probability]
        for (name, region), true in zip(regions.items(), truth, strict=True)
        for number, (low, high) in enumerate(region.intervals)
    ]  # fmt: skip
    columns = ["of", "piece", "lower end", "upper end", "true lower end", "true upper end", "mode", "holds"]
    return Table("density", f"Highest density regions of {100 * _CHANCE:g} %", columns, rows)
