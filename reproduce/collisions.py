"""Figures 2, 3 and 4 of Nicolaou et al. 2018: which neighbours collide, and which of the collisions are ties.

The published picture marks a collision where the rounded distances of two neighbours in rank differ by less than e.
That rule is compared with the exact one, on the paper's data if present, and on sets that need no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.analyses.collisions import Collisions, Counts, Kind, collisions
from deadheat.cli import demo
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.literals import DistanceName
from deadheat.engine.task import Task
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.plots import style
from deadheat.plots.ties import collision_image, collision_legend
from deadheat.reports.evaluating import evaluate
from deadheat.support.lazy import require
from reproduce import study
from reproduce.plots import distance_matrix, shift_matrix
from reproduce.study import Finding, Mark, Outcome, Picture, Setting, Table, compared, joined, missing

TITLE = "Collisions: which neighbours are at equal distances"
SOURCE = (
    "Nicolaou et al. 2018, Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings, "
    "arXiv:1806.07171, figures 2, 3 and 4, and the code and data that were published with it (anguelos/embedding_map)."
)
ABOUT = (
    "The paper draws, for every query and rank, whether the distances of two neighbours in rank differ by less than e, "
    "and takes this for the ambiguity of the ranking. Such neighbours need not tie. Here each collision is examined in "
    "exact arithmetic: is it a tie of the real numbers, and is the group relevant, irrelevant, or mixed? Only a mixed "
    "group can change a measure."
)
NEEDS = ("scipy", "sklearn")
QUERIES, CLASSES = 899, 166  # of George Washington: slides
EFFECT = 0.05  # per cent of mAP, from one collision: slides
FEWER_COLLISIONS = 20  # times, about: under Euclidean distance than under cosine
NOISE_EPS = "10,000 times; both 1e-6 and 1e-5 are printed"  # of white noise; the code has 1e-5
ALMOST_ALL = 0.95  # of the collisions, at least: this study's choice, as the source gives no number
FEW = 100  # collisions: of fewer, no share is taken
_NOTES = "not published: measured with SciPy's float64 distances on the same file"
_AMPLIFIED = "The bottom row of the picture above, each mark widened by 3 ranks and 3 queries"
DISTANCES: tuple[DistanceName, ...] = ("cosine", "euclidean", "cityblock")
_TITLES = {"cityblock": "city block"}

Matrix = NDArray[Any]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


def run(setting: Setting) -> Outcome:
    text = [
        "The paper gives no counts for figures 2 and 3, so that only the pictures can be compared. Orange is a "
        "relevant collision (red in the paper), blue an irrelevant one, as in the paper; black is a mixed one, which "
        "the paper does not distinguish.",
        "The published rule ranks the query itself among the items, and counts the gap between it and its nearest "
        "neighbour; deadheat excludes the query by its index.",
    ]
    outcome = joined([part(setting) for part in (washington, white_noise, pixels, grid)], text)
    rule = next(table for table in outcome.tables if table.name == "published-rule")
    count, ties = (rule.columns.index(name) for name in ("collisions", "ties of the real numbers"))
    counted = []
    for name in dict.fromkeys(row[0] for row in rule.rows):
        rows = [row for row in rule.rows if row[0] == name]
        counted.append(f"{name} {sum(row[ties] for row in rows):,} of {sum(row[count] for row in rows):,}")
    conclusion = (
        "A small gap between two neighbours is rarely a tie for float embeddings, and nearly always one for integers. "
        f"Collisions by the published rule that are ties of the real numbers: {'; '.join(counted)}."
    )
    return replace(outcome, conclusion=conclusion)


@dataclass(frozen=True)
class Data:
    """Embeddings and labels, their names in messages, the e of the published picture, and which samples these are."""

    name: str
    title: str
    embeddings: Matrix
    labels: Matrix
    eps: float
    rows: str = "all"

    def __getitem__(self, rows: slice) -> Data:
        first, end, _ = rows.indices(len(self.labels))
        samples = self.rows if end - first == len(self.labels) else f"{first} to {end - 1}"
        return replace(self, embeddings=self.embeddings[rows], labels=self.labels[rows], rows=samples)

    @property
    def samples(self) -> str:
        return "all samples" if self.rows == "all" else f"samples {self.rows}"

    @property
    def relevant(self) -> Bool:
        return np.asarray(self.labels[:, None] == self.labels)


def white_noise(setting: Setting) -> Outcome:
    """Figure 3: noise in [0, 1) as the published code draws it, with the same generator, seed and preceding draws."""
    file = setting.file(study.GEORGE_WASHINGTON)
    if file is not None:
        labels = load(file).labels
    else:  # words by how often they come: 431 of them, as on George Washington
        share = 1 / np.arange(1, 432)
        labels = np.random.default_rng(0).choice(431, size=1164, p=share / share.sum())
    random = np.random.RandomState(1337)
    random.shuffle(np.arange(1000))
    random.random_sample((30, 1000, 100))  # the random embeddings that are compared with the all-zero one
    everything = Data("white noise", "White noise", random.random_sample((len(labels), 504)), labels, 1e-5)
    part = everything[1080 if setting.quick else 900 :]
    setting.say(f"white noise: {len(part.labels)} samples")
    origin = "George Washington" if file else "synthetic words"
    caption = (
        f"Figure 3: uniform noise in 504 dimensions with the labels of {origin}, {part.samples}. Top: the "
        "published rule with e = 1e-5. Bottom: the groups within 1e-5 in exact arithmetic."
    )
    picture, kinds = as_published(part, "noise", caption, setting)
    rule, pairs = rule_table(part, setting)
    why = "" if file else f"synthetic labels in place of those of {study.GEORGE_WASHINGTON}"
    findings = rule_findings(part, pairs, "figure 3", Mark.NEW if file else Mark.OTHER_DATA, why)
    findings += [fewer(part, pairs, judged=not setting.quick), *noise_eps(part, judged=not setting.quick)]
    amplified = row_of_images("noise-amplified", f"{_AMPLIFIED}.", kinds, amplify=3)
    return Outcome(findings, [picture, amplified], [rule, count_table(part, setting)])


def pixels(setting: Setting) -> Outcome:
    """Digits: their pixels are integers, so that exact ties are common."""
    n, shown = (300, 150) if setting.quick else (None, 450)
    data = Data("digits", "scikit-learn's digits", *demo.digits(), 1e-10)[:n]
    setting.say(f"digits: {len(data.labels)} samples")
    caption = (
        f"Exact ties of the first {shown} of {data.title}: 8 × 8 pixels, grey levels from 0 to 16. City block "
        "distances are whole numbers of at most 1024, Euclidean distances and cosines are roots."
    )
    return _integers(data, shown, caption, [rule_table(data, setting)[0]], setting)


def grid(setting: Setting) -> Outcome:
    """Points of a grid, whose ties can be checked by eye."""
    side = 10
    points = np.stack(np.meshgrid(np.arange(1, side + 1), np.arange(1, side + 1)), axis=-1).reshape(-1, 2)
    labels = (points[:, 0] > side // 2) + 2 * (points[:, 1] > side // 2)
    data = Data("grid", f"A grid of {side} × {side} points", points, labels, 1e-10)
    caption = (
        f"Exact ties of the {side} × {side} points (1, 1) to ({side}, {side}), whose class is the quadrant that they "
        "lie in. With cosine, points in the same direction from the origin tie."
    )
    return _integers(data, len(labels), caption, [], setting)


def _integers(data: Data, shown: int, caption: str, tables: Sequence[Table], setting: Setting) -> Outcome:
    """Exact ties: a picture of the first rows, what rounding does to their groups, and counts."""
    images, findings, first = [], [], data[:shown]
    for distance in DISTANCES:
        images.append((distance, collisions(task_of(first, setting, distance))))
        task = task_of(data, setting, distance)
        counted = collisions(task, distances=[distance])[distance]
        split, merged = split_and_merged(group_numbers(rankings_of(task)), distances_of(data, distance))
        what = f"{data.name}, {distance}: exact tie groups, those that are mixed, those that float64 distances split"
        here = f"{counted.together.groups}, {counted.mixed.groups}, {split}"
        findings.append(Finding(what, here, why=f"groups of equal float64 distances that are not ties: {merged}"))
    return Outcome(findings, [row_of_images(data.name, caption, images)], [*tables, count_table(data, setting)])


# ---------------------------------------------------------------------------------------------------------------------
# figures 2 and 4: PHOCNet's embeddings of George Washington


def washington(setting: Setting) -> Outcome:
    """Figures 2 and 4, and what rounding the distances does."""
    file = setting.file(study.GEORGE_WASHINGTON)
    if file is None:
        what = (("figure 2: collisions on George Washington", "a picture, no count", "figure 2"),
                ("figure 4: the matrices D and E", "a picture", "figure 4"))  # fmt: skip
        return Outcome([missing(each, study.GEORGE_WASHINGTON, published=printed, source=f"{study.TIES}, {figure}")
                        for each, printed, figure in what])  # fmt: skip
    everything = load(file)
    first, last = (1000, 1000) if setting.quick else (650, 900)
    types = () if setting.quick else ("float32", "float16")
    parts = [Outcome(_counted(everything)), _drawn(everything[first:], types, setting)]
    if not setting.quick:
        setting.say(f"{everything.title}: {everything.rows} {len(everything.labels)} samples")
        findings, rule = _ruled(everything, "figure 2 shows some of them", setting)
        counts = count_table(everything, setting, types)
        parts.append(Outcome([*findings, *_noted(everything, counts, setting)], tables=[rule, counts]))
    figure = style.figure(10, 4)
    left, right = figure.subplots(1, 2)
    shown = everything[last:]
    distance_matrix(distances_of(shown, "cosine"), ax=left, label="cosine distance").set_title("D")
    shift_matrix(shown.relevant, ax=right).set_title("E")
    caption = (
        f"Figure 4: the matrices D and E of {shown.samples}. The paper shifts the "
        "distances D by E, so that e orders items at equal distances."
    )
    return joined([*parts, Outcome(_nearest_pair(everything, setting), [Picture("matrices", caption, figure)])])


def _drawn(part: Data, types: Sequence[str], setting: Setting) -> Outcome:
    setting.say(f"{part.title}: {len(part.labels)} samples for the pictures")
    caption = (
        f"Figure 2: {part.title}, {part.samples}. Top: the published rule, two neighbours in rank whose "
        "float64 distances differ by less than 1e-10, coloured by the farther one, with the query itself at rank 0. "
        "Bottom: the groups within 1e-10 in exact arithmetic, coloured by what the group holds."
    )
    picture, kinds = as_published(part, "gw", caption, setting)
    caption = (
        f"{_AMPLIFIED} on every side, so that single "
        "collisions can be seen. The area of the marks does not show how many there are."
    )
    amplified = row_of_images("gw-amplified", caption, kinds, amplify=3)
    short: dict[str, Ties] = {name: Rounded(name, of="distance") for name in study.WASHINGTON_ROUNDED}
    task = task_of(part, setting)
    images = [(name, collisions(task.replace(ties=ties))) for name, ties in ({"exact": Exact()} | short).items()]
    caption = (
        f"Ties of the cosine distance, {part.title}, {part.samples}, exact and with the exact distances rounded to "
        "float32 and to float16: "
        + ", ".join(f"{image.counts.together.groups} groups ({name})" for name, image in images)
    )
    findings, rule = _ruled(part, "figure 2", setting)
    pictures = [picture, amplified, row_of_images("gw-precision", f"{caption}.", images)]
    return Outcome(findings, pictures, [rule, count_table(part, setting, types)])


def _ruled(data: Data, figure: str, setting: Setting) -> tuple[list[Finding], Table]:
    """The published rule: its collisions, what the paper says of them, and the table."""
    rule, pairs = rule_table(data, setting)
    claims = [fewer(data, pairs, judged=not setting.quick), *right_side(data, pairs, judged=not setting.quick)]
    return [*rule_findings(data, pairs, figure, Mark.NEW), *claims], rule


def _counted(data: Data) -> list[Finding]:
    """The queries and classes counted in the slides, and the collision that they say changes mAP."""
    size = np.unique(data.labels, return_counts=True)[1]
    several = size > 1
    report = evaluate(data.embeddings, data.labels, measures=["mAP"])
    result, mixed = report["mAP"], report.ties.mixed_groups
    here = int(size[several].sum()), int(several.sum())
    return [
        Finding("George Washington: queries with another sample of their class, and their classes",
                "{}, {}".format(*here), Mark.of(here == (QUERIES, CLASSES)), f"{QUERIES} samples, {CLASSES} classes",
                study.TIES_SLIDES, f"all {len(data.labels)} samples stay in the gallery, of {len(size)} classes"),
        Finding("George Washington, cosine: tie groups that can change mAP, and by how much",
                f"{mixed}; {100 * (result.upper - result.lower):.2f} points", Mark.of(mixed == 1),
                f"one collision, about {EFFECT} %", study.TIES_SLIDES,
                "in float64 one pair of samples is at distance 0, which is not a tie of the real numbers (below); the "
                "published code takes the wrong one of the two for the query itself (python -m reproduce exploit)"),
    ]  # fmt: skip


def load(file: Path) -> Data:
    return Data("George Washington", "PHOCNet embeddings of George Washington", *study.george_washington(file), 1e-10)


def rule_findings(data: Data, pairs: dict[str, Ruled], figure: str, mark: Mark, why: str = "") -> list[Finding]:
    why = why or f"neighbours in rank, distances within {data.eps:g}; in a tie they are equal as real numbers"
    what = f"{data.name}, {data.samples}, {{}}: collisions by the published rule, and ties among them"
    return [
        Finding(what.format(distance), f"{ruled.n_collision}, {ruled.n_tie}", mark, "a picture, no count",
                f"{study.TIES}, {figure}", why)
        for distance, ruled in pairs.items()
    ]  # fmt: skip


def _noted(data: Data, counts: Table, setting: Setting) -> list[Finding]:
    mixed = {(row[2], row[3]): row[6] for row in counts.rows}
    findings = []
    for distance, noted in study.WASHINGTON_MAP.items():
        report = evaluate(data.embeddings, data.labels, distance=distance, measures=["mAP"], threads=setting.threads)
        name = f"George Washington, {distance}"
        for end, value in (("lower", report["mAP"].lower), ("upper", report["mAP"].upper)):
            findings.append(compared(f"{name}: mAP, {end} bound", 100 * value, noted, digits=4, source=_NOTES))
        for rule in ("exact", "float64 distance (SciPy)"):
            what = f"{name}: mixed tie groups, {rule}"
            findings.append(compared(what, mixed[distance, rule], 0, unit="", digits=0, source=_NOTES))
    for name, (groups, lower, upper, decimals) in study.WASHINGTON_ROUNDED.items():
        rule, what = f"{name} distance", f"George Washington, cosine distance rounded to {name}"
        ties = Rounded(name, of="distance")
        result = evaluate(data.embeddings, data.labels, ties=ties, measures=["mAP"], threads=setting.threads)["mAP"]
        findings += [
            compared(f"{what}: mixed tie groups", mixed["cosine", rule], groups, unit="", digits=0, source=_NOTES),
            compared(f"{what}: mAP, lower bound", 100 * result.lower, lower, digits=decimals, source=_NOTES),
            compared(f"{what}: mAP, upper bound", 100 * result.upper, upper, digits=decimals, source=_NOTES),
        ]
    return findings


def _nearest_pair(data: Data, setting: Setting) -> list[Finding]:
    left, right = np.nonzero(np.triu(distances_of(data, "cosine") <= 0, 1))
    same = data.labels[left] == data.labels[right]
    pairs = [
        f"samples {i} and {j}, of {'one class' if equal else 'two classes'}"
        for i, j, equal in zip(left.tolist(), right.tolist(), same.tolist(), strict=True)
    ]
    here, noted = "; ".join(pairs) or "none", "samples 1162 and 1163, of two classes"
    metric = rankings_of(task_of(data, setting)).metric
    squares = metric.exact_closeness(left, metric.columns.column_of_item[right]).signed_squares()
    with localcontext() as context:
        context.prec = 60
        away = [1 - (Decimal(square.numerator) / Decimal(square.denominator)).sqrt() for square in squares]
    name = "George Washington: samples whose cosine distance is 0 in float64 (SciPy)"
    return [
        Finding(name, here, Mark.of(here == noted), noted, _NOTES),
        Finding("George Washington: the exact cosine distance of these samples",
                ", ".join(f"{float(gap):.4g}" for gap in away) or "none",
                why="where it is not 0, the other sample does not tie with the query itself"),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# statements of the sources about their pictures, judged by the counts


def fewer(data: Data, pairs: Mapping[str, Ruled], *, judged: bool) -> Finding:
    """The ratio of collisions under cosine to those under euclidean, against "about 20", to one digit."""
    cosine, euclidean = pairs["cosine"].n_collision, pairs["euclidean"].n_collision
    agrees = euclidean > 0 and float(f"{cosine / euclidean:.0e}") == FEWER_COLLISIONS
    return Finding(
        f"{data.name}, {data.samples}, e = {data.eps:g}: collisions under cosine for each under euclidean",
        f"{cosine / euclidean:.1f} ({cosine} to {euclidean})" if euclidean else f"{cosine} to 0",
        Mark.of(agrees) if judged else Mark.OTHER_DATA, f"about {FEWER_COLLISIONS}", study.TIES,
        "judged to one digit: about 20 is from 15 to 25" if judged else "fewer samples than in the figure",
    )  # fmt: skip


def right_side(data: Data, pairs: Mapping[str, Ruled], *, judged: bool) -> list[Finding]:
    """The share of the collisions on the right side of the picture, by distance, unless there are fewer than `FEW`."""
    what = "collisions in the right half of the ranks, and in the last quarter"
    why = f"judged as {100 * ALMOST_ALL:.0f} % in the right half" if judged else "fewer samples than in the figure"
    return [
        Finding(f"{data.name}, {data.samples}, {distance}: {what}",
                f"{100 * ruled.right_half:.0f} %, {100 * ruled.last_quarter:.0f} %",
                Mark.of(ruled.right_half >= ALMOST_ALL) if judged else Mark.OTHER_DATA,
                "almost all on the right side", study.TIES, why)
        for distance, ruled in pairs.items()
        if ruled.n_collision >= FEW
    ]  # fmt: skip


def noise_eps(part: Data, *, judged: bool) -> list[Finding]:
    """Collisions in white noise for the e of figure 2, and for 10,000 and 100,000 times that."""
    findings = []
    for eps, often in ((1e-10, "as in"), (1e-6, "10,000 times that of"), (1e-5, "100,000 times that of")):
        data = replace(part, eps=eps)
        pairs: dict[str, Ruled] = {distance: Ruled.of(rule_of(data, distance)) for distance in DISTANCES}
        what = f"{data.name}, {data.samples}, e = {eps:g}, {often} figure 2: collisions by distance"
        here = ", ".join(f"{name} {ruled.n_collision}" for name, ruled in pairs.items())
        findings.append(Finding(what, here, Mark.NEW, NOISE_EPS, study.TIES))
        if eps == 1e-6:
            findings.append(fewer(data, pairs, judged=judged))
    return findings


# ---------------------------------------------------------------------------------------------------------------------
# the rule of the published picture: neighbours in rank collide within e


@dataclass(frozen=True)
class Published:
    """The collisions of the published picture, of n items, the query itself among them."""

    order: Int64  # (n, n): all items in the order of rounded distances
    gap: NDArray[np.float64]  # (n, n - 1): the difference in distance between each item and the one before it
    colliding: Bool  # (n, n - 1): where that gap is below e
    relevant: Bool  # (n, n - 1): whether the farther item is relevant

    @property
    def with_itself(self) -> Bool:
        itself = self.order == np.arange(len(self.order))[:, None]
        return np.asarray(self.colliding & (itself[:, :-1] | itself[:, 1:]))

    @property
    def kind(self) -> NDArray[np.int8]:
        """The picture: each colliding pair is marked by the kind of its farther item."""
        marks = np.where(self.relevant, Kind.RELEVANT, Kind.IRRELEVANT)
        return np.where(self.colliding, marks, Kind.NONE).astype(np.int8)


class Ruled(NamedTuple):
    """Numbers and places of the collisions of the published picture, and of those that tie.

    The shares are of the collisions in the right half of the ranks, and in the last quarter; NaN without a collision.
    """

    n_collision: int
    n_tie: int
    right_half: float
    last_quarter: float

    @classmethod
    def of(cls, published: Published, ties: int = 0) -> Ruled:
        at, n_place = np.nonzero(published.colliding)[1], published.colliding.shape[1]
        shares = (float((at >= start * n_place).mean()) if len(at) else np.nan for start in (0.5, 0.75))
        return cls(len(at), ties, *shares)


def rule_of(data: Data, distance: str) -> Published:
    """Two neighbours in rank collide where their rounded distances differ by less than e."""
    return published_rule(distances_of(data, distance), data.relevant, data.eps)


def published_rule(distances: Matrix, relevant: Bool, eps: float) -> Published:
    """The same by the distances (n, n) of every item to every item, and which of them are relevant."""
    order = np.argsort(distances, axis=1, kind="stable")
    gap = np.diff(np.take_along_axis(distances, order, axis=1), axis=1)
    return Published(order, gap, gap < eps, np.take_along_axis(relevant, order[:, 1:], axis=1))


def real_ties(rankings: Rankings, published: Published) -> int:
    """Count the colliding pairs of the published picture that are at equal distances as real numbers."""
    row, at = np.nonzero(published.colliding)
    near, far = published.order[row, at], published.order[row, at + 1]
    itself = published.with_itself[row, at]
    number = group_numbers(rankings)
    ties = int((number[row, near] == number[row, far])[~itself].sum())
    metric = rankings.metric
    columns = metric.columns.column_of_item
    nearer, farther = (metric.exact_closeness(row[itself], columns[item[itself]]) for item in (near, far))
    pairs = np.arange(len(nearer))
    return ties + int((nearer.compare(pairs, farther, pairs) == 0).sum())


def task_of(data: Data, setting: Setting, distance: DistanceName = "cosine") -> Task:
    return Task(data.embeddings, data.labels, distance=distance, threads=setting.threads)


def rankings_of(task: Task) -> Rankings:
    """The rankings of a task without a gallery."""
    return Rankings(task.pair.query.embeddings, None, task.options)


def group_numbers(rankings: Rankings) -> NDArray[np.int32]:
    """The number of each item's exact tie group for each query, −1 for the query itself; (n_query, n_gallery)."""
    number = np.full((rankings.n_query, rankings.n_gallery), -1, dtype=np.int32)
    for block in rankings:
        row, at = np.nonzero(block.items >= 0)
        number[block.queries[row], block.items[row, at]] = block.group[row, at]
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
    kinds: list[tuple[str, Collisions]] = []
    for (above, below), distance in zip(axes.T, DISTANCES, strict=True):
        pairs = rule_of(data, distance)
        collision_image(pairs.kind, ax=above, legend=False).set_title(_TITLES.get(distance, distance))
        within = collisions(task_of(data, setting, distance), within=data.eps)
        collision_image(within, ax=below, legend=False)
        kinds.append((distance, within))
    for ax, title in zip(axes[:, 0], ("published rule, by item", f"within {data.eps:g}, by group"), strict=True):
        ax.set_ylabel(f"{title}\nquery")
    for ax in axes.flat:
        ax.label_outer()
    collision_legend(figure)
    return Picture(name, caption, figure), kinds


