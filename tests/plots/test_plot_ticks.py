"""Numbers on logarithmic axes that do not touch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

from deadheat.plots import ticks

PLACES = [[10, 11, 12, 50, 90, 100, 1000, 1100], [63, 504, 508, 1008, 2016], [7], [0.001, 30000], [12, 19], [1, 1e12]]


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("inches", [2.0, 5.0, 9.0])
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_numbers_do_not_touch(inches: float, places: list[float], which: str, given: bool) -> None:
    figure = Figure((inches, inches), layout="constrained")
    ax = figure.subplots()
    ax.plot(places, places, "o")
    ticks.log_axis(ax, which, [places[:1], places] if given else None)  # type: ignore[arg-type]
    figure.draw_without_rendering()
    axis = ax.xaxis if which == "x" else ax.yaxis
    boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
    spans = sorted((box.x0, box.x1) if which == "x" else (box.y0, box.y1) for box in boxes)
    assert all(left[1] < right[0] for left, right in pairwise(spans))
    assert len(spans) >= min(2, len(places))
    found = {float(tick) for tick in axis.get_majorticklocs()}
    if given:
        assert {min(places), max(places)} <= found <= set(places)
    assert np.isfinite(list(found)).all()
