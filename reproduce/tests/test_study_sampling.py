"""The studies of sampling and of the null hypothesis: what holds where queries are drawn singly, or whole classes."""

from __future__ import annotations

import numpy as np
import pytest

from reproduce.null import Kind, false_alarms, leave_one_out, separate_gallery
from reproduce.sampling import percent_of, range_of, single_queries, whole_classes


def test_intervals_over_classes_hold_what_those_over_queries_miss() -> None:
    shares = whole_classes(10, 40, threads=1)
    assert shares["query, percentile"] < 0.75
    assert shares["class, percentile"] > 0.8
    assert shares["class, t"] > 0.85
    assert single_queries(10, 40, threads=1) > 0.85


def test_tests_over_queries_raise_false_alarms_in_leave_one_out_and_nowhere_else() -> None:
    shares = false_alarms(20, 40, threads=1)
    assert shares[Kind("leave one out", "query", "mAP")] > 0.3
    assert shares[Kind("leave one out", "class", "mAP")] < 0.25
    assert shares[Kind("separate gallery", "query", "mAP")] < 0.15
    assert shares[Kind("leave one out", "class", "Hit@1")] <= shares[Kind("leave one out", "query", "Hit@1")]


@pytest.mark.parametrize("draw", [leave_one_out, separate_gallery])
def test_neither_system_is_better(draw) -> None:
    rng = np.random.default_rng(0)
    gaps = [a["mAP"].expected - b["mAP"].expected for a, b in (draw(rng, 10, 1) for _ in range(30))]
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(30)
    assert np.std(gaps) > 0


def test_shares_are_printed_with_their_standard_error() -> None:
    assert percent_of(0.36, 64) == "36.0 ± 6.0 %"
    assert range_of([0.5, 0.25, 1.0]) == "25 to 100 %"
