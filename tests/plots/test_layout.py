"""Text of every plot in small figures: nothing overlaps, and nothing leaves the figure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from plots.calls import examples
from plots.drawn import words

import deadheat as dh
from deadheat import plots
from deadheat.plots import layout, style
from deadheat.plots.layout import fold, width_of

NAMES = sorted({*plots.__all__} - {"collision_legend"})
QUICK = ("cmc", "format_changes", "per_class", "roc")  # of each kind one: the others are slow tests
SMALL = (3.3, 2.5)
SHEET = {
    "axes.prop_cycle": pyplot.cycler(color=["#112233", "#445566", "#778899"]), "figure.figsize": (4.1, 3.7),
    "axes.titlesize": "small", "grid.color": "#123456", "font.size": 9.0,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _drawn_without_a_screen() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def _texts(ax: Axes) -> dict[str, Any]:
    """The boxes of all text around axes, by what it is."""
    result: dict[str, Any] = {"title": ax.title, "xlabel": ax.xaxis.label, "ylabel": ax.yaxis.label}
    if ax.get_legend() is not None:
        result["legend"] = ax.get_legend()
    for number, child in enumerate(ax.child_axes):
        result[f"column {number}"] = child.yaxis.label
        result |= {f"column {number}, {row}": each for row, each in enumerate(child.get_yticklabels())}
    for which, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
        result |= {f"{which} tick {at:g}": label for at, label in ticks if low <= at <= high}
    boxes = {name: each.get_window_extent() for name, each in result.items()}
    return {name: box for name, box in boxes.items() if box.width > 0 and box.height > 0}


def _faults(ax: Axes) -> list[str]:
    """Texts that overlap by more than a pixel, or leave the figure."""
    figure = ax.figure
    figure.canvas.draw()
    boxes = _texts(ax)
    axes = ax.get_window_extent()
    assert axes.height > 0.1 * figure.bbox.height, "no axes are left"
    assert axes.width > 0.2 * figure.bbox.width / ax.get_subplotspec().get_gridspec().ncols, "no axes are left"
    outside = [
        f"{name} leaves the figure"
        for name, box in boxes.items()
        if box.x0 < -1 or box.y0 < -1 or box.x1 > figure.bbox.x1 + 1 or box.y1 > figure.bbox.y1 + 1
    ]
    pairs = combinations({**boxes, "axes": axes}.items(), 2)
    return outside + [
        f"{a} overlaps {b}"
        for (a, first), (b, second) in pairs
        if min(first.x1, second.x1) - max(first.x0, second.x0) > 1
        and min(first.y1, second.y1) - max(first.y0, second.y0) > 1
    ]


@pytest.mark.parametrize("long", [pytest.param(False, marks=pytest.mark.slow), True], ids=["short", "long"])
@pytest.mark.parametrize("name", NAMES)
def test_text_neither_overlaps_nor_is_clipped_in_a_small_figure(name: str, long: bool) -> None:
    _, ax = pyplot.subplots(figsize=SMALL)
    examples(long)[name](ax)
    assert _faults(ax) == []
    ax.set_title("A title by the user, which replaces the other")
    assert _faults(ax) == []
    assert {ax.get_title(loc) for loc in ("left", "right")} == {""}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_a_style_sheet_is_kept(name: str) -> None:
    with pyplot.rc_context(SHEET):
        ax = examples()[name]()
        assert tuple(ax.figure.get_size_inches()) == SHEET["figure.figsize"]
        assert _faults(ax) == []
        assert ax.title.get_fontsize() <= 9 / 1.2 + 0.01
        grid = {to_hex(each.get_color()) for each in (*ax.get_xgridlines(), *ax.get_ygridlines()) if each.get_visible()}
        assert grid <= {SHEET["grid.color"]}
        if name in ("cmc", "hash_lookup", "precision_at_k", "precision_recall", "recall_at_k", "roc"):
            handles = ax.get_legend().legend_handles  # type: ignore[union-attr]
            assert [to_hex(handle.get_color()) for handle in handles[:3]] == ["#112233", "#445566", "#778899"]


@pytest.mark.parametrize("shape", [pytest.param((1, 3), marks=pytest.mark.slow), (2, 2)])
def test_several_plots_in_a_figure_leave_each_other_space(shape: tuple[int, int]) -> None:
    _, grid = pyplot.subplots(*shape, figsize=(3.2 * shape[1], 3.2 * shape[0]))
    for name, ax in zip(("bounds", "cmc", "per_class", "differences"), grid.flat, strict=False):
        examples()[name](ax)
    assert [fault for ax in grid.flat for fault in _faults(ax)] == []
    boxes = [box for ax in grid.flat for box in _texts(ax).values()]
    owner = [at for at, ax in enumerate(grid.flat) for _ in _texts(ax)]
    assert [
        (owner[i], owner[j]) for i, j in combinations(range(len(boxes)), 2)
        if owner[i] != owner[j] and boxes[i].overlaps(boxes[j])
    ] == []  # fmt: skip


def test_a_layout_that_is_there_stays() -> None:
    figure = Figure(layout="constrained")
    before = figure.get_layout_engine()
    examples()["cmc"](figure.subplots())
    assert figure.get_layout_engine() is before
    free = Figure()
    examples()["cmc"](free.add_axes((0.2, 0.4, 0.7, 0.5)))  # a place of its own
    assert free.get_layout_engine() is None
    pyplot.figure()
    examples()["cmc"](pyplot.gca())
    pyplot.tight_layout()  # without a warning


@pytest.mark.parametrize("name", NAMES)
def test_no_name_stands_twice_in_a_legend(name: str) -> None:
    legend = examples()[name](Figure().subplots()).get_legend()
    texts = [text.get_text() for text in legend.get_texts()]  # type: ignore[union-attr]
    assert len(texts) == len(set(texts)) > 0
    assert max(sum(text.startswith(system) for text in texts) for system in ("a:", "b:", "c:")) <= 1


def test_a_line_without_a_value_is_in_no_legend() -> None:
    report = dh.evaluate([[0.0], [1.0], [2.1], [3.3]], [0, 1, 0, 1], distance="l2", ties=dh.Tolerance(2))
    curves = dict.fromkeys("ab", dh.precision_recall(report))
    assert np.isnan(curves["a"].expected).all()
    assert (curves["a"].lower < curves["a"].upper).all()
    ax = plots.precision_recall(curves, ax=Figure().subplots())
    assert words(ax) == ["a", "b"]  # the bands
    assert "expected" not in words(plots.mean_intervals({"a": report}, ax=Figure().subplots()))
    assert "expected" not in words(plots.bounds(report, ax=Figure().subplots()))


def test_three_bands_keep_their_colours() -> None:
    figure = Figure(figsize=(4, 4), dpi=100)
    canvas, ax = FigureCanvasAgg(figure), figure.subplots()
    x, low, high = np.arange(2), np.zeros(2), np.ones(2)
    for number in range(3):
        style.band(ax, x, low, high, style.line(number)["color"])
    ax.axis("off")
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[100:300, 100:300, :3] / 255
    paper = 1 - 0.22 * (1 - np.array(to_rgb(style.CYCLE[0])))
    plain = (np.abs(pixels - paper) < 0.01).all(axis=2)
    assert plain.mean() > 0.2  # between the hatches, the first band has the colour that it has alone
    (named,) = layout._entries(ax.get_legend_handles_labels()[0]).items()
    assert named[0] == style.TIES
    assert to_hex(named[1].get_facecolor()) == style.GREY.lower()


def test_small_false_positive_rates_can_be_seen() -> None:
    rng = np.random.default_rng(0)
    result = dh.classification(rng.normal(size=20_000) + np.repeat([0, 2], 10_000), np.repeat([0, 1], 10_000))
    ax = plots.roc(result, ax=Figure(figsize=SMALL).subplots())
    assert ax.get_xscale() == "log"
    ax.figure.canvas.draw()  # type: ignore[union-attr]
    at, (low, high) = ax.transData.transform((0.1, 50))[0], ax.get_window_extent().intervalx
    assert (at - low) / (high - low) > 0.3
    assert "0.1" in [label.get_text() for label in ax.get_xticklabels()]
    assert plots.roc(result, scale="linear", ax=Figure().subplots()).get_xscale() == "linear"
    assert plots.roc(dh.classification([2, 1], [1, 0]), ax=Figure().subplots()).get_xscale() == "linear"
    with pytest.raises(ValueError, match=r"^scale must be one of log, linear, but is 'logit'"):
        plots.roc(result, scale="logit")  # type: ignore[arg-type]


def test_normal_scores_are_a_straight_line_on_probit_axes() -> None:
    """Quantiles of two normal distributions, 2 apart: the line has the slope -1."""
    quantiles = np.array([NormalDist().inv_cdf((i + 0.5) / 2000) for i in range(2000)])
    result = dh.classification(np.concatenate([quantiles, quantiles + 2]), np.repeat([0, 1], 2000))
    ax = plots.det({"a": result, "b": result}, ax=Figure(figsize=SMALL).subplots())
    assert ax.get_title().replace("\n", " ") == "EER: a 15.85, b 15.85 %"
    x, y = ax.lines[0].get_data()
    kept = (np.array(x) > 1) & (np.array(x) < 60)
    pixels = ax.transData.transform(np.stack([x, y], axis=1)[kept])
    slope, start = np.polyfit(*pixels.T, 1)
    assert np.abs(pixels[:, 1] - slope * pixels[:, 0] - start).max() < 2
    ax.figure.canvas.draw()  # type: ignore[union-attr]
    assert {"0.1", "10"} <= {label.get_text() for label in ax.get_xticklabels()}
    assert ax.get_xlim() == pytest.approx((0.025, 99.975))  # half of one of 2,000


@pytest.mark.parametrize("name", ["cmc", "precision_at_k", "recall_at_k"])
@pytest.mark.parametrize("n", [11, 23, 199])
def test_ticks_of_k_are_integers_and_titles_name_a_cutoff_that_is_drawn(name: str, n: int) -> None:
    report = dh.evaluate(np.random.default_rng(0).normal(size=(n + 1, 2)), np.arange(n + 1) % 3, measures="mAP")
    ax = getattr(plots, name)(report, ax=Figure(figsize=SMALL).subplots(), **({"k": n} if name == "cmc" else {}))
    ticks = ax.get_xticks()
    assert_array_equal(ticks, np.round(ticks))
    cutoff = int(ax.get_title().split("@")[1].split(":")[0])
    assert cutoff in ax.lines[0].get_xdata()
    assert cutoff == (1 if name == "cmc" else 10)


def test_text_is_folded_to_a_width_and_loses_its_middle_last() -> None:
    text = "one two three four five six seven"
    assert fold(text, 99, "medium") == text
    folded = fold(text, 1.0, "medium", 4)
    assert folded.split() == text.split()
    assert width_of(folded, "medium") <= 1.0
    lost = fold(text, 1.0, "medium", 1)
    assert lost.startswith("one")
    assert lost.endswith("n")
    assert "..." in lost


def test_widths_are_those_that_are_drawn() -> None:
    figure = Figure()
    texts = ["a_network_with_a_long_name", "iiiillll", "WWW mm 0123456789", "upper − lower (points)"]
    drawn = [figure.text(0, 0, text, fontsize=10).get_window_extent().width / figure.dpi for text in texts]
    ratios = [width_of(text, 10) / width for text, width in zip(texts, drawn, strict=True)]
    assert all(0.98 < ratio < 1.2 for ratio in ratios), ratios
    sizes = [width_of(texts[0], size) for size in ("small", "medium", "large")]
    assert all(a < b for a, b in pairwise(sizes))
