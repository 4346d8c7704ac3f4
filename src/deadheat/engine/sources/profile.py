"""`from_profile`: a profile that has been counted."""

from __future__ import annotations

from typing import Any, NamedTuple

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.counted import CountedTask, SourceCounts, labels_of
from deadheat.errors import InvalidTypeError
from deadheat.inputs.samples import QueryLabels
from deadheat.support.floats import plain_floats


@plain_floats
def from_profile(profile: TieProfile, labels: QueryLabels | None = None, *, threads: int | None = None) -> CountedTask:
    """Make a task of a profile that has been counted, such as one from a file.

    Parameters
    ----------
    profile : TieProfile
    labels : (n_query,) or dict, optional
        The labels of the queries, in their order or by `query_ids` of the profile, for means over classes. Their
        classes are then the independent units of `Report.interval` and `deadheat.compare`: a profile does not say
        whether there was a separate gallery.
    threads : int, optional
        Worker threads of every question. By default as many as this process may use.

    Examples
    --------
    Two items at one distance, one of them relevant:

    >>> from deadheat import evaluate
    >>> task = from_profile(TieProfile.from_groups([[(0, 0, 2, 1)]], n_ranked=[2]))
    >>> print(evaluate(task, "mAP")["AP"].summary())
    mAP 75.00 [50.00, 100.00] %
    """
    if not isinstance(profile, TieProfile):
        raise InvalidTypeError("profile", f"must be a TieProfile, but is {type(profile).__name__}")
    return CountedTask("a profile", _Profile(profile), {"labels": labels, "threads": threads})


class _Profile(NamedTuple):
    profile: TieProfile

    def counts(self, *, labels: Any, threads: int) -> SourceCounts:
        return SourceCounts(self.profile, labels=labels_of(self.profile, labels))
