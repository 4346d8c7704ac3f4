"""Threads for one call, and nothing else: the only pool there is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import TypeVar

from deadheat import _core

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Workers:
    """Threads for one call, which compute in the plain floating-point mode.

    There are no more threads than processors. With one the work is done in the caller's; an interrupt drops what has
    not begun.
    """

    def __init__(self, threads: int) -> None:
        self.stop = Event()
        n_thread = min(threads, os.cpu_count() or 1)
        self.pool = ThreadPoolExecutor(n_thread, initializer=_set_plain_mode) if n_thread > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)

    def each(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """What the work makes of each item, in their order."""
        if self.pool is None:
            return [work(item) for item in items]
        futures = [self.pool.submit(work, item) for item in items]
        for future in as_completed(futures):
            future.result()
        return [future.result() for future in futures]


def _set_plain_mode() -> None:
    _core.set_float_mode(_core.PLAIN_FLOAT_MODE)
