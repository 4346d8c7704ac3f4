"""Figures 2, 3 and 4 of Nicolaou et al. 2018: which neighbours collide, and which of the collisions are ties.

The published picture calls it a collision where two neighbours in rank are less than e apart in rounded distances. Here
that rule stands beside the exact one, on the paper's data if it is there, and on two sets that need no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat import Rounded, evaluate
from deadheat.analyses.collisions import Collisions, Counts, Kind, collisions, collisions_of_distances
from deadheat.counting.ranking import Rankings
from deadheat.plots import collisions as plots
from deadheat.studies import _washington
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table, beside, missing
from deadheat.support.extras import require
from deadheat.ties import Ties

TITLE = "Collisions: which neighbours are equally far"
SOURCE = (
    "Nicolaou et al. 2018, Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings, "
    "arXiv:1806.07171, figures 2, 3 and 4, and the code and data that were published with it (anguelos/embedding_map)."
)
ABOUT = (
    "The paper draws, for every query and rank, whether two neighbours in rank are closer together than e, and takes "
    "this for the ambiguity of the ranking. Two neighbours that are that close need not tie. Here each collision is "
    "looked at exactly: is it a tie of the real numbers, and is the group relevant, irrelevant, or mixed? Only a mixed "
    "group can change a measure."
)

_PAPER = "arXiv:1806.07171"
_NOTES = "not published: measured with SciPy's float64 distances on the same file"
DISTANCES = ("cosine", "euclidean", "cityblock")

_DPI = 160  # of the pictures that are written
_TITLES = {"cityblock": "city block"}

Matrix = NDArray[Any]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class Data:
    """Embeddings and labels, how messages call them, and the e of the published picture."""

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


def run(setting: Setting) -> Outcome:
    """See `deadheat.studies.study`."""
    file = setting.file(_washington.FILE)
    parts = [_george_washington(setting, file) if file else _no_file(), _white_noise(setting, file)]
    parts += [_digits(setting), _grid(setting)]
    text = [
        "The paper shows figures 2 and 3 without a count, so that only the pictures can be compared. Orange is a "
        "relevant collision (red in the paper), blue an irrelevant one, as in the paper; black is a mixed one, which "
        "the paper does not tell apart.",
        "The published rule sorts the query itself among the items, and counts the gap between it and its nearest "
        "neighbour; deadheat takes the query out by its index.",
    ]
    return Outcome(
        [finding for part in parts for finding in part.findings],
        [picture for part in parts for picture in part.pictures],
        _together([table for part in parts for table in part.tables]),
        text,
    )


class _Part(NamedTuple):
    findings: list[Finding]
    pictures: list[Picture]
    tables: list[Table]


def _together(tables: Sequence[Table]) -> list[Table]:
    """One table of those that have the same name, with the rows of all."""
    found: dict[str, Table] = {}
    for table in tables:
        rows = [*found[table.name].rows, *table.rows] if table.name in found else table.rows
        found[table.name] = Table(table.name, table.caption, table.columns, rows)
    return list(found.values())


# The published rule, and the real numbers ------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """The collisions of the published picture.

    Attributes
    ----------
    order : (n, n) int64
        All items, the query itself among them, in the order of rounded distances.
    gap : (n, n - 1) float64
        What each of them but the first is farther away than the one before it.
    colliding, relevant : (n, n - 1) bool
        Where that gap is below e, and whether the farther item is relevant.
    """

    order: Int64
    gap: NDArray[np.float64]
    colliding: Bool
    relevant: Bool

    @property
    def with_itself(self) -> Bool:
        """Which of the colliding pairs the query itself is one of."""
        itself = self.order == np.arange(len(self.order))[:, None]
        return np.asarray(self.colliding & (itself[:, :-1] | itself[:, 1:]))

    @property
    def kind(self) -> NDArray[np.int8]:
        """The picture: the farther item of each colliding pair is marked by what it is."""
        marks = np.where(self.relevant, Kind.RELEVANT, Kind.IRRELEVANT)
        return np.where(self.colliding, marks, Kind.NONE).astype(np.int8)


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


def real_ties(rankings: Rankings, found: Published) -> int:
    """How many colliding pairs of the published picture are equally far from the query as real numbers."""
    row, place = np.nonzero(found.colliding)
    one, two = found.order[row, place], found.order[row, place + 1]
    itself = found.with_itself[row, place]
    number = group_numbers(rankings)
    ties = int((number[row, one] == number[row, two])[~itself].sum())
    metric = rankings.metric
    columns = metric.columns.column_of_item
    pairs = zip(*(metric.exact_closeness(row[itself], columns[item[itself]]) for item in (one, two)), strict=True)
    return ties + sum(1 for near, far in pairs if near.compare(far) == 0)


def group_numbers(rankings: Rankings) -> NDArray[np.int32]:
    """The number of each item's exact tie group for each query, −1 for the query itself; (n_query, n_gallery)."""
    number = np.full((rankings.n_query, rankings.n_gallery), -1, dtype=np.int32)
    for block in rankings:
        row, place = np.nonzero(block.items >= 0)
        number[block.queries[row], block.items[row, place]] = block.group[row, place]
    return number


