"""Results that hold a part under each of some names, and can be used as a dictionary of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Generic, TypeVar, cast

from deadheat.errors import InputError

T = TypeVar("T")


class ByName(ABC, Generic[T]):
    """What a mapping can do, from the names and the part that each stands for; `dict` makes a dictionary of it.

    It is no `collections.abc.Mapping`, so that a report and a dictionary of reports can be told apart, and it is equal
    to nothing but itself. A name that is not among `iter` may stand for a part all the same: another name of one of
    them, or a part that is made when it is asked for.
    """

    @abstractmethod
    def __getitem__(self, name: str) -> T:
        """The part of this name; raises ValueError for a name that stands for none."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """The names."""

    def __len__(self) -> int:
        """How many names there are."""
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        """Whether this is one of the names."""
        return any(each == name for each in self)

    def keys(self) -> KeysView[str]:
        """The names."""
        return KeysView(self._mapping)

    def values(self) -> ValuesView[T]:
        """The parts, in the order of the names."""
        return ValuesView(self._mapping)

    def items(self) -> ItemsView[str, T]:
        """The names, each with its part."""
        return ItemsView(self._mapping)

    def get(self, name: str, default: Any = None) -> Any:
        """The part of this name, or the default where the name stands for none."""
        try:
            return self[name]
        except InputError:
            return default

    @property
    def _mapping(self) -> Mapping[str, T]:
        """Itself, as the views of the standard library take it: they use what is above."""
        return cast(Mapping[str, T], self)
