"""Checks of options that a caller gives: one of a list, a whole number, a number of threads."""

from __future__ import annotations

import math
import numbers
import operator
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from deadheat.errors import InvalidTypeError, InvalidValueError, reason
from deadheat.support.lazy import difflib, lazy

inspect: Any = lazy("inspect")

MOST_THREADS = 1 << 16

T = TypeVar("T")


def choice(value: Any, options: Iterable[str], name: str, aliases: Mapping[str, str] | None = None) -> str:
    """Return one of the options, or raise an error that lists them and suggests the nearest.

    `aliases` are other names for some of them, in lower case; their case does not matter.
    """
    known = list(options)
    rule = f"must be one of {', '.join(known)}, but is {shown(value)}"
    if not isinstance(value, str):
        raise InvalidTypeError(name, rule)
    meant = (aliases or {}).get(value.lower(), value)
    if meant not in known:
        near = difflib.get_close_matches(value.lower(), known, n=1)
        raise InvalidValueError(name, rule + (f"; did you mean {near[0]!r}?" if near else ""))
    return meant


def part(parts: Mapping[str, T], name: Any, argument: str = "name") -> T:
    """Return the part of a result that has this name, or raise an error that lists the names."""
    return parts[name if isinstance(name, str) and name in parts else choice(name, parts, argument)]


_BOUND = ("self", "cls")
_OTHER_NAMES = {
    "metric": "distance", "similarity": "distance", "metrics": "measures", "n_jobs": "threads", "rng": "seed",
    "random_state": "seed",
}  # fmt: skip
OF_TASK: set[str] = set()  # the settings of a task, as `engine.settings` declares them


def wrong_arguments(function: Any, error: TypeError) -> InvalidTypeError | None:
    """Return an error that names the arguments of a function, in place of Python's; None for any other error.

    It is for an unknown argument, of which it suggests the one that was meant, and for too many by position.

    Examples
    --------
    >>> print(wrong_arguments(choice, TypeError("choice() got an unexpected keyword argument 'alias'")))
    alias is no argument of choice; did you mean aliases=?
    >>> print(wrong_arguments(choice, TypeError("choice() got an unexpected keyword argument 'tolerance'")))
    tolerance is no argument of choice, which takes value, options, name, aliases
    >>> print(wrong_arguments(thread_count, TypeError("thread_count() takes 1 positional argument but 3 were given")))
    thread_count takes 1 argument by position (threads), but got 3
    """
    held = _TOO_MANY.search(str(error))
    _, unexpected, name = str(error).partition("() got an unexpected keyword argument ")
    if held is None and not unexpected:
        return None
    title = function.__name__
    title = function.__qualname__.split(".")[0] if title == "__init__" else title
    parameters = inspect.signature(function).parameters
    by_name = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY]
    by_place = [name for name, each in parameters.items() if each.kind <= each.POSITIONAL_OR_KEYWORD]
    known = [name for name in by_place if name not in _BOUND]
    if held is None:
        return no_argument(name.split("'")[1], title, [*known, *by_name])
    return _too_many(title, known, by_name, int(held[1]) - (len(by_place) - len(known)))


_TOO_MANY = re.compile(r"\(\) takes .* positional arguments? but (\d+) ")


def _too_many(function: str, by_place: Sequence[str], by_name: Sequence[str], n: int) -> InvalidTypeError:
    """Return the error for too many arguments by position, with those that go by name."""
    takes = f"{len(by_place)} argument{'s' * (len(by_place) != 1)} by position"
    takes += f" ({', '.join(by_place)})" if by_place else ""
    hint = f"; by name it takes {', '.join(f'{name}=' for name in by_name)}" if by_name else ""
    if by_place == ["task"]:
        hint = f"; of rows and labels make a task, dh.Task(embeddings, labels){hint}"
    return InvalidTypeError(function, f"takes {takes}, but got {n}{hint}")


def no_argument(name: str, function: str, known: Sequence[str]) -> InvalidTypeError:
    """Return the error for an argument that a function does not have, with the one that was meant.

    Examples
    --------
    >>> print(no_argument("n_jobs", "evaluate", ["threads", "measures"]))
    n_jobs is no argument of evaluate; did you mean threads=?
    """
    if "task" in known and name in OF_TASK:
        return InvalidTypeError(name, of_task(name))
    near = [_OTHER_NAMES.get(name, name)]
    near = near if near[0] in known else difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    hint = f"; did you mean {near[0]}=?" if near else f", which takes {', '.join(known)}"
    return InvalidTypeError(name, f"is no argument of {function}{hint}")


def of_task(name: str, maker: str = "Task", *, replaced: bool = True) -> str:
    """Return the rule for a setting of a task that is given to a function of the task."""
    instead = f", or take task.replace({name}=...)" if replaced and name in OF_TASK else ""
    return f"belongs to the task: give it to dh.{maker}{instead}"


def shown(value: Any) -> str:
    """Format a value for a message, shortened if it is long.

    Examples
    --------
    >>> shown(10**5000), shown("a")
    ('an integer of thousands of digits', "'a'")
    """
    try:
        text = repr(value)
    except Exception:  # of an object of somebody else; Python does not write large numbers
        is_number = isinstance(value, int)
        return "an integer of thousands of digits" if is_number else f"an object of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def cause(error: BaseException) -> str:
    """Return the type of an error of another library and what it says, in one short line."""
    try:
        said = reason(error)
    except Exception:  # its text is an error itself
        said = ""
    return f"{type(error).__name__}{said and ': '}{said}"