def split_and_merged(number: NDArray[np.int32], distances: Matrix) -> tuple[int, int]:
    """How many exact tie groups rounded distances split, and how many groups of equal ones are no tie of all of them.

    Examples
    --------
    >>> split_and_merged(np.array([[0, 0, 1, 2]]), np.array([[0.1, 0.2, 0.3, 0.3]]))
    (1, 1)
    """
    split = merged = 0
    for groups, values in zip(number, distances, strict=True):
        some = groups >= 0
        value = np.unique(values[some], return_inverse=True)[1]
        both = np.unique(np.stack([groups[some], value]), axis=1)
        split += int((np.bincount(both[0]) > 1).sum())
        merged += int((np.bincount(both[1]) > 1).sum())
    return split, merged


def _distances(data: Data, distance: str) -> Matrix:
    """SciPy's distances in float64, as the published code takes them."""
    cdist = require("scipy.spatial.distance", "stats", "the published rule").cdist
    return np.asarray(cdist(data.embeddings, data.embeddings, distance))


# Tables ----------------------------------------------------------------------------------------------------------


def _rule_table(data: Data, rows: str, setting: Setting) -> tuple[Table, dict[str, tuple[int, int]]]:
    """The published rule against the real numbers; and by distance, the collisions and the real ties among them."""
    lines, found = [], {}
    for distance in DISTANCES:
        pairs = published_rule(_distances(data, distance), data.relevant, data.eps)
        ties = real_ties(Rankings(data.embeddings, distance=distance, threads=setting.threads), pairs)
        count = int(pairs.colliding.sum())
        found[distance] = count, ties
        marks = pairs.kind
        lines.append(
            [
                data.name, rows, distance, data.eps, count, int((marks == Kind.RELEVANT).sum()),
                int((marks == Kind.IRRELEVANT).sum()), int(pairs.with_itself.sum()), int((pairs.gap == 0).sum()), ties,
                1 - ties / count if count else np.nan,
            ]
        )  # fmt: skip
    columns = (
        "set", "samples", "distance", "e", "collisions", "relevant", "irrelevant", "with the query itself",
        "equal in float64", "ties of the real numbers", "share that are no ties",
    )  # fmt: skip
    caption = "The published rule on SciPy's float64 distances: pairs of neighbours in rank closer together than e."
    return Table("published-rule", caption, columns, lines), found


_COUNT_COLUMNS = (
    "set", "samples", "distance", "collision", "relevant groups", "irrelevant groups", "mixed groups",
    "colliding items", "of items", "queries", "largest group",
)  # fmt: skip


