"""Queries that are in the gallery themselves, and so find themselves: looked for and said, before anything is counted.

Equal rows alone do not tell: codes of few bits are equal for many items, and so are duplicates in a data set. So what
counts is that every query has an equal row under its label in the gallery, or that more of them have one than the items
of the gallery have among themselves.
"""

from __future__ import annotations

import math

import numpy as np

import deadheat._core as _core
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances.derived import CHUNK
from deadheat.engine.distances.scaling import by_piece
from deadheat.errors import QueryInGalleryWarning
from deadheat.inputs import arrays, labels
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Source
from deadheat.support.arrays import Array, Bool, Int64, slices
from deadheat.support.progress import warn

_SURE = 3  # standard deviations beyond what equal rows in the gallery make likely
_REMEDY = "leave out the gallery, or give exclude=, the row of the gallery that each query is"
_MIXER = np.uint64(0x9E3779B97F4A7C15)


def queries_in_gallery(pair: Pair, options: CountingOptions, remedy: str = _REMEDY) -> int:
    """How many queries have an equal row under their label in the gallery, ranked for them; 0 if that tells nothing.

    Nothing is looked for where `options` say which rows the queries are. Warns of what it finds, and says what to do.

    Examples
    --------
    >>> import warnings
    >>> rows, labels = np.arange(6.0).reshape(3, 2), ["a", "a", "b"]
    >>> with warnings.catch_warnings(action="ignore"):
    ...     queries_in_gallery(samples.open_pair(rows[:2], labels[:2], rows, labels), CountingOptions.checked())
    2
    """
    query, gallery = pair.query, pair.gallery
    if gallery is None or options.exclude is not None or query.embeddings.shape[1] != gallery.embeddings.shape[1]:
        return 0
    hashes = _hashes(query.embeddings, gallery.embeddings)
    if not _any_in_common(*hashes):
        return 0
    classes = labels.label_codes(query.labels, gallery.labels)
    keys = [hashed ^ (codes.astype(np.uint64) * _MIXER) for hashed, codes in zip(hashes, classes, strict=True)]
    junk = arrays.junk_mask(options.junk, len(query.labels), len(gallery.labels))
    ranked = np.flatnonzero(~junk) if junk is not None and junk.ndim == 1 else np.arange(len(gallery.labels))
    order = ranked[np.argsort(keys[1][ranked], kind="stable")]
    ascending = keys[1][order]
    starts, stops = (np.searchsorted(ascending, keys[0], side) for side in ("left", "right"))
    found = np.flatnonzero(starts < stops)
    item = order[starts[found]]
    same = (classes[0][found] == classes[1][item]) & _equal_rows(query.embeddings, found, gallery.embeddings, item)
    found = found[same]
    if junk is not None and junk.ndim == 2:
        found = np.array([each for each in found if not junk[each, order[starts[each] : stops[each]]].all()], np.int64)
    n_found, n_query = len(found), len(query.labels)
    if not _tells(n_found, n_query, _share_of_repeated(ascending)):
        return 0
    warn(
        f"{n_found} of {n_query} queries are in the gallery themselves, as an equal row with their label, and find it: "
        f"{remedy}",
        QueryInGalleryWarning,
    )
    return n_found


def _hashes(*sources: Source) -> list[Array]:
    """A hash of each row, the same for equal numbers of other types."""
    dtype = np.result_type(*(source.dtype for source in sources))
    return [
        by_piece(source, lambda rows: _core.hash_rows(np.ascontiguousarray(rows, dtype=dtype), False))
        for source in sources
    ]


def _any_in_common(query: Array, gallery: Array) -> bool:
    """Whether two sets of hashes meet, which they mostly do not."""
    ascending = np.sort(gallery)
    place = np.minimum(np.searchsorted(ascending, query), len(ascending) - 1)
    return bool((ascending[place] == query).any())


def _equal_rows(query: Source, rows: Int64, gallery: Source, items: Int64) -> Bool:
    """Whether the numbers of some rows are those of some items, pair by pair."""
    equal = np.empty(len(rows), dtype=np.bool_)
    for some in slices(len(rows), max(1, CHUNK // query.shape[1])):
        equal[some] = (query.take(rows[some]) == gallery.take(items[some])).all(axis=1)
    return equal


def _share_of_repeated(ascending: Array) -> float:
    """Which part of some sorted keys come more than once."""
    again = ascending[1:] == ascending[:-1]
    return float((np.append(again, False) | np.append(False, again)).mean())


def _tells(n_found: int, n_query: int, share: float) -> bool:
    """Whether so many queries are surely in the gallery themselves, where a share of it has equals in it anyway."""
    likely = n_query * share
    return n_found > 0 and (n_found == n_query or n_found > likely + _SURE * math.sqrt(likely))
