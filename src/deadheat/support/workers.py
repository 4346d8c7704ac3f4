"""The only pool of threads: one for each call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from threading import Event, local
from typing import TypeVar

import deadheat._core as _core
from deadheat.support.lazy import futures

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_of_this_thread = local()


class Stopped(Exception):
    """Raised in a thread whose call was cancelled; never seen by a user."""


def raise_if_cancelled() -> None:
    """Stop this thread if its call was cancelled. Long loops call it often, so that an interrupt need not wait."""
    stop: Event | None = getattr(_of_this_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


class Workers:
    """Threads for one call, which compute in the plain floating-point mode.

    There are no more threads than processors. With one thread, or one item, the caller's thread works. An interrupt or
    an error drops what has not begun; what has begun ends at its next `raise_if_cancelled`.
    """

    def __init__(self, threads: int) -> None:
        self.stop = Event()
        self._n_thread = min(threads, os.cpu_count() or 1)
        self._pool: futures.ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def each(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """The result for each item, in their order."""
        items = list(items)
        if self._n_thread == 1 or len(items) < 2:
            return [work(item) for item in items]
        if self._pool is None:
            self._pool = futures.ThreadPoolExecutor(self._n_thread, initializer=self._begin)
        begun = [self._pool.submit(work, item) for item in items]
        for done in futures.as_completed(begun):
            done.result()
        return [done.result() for done in begun]

    def _begin(self) -> None:
        _of_this_thread.stop = self.stop
        _core.set_float_mode()
