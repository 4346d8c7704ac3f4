"""`CountedTask`: a task of what somebody else has ranked, whose tie groups were counted when it was opened.

`from_profile` makes one of a profile that has been counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from deadheat.engine.evaluable import Evaluable, Origin
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.settings import TaskSettings
from deadheat.engine.task import made_of_rows
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.samples import QueryLabels, labels_of_queries
from deadheat.support import checks
from deadheat.support.floats import plain_floats


class OpenedSource(Protocol):
    """Opened data of one kind, which can be counted again under other settings."""

    def counts(self, *args: Any, **settings: Any) -> tuple[TieProfile, Origin]: ...


class CountedTask(Evaluable):
    """A task of scores, a run, lists, neighbours, ranks, candidates, judgements or a profile, as the `from_` functions
    return it.

    It has the `profile` of a `Task` and all measures, and no rows: questions that need embeddings refuse it.

    Examples
    --------
    >>> from deadheat import from_scores
    >>> task = from_scores([[0.9, 0.8999]], [[0, 1]])
    >>> task, task.profile[0].tied, task.replace(ties="float16").profile[0].tied
    (Task(1 query of scores), array([1]), array([2]))
    """

    _opened: OpenedSource
    _settings: Mapping[str, Any]  # as they were given
    _counts: tuple[TieProfile, Origin]

    def __init__(self, source: str, opened: OpenedSource, settings: Mapping[str, Any]) -> None:
        """Count opened data; `source` says in a word what they are, and `settings` are those that `replace` takes."""
        threads = checks.thread_count(settings.get("threads"))
        profile, origin = opened.counts(**({**settings, "threads": threads} if "threads" in settings else settings))
        if origin.tie_rule is None and profile.bounds_only:
            origin = origin._replace(tie_rule="tolerance")
        vars(self).update(
            source=source, threads=threads, labels=origin.labels, remarks=origin.remarks,
            _opened=opened, _settings=settings, _counts=(profile, origin),
        )  # fmt: skip

    @property
    def profile(self) -> TieProfile:
        """The counts that every measure is computed from."""
        return self._counts[0]

    @property
    def origin(self) -> Origin:
        """The facts that a report on this task states."""
        return self._counts[1]

    @plain_floats
    def replace(self, **settings: Any) -> CountedTask:
        """Return a task of the same data with other settings: ``task.replace(ties="float16")``.

        Settings are the optional arguments of the function that made the task, without those that say how to read the
        data. Those that are not named stay. The data are not opened again.
        """
        for name in settings:
            if name in self._settings:
                continue
            if name in TaskSettings.__annotations__:
                raise made_of_rows(self, f"{name}=")
            raise checks.no_argument(name, "replace", tuple(self._settings))
        if type(self)(self.source, self._opened, self._settings).profile != self.profile:
            raise InvalidValueError("task", "has data that changed after it was made: make it anew, or give a copy")
        return type(self)(self.source, self._opened, {**self._settings, **settings})

    def __repr__(self) -> str:
        n_query = self.profile.n_query
        return f"Task({n_query:,} {'query' if n_query == 1 else 'queries'} of {self.source})"


def labels_of(profile: TieProfile, labels: QueryLabels | None) -> NDArray[Any] | None:
    """Return the labels of the queries of a profile, checked: in their order or by id; None for none."""
    return None if labels is None else labels_of_queries(labels, profile.n_query, profile.query_ids)


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
    return CountedTask("a profile", CountedProfile(profile), {"labels": labels, "threads": threads})


class CountedProfile(NamedTuple):
    """A profile as the data of a source."""

    profile: TieProfile

    def counts(self, *, labels: Any = None, threads: int = 1) -> tuple[TieProfile, Origin]:
        return self.profile, Origin(labels_of(self.profile, labels))
