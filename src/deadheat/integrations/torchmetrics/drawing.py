"""What `plot` draws: the values of one step as rows of marks, those of several as lines in their bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.plots import style
else:
    style = lazy("deadheat.plots.style")

Values = dict[str, NDArray[np.float64]]  # of a measure, (3, n_step): lower, expected, upper


def draw(val: Any, ax: Any) -> tuple[Any, Any]:
    """The figure and the axes, new ones unless some are given."""
    steps = [val] if isinstance(val, Mapping) else list(val)
    values = _by_measure(steps)
    ax = style.quiet(style.axes(ax), grid="x" if len(steps) == 1 else "y")
    (_draw_one if len(steps) == 1 else _draw_several)(ax, values)
    return ax.get_figure(), ax


def _by_measure(steps: list[Mapping[str, Any]]) -> Values:
    """The three values of each measure at each step."""
    names = [name for name in steps[0] if f"{name}_lower" in steps[0]]
    keys = {name: (f"{name}_lower", name, f"{name}_upper") for name in names}
    return {name: np.array([[float(step[key]) for step in steps] for key in keys[name]]) for name in names}


def _draw_one(ax: Any, values: Values) -> None:
    style.ends(ax, 100 * np.concatenate(list(values.values()), axis=1), 6)
    style.rows(ax, list(values))
    ax.set_xlim(-2, 102)
    ax.set_xlabel("value (%)")
    style.legend_above(ax)


def _draw_several(ax: Any, values: Values) -> None:
    for number, (name, (lower, expected, upper)) in enumerate(values.items()):
        marker = style.MARKERS[(number + number // len(style.CYCLE)) % len(style.MARKERS)]  # new colours run out
        line, at = style.line(number) | {"marker": marker, "markersize": 4.5}, np.arange(len(expected))
        ax.fill_between(at, 100 * lower, 100 * upper, color=line["color"], alpha=0.18, linewidth=0)
        ax.plot(at, 100 * expected, label=name, **line)
    ax.set_ylim(-2, 102)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("step")
    ax.set_ylabel("value (%)")
    style.legend_above(ax)
