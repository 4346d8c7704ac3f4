"""σ-targets: digits made ambiguous by blur and crop, several annotators, and confidences judged by their order.

In comes a setting; out come the rank correlations of two stand-in models' confidences with the levels of the damage and
with the entropy of what annotators say, and what rejecting by them does to the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import deadheat as dh
from deadheat.analyses import confidence as measures
from deadheat.analyses.confidence import RankCorrelation
from deadheat.plots import style
from deadheat.studies.confidence.stand_in import DAMAGES, Damage, Float64, Halves, Int64, discriminants, halves
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table
from deadheat.support.triple import Triple

_SOURCE = 'README of arrrrrmin/ranking-metrics, "Ground truth σ", after Wu and Goodman 2020 (arXiv:2010.02038)'
_LEVEL, _ENTROPY = "level of the damage", "entropy of the annotators"
_N_ANNOTATOR, _SHOWN = 15, 60  # images that each annotator has seen
_MODELS = ("whole images only", "damaged images too")  # what each was trained on


class Judged(NamedTuple):
    """The confidences of a model in damaged images, and what they should be in the order of."""

    damage: Damage
    model: str
    level: Int64
    confidence: Float64
    hit: Triple[Float64]
    correlations: dict[str, RankCorrelation]
    areas: dict[str, Triple[float]]


def run(setting: Setting) -> Outcome:
    """Damage, embed, annotate and compare."""
    data = halves(setting.quick)
    random = np.random.default_rng(5)
    judged = [one for damage in DAMAGES for one in _judged(damage, data, random, setting)]
    return Outcome(
        findings=[_finding(one) for one in judged],
        pictures=[
            Picture("targets", "Digits with rising damage: how sure two stand-in models are, as the share of queries "
                    "that are less sure, and how often the nearest image shows the same digit.", _picture(judged)),
        ],
        tables=[_table(judged)],
        text=[
            "The models are linear discriminants of one half of scikit-learn's digits, and the confidence is their "
            "largest probability of a class: stand-ins for a probabilistic model, as are the annotators, "
            f"{_N_ANNOTATOR} nearest-neighbour rules that have each seen another {_SHOWN} images.",
        ],
    )  # fmt: skip


def _judged(damage: Damage, data: Halves, random: np.random.Generator, setting: Setting) -> list[Judged]:
    """Both models on queries each of which has a random level of the damage."""
    level = random.integers(0, len(damage.levels), len(data.query))
    query = _damaged(data.query, damage, level)
    entropy = measures.annotation_entropy(_annotations(query, data, random))
    trained_on = random.integers(0, len(damage.levels), len(data.train))
    images = np.concatenate([data.train, _damaged(data.train, damage, trained_on)])
    models = (
        discriminants(data.train, data.train_labels),
        discriminants(images, np.tile(data.train_labels, 2)),
    )
    found = []
    for name, model in zip(_MODELS, models, strict=True):
        gallery = model.transform(data.train)
        report = dh.evaluate(
            model.transform(query), data.query_labels, gallery, data.train_labels,
            distance="euclidean", measures="Hit@1", threads=setting.threads,
        )  # fmt: skip
        hit, sure = report["Hit@1"].per_query, model.predict_proba(query).max(axis=1)
        orders = {"confidence": sure, _LEVEL: -level, _ENTROPY: -entropy}
        targets = {_LEVEL: level, _ENTROPY: entropy}
        found.append(
            Judged(
                damage, name, level, sure, hit,
                {target: measures.rank_correlation(sure, values) for target, values in targets.items()},
                {order: measures.error_reject_curve(hit, values).area for order, values in orders.items()},
            )
        )  # fmt: skip
    return found


def _damaged(images: Float64, damage: Damage, level: Int64) -> Float64:
    """Each image with its own level of the damage."""
    return np.stack([damage.change(images, amount) for amount in damage.levels])[level, np.arange(len(images))]


def _annotations(query: Float64, data: Halves, random: np.random.Generator) -> Int64:
    """What each annotator takes each image for, (n, n_annotator): the nearest of the images that it has seen."""
    seen = [random.choice(len(data.train), _SHOWN, replace=False) for _ in range(_N_ANNOTATOR)]
    away = ((query[:, None] - data.train[None]) ** 2).sum(axis=2)
    return np.stack([data.train_labels[own[away[:, own].argmin(axis=1)]] for own in seen], axis=1)


def _finding(judged: Judged) -> Finding:
    """Whether the model is less sure of what is more ambiguous."""
    level, entropy = (judged.correlations[target] for target in (_LEVEL, _ENTROPY))
    area, ideal = judged.areas["confidence"], judged.areas[_LEVEL]
    return Finding(
        f"{judged.damage.name}, trained on {judged.model}: Spearman's rho of the confidence and the {_LEVEL}",
        f"{level.spearman:.3f}, ties broken [{level.rho.lower:.3f}, {level.rho.upper:.3f}]",
        Mark.OTHER_DATA,
        "a confidence is judged by its rank correlation with a σ-target",
        _SOURCE,
        f"a good confidence is below 0; with the {_ENTROPY} {entropy.spearman:.3f}; the error-reject area is "
        f"{100 * area.expected:.1f} % by the confidence, {100 * ideal.expected:.1f} % [{100 * ideal.lower:.1f}, "
        f"{100 * ideal.upper:.1f}] by the {_LEVEL}",
    )


def _table(judged: Sequence[Judged]) -> Table:
    rows = [
        [one.damage.name, one.model, target, found.spearman, found.kendall, *found.rho, *found.tau,
         *one.areas["confidence"], *one.areas[target]]
        for one in judged for target, found in one.correlations.items()
    ]  # fmt: skip
    columns = ["damage", "trained on", "target", "Spearman's rho", "Kendall's tau-b",
               *(f"{name}, ties broken: {end}" for name in ("rho", "tau") for end in Triple._fields),
               *(f"ERC by {order}: {end}" for order in ("confidence", "target") for end in Triple._fields)]  # fmt: skip
    return Table("targets", "Confidences and σ-targets", columns, rows, percent=columns[-6:])


def _picture(judged: Sequence[Judged]) -> Figure:
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
