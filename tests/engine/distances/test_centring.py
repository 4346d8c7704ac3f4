"""Rows less what they have in common: nothing is lost, and directions err by no more than they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rationals import root

import deadheat as dh
from deadheat.engine.distances import bounds, scaling
from deadheat.inputs.source import Array


def source(rows):
    return Array(np.ascontiguousarray(rows))


def near_one_point(rng, n=40, d=7, dtype=np.float64, spread=1e-6):
    return (rng.standard_normal(d) + spread * rng.standard_normal((n, d))).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1e-6, 1e-3, 1e-12])
def test_nothing_is_lost_when_the_centre_is_taken_off(dtype, spread):
    rows = source(near_one_point(np.random.default_rng(1), dtype=dtype, spread=spread))
    centre = scaling.common_centre(rows, rows)
    assert centre is not None
    left = scaling.less(rows, centre).read(0, len(rows))
    assert left.dtype == dtype
    for row, rest in zip(rows.array.tolist(), left.tolist(), strict=True):
        assert [Fraction(x) - Fraction(c) for x, c in zip(row, centre.tolist(), strict=True)] == list(
            map(Fraction, rest)
        )


@pytest.mark.parametrize("exponent", [-900, -560, 500, 900])
def test_rows_near_one_point_may_be_of_any_size(exponent):
    """Squares of such rows may overflow, or underflow."""
    rows, labels = near_one_point(np.random.default_rng(2)), np.arange(40) % 5
    assert dh.profile(np.ldexp(rows, exponent), labels).digest() == dh.profile(rows, labels).digest()


def test_what_is_spread_has_no_centre():
    rng = np.random.default_rng(2)
    for rows in (rng.standard_normal((30, 5)), rng.random((30, 5)), np.zeros((3, 4)), np.array([[1e308], [-1e308]])):
        assert scaling.common_centre(source(rows), source(rows)) is None


def test_a_feature_that_changes_its_sign_keeps_its_numbers():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((30, 3))
    rows[:, 0] += 1e6
    centre = scaling.common_centre(source(rows), source(rows))
    assert centre is not None
    assert centre[0] > 9e5
    assert centre[1:].tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["collapsed", "along", "one feature", "float32"])
def test_tangents_err_by_a_part_of_their_spread(kind):
    rng = np.random.default_rng(4)
    rows = near_one_point(rng, n=12)
    if kind == "along":  # multiples of one row, but for little
        rows = rows[:1] * (1 + 0.01 * rng.random((12, 1))) * (1 + 1e-13 * rng.standard_normal((12, 7)))
    elif kind == "one feature":  # a time stamp
        rows = np.concatenate([rng.standard_normal((12, 6)), 1.7e9 + 3e7 * rng.random((12, 1))], axis=1)
    elif kind == "float32":
        rows = rows.astype(np.float32)
    centre = scaling.common_centre(source(rows), source(rows))
    assert centre is not None
    tangents, spread = scaling.tangents(source(rows), centre)
    bound = Fraction(bounds.of_tangent(rows.shape[1]))
    c = [Fraction(x) for x in centre.tolist()]
    of_centre = root(sum(x * x for x in c))
    for row, found, s in zip(rows.tolist(), tangents.read(0, 12).tolist(), spread.tolist(), strict=True):
        x = [Fraction(value) for value in row]
        length = root(sum(value * value for value in x))
        true = [a / length - b / of_centre for a, b in zip(x, c, strict=True)]
        error = root(sum((a - Fraction(b)) ** 2 for a, b in zip(true, found, strict=True)))
        assert error <= bound * Fraction(s)
        assert root(sum(value * value for value in true)) <= Fraction(s)
