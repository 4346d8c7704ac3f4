"""The pictures and tables of the study: who collides by the published rule, and in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deadheat import Rounded, plots
from deadheat.analyses.collisions import Collisions, Counts, Kind, collisions, collisions_of_distances
from deadheat.counting.ranking import Rankings
from deadheat.plots import style
from deadheat.studies.collisions.rule import DISTANCES, Data, Ruled, distances_of, published_rule, real_ties
from deadheat.studies.study import Picture, Setting, Table
from deadheat.ties import Ties

_DPI = 160  # of the pictures that are written
_TITLES = {"cityblock": "city block"}


def row_of_images(
    name: str, caption: str, images: Sequence[tuple[str, Collisions]], amplify: int | None = None
) -> Picture:
    """Pictures of collisions side by side, each with its title."""
    figure = style.figure(11, 4.5, dpi=_DPI)
    for ax, (title, image) in zip(figure.subplots(1, len(images), sharey=True), images, strict=True):
        plots.collision_image(image, ax=ax, amplify=amplify, legend=False).set_title(_TITLES.get(title, title))
        ax.label_outer(remove_inner_ticks=False)
    plots.collision_legend(figure)
    return Picture(name, caption, figure)


def as_published(data: Data, name: str, caption: str, setting: Setting) -> tuple[Picture, list[tuple[str, Collisions]]]:
    """The published picture for three distances, and under it the kinds of what collides; the latter also alone."""
    figure = style.figure(11, 8.2, dpi=_DPI)
    axes = figure.subplots(2, len(DISTANCES), sharex=True, sharey=True)
    kinds = []
    for (above, below), distance in zip(axes.T, DISTANCES, strict=True):
        pairs = published_rule(distances_of(data, distance), data.relevant, data.eps)
        plots.collision_image(pairs.kind, ax=above, legend=False).set_title(_TITLES.get(distance, distance))
        within = collisions(data.embeddings, data.labels, distance=distance, within=data.eps, threads=setting.threads)
        plots.collision_image(within, ax=below, legend=False)
        kinds.append((distance, within))
    for ax, title in zip(axes[:, 0], ("published rule, by item", f"within {data.eps:g}, by group"), strict=True):
        ax.set_ylabel(f"{title}\nquery")
    for ax in axes.flat:
        ax.label_outer()
    plots.collision_legend(figure)
    return Picture(name, caption, figure), kinds


def matrices(data: Data, first: int) -> Picture:
    """Figure 4."""
    figure = style.figure(10, 4, dpi=_DPI)
    left, right = figure.subplots(1, 2)
    plots.distance_matrix(distances_of(data, "cosine"), ax=left, label="cosine distance").set_title("D")
    plots.shift_matrix(data.relevant, ax=right).set_title("E")
    caption = (
        f"Figure 4: the matrices D and E of samples {first} to {first + len(data.labels) - 1}. The paper moves the "
        "distances D by E, so that e decides between items at one distance."
    )
    return Picture("matrices", caption, figure)


def precision_picture(part: Data, samples: str, setting: Setting) -> Picture:
    """Exact ties, and those of rounded cosine distances."""
    rules: dict[str, Ties | str] = {"exact": "exact"}
    rules |= {name: Rounded(name, of="distance") for name in ("float32", "float16")}
    images = [
        (name, collisions(part.embeddings, part.labels, ties=ties, threads=setting.threads))
        for name, ties in rules.items()
    ]
    groups = ", ".join(f"{image.counts.together.groups} groups ({name})" for name, image in images)
    caption = (
        f"Ties of the cosine distance, {part.title}, samples {samples}, exact and with the exact distances rounded to "
        f"float32 and to float16: {groups}."
    )
    return row_of_images("gw-precision", caption, images)


_COUNT_COLUMNS = (
    "set", "samples", "distance", "collision", "relevant groups", "irrelevant groups", "mixed groups",
    "colliding items", "of items", "queries", "largest group",
)  # fmt: skip


def rule_table(data: Data, rows: str, setting: Setting) -> tuple[Table, dict[str, Ruled]]:
    """The published rule against the real numbers; and by distance, its collisions in numbers."""
    lines, numbers = [], {}
    for distance in DISTANCES:
        pairs = published_rule(distances_of(data, distance), data.relevant, data.eps)
        ties = real_ties(Rankings(data.embeddings, distance=distance, threads=setting.threads), pairs)
        numbers[distance] = ruled = Ruled.of(pairs, ties)
        count, marks = ruled.n_collision, pairs.kind
        lines.append(
            [
                data.name, rows, distance, data.eps, count, int((marks == Kind.RELEVANT).sum()),
                int((marks == Kind.IRRELEVANT).sum()), int(pairs.with_itself.sum()), int((pairs.gap == 0).sum()), ties,
                1 - ties / count if count else np.nan, ruled.right_half, ruled.last_quarter,
            ]
        )  # fmt: skip
    columns = (
        "set", "samples", "distance", "e", "collisions", "relevant", "irrelevant", "with the query itself",
        "equal in float64", "ties of the real numbers", "share that are no ties",
        "in the right half of the ranks", "in the last quarter",
    )  # fmt: skip
    caption = "The published rule on SciPy's float64 distances: pairs of neighbours in rank closer together than e."
    return Table("published-rule", caption, columns, lines, percent=columns[-3:]), numbers


def count_table(data: Data, rows: str, setting: Setting, short_types: Sequence[str] = ()) -> Table:
    """Collision groups by distance: exact, of SciPy's float64 distances, rounded to shorter types, and within e."""
    lines = []
    rules: list[tuple[str, dict[str, Any]]] = [("exact", {})]
    rules += [(f"{name} distance", {"ties": Rounded(name, of="distance")}) for name in short_types]
    rules += [(f"within {data.eps:g}", {"within": data.eps})]
    for rule, how in rules:
        counted = collisions(data.embeddings, data.labels, distance=DISTANCES, threads=setting.threads, **how)
        lines += [_count_row(data, rows, distance, rule, counted[distance]) for distance in counted]
    for distance in DISTANCES:
        rounded = collisions_of_distances(distances_of(data, distance), data.relevant, leave_one_out=True)
        lines.append(_count_row(data, rows, distance, "float64 distance (SciPy)", rounded.counts))
    caption = "Collision groups, the query itself left out. A group has two items or more; only a mixed one can matter."
    return Table("counts", caption, _COUNT_COLUMNS, lines)


def _count_row(data: Data, rows: str, distance: str, rule: str, counts: Counts) -> list[Any]:
    together = counts.together
    groups = [kind.groups for kind in (counts.relevant, counts.irrelevant, counts.mixed)]
    numbers = (together.items, counts.n_place, together.queries, together.largest)
    return [data.name, rows, distance, rule, *groups, *numbers]
