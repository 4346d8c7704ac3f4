"""Points of a plane, with their classes.

In come points and labels; out go Matplotlib axes.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from deadheat.plots import style

_CLASSES = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILION)


def labelled_points(
    points: ArrayLike,
    labels: ArrayLike,
    *,
    confidence: ArrayLike | None = None,
    marked: ArrayLike | None = None,
    mark: str = "marked",
    ax: Axes | None = None,
) -> Axes:
    """Points of a plane, each class with its own colour and mark; a confident point is opaque, an unsure one faint.

    Parameters
    ----------
    points : (n, 2)
    labels : (n,)
    confidence : (n,), optional
        Of any scale: the least one becomes the faintest.
    marked : (n,) bool, optional
        Points to be ringed.
    mark : str
        What the ring means, for a legend.
    ax : Axes, optional

    Examples
    --------
    >>> import deadheat as dh
    >>> ax = dh.plots.labelled_points([[0, 0], [1, 1]], ["a", "b"], marked=[False, True], mark="odd")
    >>> ax.get_legend_handles_labels()[1]
    ['class a', 'class b', 'odd']
    """
    ax = style.quiet(style.axes(ax, (4.6, 2.8)), grid="")
    places, kinds = np.asarray(points, dtype=np.float64), np.asarray(labels)
    opacity = np.full(len(places), 0.75) if confidence is None else _opacity(np.asarray(confidence, dtype=np.float64))
    for number, kind in enumerate(np.unique(kinds)):
        own = kinds == kind
        color, marker = _CLASSES[number % len(_CLASSES)], style.MARKERS[number % len(style.MARKERS)]
        look = {"s": 7, "marker": marker, "color": color, "alpha": opacity[own], "linewidth": 0}
        ax.scatter(places[own, 0], places[own, 1], label=f"class {kind}", **look)
    if marked is not None:
        ring = np.asarray(marked, dtype=bool)
        ax.scatter(
            places[ring, 0], places[ring, 1], s=26, facecolor="none", edgecolor=style.INK, linewidth=0.7, label=mark
        )
    return ax


def _opacity(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = confidence.min(), confidence.max()
    share = (confidence - low) / (high - low) if high > low else np.ones(len(confidence))
    return np.asarray(0.08 + 0.87 * share)
