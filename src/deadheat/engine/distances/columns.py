"""Columns: gallery rows that tie with each other for every query, counted as one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import deadheat._core as _core
from deadheat.engine.distances.scaling import CHUNK, by_piece
from deadheat.inputs.source import Source
from deadheat.support.arrays import Float64, Int64, slices

_WORTH_A_BAND = 1024  # columns: edges are recomputed for each band


@dataclass(frozen=True)
class Columns:
    """The distinct rows of a gallery.

    `bands` are neighbouring columns of similar size, if they differ much, so that one error bound fits them all.
    """

    item_of_column: Int64  # (n_column,), a gallery item that has the row of this column
    column_of_item: Int64  # (n_gallery,)
    bands: list[tuple[int, int]]  # (start, stop)

    def __len__(self) -> int:
        return len(self.item_of_column)

    @classmethod
    def of(cls, source: Source, directions: bool = False) -> Columns:
        """Find equal rows, or rows of equal direction, by hash, and check each against the first of its kind."""
        hashes = by_piece(source, lambda rows: _core.hash_rows(rows, directions, source.threads))
        ascending = np.sort(hashes)
        if (ascending[1:] != ascending[:-1]).all():
            return cls(np.arange(len(hashes)), np.arange(len(hashes)), [(0, len(hashes))])
        _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
        leader = first[group]
        followers = np.flatnonzero(leader != np.arange(len(leader)))
        for some in slices(len(followers), max(1, CHUNK // source.shape[1])):
            part = followers[some]
            same = _core.same_rows(source.take(part), source.take(leader[part]), directions)
            leader[part[~same]] = part[~same]
        item_of_column, column_of_item = np.unique(leader, return_inverse=True)
        return cls(item_of_column, column_of_item.astype(np.int64), [(0, len(item_of_column))])

    def as_items(self, order: Int64) -> Columns:
        """Return one column per item, in an order that keeps the bands; equal rows are counted at the first of them."""
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        ends = np.searchsorted(self.band_of(order), np.arange(len(self.bands) + 1)).tolist()
        return Columns(order, position[self.item_of_column[self.column_of_item]], list(pairwise(ends)))

    def band_of(self, items: Int64) -> Int64:
        return np.searchsorted([stop for _, stop in self.bands], self.column_of_item[items], side="right")

    def in_bands(self, sizes: Float64) -> Columns:
        """Return the same columns, largest first, in bands of a factor of two, or more if there are too few columns.

        `sizes` has one entry per gallery item.
        """
        _, octave = np.frexp(sizes[self.item_of_column])
        octave = np.maximum(octave, octave.max() - 64)
        n_octave, n_band = len(np.unique(octave)), max(2, len(octave) // _WORTH_A_BAND)
        if n_octave > 2:  # fewer bands leave more open, more bands are hardly used
            octave = octave // -(-n_octave // n_band)
        order = np.argsort(-octave, kind="stable")
        ends = np.flatnonzero(np.diff(octave[order])) + 1
        cuts = [0, *ends.tolist(), len(order)]
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        return Columns(self.item_of_column[order], position[self.column_of_item], list(pairwise(cuts)))
