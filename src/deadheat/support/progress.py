"""Progress: what a long run tells a function, or a person at a terminal.

In come amounts of work, from any thread; out go calls with (done, total), or a bar on standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from deadheat.errors import InvalidTypeError
from deadheat.support.bar import Bar

Progress = Callable[[int, int], None]


def require_progress(progress: bool | Progress) -> None:
    """Refuse what is neither a bool nor callable."""
    if not (isinstance(progress, bool) or callable(progress)):
        raise InvalidTypeError("progress", f"must be True, False or a function of (done, total), but is {progress!r}")


class Reporting:
    """Adds up finished work and tells of it: `with Reporting(progress, total) as report: report(amount)`.

    Parameters
    ----------
    progress : bool or callable
        True for a bar on standard error. A function is called with (done, total): once at the start, then after
        every amount, never with less than before, from one thread at a time and, where all gets done, just once
        with done == total. What it raises goes to whoever reported, and it is not called again.
    total : int
        How much there is to do.
    what : str
        The bar's title.
    unit : str
        What is counted, in the plural.
    done : int
        What was done before, by a run that this one continues. It does not count in the rate.

    Raises
    ------
    TypeError
        If `progress` is neither a bool nor callable.

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
        """Note that so much more is done."""
        with self._lock:
            self.done += amount
            if amount:
                self._tell()

    def _tell(self) -> None:
        if self._show is None:
            return
        try:
            self._show(self.done, self.total)
        except BaseException:
            self._show = None
            raise

    def __enter__(self) -> Callable[[int], None]:
        self._tell()
        return self.report

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()
