"""The inner product."""

from __future__ import annotations

from typing import ClassVar

from deadheat.engine.distances.bounds import divided, multiplied
from deadheat.engine.distances.distance import Product, Target, levels_for
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

    @property
    def step(self) -> fractions.Fraction | None:
        return fractions.Fraction(self.unit) ** 2 if self.levels[-1].exact else None
