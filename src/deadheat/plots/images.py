"""Pictures of matrices: collisions query by query and rank by rank, and the matrices D and E of the paper on ties.

Relevant collisions are orange, irrelevant ones blue, mixed ones nearly black (on a dark paper, white). One
mark is one cell of a large matrix, so no cell may get lost between the pixels: see `amplify` in `collision_image`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.collisions import Collisions, Kind
from deadheat.errors import InvalidValueError
from deadheat.plots import style
from deadheat.reports.tables import count
from deadheat.support import checks

_ROOM = 0.75  # share of the axes' width and height that is taken to be left once there are labels


def colours() -> dict[Kind, str]:
    """What each kind of collision is drawn in, on the paper that Matplotlib's style has."""
    return {Kind.BEYOND: style.PALE, Kind.NONE: style.PAPER, Kind.IRRELEVANT: style.BLUE, Kind.RELEVANT: style.ORANGE,
            Kind.MIXED: style.INK}  # fmt: skip


def collision_image(
    collisions: Collisions | NDArray[np.int8],
    *,
    ax: Axes | None = None,
    amplify: int | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the collisions, queries as rows in their order and ranks as columns.

    Parameters
    ----------
    collisions : Collisions, or (n_query, depth) of `deadheat.analyses.collisions.Kind`
    amplify : int, optional
        Widen each mark by so many ranks and queries on every side, so that single ones can be seen. By default, as
        little as lets no mark fall between the pixels at the resolution of the figure (``figure.dpi``; save it with
        no less): 0 where there is a pixel for each cell. Where marks overlap, mixed is seen before relevant, and
        relevant before irrelevant. The label under the ranks says by how much marks were widened.
    legend : bool
        Whether to say under the axes what the colours mean.

    Returns
    -------
    Axes

    Raises
    ------
    TypeError, ValueError
        If `amplify` is no integer, or negative, or there is no rank to draw.

    Examples
    --------
    >>> import deadheat as dh
    >>> who = dh.collisions([[0], [1], [2]], [0, 0, 1], distance="cityblock")
    >>> dh.plots.collision_image(who, legend=False).get_xlabel()
    'rank'
    """
    kind = np.asarray(collisions.kind if isinstance(collisions, Collisions) else collisions)
    if kind.ndim != 2 or 0 in kind.shape:
        raise InvalidValueError("collisions", f"must have at least one query and one rank, but has shape {kind.shape}")
    ax = style.axes(ax, (5.0, 5.0))
    reach = least_reach(ax, kind.shape) if amplify is None else checks.whole_number(amplify, "amplify")
    n_query, depth = kind.shape
    looks = ListedColormap([colours()[code] for code in Kind])
    edge = 3 * reach + 1  # a margin as wide as a mark, so that none lies under the frame
    shown = amplified(np.pad(kind, edge, constant_values=Kind.NONE), reach)
    span = (0.5 - edge, depth + 0.5 + edge, n_query - 0.5 + edge, -0.5 - edge)
    ax.imshow(shown, cmap=looks, vmin=-1, vmax=3, aspect="auto", interpolation="nearest", extent=span)
    ax.set_xlabel("rank" + (f"\n(each mark widened by {reach})" if reach else ""))
    ax.set_ylabel("query")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    n_mixed = int((kind == Kind.MIXED).any(axis=1).sum())
    ax.set_title(f"{n_mixed} of {count(n_query, 'query has', 'queries have')} a mixed tie", fontsize="medium")
    if not (kind > Kind.NONE).any():
        ax.text(0.5, 0.5, "no collision", transform=ax.transAxes, ha="center", va="center", color=style.GREY)
    if legend:
        handles = _handles(bool((kind == Kind.BEYOND).any()))
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=4, frameon=False)
    return ax


def collision_legend(figure: Figure) -> None:
    """Say under a figure of several pictures what their colours mean."""
    figure.legend(handles=_handles(False), loc="outside lower center", ncols=3, frameon=False)


def amplified(kind: NDArray[np.int8], reach: int) -> NDArray[np.int8]:
    """Marks widened by so many cells on every side; of those that meet, the highest `Kind` is kept.

    Examples
    --------
    >>> amplified(np.array([[0, 0, 0, 0], [0, 3, 0, 1]], dtype=np.int8), 1)
    array([[3, 3, 3, 1],
           [3, 3, 3, 1]], dtype=int8)
    """
    wide = kind
    for edges in ((reach, reach), (0, 0)), ((0, 0), (reach, reach)):
        padded = np.pad(wide, edges, constant_values=Kind.BEYOND)
        window = tuple(1 + sum(edge) for edge in edges)
        wide = np.lib.stride_tricks.sliding_window_view(padded, window).max(axis=(2, 3))
    return np.where(kind == Kind.BEYOND, kind, wide)


def least_reach(ax: Axes, shape: tuple[int, ...]) -> int:
    """The least widening with which every mark covers the middle of some pixel."""
    box = ax.get_window_extent()
    cells = max(shape[1] / (_ROOM * box.width), shape[0] / (_ROOM * box.height))  # in a pixel
    return max(0, math.ceil((cells - 1) / 2))


def _handles(beyond: bool) -> list[Any]:
    names = {Kind.RELEVANT: "relevant", Kind.IRRELEVANT: "irrelevant", Kind.MIXED: "mixed"}
    names |= {Kind.BEYOND: "no rank"} if beyond else {}
    return [Patch(facecolor=colours()[code], label=name) for code, name in names.items()]


def distance_matrix(distances: ArrayLike, *, ax: Axes | None = None, label: str = "distance") -> Axes:
    """Draw the matrix D: how far each item, a column, is from each query, a row.

    Parameters
    ----------
    distances : (n_query, n_gallery)
    label : str
        What the distance is, and its unit.
    """
    ax = style.axes(ax, (4.6, 4.0))
    shown = ax.imshow(np.asarray(distances, dtype=np.float64), cmap="cividis", interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, label=label, fraction=0.046, pad=0.04)  # as high as square axes
    ax.set(xlabel="item", ylabel="query")
    return ax


def shift_matrix(relevant: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the matrix E by which D is moved to decide its ties: 0 where relevant, else e.

    Parameters
    ----------
    relevant : (n_query, n_gallery) bool
    """
    ax = style.axes(ax, (4.6, 4.0))
    irrelevant = ~np.asarray(relevant, dtype=np.bool_)
    looks = ListedColormap([style.INK, style.PALE])
    shown = ax.imshow(irrelevant, cmap=looks, vmin=-0.5, vmax=1.5, interpolation="nearest")
    bar = ax.figure.colorbar(shown, ax=ax, ticks=[0, 1], fraction=0.046, pad=0.04)
    bar.ax.set_yticklabels(["0 (relevant)", "e (irrelevant)"])
    ax.set(xlabel="item", ylabel="query")
    return ax
