"""The toy examples of "A Metric Learning Reality Check": stripes of two classes that Hit@1 cannot distinguish.

Input: a setting. Output: the measures of each example over several draws, and the values that the code of the study
arrrrrmin/ranking-metrics gives for the same points. Its own points are drawn here too. Its tests seed PyTorch with 42
and draw one after the other, so that a picture depends on which tests ran before it. PyTorch's generator on a
processor is the Mersenne Twister, which NumPy has too, and a uniform float32 is the low 24 bits of one of its numbers:
the study's points are reproduced bit by bit, without PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import deadheat as dh
from deadheat.plots import style
from reproduce.plots import labelled_points
from reproduce.study import Finding, Mark, Outcome, Picture, Setting, Table, joined

TITLE = "Three toy embeddings that Hit@1 cannot distinguish"
SOURCE = (
    "Musgrave, Belongie, Lim 2020, A Metric Learning Reality Check (arXiv:2003.08505), toy examples; "
    "points as in the study arrrrrmin/ranking-metrics, tests/conftest.py"
)
ABOUT = (
    "Points of two classes lie in uniform stripes of a plane: each class in two stripes, in one, and in one with a gap "
    "between the classes. Every point is a query among all others by euclidean distance. The measures are printed "
    "under each example, with their spread over several draws of the points."
)

RANKING_METRICS = "README of arrrrrmin/ranking-metrics"
FIGURES = "figures/reality_check_example1.png to example3.png, titles"
TITLE_MEASURES = ("Hit@1", "R-Precision", "MAP@R")  # Hit@1 is printed as Recall@1
TITLES = {1: (99.2, 76.1, 68.3), 2: (99.6, 82.6, 77.1), 3: (100.0, 98.6, 98.6)}  # per cent
MEASURES = ("R-Precision", "MAP@R", "Hit@1", "Hit@10")
STRIPES = {
    1: ((-1, -2 / 3), (-1 / 3, 0), (0, 1 / 3), (2 / 3, 1)),
    2: ((-1, 0), (0, 1)),
    3: ((-1, -1 / 3), (1 / 3, 1)),
}
WIDER = {1: ((-3, -2), (-1, 0), (0, 1), (2, 3)), 2: ((-1, 0), (0, 1)), 3: ((-3, -1), (1, 3))}  # its first version
SEED = 42  # of the study

Values = dict[int, NDArray[np.float64]]  # by example: (draws, measures)


class Points(NamedTuple):
    """Points (n, 2) and the class of each, 0 left of zero and 1 right of it."""

    points: NDArray[np.float64]
    labels: NDArray[np.int64]


class Scores(NamedTuple):  # fractions, as a version of the study's code prints them
    r_precision: float
    map_at_r: float
    recall_at_1: float
    recall_at_10: float


def draw(example: int, seed: int, n: int = 2000, *, wider: bool = False) -> Points:
    """Draw the points of an example: equally many in each stripe, uniform across it and up to height 1.

    Examples
    --------
    >>> points, labels = draw(3, seed=0, n=4)
    >>> labels.tolist(), bool((abs(points[:, 0]) >= 1 / 3).all())
    ([0, 0, 1, 1], True)
    """
    random = np.random.default_rng([example, seed])
    stripes = (WIDER if wider else STRIPES)[example]
    x = np.concatenate([random.uniform(low, high, n // len(stripes)) for low, high in stripes])
    points = np.column_stack([x, random.uniform(0, 1, len(x))])
    return Points(points, (x > 0).astype(np.int64))


def uniform(twister: np.random.RandomState, low: float, high: float, n: int) -> NDArray[np.float32]:
    """Draw n numbers in [low, high) as `torch.distributions.Uniform` does after `torch.manual_seed`.

    Examples
    --------
    >>> print(*uniform(np.random.RandomState(42), 0.0, 1.0, 3))  # torch.manual_seed(42); torch.rand(3)
    0.88226926 0.91500396 0.38286376
    """
    bits = twister.randint(0, 2**32, size=n, dtype=np.uint32) & np.uint32(2**24 - 1)
    unit = bits.astype(np.float32) / np.float32(2**24)
    return np.asarray(np.float32(low) + unit * (np.float32(high) - np.float32(low)))


def points_there(twister: np.random.RandomState, stripes: Sequence[tuple[float, float]]) -> Points:
    """The 2000 points of an example as the study draws them: stripe after stripe, all x and then all y of each."""
    size = 2000 // len(stripes)
    drawn = [(uniform(twister, low, high, size), uniform(twister, 0.0, 1.0, size)) for low, high in stripes]
    points = np.concatenate([np.column_stack(each) for each in drawn]).astype(np.float64)
    return Points(points, (points[:, 0] > 0).astype(np.int64))


def hits_by_sorting(toy: Points) -> NDArray[np.bool_]:
    """Return whether the k-th nearest is of the query's class: (n, n), the query itself first.

    One sort for each query, as the study has it. Equal distances would be broken by index.
    """
    square = ((toy.points[:, None, :] - toy.points[None, :, :]) ** 2).sum(axis=2)
    order = np.argsort(square, axis=1, kind="stable")
    return np.asarray(toy.labels[order] == toy.labels[:, None])


def as_published(toy: Points) -> Scores:
    """The study's code: of R + 1 neighbours the first is dropped, and R-Precision is divided by the class's size.

    R is the size of the smallest class less one, for every query.
    """
    sizes = np.bincount(toy.labels)
    r = int(sizes.min()) - 1
    hits = hits_by_sorting(toy)[:, 1 : r + 1]
    precision = np.cumsum(hits, axis=1) / np.arange(1, r + 1)
    return Scores(
        r_precision=float((hits.sum(axis=1) / sizes[toy.labels]).mean()),
        map_at_r=float((hits * precision).sum(axis=1).mean() / r),
        recall_at_1=float(hits[:, 0].mean()),
        recall_at_10=float(hits[:, :10].any(axis=1).mean()),
    )


def as_first_published(toy: Points) -> Scores:
    """The study's first code: the query is its own nearest neighbour, and "recall@k" is precision at k."""
    r = int(np.bincount(toy.labels).min()) - 1
    hits = hits_by_sorting(toy)[:, :r]
    precision = np.cumsum(hits, axis=1) / np.arange(1, r + 1)
    return Scores(
        r_precision=float(np.mean([hits[toy.labels == kind].mean() for kind in np.unique(toy.labels)])),
        map_at_r=float((hits * precision)[:, : r - 1].mean()),
        recall_at_1=float(hits[:, :1].mean()),
        recall_at_10=float(hits[:, :10].mean()),
    )


