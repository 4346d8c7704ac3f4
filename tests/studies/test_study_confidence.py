"""The toy and the confidence study: what they compute, beside plain code, and what they leave to look at."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data import data_file
from matplotlib import pyplot
from matplotlib.figure import Figure

from deadheat.analyses import confidence as measures
from deadheat.plots import confidence as plots
from deadheat.studies import _densities, _real_confidence, confidence, toy
from deadheat.studies.study import Mark, Outcome, Setting
from deadheat.support.triple import Triple


@pytest.fixture
def ax() -> Iterator[Any]:
    figure = Figure()
    yield figure.subplots()
    figure.savefig(BytesIO())  # it can be drawn


def finding(outcome: Outcome, start: str) -> Any:
    (found,) = [one for one in outcome.findings if one.what.startswith(start)]
    return found


# ---------------------------------------------------------------------------------------------------------------------
# toy


@pytest.mark.parametrize("wider", [False, True])
@pytest.mark.parametrize("example", [1, 2, 3])
def test_points_lie_in_their_stripes(example: int, wider: bool) -> None:
    points, labels = toy.draw(example, seed=1, n=400, wider=wider)
    stripes = (toy.WIDER if wider else toy.STRIPES)[example]
    inside = [int(((points[:, 0] >= low) & (points[:, 0] <= high)).sum()) for low, high in stripes]
    assert inside == [400 // len(stripes)] * len(stripes)
    assert np.bincount(labels).tolist() == [200, 200]
    assert ((points[:, 0] > 0) == labels).all()
    assert ((points[:, 1] >= 0) & (points[:, 1] <= 1)).all()


def test_study_s_code_differs_from_the_definition_by_the_query() -> None:
    drawn = toy.draw(2, seed=0, n=100)
    report, later, first = toy.measured(drawn), toy.as_published(drawn), toy.as_first_published(drawn)
    assert later.r_precision == pytest.approx(report["R-Precision"].expected * 49 / 50, rel=1e-13)
    assert later.map_at_r == pytest.approx(report["MAP@R"].expected, rel=1e-13)
    assert (later.recall_at_1, later.recall_at_10) == (report["Hit@1"].expected, report["Hit@10"].expected)
    assert first.recall_at_1 == 1.0
    assert first.recall_at_10 < later.recall_at_10
    ours = toy.hits_by_sorting(drawn)
    assert ours[:, 0].all()  # every point is its own nearest
    assert ours.sum(axis=1).tolist() == [50] * 100


def test_toy_study() -> None:
    outcome = toy.run(Setting(None, Path(), quick=True))
    assert finding(outcome, "draws in which MAP@R").here == "3 of 3"
    assert finding(outcome, "draws in which MAP@R").mark is Mark.AGREES
    assert finding(outcome, "mixed tie groups").here == "0"
    assert finding(outcome, "example 3: MAP@R").mark is Mark.AGREES
    assert "99.50 %" in finding(outcome, "example 3: R-Precision").why
    assert finding(outcome, "values printed").mark is Mark.NO_DATA
    measured, versions = outcome.tables
    assert [row[:2] for row in measured.rows] == [[e, name] for e in (1, 2, 3) for name in toy.MEASURES]
    assert len(versions.rows) == 12
    text = outcome.pictures[0].figure.axes[0].get_xlabel()
    assert [line.split()[0] for line in text.splitlines()] == list(toy.MEASURES)


# ---------------------------------------------------------------------------------------------------------------------
# confidence


def test_flipped_points() -> None:
    flipped = confidence.flip(seed=2, n=2000)
    assert 90 <= flipped.flipped.sum() <= 100
    np.testing.assert_array_equal(flipped.labels != (flipped.points[:, 0] > 0), flipped.flipped)
    centre = 1 - 1 / (0.5 * np.sqrt(2 * np.pi))
    assert (flipped.original >= centre).all()
    moved = flipped.moved(0.3, 100)
    np.testing.assert_array_equal(moved[flipped.flipped], 0.3 * 100)
    np.testing.assert_array_equal(moved[~flipped.flipped], 100 * flipped.original[~flipped.flipped])


def test_a_sort_gives_some_number_between_the_bounds() -> None:
    hit, sure = np.array([1.0, 0, 1, 0]), np.array([0.5, 0.5, 0.5, 0.1])
    area = measures.error_reject_curve(hit, sure).area
    best_first, worst_first = np.array([0, 2, 1, 3]), np.array([1, 0, 2, 3])
    assert confidence.by_a_sort(hit[best_first], sure[best_first]) == pytest.approx(area.lower)
    assert confidence.by_a_sort(hit[worst_first], sure[worst_first]) == pytest.approx(area.upper)
    assert area.lower < area.expected < area.upper


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return confidence.run(Setting(None, Path(), quick=True))


def test_confidence_study(outcome: Outcome) -> None:
    for start in ("draws in which confidence", "draws in which the error-reject area by Hit@1"):
        assert finding(outcome, start).mark is Mark.AGREES
        assert finding(outcome, start).here == "2 of 2"
    assert finding(outcome, "steps at which").here == "20 of 20"
    assert finding(outcome, "steps at which").mark is Mark.DIFFERS
    assert finding(outcome, "confidence against Recall@1: largest distance").here == "0.00 points"
    assert float(finding(outcome, "error-reject area by Hit@1: largest distance").here.split()[0]) > 0.1
    assert finding(outcome, "George Washington").mark is Mark.NO_DATA
    assert [picture.name for picture in outcome.pictures] == [
        "points", "moved", "curves", "correlation", "digits", "reliability", "density"
    ]  # fmt: skip
    table = outcome.tables[0]
    rows = np.array(table.rows, dtype=float)
    assert rows.shape == (20, 14)
    for name in ("ERC by Hit@1", "ERC by MAP@R"):
        lower, expected, upper = (
            rows[:, table.columns.index(f"{name}: {end}")] for end in ("lower", "expected", "upper")
        )
        assert (lower < expected).all()
        assert (expected < upper).all()


def test_rising_curves_are_noticed() -> None:
    draw = confidence.experiment(0, 200)
    turned = draw._replace(steps=draw.steps[::-1])
    assert [one.mark for one in confidence._shapes([draw, turned])] == [Mark.DIFFERS] * 3
    assert [one.here for one in confidence._shapes([draw, turned])] == ["1 of 2"] * 3


def test_densities_have_known_regions() -> None:
    found = _densities.densities(quick=True)
    assert [one.mark for one in found.findings] == [Mark.AGREES] * 4
    assert len(found.tables[0].rows) == 6


def test_george_washington() -> None:
    folder = Path(data_file("phocnet_gw.npz")).parent
    found = _real_confidence.run(Setting(folder, Path(), quick=True))
    assert [picture.name for picture in found.pictures] == ["digits", "washington", "reliability"]
    (row,) = [row for row in found.tables[0].rows if row[:3] == ["washington", "norm", "Hit@1"]]
    assert row[found.tables[0].columns.index("queries")] == 899


# ---------------------------------------------------------------------------------------------------------------------
# plots


def test_reject_curves_show_what_ties_leave_open(ax: Any) -> None:
    tied = measures.error_reject_curve([1, 0, 1, 0], [3, 2, 2, 1])
    assert plots.error_reject(tied, ax=ax, label="model") is ax
    assert ax.get_legend_handles_labels()[1] == ["random order", "perfect order", "model", "model: ties"]
    (line,) = [line for line in ax.get_lines() if line.get_label() == "model"]
    np.testing.assert_array_equal(line.get_xdata(), [0.75, 0.5, 0.25, 0])
    np.testing.assert_array_equal(line.get_ydata(), tied.expected)
    apart = measures.error_reject_curve([1, 0], [2, 1])
    plots.risk_coverage(apart, ax=ax, label="other", number=1, references=False)
    assert ax.get_legend_handles_labels()[1][2:] == ["model", "model: ties", "other"]  # no band where nothing is open
    assert ax.get_xlabel() == "kept queries (coverage) (%)"


def test_open_values_have_two_references(ax: Any) -> None:
    values = Triple(np.zeros(2), np.full(2, np.nan), np.ones(2))
    plots.error_reject(measures.error_reject_curve(values, [2, 1]), ax=ax)
    assert len(ax.get_lines()) == 5


def test_other_plots(ax: Any) -> None:
    found = measures.calibration([0, 1, 1], [0.1, 0.9, 0.95], bins=2)
    points = plots.reliability(found, ax=ax).collections[-1]
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([found.confidence, found.right.expected]))
    assert points.get_sizes()[0] < points.get_sizes()[1]
    figure = Figure()
    scatter, line, correlation, density = figure.subplots(1, 4)
    plots.labelled_points([[0, 0], [1, 1], [2, 2]], ["a", "b", "a"], confidence=[1, 5, 3], marked=[0, 1, 0], ax=scatter)
    assert scatter.get_legend_handles_labels()[1] == ["class a", "class b", "flipped label"]
    opacity = [collection.get_alpha() for collection in scatter.collections[:2]]
    assert opacity[0][0] < opacity[0][1] < opacity[1][0]
    plots.against_confidence([0, 1], [Triple(0, 0.5, 1)] * 2, ax=line, label="area")
    assert line.get_lines()[0].get_ydata().tolist() == [0.5, 0.5]
    plots.correlations([0, 1], [measures.rank_correlation([1, 2, 3], [1, 3, 2])] * 2, ax=correlation, average=0.5)
    assert [one.get_label() for one in correlation.get_lines()] == [
        "Spearman's rho", "Kendall's tau-b", "their average before"
    ]  # fmt: skip
    x, height = [0.0, 1, 2], [0.0, 1, 0]
    region = measures.highest_density_interval(x, 0.75, density=height)
    plots.highest_density(region, density=(x, height), samples=[0.5, 1.0, 1.5], ax=density)
    assert "75.0 % interval" in density.get_legend_handles_labels()[1]
    figure.savefig(BytesIO())


def test_plots_make_axes_of_their_own() -> None:
    made = plots.error_reject(measures.error_reject_curve([1, 0], [2, 1]))
    assert made.figure is not None
    pyplot.close(made.figure)
