"""The base of tasks: a profile, and the facts that a report on it states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, NoReturn

from numpy.typing import NDArray

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError, InvalidValueError

_NO_FILES: dict[str, tuple[str, ...]] = {}


class Origin(NamedTuple):
    """The facts about a task that its report states, under the names of the report's fields."""

    labels: NDArray[Any] | None = None  # of the queries, if they are known
    tie_rule: str | None = None  # in words; None for equal scores
    remarks: tuple[str, ...] = ()
    knows_gallery: bool = False  # relevant items that are in no group of the profile are not in the gallery
    distance: str | None = None
    source: str = ""  # the files of the embeddings
    files: Mapping[str, tuple[str, ...]] = _NO_FILES
    n_in_gallery: int = 0
    n_excluded: int = 0
    separate_gallery: bool = False
    judged: TieProfile | None = None  # of the judged documents of a run
    coverage: Callable[[], TieProfile] | None = None  # makes that in which all judged documents are relevant
    pool: Callable[[str], set[str]] | None = None  # the unjudged documents that are ranked for a query, if unknown
    rel: float | None = None


class Evaluable(ABC):
    """A task, which is the first argument of every analysis: a `Task` of embeddings, or a `CountedTask`."""

    is_run: ClassVar[bool] = False  # whether documents are ranked, whose usual measures are others
    labels: NDArray[Any] | None  # of the queries, if they are known and a row has one
    source: str  # the files of the embeddings, empty for arrays; or a word for what was ranked, such as "scores"
    threads: int
    remarks: tuple[str, ...]  # sentences about how the data were read, for reports
    rel: float | None = None  # the least gain that is relevant; None for every one above 0

    @property
    @abstractmethod
    def profile(self) -> TieProfile:
        """The counts that every measure is computed from."""

    @property
    @abstractmethod
    def origin(self) -> Origin:
        """The facts that a report on this task states."""

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a task cannot change; task.replace({name}=...) gives another one")


def profile_of_task(task: Any, kinds: str = "a Task or a TieProfile") -> TieProfile:
    """Return the profile of a task, or a profile itself; `kinds` says in a message what it may be."""
    if isinstance(task, TieProfile):
        return require_judged(task)
    if not isinstance(task, Evaluable):
        raise InvalidTypeError("task", f"must be {kinds}, but is of type {type(task).__name__}")
    return require_judged(task.profile)


def require_judged(profile: TieProfile) -> TieProfile:
    """Return a profile, and refuse one whose unjudged items are unknown, for questions about ties alone."""
    if profile.n_unjudged is not None:
        rule = "must not be 'unknown' here, where only ties are undecided: take 'irrelevant' or 'junk'"
        raise InvalidValueError("unjudged", rule)
    return profile
