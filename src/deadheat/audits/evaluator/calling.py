"""A stranger's function is called, and whatever it does, an answer comes back: a number, or what was raised."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from deadheat.printable import reason
from deadheat.support import checks
from deadheat.support.arrays import Array
from deadheat.support.lazy import lazy
from deadheat.support.means import exact_mean

FORMS = {
    "embeddings": "fn(embeddings, labels)",
    "scores": "fn(scores, relevant), a row a query",
    "query": "fn(scores, relevant), of one query",
}

Evaluator = Callable[[Array, Array], Any]


class Answer(NamedTuple):
    """What came back: a value (NaN where there is none), or what was raised; and whether it wrote to its arguments."""

    value: float
    error: str | None = None
    wrote: bool = False


def ask(fn: Evaluator, form: str, first: Array, second: Array) -> Answer:
    """Call a function with copies of its arguments; of one query at a time, take the mean over those that ask."""
    given = first.copy(), second.copy()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = _mean_of_queries(fn, *given) if form == "query" else _number(fn(*given))
    except (Exception, SystemExit) as error:
        return Answer(math.nan, f"{type(error).__name__}: {reason(error)}".strip(": "))
    wrote = not all(np.array_equal(before, after) for before, after in zip((first, second), given, strict=True))
    return Answer(value, wrote=wrote)


def _mean_of_queries(fn: Evaluator, scores: Array, relevant: Array) -> float:
    """The mean over the queries with something relevant; of a single query whatever it has."""
    asking = relevant.astype(bool).any(axis=1) | (len(relevant) == 1)
    values = [_number(fn(*row)) for row in zip(scores[asking], relevant[asking], strict=True)]
    return math.nan if any(map(math.isnan, values)) else exact_mean(np.array(values))


def _number(value: Any) -> float:
    """One number, of any library's."""
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"an evaluator must return one number, but returned {checks.shown(value)}") from None


def thread_control() -> bool:
    """Whether threads of libraries can be limited in this process."""
    return find_spec("threadpoolctl") is not None


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let BLAS, OpenMP and PyTorch work with so many threads for a while."""
    with lazy("threadpoolctl").threadpool_limits(limits=n):
        torch = lazy("sys").modules.get("torch")
        if torch is None:
            yield
            return
        before = torch.get_num_threads()
        torch.set_num_threads(n)
        try:
            yield
        finally:
            torch.set_num_threads(before)
