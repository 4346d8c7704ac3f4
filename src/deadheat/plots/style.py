"""How all plots look: colours that colour-blind people tell apart and a grey printer keeps apart, and quiet axes.

The colours are those of Okabe and Ito; a line also differs by its style, a mark by its shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.support.extras import require

BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
GREY, INK, PALE = "#7F7F7F", "#1A1A1A", "#E5E5E5"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
_LETTER, _HANDLE = 0.062, 0.48  # inches that a letter of a legend takes, and what stands before and behind a name
DASHED, DOTTED = (0, (4, 2)), (0, (1, 2))  # of reference lines


def figure(width: float, height: float, **options: Any) -> Figure:
    """A figure of so many inches that nobody shows, but that can be saved."""
    return Figure(figsize=(width, height), layout="constrained", **options)


def axes(ax: Axes | None, figsize: tuple[float, float] = (5.0, 3.4)) -> Axes:
    """The axes given, or new ones of a figure that `matplotlib.pyplot` knows."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", "plots", "deadheat.plots")
    made: Axes = pyplot.subplots(figsize=figsize, layout="constrained")[1]
    return made


def quiet(ax: Axes, grid: str = "y") -> Axes:
    """Take away the frame, and put a pale grid behind the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if grid:
        ax.grid(axis=grid, color=PALE, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    return ax


def line(number: int) -> dict[str, Any]:
    """Colour and dashes of a line by its number, so that colour is not all that tells it apart."""
    return {"color": CYCLE[number % len(CYCLE)], "linestyle": STYLES[number % len(STYLES)]}


def marked_line(number: int) -> dict[str, Any]:
    """The same with a mark at each point."""
    return line(number) | {"marker": MARKERS[number % len(MARKERS)]}


def rows(ax: Axes, names: list[str]) -> None:
    """A row for each name, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)


def ends(ax: Axes, values: NDArray[np.float64], size: int) -> None:
    """Lower, expected and upper, (3, n), a row each: a bar with a mark at each of them, or one dot where they agree."""
    rows = np.arange(values.shape[1])
    tied = values[0] < values[2]
    ax.hlines(rows[tied], values[0, tied], values[2, tied], color=GREY, linewidth=3, zorder=1)
    name = (
        "expected" if tied.all() else "value: no tie decides" if not tied.any() else "expected (alone: no tie decides)"
    )
    marks = (("lower", "<", VERMILION, tied), (name, "o", INK, tied | True), ("upper", ">", BLUE, tied))
    for (label, marker, colour, where), row in zip(marks, values, strict=True):
        if where.any():
            ax.plot(row[where], rows[where], marker, color=colour, markersize=size, label=label, zorder=3)


def right_column(ax: Axes, title: str, texts: Iterable[str]) -> None:
    """A word on each row, to the right of the axes."""
    for row, text in enumerate(texts):
        ax.text(1.03, row, text, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.text(1.03, 1.0, title, transform=ax.transAxes, va="bottom", fontsize="small")


def per_cent(value: float, _: object = None) -> str:
    """A fraction as a tick says it in per cent."""
    return f"{100 * value:.4g}"


def legend_above(ax: Axes, *, handles: Sequence[Any] | None = None, **more: Any) -> None:
    """A legend without a frame that stands on the axes, in as many columns as there is room for."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    names = [str(handle.get_label()) for handle in handles]
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=_columns(ax, names), frameon=False,
              fontsize="small", borderaxespad=0.2, columnspacing=1.2, handletextpad=0.5, **more)  # fmt: skip


def _columns(ax: Axes, names: list[str]) -> int:
    """How many columns of names fit on axes."""
    grid, figure = ax.get_subplotspec(), ax.get_figure(root=True)
    width = (4.0 if figure is None else figure.get_figwidth()) / (1 if grid is None else grid.get_gridspec().ncols)
    return max(1, min(len(names), int(0.84 * width / (_LETTER * max(map(len, names), default=1) + _HANDLE))))


def legend_right(ax: Axes, title: str, more: Sequence[Any]) -> None:
    """A legend without a frame to the right of the axes, for many names, with what has no label of its own."""
    handles = [*ax.get_legend_handles_labels()[0], *more]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small",
              title=title, title_fontsize="small", alignment="left", borderaxespad=0.0)  # fmt: skip
