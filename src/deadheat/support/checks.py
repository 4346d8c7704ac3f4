"""Options that a caller gives: one of a list, a whole number, a number of threads."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support.lazy import difflib

MOST_THREADS = 1 << 16


def choice(value: Any, options: Iterable[str], name: str) -> str:
    """One of the options, or an error that lists them and suggests the nearest.

    Examples
    --------
    >>> choice("cosin", ["cosine", "euclidean"], "distance")
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: distance must be one of cosine, euclidean, but is 'cosin'; did you mean 'cosine'?
    """
    listed = list(options)
    rule = f"must be one of {', '.join(listed)}, but is {value!r}"
    if not isinstance(value, str):
        raise InvalidTypeError(name, rule)
    if value not in listed:
        near = difflib.get_close_matches(value.lower(), listed, n=1)
        raise InvalidValueError(name, rule + (f"; did you mean {near[0]!r}?" if near else ""))
    return value


def whole_number(value: Any, name: str, least: int = 0) -> int:
    """An integer of at least so much.

    Examples
    --------
    >>> whole_number(1, "group_size", 2)
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: group_size must be at least 2, but is 1
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InvalidTypeError(name, f"must be an integer, but is {value!r}") from None
    if number < least:
        raise InvalidValueError(name, f"must be at least {least}, but is {number}")
    return number


def positive_integer(value: Any, name: str) -> int:
    """An integer of at least 1."""
    return whole_number(value, name, 1)


def thread_count(threads: int | None) -> int:
    """How many threads to work with; by default, the processors that this process may use."""
    if threads is not None:
        number = positive_integer(threads, "threads")
        if number > MOST_THREADS:
            raise InvalidValueError("threads", f"must be at most {MOST_THREADS}, but is {number}")
        return number
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
