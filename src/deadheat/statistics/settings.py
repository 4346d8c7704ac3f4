"""What every interval is given, checked: a level, a method, how often to draw, a seed; and values in one dimension."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import inputs
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.statistics.interval import METHODS
from deadheat.support import checks

Float64 = NDArray[np.float64]


class Settings(NamedTuple):
    """How an interval is made."""

    level: float
    method: str
    n_resamples: int
    seed: int

    @classmethod
    def checked(cls, confidence_level: float, method: str, n_resamples: int, seed: int) -> Settings:
        """The settings, or an error that names the argument."""
        return cls(
            method=checks.choice(method, METHODS, "method"),
            n_resamples=checks.positive_integer(n_resamples, "n_resamples"),
            seed=checks.whole_number(seed, "seed"),
            level=level_between(confidence_level),
        )


def level_between(confidence_level: Any) -> float:
    """A level strictly between 0 and 1.

    Examples
    --------
    >>> level_between(95)
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: confidence_level must lie strictly between 0 and 1, but is 95
    """
    if isinstance(confidence_level, (bool, np.bool_)) or not isinstance(
        confidence_level, (float, int, np.floating, np.integer)
    ):
        raise InvalidTypeError("confidence_level", f"must be a number, but is {confidence_level!r}")
    if not 0 < confidence_level < 1:
        raise InvalidValueError("confidence_level", f"must lie strictly between 0 and 1, but is {confidence_level}")
    return float(confidence_level)


def vector(values: ArrayLike, name: str) -> Float64:
    """Real numbers in one dimension, as float64; NaN where there is no value."""
    array = np.asarray(inputs.from_tensor(values))
    if array.ndim != 1:
        raise InvalidValueError(name, f"must be one-dimensional, but has shape {array.shape}")
    if array.dtype.kind not in "biuf" and array.size:
        raise InvalidTypeError(name, f"must hold real numbers, but has dtype {array.dtype}")
    array = array.astype(np.float64)
    if np.isinf(array).any():
        raise InvalidValueError(name, f"must not be infinite, but holds {array[np.isinf(array)][0]}")
    return array


def defined(values: ArrayLike, name: str) -> Float64:
    """Real numbers in one dimension, without NaN."""
    array = vector(values, name)
    return array[~np.isnan(array)]
