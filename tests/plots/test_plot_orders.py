"""Plots of orders of the samples, and of what they are worth."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from deadheat import exploit
from deadheat.plots import order_ranges, sample_order


def test_an_order_is_drawn_as_one_bar_a_run() -> None:
    ax = Figure().subplots()
    sample_order(["a", "b", "a", "a", "b", "a"], [0, 2, 3, 1, 4, 5], ax=ax)
    bars = [(bar.get_x(), bar.get_width(), bar.get_y() + 0.4) for bar in ax.patches]
    assert bars == [(0.5, 3, 1), (3.5, 2, 2), (5.5, 1, 1)]
    with pytest.raises(ValueError, match=r"order must be a permutation of the 3 samples, but holds \[0, 0, 1\]"):
        sample_order([0, 0, 1], [0, 0, 1], ax=ax)


def test_ranges_are_drawn_between_the_bounds() -> None:
    tied = exploit(np.zeros((9, 1)), [0, 0, 0, 1, 1, 1, 2, 2, 2], draws=5)
    apart = exploit([[0], [1], [3], [7]], [0, 0, 1, 1], distance="euclidean", draws=2)
    ax = Figure().subplots()
    order_ranges({"tied": tied, "apart": apart}, ax=ax)
    (bar,) = ax.patches
    width = tied.bounds.upper - tied.bounds.lower
    assert bar.get_x() == pytest.approx(100 * (tied.lowest.value - tied.bounds.lower) / width)
    assert bar.get_width() == pytest.approx(100 * (tied.highest.value - tied.lowest.value) / width)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["tied", "apart"]
    low, high = 100 * tied.bounds.lower, 100 * tied.bounds.upper
    shown = {text.get_text() for text in ax.texts}
    assert {f"{low:.2f} to {high:.2f}", f"{100 * apart.as_given:.2f}"} <= shown
