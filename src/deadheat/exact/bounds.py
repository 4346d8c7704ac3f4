"""Error bounds: how far a floating-point sum of products can be from the real number that it stands for."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from deadheat.errors import InvalidValueError


def unit_roundoff(dtype: DTypeLike) -> float:
    """The largest relative error of one rounding to nearest: 2^-24 for float32, 2^-53 for float64."""
    return float(np.finfo(dtype).eps) / 2


def gamma(n: int, dtype: DTypeLike) -> float:
    """γ_n = n·u / (1 − n·u): n roundings in a row change a value by at most this factor of it (Higham 2002, 3.1).

    It bounds a sum of n products in any order of summation, with or without fused multiply-add.

    Examples
    --------
    >>> gamma(128, np.float32) < 7.7e-6
    True
    """
    nu = n * unit_roundoff(dtype)
    if nu >= 0.5:
        raise InvalidValueError(f"rows of {n} numbers", f"are too long for an error bound in {np.dtype(dtype)}")
    return nu / (1 - nu)


def underflow(n: int, dtype: DTypeLike) -> float:
    """What underflow may add to a sum of n products of numbers in [−1, 1], flushed to zero or not."""
    return 8.0 * (n + 1) * float(np.finfo(dtype).tiny)
