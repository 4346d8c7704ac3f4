"""Table 1 of the paper: the grouped measure, its bound, and the difference of two halves, for as many made classes.

By its section 3.2 the mean of N independent groups is normal with variance σ²/N. So the bound of the measure must be
its value + z σ/√N, and that of the difference of two halves, with N/2 groups each, z √(σ²/(N/2) + σ²/(N/2)) = 2 z σ/√N.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import split_half
from deadheat.studies import published
from deadheat.studies.grouped.populations import CLUSTERED, DISTANCE, GROUP_SIZE, LEVEL, LEVEL_TEXT, MEASURE, Extent
from deadheat.studies.study import Finding, Mark, Outcome, Setting, Table

_SEED = 11


class Row(NamedTuple):
    """One set of classes: fractions; the last two are a mean over random halves, and a standard deviation."""

    plain: float
    grouped: float
    bound: float
    difference: tuple[float, float]
    bound_on_difference: tuple[float, float]


def by_table(setting: Setting, extent: Extent) -> Outcome:
    """Made sets with as many classes as the paper's test sets, in the columns of its Table 1."""
    rows = {}
    for number, (name, printed) in enumerate(published.TEST_SETS.items()):
        if printed.n_class <= extent.most_classes:
            setting.say(f"  Table 1: {printed.n_class} classes")
            data = CLUSTERED.draw(printed.n_class, _SEED, number)
            rows[name] = table_row(*data, n_draw=extent.halves, threads=setting.threads)
    return Outcome(
        [finding for name, row in rows.items() for finding in _findings(name, row)],
        tables=[_table(rows)],
    )


def table_row(embeddings: NDArray[np.float32], labels: NDArray[np.int64], *, n_draw: int, threads: int | None) -> Row:
    """The columns of Table 1 for one set; its halves are drawn anew so many times."""
    halves = split_half(
        embeddings, labels, group_size=GROUP_SIZE, measure=MEASURE, splits=n_draw, distance=DISTANCE, threads=threads
    )
    found = halves.to_dict(confidence_level=LEVEL, method="normal")
    values = {name: found[name]["expected"] for name in ("plain", "grouped", "upper_limit")}
    spread = ((found[name]["expected"], found[name]["spread"]) for name in ("difference", "margin"))
    return Row(*values.values(), *spread)


def ratio_by_theory(n_class: int) -> float:
    """The bound on the difference of halves over (bound − value): 2, or a little more where groups are left over."""
    whole, half = n_class // GROUP_SIZE, n_class // 2 // GROUP_SIZE
    return math.sqrt(2 / half) / math.sqrt(1 / whole)


def printed_ratio(row: published.TestSet) -> tuple[float, float]:
    """The same from the printed values: the least and the most that their rounding leaves."""
    above, between = row.bound - row.grouped, row.bound_on_difference[0]
    return (between - 0.05) / (above + 0.1), (between + 0.05) / (above - 0.1)


def _findings(name: str, row: Row) -> list[Finding]:
    printed = published.TEST_SETS[name]
    set_name = f"as many classes as {name} ({printed.n_class})"
    made = "a made population, not the paper's photographs"
    plain, inside, bound = (f"{100 * value:.1f}" for value in row[:3])
    low, high = printed_ratio(printed)
    theory = ratio_by_theory(printed.n_class)
    ours = row.bound_on_difference[0] / (row.bound - row.grouped)
    agrees = low <= theory <= high
    return [
        Finding(
            f"{set_name}: {MEASURE} plain, in groups, and its bound",
            f"{plain}, {inside}, {bound} %",
            Mark.OTHER_DATA,
            f"{printed.recall}, {printed.grouped}, {printed.bound} %",
            published.GROUPED_TABLE_1,
            f"{made}; the bound is the upper end of the {LEVEL_TEXT} interval of the mean over groups",
        ),
        Finding(
            f"{set_name}: difference in groups of two halves, and the bound on it",
            f"{_spread(row.difference)} and {_spread(row.bound_on_difference)} points",
            Mark.OTHER_DATA,
            " and ".join(f"{value} ± {spread:g}" for value, spread in (printed.difference, printed.bound_on_difference))
            + " points",
            published.GROUPED_TABLE_1,
            f"{made}; the bound is half the width of the interval of the difference",
        ),
        Finding(
            f"{name}: (bound on the difference) / (bound - value)",
            f"{ours:.2f}",
            Mark.of(agrees),
            f"{low:.2f} to {high:.2f} as rounded in print; {theory:.2f} by section 3.2",
            published.GROUPED_TABLE_1,
            "" if agrees else "each half of few groups has a σ of its own; the table does not say which was taken",
        ),
    ]


def _spread(value: tuple[float, float]) -> str:
    return f"{100 * value[0]:.1f} ± {100 * value[1]:.1f}"


def _table(rows: dict[str, Row]) -> Table:
    """Printed and made rows, one after the other."""
    lines = []
    for name, printed in published.TEST_SETS.items():
        flat = (*printed[1:4], *printed.difference, *printed.bound_on_difference)
        lines.append([name, printed.n_class, "the paper, its data", *(value / 100 for value in flat)])
        if name in rows:
            row = rows[name]
            lines.append([name, printed.n_class, "here, made classes", *row[:3], *row[3], *row[4]])
    values = (
        MEASURE, "in groups", "bound",
        "difference of halves", "its spread", "bound on the difference", "spread of that",
    )  # fmt: skip
    caption = (
        "Table 1 of the paper, and made sets with as many classes. Here: bounds by section 3.2, "
        f"value + z σ/√N and z √(σ₁²/N₁ + σ₂²/N₂) at {LEVEL_TEXT}; spread: the standard deviation over random halves"
    )
    return Table("table-1", caption, ["set", "classes", "of", *values], lines, percent=values)