def measured(toy: Points, threads: int | None = None) -> dh.Report:
    return dh.evaluate(toy.points, toy.labels, distance="euclidean", measures=MEASURES, threads=threads)


def run(setting: Setting) -> Outcome:
    n, seeds = (400, range(3)) if setting.quick else (2000, range(20))
    setting.say(f"{len(seeds)} draws of three examples, {n} points each")
    values = {example: np.empty((len(seeds), len(MEASURES))) for example in STRIPES}
    n_tied = 0
    for example, table in values.items():
        for at, seed in enumerate(seeds):
            report = measured(draw(example, seed, n), setting.threads)  # not kept: a profile is large
            table[at] = [report[name].lower for name in MEASURES]
            n_tied += report.ties.mixed_groups
    columns = ["example", "measure", "mean", "standard deviation", "lowest", "highest", "draws"]
    rows = [
        [example, name, drawn.mean(), drawn.std(ddof=1), drawn.min(), drawn.max(), len(drawn)]
        for example, table in values.items()
        for drawn, name in zip(table.T, MEASURES, strict=True)
    ]
    result = Finding(
        f"mixed tie groups in all {3 * len(seeds)} evaluations",
        str(n_tied),
        Mark.NEW,
        why="the tables have lower bounds" if n_tied else "so lower, expected and upper are one value",
    )
    lost = Finding(
        "values printed with the original examples",
        "",
        Mark.NO_DATA,
        "",
        "arXiv:2003.08505",
        "the figure prints NMI, F1, Recall@1, R-Precision and MAP@R of points that were not published",
    )
    caption = f"One draw of each example; means ± standard deviation of {len(seeds)} draws."
    pictures = [
        Picture("examples", caption, _examples(values, n)),
        Picture("draws", f"The measures of {len(seeds)} draws: one mark per draw.", _draws(values)),
    ]
    measures = Table("measures", "The measures over the draws", columns, rows, percent=columns[2:-1])
    hit, mapr = (
        ", ".join(f"{100 * table[:, MEASURES.index(name)].mean():.1f}" for table in values.values())
        for name in ("Hit@1", "MAP@R")
    )
    conclusion = f"Hit@1 is nearly the same for the three embeddings ({hit} %); MAP@R distinguishes them ({mapr} %)."
    parts = [
        Outcome(_shapes(values), pictures, [measures]), _own_points(values, setting), _versions(n, setting),
        Outcome([result, lost]),
    ]  # fmt: skip
    return joined(parts, conclusion=f"{conclusion} Report both.")


