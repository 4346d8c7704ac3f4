"""Checks of the results that a plot is given: one, or several by name. The axes are checked by `style.axes`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

from deadheat.errors import InvalidTypeError, InvalidValueError, printable
from deadheat.measures.family import Measure
from deadheat.reports.answer import KINDS, ValueKind
from deadheat.support import checks

T = TypeVar("T")

_MOST_CUTOFFS = 1000  # of a curve that names each: more than a picture shows


def one(value: Any, kind: type[T], name: str) -> T:
    """Return a result, checked to be of its kind.

    Examples
    --------
    >>> one(3, dict, "report")
    Traceback (most recent call last):
    deadheat.errors.InvalidTypeError: report must be of type dict, but is of type int
    """
    if not isinstance(value, kind):
        raise InvalidTypeError(name, f"must be of type {kind.__name__}, but is of type {type(value).__name__}")
    return value


def kind_of(value: Any) -> ValueKind:
    """Return the unit of a result, and how it is shown: that of its measure, or a fraction in per cent."""
    measure = getattr(value, "measure", None)
    return KINDS[measure.unit if isinstance(measure, Measure) else "fraction"]


def several(values: Any, kind: type[T], name: str, alone: str = "") -> dict[str, T]:
    """Return results of one kind by name; a single one under the name `alone`, if that is given.

    Examples
    --------
    >>> several({"a": 1}, int, "reports"), several(1, int, "reports", alone="expected")
    ({'a': 1}, {'expected': 1})
    >>> several({"a": 1.5}, int, "reports")
    Traceback (most recent call last):
    deadheat.errors.InvalidTypeError: reports must map names to type int, but 'a' is of type float
    """
    if alone and isinstance(values, kind):
        return {alone: values}
    if not isinstance(values, Mapping):
        rule = f"{f'be of type {kind.__name__}, or ' if alone else ''}map names to type {kind.__name__}"
        hint = "; draw its reports" if isinstance(getattr(values, "reports", None), Mapping) else ""
        raise InvalidTypeError(name, f"must {rule}, but is of type {type(values).__name__}{hint}")
    if not len(values):
        raise InvalidValueError(name, f"must hold at least one {name.removesuffix('s')}, but is empty")
    for key, value in values.items():
        if not isinstance(value, kind):
            given = f"{checks.shown(key)} is of type {type(value).__name__}"
            raise InvalidTypeError(name, f"must map names to type {kind.__name__}, but {given}")
    return {drawable(key): value for key, value in values.items()}


def drawable(value: Any) -> str:
    """Return a value as text with characters that no font has escaped, but with its line breaks.

    Examples
    --------
    >>> drawable("caf\\udce9"), drawable(3)
    ('caf\\\\udce9', '3')
    """
    try:
        text = str(value)
    except Exception:  # of an object of somebody else
        text = checks.shown(value)
    return "\n".join(map(printable, text.split("\n")))


def cutoffs(k: Any, n_step: int) -> list[int]:
    """Return cutoffs in ascending order: those of an iterable, or up to the largest in at most `n_step` round steps.

    Examples
    --------
    >>> cutoffs([5, 1, 5], 20), cutoffs(7, 20), cutoffs(199, 4)
    ([1, 5], [1, 2, 3, 4, 5, 6, 7], [1, 50, 100, 150, 199])
    """
    if isinstance(k, Iterable) and not isinstance(k, (str, bytes)):
        try:
            given = list(islice(k, _MOST_CUTOFFS + 1))
        except Exception as error:  # of an iterator of somebody else
            raise InvalidTypeError("k", f"must be cutoffs, but is {checks.shown(k)}") from error
        item = [checks.positive_integer(one, "k") for one in given]
        if not 0 < len(item) <= _MOST_CUTOFFS:
            shown = "none" if not item else "more"
            raise InvalidValueError("k", f"must hold from 1 to {_MOST_CUTOFFS} cutoffs, but holds {shown}")
        return sorted(set(item))
    most = checks.positive_integer(k, "k", 2**53)
    step = next(
        factor * 10**power for power in range(20) for factor in (1, 2, 5) if factor * 10**power * n_step >= most
    )
    return sorted({1, *range(step, most, step), most})
