"""A card: its products, its free memory, and rows on it.

Single operations must round as IEEE 754 says, but for underflow; products of float64 matrices must be made in float64,
in any order of summation, and those of float32 in float32 if PyTorch's settings say so: `check` tests both. Products
in TF32 or bfloat16, which would leave a tenth of all items open in classes of 5, are not used. No setting is changed.
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
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.lazy import require
from deadheat.support.locks import process_lock

Tensor = Any  # torch.Tensor

MOST_BYTES = 2 << 30  # for tiles, in addition to the rows
_FAST_FLOAT64 = {(6, 0), (7, 0), (8, 0), (9, 0), (10, 0)}  # capabilities of cards with half the speed of float32
_UNSTATED = "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATE_DOUBLE_PRECISION"  # whose errors are not documented


class Card:
    """A PyTorch device that counts; `wide` says that its float64 products are about as fast as those of float32."""

    def __init__(self, torch: Any, where: Any) -> None:
        self.torch, self.where, self.turn, self.checked = torch, where, process_lock(RLock), set[str]()
        self.wide = where.type == "cpu" or torch.cuda.get_device_capability(where) in _FAST_FLOAT64

    @contextmanager
    def using(self, stream: Any) -> Iterator[None]:
        """Wait for a turn on the card, then work on a caller's stream, without gradients and casts to shorter types."""
        torch = self.torch
        casts = torch.autocast(self.where.type, dtype=torch.bfloat16, enabled=False)
        with self.turn, torch.no_grad(), casts, torch.cuda.stream(stream):
            self.check()
            yield

    def check(self) -> None:
        """Refuse a card whose products err by more than their bounds, tested once on sums that are known exactly.

        Row i has numbers of about 1 + 0.47·2^-p, for a p of its own: cut off behind bit p, all of them lose as much.
        """
        for name, digits in (("float64", 53), ("float32", 24)):
            if name in self.checked or (digits == 24 and (self.wide or not self.has_float32())):
                continue
            units = 2.0 ** -np.linspace(4, digits - 6, 16)[:, None]
            rows = (1 + np.random.default_rng(0).uniform(0.45, 0.49, (16, 128)) * units).astype(name)
            whole, left = np.ldexp(rows, digits - 1).astype(np.int64).astype(object), self.upload(rows).repeat(16, 1)
            exact = (whole @ whole.T).astype(np.float64)  # sums of integers, rounded once
            computed = (left @ left.T)[::17, ::17].double().cpu().numpy()  # each pair of rows once
            if not (np.abs(np.ldexp(computed, 2 * digits - 2) - exact) <= gamma(128 + 1, name) * exact).all():
                raise InvalidValueError(f"{name} products on {self.where}", "must be within their bounds, but are not")
            self.checked.add(name)

    def has_float32(self) -> bool:
        """Return whether no setting allows PyTorch to multiply float32 matrices in a shorter type."""
        backends = self.torch.backends
        backend = backends.cuda if self.where.type == "cuda" else getattr(backends, "mkldnn", None)
        allowed = ["ieee" if os.environ.get("NVIDIA_TF32_OVERRIDE", "0") == "0" else "tf32"]
        for read in (
            self.torch.get_float32_matmul_precision,
            lambda: backend.matmul.fp32_precision,  # type: ignore[union-attr]  # and what it inherits
            lambda: "tf32" if backends.cuda.matmul.allow_tf32 else "ieee",
        ):
            with suppress(AttributeError, RuntimeError):  # older, or: the other way of setting it is in use
                allowed.append(read())
        return {"highest", "ieee", "none"}.issuperset(allowed)

    def free(self) -> int:
        """Return the number of free bytes, including those that PyTorch holds and does not use."""
        if self.where.type == "cpu":
            return 4 * MOST_BYTES
        cuda, where = self.torch.cuda, self.where
        return int(cuda.mem_get_info(where)[0] + cuda.memory_reserved(where) - cuda.memory_allocated(where))

    def upload(self, array: NDArray[Any]) -> Tensor:
        """Return a copy of an array on the card; on the CPU the array itself."""
        return self.torch.from_numpy(array if array.flags.writeable else array.copy()).to(self.where)


class CardRows:
    """Scaled rows, or words of bits: kept on a card if that takes less than half of what is free, else uploaded."""

    def __init__(self, card: Card, rows: Any) -> None:
        self.card, self.rows, self.kept = card, rows, None
        if isinstance(rows, np.ndarray):
            self.kept = card.upload(rows.view(np.int64))
            return
        source, dtype = rows.source, getattr(card.torch, rows.source.dtype.name)
        tensor, version = source.tensor or (None, 0)
        if tensor is not None and tensor.device == card.where and tensor._version == version:  # not written to since
            self.kept = tensor.detach().to(dtype)
        elif 2 * source.dtype.itemsize * math.prod(source.shape) < card.free():
            self.kept = card.torch.empty(source.shape, dtype=dtype, device=card.where)
            for start, piece in source.pieces():
                self.kept[start : start + len(piece)] = card.upload(piece)

    def take(self, numbers: Int64, dtype: Any) -> Tensor:
        """Return some rows, scaled in float64, or bits."""
        upload, kept = self.card.upload, self.kept
        raw = upload(self.rows.source.take(numbers)) if kept is None else kept[upload(numbers)]
        if isinstance(self.rows, np.ndarray):
            return ((raw[:, :, None] >> self.card.torch.arange(64, device=raw.device)) & 1).flatten(1).to(dtype)
        factor = upload(self.rows.factor if len(self.rows.factor) == 1 else self.rows.factor[numbers])[:, None]
        return (raw.double() / factor if self.rows.divide else raw.double() * factor).to(dtype)


def name_of(device: Any) -> str:
    """Return the name of the card for an argument, which is opened elsewhere."""
    if not (isinstance(device, str) or type(device).__name__ == "device"):  # torch's, which may not be imported yet
        raise InvalidTypeError("device", f"must be None, a string or a torch.device, but is {checks.shown(device)}")
    return str(device)


def open_card(device: Any) -> Card | None:
    """Return the card for an argument, or None for "cpu"."""
    if isinstance(device, Card):
        return device
    if name_of(device).partition(":")[0] == "cpu":
        return None
    torch: Any = require("torch", "torch", f"device {checks.shown(device)}")
    where = None
    with suppress(RuntimeError):
        where = torch.device(device)
    if where is None or where.type != "cuda":
        why = ", which has no float64" if where is not None and where.type == "mps" else ""
        raise InvalidValueError("device", f"must be cpu or cuda (or cuda:1 ...), but is {str(device)!r}{why}")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if (where.index or 0) >= count:
        state = f"PyTorch finds {count or 'no'} CUDA device{'' if count == 1 else 's'}"
        state = state if torch.version.cuda or torch.version.hip else "this PyTorch is built without CUDA"
        raise InvalidValueError("device", f"must be one that PyTorch can use, but is {str(device)!r}, and {state}")
    for name in (name for name in _UNSTATED if os.environ.get(name, "0") not in ("", "0")):
        state = f"the environment has {name}={os.environ[name]}"
        raise InvalidValueError(f"device {str(device)!r}", f"must have products whose error is known, but {state}")
    return _card(torch, torch.cuda.current_device() if where.index is None else where.index)


_card = cache(lambda torch, index: Card(torch, torch.device("cuda", index)))  # one object for each
