"""The floating-point mode of the doors: as IEEE 754 has it, whatever the process is in.

A library built with ``-ffast-math``, or ``torch.set_flush_denormal(True)``, makes a thread take subnormal numbers for
0, and `numpy.seterr` can make an underflow an error. Neither may change a number here, so what is public sets the plain
mode for the call, and puts back what was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from deadheat import _core

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


@contextmanager
def plain_mode() -> Iterator[None]:
    """Round to nearest, keep subnormal numbers, and let NumPy warn as it does by default, in this thread."""
    before = _core.set_float_mode(_core.PLAIN_FLOAT_MODE)
    try:
        with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
            yield
    finally:
        _core.set_float_mode(before)


def plain_floats(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Make a function compute in the plain mode."""

    @wraps(function)
    def in_plain_mode(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with plain_mode():
            return function(*args, **kwargs)

    return in_plain_mode
