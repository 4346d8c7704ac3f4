"""The rules of a challenge: what it asks for and what it allows, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadheat.counting import CountingOptions
from deadheat.errors import InvalidValueError, UndefinedError
from deadheat.reports.options import SummaryOptions
from deadheat.support import checks

MEGABYTE = 1 << 20
MOST = 10**9  # of any other limit
SECONDS_PER_DAY = 1800
MOST_UPLOAD = 4095  # MB: beyond that, archives have another form


@dataclass(frozen=True)
class Rules:
    """What a challenge asks for and allows; all of it is public.

    Attributes
    ----------
    title : str
    measures : tuple of str
        The lower bound of the first one ranks.
    distance, singletons, average : str
        As in `deadheat.evaluate`.
    n_sample : int
        Rows of a submission.
    n_query : int or None
        The first so many samples are queries, ranked against the others; None for leave one out.
    per_day : int
        Submissions of a team within 24 hours.
    upload : int
        Megabytes of an uploaded file, and of what a command may hand back.
    dim : int
        Columns of a submission, at most.
    seconds : int
        What a command may take, and what scoring an upload may.
    memory : int
        Megabytes that a command may take.
    seconds_per_day : int
        What scoring all uploads of a team may take within 24 hours; what is over it waits.
    """

    title: str
    measures: tuple[str, ...]
    distance: str
    singletons: str
    average: str
    n_sample: int
    n_query: int | None
    per_day: int
    upload: int
    dim: int
    seconds: int
    memory: int
    seconds_per_day: int = SECONDS_PER_DAY  # which earlier challenges do not say

    @classmethod
    def checked(cls, labels: NDArray[Any], measures: str | None = None, **given: Any) -> Self:
        """Rules as an organiser gives them, or an error that names the argument."""
        summary = SummaryOptions.checked(measures, given.pop("singletons"), given.pop("average"))
        options = CountingOptions.checked(distance=given.pop("distance"))
        n_query = given.pop("n_query")
        if n_query is not None:
            checks.whole_number(n_query, "n_query", 1, len(labels) - 1)
        _require_relevant(labels, n_query)
        title = one_line(given.pop("title"), "title")
        checks.positive_integer(given["upload"], "upload", MOST_UPLOAD)
        for name in ("per_day", "dim", "seconds", "memory", "seconds_per_day"):
            checks.positive_integer(given[name], name, MOST)
        return cls(title, *summary[:1], options.distance, *summary[1:], len(labels), n_query, **given)

    @property
    def counting(self) -> CountingOptions:
        return CountingOptions.checked(distance=self.distance)

    @property
    def summary(self) -> SummaryOptions:
        return SummaryOptions.checked(self.measures, self.singletons, self.average)


def one_line(text: str, name: str, most: int = 60) -> str:
    """A name as people read it: one line of printable characters, none of which turns others round or hides them."""
    text = " ".join(text.split())
    if not text or len(text) > most or not text.isprintable():
        raise InvalidValueError(name, f"must have 1 to {most} printable characters, but is {checks.shown(text)}")
    return text


def _require_relevant(labels: NDArray[Any], n_query: int | None) -> None:
    """Refuse labels by which no query could have a relevant item."""
    if n_query is None:
        found = len(np.unique(labels)) < len(labels)
    else:
        found = bool(np.isin(labels[:n_query], labels[n_query:]).any())
    if not found:
        raise UndefinedError("labels leave every query without a relevant item, so that no measure is defined")
