"""Steps of a sweep: a task of the same vectors in another format or with fewer dimensions, or of rounded scores.

task ──opened──> Vectors or RoundedScores ──at(step)──> the task of a step
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.rounding import Rounding, StorageFormat, require_finite
from deadheat.engine.evaluable import Evaluable
from deadheat.engine.sources.counted import CountedTask
from deadheat.engine.sources.judged import JudgedRows
from deadheat.engine.task import Task, rows_of, with_rows
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays
from deadheat.inputs.samples import Pair, Samples
from deadheat.inputs.source import Array, Source
from deadheat.support import checks
from deadheat.support.arrays import Float64

SCORES = ("float64", "float32", "bfloat16", "float16")  # formats of scores


class Step(NamedTuple):
    """A way to store a vector: its format, and how many of its dimensions; a score has one."""

    format: StorageFormat
    dim: int


@dataclass(frozen=True)
class Vectors:
    """The vectors of a task, queries and perhaps a gallery, and the rounding of all of them."""

    task: Task | CountedTask
    parts: Sequence[Float64]
    distance: str
    rounding: Rounding

    @classmethod
    def of(cls, task: Task | CountedTask, threshold: ArrayLike | str) -> Vectors:
        """Return the vectors in memory; (n, dim) float64."""
        if isinstance(task, Task):
            samples = (task.pair.query, task.pair.gallery)
            sources: Iterable[Source] = (part.embeddings for part in samples if part is not None)
            distance = task.options.distance
        else:
            sources, distance = task._opened[:2], task._settings["distance"]  # type: ignore[index]
        parts = [source.whole().astype(np.float64) for source in sources]
        if len(parts) > 1:
            arrays.require_same_dim(*parts)
        return cls(task, parts, distance, Rounding.of(parts, threshold))

    @property
    def dim(self) -> int:
        return int(self.parts[0].shape[1])

    def cut(self, dim: int) -> Vectors:
        """Return the first dimensions, which have a scale and a threshold of their own."""
        largest, threshold = self.rounding.largest[:dim], self.rounding.threshold
        rounding = Rounding(largest, threshold[:dim] if threshold.ndim else threshold)
        return replace(self, parts=[part[:, :dim] for part in self.parts], rounding=rounding)

    def at(self, step: Step) -> Evaluable:
        """Return the task on the vectors of a step."""
        cut, row = self.cut(step.dim), step.format
        stored: NDArray[Any] | None
        if row.float_query:
            queries, stored = cut.rounding.asymmetric(cut.parts[0], cut.parts[-1], row)
        else:
            scaled = self.distance != "cosine"  # which no scale of a vector changes
            queries, *rest = (cut.rounding.stored(part, row, scaled=scaled) for part in cut.parts)
            stored = rest[0] if rest else None
        require_finite(queries, cut.parts[0], row, "embeddings" if isinstance(self.task, Task) else "queries")
        if stored is not None:
            require_finite(stored, cut.parts[-1], row, "gallery")
        return self._task_of(queries, stored)

    def _task_of(self, queries: NDArray[Any], stored: NDArray[Any] | None) -> Evaluable:
        """Return the task on other numbers; without a gallery, it is leave one out."""
        task = self.task
        if isinstance(task, CountedTask):
            assert stored is not None
            opened = task._opened._replace(queries=Array(queries), gallery=Array(stored))  # type: ignore[attr-defined]
            return CountedTask(task.source, opened, task._settings)
        query, items = task.pair.query, task.pair.gallery
        if stored is None:
            return with_rows(task, Pair(Samples(Array(queries), query.labels), None))
        exclude = np.arange(len(stored)) if items is None else task.options.exclude
        labels = (query if items is None else items).labels
        return with_rows(task, Pair(Samples(Array(queries), query.labels), Samples(Array(stored), labels)), exclude)


@dataclass(frozen=True)
class RoundedScores:
    """A task of scores, which a system returns in a shorter type."""

    task: CountedTask
    dim = 1
    distance = None

    def at(self, step: Step) -> Evaluable:
        """Return the task on rounded scores."""
        return self.task.replace(ties=step.format.name)


def opened(task: Any, threshold: ArrayLike | str) -> Vectors | RoundedScores:
    """Return the vectors or the scores of a task, or refuse a task that has neither."""
    if isinstance(task, CountedTask) and isinstance(task._opened, JudgedRows):
        return Vectors.of(task, threshold)
    if isinstance(task, CountedTask) and "ties" in task._settings:
        if task.origin.tie_rule not in (None, "exact"):
            raise InvalidValueError("ties", f"must be exact, as formats round scores, but is {task.origin.tie_rule}")
        return RoundedScores(task)
    return Vectors.of(rows_of(task, "formats", several=True, pairs=True), threshold)


def dims_of(dims: Any, dim: int) -> list[int]:
    """Return the numbers of dimensions that a caller asks for, each once, the largest first."""
    listed = [dims] if isinstance(dims, int) else checks.listed(dims, "dims", "integers, such as (64, 128)")
    asked = sorted({checks.positive_integer(each, "dims") for each in listed}, reverse=True)
    if not asked:
        raise InvalidValueError("dims", "must name at least one number of dimensions, but got none")
    if asked[0] > dim:
        raise InvalidValueError("dims", f"must be at most {dim}, as embeddings have, but hold {asked[0]}")
    return asked
