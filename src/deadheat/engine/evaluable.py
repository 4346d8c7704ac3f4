"""The base of tasks: a profile, and the facts that a report on it states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, NoReturn

from numpy.typing import NDArray

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError

_NO_FILES: dict[str, tuple[str, ...]] = {}


class Origin(NamedTuple):
    """The facts about a task that its report states, under the names of the report's fields."""

    labels: NDArray[Any] | None  # of the queries, if they are known
    tie_rule: str | None  # in words
    remarks: tuple[str, ...] = ()
    knows_gallery: bool = False  # relevant items that are in no group of the profile are not in the gallery
    distance: str | None = None
    source: str = ""  # the files of the embeddings
    files: Mapping[str, tuple[str, ...]] = _NO_FILES
    n_in_gallery: int = 0
    n_excluded: int = 0
    separate_gallery: bool = False
    judged: TieProfile | None = None  # of the judged documents of a run
    rel: float | None = None


class Evaluable(ABC):
    """A task, which is the first argument of every analysis: a `Task` of embeddings, or a `CountedTask`."""

    is_run: ClassVar[bool] = False  # whether documents are ranked, whose usual measures are others

    @property
    @abstractmethod
    def profile(self) -> TieProfile:
        """The counts that every measure is computed from."""

    @property
    @abstractmethod
    def origin(self) -> Origin:
        """The facts that a report on this task states."""

    @property
    @abstractmethod
    def labels(self) -> NDArray[Any] | None:
        """The labels of the queries, (n_query,); None if they are not known, or rows have several."""

    @property
    @abstractmethod
    def source(self) -> str:
        """The files of the embeddings, or a word for what was ranked, such as "scores"; empty for arrays."""

    @property
    @abstractmethod
    def threads(self) -> int:
        """Worker threads of every question."""

    @property
    @abstractmethod
    def remarks(self) -> tuple[str, ...]:
        """Sentences about how the data were read, for reports."""

    @property
    def rel(self) -> float | None:
        """The least gain that is relevant; None for every one above 0."""
        return None

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a task cannot change; task.replace({name}=...) gives another one")


def profile_of_task(task: Any, kinds: str = "a Task or a TieProfile") -> TieProfile:
    """Return the profile of a task, or a profile itself; `kinds` says in a message what it may be."""
    if isinstance(task, TieProfile):
        return task
    if not isinstance(task, Evaluable):
        raise InvalidTypeError("task", f"must be {kinds}, but is of type {type(task).__name__}")
    return task.profile
