"""Plots of single queries, of classes, and of hits down the ranking."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

import deadheat as dh

RNG = np.random.default_rng(1)
LABELS = np.array(list("aaabbbbccccc")[::-1])
TIED = dh.evaluate(RNG.integers(0, 3, (12, 2)), LABELS, distance="l1")
APART = dh.evaluate(RNG.normal(size=(12, 2)), LABELS, distance="l1")


@pytest.fixture
def ax() -> Axes:
    return Figure(layout="constrained").subplots()


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[union-attr]


def test_cmc_is_hit_at_k_with_its_bounds(ax: Axes) -> None:
    dh.plots.cmc({"tied": TIED, "apart": APART}, k=4, ax=ax)
    assert_array_equal(ax.lines[0].get_ydata(), [100 * TIED[f"Hit@{k}"].expected for k in (1, 2, 3, 4)])
    assert_array_equal(ax.lines[1].get_xdata(), [1, 2, 3, 4])
    assert words(ax) == ["tied: ties", "tied", "apart"] or words(ax) == ["tied", "apart", "tied: ties"]
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices
    for k in (1, 2, 3, 4):
        ends = corners[corners[:, 0] == k][:, 1]  # type: ignore[index]
        assert_array_equal([ends.min(), ends.max()], [100 * TIED[f"Hit@{k}"].lower, 100 * TIED[f"Hit@{k}"].upper])
    assert dh.plots.cmc(APART, k=[5, 1, 5], ax=Figure().subplots()).lines[0].get_xdata().tolist() == [1, 5]  # type: ignore[union-attr]


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), ([1, 0], ValueError), (1.5, TypeError)])
def test_cmc_refuses(k: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^k must be "):
        dh.plots.cmc(TIED, k=k)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^reports must hold at least one report, but is empty$"):
        dh.plots.cmc({})


def test_classes_from_the_worst(ax: Axes) -> None:
    dh.plots.per_class(TIED, ax=ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    means = {name: [100 * end[name == LABELS].mean() for end in TIED["mAP"].per_query] for name in "abc"}
    assert names == sorted(means, key=lambda name: means[name][1])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [means[name][1] for name in names])
    assert [text.get_text() for text in ax.texts] == [str((name == LABELS).sum()) for name in names] + ["queries"]
    assert words(ax) == ["lower to upper: ties", "mean of the report", "mean of the class"]
    two = dh.plots.per_class(TIED, "Hit@1", n=2, ax=Figure().subplots())
    assert two.get_ylabel() == "the worst 2 of 3 classes"
    with pytest.raises(ValueError, match=r"^per_class needs the labels of the queries"):
        dh.plots.per_class(dh.measure(TIED.profile))


def test_a_class_without_a_value_is_left_out(ax: Axes) -> None:
    report = dh.evaluate([[0], [1], [5]], ["x", "x", "alone"], distance="l2")
    assert [label.get_text() for label in dh.plots.per_class(report, ax=ax).get_yticklabels()] == ["x"]


def test_queries_from_worst_to_best(ax: Axes) -> None:
    dh.plots.caterpillar(TIED, ax=ax)
    lower, expected, upper = (100 * end for end in TIED["mAP"].per_query)
    tied = lower < upper
    assert words(ax)[0] == f"ties decide ({tied.sum()})"
    shown = np.concatenate([line.get_xydata() for line in ax.lines if line.get_marker() == "o"])  # type: ignore[misc]
    assert_array_equal(shown[np.argsort(shown[:, 0]), 1], np.sort(expected))
    segments = [segment[:, 1].tolist() for segment in ax.collections[0].get_segments()]  # type: ignore[attr-defined]
    assert sorted(segments) == sorted([low, high] for low, high in zip(lower[tied], upper[tied], strict=True))


def test_a_tolerance_has_no_expected_value(ax: Axes) -> None:
    report = dh.evaluate([[0.0], [1.0], [2.1], [3.3]], [0, 1, 0, 1], distance="l2", ties=dh.Tolerance(0.2))
    assert np.isfinite(dh.plots.caterpillar(report, ax=ax).lines[0].get_ydata()).all()
    assert np.isfinite(dh.plots.cmc(report, k=2, ax=Figure().subplots()).lines[0].get_ydata()).all()
    assert np.isfinite([bar.get_width() for bar in dh.plots.per_class(report, ax=Figure().subplots()).patches]).all()