def _shapes(values: Values) -> list[Finding]:
    mapr, hit = MEASURES.index("MAP@R"), MEASURES.index("Hit@1")
    first, second, third = (values[example][:, mapr] for example in (1, 2, 3))
    ordered = int(((first < second) & (second < third)).sum())
    deviation = 100 * np.ptp([table.mean(axis=0) for table in values.values()], axis=0)
    worst = 100 * min(table[:, hit].min() for table in values.values())
    return [
        Finding("draws in which MAP@R puts example 1 below 2 below 3", f"{ordered} of {len(first)}",
                Mark.of_every_draw(ordered, len(first)), "MAP@R rewards well clustered embedding spaces",
                RANKING_METRICS, "each step brings a class closer together or the classes further apart"),
        Finding("the lowest Hit@1 of all draws and examples", f"{worst:.2f} %"),
        *(Finding(f"{name}: from the worst to the best of the three means", f"{value:.2f} points")
          for name, value in zip(MEASURES, deviation, strict=True)),
    ]  # fmt: skip


def _own_points(values: Values, setting: Setting) -> Outcome:
    """Return the numbers in the titles of the study's figures, from its own points, in the order of its tests."""
    findings, rows, twister = [], [], np.random.RandomState(SEED)
    for example, stripes in STRIPES.items():
        toy = points_there(twister, stripes)
        theirs, report = as_published(toy), measured(toy, setting.threads)
        by_code = [theirs.recall_at_1, theirs.r_precision, theirs.map_at_r]
        ours = [report[name].lower for name in TITLE_MEASURES]
        findings.append(_printed(example, by_code, ours))
        for at, name in enumerate(TITLE_MEASURES):
            drawn = values[example][:, MEASURES.index(name)]
            printed = TITLES[example][at] / 100
            rows.append([example, name, printed, by_code[at], ours[at], drawn.mean(), drawn.std(ddof=1)])
    columns = ["example", "measure", "printed", "study's points and code", "study's points, deadheat",
               "new draws, mean", "new draws, deviation"]  # fmt: skip
    return Outcome(
        findings, tables=[Table("printed", "The titles of the study's figures", columns, rows, percent=columns[2:])]
    )


def _printed(example: int, theirs: Sequence[float], ours: Sequence[float]) -> Finding:
    here = " / ".join(f"{100 * value:.1f}" for value in theirs)
    printed = " / ".join(f"{value:.1f}" for value in TITLES[example])
    what = f"example {example}, the study's own points and code: Recall@1 / R-Precision / MAP@R"
    why = f"by deadheat on the same points {' / '.join(f'{100 * value:.2f}' for value in ours)} %"
    return Finding(what, f"{here} %", Mark.of(here == printed), f"{printed} %", FIGURES, why)


