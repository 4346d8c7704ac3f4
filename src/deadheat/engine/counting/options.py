"""The options of a counting pass, checked and resolved once, by the public function; and `Work`, data with options."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Distance
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.ties.rounded import rule_of
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, item_ids
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.relevance import Within, open_excluded, open_relevant
from deadheat.inputs.samples import EmbeddingsLike, Pair
from deadheat.inputs.source import Source
from deadheat.support import checks
from deadheat.support.arrays import Array, Int64
from deadheat.support.caching import cached_property
from deadheat.support.lazy import lazy
from deadheat.support.progress import Progress, require_progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from deadheat.engine.counting import executors
    from deadheat.engine.counting.card import device as devices
else:
    executors = lazy("deadheat.engine.counting.executors")
    devices = lazy("deadheat.engine.counting.card.device")


RELEVANCE = ("any", "same", "count")  # of several labels a row


class TaskSettings(TypedDict, total=False):
    """The arguments of `Task` that go by name, as they are given: for type checkers, and for all that lists them."""

    distance: DistanceName
    ties: TiesName | Ties
    relevant: Any
    junk: ArrayLike | None
    exclude: OwnRows | Within | None
    threads: int | None
    progress: bool | Progress
    checkpoint: str | os.PathLike[str] | None
    device: Any
    executor: Executor | None
    relevance: Literal["any", "same", "count"] | None


def _setting(name: str, default: Any = None, check: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """Declare the argument of an option: its name, its default, and the check that returns the value of the option."""
    return {"name": name, "default": default, "check": check or (lambda given: given)}


def _unless_none(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: None if given is None else check(given)


def _progress(given: Any) -> Any:
    require_progress(given)
    return given


def _relevance(given: Any) -> str:
    return checks.choice(given, RELEVANCE, "relevance")


@dataclass(frozen=True, kw_only=True)
class CountingOptions:
    """The checked settings of a task: each is declared here with its default and its check, and in `TaskSettings`."""

    rule: Ties = field(metadata=_setting("ties", "exact", rule_of))
    threads: int = field(metadata=_setting("threads", None, checks.thread_count))
    device: devices.Card | None = field(
        metadata=_setting("device", None, _unless_none(lambda given: devices.open_card(given)))
    )
    distance: str = field(metadata=_setting("distance", "cosine", distance_registry.named))
    progress: bool | Progress = field(metadata=_setting("progress", False, _progress))
    relevance: str | None = field(metadata=_setting("relevance", None, _unless_none(_relevance)))
    executor: Executor | None = field(
        metadata=_setting("executor", None, _unless_none(lambda given: executors.executor_given(given)))
    )
    checkpoint: str | os.PathLike[str] | None = field(metadata=_setting("checkpoint"))
    relevant: Any = field(metadata=_setting("relevant"))  # once `fitted`, `Pairs`
    junk: Any = field(metadata=_setting("junk"))  # once `fitted`, a mask, (n_gallery,) or (n_query, n_gallery) bool
    exclude: Any = field(metadata=_setting("exclude"))  # once `fitted`, (n_query,) int64
    worker_threads: int = 1  # of each worker of the executor,
    worker_device: str | None = None  # and its card

    @classmethod
    def checked(cls, **given: Any) -> CountingOptions:
        """Check options as `deadheat.Task` takes them, and resolve names to the objects that they stand for.

        Examples
        --------
        >>> options = CountingOptions.checked(distance="L2", ties="fp16", threads=2)
        >>> options.distance, options.rule, options.threads
        ('euclidean', Rounded('float16', of=None), 2)
        """
        workers: dict[str, Any] = {}
        if given.get("executor") is not None:
            device = given.pop("device", None)
            workers["worker_device"] = None if device is None else devices.name_of(device)
            workers["worker_threads"] = 1 if given.get("threads") is None else checks.thread_count(given["threads"])
        declared = {each.name: each.metadata for each in fields(cls) if each.metadata}
        values = {name: each["check"](given.get(each["name"], each["default"])) for name, each in declared.items()}
        return cls(**values, **workers)

    def fitted(self, pair: Pair) -> CountingOptions:
        """Return the same options for known rows: `junk` as a mask, `exclude` as the gallery row that each query is.

        What `exclude` leaves out by a rule becomes the mask, of which a part is written at a time.
        """
        n_query, n_gallery = len(pair.query.labels), len((pair.gallery or pair.query).labels)
        junk, exclude = arrays.junk_mask(self.junk, n_query, n_gallery), self.exclude
        separate = pair.gallery is not None
        relevant = None if self.relevant is None else open_relevant(self.relevant, n_query, n_gallery, separate)
        by_rule = None if exclude is None else open_excluded(exclude, n_query, n_gallery, separate)
        if by_rule is not None:
            if junk is not None:
                raise InvalidValueError("junk", "must be left out where exclude is a rule")
            junk, exclude = by_rule, None
        if exclude is not None and not separate:
            rule = "must be left out without a gallery, or be a rule: each query is left out already"
            raise InvalidValueError("exclude", rule)
        rows = None if exclude is None else item_ids.own_rows(exclude, n_query, n_gallery)
        return replace(self, relevant=relevant, junk=junk, exclude=rows)

    def open(self, embeddings: EmbeddingsLike, gallery: EmbeddingsLike | None = None) -> Distance:
        self.rule.check(distance_registry.find(self.distance))
        for rows in (embeddings, gallery):
            if isinstance(rows, Source):
                rows.threads = self.threads
        return distance_registry.make(self.distance, embeddings, gallery, self.rule.exact_only)

    def candidates(self, n_query: int, n_gallery: int, *, leave_one_out: bool) -> Candidates:
        junk = arrays.junk_mask(self.junk, n_query, n_gallery)
        return Candidates.of(n_query, n_gallery, junk, leave_one_out=leave_one_out, itself=self.exclude)


@dataclass(frozen=True)
class Work:
    """Queries to count against their gallery, or against each other.

    `opened` is the distance, if the caller has it. With `groups`, the queries are their rows, one group's after
    another's, and each is ranked against its group; the embeddings and the open distance are then those of all rows.
    """

    pair: Pair  # of rows, or words of bits
    settings: CountingOptions
    opened: Distance | None = None
    groups: Sequence[Int64] = ()

    @property
    def labels(self) -> Any:
        return self.pair.query.labels

    @property
    def gallery_labels(self) -> Any:
        """The labels of the gallery, None for leave one out."""
        return None if self.pair.gallery is None else self.pair.gallery.labels

    @cached_property
    def distance(self) -> Distance:
        query, gallery = self.pair[:2]
        if self.groups:
            return self.settings.open(taken(query.embeddings, self.groups[0]))
        return self.opened or self.settings.open(query.embeddings, gallery and gallery.embeddings)

    @cached_property
    def candidates(self) -> Candidates:
        n_query, n_item = len(self.labels), len(self.labels if self.pair.gallery is None else self.gallery_labels)
        return self.settings.candidates(n_query, n_item, leave_one_out=self.pair.gallery is None)


def taken(rows: Any, index: Int64) -> Array:
    """Return some rows of an array or of a source."""
    return np.asarray(rows[index] if isinstance(rows, np.ndarray) else rows.take(index))
