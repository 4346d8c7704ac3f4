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


class Classes(NamedTuple):
    """The distinct labels of queries and gallery, sorted, and the place of each sample's label among them."""

    names: tuple[Label, ...]
    query: Int64
    gallery: Int64 | None


def sorted_classes(labels: NDArray[Any], gallery_labels: NDArray[Any] | None = None) -> Classes:
    """Number the classes of queries and gallery; a label that only one of both has is a class too.

    Examples
    --------
    >>> sorted_classes(np.array(["c", "a"]), np.array(["b", "c", "b"]))
    Classes(names=('a', 'b', 'c'), query=array([2, 0]), gallery=array([1, 2, 1]))
    """
    query, gallery = inputs.label_codes(labels, gallery_labels)
    codes, everything = query, labels.tolist()
    if gallery_labels is not None:
        alone = np.flatnonzero(query < 0)  # of a class that the gallery does not have
        if len(alone):
            query[alone] = 1 + gallery.max() + inputs.label_codes(labels[alone])[0]
        codes, everything = np.concatenate([gallery, query]), [*gallery_labels.tolist(), *everything]
    _, first = np.unique(codes, return_index=True)
    names = [_plain(everything[place]) for place in first.tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return Classes(
        tuple(names[code] for code in order), place[query], None if gallery_labels is None else place[gallery]
    )


def _plain(label: Any) -> Label:
    """A label as the plain integer or string that it is compared as."""
    if isinstance(label, bytes):
        return label.decode("latin-1")
    return str(label) if isinstance(label, str) else int(label)


def items_of_groups(classes: Int64, groups: Int64) -> tuple[Int64, ...]:
    """The samples of the classes in each group, (n_group, group_size), class by class, in order."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(groups.max() + 2))
    return tuple(
        np.concatenate([order[starts[number] : starts[number + 1]] for number in group]) for group in groups.tolist()
    )
