"""Options that are absurd, or that could only be ignored: one line, before any work and without a large array."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import deadheat as dh
from deadheat.analyses.collisions import collisions_of_distances
from deadheat.analyses.confidence import calibration, highest_density_interval
from deadheat.cli.main import main
from deadheat.errors import InputError

ROWS, LABELS = np.arange(8.0).reshape(4, 2) ** 2, [0, 1, 0, 1]
HUGE = 10**400  # which no float holds
LONG = pytest.param(10**5000, id="long")  # which Python does not even print


def refusal(function: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


@pytest.mark.parametrize("depth", [10**9, 10**30, LONG])
def test_a_depth_that_memory_has_no_room_for(depth: int) -> None:
    many = np.ones((50, 2)), np.zeros(50, dtype=int)
    for function, given in ((dh.collisions, many), (collisions_of_distances, (np.eye(50), np.eye(50, dtype=bool)))):
        assert refusal(function, *given, depth=depth).startswith("depth must be so small that the result fits in memor")
    counted = dh.collisions(*many, depth=depth, distance=["euclidean"])  # which has no matrices
    assert counted["euclidean"] == dh.collisions(*many, distance=["euclidean"])["euclidean"]


@pytest.mark.parametrize("eps", [HUGE, -HUGE, LONG, float("nan"), float("inf"), -1])
def test_a_tolerance_is_a_float(eps: Any) -> None:
    assert refusal(dh.Tolerance, eps).startswith("eps must be finite and not negative, but is ")
    assert refusal(dh.collisions, ROWS, LABELS, within=eps).startswith("within must be finite and not negative, but is")


@pytest.mark.parametrize("bins", [10**9, 10**30, LONG, 10_001])
def test_bins_are_few(bins: int) -> None:
    assert refusal(calibration, [0, 1], [0.1, 0.9], bins=bins).startswith("bins must be at most 10000, but is ")


def test_measures_are_names() -> None:
    report = dh.evaluate(ROWS, LABELS)
    for function, given in (
        (dh.evaluate, (ROWS, LABELS)),
        (dh.measure, (report.profile,)),
        (dh.compare, (report, report)),
    ):
        assert refusal(function, *given, measures=3).startswith("measures must be names, such as ")
    assert refusal(dh.grouped, ROWS, LABELS, group_size=2, measures=3).startswith("measures must be names, such as ")


def test_a_probability_is_a_number_between_0_and_1() -> None:
    for chance in (HUGE, -HUGE, 0, 1, float("nan"), True, "0.5"):
        assert refusal(highest_density_interval, [1.0, 2.0], chance).startswith("probability must ")


def test_a_density_shows_its_modes() -> None:
    message = refusal(highest_density_interval, [0, 1, 2], density=[0, 1, 0], multimodal=True)
    assert message == "multimodal must be left out where a density is given, which shows its modes"


@pytest.mark.parametrize("multimodal", [False, True])
@pytest.mark.parametrize("factor", [2.0**1015, 2.0**500, 2.0**-1000])
def test_a_region_has_the_scale_of_its_samples(factor: float, multimodal: bool) -> None:
    """Sums of large floats overflow, and squares of small ones vanish; no interval may end at infinity for that."""
    samples = np.random.default_rng(0).standard_normal(200)
    usual = highest_density_interval(samples, 0.8, multimodal=multimodal)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = highest_density_interval(samples * factor, 0.8, multimodal=multimodal)
    assert found.probability == usual.probability
    assert_allclose(found.intervals / factor, usual.intervals, rtol=1e-9)
    assert_allclose(found.mode / factor, usual.mode, rtol=1e-9)


def test_regions_of_short_floats_and_of_integers_do_not_overflow() -> None:
    for values in (np.array([60000, 60000, 59000], np.float16), np.array([3e38, 3e38, 2.9e38], np.float32)):
        found = highest_density_interval(values, 0.5)
        assert np.isfinite(found.intervals).all()
        assert values[2] <= found.mode <= values[0]
    assert highest_density_interval(np.array([100, 100, 90], np.int8), 0.5).mode == 100
    odd = np.array([2**53 + 1, 1])
    assert refusal(highest_density_interval, odd).startswith("values must hold integers up to 2^53 in size")


def test_a_density_of_any_height_and_place() -> None:
    usual = highest_density_interval([0, 1, 2], 0.75, density=[0, 1, 0])
    for place in (1e300, 8e307, 1e-300):
        for height in (1.7e308, 5e-324):
            found = highest_density_interval([0, place, 2 * place], 0.75, density=[0, height, 0])
            assert_allclose(found.intervals / place, usual.intervals, rtol=1e-12)
            assert_allclose([found.mode, found.probability], [place, usual.probability], rtol=1e-12)


def test_names_of_studies_beside_list_are_not_ignored() -> None:
    result = CliRunner().invoke(main, ["reproduce", "--list", "grouped"])
    assert result.exit_code == 2
    assert "--list goes without NAMEs, but got grouped" in result.stderr
