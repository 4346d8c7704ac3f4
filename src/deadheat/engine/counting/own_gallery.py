"""Detection of queries that are in the gallery, and so find themselves; reported before counting.

Equal rows alone prove nothing: codes of few bits are equal for many items, and so are duplicates in a data set. The
evidence is that every query has an equal row under its label in the gallery, or that more queries have one than items
of the gallery have among themselves.
"""

from __future__ import annotations

import math

import numpy as np

import deadheat._core as _core
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.distances.scaling import CHUNK, by_piece
from deadheat.errors import QueryInGalleryWarning
from deadheat.inputs import codes
from deadheat.inputs import labels as input_labels
from deadheat.inputs.label_sets import LabelSets, numbered
from deadheat.inputs.pair_rules import RuledMask
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Source
from deadheat.support.arguments import setting
from deadheat.support.arrays import Bool, Int64, slices
from deadheat.support.progress import warn

_SURE = 3  # standard deviations beyond what equal rows in the gallery make likely
_REMEDY = "leave out the gallery, or give {}, the row of the gallery that each query is"
_MIXER = np.uint64(0x9E3779B97F4A7C15)


def queries_in_gallery(pair: Pair, options: CountingOptions, remedy: str | None = None) -> int:
    """Count the queries with an equal row of their label in the gallery, ranked for them; 0 if that may be chance.

    There is no search if `options` say which rows the queries are. A warning reports the queries, and says what to do.
    """
    query, gallery, junk = pair.query, pair.gallery, options.junk
    said = options.exclude is not None or isinstance(junk, RuledMask)
    if gallery is None or said or query.embeddings.shape[1] != gallery.embeddings.shape[1]:
        return 0
    sources = query.embeddings, gallery.embeddings
    if distance_registry.find(options.distance).takes == "bits":  # -1 is 0
        sources = codes.as_bits(sources[0]), codes.as_bits(sources[1])
    dtype = np.result_type(*(source.dtype for source in sources))  # so that equal numbers have equal hashes
    hashes = [
        by_piece(source, lambda rows: _core.hash_rows(np.ascontiguousarray(rows, dtype=dtype), False))
        for source in sources
    ]
    ascending = np.sort(hashes[1])
    position = np.minimum(np.searchsorted(ascending, hashes[0]), len(ascending) - 1)
    if not (ascending[position] == hashes[0]).any():  # as mostly
        return 0
    if options.relevant is not None:
        classes = tuple(np.zeros(len(part.labels), dtype=np.int64) for part in (query, gallery))
    elif isinstance(query.labels, LabelSets):
        classes = numbered(query.labels, gallery.labels)
    else:
        classes = input_labels.label_codes(query.labels, gallery.labels)
    keys = [hashed ^ (codes.astype(np.uint64) * _MIXER) for hashed, codes in zip(hashes, classes, strict=True)]
    ranked = np.flatnonzero(~junk) if junk is not None and junk.ndim == 1 else np.arange(len(gallery.labels))
    order = ranked[np.argsort(keys[1][ranked], kind="stable")]
    ascending = keys[1][order]
    starts, stops = (np.searchsorted(ascending, keys[0], side) for side in ("left", "right"))
    hits = np.flatnonzero(starts < stops)
    item = order[starts[hits]]
    same = (classes[0][hits] == classes[1][item]) & _equal_rows(sources[0], hits, sources[1], item)
    hits = hits[same]
    if junk is not None and junk.ndim == 2:
        hits = np.array([each for each in hits if not junk[each, order[starts[each] : stops[each]]].all()], np.int64)
    n_hit, n_query = len(hits), len(query.labels)
    again = ascending[1:] == ascending[:-1]
    likely = n_query * float((np.append(again, False) | np.append(False, again)).mean())  # by chance
    if not n_hit or (n_hit < n_query and n_hit <= likely + _SURE * math.sqrt(likely)):
        return 0
    label = " with their label" if options.relevant is None else ""
    warn(
        f"{n_hit} of {n_query} queries are in the gallery themselves, as an equal row{label}, and find it: "
        f"{remedy or _REMEDY.format(setting('exclude'))}",
        QueryInGalleryWarning,
    )
    return n_hit


def _equal_rows(query: Source, rows: Int64, gallery: Source, items: Int64) -> Bool:
    equal = np.empty(len(rows), dtype=np.bool_)
    for some in slices(len(rows), max(1, CHUNK // query.shape[1])):
        equal[some] = (query.take(rows[some]) == gallery.take(items[some])).all(axis=1)
    return equal
