"""Plots of bands: a measure against the number of classes, coverage, gaps and cost."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from deadheat import plots


def drawn() -> tuple[Figure, object]:
    figure = Figure(layout="constrained")
    return figure, figure.subplots()


def test_measure_against_classes_draws_lines_and_bands() -> None:
    figure, ax = drawn()
    bands = {
        "plain": plots.Band([100, 50], [0.2, 0.4], [0.1, 0.3], [0.3, 0.5]),
        "groups": plots.Band([50], [0.5], [np.nan], [np.nan]),
    }
    assert plots.measure_against_classes(bands, measure="mAP", truth=0.45, ax=ax) is ax
    assert ax.lines[0].get_xydata().tolist() == [[50, 40], [100, 20]]
    assert ax.lines[2].get_ydata()[0] == 45
    assert (ax.get_xscale(), ax.get_ylabel(), ax.get_ylim()) == ("log", "mAP (%)", (0, 100))
    assert (
        len({line.get_linestyle() for line in ax.lines[:2]}) == len({line.get_marker() for line in ax.lines[:2]}) == 2
    )
    assert ax.get_xticks().tolist() == [50, 100]
    figure.canvas.draw()


def test_coverage_draws_the_level_and_a_place_for_each_number() -> None:
    figure, ax = drawn()
    plots.interval_coverage({"z": plots.Band([5, 50], [0.9, 0.95], [0.88, 0.94], [0.92, 0.96])}, level=0.9, ax=ax)
    assert ax.lines[0].get_ydata() == [90, 90]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["5", "50"]
    assert ax.lines[1].get_ydata().tolist() == [90, 95]
    figure.canvas.draw()


def test_gaps_and_cost_are_drawn() -> None:
    figure, ax = drawn()
    plots.gap_histogram({"plain": [-0.1, -0.2], "groups": [0.01, 0.0]}, truth=0.0, ax=ax)
    assert sum(patch.get_height() for patch in ax.patches) == 4
    figure.canvas.draw()
    figure, ax = drawn()
    plots.processor_time({"plain": ([10, 100], [0.1, 10.0]), "groups": ([10, 100], [0.1, 1.0])}, ax=ax)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel()) == ("log", "log", "samples")
    assert ax.get_legend() is not None
    figure.canvas.draw()
