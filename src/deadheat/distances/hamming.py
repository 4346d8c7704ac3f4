"""Hamming distance between binary codes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deadheat import _core
from deadheat.distances import scaling
from deadheat.distances.columns import Columns
from deadheat.distances.distance import Distance, Target, Tensor, TensorDevice, Workspace
from deadheat.distances.levels import Level
from deadheat.errors import InvalidValueError
from deadheat.exact import Roots
from deadheat.inputs.sources import Array, fingerprint
from deadheat.support.arrays import Float64, Int64
from deadheat.support.lazy import fractions


class Hamming(Distance):
    """The number of bits in which two codes differ."""

    name = "hamming"
    takes = "bits"
    targets: ClassVar = {"distance": Target(-1, 0)}
    levels = (Level(np.float32, exact=True),)

    def __init__(self, query: NDArray[np.uint64], gallery: NDArray[np.uint64]) -> None:
        if query.shape[1] * 64 >= 2**24:
            raise InvalidValueError("codes", f"must be shorter than 2^24 bits, but have {query.shape[1] * 64}")
        self.query_words, self.gallery_words = query, gallery
        self.n_query, self.dim = len(query), 64 * query.shape[1]
        self.columns = Columns.of(Array(gallery.view(np.uint32).astype(np.float64)))

    def fingerprint(self, of_query: bool) -> str:
        return fingerprint(Array((self.query_words if of_query else self.gallery_words).view(np.uint32))).hex()

    def query_rows(self, level: int, queries: Int64) -> NDArray[Any]:
        return self.query_words[queries]

    def column_rows(self, level: int, columns: Int64) -> NDArray[Any]:
        return self.gallery_words[self.columns.item_of_column[columns]]

    def product(
        self, level: int, queries: NDArray[Any], columns: NDArray[Any], space: Workspace | None = None
    ) -> NDArray[Any]:
        scores = (space or Workspace()).get("product", (len(queries), len(columns)), np.float32)
        _core.minus_differing_bits(queries, columns, scores)
        return scores

    def device_rows(self, device: TensorDevice, rows: NDArray[Any]) -> Tensor:
        """Bits as numbers, 0 and 1."""
        packed = device.upload(rows.view(np.uint8))
        places = device.torch.arange(8, dtype=device.torch.uint8, device=device.where)
        return ((packed[:, :, None] >> places) & 1).flatten(1).to(device.dtype(self.levels[-1].dtype))

    def device_product(self, device: TensorDevice, queries: Tensor, columns: Tensor) -> Tensor:
        """−Σ(q − x)² = (q·x − Σq) + (q·x − Σx) for numbers 0 and 1, every part an integer below 2^24."""
        products = device.product(queries, columns)
        return (products - queries.sum(dim=1)[:, None]) + (products - columns.sum(dim=1))

    def device_pairs(self, queries: Tensor, columns: Tensor) -> Tensor:
        return -(queries - columns).abs().sum(dim=1)

    def bound(self, level: int, queries: Int64, band: tuple[int, int]) -> Float64:
        return np.zeros(len(queries))

    def pair_bound(self, queries: Int64, columns: Int64, scores: Float64 | None = None) -> Float64:
        return np.zeros(len(queries))

    def pair_scores(self, queries: Int64, columns: Int64) -> Float64:
        differing = self.query_words[queries] ^ self.gallery_words[self.columns.item_of_column[columns]]
        counts: Float64 = np.bitwise_count(differing).sum(axis=1).astype(np.float64)
        return -counts

    def exact_closeness(self, queries: Int64, columns: Int64) -> Roots:
        return Roots.of_values(self.pair_scores(queries, columns))

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        return scaling.moved_integers(scores, fractions.Fraction(shift), above)
