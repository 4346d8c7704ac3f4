"""The namespace of the plots, new axes, and numbers on logarithmic axes that do not touch."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import deadheat as dh
from deadheat.plots import style

POINTS = np.random.default_rng(5).normal(size=(12, 4))
LABELS = np.arange(12) % 5


def test_every_plot_is_a_function_of_the_package() -> None:
    for name in dh.plots.__all__:
        value = getattr(dh.plots, name)
        assert inspect.getdoc(value), name
        assert name == "Band" or inspect.isfunction(value), name  # and not a module of that name
    described = dh.plots.__doc__ or ""
    assert [name for name in dh.plots.__all__ if name not in described] == []
    tree = ast.walk(ast.parse(inspect.getsource(dh.plots)))  # type checkers and the pages read these imports
    imported = {name.name for each in tree if isinstance(each, ast.ImportFrom) for name in each.names}
    assert set(dh.plots.__all__) <= imported


def test_without_matplotlib_the_package_says_what_to_install() -> None:
    program = "import sys; sys.modules['matplotlib'] = None; import deadheat as dh; dh.html_report; dh.plots.bounds"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "deadheat.plots needs matplotlib: pip install 'deadheat[plots]'" in done.stderr
    assert "dh.html_report" not in done.stderr.replace(program, "")  # which does without


def test_what_is_drawn_in_ink_is_seen_on_dark_paper() -> None:
    report = dh.evaluate(POINTS, LABELS, measures="mAP")
    for paper, sign in (("white", 1), ("black", -1)):
        with pyplot.rc_context({"axes.facecolor": paper}):
            ink = dh.plots.bounds(report, ax=Figure().subplots()).lines[0].get_color()
            contrast = sum(to_rgb(paper)) - sum(to_rgb(ink))  # type: ignore[arg-type]
        assert sign * contrast > 2


PLACES = [[10, 11, 12, 50, 90, 100, 1000, 1100], [7], [0.001, 30000], [12, 19], [1, 1e12]]


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("inches", [2.0, 9.0])
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_numbers_do_not_touch(inches: float, places: list[float], which: str, given: bool) -> None:
    figure = Figure((inches, inches), layout="constrained")
    ax = figure.subplots()
    ax.plot(places, places, "o")
    style.log_axis(ax, which, [places[:1], places] if given else None)  # type: ignore[arg-type]
    figure.draw_without_rendering()
    axis = ax.xaxis if which == "x" else ax.yaxis
    boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
    spans = sorted((box.x0, box.x1) if which == "x" else (box.y0, box.y1) for box in boxes)
    assert all(left[1] < right[0] for left, right in pairwise(spans))
    assert len(spans) >= min(2, len(places))
    result = {float(tick) for tick in axis.get_majorticklocs()}
    if given:
        assert {min(places), max(places)} <= result <= set(places)
    assert np.isfinite(list(result)).all()
