"""Building blocks of results: lower, expected and upper of a measure, and parts by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Generic, NamedTuple, TypeVar, cast

from deadheat.errors import InputError

T = TypeVar("T")


class Triple(NamedTuple, Generic[T]):
    """Lower bound, expectation and upper bound: three numbers, arrays or intervals.

    NaN where undefined. Numbers and arrays have ``lower <= expected <= upper`` wherever they are defined.

    Examples
    --------
    >>> Triple(0.25, 0.5, 1.0).upper
    1.0
    """

    lower: T
    expected: T
    upper: T


class ByName(ABC, Generic[T]):
    """The methods of a mapping, made from `__getitem__` and `__iter__`; `dict` converts it to a dictionary.

    It is no `collections.abc.Mapping`, so that a report differs from a dictionary of reports, and it is equal to
    nothing but itself. A name that `iter` does not list may still have a part: an alias, or a part made on demand.
    """

    @abstractmethod
    def __getitem__(self, name: str) -> T:
        """Return the part of this name; raise ValueError if there is none."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """Yield the names."""

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(each == name for each in self)

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return KeysView(cast(Mapping[str, T], self))

    def values(self) -> ValuesView[T]:
        """Return the parts, in the order of the names."""
        return ValuesView(cast(Mapping[str, T], self))

    def items(self) -> ItemsView[str, T]:
        """Return the names, each with its part."""
        return ItemsView(cast(Mapping[str, T], self))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the part of this name, or the default if there is none."""
        try:
            return self[name]
        except InputError:
            return default
