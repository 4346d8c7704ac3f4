"""Sums that are rounded once, against `math.fsum`."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.support.means import exact_mean, exact_total


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats(0, 1),
            st.floats(2**-43, 1),
            st.floats(-(2**31), 2**31),
            st.integers(1, 2**60).map(lambda i: 1 / i),
            st.floats(allow_nan=False, allow_infinity=False, width=32),
            st.sampled_from([0.0, -0.0, 5e-324, 1.0, np.nextafter(1, 0), np.nextafter(1, 2), 2.0**-96, 2.0**-97]),
            st.sampled_from([-1.0, 2.0**30]),
        ),
        max_size=40,
    ),
    st.integers(0, 3),
)
def test_a_sum_is_rounded_once(values: list[float], n_missing: int) -> None:
    for some in (values, [value for value in values if 2**-43 <= abs(value) < 2**30]):
        array = np.array([math.nan] * n_missing + some, dtype=np.float64)
        assert exact_total(array) == (math.fsum(some), len(some))


def test_a_sum_that_lies_between_two_floats_is_rounded_to_even() -> None:
    for value in (1.0, np.nextafter(1, 0), 0.5 + 2.0**-52, 1 / 3):
        for part in (2.0**-53, 2.0**-54, 2.0**-55, 2.0**-93):
            values = [value, part, part, *[2.0**-96] * 3]
            for n in range(1, len(values) + 1):
                assert exact_total(np.array(values[:n])) == (math.fsum(values[:n]), n)


def test_a_mean_leaves_nan_out() -> None:
    assert exact_mean(np.array([math.nan, 0.1, 0.2, 0.3])) == math.fsum([0.1, 0.2, 0.3]) / 3
    assert math.isnan(exact_mean(np.array([math.nan])))
    assert math.isnan(exact_mean(np.array([])))
