"""The inner product."""

from __future__ import annotations

from typing import ClassVar

from deadheat.engine.distances import scaling
from deadheat.engine.distances.bounds import divided, multiplied
from deadheat.engine.distances.dense import Product
from deadheat.engine.distances.distance import Target, levels_for
from deadheat.inputs.source import Source
from deadheat.support.arrays import Float64, Int64
from deadheat.support.lazy import fractions


class InnerProduct(Product):
    """q·x."""

    name = "inner_product"
    zero_if_disjoint = True
    key_kind = "product"
    targets: ClassVar = {"similarity": Target(1, 0)}

    def __init__(self, query: Source, gallery: Source) -> None:
        super().__init__(query, gallery)
        self.levels = levels_for(self.scale() ** 2 * self.dim)

    def closeness(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return multiplied(*multiplied(low, high, self.unit), self.unit)

    def score(self, queries: Int64, low: Float64, high: Float64) -> tuple[Float64, Float64]:
        return divided(*divided(low, high, self.unit), self.unit)

    def exact_values(self, scores: Float64) -> Float64 | None:
        return scaling.exact_multiples(scores, fractions.Fraction(self.unit) ** 2) if self.levels[-1].exact else None

    def least_scores(self, queries: Int64, scores: Float64, shift: float, above: bool) -> Float64 | None:
        if not self.levels[-1].exact:
            return None
        return scaling.moved_integers(scores, fractions.Fraction(shift) / (fractions.Fraction(self.unit) ** 2), above)
