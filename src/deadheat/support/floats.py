"""The floating-point mode of public functions: that of IEEE 754, whatever the process has set.

A library built with ``-ffast-math``, or ``torch.set_flush_denormal(True)``, makes a thread take subnormal numbers for
0, `fesetround` changes the rounding, and `numpy.seterr` can make an underflow an error. None of these may change a
number here, so public functions set the plain mode for the call and restore what was (`plain_floats`). So do results,
which compute many of their values on demand (`PlainFloats`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

import numpy as np

import deadheat._core as _core
from deadheat.support import checks
from deadheat.support.caching import cached_property

_WARNINGS: dict[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}  # NumPy's default
_GENERATOR = 0x20  # of a function's code: `inspect.CO_GENERATOR`, without the module

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def plain_floats(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Make a public function compute in the plain mode, and explain wrong arguments."""

    @wraps(function)
    def in_plain_mode(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        before = _core.set_float_mode()  # a context manager would take twice as long
        try:
            with np.errstate(**_WARNINGS):
                return function(*args, **kwargs)
        except TypeError as error:
            trace = error.__traceback__
            meant = None if trace is None or trace.tb_next else checks.wrong_arguments(function, error)
            if meant is None:
                raise
            raise meant from None
        finally:
            _core.set_float_mode(before)

    return in_plain_mode


class PlainFloats:
    """A base of classes whose public methods and properties compute in the plain mode, except for generators."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            plain = _in_plain_mode(name, member)
            if plain is not member:
                setattr(cls, name, plain)


def _in_plain_mode(name: str, member: Any) -> Any:
    """Return a member of a class that computes in the plain mode, or the member itself if it computes nothing."""
    if isinstance(member, cached_property):
        plain = cached_property(plain_floats(member.func))
        plain.__set_name__(PlainFloats, name)
        return plain
    if isinstance(member, property) and member.fget is not None:
        return property(plain_floats(member.fget), member.fset, member.fdel, member.__doc__)
    is_public = not name.startswith("_") or name.endswith("_")
    if isinstance(member, FunctionType) and is_public and not member.__code__.co_flags & _GENERATOR:
        return plain_floats(member)
    return member
