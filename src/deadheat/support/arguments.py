"""Names of arguments in errors: a function that checks a value need not know the name that its caller has for it.

Such a function raises errors about `VALUES`, or about a part of them. `naming`, around a block, or `names_argument`, on
the function, replaces that by the argument: "values[2] must be finite" becomes "gallery[2] must be finite". Another
argument that a message advises to use is written by `setting`, so that the command can name its option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from deadheat.errors import InputError, MissingPackageError

VALUES = "values"

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result", covariant=True)


def _named(error: InputError | MissingPackageError, argument: str) -> Exception:
    title, *rule = error.args
    rest = title.removeprefix(VALUES)
    if title == rest or rest[:1] not in ("", "[", ":"):
        return error
    if isinstance(error, MissingPackageError):
        return MissingPackageError(argument + rest, name=error.name)
    return type(error)(argument + rest, *rule)


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Name the argument in errors about its values."""
    try:
        yield
    except (InputError, MissingPackageError) as error:
        raise _named(error, argument) from error.__cause__


class Check(Protocol[_Parameters, _Result]):
    """A function of values, the name of their argument, and more."""

    def __call__(
        self, values: Any, argument: str = VALUES, /, *more: _Parameters.args, **options: _Parameters.kwargs
    ) -> _Result: ...


def names_argument(function: Callable[Concatenate[Any, _Parameters], _Result]) -> Check[_Parameters, _Result]:
    """Give a function of values a second parameter, by position: the name of the argument in its errors."""

    @wraps(function)
    def check(values: Any, argument: str = VALUES, /, *more: Any, **options: Any) -> Any:
        try:  # `naming` would take longer, and some values are checked one by one
            return function(values, *more, **options)
        except (InputError, MissingPackageError) as error:
            raise _named(error, argument) from error.__cause__

    return check


_spellings: ContextVar[Mapping[str, str]] = ContextVar("deadheat_spellings", default=MappingProxyType({}))


def setting(argument: str) -> str:
    """Return an argument as the caller writes it: ``exclude=`` in Python, or within `spelled`, another spelling."""
    return _spellings.get().get(argument, f"{argument}=")


@contextmanager
def spelled(spellings: Mapping[str, str]) -> Iterator[None]:
    """Write arguments in this way until the block ends, in messages with a `setting` and in titles of errors."""
    token = _spellings.set(spellings)
    try:
        yield
    except InputError as error:
        title, rule = error.args
        parts = [(InputError(part, "").argument, part) for part in title.split(" and ")]
        titles = [spellings.get(argument, argument) + part[len(argument) :] for argument, part in parts]
        raise type(error)(" and ".join(titles), rule) from None
    finally:
        _spellings.reset(token)
