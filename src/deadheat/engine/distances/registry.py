"""The distances there are, one row each: in comes a name, out comes its class, or a distance between embeddings.

A row, at the end, is a subclass of `Distance` in a file of its own. `register` checks it: whatever it lacks raises
here, at import, and not in the middle of a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from deadheat.engine.distances.cityblock import Cityblock
from deadheat.engine.distances.cosine import Cosine
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.euclidean import Euclidean
from deadheat.engine.distances.hamming import Hamming
from deadheat.engine.distances.inner_product import InnerProduct
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays
from deadheat.inputs.samples import open_rows
from deadheat.inputs.source import Source
from deadheat.support import checks


class Opener(NamedTuple):
    """How embeddings of one kind are opened."""

    pair: Callable[[Any, Any | None], tuple[Any, Any]]  # what a distance is made from: queries, and a gallery or them
    whole: Callable[[Any, str], Any]  # checked embeddings that can be opened more than once


def _pair_of_numbers(query: Any, gallery: Any | None) -> tuple[Source, Source]:
    """Rows of numbers, in memory or on disk."""
    queries = open_rows(query, "embeddings")
    if gallery is None:
        return queries, queries
    items = open_rows(gallery, "gallery")
    arrays.require_same_dim(queries, items)
    return queries, items


def _pair_of_codes(query: Any, gallery: Any | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Binary codes, as uint64 words."""
    query, gallery = _loaded(query, "embeddings"), None if gallery is None else _loaded(gallery, "gallery")
    queries = arrays.bits(query, "embeddings")
    if gallery is None:
        return queries, queries
    items = arrays.bits(gallery, "gallery")
    arrays.require_same_dim(query, gallery, codes=True)
    return queries, items


def _loaded(value: Any, name: str) -> Any:
    """Codes on disk are read as a whole, in the type that they have there: 256 bits are 32 bytes."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return open_rows(value, name).whole() if isinstance(first, (str, os.PathLike, Source)) else value


def _whole_codes(embeddings: Any, name: str) -> NDArray[Any]:
    """Binary codes, as they came."""
    codes = open_rows(embeddings, name).whole()
    arrays.bits(codes[:1], name)
    return codes


OPENERS = {"numbers": Opener(_pair_of_numbers, open_rows), "bits": Opener(_pair_of_codes, _whole_codes)}

DISTANCES: dict[str, type[Distance]] = {}

ALIASES = {
    "cos": "cosine", "l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock", "taxicab": "cityblock",
    "dot": "inner_product", "dot_product": "inner_product", "ip": "inner_product", "inner": "inner_product",
}  # fmt: skip


def register(kind: type[Distance]) -> None:
    """Add a distance, or say what it lacks."""
    if not (isinstance(kind, type) and issubclass(kind, Distance)):
        raise InvalidTypeError("distance", f"must be a subclass of Distance, but is {kind!r}")
    name = getattr(kind, "name", None)
    if not (isinstance(name, str) and name.isidentifier()):
        raise InvalidTypeError(f"distance: {kind.__name__}", f"must have a name, but has {name!r}")
    if name in DISTANCES:
        raise InvalidValueError(f"distance: {name}", "must have a name that is not taken")
    DISTANCES[name] = kind


def find(name: Any) -> type[Distance]:
    """The distance of this name."""
    return DISTANCES[named(name)]


def named(name: Any, *, takes: str | None = None) -> str:
    """The name of a distance as deadheat writes it, of those that take such embeddings ("numbers", "bits").

    Examples
    --------
    >>> named("L2"), named("dot"), named("manhattan")
    ('euclidean', 'inner_product', 'cityblock')
    """
    return checks.choice(name, names(takes=takes), "distance", ALIASES)


def names(*, takes: str | None = None, target: str | None = None) -> tuple[str, ...]:
    """The names of the distances that take such embeddings ("numbers", "bits") and have such a value to be rounded.

    Examples
    --------
    >>> names(takes="bits"), names(takes="numbers", target="distance")
    (('hamming',), ('cosine', 'euclidean', 'cityblock'))
    """
    return tuple(
        name
        for name, kind in DISTANCES.items()
        if takes in (None, kind.takes) and (target is None or target in kind.targets)
    )


def make(name: str, query: Any, gallery: Any | None, exact_only: bool) -> Distance:
    """Check embeddings and make the distance between them; without a gallery, from the queries to themselves.

    `exact_only` says that scores will only be compared with each other, so any increasing function will do.
    """
    kind = find(name)
    return kind.between(*OPENERS[kind.takes].pair(query, gallery), exact_only)


def opened(embeddings: Any, distance: str, name: str) -> Any:
    """Checked embeddings, to be used more than once: those on disk stay there, but binary codes come as a whole."""
    return OPENERS[find(distance).takes].whole(embeddings, name)


for _kind in (Cosine, Euclidean, InnerProduct, Cityblock, Hamming):
    register(_kind)
