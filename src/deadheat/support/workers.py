"""Threads for one call, and nothing else: the only pool there is, and the only limit on the threads of BLAS."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from threading import Event
from typing import TypeVar

from threadpoolctl import threadpool_limits

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Workers:
    """Threads for one call, while BLAS has one in each; finding BLAS takes milliseconds, so work without it says so.

    There are no more threads than processors. With one the work is done in the caller's; an interrupt drops what has
    not begun.
    """

    def __init__(self, threads: int, *, uses_blas: bool = True) -> None:
        self.stop = Event()
        threads = min(threads, os.cpu_count() or 1)
        self.pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.uses_blas = uses_blas
        self._limits = ExitStack()

    def __enter__(self) -> Workers:
        if self.uses_blas:
            self._limits.enter_context(threadpool_limits(1, user_api="blas"))
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        if self.pool is not None:
            self.pool.shutdown(wait=True, cancel_futures=True)
        self._limits.close()

    def each(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """What the work makes of each item, in their order."""
        if self.pool is None:
            return [work(item) for item in items]
        futures = [self.pool.submit(work, item) for item in items]
        for future in as_completed(futures):
            future.result()
        return [future.result() for future in futures]
