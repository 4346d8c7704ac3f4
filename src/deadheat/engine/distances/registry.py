"""Registry of distances: in comes a name, out comes its class, or a distance between embeddings."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from deadheat.engine.distances.cityblock import Cityblock
from deadheat.engine.distances.cosine import Cosine
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.euclidean import Euclidean
from deadheat.engine.distances.hamming import Hamming
from deadheat.engine.distances.inner_product import InnerProduct
from deadheat.inputs import arrays
from deadheat.inputs.samples import open_rows
from deadheat.inputs.source import Source
from deadheat.support import checks

DISTANCES: dict[str, type[Distance]] = {
    kind.name: kind for kind in (Cosine, Euclidean, InnerProduct, Cityblock, Hamming)
}

ALIASES = {
    "cos": "cosine", "l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock", "taxicab": "cityblock",
    "dot": "inner_product", "dot_product": "inner_product", "ip": "inner_product", "inner": "inner_product",
}  # fmt: skip


def find(name: Any) -> type[Distance]:
    return DISTANCES[named(name)]


def named(name: Any, *, takes: str | None = None, argument: str = "distance") -> str:
    """Return the canonical name of a distance, of those that take such embeddings ("numbers", "bits").

    Examples
    --------
    >>> named("L2"), named("dot"), named("manhattan")
    ('euclidean', 'inner_product', 'cityblock')
    """
    return checks.choice(name, names(takes=takes), argument, ALIASES)


def names(*, takes: str | None = None) -> tuple[str, ...]:
    """Return the names of the distances that take such embeddings ("numbers", "bits"); by default of all."""
    return tuple(name for name, kind in DISTANCES.items() if takes in (None, kind.takes))


def make(name: str, query: Any, gallery: Any | None, exact_only: bool) -> Distance:
    """Check embeddings and make the distance between them; without a gallery, from the queries to themselves.

    `exact_only` says that scores will only be compared with each other, so any increasing function will do.
    """
    kind = find(name)
    if kind.takes == "numbers":
        queries: Any = open_rows(query, "embeddings")
        items: Any = queries if gallery is None else open_rows(gallery, "gallery")
        if gallery is not None:
            arrays.require_same_dim(queries, items)
    else:
        query, gallery = _codes(query, "embeddings"), None if gallery is None else _codes(gallery, "gallery")
        queries = arrays.bits(query, "embeddings")
        items = queries if gallery is None else arrays.bits(gallery, "gallery")
        if gallery is not None:
            arrays.require_same_dim(query, gallery, codes=True)
    return kind.between(queries, items, exact_only)


def check(name: str, query: Source, gallery: Source | None) -> None:
    """Refuse open rows that a distance does not take, by their types and shapes, before they are read."""
    of_bits = find(name).takes == "bits"
    first = [np.zeros((1, rows.shape[1]), rows.stored) for rows in (query, gallery) if rows is not None]
    if of_bits:
        for row, argument in zip(first, ("embeddings", "gallery"), strict=False):
            arrays.bits(row, argument)
    if len(first) == 2:
        arrays.require_same_dim(first[0], first[1], codes=of_bits)


def opened(embeddings: Any, distance: str, name: str) -> Any:
    """Open checked embeddings, to be used more than once: those on disk stay there, but binary codes are read whole."""
    rows = open_rows(embeddings, name)
    if find(distance).takes == "numbers":
        return rows
    codes = rows.whole()
    arrays.bits(codes[:1], name)
    return codes


def _codes(value: Any, name: str) -> Any:
    """Read codes on disk as a whole, in the type that they have there: 256 bits are 32 bytes."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return open_rows(value, name).whole() if isinstance(first, (str, os.PathLike, Source)) else value
