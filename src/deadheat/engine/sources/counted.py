"""`CountedTask`: a task of what somebody else has ranked, whose tie groups were counted when it was opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from deadheat.engine.evaluable import Evaluable, Origin
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.settings import TaskSettings
from deadheat.engine.task import made_of_rows
from deadheat.errors import InvalidValueError
from deadheat.inputs.samples import QueryLabels, labels_of_queries
from deadheat.support import checks
from deadheat.support.floats import plain_floats


class SourceCounts(NamedTuple):
    """A profile, and what its source says of it."""

    profile: TieProfile
    tie_rule: str | None = None
    labels: NDArray[Any] | None = None
    remarks: tuple[str, ...] = ()
    knows_gallery: bool = False
    coverage: Callable[[], TieProfile] | None = None
    pool: Callable[[str], set[str]] | None = None


class OpenedSource(Protocol):
    """OpenedSource data of one kind, which can be counted again under other settings."""

    def counts(self, *args: Any, **settings: Any) -> SourceCounts: ...


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
    _counts: SourceCounts

    def __init__(self, source: str, opened: OpenedSource, settings: Mapping[str, Any]) -> None:
        """Count opened data; `source` says in a word what they are, and `settings` are those that `replace` takes."""
        threads = checks.thread_count(settings.get("threads"))
        counts = opened.counts(**({**settings, "threads": threads} if "threads" in settings else settings))
        vars(self).update(
            source=source, threads=threads, labels=counts.labels, remarks=counts.remarks,
            _opened=opened, _settings=settings, _counts=counts,
        )  # fmt: skip

    @property
    def profile(self) -> TieProfile:
        """The counts that every measure is computed from."""
        return self._counts.profile

    @property
    def origin(self) -> Origin:
        """The facts that a report on this task states."""
        rule = self._counts.tie_rule or ("tolerance" if self.profile.bounds_only else None)
        own = self._counts
        return Origin(self.labels, rule, self.remarks, own.knows_gallery, coverage=own.coverage, pool=own.pool)

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