def _count_row(data: Data, rows: str, distance: str, rule: str, counts: Counts) -> list[Any]:
    together = counts.together
    groups = [one.groups for one in (counts.relevant, counts.irrelevant, counts.mixed)]
    numbers = (together.items, counts.n_place, together.queries, together.largest)
    return [data.name, rows, distance, rule, *groups, *numbers]


def _count_table(data: Data, rows: str, setting: Setting, short_types: Sequence[str] = ()) -> Table:
    """Collision groups by distance: exact, of SciPy's float64 distances, rounded to shorter types, and within e."""
    lines = []
    rules: list[tuple[str, dict[str, Any]]] = [("exact", {})]
    rules += [(f"{name} distance", {"ties": Rounded(name, of="distance")}) for name in short_types]
    rules += [(f"within {data.eps:g}", {"within": data.eps})]
    for rule, how in rules:
        counted = collisions(data.embeddings, data.labels, distance=DISTANCES, threads=setting.threads, **how)
        lines += [_count_row(data, rows, distance, rule, counted[distance]) for distance in counted]
    for distance in DISTANCES:
        rounded = collisions_of_distances(_distances(data, distance), data.relevant, leave_one_out=True)
        lines.append(_count_row(data, rows, distance, "float64 distance (SciPy)", rounded.counts))
    caption = "Collision groups, the query itself left out. A group has two items or more; only a mixed one can matter."
    return Table("counts", caption, _COUNT_COLUMNS, lines)


# Pictures --------------------------------------------------------------------------------------------------------


def _row_of_images(
    name: str, caption: str, images: Sequence[tuple[str, Collisions]], amplify: int | None = None
) -> Picture:
    """Pictures of collisions side by side, each with its title."""
    figure = Figure(figsize=(11, 4.5), dpi=_DPI, layout="constrained")
    for ax, (title, found) in zip(figure.subplots(1, len(images), sharey=True), images, strict=True):
        plots.collision_image(found, ax=ax, amplify=amplify, legend=False).set_title(_TITLES.get(title, title))
        ax.label_outer(remove_inner_ticks=False)
    plots.kind_legend(figure)
    return Picture(name, caption, figure)


def _as_published(
    data: Data, name: str, caption: str, setting: Setting
) -> tuple[Picture, list[tuple[str, Collisions]]]:
    """The published picture for three distances, and under it the kinds of what collides; the latter also alone."""
    figure = Figure(figsize=(11, 8.2), dpi=_DPI, layout="constrained")
    axes = figure.subplots(2, len(DISTANCES), sharex=True, sharey=True)
    kinds = []
    for (above, below), distance in zip(axes.T, DISTANCES, strict=True):
        pairs = published_rule(_distances(data, distance), data.relevant, data.eps)
        plots.collision_image(pairs.kind, ax=above, legend=False).set_title(_TITLES.get(distance, distance))
        found = collisions(data.embeddings, data.labels, distance=distance, within=data.eps, threads=setting.threads)
        plots.collision_image(found, ax=below, legend=False)
        kinds.append((distance, found))
    for ax, title in zip(axes[:, 0], ("published rule, by item", f"within {data.eps:g}, by group"), strict=True):
        ax.set_ylabel(f"{title}\nquery")
    for ax in axes.flat:
        ax.label_outer()
    plots.kind_legend(figure)
    return Picture(name, caption, figure), kinds


def _matrices(data: Data, first: int) -> Picture:
    """Figure 4."""
    figure = Figure(figsize=(10, 4), dpi=_DPI, layout="constrained")
    left, right = figure.subplots(1, 2)
    plots.distance_matrix(_distances(data, "cosine"), ax=left, label="cosine distance").set_title("D")
    plots.shift_matrix(data.relevant, ax=right).set_title("E")
    caption = (
        f"Figure 4: the matrices D and E of samples {first} to {first + len(data.labels) - 1}. The paper moves the "
        "distances D by E, so that e decides between items at one distance."
    )
    return Picture("matrices", caption, figure)


# The four sets ---------------------------------------------------------------------------------------------------


