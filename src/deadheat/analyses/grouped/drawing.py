"""Which classes are together: in come labels, out go groups of equally many classes, drawn at random."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import inputs
from deadheat.errors import InvalidValueError
from deadheat.profiles import Int64
from deadheat.support import checks

Label = int | str


class Draw(NamedTuple):
    """Classes, by their place among the sorted labels: those of each group, (n_group, group_size), and the rest."""

    groups: Int64
    left_over: Int64


class Drawing(NamedTuple):
    """How groups are drawn: the arguments of `grouped` of the same names, checked."""

    group_size: int
    seed: int
    repeats: int

    @classmethod
    def checked(cls, group_size: int, seed: int, repeats: int) -> Drawing:
        """The options, or an error that names the argument."""
        size = checks.whole_number(group_size, "group_size", 2)
        return cls(size, checks.whole_number(seed, "seed"), checks.whole_number(repeats, "repeats", 1))

    def draws(self, n_class: int) -> tuple[Draw, ...]:
        """A draw for each repeat."""
        if n_class < self.group_size:
            rule = f"must be at most the number of classes, {n_class}, but is {self.group_size}"
            raise InvalidValueError("group_size", rule)
        return tuple(draw(n_class, self.group_size, self.seed, repeat) for repeat in range(self.repeats))


def draw(n_class: int, group_size: int, seed: int, repeat: int = 0) -> Draw:
    """Split classes at random into groups of exactly `group_size`; every split is equally likely.

    Each class gets a key of 64 bits from NumPy's PCG64, seeded with ``SeedSequence([seed, repeat])``, whose stream is
    the same on every machine and for ever; by ascending key, the classes fill one group after another.

    Parameters
    ----------
    n_class : int
        Classes are numbered by their place among the sorted labels: integers by value, strings by code points.
    group_size, seed, repeat : int

    Examples
    --------
    >>> groups, left_over = draw(7, 3, seed=0)
    >>> groups
    array([[3, 2, 1],
           [6, 0, 4]])
    >>> left_over
    array([5])
    """
    keys = np.random.PCG64(np.random.SeedSequence([seed, repeat])).random_raw(n_class)
    order, stop = np.argsort(keys, kind="stable"), n_class // group_size * group_size
    return Draw(order[:stop].reshape(-1, group_size), order[stop:])


def sorted_classes(labels: NDArray[Any]) -> tuple[tuple[Label, ...], Int64]:
    """The distinct labels, sorted, and the place of each sample's label among them."""
    _, codes = inputs.label_codes(labels)
    _, first = np.unique(codes, return_index=True)
    names = [_plain(label) for label in labels[first].tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return tuple(names[code] for code in order), place[codes]


def _plain(label: Any) -> Label:
    """A label as the plain integer or string that it is compared as."""
    if isinstance(label, bytes):
        return label.decode("latin-1")
    return str(label) if isinstance(label, str) else int(label)


def items_of_groups(classes: Int64, groups: Int64) -> tuple[Int64, ...]:
    """The samples of the classes in each group, (n_group, group_size), by their order in the data."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(classes.max() + 2))
    return tuple(
        np.concatenate([order[starts[number] : starts[number + 1]] for number in group]) for group in groups.tolist()
    )
