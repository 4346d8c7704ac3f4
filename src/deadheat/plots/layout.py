"""Text around axes that fits: a title on top, the legend below, names of rows on the left, and a column on the right.

Legends stand below all that belongs to the axes, so that ``ax.set_title`` replaces the title and nothing else. Text is
measured with the font that draws it, folded to the space that its axes have in the figure, and made smaller where it
would take too much of a small figure. Lengths are in inches, sizes of text as Matplotlib names them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path
from matplotlib.transforms import ScaledTranslation

from deadheat.errors import printable
from deadheat.plots import style

_SMALLER = ("medium", "small", "x-small", "xx-small")
_LINE = 1.25  # from line to line, in sizes of the text
_HANDLE = 4.2  # what stands before and behind a name of a legend, in sizes of the text
_MOST_TITLE, _MOST_LEGEND, _MOST_NAMES = 0.2, 0.3, 0.42  # of the height, the height and the width of the figure
_PAD = 0.08  # from one thing to the next
_SLACK = 1.06  # of a width measured without hinting to the one that is drawn


class Room(NamedTuple):
    """The space in the figure that axes have, and what their numbers and labels take of it on each side."""

    width: float
    height: float
    left: float
    right: float
    below: float

    @property
    def centred(self) -> float:
        """The width of a text that is centred over the axes."""
        return self.width - abs(self.left - self.right) - 4 * _PAD


def room(ax: Axes) -> Room:
    """Measure the space of axes in their figure."""
    figure, spec = ax.figure, ax.get_subplotspec()
    grid = None if spec is None else spec.get_gridspec()
    n_row, n_column = (1, 1) if grid is None or spec is None else (grid.nrows / len(spec.rowspan), grid.ncols / len(spec.colspan))
    boxes = [box for each in (ax.xaxis, ax.yaxis, *ax.child_axes) if (box := each.get_tightbbox()) is not None]
    left, below = (ax.bbox.x0 - min(box.x0 for box in boxes), ax.bbox.y0 - min(box.y0 for box in boxes))
    right = max(box.x1 for box in boxes) - ax.bbox.x1
    ends = (figure.bbox.width / n_column, figure.bbox.height / n_row, left, right, below)
    return Room(*(max(float(end), 0.0) / figure.dpi for end in ends))


def width_of(text: str, size: float | str) -> float:
    """Return the width of the longest line of a text."""
    font = FontProperties(size=size)
    return _SLACK / 72 * max(text_to_path.get_text_width_height_descent(part, font, False)[0] for part in text.split("\n"))


def fold(text: str, width: float, size: float | str, lines: int = 3) -> str:
    """Fold a text into lines of a width; one that is too long for `lines` of them loses its middle."""
    if width_of(text, size) <= width:
        return text
    text = " ".join(text.split())
    letters, folded = len(text) * width / width_of(text, size), [text]
    for most in range(len(text), 6, -max(1, len(text) // 20)):
        for share in (1.0, 0.9, 0.8, 0.7):
            folded = textwrap.wrap(printable(text, most), max(4, int(share * letters)))
            if len(folded) <= lines and all(width_of(part, size) <= width for part in folded):
                return "\n".join(folded)
    return "\n".join(folded[:lines])


def finish(
    ax: Axes, *, title: str | None = None, handles: Sequence[Any] | None = None, legend: bool = True, **more: Any
) -> Axes:
    """Fold the labels of axes, put a title above and a legend without a frame below; without a title, one there stays.

    `more` goes to the legend.
    """
    space = room(ax)
    ax.set_xlabel(fold(ax.get_xlabel(), space.centred, "medium", 2))
    ax.set_ylabel(fold(ax.get_ylabel(), 0.6 * space.height, "medium", 2))
    if title is not None:
        sizes = [style.kept("axes.titlesize", size) for size in _SMALLER[:-1]]
        folded = [(fold(title, space.centred, size), size) for size in sizes]
        least = next((pair for pair in folded if _height(*pair) <= _MOST_TITLE * space.height), folded[-1])
        ax.set_title(least[0], fontsize=least[1])
    ax.title.set_wrap(True)  # that of a title by the user, too
    entries = _entries(ax.get_legend_handles_labels()[0] if handles is None else handles)
    if legend and entries:
        _legend_below(ax, room(ax), entries, more)
    return ax


def _height(text: str, size: float | str) -> float:
    return (1 + text.count("\n")) * _LINE * _points(size) / 72


def _points(size: float | str) -> float:
    return float(FontProperties(size=size).get_size_in_points())


def _entries(handles: Iterable[Any]) -> dict[str, Any]:
    """Return the handle of each name of a legend: lines with a value, each name once, bands last."""
    named: dict[str, list[Any]] = {}
    for handle in sorted(handles, key=lambda handle: isinstance(handle, PolyCollection)):
        if not (isinstance(handle, Line2D) and _is_undefined(handle)):
            named.setdefault(str(handle.get_label()), []).append(handle)
    of_several = Patch(facecolor=style.GREY, alpha=0.4, linewidth=0)
    return {
        name: of_several if len(same) > 1 and isinstance(same[0], PolyCollection) else same[0]
        for name, same in named.items()
    }


def _is_undefined(line: Line2D) -> bool:
    """Return whether no point of a line has a value, so that nothing of it is drawn."""
    y = np.asarray(line.get_ydata(), dtype=np.float64)
    return bool(len(y)) and bool(np.isnan(y).all())


def _legend_below(ax: Axes, space: Room, entries: dict[str, Any], more: dict[str, Any]) -> None:
    """Put a legend under the label of the horizontal axis, as wide as the axes with their labels."""
    sizes, names, n_column = _SMALLER[1:], list(entries), 1
    for size in (style.kept("legend.fontsize", each) for each in sizes):
        em = _points(size) / 72
        names = [fold(name, space.width - _HANDLE * em - 2 * _PAD, size, 2) for name in entries]
        widths = [width_of(name, size) + _HANDLE * em for name in names]
        n_column = next(
            (n for n in range(len(names), 1, -1) if _of_columns(widths, n, max, sum) <= space.width - 2 * _PAD), 1
        )
        height = _of_columns([_height(name, size) + 0.3 * em for name in names], n_column, sum, max)
        if height <= _MOST_LEGEND * space.height:
            break
    corner = ScaledTranslation(-space.left, -space.below - _PAD, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=list(entries.values()), labels=names, loc="upper left", bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + corner, borderaxespad=0.0, ncols=n_column, frameon=False, fontsize=size,
        columnspacing=1.2, handletextpad=0.5, labelspacing=0.3, **more,
    )  # fmt: skip


def _of_columns(values: Sequence[float], n_column: int, inside: Any, over: Any) -> float:
    """Reduce values in columns as a legend fills them: those before the remainder have one more."""
    each, longer = divmod(len(values), n_column)
    starts = [column * each + min(column, longer) for column in range(n_column + 1)]
    return float(over(inside(values[start:stop]) for start, stop in zip(starts, starts[1:], strict=False)))


def rows(ax: Axes, names: Sequence[str]) -> None:
    """Make a row for each name, the first on top."""
    space = room(ax)
    each = max(0.6 * space.height, space.height - 1.2) / max(1, len(names))  # inches for a row
    size = min(_points(style.kept("ytick.labelsize", "medium")), 72 * each / _LINE)
    lines = max(1, int(72 * each / (_LINE * size)))
    ax.set_yticks(range(len(names)), [fold(name, _MOST_NAMES * space.width, size, lines) for name in names], fontsize=size)
    ax.set_ylim(len(names) - 0.4, -0.6)


def right_column(ax: Axes, title: str, texts: Sequence[str]) -> None:
    """Write a word on each row to the right of the axes, and what they are along the side."""
    column = ax.secondary_yaxis("right")
    size = min([_points("small"), *(label.get_fontsize() for label in ax.get_yticklabels())])
    column.set_yticks(range(len(texts)), texts, fontsize=size)
    column.tick_params(length=0)
    column.spines[:].set_visible(False)
    column.set_ylabel(fold(title, 0.6 * room(ax).height, "small", 2), fontsize="small")
