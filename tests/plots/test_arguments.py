"""Arguments of plots are checked: one line that names the argument, whatever comes."""

from __future__ import annotations

import inspect
import time
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from plots.calls import examples
from plots.drawn import words

import deadheat as dh
from deadheat import plots

REPORT = dh.evaluate([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], measures="mAP", distance="l2")
BOARD = dh.leaderboard({"a": REPORT, "b": REPORT})
RESULTS = {
    "calibration", "collisions", "comparison", "curve", "curves", "difference", "exploits", "figure", "profiles",
    "report", "reports", "result", "results", "sliced",
}  # fmt: skip
JUNK = [3, None, "mAP", [], [REPORT], {"a": 3}, {}, {1: None}, object(), np.zeros(3), BOARD, dh.compare(REPORT, REPORT)]


def fails(name: str, given: Any, **settings: Any) -> str:
    with pytest.raises((TypeError, ValueError)) as result:
        getattr(plots, name)(given, **settings)
    assert isinstance(result.value, dh.errors.InputError), repr(result.value)
    return str(result.value)


@pytest.mark.parametrize("name", plots.__all__)
def test_anything_else_than_a_result_is_refused_by_name(name: str) -> None:
    for given in JUNK:
        message = fails(name, given)
        assert " must " in message
        assert message.split()[0] in RESULTS
        assert "\n" not in message
    assert not pyplot.get_fignums()  # no figure is left behind


@pytest.mark.parametrize("name", sorted({*plots.__all__} - {"collision_legend"}))
def test_axes_are_checked(name: str) -> None:
    pyplot.switch_backend("agg")
    for ax in (3, "ax", Figure(), np.array([Figure().subplots()])):
        with pytest.raises(TypeError, match=r"^ax must be Matplotlib axes, but is of type [A-Za-z]+$"):
            examples()[name](ax)


def test_the_reports_of_a_leaderboard_are_named() -> None:
    expected = (
        "reports must be of type Report, or map names to type Report, but is of type Leaderboard; draw its reports"
    )
    assert fails("bounds", BOARD) == expected
    assert fails("bounds", {}) == "reports must hold at least one report, but is empty"
    assert plots.bounds(BOARD.reports, ax=Figure().subplots()) is not None


def test_names_may_be_numbers() -> None:
    ax = plots.cmc({64: REPORT, 128: REPORT}, ax=Figure().subplots())
    assert words(ax)[:2] == ["64", "128"]


@pytest.mark.parametrize("name", ["cmc", "precision_at_k", "recall_at_k"])
def test_a_cutoff_of_any_size_takes_no_time(name: str) -> None:
    start = time.perf_counter()
    ax = getattr(plots, name)(REPORT, k=2**31, ax=Figure().subplots())
    assert ax.lines[0].get_xdata()[-1] == 2**31
    assert len(ax.lines[0].get_xdata()) <= 102
    assert "at most" in fails(name, REPORT, k=2**60)
    assert "holds more" in fails(name, REPORT, k=range(1, 2**60))
    assert "holds none" in fails(name, REPORT, k=[])
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("name", "settings"),
    [("bounds", {"sorts": 3}), ("bounds", {"sorts": {"mAP": ["x"]}}), ("bounds", {"measures": 3}),
     ("per_class", {"n": 0}), ("caterpillar", {"measure": 3}), ("cmc", {"k": "ten"})],
)  # fmt: skip
def test_other_arguments_are_checked(name: str, settings: dict[str, Any]) -> None:
    fails(name, dh.evaluate([[0.0], [1.0], [3.0]], [0, 1, 0], measures="mAP"), **settings)


@pytest.mark.parametrize("name", ["error_reject", "risk_coverage", "reliability", "credible_recall", "collision_image"])
def test_flags_and_numbers_are_checked(name: str) -> None:
    draw = examples()[name]
    for setting, given in (("legend", "no"), ("references", 0), ("others", None), ("number", -1), ("label", 3)):
        if setting in inspect.signature(inspect.unwrap(getattr(plots, name))).parameters:
            with pytest.raises((TypeError, ValueError), match=rf"^{setting} must be"):
                draw(Figure().subplots(), **{setting: given})
