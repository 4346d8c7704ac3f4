"""Credible regions as a measure of retrieval, where the posterior is known: of one image, and of a class.

In comes a setting; out come the shares of items of the same instance, and of the same class, in regions of rising mass.
"""

from __future__ import annotations

import numpy as np

from deadheat import plots
from deadheat.analyses.confidence import CredibleRecall, credible_recall, normal_credible_recall
from deadheat.plots import style
from deadheat.studies.confidence.stand_in import Halves, blurred, cropped, discriminants, halves
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table
from deadheat.support.triple import Triple

_MASSES = np.arange(1, 20) / 20
_SHOWN = 0.5
_N_DRAW, _N_ITEM = 50, 10  # of each image: draws that make its posterior, and items to be found
_SOURCE = 'README of arrrrrmin/ranking-metrics, "Credible Intervals", which prints no value'
_INSTANCE, _OTHER, _CLASS = "same instance, draws", "same class, draws of one image", "same class, normal"


def run(setting: Setting) -> Outcome:
    """Posteriors of images by draws, and of classes by a formula."""
    found = _found(halves(setting.quick))
    figure = style.figure(7.4, 5.0)
    ax = figure.subplots()
    for number, (name, recall) in enumerate(found.items()):
        plots.credible_recall(recall, ax=ax, label=name, number=number, others=False, legend=False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return Outcome(
        findings=[_finding(name, recall) for name, recall in found.items()],
        pictures=[Picture("regions", "How many items of the same instance, or class, lie in the highest density region "
                          "of a query's posterior. In the band, the ends of regions decide.", figure)],
        tables=[_table(found)],
        text=[
            "The posterior of an image is that of its embedding under blur and crop, by "
            f"{_N_DRAW} draws out of 12 kinds of damage; {_N_ITEM} further draws are the items of the same instance. "
            "Since draws repeat, items are often exactly as dense as the draw at the end of a region. The posterior of "
            "a class is normal: discriminants give each class a deviation of 1 in each dimension, so that the "
            "difference of two of its members has \N{SQUARE ROOT}2.",
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


def _finding(name: str, found: CredibleRecall) -> Finding:
    at = int(np.flatnonzero(found.masses == _SHOWN)[0])
    share, others = (Triple(*(100 * float(bound[at]) for bound in part)) for part in (found.relevant, found.others))
    return Finding(
        f"{name}: items in the region of {100 * _SHOWN:g} %",
        f"{share.expected:.1f} % [{share.lower:.1f}, {share.upper:.1f}]",
        Mark.NEW,
        "",
        _SOURCE,
        f"of all other items {others.expected:.1f} %; the end of a region decides {found.n_open} of {found.n_query} "
        "queries",
    )


def _table(found: dict[str, CredibleRecall]) -> Table:
    columns = ["items", "mass", *(f"{part} inside, {end}" for part in ("relevant", "others") for end in Triple._fields)]
    rows = [[name, *row] for name, recall in found.items()
            for row in zip(*recall.columns().values(), strict=True)]  # fmt: skip
    return Table("regions", "Items in highest density regions", columns, rows, percent=columns[1:])