def rule_table(data: Data, setting: Setting) -> tuple[Table, dict[str, Ruled]]:
    rows: list[list[Any]] = []
    numbers: dict[str, Ruled] = {}
    for distance in DISTANCES:
        pairs = rule_of(data, distance)
        ties = real_ties(rankings_of(task_of(data, setting, distance)), pairs)
        numbers[distance] = ruled = Ruled.of(pairs, ties)
        count, kinds = ruled.n_collision, [int((pairs.kind == kind).sum()) for kind in (Kind.RELEVANT, Kind.IRRELEVANT)]
        rows.append([data.name, data.rows, distance, data.eps, count, *kinds, int(pairs.with_itself.sum()),
                     int((pairs.gap == 0).sum()), ties, 1 - ties / count if count else np.nan, ruled.right_half,
                     ruled.last_quarter])  # fmt: skip
    columns = ("set", "samples", "distance", "e", "collisions", "relevant", "irrelevant", "with the query itself",
               "equal in float64", "ties of the real numbers", "share that are not ties",
               "in the right half of the ranks", "in the last quarter")  # fmt: skip
    caption = (
        "The published rule on SciPy's float64 distances: neighbours in rank whose distances differ by less than e."
    )
    return Table("published-rule", caption, columns, rows, percent=columns[-3:]), numbers