def _load(file: Path) -> Data:
    return Data("George Washington", "PHOCNet embeddings of George Washington", *_washington.read(file), 1e-10)


def _no_file() -> _Part:
    published = "a picture, no count"
    return _Part(
        [
            missing(
                "figure 2: collisions on George Washington",
                _washington.FILE,
                published=published,
                source=f"{_PAPER}, figure 2",
            ),
            missing(
                "figure 4: the matrices D and E", _washington.FILE, published="a picture", source=f"{_PAPER}, figure 4"
            ),
        ],
        [],
        [],
    )


def _george_washington(setting: Setting, file: Path) -> _Part:
    """Figures 2 and 4, and what rounding the distances does."""
    everything = _load(file)
    first, last = (1000, 1000) if setting.quick else (650, 900)
    some, samples = everything[first:], f"{first} to {len(everything.labels) - 1}"
    setting.say(f"{everything.title}: {len(some.labels)} samples for the pictures")
    caption = (
        f"Figure 2: {everything.title}, samples {samples}. Above, the published rule: two neighbours in rank less than "
        "1e-10 apart in float64, coloured by the farther one, the query itself at rank 0. Below, the groups within "
        "1e-10 in exact arithmetic, coloured by what is in the group."
    )
    picture, kinds = _as_published(some, "gw", caption, setting)
    rule, pairs = _rule_table(some, samples, setting)
    types = () if setting.quick else ("float32", "float16")
    tables = [rule, _count_table(some, samples, setting, types)]
    findings = _rule_findings(some, samples, pairs, "figure 2", Mark.NEW)
    if not setting.quick:
        setting.say(f"{everything.title}: all {len(everything.labels)} samples")
        all_rule, all_pairs = _rule_table(everything, "all", setting)
        all_counts = _count_table(everything, "all", setting, types)
        tables += [all_rule, all_counts]
        findings += _rule_findings(everything, "all", all_pairs, "figure 2 shows a part of them", Mark.NEW)
        findings += _known(everything, all_counts, setting)
    findings += _nearest_pair(everything, setting)
    pictures = [
        picture,
        _row_of_images(
            "gw-amplified",
            "The lower row of the picture above, amplified: every mark is widened by 3 ranks and 3 queries on every "
            "side, so that single collisions can be seen. The area of the marks says nothing about how many there are.",
            kinds,
            amplify=3,
        ),
        _precision_picture(some, samples, setting),
        _matrices(everything[last:], last),
    ]
    return _Part(findings, pictures, tables)


def _precision_picture(some: Data, samples: str, setting: Setting) -> Picture:
    """Exact ties, and those of rounded cosine distances."""
    rules: dict[str, Ties | str] = {"exact": "exact"}
    rules |= {name: Rounded(name, of="distance") for name in ("float32", "float16")}
    images = [
        (name, collisions(some.embeddings, some.labels, ties=ties, threads=setting.threads))
        for name, ties in rules.items()
    ]
    found = ", ".join(f"{one.counts.together.groups} groups ({name})" for name, one in images)
    caption = (
        f"Ties of the cosine distance, {some.title}, samples {samples}, exact and with the exact distances rounded to "
        f"float32 and to float16: {found}."
    )
    return _row_of_images("gw-precision", caption, images)


def _rule_findings(
    data: Data, samples: str, pairs: dict[str, tuple[int, int]], figure: str, mark: Mark, why: str = ""
) -> list[Finding]:
    """How many collisions the published rule sees, and how many of them are ties."""
    which = "all samples" if samples == "all" else f"samples {samples}"
    return [
        Finding(
            f"{data.name}, {which}, {distance}: collisions by the published rule, and ties among them",
            f"{count}, {ties}",
            mark,
            "a picture, no count",
            f"{_PAPER}, {figure}",
            why or f"pairs of neighbours in rank less than {data.eps:g} apart; a tie is equally far as a real number",
        )
        for distance, (count, ties) in pairs.items()
    ]


