"""Memory for tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_PADDING = 24  # columns more than are used: rows that lie a power of two apart would share lines of the cache


class Workspace:
    """Memory for tiles that is used again for each tile: one for each thread."""

    def __init__(self) -> None:
        self.buffers: dict[tuple[str, str], NDArray[Any]] = {}

    def get(self, name: str, shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
        """An uninitialised matrix, valid until the same name and type are asked for again."""
        key = name, np.dtype(dtype).str
        buffer = self.buffers.get(key)
        if buffer is None or buffer.shape[0] < shape[0] or buffer.shape[1] < shape[1] + _PADDING:
            buffer = self.buffers[key] = np.empty((shape[0], shape[1] + _PADDING), dtype)
        return buffer[: shape[0], : shape[1]]
