"""Opening embeddings: what a distance takes, rows of numbers or of bits, checked, from whatever was handed over."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from deadheat import inputs
from deadheat.inputs.sources import Source, open_rows


class Opener(NamedTuple):
    """How embeddings of one kind are opened.

    Attributes
    ----------
    pair : callable (query, gallery) -> (queries, items)
        What a distance is made from; without a gallery, one object twice.
    whole : callable (embeddings, name) -> embeddings
        Checked embeddings that can be opened more than once.
    """

    pair: Callable[[Any, Any | None], tuple[Any, Any]]
    whole: Callable[[Any, str], Any]


def _pair_of_numbers(query: Any, gallery: Any | None) -> tuple[Source, Source]:
    """Rows of numbers, in memory or on disk."""
    queries = open_rows(query, "embeddings")
    if gallery is None:
        return queries, queries
    items = open_rows(gallery, "gallery")
    inputs.require_same_dim(queries, items)
    return queries, items


def _pair_of_codes(query: Any, gallery: Any | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Binary codes, as uint64 words."""
    query, gallery = _loaded(query, "embeddings"), None if gallery is None else _loaded(gallery, "gallery")
    queries = inputs.bits(query, "embeddings")
    if gallery is None:
        return queries, queries
    items = inputs.bits(gallery, "gallery")
    inputs.require_same_dim(query, gallery, codes=True)
    return queries, items


def _loaded(value: Any, name: str) -> Any:
    """Codes on disk are read as a whole, in the type that they have there: 256 bits are 32 bytes."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return _read(open_rows(value, name)) if isinstance(first, (str, os.PathLike, Source)) else value


def _whole_codes(embeddings: Any, name: str) -> NDArray[Any]:
    """Binary codes, as they came; numbers on disk stay there, but codes come as a whole."""
    codes = _read(open_rows(embeddings, name))
    inputs.bits(codes[:1], name)
    return codes


def _read(source: Source) -> NDArray[Any]:
    return source.whole()


OPENERS = {"numbers": Opener(_pair_of_numbers, open_rows), "bits": Opener(_pair_of_codes, _whole_codes)}
