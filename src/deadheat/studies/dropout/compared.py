"""Two sets of embeddings compared: Hit@1 plain and in groups, the gap of each, and the table of it.

In come embeddings and labels of two sets; out go comparisons, a row each of a `Case`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from deadheat import generalization_gap
from deadheat.analyses.grouped import Gap
from deadheat.studies.study import Table

MEASURE, GROUP_SIZE, REPEATS, LEVEL = "Hit@1", 10, 10, 0.95
PLAIN, GROUPED = "plain", f"in groups of {GROUP_SIZE}"
CLAIM, NOT_AT_HAND = "arXiv:2306.13357, the table of dropouts", "not at hand"
_SEED = 5


class Sides(NamedTuple):
    """One measure on two sets, as fractions: the values, their difference, its interval and the bound on it.

    The first three are expectations over ties. `least` and `most` are what the difference can be however the ties
    fall; the interval and the bound hold for all of that.
    """

    train: float
    test: float
    gap: float
    low: float
    high: float
    bound: float
    least: float
    most: float


class Compared(NamedTuple):
    """Two sets of embeddings from one network; `dropout` and `seed` are None where they are not known."""

    dropout: float | None
    seed: int | None
    n_train: int
    n_test: int
    plain: Sides
    grouped: Sides


class Case(NamedTuple):
    """Comparisons of the same two sets of classes under different networks; `name` is also a file's name."""

    name: str
    caption: str
    rows: list[Compared]


class Sample(NamedTuple):
    """Embeddings (n, dim) and labels (n,)."""

    embeddings: Any
    labels: NDArray[Any]


def compare(
    train: Sample, test: Sample, *, dropout: float | None = None, seed: int | None = None, threads: int | None = None
) -> Compared:
    """Hit@1 of two sets of embeddings, plain and in groups, and the gap of each."""
    gap = generalization_gap(
        *train, *test, group_size=GROUP_SIZE, measure=MEASURE, seed=_SEED, repeats=REPEATS, threads=threads
    )
    sizes = gap.train_groups.n_class, gap.test_groups.n_class
    return Compared(dropout, seed, *sizes, _sides(gap.plain), _sides(gap.grouped))


def _sides(gap: Gap) -> Sides:
    interval = gap.interval(confidence_level=LEVEL)
    low, high = interval.lower.low, interval.upper.high
    values = gap.train.expected, gap.test.expected, gap.expected
    return Sides(*values, low, high, gap.bound(confidence_level=LEVEL), gap.lower, gap.upper)


def by_kind(rows: Sequence[Compared]) -> dict[str, list[Sides]]:
    return {PLAIN: [row.plain for row in rows], GROUPED: [row.grouped for row in rows]}


def both_gaps(row: Compared) -> str:
    """Both gaps as a person reads them, in percentage points."""
    told = (f"{name} {_points(side)}" for name, side in ((PLAIN, row.plain), (GROUPED, row.grouped)))
    return f"{'; '.join(told)} points"


def _points(side: Sides) -> str:
    around = "no interval" if math.isnan(side.low) else f"{100 * side.low:.1f} to {100 * side.high:.1f}"
    return f"{100 * side.gap:.1f} ({around})"


def table_of(case: Case) -> Table:
    """One row for each network and measure; fractions."""
    about = ["train classes", "test classes", "dropout", "training", "measure"]
    columns = [*about, "train", "test", "gap", "95 % from", "to", "bound", "gap at least", "gap at most"]
    rows = [
        [row.n_train, row.n_test, row.dropout, row.seed, name, *side]
        for row in case.rows
        for name, side in ((MEASURE, row.plain), (f"{MEASURE} {GROUPED}", row.grouped))
    ]
    caption = (
        f"{case.caption} Gap: train less test, expected over ties; at least, at most: however the ties fall. The "
        "95 % interval and the bound on the size of the gap hold for all of that."
    )
    return Table(case.name, caption, columns, rows)
