"""The toy and the confidence study: what they compute, and plain code for the same."""

from __future__ import annotations

import numpy as np
import pytest

from deadheat.analyses import confidence as measures
from reproduce import confidence, confidence_data, toy
from reproduce.study import Mark
from reproduce.tests import printed

# ---------------------------------------------------------------------------------------------------------------------
# toy


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


def test_every_draw_is_counted() -> None:
    values = {example: np.full((20, 4), 0.1 * example) for example in (1, 2, 3)}
    few = {example: table[:2] for example, table in values.items()}
    wrong = {example: table.copy() for example, table in values.items()}
    wrong[2][7] = 0.05
    for drawn, here, mark in (
        (values, "20 of 20", Mark.AGREES), (wrong, "19 of 20", Mark.DIFFERS), (few, "2 of 2", Mark.TOO_FEW)
    ):  # fmt: skip
        assert (toy._shapes(drawn)[0].here, toy._shapes(drawn)[0].mark) == (here, mark)


def test_points_are_those_of_pytorch_s_generator() -> None:
    torch = pytest.importorskip("torch")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(toy.SEED)
        bounds = [(0.0, 1.0, 700), (-1.0, -2 / 3, 500), (0.0, 2000.0, 100)]
        theirs = [torch.distributions.Uniform(low, high).sample((n, 1)).numpy().ravel() for low, high, n in bounds]
    twister = np.random.RandomState(toy.SEED)
    for given, numbers in zip(bounds, theirs, strict=True):
        np.testing.assert_array_equal(toy.uniform(twister, *given), numbers)


def test_titles_of_the_figures_come_out_of_the_study_s_own_points() -> None:
    result = [one for one in printed.run("toy").findings if "own points and code" in one.what]
    assert [one.mark for one in result] == [Mark.AGREES] * 3
    assert [toy._printed(example, [0.5] * 3, [0.5] * 3).mark for example in toy.TITLES] == [Mark.DIFFERS] * 3


# ---------------------------------------------------------------------------------------------------------------------
# confidence


def test_flipped_points_are_those_of_the_study() -> None:
    (points, average), (others, other) = confidence.drawn_there(False), confidence.drawn_there(True)
    assert (average, other) == (confidence.RANK_CORRELATION_PEAK, confidence.RANK_CORRELATION_AVERAGE)
    for data in (points, others, confidence.flip(seed=2, n=2000)):
        assert data.points.shape == (2000, 2)
        assert 90 <= data.flipped.sum() <= 100
        np.testing.assert_array_equal(data.labels != (data.points[:, 0] > 0), data.flipped)
        moved = data.moved(0.3, 100)
        np.testing.assert_array_equal(moved, np.where(data.flipped, 0.3 * 100, 100 * data.original))


def test_accuracy_over_the_roc_curve_has_two_values() -> None:
    """By hand: at the thresholds inf, 4, 3, 2, 1 the guess holds for 1, 2, 3, 4 and 3 of four; 3 is dropped."""
    hit, sure = np.array([1.0, 1, 1, 0]), np.array([4.0, 3, 2, 1])
    assert confidence.accuracy_over_roc(hit, sure, drop_intermediate=False) == pytest.approx((1 + 2 + 3 + 4 + 3) / 20)
    assert confidence.accuracy_over_roc(hit, sure, drop_intermediate=True) == pytest.approx((1 + 2 + 4 + 3) / 16)
    draw = confidence.measured(confidence.flip(0, 200))
    hit, moved = draw.hit.expected, draw.data.moved(0.5)
    for drop, name in ((False, "confidence against Recall@1"), (True, "by scikit-learn's default")):
        value = np.atleast_2d(draw.steps[name].T)[-1][9]
        assert value == pytest.approx(confidence.accuracy_over_roc(hit, moved, drop_intermediate=drop), abs=1e-12)
    assert (draw.steps["confidence against Recall@1"][:, 1] != draw.steps["by scikit-learn's default"]).all()


def test_a_sort_gives_some_number_between_the_bounds() -> None:
    hit, sure = np.array([1.0, 0, 1, 0]), np.array([0.5, 0.5, 0.5, 0.1])
    area = measures.error_reject_curve(hit, sure).area
    best_first, worst_first = np.array([0, 2, 1, 3]), np.array([1, 0, 2, 3])
    assert confidence.by_a_sort(hit[best_first], sure[best_first]) == pytest.approx(area.lower)
    assert confidence.by_a_sort(hit[worst_first], sure[worst_first]) == pytest.approx(area.upper)
    assert area.lower < area.expected < area.upper


def test_a_curve_that_goes_the_other_way_in_one_draw_is_noticed() -> None:
    draw = confidence.measured(confidence.flip(0, 200))
    both = {name: np.stack([values, values[::-1]]) for name, values in draw.steps.items()}
    assert [(one.here, one.mark) for one in confidence._shapes(both)] == [("1 of 2", Mark.DIFFERS)] * 3
    for n_draw, mark in ((2, Mark.TOO_FEW), (20, Mark.AGREES)):
        same = {name: np.stack([values] * n_draw) for name, values in draw.steps.items()}
        assert [one.mark for one in confidence._shapes(same)] == [mark] * 3


def test_densities_have_known_regions() -> None:
    """Of the gamma distribution with shape 3: both ends have one density, and 95 % lies between them."""
    from scipy.stats import gamma

    (table,) = (table for table in printed.run("confidence").tables if table.name == "density")
    low, high = table.rows[0][4:6]
    assert gamma(3).pdf(low) == pytest.approx(gamma(3).pdf(high), rel=1e-9)
    assert gamma(3).cdf(high) - gamma(3).cdf(low) == pytest.approx(0.95, abs=1e-9)


# ---------------------------------------------------------------------------------------------------------------------
# σ-targets and credible regions


def test_damage_of_images() -> None:
    images = np.random.default_rng(0).random((3, 64))
    for damage in confidence_data.DAMAGES:
        whole, *damaged = (damage.change(images, level) for level in damage.levels)
        np.testing.assert_array_equal(whole, images)
        assert all(one.shape == images.shape for one in damaged)
    window = confidence_data.cropped(np.ones((1, 64)), 4).reshape(8, 8)
    np.testing.assert_array_equal(window, np.pad(np.ones((4, 4)), 2))
    deviations = [confidence_data.blurred(images, deviation).std() for deviation in (0, 0.5, 1, 2)]
    assert deviations == sorted(deviations, reverse=True)
    own = confidence_data._damaged(images, confidence_data.DAMAGES[1], np.array([0, 4, 2]))
    np.testing.assert_array_equal(own[1], confidence_data.cropped(images, 4)[1])


def test_regions_hold_the_instance_and_not_the_class() -> None:
    result = confidence_data._found(confidence_data.halves(quick=True))
    instance, other, normal = result.values()
    np.testing.assert_allclose(instance.relevant.expected, instance.masses, atol=0.1)  # draws of one distribution
    assert (other.relevant.upper < instance.relevant.expected).all()
    assert (normal.others.upper < normal.relevant.lower).all()