def _known(data: Data, counts: Table, setting: Setting) -> list[Finding]:
    """What had been measured on all samples before: mAP, and the mixed groups of rounded cosine distances."""
    mixed = {(row[2], row[3]): row[6] for row in counts.rows}
    findings = []
    for distance, known in (("cosine", 95.5491), ("euclidean", 95.7809), ("cityblock", 95.6911)):
        report = evaluate(data.embeddings, data.labels, distance=distance, measures=["mAP"], threads=setting.threads)
        name = f"George Washington, {distance}"
        findings.append(beside(f"{name}: mAP, lower bound", 100 * report["mAP"].lower, known, digits=4, source=_NOTES))
        findings.append(beside(f"{name}: mAP, upper bound", 100 * report["mAP"].upper, known, digits=4, source=_NOTES))
        for rule in ("exact", "float64 distance (SciPy)"):
            findings.append(
                beside(f"{name}: mixed tie groups, {rule}", mixed[distance, rule], 0, unit="", digits=0, source=_NOTES)
            )
    for name, groups, lower, upper, digits in (
        ("float32", 33, 95.54905, 95.54910, 5),
        ("float16", 173, 95.5351, 95.5620, 4),
    ):
        rule, what = f"{name} distance", f"George Washington, cosine distance rounded to {name}"
        report = evaluate(
            data.embeddings, data.labels, ties=Rounded(name, of="distance"), measures=["mAP"], threads=setting.threads
        )
        findings += [
            beside(f"{what}: mixed tie groups", mixed["cosine", rule], groups, unit="", digits=0, source=_NOTES),
            beside(f"{what}: mAP, lower bound", 100 * report["mAP"].lower, lower, digits=digits, source=_NOTES),
            beside(f"{what}: mAP, upper bound", 100 * report["mAP"].upper, upper, digits=digits, source=_NOTES),
        ]
    return findings


def _nearest_pair(data: Data, setting: Setting) -> list[Finding]:
    """The samples that SciPy puts at cosine distance 0 from each other, and how far apart they are exactly."""
    one, two = np.nonzero(np.triu(_distances(data, "cosine") <= 0, 1))
    same = data.labels[one] == data.labels[two]
    pairs = [
        f"samples {i} and {j}, of {'one class' if alike else 'two classes'}"
        for i, j, alike in zip(one.tolist(), two.tolist(), same.tolist(), strict=True)
    ]
    here, known = "; ".join(pairs) or "none", "samples 1162 and 1163, of two classes"
    metric = Rankings(data.embeddings, threads=setting.threads).metric
    exact_closeness = metric.exact_closeness(one, metric.columns.column_of_item[two])
    with localcontext() as context:
        context.prec = 60
        apart = [1 - (Decimal(surd.numerator) / Decimal(surd.denominator)).sqrt() for surd in exact_closeness]
    name = "George Washington: samples whose cosine distance is 0 in float64 (SciPy)"
    return [
        Finding(name, here, Mark.AGREES if here == known else Mark.DIFFERS, known, _NOTES),
        Finding(
            "George Washington: the exact cosine distance of these samples",
            ", ".join(f"{float(gap):.4g}" for gap in apart) or "none",
            Mark.NEW,
            why="where it is not 0, neither of the two ties with the query itself",
        ),
    ]


def published_noise(n: int, dim: int) -> Matrix:
    """White noise, (n, dim) in [0, 1), as the published code draws it: the same generator, seed and draws before it."""
    random = np.random.RandomState(1337)
    random.shuffle(np.arange(1000))
    for _ in range(30):  # the random embeddings that stand beside the all-zero one
        random.random_sample((1000, 100))
    return random.random_sample((n, dim))


