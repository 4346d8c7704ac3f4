"""The matrices D and E of the paper on ties: distances, and what is added to them to decide between equal ones.

In come arrays; out go Matplotlib axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike

from deadheat.plots import style

_SLIM: dict[str, Any] = {"fraction": 0.046, "pad": 0.04}  # a colour bar as high as square axes


def distance_matrix(distances: ArrayLike, *, ax: Axes | None = None, label: str = "distance") -> Axes:
    """Draw the matrix D: how far each item, a column, is from each query, a row.

    Parameters
    ----------
    distances : (n_query, n_gallery)
    ax : matplotlib.axes.Axes, optional
    label : str
        What the distance is, and its unit.
    """
    ax = style.axes(ax, (4.6, 4.0))
    shown = ax.imshow(np.asarray(distances, dtype=np.float64), cmap="cividis", interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, label=label, **_SLIM)
    return _label_axes(ax)


def shift_matrix(relevant: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the matrix E by which D is moved to decide its ties: 0 where relevant, else e.

    Parameters
    ----------
    relevant : (n_query, n_gallery) bool
    ax : matplotlib.axes.Axes, optional
    """
    ax = style.axes(ax, (4.6, 4.0))
    irrelevant = ~np.asarray(relevant, dtype=np.bool_)
    shown = ax.imshow(
        irrelevant, cmap=ListedColormap([style.INK, style.PALE]), vmin=-0.5, vmax=1.5, interpolation="nearest"
    )
    bar = ax.figure.colorbar(shown, ax=ax, ticks=[0, 1], **_SLIM)
    bar.ax.set_yticklabels(["0 (relevant)", "e (irrelevant)"])
    return _label_axes(ax)


def _label_axes(ax: Axes) -> Axes:
    ax.set_xlabel("item")
    ax.set_ylabel("query")
    return ax