def few(names: Collection[Any]) -> str:
    """Format the number of some names and the first of them."""
    return f"{len(names)} ({', '.join(map(shown, list(names)[:3]))}{', …' if len(names) > 3 else ''})"


def path(value: Any, name: str = "path") -> str:
    """Return a path as a string, and refuse anything that is no path or that no system accepts.

    Integers are file descriptors to `open`, and paths in bytes are text in an unknown encoding.
    """
    text = None
    with suppress(Exception):  # an `__fspath__` of somebody else may raise anything
        text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise InvalidTypeError(name, f"must be a path (a string or a path object), but is {shown(value)}")
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        rule = "must be a path that the system can encode, without surrogates"
        raise InvalidValueError(name, f"{rule}, but is {shown(text)}") from None
    if b"\0" in encoded:
        raise InvalidValueError(name, f"must be a path without a NUL character, but is {shown(text)}")
    return text


def flag(value: Any, name: str) -> bool:
    """Return True or False, and refuse any other value."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(name, f"must be True or False, but is {shown(value)}")
    return bool(value)


def takes(function: Any, *args: Any) -> bool:
    """Return whether something can be called with these arguments, as far as it has a signature.

    Examples
    --------
    >>> takes(choice), takes(print, 1, 2), takes(3)
    (False, True, False)
    """
    if not callable(function):
        return False
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # it has none
        return True
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True


def listed(values: Any, name: str, kind: str) -> list[Any]:
    """Return several things as a list; text, bytes and anything that is not iterable are refused as no such `kind`."""
    try:
        if not isinstance(values, (str, bytes)):
            return list(values)
    except Exception as error:  # of an iterator of somebody else: it has raised this
        raise InvalidTypeError(name, f"must be {kind}, but is {shown(values)}") from error
    raise InvalidTypeError(name, f"must be {kind}, but is {shown(values)}")


def mapping(values: Any, name: str, kind: str) -> Mapping[str, Any]:
    """Check a dictionary by names, such as those of models."""
    if not isinstance(values, Mapping):
        raise InvalidTypeError(name, f"must be {kind}, but is {shown(values)}")
    odd = next((each for each in values if not isinstance(each, str)), None)
    if odd is not None:
        raise InvalidTypeError(name, f"must have strings as names, but has {shown(odd)}")
    return values


def two_names(names: Any) -> tuple[str, str]:
    """Check the names of two things, and return them."""
    called = listed(names, "names", "two strings that are not empty")
    if len(called) != 2 or not all(isinstance(name, str) and name.strip() for name in called):
        raise InvalidTypeError("names", f"must be two strings that are not empty, but is {shown(names)}")
    if called[0] == called[1]:
        raise InvalidValueError("names", f"must be two different ones, but both are {called[0]!r}")
    return called[0], called[1]


def text(value: Any, name: str) -> str:
    """Return a string, and refuse any other value."""
    if not isinstance(value, str):
        raise InvalidTypeError(name, f"must be a string, but is {shown(value)}")
    return value


def no_number(value: Any, got: str | None = None) -> str:
    """Return the rule that something breaks which is neither an integer nor a float, with what makes one of it.

    `got` describes the value in place of the value itself, where that may come from a file.

    Examples
    --------
    >>> no_number("x"), no_number("1.0")
    ("must be a number, but is 'x'", "must be a number, but is '1.0', which is text: float() makes a number of it")
    """
    got = got or shown(value)
    rule = f"must be a number, but is {got}"
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.timedelta64)):  # a Fraction
        return f"must be an integer or a float, but is {got}: float() makes one of it"
    with suppress(Exception):  # whose text of somebody else may raise anything
        if isinstance(value, str) and "_" not in value and math.isfinite(float(value)):
            return f"{rule}, which is text: float() makes a number of it"
    return rule


def real_number(value: Any, name: str, *, least: float = -math.inf) -> float:
    """Return a finite number as a float, and refuse any other value."""
    is_odd = isinstance(value, (bool, np.bool_, str, np.timedelta64))  # a duration is a number to NumPy
    if is_odd or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InvalidTypeError(name, no_number(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and number >= least):
        rule = "must be finite and not negative" if least == 0 else "must be finite"
        raise InvalidValueError(name, f"{rule}, but is {shown(value)}")
    return number


def whole_number(value: Any, name: str, least: int = 0, most: int | None = None) -> int:
    """Return an integer between `least` and `most`, and refuse any other value."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = int(operator.index(value))  # not of a class of somebody else
    except Exception:  # an `__index__` of somebody else may raise anything
        raise InvalidTypeError(name, f"must be an integer, but is {shown(value)}") from None
    if number < least:
        raise InvalidValueError(name, f"must be at least {least}, but is {shown(number)}")
    if most is not None and number > most:
        raise InvalidValueError(name, f"must be at most {most}, but is {shown(number)}")
    return number


def positive_integer(value: Any, name: str, most: int | None = None) -> int:
    """Return an integer of at least 1, and refuse any other value."""
    return whole_number(value, name, 1, most)


def seed(value: Any) -> int:
    """Return a seed of random numbers, checked."""
    return whole_number(value, "seed", most=2**128 - 1)


def thread_count(threads: int | None) -> int:
    """Return the number of threads, checked; by default, the processors that this process may use."""
    if threads is not None:
        return positive_integer(threads, "threads", MOST_THREADS)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