def _white_noise(setting: Setting, file: Path | None) -> _Part:
    """Figure 3."""
    if file is not None:
        labels = _load(file).labels
    else:  # words by how often they come: 431 of them, as on George Washington
        share = 1 / np.arange(1, 432)
        labels = np.random.default_rng(0).choice(431, size=1164, p=share / share.sum())
    first = 1080 if setting.quick else 900
    everything = Data("white noise", "White noise", published_noise(len(labels), 504), labels, 1e-5)
    some, samples = everything[first:], f"{first} to {len(labels) - 1}"
    setting.say(f"white noise: {len(some.labels)} samples")
    origin = "George Washington" if file else "made words"
    caption = (
        f"Figure 3: uniform noise in 504 dimensions with the labels of {origin}, samples {samples}. Above, the "
        "published rule with e = 1e-5; below, the groups within 1e-5 in exact arithmetic."
    )
    picture, kinds = _as_published(some, "noise", caption, setting)
    rule, pairs = _rule_table(some, samples, setting)
    amplified = _row_of_images(
        "noise-amplified", "The lower row of the picture above, amplified by 3 ranks and 3 queries.", kinds, amplify=3
    )
    why = "" if file else f"labels that were made here stand in for those of {_washington.FILE}"
    findings = _rule_findings(some, samples, pairs, "figure 3", Mark.NEW if file else Mark.STAND_IN, why)
    return _Part(findings, [picture, amplified], [rule, _count_table(some, samples, setting)])


def _digits(setting: Setting) -> _Part:
    """Pixels: integers, which truly tie."""
    digits = require("sklearn.datasets", "confidence", "the study of collisions").load_digits()
    n, shown = (300, 150) if setting.quick else (len(digits.target), 450)
    data = Data("digits", "scikit-learn's digits", digits.data[:n], digits.target[:n], 1e-10)
    setting.say(f"digits: {n} samples")
    images = [
        (distance, collisions(data.embeddings[:shown], data.labels[:shown], distance=distance, threads=setting.threads))
        for distance in DISTANCES
    ]
    caption = (
        f"Exact ties of the first {shown} of {data.title}: 8 × 8 pixels, grey levels from 0 to 16. City block "
        "distances are whole numbers of at most 1024, Euclidean distances and cosines are roots."
    )
    picture = _row_of_images("digits", caption, images)
    samples = "all" if n == len(digits.target) else f"0 to {n - 1}"
    rule, _ = _rule_table(data, samples, setting)
    return _Part(_rounding_findings(data, setting), [picture], [rule, _count_table(data, samples, setting)])


def _rounding_findings(data: Data, setting: Setting) -> list[Finding]:
    """What float64 makes of exact ties."""
    findings = []
    for distance in DISTANCES:
        rankings = Rankings(data.embeddings, distance=distance, threads=setting.threads)
        counted = collisions(data.embeddings, data.labels, distance=[distance], threads=setting.threads)[distance]
        split, merged = split_and_merged(group_numbers(rankings), _distances(data, distance))
        findings.append(
            Finding(
                f"{data.name}, {distance}: exact tie groups, those that are mixed, those that float64 distances split",
                f"{counted.together.groups}, {counted.mixed.groups}, {split}",
                Mark.NEW,
                why=f"groups of equal float64 distances that are no tie: {merged}",
            )
        )
    return findings


def _grid(setting: Setting) -> _Part:
    """Points of a grid, in classes that can be seen: every tie is mixed or not for a reason."""
    side = 10
    points = np.stack(np.meshgrid(np.arange(1, side + 1), np.arange(1, side + 1)), axis=-1).reshape(-1, 2)
    labels = (points[:, 0] > side // 2) + 2 * (points[:, 1] > side // 2)
    data = Data("grid", f"A grid of {side} × {side} points", points, labels, 1e-10)
    images = [
        (distance, collisions(points, labels, distance=distance, threads=setting.threads)) for distance in DISTANCES
    ]
    caption = (
        f"Exact ties of the {side} × {side} points (1, 1) to ({side}, {side}), whose class is the quarter that they "
        "lie in. With cosine, what lies in one direction from the origin ties."
    )
    picture = _row_of_images("grid", caption, images)
    return _Part(_rounding_findings(data, setting), [picture], [_count_table(data, "all", setting)])
