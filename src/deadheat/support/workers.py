"""Threads for one call, and nothing else: the only pool there is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from threading import Event, local
from typing import TypeVar

from deadheat import _core
from deadheat.support.lazy import futures

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_of_this_thread = local()


class Stopped(Exception):
    """Raised in a worker whose call has been given up; nobody ever sees it."""


def go_on() -> None:
    """Ask whether to go on: what takes long does so again and again, so that an interrupt waits for nobody.

    In the caller's own thread an interrupt needs no asking.
    """
    stop: Event | None = getattr(_of_this_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


class Workers:
    """Threads for one call, which compute in the plain floating-point mode.

    There are no more threads than processors. With one, or for one item, the work is done in the caller's. An
    interrupt, or an error, drops what has not begun, and what has begun ends at its next `go_on`.
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
        """What the work makes of each item, in their order."""
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
        """Make a thread ready for work."""
        _of_this_thread.stop = self.stop
        _core.set_float_mode(_core.PLAIN_FLOAT_MODE)
