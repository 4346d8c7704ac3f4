"""The rule of the published picture, that neighbours in rank collide within e, and the same in exact arithmetic.

Input: embeddings and labels. Output: the collisions, how many of them are ties, and pictures and tables of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.collision_groups import Counts, Kind
from deadheat.analyses.collisions import Collisions, collisions, collisions_of_distances
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.rule import Ties
from deadheat.plots import style
from deadheat.plots.images import collision_image, collision_legend, distance_matrix, shift_matrix
from deadheat.studies.study import Picture, Setting, Table
from deadheat.support.lazy import require

DISTANCES = ("cosine", "euclidean", "cityblock")
_TITLES = {"cityblock": "city block"}

Matrix = NDArray[Any]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Data:
    """Embeddings and labels, their names in messages, and the e of the published picture."""

    name: str
    title: str
    embeddings: Matrix
    labels: Matrix
    eps: float

    def __getitem__(self, rows: slice) -> Data:
        return Data(self.name, self.title, self.embeddings[rows], self.labels[rows], self.eps)

    @property
    def relevant(self) -> Bool:
        return np.asarray(self.labels[:, None] == self.labels)


@dataclass(frozen=True)
class Published:
    """The collisions of the published picture, of n items, the query itself among them."""

    order: Int64  # (n, n): all items in the order of rounded distances
    gap: NDArray[np.float64]  # (n, n - 1): the difference in distance between each item and the one before it
    colliding: Bool  # (n, n - 1): where that gap is below e
    relevant: Bool  # (n, n - 1): whether the farther item is relevant

    @property
    def with_itself(self) -> Bool:
        """Which of the colliding pairs include the query itself."""
        itself = self.order == np.arange(len(self.order))[:, None]
        return np.asarray(self.colliding & (itself[:, :-1] | itself[:, 1:]))

    @property
    def kind(self) -> NDArray[np.int8]:
        """The picture: each colliding pair is marked by the kind of its farther item."""
        marks = np.where(self.relevant, Kind.RELEVANT, Kind.IRRELEVANT)
        return np.where(self.colliding, marks, Kind.NONE).astype(np.int8)


class Ruled(NamedTuple):
    """How many collisions of the published picture there are, how many of them tie, and where they are.

    The shares are of the collisions in the right half of the ranks, and in the last quarter; NaN without a collision.
    """

    n_collision: int
    n_tie: int
    right_half: float
    last_quarter: float

    @classmethod
    def of(cls, published: Published, ties: int = 0) -> Ruled:
        place, n_place = np.nonzero(published.colliding)[1], published.colliding.shape[1]
        shares = (float((place >= start * n_place).mean()) if len(place) else np.nan for start in (0.5, 0.75))
        return cls(len(place), ties, *shares)


def published_rule(distances: Matrix, relevant: Bool, eps: float) -> Published:
    """Two neighbours in rank collide where their rounded distances differ by less than eps.

    Parameters
    ----------
    distances : (n, n) float64
        Of every item to every item.
    relevant : (n, n) bool
    """
    order = np.argsort(distances, axis=1, kind="stable")
    gap = np.diff(np.take_along_axis(distances, order, axis=1), axis=1)
    return Published(order, gap, gap < eps, np.take_along_axis(relevant, order[:, 1:], axis=1))


def real_ties(rankings: Rankings, published: Published) -> int:
    """Count the colliding pairs of the published picture that are at equal distances as real numbers."""
    row, place = np.nonzero(published.colliding)
    near, far = published.order[row, place], published.order[row, place + 1]
    itself = published.with_itself[row, place]
    number = group_numbers(rankings)
    ties = int((number[row, near] == number[row, far])[~itself].sum())
    metric = rankings.metric
    columns = metric.columns.column_of_item
    nearer, farther = (metric.exact_closeness(row[itself], columns[item[itself]]) for item in (near, far))
    pairs = np.arange(len(nearer))
    return ties + int((nearer.compare(pairs, farther, pairs) == 0).sum())


def group_numbers(rankings: Rankings) -> NDArray[np.int32]:
    """The number of each item's exact tie group for each query, −1 for the query itself; (n_query, n_gallery)."""
    number = np.full((rankings.n_query, rankings.n_gallery), -1, dtype=np.int32)
    for block in rankings:
        row, place = np.nonzero(block.items >= 0)
        number[block.queries[row], block.items[row, place]] = block.group[row, place]
    return number


