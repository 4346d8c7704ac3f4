"""A card: which it is, what its products are known to be, and how much of its memory is used.

A card must guarantee three things: single operations round as IEEE 754 says, but for underflow; products of float64
matrices are computed in float64, and those of float32 in float32 if PyTorch's settings say so, in any order of summation.
`check` looks whether products keep to that. Float32 products in TF32 or bfloat16, which would leave a tenth of all items
open in classes of 5, are not used. No setting of PyTorch's is changed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.distances.bounds import gamma
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.source import Source
from deadheat.support import checks
from deadheat.support.lazy import require

Tensor = Any  # torch.Tensor

MOST_BYTES = 2 << 30  # that tiles take, next to the rows
_FAST_FLOAT64 = {
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
}  # capabilities of data-centre cards: half the speed of float32
_UNSTATED = (
    "CUBLAS_EMULATE_SINGLE_PRECISION",
    "CUBLAS_EMULATE_DOUBLE_PRECISION",
)  # products whose errors nobody states


class Card:
    """A PyTorch device that counts; `wide` says that float64 products are about as fast there as those of float32."""

    def __init__(self, torch: Any, where: Any) -> None:
        self.torch, self.where, self.turn, self.checked = torch, where, RLock(), False
        self.wide = where.type == "cpu" or torch.cuda.get_device_capability(where) in _FAST_FLOAT64

    def stream(self) -> Any:
        return self.torch.cuda.current_stream(self.where) if self.where.type == "cuda" else None

    @contextmanager
    def using(self, stream: Any) -> Iterator[None]:
        """Wait for a turn on the card, then work on a caller's stream, without gradients and casts to shorter types."""
        torch = self.torch
        casts = torch.autocast(self.where.type, dtype=torch.bfloat16, enabled=False)
        with self.turn, torch.no_grad(), casts, torch.cuda.stream(stream):
            if not self.checked:
                self.check()
            yield

    def check(self) -> None:
        """Refuse a card whose products err by more than their bounds, as seen on sums that are known exactly.

        Row i has numbers of about 1 + 0.47·2^-p, for a p of its own: cut off behind bit p, all of them lose as much.
        """
        for name, digits in (("float64", 53), ("float32", 24))[: 2 if self.has_float32() else 1]:
            places = np.linspace(4, digits - 6, 16)[:, None]
            rows = (1 + np.random.default_rng(0).uniform(0.45, 0.49, (16, 128)) * 2.0**-places).astype(name)
            whole, left = np.ldexp(rows, digits - 1).astype(np.int64).astype(object), self.upload(rows).repeat(16, 1)
            exact = (whole @ whole.T).astype(np.float64)  # sums of integers, rounded once
            found = np.ldexp(
                (left @ left.T)[::17, ::17].double().cpu().numpy(), 2 * digits - 2
            )  # each pair of rows once
            if not (np.abs(found - exact) <= gamma(128 + 1, name) * exact).all():
                rule = f"must have products within their bounds, but those of {name} numbers err by more"
                raise InvalidValueError(f"device {str(self.where)!r}", rule)
        self.checked = True

    def has_float32(self) -> bool:
        """Return whether no setting allows PyTorch to multiply float32 matrices in a shorter type."""
        torch, backend = self.torch, getattr(self.torch.backends, {"cpu": "mkldnn"}.get(self.where.type, "cuda"))
        allowed = ["ieee" if os.environ.get("NVIDIA_TF32_OVERRIDE", "0") == "0" else "tf32"]
        for read in (
            torch.get_float32_matmul_precision,
            lambda: backend.matmul.fp32_precision,  # and what it inherits
            lambda: "tf32" if torch.backends.cuda.matmul.allow_tf32 else "ieee",
        ):
            with suppress(AttributeError, RuntimeError):  # older, or: the other way of setting it is in use
                allowed.append(read())
        return {"highest", "ieee", "none"}.issuperset(allowed)

    def free(self) -> int:
        return int(self.torch.cuda.mem_get_info(self.where)[0]) if self.where.type == "cuda" else 4 * MOST_BYTES

    def columns(self, n_row: int, each: int, dim: int) -> int:
        """Return how many columns a tile may have, of rows of `dim` numbers and with so many bytes for each score."""
        return max(1, min(MOST_BYTES, self.free() // 2) // (n_row * each + 16 * dim))

    def upload(self, array: NDArray[Any]) -> Tensor:
        """Return a copy of an array on the card; on the CPU the array itself."""
        return self.torch.from_numpy(array if array.flags.writeable else array.copy()).to(self.where)

    def kept(self, source: Source) -> Tensor | None:
        """Return the rows of a source on the card; None if they would take more than half of what is free there."""
        dtype = getattr(self.torch, source.dtype.name)
        if source.tensor is not None:
            tensor, version = source.tensor
            if tensor.device == self.where and tensor._version == version:  # nobody has written to it since
                return tensor.detach().to(dtype)
        if 2 * source.dtype.itemsize * math.prod(source.shape) > self.free():
            return None
        rows = self.torch.empty(source.shape, dtype=dtype, device=self.where)
        for start, piece in source.pieces():
            rows[start : start + len(piece)] = self.upload(piece)
        return rows


def open_card(device: Any, number: int | None = None) -> Card | None:
    """Return the card for an argument: "cuda", "cuda:1", or a `torch.device` of these; None for "cpu", the core.

    Of the workers on one machine, each has a `number`, and "cuda" is another card for another one.
    """
    if isinstance(device, Card) or str(device).partition(":")[0] == "cpu":
        return device if isinstance(device, Card) else None
    torch: Any = require("torch", "torch", f"device {checks.shown(device)}")
    if not isinstance(device, (str, torch.device)):
        raise InvalidTypeError("device", f"must be None, a string or a torch.device, but is {checks.shown(device)}")
    where = None
    with suppress(RuntimeError):
        where = torch.device(device)
    if where is None or where.type != "cuda":
        why = ", which has no float64" if where is not None and where.type == "mps" else ""
        raise InvalidValueError("device", f"must be cpu or cuda (or cuda:1 ...), but is {str(device)!r}{why}")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if (where.index or 0) >= count:
        found = f"PyTorch finds {count or 'no'} CUDA device{'' if count == 1 else 's'}"
        came = found if torch.version.cuda or torch.version.hip else "this PyTorch is built without CUDA"
        raise InvalidValueError("device", f"must be one that PyTorch can use, but is {str(device)!r}, and {came}")
    for name in _UNSTATED:
        if os.environ.get(name, "0") not in ("", "0"):
            came = f"the environment has {name}={os.environ[name]}"
            raise InvalidValueError(f"device {str(device)!r}", f"must have products whose error is known, but {came}")
    own = torch.cuda.current_device() if number is None else number % count
    return _card(torch, own if where.index is None else where.index)


@cache
def _card(torch: Any, index: int) -> Card:
    return Card(torch, torch.device("cuda", index))
