"""Long calls: their threads, their cancellation and the progress that the caller sees.

`Workers` is the only pool of threads, one for each call. Any thread reports amounts of finished
work; they become calls with (done, total), or a bar on standard error: the library draws it at once, the command later.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from datetime import timedelta
from threading import Event, Lock, Timer, local
from typing import Any, TypeVar, cast

from deadheat.errors import MOST, InvalidTypeError, printable
from deadheat.support import checks
from deadheat.support.lazy import futures, lazy

# Threads --------------------------------------------------------------------------------------------------------------

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_core: Any = lazy("deadheat._core")  # which the help of the command does not need
_of_this_thread = local()


class Stopped(Exception):
    """Exception in a thread whose call was cancelled; a user never sees it."""


def raise_if_cancelled() -> None:
    """Stop this thread if its call was cancelled. Long loops call it often, so that an interrupt need not wait."""
    stop: Event | None = getattr(_of_this_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


class Workers:
    """Threads for one call, which compute in the plain floating-point mode.

    There are no more threads than processors. With one thread, or one item, the caller's thread works. An interrupt or
    an error drops items that have not begun; the others end at their next `raise_if_cancelled`.
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
        """Return the result for each item, in their order."""
        items = list(items)
        if self._n_thread == 1 or len(items) < 2:
            return [work(item) for item in items]
        if self._pool is None:
            self._pool = futures.ThreadPoolExecutor(self._n_thread, initializer=self._begin)
        numbered, lock, results = iter(enumerate(items)), Lock(), cast("list[_Result]", [None] * len(items))

        def work_on() -> None:
            while not self.stop.is_set():
                with lock:
                    number, item = next(numbered, (-1, items[0]))
                if number < 0:
                    return
                results[number] = work(item)

        begun = [self._pool.submit(work_on) for _ in range(min(self._n_thread, len(items)))]  # one an item takes longer
        for done in futures.as_completed(begun):
            done.result()
        return results

    def _begin(self) -> None:
        _of_this_thread.stop = self.stop
        _core.set_float_mode()


# Progress -------------------------------------------------------------------------------------------------------------

Progress = Callable[[int, int], None]


def require_progress(progress: bool | Progress) -> None:
    """Refuse a value that is neither a bool nor a function of two numbers."""
    if not (isinstance(progress, bool) or (checks.takes(progress, 0, 0) and not isinstance(progress, type))):
        raise InvalidTypeError(
            "progress", f"must be True, False or a function of (done, total), but is {checks.shown(progress)}"
        )


class Reporting:
    """A report of finished work, added up: `with Reporting(progress, total) as report: report(amount)`.

    Parameters
    ----------
    progress : bool or callable
        True for a bar on standard error. A function is called with (done, total): once at the start, then after
        every amount, never with less than before, from one thread at a time and, if all gets done, just once with
        done == total. Its exceptions go to the caller of `report`, and then it is not called again.
    total, done : int
        The amount of work, and how much of it an earlier run has done, which does not count in the rate.
    what, unit : str
        The bar's title, and the unit of work, in the plural.

    Examples
    --------
    >>> with Reporting(lambda done, total: print(done, "of", total), total=7, done=2) as report:
    ...     report(4)
    ...     report(1)
    2 of 7
    6 of 7
    7 of 7
    """

    def __init__(
        self, progress: bool | Progress, total: int, what: str = "counting", unit: str = "pairs", done: int = 0
    ) -> None:
        require_progress(progress)
        self.done, self.total = done, total
        self._lock = Lock()
        self._bar = Bar(what, unit) if progress is True else None
        self._show: Progress | None = self._bar or (None if isinstance(progress, bool) else progress)

    def report(self, amount: int) -> None:
        """Add an amount of finished work."""
        with self._lock:
            self.done += amount
            if amount:
                self._call()

    def _call(self) -> None:
        if self._show is None:
            return
        try:
            self._show(self.done, self.total)
        except BaseException:
            self._show = None
            raise

    def __enter__(self) -> Callable[[int], None]:
        self._call()
        return self.report

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


class Bar:
    """A bar on standard error with percentage, rate, time elapsed and time left: `with Bar("counting") as bar`.

    `bar(done, total)` moves it; the first call gives the work done before. It appears after `patience` seconds, unless
    closed before, and is erased at the end. If standard error is no terminal, only the last state is printed.
    """

    def __init__(self, what: str, unit: str = "pairs", patience: float = 0) -> None:
        self._what, self._unit = what, unit
        self._lock = Lock()
        self._meter: _Meter | None = None
        self._drawn: Any = None
        self._closed = False
        self._timer = Timer(patience, self._draw) if patience > 0 else None

    def __call__(self, done: int, total: int) -> None:
        if self._meter is None:
            self._meter = _Meter(done, total, self._unit)
            if self._timer is None:
                self._draw()
            else:
                self._timer.daemon = True
                self._timer.start()
        with self._lock:
            self._meter.update(done)
            if self._drawn is not None:
                self._drawn.update(self._drawn.task_ids[0], completed=done)

    def _draw(self) -> None:
        rich: Any = lazy("rich.progress")  # as slow to import as most runs are to finish
        meter = self._meter
        assert meter is not None
        console = rich.Console(stderr=True)
        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(20),
            rich.TaskProgressColumn(),
            rich.TextColumn("{task.fields[meter]}"),  # formatted anew whenever the bar is drawn: the clock ticks
        )
        with self._lock:
            if self._closed:
                return
            drawn = rich.Progress(*columns, console=console, transient=console.is_terminal, redirect_stdout=False)
            drawn.add_task(self._what, total=meter.total, completed=meter.done, meter=meter)
            drawn.start()
            self._drawn = drawn

    def close(self) -> None:
        """Erase the bar."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.stop()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Meter:
    """Rate and time left, as text. The rate is the mean since the start, up to when work was last reported."""

    def __init__(self, done: int, total: int, unit: str) -> None:
        self.before = self.done = done
        self.total, self.unit = total, unit
        self.begin = self.last = time.monotonic()

    def update(self, done: int) -> None:
        if done > self.done:
            self.done, self.last = done, time.monotonic()

    def __str__(self) -> str:
        now = time.monotonic()
        elapsed = _clock(now - self.begin)
        if self.last <= self.begin:
            return elapsed
        rate = (self.done - self.before) / (self.last - self.begin)
        left = max(0.0, (self.total - self.done) / rate - (now - self.last))
        return f"{rate_text(rate, self.unit)} {elapsed}, {_clock(left)} left"


def rate_text(rate: float, unit: str) -> str:
    """Format a rate for people, to two or three digits."""
    prefixes = iter(("k ", "M ", "G ", "T ", "P "))
    prefix = ""
    while rate >= 999.5 and (larger := next(prefixes, None)):
        rate, prefix = rate / 1000, larger
    return f"{rate:.0f} {prefix}{unit}/s" if rate >= 99.5 else f"{rate:.2g} {prefix}{unit}/s"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))


LONG = 30  # seconds from which on a question says before it begins how long it will take


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line that called deadheat."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "deadheat":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(printable(message, MOST), category, stacklevel=depth)
