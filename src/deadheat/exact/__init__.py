"""Error bounds and exact arithmetic: in come numbers, out go what rounding can do to them, and what they really are."""

from deadheat.exact.arithmetic import (
    FORMATS,
    Float64,
    Format,
    SignedRoot,
    cells,
    exact_absolute_differences,
    from_ordinal,
    gamma,
    ordinals,
    round_to,
    scaled_dots,
    underflow,
    unit_roundoff,
)

__all__ = [
    "FORMATS",
    "Float64",
    "Format",
    "SignedRoot",
    "cells",
    "exact_absolute_differences",
    "from_ordinal",
    "gamma",
    "ordinals",
    "round_to",
    "scaled_dots",
    "underflow",
    "unit_roundoff",
]
