"""Text around axes that fits: a title on top, the legend below, names of rows on the left, and a column on the right.

Legends stand below all that belongs to the axes, so that ``ax.set_title`` replaces the title and nothing else. Text is
measured with the font that draws it, folded to the space that its axes have in the figure, and made smaller where it
would take too much of a small figure. Lengths are in inches, sizes of text as Matplotlib names them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, product
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
_MOST_TITLE, _MOST_LEGEND, _LEAST_AXES, _ALONG = 0.2, 0.3, 0.12, 0.95  # of the height; the last one of that of the axes
_MOST_NAMES, _WITH_COLUMN = 0.42, 0.32  # of the width: names of rows, and these with a column on the other side
_LEAST_COLUMN = 0.35  # inches for the label of a column, also next to a single row, where the axes are lower
_PAD, _MARGINS = 0.08, 0.56  # from one thing to the next, and of all of them above each other
_SLACK = 1.06  # of a width measured without hinting to the one that is drawn
_IN_TITLE = 26  # letters of a name in a title


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
    n_row, n_column = 1.0, 1.0
    if spec is not None:
        grid = spec.get_gridspec()
        n_row, n_column = grid.nrows / len(spec.rowspan), grid.ncols / len(spec.colspan)
    boxes = [box for each in (ax.xaxis, ax.yaxis, *ax.child_axes) if (box := each.get_tightbbox()) is not None]
    left, below = (ax.bbox.x0 - min(box.x0 for box in boxes), ax.bbox.y0 - min(box.y0 for box in boxes))
    right = max(box.x1 for box in boxes) - ax.bbox.x1
    ends = (figure.bbox.width / n_column, figure.bbox.height / n_row, left, right, below)
    return Room(*(max(float(end), 0.0) / figure.dpi for end in ends))


def width_of(text: str, size: float | str) -> float:
    """Return the width of the longest line of a text."""
    family = tuple(FontProperties().get_family())
    return _SLACK / 72 * _points(size) * max(sum(_advance(char, family) for char in part) for part in text.split("\n"))


@lru_cache(maxsize=10_000)
def _advance(char: str, family: tuple[str, ...]) -> float:
    """Return the width of a character between two others, in sizes of the text."""
    font, measure = FontProperties(family=family, size=1.0), text_to_path.get_text_width_height_descent
    return float(measure(f"x{char}x", font, False)[0] - measure("xx", font, False)[0])


def fold(text: str, width: float, size: float | str, lines: int = 3) -> str:
    """Fold a text into lines of a width; one that is too long for `lines` of them loses its middle."""
    if width_of(text, size) <= width:
        return text
    text = " ".join(text.split())
    letters, folded = len(text) * width / width_of(text, size), [text]
    for most in range(len(text), 6, -max(1, len(text) // 12)):
        for share in (1.0, 0.85, 0.7):
            folded = textwrap.wrap(printable(text, most), max(4, int(share * letters)))
            if len(folded) <= lines and all(width_of(part, size) <= width for part in folded):
                return "\n".join(folded)
    return "\n".join(folded[:lines])


def short(system: object) -> str:
    """Return the name of a system for a title, without its middle if it is long."""
    return printable(str(system), _IN_TITLE)


def _is_whole(folded: str, text: str) -> bool:
    """Return whether all words of a text are there, and none is broken."""
    return folded.split() == text.split()


def _fitted(text: str, width: float, sizes: Sequence[Any], lines: int, height: float = np.inf) -> tuple[str, Any]:
    """Fold a text at the largest size at which none of it is left out, and its size; at the last one otherwise."""
    for size in sizes:
        folded = fold(text, width, size, lines)
        if _is_whole(folded, text) and _height(folded, size) <= height:
            break
    return folded, size


def _height(text: str, size: float | str) -> float:
    return (1 + text.count("\n")) * _LINE * _points(size) / 72


def _points(size: float | str) -> float:
    return float(FontProperties(size=size).get_size_in_points())


def finish(
    ax: Axes,
    *,
    title: str | None = None,
    rows: Sequence[str] = (),
    column: tuple[str, Sequence[str]] | None = None,
    handles: Sequence[Any] | None = None,
    legend: bool = True,
    **more: Any,
) -> Axes:
    """Put a title above the axes and a legend without a frame below, and fold all text to the space that there is.

    Parameters
    ----------
    title : str, optional
        Without one, a title that is there stays.
    rows : sequence of str
        Names of rows at heights 0, 1 ..., the first on top.
    column : str and sequence of str, optional
        A word on each row, to the right of the axes, and the label of these.
    handles : sequence, optional
        The entries of the legend; by default all that has a label.
    **more
        For the legend.
    """
    space, share = room(ax), _MOST_NAMES if column is None else _WITH_COLUMN
    if rows:
        _set_rows(ax, rows, 0.4 * space.height, share * space.width)
        ax.set_ylim(len(rows) - 0.4, -0.6)
    right = None if column is None else _column(ax, *column)
    ax.set_xlabel(fold(ax.get_xlabel(), room(ax).centred, "medium", 2))
    space = room(ax)
    if title is not None:
        sizes = [style.kept("axes.titlesize", size) for size in _SMALLER[:-1]]
        folded, size = _fitted(title, space.centred, sizes, 3, _MOST_TITLE * space.height)
        ax.set_title(folded, fontsize=size)
    ax.title.set_wrap(True)  # that of a title by the user, too
    entries = _entries(ax.get_legend_handles_labels()[0] if handles is None else handles) if legend else {}
    form = _LegendForm.best(list(entries), space) if entries else None
    own = _height(ax.get_title(), ax.title.get_fontsize())
    above = max(own, _height("\n", style.kept("axes.titlesize", "large")))  # a title by the user may have two lines
    below = space.below + (form.height if form else 0)
    left = max(space.height - above - below - _MARGINS, _LEAST_AXES * space.height)
    if rows:
        _set_rows(ax, rows, left, share * space.width)
    if right is not None:
        right.tick_params(labelsize=min(_points("small"), *(label.get_fontsize() for label in ax.get_yticklabels())))
        _fold_along(right, max(left, _LEAST_COLUMN), _SMALLER[1:])
    _fold_along(ax, left, _SMALLER)
    if form is not None:
        form.draw(ax, room(ax), list(entries.values()), more)
    return ax


def _column(ax: Axes, label: str, texts: Sequence[str]) -> Any:
    """Write a word on each row to the right of the axes, and what they are along the side."""
    column = ax.secondary_yaxis("right")
    column.set_yticks(range(len(texts)), texts, fontsize="small")
    column.tick_params(length=0)
    column.spines[:].set_visible(False)
    column.set_ylabel(label, fontsize="small")
    return column


def _fold_along(ax: Any, height: float, sizes: Sequence[str]) -> None:
    """Fold the label of a vertical axis."""
    folded, size = _fitted(ax.get_ylabel(), _ALONG * height, sizes, 2)
    ax.set_ylabel(folded, fontsize=size)


def _set_rows(ax: Axes, names: Sequence[str], height: float, width: float) -> None:
    """Name the rows; names are folded, and smaller where rows are low."""
    one = height / (len(names) + 0.2)
    size = max(2.0, min(_points(style.kept("ytick.labelsize", "medium")), 72 * one / _LINE))  # none has no pixel
    lines = max(1, int(72 * one / (_LINE * size)))
    folded = [fold(name, width, size, lines) for name in names]
    ax.set_yticks(range(len(names)), folded, fontsize=size)


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
    """Return whether a line has points and none of them a value, so that nothing of it is drawn."""
    points = np.asarray(line.get_xydata(), dtype=np.float64)
    return bool(len(points)) and bool(np.isnan(points).any(axis=1).all())


class _LegendForm(NamedTuple):
    """The form of a legend: its names, folded, the size of its text, its columns, and its height."""

    names: list[str]
    size: Any
    n_column: int
    height: float

    @classmethod
    def best(cls, names: list[str], space: Room) -> _LegendForm:
        """Return the form with the largest text that is low enough for the figure; else the lowest one."""
        forms: list[_LegendForm] = []
        for size in (style.kept("legend.fontsize", each) for each in _SMALLER[1:]):
            for lines, n_column in product((1, 2), range(len(names), 0, -1)):
                forms += cls._of(names, space.width - 2 * _PAD, size, n_column, lines)
            low = [form for form in forms if form.height <= _MOST_LEGEND * space.height]
            if low:
                return low[0]
        none_fits = cls(names, _SMALLER[-1], 1, space.height)
        return min(forms, key=lambda form: form.height, default=none_fits)

    @classmethod
    def _of(cls, names: list[str], width: float, size: Any, n_column: int, lines: int) -> list[_LegendForm]:
        """Return the form with names in one line or two; in two columns or more, only if no name is shortened."""
        em, folded = _points(size) / 72, names
        if lines > 1:
            folded = [fold(name, max(0.1, width / n_column - _HANDLE * em), size, lines) for name in names]
        widths = [width_of(name, size) + _HANDLE * em for name in folded]
        if _of_columns(widths, n_column, max, sum) > width or (n_column > 1 and not all(map(_is_whole, folded, names))):
            return []
        height = _of_columns([_height(name, size) + 0.3 * em for name in folded], n_column, sum, max)
        return [cls(folded, size, n_column, height)]

    def draw(self, ax: Axes, space: Room, handles: list[Any], more: dict[str, Any]) -> None:
        """Put the legend under the label of the horizontal axis; under square axes, which may be narrow, centred."""
        wide = ax.get_aspect() == "auto"
        corner = ScaledTranslation(-space.left if wide else 0.0, -space.below - _PAD, ax.figure.dpi_scale_trans)
        ax.legend(
            handles=handles, labels=self.names, loc="upper left" if wide else "upper center",
            bbox_to_anchor=(0.0 if wide else 0.5, 0.0), bbox_transform=ax.transAxes + corner, borderaxespad=0.0,
            ncols=self.n_column, frameon=False, fontsize=self.size, columnspacing=1.2, handletextpad=0.5,
            labelspacing=0.3, **more,
        )  # fmt: skip


def _of_columns(values: Sequence[float], n_column: int, inside: Any, over: Any) -> float:
    """Reduce values in columns as a legend fills them: those before the remainder have one more."""
    one, longer = divmod(len(values), n_column)
    starts = [column * one + min(column, longer) for column in range(n_column + 1)]
    return float(over(inside(values[start:stop]) for start, stop in pairwise(starts)))
