"""How two systems differ, query by query.

In comes a `Difference`; out go the axes, in per cent.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from deadheat.analyses.comparison import Difference
from deadheat.plots.style import BLUE, GREY, INK, VERMILION, axes, quiet

_SINGLE = 150  # up to so many queries are drawn one by one


def differences(difference: Difference, *, ax: Axes | None = None) -> Axes:
    """What lies between two systems for each query, sorted, with bars for what the ties can change.

    Parameters
    ----------
    difference : Difference
        One measure of a `deadheat.compare`, such as ``compare(a, b)["mAP"]``.
    ax : Axes, optional

    Returns
    -------
    Axes
        Queries from the largest expected difference A − B to the smallest (by the middle of the bounds, where there
        is no expectation). A bar goes from A.lower − B.upper to A.upper − B.lower: it is above 0 where A wins however
        the ties fall, and below 0 where B does.

    Examples
    --------
    >>> import deadheat as dh
    >>> a, b = (dh.evaluate(points, [0, 0, 1, 1]) for points in ([[0], [1], [1], [0]], [[1], [1], [-1], [-1]]))
    >>> dh.plots.differences(dh.compare(a, b)["mAP"]).get_ylabel()
    'mAP of A − B (%)'
    """
    ax = quiet(axes(ax))
    values = 100 * np.stack(difference.per_query)
    values = values[:, ~np.isnan(values[0])]
    middle = np.where(np.isnan(values[1]), (values[0] + values[2]) / 2, values[1])
    order = np.lexsort((-values[0], -middle))
    place, (low, _, high), middle = 1 + np.arange(len(order)), values[:, order], middle[order]
    ax.axhline(0, color=INK, linewidth=0.8)
    for chosen, color, marker, label in (
        (low > 0, BLUE, "^", f"A wins ({difference.n_wins_a})"),
        (high < 0, VERMILION, "v", f"B wins ({difference.n_wins_b})"),
        ((low <= 0) & (high >= 0) & (low < high), GREY, "o", f"ties decide ({difference.n_open})"),
        ((low == 0) & (high == 0), INK, "_", f"equal ({difference.n_equal})"),
    ):
        if chosen.any():
            few = len(place) <= _SINGLE
            x, bottom, top, centre = (part[chosen] for part in (place, low, high, middle))
            ax.vlines(x, bottom, top, color=color, linewidth=1.6 if few else 0.8, alpha=1 if few else 0.6)
            ax.plot(x, centre, linestyle="", marker=marker, markersize=4 if few else 3, color=color, label=label)
    if len(place) > _SINGLE:
        ax.plot(place, middle, color=INK, linewidth=0.9)
    ax.set(xlabel="queries, sorted", ylabel=f"{difference.name} of A − B (%)", xlim=(0, len(place) + 1))
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, columnspacing=1.0,
              handletextpad=0.4)  # fmt: skip
    return ax
