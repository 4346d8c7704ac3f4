"""Measures: in come tie profiles, out go lower, expected and upper value of each query, and their deviation."""

from deadheat.measures.catalogue import (
    DEFAULT_MEASURES,
    Measure,
    all_bounds,
    discount_table,
    parse,
    per_query,
    std,
)

__all__ = ["DEFAULT_MEASURES", "Measure", "all_bounds", "discount_table", "parse", "per_query", "std"]
