"""How loops are compiled: without the lock of the interpreter, and without what would only take time to compile.

No `fastmath`: every addition and multiplication is the one that is written, in that order. Division follows NumPy, and
nothing divides by zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])
_INNER: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": True
}  # fmt: skip
_KERNEL: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "cache": True}


def kernel(function: _Function) -> _Function:
    """Compile a function that Python calls, and keep the result on disk."""
    return cast(_Function, njit(**_KERNEL)(function))


def inner(function: _Function) -> _Function:
    """Compile a function that only kernels call: neither kept on disk nor callable from Python."""
    return cast(_Function, njit(**_INNER)(function))
