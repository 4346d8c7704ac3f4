"""The ranks that models may have."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from deadheat.analyses.score_leaderboard import ScoreLeaderboard
from deadheat.plots import style


def rank_intervals(board: ScoreLeaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw the interval of ranks of each model, and who is statistically tied for first place.

    Parameters
    ----------
    board : ScoreLeaderboard
        A row for each model, the best on top.
    ax : Axes, optional

    Returns
    -------
    Axes
        A bar from the best to the worst rank with a mark at the rank by the mean. On the right stands how often the
        model comes first when tasks are drawn again.

    Examples
    --------
    >>> import deadheat as dh
    >>> scores = {name: {f"task {i}": i + lead for i in range(8)} for name, lead in {"a": 2, "b": 1, "c": 0}.items()}
    >>> ax = dh.plots.rank_intervals(dh.score_leaderboard(scores))
    >>> ax.get_title(loc="left")
    'a is first'
    """
    ax = style.quiet(style.axes(ax, (6.4, 1.2 + 0.26 * len(board))), grid="x")
    low, high = np.array(list(board.rank_intervals.values())).T
    first, rows = low == 1, np.arange(len(board))
    level = f"{100 * board.confidence_level:g} % interval of ranks"
    for chosen, colour, label in ((first, style.BLUE, f"{level}, holds 1"), (~first, style.GREY, level)):
        if chosen.any():
            ax.hlines(rows[chosen], low[chosen] - 0.2, high[chosen] + 0.2, color=colour, linewidth=4, label=label)
    ax.plot(list(board.ranks.values()), rows, "D", color=style.INK, markersize=4, label="rank by the mean")
    style.rows(ax, list(board.models))
    style.right_column(ax, "first (%)", [f"{100 * share:.1f}" for share in board.first.values()])
    tied = len(board.tied_for_first)
    title = f"{tied} of {len(board)} models are statistically tied for first place" if tied > 1 else "{} is first"
    ax.set_title(title.format(board.models[0]), loc="left", pad=36)
    ax.set(xlabel="rank", xlim=(0.5, len(board) + 0.5))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend_above(ax)
    return ax