def split_and_merged(number: NDArray[np.int32], distances: Matrix) -> tuple[int, int]:
    """Count exact tie groups that rounding splits, and groups of equal rounded distances that are not one exact tie.

    Examples
    --------
    >>> split_and_merged(np.array([[0, 0, 1, 2]]), np.array([[0.1, 0.2, 0.3, 0.3]]))
    (1, 1)
    """
    split = merged = 0
    for groups, values in zip(number, distances, strict=True):
        ranked = groups >= 0
        value = np.unique(values[ranked], return_inverse=True)[1]
        both = np.unique(np.stack([groups[ranked], value]), axis=1)
        split += int((np.bincount(both[0]) > 1).sum())
        merged += int((np.bincount(both[1]) > 1).sum())
    return split, merged


def distances_of(data: Data, distance: str) -> Matrix:
    cdist = require("scipy.spatial.distance", "stats", "the published rule").cdist
    return np.asarray(cdist(data.embeddings, data.embeddings, distance))


def row_of_images(
    name: str, caption: str, images: Sequence[tuple[str, Collisions]], amplify: int | None = None
) -> Picture:
    figure = style.figure(11, 4.5)
    for ax, (title, image) in zip(figure.subplots(1, len(images), sharey=True), images, strict=True):
        collision_image(image, ax=ax, amplify=amplify, legend=False).set_title(_TITLES.get(title, title))
        ax.label_outer(remove_inner_ticks=False)
    collision_legend(figure)
    return Picture(name, caption, figure)


def as_published(data: Data, name: str, caption: str, setting: Setting) -> tuple[Picture, list[tuple[str, Collisions]]]:
    """The published picture for three distances, below it the exact groups within e; and these groups by distance."""
    figure = style.figure(11, 8.2)
    axes = figure.subplots(2, len(DISTANCES), sharex=True, sharey=True)
    kinds = []
    for (above, below), distance in zip(axes.T, DISTANCES, strict=True):
        pairs = published_rule(distances_of(data, distance), data.relevant, data.eps)
        collision_image(pairs.kind, ax=above, legend=False).set_title(_TITLES.get(distance, distance))
        within = collisions(data.embeddings, data.labels, distance=distance, within=data.eps, threads=setting.threads)
        collision_image(within, ax=below, legend=False)
        kinds.append((distance, within))
    for ax, title in zip(axes[:, 0], ("published rule, by item", f"within {data.eps:g}, by group"), strict=True):
        ax.set_ylabel(f"{title}\nquery")
    for ax in axes.flat:
        ax.label_outer()
    collision_legend(figure)
    return Picture(name, caption, figure), kinds


def matrices(data: Data, first: int) -> Picture:
    """Figure 4."""
    figure = style.figure(10, 4)
    left, right = figure.subplots(1, 2)
    distance_matrix(distances_of(data, "cosine"), ax=left, label="cosine distance").set_title("D")
    shift_matrix(data.relevant, ax=right).set_title("E")
    caption = (
        f"Figure 4: the matrices D and E of samples {first} to {first + len(data.labels) - 1}. The paper shifts the "
        "distances D by E, so that e orders items at equal distances."
    )
    return Picture("matrices", caption, figure)


def precision_picture(part: Data, samples: str, setting: Setting) -> Picture:
    """Exact ties, and those of rounded cosine distances."""
    rules: dict[str, Ties | str] = {name: Rounded(name, of="distance") for name in ("float32", "float16")}
    images = [
        (name, collisions(part.embeddings, part.labels, ties=ties, threads=setting.threads))
        for name, ties in ({"exact": "exact"} | rules).items()
    ]
    groups = ", ".join(f"{image.counts.together.groups} groups ({name})" for name, image in images)
    caption = (
        f"Ties of the cosine distance, {part.title}, samples {samples}, exact and with the exact distances rounded to "
        f"float32 and to float16: {groups}."
    )
    return row_of_images("gw-precision", caption, images)


def rule_table(data: Data, rows: str, setting: Setting) -> tuple[Table, dict[str, Ruled]]:
    """A table of the published rule against exact ties; and its counts by distance."""
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
        "equal in float64", "ties of the real numbers", "share that are not ties",
        "in the right half of the ranks", "in the last quarter",
    )  # fmt: skip
    caption = (
        "The published rule on SciPy's float64 distances: neighbours in rank whose distances differ by less than e."
    )
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
    caption = "Collision groups without the query itself. A group has at least two items; only a mixed one can matter."
    columns = (
        "set", "samples", "distance", "collision", "relevant groups", "irrelevant groups", "mixed groups",
        "colliding items", "of items", "queries", "largest group",
    )  # fmt: skip
    return Table("counts", caption, columns, lines)


def _count_row(data: Data, rows: str, distance: str, rule: str, counts: Counts) -> list[Any]:
    together = counts.together
    groups = [kind.groups for kind in (counts.relevant, counts.irrelevant, counts.mixed)]
    numbers = (together.items, counts.n_place, together.queries, together.largest)
    return [data.name, rows, distance, rule, *groups, *numbers]