def counts_of_rounded(distances: Matrix, relevant: Bool) -> Counts:
    """Count the collisions of float64 distances (n, n) that are equal, each sample ranked against all others."""
    values = distances.astype(np.float64)
    np.fill_diagonal(values, np.inf)  # the last, and then removed
    order = np.argsort(values, axis=1, kind="stable")[:, :-1]
    values, mask = np.take_along_axis(values, order, axis=1), np.take_along_axis(relevant, order, axis=1)
    starts = np.ones(values.shape, dtype=np.bool_)
    starts[:, 1:] = values[:, 1:] != values[:, :-1]
    first, (row, closer) = np.flatnonzero(starts), np.nonzero(starts)
    size, n_relevant = np.diff(first, append=starts.size), np.add.reduceat(mask.ravel().astype(np.int64), first)
    counts, nothing = np.zeros((4, 4), dtype=np.int64), [np.empty((len(values), 0), t) for t in ("i1", "?", "i4")]

    def groups(chosen: Bool, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        lengths = np.bincount(row[chosen], minlength=len(values))
        return np.concatenate([[0], np.cumsum(lengths)]), closer[chosen], numbers[chosen]

    n_ranked = np.full(len(values), values.shape[1])
    of_all, of_relevant = groups(size > 0, size), groups(n_relevant > 0, n_relevant)
    _core.mark_collisions(of_all, of_relevant, n_ranked, values.shape[1], tuple(nothing), counts)  # type: ignore[arg-type]
    return Counts.of_kinds(counts, len(values), values.size)


def count_table(data: Data, setting: Setting, short_types: Sequence[str] = ()) -> Table:
    """Collision groups by distance: exact, of SciPy's float64 distances, rounded to shorter types, and within e."""
    task = task_of(data, setting)
    rules: dict[str, tuple[Task, float | None]] = {"exact": (task, None)}
    rules |= {f"{name} distance": (task.replace(ties=Rounded(name, of="distance")), None) for name in short_types}
    rules |= {f"within {data.eps:g}": (task, data.eps)}
    result: list[tuple[str, str, Counts]] = []
    for rule, (asked, within) in rules.items():
        counted = collisions(asked, distances=DISTANCES, within=within)
        result += [(distance, rule, counted[distance]) for distance in counted]
    for distance in DISTANCES:
        counts = counts_of_rounded(distances_of(data, distance), data.relevant)
        result.append((distance, "float64 distance (SciPy)", counts))
    rows = [
        [data.name, data.rows, distance, rule, counts.relevant.groups, counts.irrelevant.groups, counts.mixed.groups,
         counts.together.items, counts.n_place, counts.together.queries, counts.together.largest]
        for distance, rule, counts in result
    ]  # fmt: skip
    caption = "Collision groups without the query itself. A group has at least two items; only a mixed one can matter."
    columns = ("set", "samples", "distance", "collision", "relevant groups", "irrelevant groups", "mixed groups",
               "colliding items", "of items", "queries", "largest group")  # fmt: skip
    return Table("counts", caption, columns, rows)
