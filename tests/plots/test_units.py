"""Pictures and pages of measures that are no fractions, or of which less is better."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import InputError
from deadheat.plots.pages import html_report

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(3)
LABELS = np.arange(30) // 5
A, B = (
    dh.evaluate(np.rint(scale * RNG.normal(size=(30, 3))), LABELS, measures="MnR, mAP, MdR", distance="euclidean")
    for scale in (1, 2)
)


def test_pictures_have_the_unit_of_the_measure() -> None:
    comparison = dh.compare(A, B, measures="MnR", names=("one", "two"))
    leader = "one" if A["MnR"].upper < B["MnR"].upper else "two"
    ax = dh.plots.bounds({"one": A, "two": B}, measures="MnR")
    assert ax.get_xlabel() == "MnR (ranks)"
    least = min(A["MnR"].upper, B["MnR"].upper)
    assert ax.get_title() == f"MnR: {leader} is first by the upper bound, {least:.2f} ranks"
    assert dh.plots.mean_intervals({"one": A, "two": B}, "MdR").get_xlabel() == "MdR (ranks)"
    assert dh.plots.per_class(A, "MnR").get_xlabel() == "MnR (ranks)"
    heights = [patch.get_height() for patch in dh.plots.differences(comparison["MnR"]).patches]
    assert sum(height < 0 for height in heights[: comparison["MnR"].n_wins_a]) == comparison["MnR"].n_wins_a
    assert dh.plots.caterpillar(A, "MnR").get_ylabel().endswith("(ranks)")
    with pytest.raises(InputError, match="measures must have one unit to be drawn on one axis"):
        dh.plots.bounds(A)


def test_a_page_has_the_unit_of_each_measure() -> None:
    page = html_report(A, B, names=("one", "two"))
    assert "MnR (ranks)" in page
    assert "mAP (%)" in page
    assert f"{A['MnR'].expected:.2f}" in page
    assert "<small>&thinsp;ranks</small>" in page
    assert f"By the upper bounds of MnR, {'one' if A['MnR'].upper < B['MnR'].upper else 'two'} (" in page
    assert "points of MnR" not in html_report(dh.evaluate(A.profile, "MdR"))


def test_slices_of_ranks_are_in_ranks() -> None:
    report = dh.evaluate([[0.0], [1.0], [1.0], [0.0]], [0, 0, 1, 1], measures="MnR", distance="euclidean")
    sliced = report.by_slice(["a", "a", "b", "b"])
    assert dh.plots.slices(sliced).get_xlabel() == "MnR (ranks)"
