"""What every measure comes as: lower, expected and upper."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Triple(NamedTuple, Generic[T]):
    """Lower bound, expectation and upper bound: three numbers, arrays or intervals.

    NaN where undefined. Numbers and arrays have ``lower <= expected <= upper`` wherever they are defined.

    Examples
    --------
    >>> Triple(0.25, 0.5, 1.0).upper
    1.0
    """

    lower: T
    expected: T
    upper: T
