"""Safetensors: named tensors of numbers, which stay on disk. It needs safetensors, for bfloat16 and float8 ml_dtypes.

The package checks a file and says what is in it; the format promises that a tensor is stored row after row, in one
piece, so that it can be mapped. There is no text in such files: labels are integers, or in a file of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.errors import FileError
from deadheat.inputs.files import Content
from deadheat.inputs.formats.keyed import Arrays, Reader, Shape, strips
from deadheat.support.arrays import Array
from deadheat.support.lazy import json, require

_NUMPY = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8",
    "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_SHORT = {  # what NumPy does not have, under the names of ml_dtypes
    "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
}  # fmt: skip


@contextmanager
def _opened(path: Path) -> Iterator[Arrays]:
    """An open file, of which nothing but the header has been read."""
    package = require("safetensors", "files", f"{path}: reading safetensors")
    with open(path, "rb"):  # what the system says of it comes first
        pass
    with package.safe_open(path, framework="numpy") as opened:
        shapes = {key: partial(_shape, opened, key) for key in opened.keys()}  # noqa: SIM118 - it is no dictionary
        yield Arrays(
            shapes,
            lambda key: _embeddings(path, key, opened.get_slice(key).get_dtype()),
            lambda key: np.array(_mapped(path, key, opened.get_slice(key).get_dtype())),
        )


def _shape(file: Any, key: str) -> Shape:
    return tuple(file.get_slice(key).get_shape())


def _embeddings(path: Path, key: str, kind: str) -> Content:
    array = _mapped(path, key, kind)
    return _widened(array) if kind in _SHORT and array.ndim == 2 and array.size else array


def _mapped(path: Path, key: str, kind: str) -> Array:
    """A tensor as it is stored, in a type of NumPy's or of ml_dtypes'."""
    if kind in _SHORT:
        short = require("ml_dtypes", "files", f"{path}: reading {kind}")
        dtype = np.dtype(getattr(short, _SHORT[kind]))
    elif kind in _NUMPY:
        dtype = np.dtype(_NUMPY[kind])
    else:
        raise FileError(path, f", tensor {key!r} must be of a type that float64 holds, but has type {kind}")
    with open(path, "rb") as file:  # a file begins with the length of its header, which is JSON; then come numbers
        length = int.from_bytes(file.read(8), "little")
        entry = json.loads(file.read(length))[key]
    shape = tuple(entry["shape"])
    if not math.prod(shape):
        return np.empty(shape, dtype=dtype)
    return np.memmap(path, dtype, "r", 8 + length + entry["data_offsets"][0], shape)


def _widened(array: Array) -> Iterator[Array]:
    """Numbers of a type that NumPy does not have as float32, which holds them, a few rows at a time."""
    for rows in strips(array.shape, 4):
        with np.errstate(invalid="ignore"):
            yield np.asarray(array[rows]).astype(np.float32)


SAFETENSORS = Reader(_opened)
