"""Pictures of the experiment, and its table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from deadheat import plots
from deadheat.analyses import confidence as measures
from deadheat.analyses.confidence import RankCorrelation
from deadheat.plots import style
from deadheat.studies.confidence.experiment import SCALE, STEPS, Draw, Step, step, values_of
from deadheat.studies.study import Picture, Table
from deadheat.support.triple import Triple

_BAND = 0.25  # opacity


def of(draws: Sequence[Draw]) -> list[Picture]:
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
    figure = style.figure(6.4, 3.6)
    ax = figure.subplots()
    data = draw.data
    plots.labelled_points(
        data.points,
        data.labels,
        confidence=data.moved(1.0),
        marked=data.flipped,
        mark="flipped label",
        ax=ax,
        legend=False,
    )
    ax.set(xlim=(-1.03, 1.03), ylim=(-0.03, 1.03), xticks=[-1, 0, 1], yticks=[0, 1])
    figure.legend(loc="outside upper right", ncols=3, frameon=False, markerscale=1.6)
    return figure


def _moved(draws: Sequence[Draw]) -> Figure:
    figure = style.figure(8.6, 3.6)
    left, right = figure.subplots(1, 2)
    curves: list[tuple[Callable[[Step], Triple[float]], str]] = [
        (lambda step: step.accuracy.mean_accuracy, "confidence against Recall@1"),
        (lambda step: step.by_hit, "error-reject area by Hit@1"),
        (lambda step: step.by_map, "error-reject area by MAP@R"),
    ]
    for number, (value, label) in enumerate(curves):
        ax = right if number else left
        for draw in draws[1:]:
            pale = [value(step).expected for step in draw.steps]
            ax.plot(STEPS, pale, color=style.GREY, alpha=0.3, linewidth=0.7, zorder=0.5)
        shown = [value(step) for step in draws[0].steps]
        against_confidence(STEPS.tolist(), shown, ax=ax, label=label, number=number)
    for ax, what in ((left, "mean accuracy over all thresholds (%)"), (right, "error-reject area (%)")):
        ax.set_ylabel(what)
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def _curves(draw: Draw) -> Figure:
    figure = style.figure(6.0, 4.0)
    ax = figure.subplots()
    for number, confidence in enumerate((0.05, 0.6, 1.0)):
        curve = measures.error_reject_curve(draw.hit, draw.data.moved(confidence))
        plots.error_reject(
            curve, ax=ax, label=f"flipped at {confidence:g}", number=number, references=number == 0, legend=False
        )
    return figure


def _correlation(draw: Draw) -> Figure:
    figure = style.figure(8.2, 3.4)
    average = float(draw.data.original[draw.data.flipped].mean())
    for ax, scale in zip(figure.subplots(1, 2, sharey=True), (1.0, SCALE), strict=True):
        steps = [step(draw.data, draw.hit, draw.map_at_r, c, scale).correlation for c in STEPS.tolist()]
        correlations((STEPS * scale).tolist(), steps, ax=ax, average=average * scale)
    figure.axes[1].set(xlabel=f"the same times {SCALE:g}", ylabel="")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


def against_confidence(
    confidence: Sequence[float], values: Sequence[Triple[float]], *, ax: Axes, label: str = "", number: int = 0
) -> Axes:
    """A measure against the confidence that some queries were given: expected, and a band from lower to upper."""
    ax = style.quiet(ax)
    lower, expected, upper = np.array(values, dtype=np.float64).T
    line = style.marked_line(number)
    ax.fill_between(confidence, lower, upper, color=line["color"], alpha=_BAND, linewidth=0)
    ax.plot(confidence, expected, markersize=4, linewidth=1.4, label=label, **line)
    ax.set(xlabel="confidence given to the flipped")
    return ax


def correlations(
    confidence: Sequence[float], steps: Sequence[RankCorrelation], *, ax: Axes, average: float | None = None
) -> Axes:
    """Both rank correlations against the confidence that some queries were given; a line at what it was before."""
    ax = style.quiet(ax)
    curves = {"Spearman's rho": [step.spearman for step in steps], "Kendall's tau-b": [step.kendall for step in steps]}
    for number, (label, values) in enumerate(curves.items()):
        ax.plot(confidence, values, **style.marked_line(number), markersize=4, linewidth=1.4, label=label)
    if average is not None:
        ax.axvline(average, color=style.INK, linestyle=style.DOTTED, linewidth=1.2, label="their average before")
    ax.set(xlabel="confidence given to the flipped", ylabel="rank correlation with the original")
    return ax


def table(draws: Sequence[Draw]) -> Table:
    """Means over the draws at every step."""
    named: dict[str, Callable[[Step], float | Triple[float]]] = {
        "confidence against Recall@1": lambda step: step.accuracy.mean_accuracy,
        "by scikit-learn's default": lambda step: step.by_default,
        "ERC by Hit@1": lambda step: step.by_hit,
        "ERC by MAP@R": lambda step: step.by_map,
        "best accuracy": lambda step: step.accuracy.best_accuracy,
        "AUROC": lambda step: step.accuracy.auroc,
        "Spearman": lambda step: step.correlation.spearman,
        "Kendall": lambda step: step.correlation.kendall,
    }
    columns, cells = ["confidence of the flipped"], [STEPS]
    for name, value in named.items():
        mean = values_of(draws, value).mean(axis=0)
        columns += [f"{name}: {end}" for end in Triple._fields] if mean.ndim == 2 else [name]
        cells += list(mean.T) if mean.ndim == 2 else [mean]
    rows = [list(row) for row in zip(*cells, strict=True)]
    correlations_of = {"Spearman", "Kendall", columns[0]}  # have no unit
    in_percent = [column for column in columns if column not in correlations_of]
    return Table("moved", f"Means over {len(draws)} draws", columns, rows, percent=in_percent)
