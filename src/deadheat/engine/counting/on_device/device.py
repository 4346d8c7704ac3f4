"""A device of PyTorch's, and how fine its products are.

Three things are asked of a device, and nothing else: that single operations in float32 and float64 round as IEEE 754
says, except for underflow; that a product of float32 matrices is as fine as PyTorch's settings say (`Precision`),
which can be TF32 or bfloat16; and that a product of float64 matrices is one.

PyTorch is imported when a device is opened.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.distances.bounds import gamma
from deadheat.engine.distances.distance import Distance, Level
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support.lazy import require

Tensor = Any  # torch.Tensor

CELLS = {"cpu": 1 << 20, "cuda": 1 << 25}  # scores that are on the device at a time, at about 40 bytes each
_CELL_BYTES = 128  # free memory that a score has to have on a GPU

# What the environment can make of a product behind PyTorch's back, with errors that nobody states
_UNSTATED = {
    "cpu": ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"),
    "cuda": ("CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"),
}


class Precision(NamedTuple):
    """What becomes of a float32 number before it is multiplied, and of sums.

    The relative error of a number is 0, 2^-10 for the 10 explicit bits of TF32, 2^-7 for the 7 of bfloat16, which hold
    for truncation as for rounding.
    """

    name: str
    input_error: float

    def roundings(self, dim: int) -> int:
        """To how many roundings of float32 the relative error of a product of so many terms is equal.

        Products of such short numbers are exact. Tensor cores add several at a time: aligned to the largest and cut
        off below its 23rd bit, and the sum cut off again (Fasi, Higham, Mikaitis and Pranesh 2021, Numerical behavior
        of NVIDIA tensor cores). K terms and a sum so far lose at most K + 2 times 2^-23 of the sum of all sizes; for
        K ≥ 2 that is 2^-22 a term. So (1 + ε)²·(1 + γ) − 1 bounds the error, with γ for a unit roundoff of 2^-22.

        Examples
        --------
        >>> IEEE.roundings(128), TF32.roundings(128) * 2.0**-24 < 0.0021
        (0, True)
        """
        if not self.input_error:
            return 0
        relative = (1 + self.input_error) ** 2 * (1 + gamma(4 * (dim + 10), np.float32)) - 1
        return math.ceil(relative * 2**24) + 1


IEEE, TF32, BFLOAT16 = Precision("float32", 0.0), Precision("TF32", 2.0**-10), Precision("bfloat16", 2.0**-7)

_SETTINGS = {"highest": IEEE, "ieee": IEEE, "none": IEEE, "high": TF32, "tf32": TF32}  # what else there is: bfloat16


class Device:
    """A device of PyTorch's, and how fine its products are while it is used.

    The setting is not changed, as it is that of the whole process: bounds are made to fit it.
    """

    def __init__(self, torch: Any, where: Any) -> None:
        self.torch, self.where = torch, where
        self.precision = self.current_precision()

    def current_precision(self) -> Precision:
        """The coarsest that any setting of PyTorch's allows a product of float32 matrices to be."""
        backends = self.torch.backends
        backend = backends.cuda if self.where.type == "cuda" else getattr(backends, "mkldnn", None)
        allowed = [IEEE]
        for read in (
            self.torch.get_float32_matmul_precision,
            lambda: backend.matmul.fp32_precision,  # type: ignore[union-attr]  # and what it inherits
            lambda: "tf32" if backends.cuda.matmul.allow_tf32 and self.where.type == "cuda" else "ieee",
        ):
            with suppress(AttributeError, RuntimeError):  # older, or: the other way of setting it is in use
                allowed.append(_SETTINGS.get(read(), BFLOAT16))
        if self.where.type == "cuda" and os.environ.get("NVIDIA_TF32_OVERRIDE", "0") != "0":
            allowed.append(TF32)
        return max(allowed, key=lambda precision: precision.input_error)

    @contextmanager
    def plain(self) -> Iterator[None]:
        """No gradients, and no automatic casts to shorter types."""
        with self.torch.no_grad(), self.torch.autocast(self.where.type, dtype=self.torch.bfloat16, enabled=False):
            yield

    def upload(self, array: NDArray[Any]) -> Tensor:
        """A copy of an array on the device; on the CPU the array itself."""
        return self.torch.from_numpy(array).to(self.where)

    def product(self, left: Tensor, right: Tensor) -> Tensor:
        """left·rightᵀ, as fine as `precision` says."""
        products = left @ right.T
        now = self.current_precision()
        if now != self.precision:  # the bounds were made for
            raise RuntimeError(
                "PyTorch's precision of float32 products must stay as it is while deadheat works, "
                f"but went from {self.precision.name} to {now.name}"
            )
        return products

    def dtype(self, dtype: Any) -> Any:
        return self.torch.float64 if np.dtype(dtype) == np.float64 else self.torch.float32

    def cells(self) -> int:
        most = CELLS[self.where.type]
        if self.where.type == "cuda":
            free, _ = self.torch.cuda.mem_get_info(self.where)
            most = min(most, free // _CELL_BYTES)
        return most

    def levels(self, distance: Distance) -> tuple[Level, ...]:
        """The levels of a distance, with bounds for this device.

        Where float32 products are not float32 products, integers are multiplied in float64, to stay exact.
        """
        first = distance.levels[0]._replace(chunk=None)
        if self.precision != IEEE and distance.form in ("product", "bits"):
            if first.exact:
                first = first._replace(dtype=np.float64, rows=None)
            else:
                first = first._replace(roundings=self.precision.roundings(distance.dim))
        return first, *distance.levels[1:]


def open_device(device: Any) -> Device:
    """The device that an argument asks for: "cpu", "cuda", "cuda:1", or a `torch.device` of these kinds."""
    torch: Any = require("torch", "torch", f"device {str(device)!r}")
    if not isinstance(device, (str, torch.device)):
        raise InvalidTypeError("device", f"must be None, a string or a torch.device, but is {device!r}")
    try:
        where = torch.device(device)
    except RuntimeError:
        where = None
    if where is None or where.type not in CELLS:
        raise InvalidValueError("device", f"must be cpu or cuda (or cuda:1 ...), but is {str(device)!r}")
    if where.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (where.index or 0) >= count:
            raise InvalidValueError(
                "device", f"must be there, but is {str(device)!r} and PyTorch finds {count} CUDA devices"
            )
    for name in _UNSTATED[where.type]:
        if os.environ.get(name, "0").upper() not in ("", "0", "STRICT"):
            raise InvalidValueError(
                f"device {where.type!r}",
                f"must have products whose error is known, but the environment has {name}={os.environ[name]}",
            )
    if where.type == "cpu":
        where = torch.device("cpu")
    elif where.index is None:  # threads have each a current device of their own
        where = torch.device("cuda", torch.cuda.current_device())
    return Device(torch, where)