def _versions(n: int, setting: Setting) -> Outcome:
    """The two versions of the study's code next to the definitions, on one draw of each example."""
    scores, rows = {}, []
    for version, code in (("first", as_first_published), ("later", as_published)):
        for example in STRIPES:
            toy = draw(example, 0, n, wider=version == "first")
            report = measured(toy, setting.threads)
            both = code(toy), Scores(*(report[name].lower for name in MEASURES))
            scores[version, example] = both
            rows += [[version, example, who, *each]
                     for who, each in zip(("the study's code", "deadheat"), both, strict=True)]  # fmt: skip
    (later, ours), (first, plain), size = scores["later", 3], scores["first", 2], n // 2
    findings = [
        Finding("example 3: R-Precision, and by the study's code", f"{100 * ours.r_precision:.2f} %", Mark.DIFFERS,
                f"{100 * later.r_precision:.2f} % (recomputed)", "metrics.py, r_precision",
                f"it counts hits among the {size - 1} nearest other points but divides by the size of the class, "
                f"{size}, which includes the query: a perfect embedding gets {100 * (size - 1) / size:.2f} %"),
        Finding("example 3: MAP@R, and by the study's code", f"{100 * ours.map_at_r:.2f} %",
                Mark.of(abs(ours.map_at_r - later.map_at_r) < 1e-12), f"{100 * later.map_at_r:.2f} % (recomputed)",
                "metrics.py, mean_average_precision_at_r"),
        Finding("example 2: Hit@10, and recall@10 by the study's first code", f"{100 * plain.recall_at_10:.2f} %",
                Mark.DIFFERS, f"{100 * first.recall_at_10:.2f} % (recomputed)", "embed_metrics.py at its first commit",
                "it took the query for its own nearest neighbour, and printed the share of hits among ten as recall"),
    ]  # fmt: skip
    columns = ["version", "example", "by", "R-Precision", "MAP@R", "Recall@1 / Hit@1", "Recall@10 / Hit@10"]
    caption = "The study's code and the definitions on one draw: first (wider stripes) and later"
    return Outcome(findings, tables=[Table("versions", caption, columns, rows, percent=columns[3:])])


def _examples(values: Values, n: int) -> Figure:
    figure = style.figure(8.6, 3.4)
    for ax, example in zip(figure.subplots(1, 3, sharey=True), STRIPES, strict=True):
        labelled_points(*draw(example, 0, n), ax=ax, legend=False)
        ax.set(xlim=(-1.05, 1.05), ylim=(-0.03, 1.03), xticks=[-1, 0, 1], yticks=[0, 1])
        ax.set_title(f"example {example}", fontsize=10)
        means, deviations = 100 * values[example].mean(axis=0), 100 * values[example].std(axis=0, ddof=1)
        lines = [f"{name}  {m:.1f} ± {s:.1f} %" for name, m, s in zip(MEASURES, means, deviations, strict=True)]
        ax.set_xlabel("\n".join(lines), fontsize=9)
    named = figure.axes[0].get_legend_handles_labels()
    figure.legend(*named, loc="outside upper right", ncols=2, frameon=False, fontsize=9, markerscale=2)
    return figure


def _draws(values: Values) -> Figure:
    figure = style.figure(6.2, 3.2)
    ax = style.quiet(figure.subplots(), grid="x")
    for number, (example, table) in enumerate(values.items()):
        for at, drawn in enumerate(100 * table.T):
            ax.scatter(drawn, np.full(len(drawn), at + 0.22 * (number - 1)), s=18, marker=style.MARKERS[number],
                       facecolor="none", edgecolor=style.CYCLE[number], linewidth=0.8,
                       label=f"example {example}" if at == 0 else None)  # fmt: skip
    ax.set(yticks=range(len(MEASURES)), yticklabels=MEASURES, xlabel="value (%)", ylim=(len(MEASURES) - 0.5, -0.5))
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure
