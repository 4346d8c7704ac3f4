"""What all blocks of a pass share, and what names a run of it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.candidates import Relevance
from deadheat.distances import Distance
from deadheat.support.arrays import Int64, offsets_of
from deadheat.support.lazy import hashlib
from deadheat.ties import Ties


class RankingProblem:
    """The distance, what tied means, who is relevant, and how much each column weighs.

    The columns of each class are in CSR form: `class_keys` holds class · n_column + column, ascending, and
    `class_count` how many ranked items of the class are in it.
    """

    def __init__(self, distance: Distance, rule: Ties, relevance: Relevance) -> None:
        self.distance, self.rule, self.relevance = distance, rule, relevance
        self.n_column = len(distance.columns)
        ranked = np.flatnonzero(relevance.candidates.ranked)
        column = distance.columns.column_of_item[ranked]
        self.weight = np.bincount(column, minlength=self.n_column).astype(np.int32)  # ranked items in each column
        self.plain = bool((self.weight == 1).all())
        classes, items = relevance.members()
        keys = classes * self.n_column + distance.columns.column_of_item[items]
        self.class_keys, self.class_count = np.unique(keys, return_counts=True)
        self.class_start = np.searchsorted(self.class_keys, np.arange(relevance.n_class + 1) * self.n_column)

    def at(self, distance: Distance) -> Self:
        """The same problem with the distance at other levels."""
        other = copy(self)
        other.distance = distance
        return other

    @cached_property
    def items_of_columns(self) -> tuple[Int64, Int64]:
        """The ranked items, column by column and ascending in each, and where those of each column begin, and end."""
        ranked, column_of_item = np.flatnonzero(self.relevance.candidates.ranked), self.distance.columns.column_of_item
        items = ranked[np.argsort(column_of_item[ranked], kind="stable")]
        return items, offsets_of(self.weight)

    @cached_property
    def width(self) -> Int64:
        """In how many columns each query's class is."""
        classes = self.relevance.query_class
        return np.where(classes >= 0, np.diff(self.class_start)[classes], 0)

    @cached_property
    def most_groups(self) -> Int64:
        """How many groups each query can have: its class's columns, but for one that is left when it is taken out."""
        relevance, candidates = self.relevance, self.relevance.candidates
        item = candidates.itself_of(np.arange(candidates.n_query))
        own = (item >= 0) & candidates.ranked[item] & (relevance.gallery_class[item] == relevance.query_class)
        query, item = np.flatnonzero(own), item[own]
        keys = relevance.query_class[query] * self.n_column + self.distance.columns.column_of_item[item]
        most = self.width.copy()
        most[query] -= self.class_count[np.searchsorted(self.class_keys, keys)] == 1
        return most

    def identity(self) -> dict[str, str]:
        """What a profile follows from, for a checkpoint."""
        return identity(self.distance.name, self.rule, self.relevance, self.distance.fingerprint)


def identity(distance: str, rule: Ties, relevance: Relevance, fingerprint: Callable[[bool], str]) -> dict[str, str]:
    """What a profile follows from; `fingerprint` digests the embeddings of the queries, or of the gallery."""
    candidates = relevance.candidates
    parts = {"query embeddings": fingerprint(True), "distance": distance, "ties": rule.describe(distance)}
    if not candidates.symmetric:
        parts["gallery embeddings"] = fingerprint(False)
        if candidates.itself is not None:
            parts["items left out"] = _digest(candidates.itself)
    parts["labels"] = _digest(relevance.query_class, relevance.gallery_class)
    masks = candidates.masks()
    return {**parts, "junk": _digest(*masks)} if masks else parts


def _digest(*arrays: NDArray[Any]) -> str:
    """A digest of arrays, of their shapes and types."""
    digest = hashlib.blake2b(digest_size=32)
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
