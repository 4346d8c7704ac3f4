"""Descriptions that the core reads: of scores, and of a counting pass.

`src/core/bindings_pass.cpp` reads every field of them by its name. An unknown field is an error there, as are a missing
one and an unknown form of scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from deadheat.support.arrays import Bool, Float64, Int32, Int64

Form = Literal["product", "overlap", "difference", "bits"]


@dataclass(frozen=True, slots=True, eq=False)
class LevelDescription:
    """One way to compute scores: its types, and the bounds on its errors (`ScoreErrors`)."""

    wide: bool  # scores in float64
    wide_rows: bool  # rows in float64
    exact: bool
    chunk: int
    additive: bool
    of_query: Float64
    of_item: Float64
    beside: Float64
    offset: Float64
    part: float
    tiny: float
    relative: float
    relative_tiny: float


@dataclass(frozen=True, slots=True, eq=False)
class ScoresDescription:
    """Scores: their form, the rows that they are made of, and their levels."""

    form: Form
    query: Any  # scaled rows, or words of bits
    item: Any
    offset: Float64
    squares: Float64
    item_of_column: Int64
    spread: bool
    bands: Sequence[tuple[int, int]]
    levels: Sequence[LevelDescription]
    band_errors: Float64  # (n_band * n_level, 7)


@dataclass(frozen=True, slots=True, eq=False)
class PassDescription:
    """A counting pass: the distance, the rule for ties, relevance, and the ranked items."""

    scores: Any
    exact: Any
    patterns: Any
    group: Callable[..., Any] | None  # of a rule that is written in Python
    weight: Int32
    plain: bool
    class_columns: tuple[Int64, Int64, Int64]  # in CSR form, with how many items of the class are in each
    query_class: Int64
    gallery_class: Int64
    column_of_item: Int64
    ranked: Bool
    junk: NDArray[Any] | None
    itself: Int64
    items: tuple[Int64, Int64] | None  # in each column, in CSR form; None without junk
    least_for_int8: int
    query_labels: NDArray[Any] | None  # bits, of rows with several labels
    item_labels: NDArray[Any] | None
