"""The options of a counting pass, checked and resolved once, by the public function."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.distance import Distance
from deadheat.engine.ties import registry as tie_registry
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, item_ids
from deadheat.inputs.samples import EmbeddingsLike, Pair
from deadheat.inputs.source import Source
from deadheat.support import checks
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


@dataclass(frozen=True)
class CountingOptions:
    """Options of a counting pass, in addition to embeddings and labels."""

    distance: str
    rule: Ties
    threads: int
    junk: Any = None  # as it was given; once `fitted`, a mask, (n_gallery,) or (n_query, n_gallery) bool
    progress: bool | Progress = False
    checkpoint: str | os.PathLike[str] | None = None
    device: devices.Card | None = None
    exclude: Any = None  # as it was given; once `fitted`, (n_query,) int64
    executor: Executor | None = None
    worker_threads: int = 1  # of each worker of the executor,
    worker_device: str | None = None  # and its card
    relevance: str | None = None  # of several labels a row

    @classmethod
    def checked(
        cls,
        *,
        distance: str = "cosine",
        ties: str | Ties = "exact",
        junk: ArrayLike | None = None,
        threads: int | None = None,
        progress: bool | Progress = False,
        checkpoint: str | os.PathLike[str] | None = None,
        device: Any = None,
        exclude: Any = None,
        executor: Any = None,
        relevance: str | None = None,
    ) -> CountingOptions:
        """Check options as `deadheat.Task` takes them, and resolve names to the objects that they stand for.

        Examples
        --------
        >>> options = CountingOptions.checked(distance="L2", ties="fp16", threads=2)
        >>> options.distance, options.rule, options.threads
        ('euclidean', Rounded('float16', of=None), 2)
        """
        rule, n_thread = tie_registry.make(ties), checks.thread_count(threads)
        opened = None if device is None or executor is not None else devices.open_card(device)
        distance = distance_registry.named(distance)
        require_progress(progress)
        if relevance is not None:
            checks.choice(relevance, RELEVANCE, "relevance")
        pool = None if executor is None else executors.executor_given(executor)
        worker_threads = 1 if threads is None else n_thread
        worker_device = None if executor is None or device is None else devices.name_of(device)
        return cls(
            distance, rule, n_thread, junk, progress, checkpoint, opened, exclude, pool, worker_threads, worker_device,
            relevance,
        )  # fmt: skip

    def fitted(self, pair: Pair) -> CountingOptions:
        """Return the same options for known rows: `junk` as a mask, `exclude` as the gallery row that each query is."""
        n_query, n_gallery = len(pair.query.labels), len((pair.gallery or pair.query).labels)
        junk = arrays.junk_mask(self.junk, n_query, n_gallery)
        if self.exclude is None:
            return replace(self, junk=junk)
        if pair.gallery is None:
            raise InvalidValueError("exclude", "must be left out without a gallery: each query is left out already")
        return replace(self, junk=junk, exclude=item_ids.own_rows(self.exclude, n_query, n_gallery))

    def open(self, embeddings: EmbeddingsLike, gallery: EmbeddingsLike | None = None) -> Distance:
        self.rule.check(distance_registry.find(self.distance))
        for rows in (embeddings, gallery):
            if isinstance(rows, Source):
                rows.threads = self.threads
        return distance_registry.make(self.distance, embeddings, gallery, self.rule.exact_only)

    def candidates(self, n_query: int, n_gallery: int, *, leave_one_out: bool) -> Candidates:
        junk = arrays.junk_mask(self.junk, n_query, n_gallery)
        return Candidates.of(n_query, n_gallery, junk, leave_one_out=leave_one_out, itself=self.exclude)
