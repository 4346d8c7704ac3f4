"""σ-targets and credible regions, on damaged digits, by a model in place of a probabilistic one.

scikit-learn has neither a probabilistic model nor data with several annotators, but it has handwritten digits: one half
trains linear discriminants, the other half are queries. Input: a setting. Output: the rank correlations of confidences
with the levels of the damage and with the entropy of the annotations, and the shares of items of the same instance, and
of the same class, in regions of increasing mass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import deadheat as dh
from deadheat.analyses.confidence import RankCorrelation, annotation_entropy, error_reject_curve, rank_correlation
from deadheat.analyses.confidence.regions import CredibleRecall, credible_recall, normal_credible_recall
from deadheat.plots import confidences, style
from deadheat.studies.published import digits
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
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


class Halves(NamedTuple):
    train: Float64  # images (n, 64)
    train_labels: Int64  # which digit each shows
    query: Float64
    query_labels: Int64


def halves(quick: bool) -> Halves:
    images, labels = digits()
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
    return Outcome(
        findings=[_target_finding(one) for one in judged],
        pictures=[
            Picture("targets", "Digits with increasing damage: the confidence of two stand-in models, as the share of "
                    "queries with less, and how often the nearest image shows the same digit.",
                    _targets_figure(judged)),
        ],
        tables=[_targets_table(judged)],
        text=[
            "The models are linear discriminants of one half of scikit-learn's digits, and the confidence is their "
            f"largest class probability. They stand in for a probabilistic model, and {_N_ANNOTATOR} "
            f"nearest-neighbour rules, each with {_N_SEEN} random images, stand in for annotators.",
        ],
    )  # fmt: skip


def _judged(damage: Damage, data: Halves, random: np.random.Generator, setting: Setting) -> list[Judged]:
    level = random.integers(0, len(damage.levels), len(data.query))
    query = _damaged(data.query, damage, level)
    entropy = annotation_entropy(_annotations(query, data, random))
    trained_on = random.integers(0, len(damage.levels), len(data.train))
    images = np.concatenate([data.train, _damaged(data.train, damage, trained_on)])
    models = (discriminants(data.train, data.train_labels), discriminants(images, np.tile(data.train_labels, 2)))
    found = []
    for name, model in zip(_MODELS, models, strict=True):
        gallery = model.transform(data.train)
        report = dh.evaluate(
            model.transform(query), data.query_labels, gallery, data.train_labels,
            distance="euclidean", measures="Hit@1", threads=setting.threads,
        )  # fmt: skip
        hit, sure = report["Hit@1"].per_query, model.predict_proba(query).max(axis=1)
        orders = {"confidence": sure, _LEVEL: -level, _ENTROPY: -entropy}
        ideals = {_LEVEL: level, _ENTROPY: entropy}
        found.append(
            Judged(
                damage, name, level, sure, hit,
                {target: rank_correlation(sure, values) for target, values in ideals.items()},
                {order: error_reject_curve(hit, values).area for order, values in orders.items()},
            )
        )  # fmt: skip
    return found


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
        [one.damage.name, one.model, target, found.spearman, found.kendall, *found.rho, *found.tau,
         *one.areas["confidence"], *one.areas[target]]
        for one in judged for target, found in one.correlations.items()
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
    found = _found(halves(setting.quick))
    figure = style.figure(7.4, 5.0)
    ax = figure.subplots()
    for number, (name, recall) in enumerate(found.items()):
        confidences.credible_recall(recall, ax=ax, label=name, number=number, others=False, legend=False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return Outcome(
        findings=[_region_finding(name, recall) for name, recall in found.items()],
        pictures=[Picture("regions", "How many items of the same instance, or class, lie in the highest density region "
                          "of a query's posterior. In the band, ties at the boundary decide.", figure)],
        tables=[_regions_table(found)],
        text=[
            "The posterior of an image is that of its embedding under blur and crop: "
            f"{_N_DRAW} draws from 12 kinds of damage; {_N_ITEM} further draws are the items of the same instance. "
            "Since draws repeat, items often have exactly the density of the draw at the boundary of a region. The "
            "posterior of a class is normal: discriminants give each class a standard deviation of 1 in each "
            "dimension, so that the difference of two of its members has \N{SQUARE ROOT}2.",
        ],
    )  # fmt: skip


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


def _region_finding(name: str, found: CredibleRecall) -> Finding:
    at = int(np.flatnonzero(found.masses == _SHOWN)[0])
    share, others = (Triple(*(100 * float(bound[at]) for bound in part)) for part in (found.relevant, found.others))
    what = f"{name}: items in the region of {100 * _SHOWN:g} %"
    here = f"{share.expected:.1f} % [{share.lower:.1f}, {share.upper:.1f}]"
    ties = f"ties at the boundary matter for {found.n_open} of {found.n_query} queries"
    return Finding(what, here, source=_REGIONS, why=f"of all other items {others.expected:.1f} %; {ties}")


def _regions_table(found: dict[str, CredibleRecall]) -> Table:
    columns = ["items", "mass", *(f"{part} inside, {end}" for part in ("relevant", "others") for end in Triple._fields)]
    rows = [[name, *row] for name, recall in found.items()
            for row in zip(*recall.columns().values(), strict=True)]  # fmt: skip
    return Table("regions", "Items in highest density regions", columns, rows, percent=columns[1:])
