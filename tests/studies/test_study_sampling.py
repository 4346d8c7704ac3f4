"""The study of sampling: what intervals hold when queries are drawn singly, or whole classes."""

from __future__ import annotations

from deadheat.studies.sampling import single_queries, whole_classes


def test_intervals_over_classes_hold_what_those_over_queries_miss() -> None:
    shares = whole_classes(10, 40, threads=1)
    assert shares["query, percentile"] < 0.75
    assert shares["class, percentile"] > 0.8
    assert shares["class, t"] > 0.85
    assert single_queries(10, 40, threads=1) > 0.85
