"""The toy and the confidence study: what they compute, beside plain code, and what they leave to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data import data_file
from matplotlib.figure import Figure

from deadheat.analyses import confidence as measures
from deadheat.studies import confidence, published, seeded, toy
from deadheat.studies.confidence import ambiguity, densities, experiment, pictures, real, regions, stand_in, there
from deadheat.studies.study import Mark, Outcome, Setting
from deadheat.support.triple import Triple


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
    measured, titles, versions = outcome.tables
    assert [row[:2] for row in measured.rows] == [[e, name] for e in (1, 2, 3) for name in toy.MEASURES]
    assert len(versions.rows) == 12
    printed = [row[2] for row in titles.rows]
    assert printed == [value / 100 for title in published.TOY_TITLES.values() for value in title]
    text = outcome.pictures[0].figure.axes[0].get_xlabel()
    assert [line.split()[0] for line in text.splitlines()] == list(toy.MEASURES)


def test_points_are_those_of_pytorch_s_generator() -> None:
    torch = pytest.importorskip("torch")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeded.SEED)
        bounds = [(0.0, 1.0, 700), (-1.0, -2 / 3, 500), (0.0, 2000.0, 100)]
        theirs = [torch.distributions.Uniform(low, high).sample((n, 1)).numpy().ravel() for low, high, n in bounds]
    ours = seeded.Uniform()
    for (low, high, n), numbers in zip(bounds, theirs, strict=True):
        np.testing.assert_array_equal(ours.draw(low, high, n), numbers)


def test_titles_of_the_figures_come_out_of_the_study_s_own_points() -> None:
    points = toy.drawn_there()
    assert [len(toy.labels) for toy in points.values()] == [2000] * 3
    titles = toy._titles(Setting(None, Path()))
    assert [one.mark for one in toy._printed(titles)] == [Mark.AGREES] * 3
    off = {example: (theirs._replace(map_at_r=0.5), ours) for example, (theirs, ours) in titles.items()}
    assert [one.mark for one in toy._printed(off)] == [Mark.DIFFERS] * 3


# ---------------------------------------------------------------------------------------------------------------------
# confidence


def test_printed_averages_come_out_of_the_study_s_own_points() -> None:
    (points, average), (others, other) = there.alone(), there.together()
    assert (average, other) == (published.RANK_CORRELATION_PEAK, published.RANK_CORRELATION_AVERAGE)
    for data in (points, others):
        assert data.points.shape == (2000, 2)
        assert 90 <= data.flipped.sum() <= 100
        np.testing.assert_array_equal(data.labels != (data.points[:, 0] > 0), data.flipped)


def test_accuracy_over_the_roc_curve_has_two_values() -> None:
    """By hand: at the thresholds inf, 4, 3, 2, 1 the guess holds for 1, 2, 3, 4 and 3 of four; 3 is dropped."""
    hit, sure = np.array([1.0, 1, 1, 0]), np.array([4.0, 3, 2, 1])
    assert experiment.accuracy_over_roc(hit, sure, drop_intermediate=False) == pytest.approx((1 + 2 + 3 + 4 + 3) / 20)
    assert experiment.accuracy_over_roc(hit, sure, drop_intermediate=True) == pytest.approx((1 + 2 + 4 + 3) / 16)
    draw = experiment.run(0, 200)
    for step in draw.steps:
        assert step.by_default != step.accuracy.mean_accuracy.expected
    moved = draw.data.moved(0.5)
    at = draw.steps[9].accuracy.mean_accuracy.expected
    assert at == pytest.approx(
        experiment.accuracy_over_roc(draw.hit.expected, moved, drop_intermediate=False), abs=1e-12
    )


def test_flipped_points() -> None:
    flipped = experiment.flip(seed=2, n=2000)
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
    assert experiment.by_a_sort(hit[best_first], sure[best_first]) == pytest.approx(area.lower)
    assert experiment.by_a_sort(hit[worst_first], sure[worst_first]) == pytest.approx(area.upper)
    assert area.lower < area.expected < area.upper


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return confidence.STUDY.run(Setting(None, Path(), quick=True))


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
        "points", "moved", "curves", "correlation", "digits", "reliability", "targets", "density", "regions"
    ]  # fmt: skip
    assert [finding(outcome, f"average of the original confidences times 12500, {run}").mark
            for run in ("tests/test_uncertainty.py alone", "all tests together")] == [Mark.AGREES] * 2  # fmt: skip
    right_end = [
        one for one in outcome.findings if one.what.startswith("error-reject area by Hit@1 at a confidence of")
    ]
    assert [one.mark for one in right_end] == [Mark.AGREES] * 2
    table = outcome.tables[0]
    rows = np.array(table.rows, dtype=float)
    assert rows.shape == (20, 15)
    for name in ("ERC by Hit@1", "ERC by MAP@R"):
        lower, expected, upper = (
            rows[:, table.columns.index(f"{name}: {end}")] for end in ("lower", "expected", "upper")
        )
        assert (lower < expected).all()
        assert (expected < upper).all()


def test_rising_curves_are_noticed() -> None:
    draw = experiment.run(0, 200)
    turned = draw._replace(steps=draw.steps[::-1])
    assert [one.mark for one in experiment.shapes([draw, turned])] == [Mark.DIFFERS] * 3
    assert [one.here for one in experiment.shapes([draw, turned])] == ["1 of 2"] * 3


def test_densities_have_known_regions() -> None:
    found = densities.run(Setting(None, Path(), quick=True))
    assert [one.mark for one in found.findings] == [Mark.AGREES] * 4
    assert len(found.tables[0].rows) == 6


def test_george_washington() -> None:
    folder = Path(data_file("phocnet_gw.npz")).parent
    found = real.run(Setting(folder, Path(), quick=True))
    assert [picture.name for picture in found.pictures] == ["digits", "washington", "reliability"]
    (row,) = [row for row in found.tables[0].rows if row[:3] == ["washington", "norm", "Hit@1"]]
    assert row[found.tables[0].columns.index("queries")] == 899


def test_curves_against_the_confidence_of_the_flipped() -> None:
    line, correlation = Figure().subplots(1, 2)
    pictures.against_confidence([0, 1], [Triple(0, 0.5, 1)] * 2, ax=line, label="area")
    assert line.get_lines()[0].get_ydata().tolist() == [0.5, 0.5]
    pictures.correlations([0, 1], [measures.rank_correlation([1, 2, 3], [1, 3, 2])] * 2, ax=correlation, average=0.5)
    assert [one.get_label() for one in correlation.get_lines()] == [
        "Spearman's rho", "Kendall's tau-b", "their average before"
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# σ-targets and credible regions


def test_damage_of_images() -> None:
    images = np.random.default_rng(0).random((3, 64))
    for damage in stand_in.DAMAGES:
        whole, *damaged = (damage.change(images, level) for level in damage.levels)
        np.testing.assert_array_equal(whole, images)
        assert all(one.shape == images.shape for one in damaged)
    window = stand_in.cropped(np.ones((1, 64)), 4).reshape(8, 8)
    assert window.sum() == 16
    assert window[2:6, 2:6].all()
    spread = [stand_in.blurred(images, deviation).std() for deviation in (0, 0.5, 1, 2)]
    assert spread == sorted(spread, reverse=True)
    own = ambiguity._damaged(images, stand_in.DAMAGES[1], np.array([0, 4, 2]))
    np.testing.assert_array_equal(own[1], stand_in.cropped(images, 4)[1])


def test_targets_tell_the_models_apart() -> None:
    found = ambiguity.run(Setting(None, Path(), quick=True))
    columns = found.tables[0].columns
    rows = {tuple(row[:3]): dict(zip(columns[3:], row[3:], strict=True)) for row in found.tables[0].rows}
    assert len(rows) == 8
    for row in rows.values():
        for name in ("rho", "tau"):
            lower, expected, upper = (row[f"{name}, ties broken: {end}"] for end in ("lower", "expected", "upper"))
            assert -1 <= lower < expected < upper <= 1
    level = "level of the damage"
    whole, damaged = (rows["blur", model, level]["Spearman's rho"] for model in ambiguity._MODELS)
    assert damaged < -0.4 < whole  # a model that has seen no blur does not notice it
    assert {one.mark for one in found.findings} == {Mark.OTHER_DATA}


def test_regions_hold_the_instance_and_not_the_class() -> None:
    found = regions._found(stand_in.halves(quick=True))
    instance, other, normal = found.values()
    lower, expected, upper = instance.relevant
    assert (lower < expected).all()
    assert (expected < upper).all()
    np.testing.assert_allclose(expected, instance.masses, atol=0.1)  # draws of one distribution
    assert (other.relevant.upper < expected).all()
    assert other.n_open == normal.n_open == 0
    assert (normal.others.upper < normal.relevant.lower).all()
    assert instance.n_open > 100
