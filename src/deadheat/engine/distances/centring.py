"""Rows that lie close together far from zero: what they have in common is taken off, where that loses nothing.

Distances do not change when one row is taken off every row; but error bounds grow with the norms of the rows, so they
become as small as the differences are. In comes a pair of sources; out come others, whose rows are made from the first
when they are read:

    features near 1e6, time stamps, an embedding at one point   ──less their centre──>   their differences
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.engine.distances import bounds
from deadheat.engine.distances.scaling import CHUNK, Derived, power_of_two
from deadheat.inputs.source import Rows, Source
from deadheat.support.arrays import Bool, Float64

_GAIN = 16.0  # by which squared norms have to shrink
_FIRST = 64  # rows that mostly show already that there is no common centre


def common_centre(query: Source, gallery: Source) -> NDArray[np.floating] | None:
    """A row that can be taken off all rows without a rounding, and makes squared norms that much smaller; or None.

    Differences of numbers that lie within a factor of two of each other are exact (Sterbenz), so features that do have
    their middle taken off, and the others nothing.
    """
    dtype = max(query.dtype, gallery.dtype, key=lambda dtype: dtype.itemsize)
    some = query.read(0, min(_FIRST, len(query))).astype(np.float64)
    if not _within_a_factor_of_two(some.min(axis=0), some.max(axis=0)).any():
        return None  # whatever the other rows are
    low, high = _column_extremes(query, gallery)
    farthest, close = np.maximum(np.abs(low), np.abs(high)), _within_a_factor_of_two(low, high)
    scale = 1 / power_of_two(query, gallery)  # so that squares neither over- nor underflow
    centre = np.where(close, np.clip((low / 2 + high / 2).astype(dtype), low, high), 0.0)
    left = np.subtract(high, low, where=close, out=farthest.copy()) * scale
    if np.square(centre * scale).sum() <= _GAIN * np.square(left).sum():
        return None
    return centre.astype(dtype)


def _within_a_factor_of_two(low: NDArray[Any], high: NDArray[Any]) -> Bool:
    """Which features have one sign, and lie within a factor of two of each other."""
    nearest, farthest = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    return np.asarray((np.sign(low) == np.sign(high)) & (farthest / 2 <= nearest))


def less(source: Source, centre: NDArray[np.floating]) -> Source:
    """The rows less the centre, exactly."""
    return Derived.of(source, lambda rows: np.asarray(rows - centre), centre.dtype)


def tangents(source: Source, centre: NDArray[np.floating]) -> tuple[Source, Float64]:
    """x/‖x‖ − c/‖c‖ for each row x and the centre c, off by `bounds.of_tangent` times its size; and the sizes."""
    whole = centre.astype(np.float64)

    def change(rows: Rows) -> tuple[Rows, Float64]:
        out, spread = np.empty(rows.shape), np.empty(len(rows))
        _core.tangents(rows, whole, out, spread)
        return out, spread

    spreads = [change(rows)[1] for _, rows in source.pieces(max(1, CHUNK // source.shape[1]))]
    sizes = bounds.tangent_sizes(np.concatenate(spreads))
    return Derived.of(source, lambda rows: change(rows)[0], np.dtype(np.float64)), sizes


def _column_extremes(query: Source, gallery: Source) -> tuple[Float64, Float64]:
    low, high = np.full(query.shape[1], np.inf), np.full(query.shape[1], -np.inf)
    for source in (query,) if gallery is query else (query, gallery):
        for _, rows in source.pieces():
            low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
    return low, high
