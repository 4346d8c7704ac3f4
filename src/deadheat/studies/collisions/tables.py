"""The tables of the study: collisions by the published rule, and collision groups by several rules.

In come data; out go tables, and the numbers that findings are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deadheat import Rounded
from deadheat.analyses.collisions import Counts, Kind, collisions, collisions_of_distances
from deadheat.counting.ranking import Rankings
from deadheat.studies.collisions.rule import DISTANCES, Data, distances_of, published_rule, real_ties
from deadheat.studies.study import Setting, Table

_COUNT_COLUMNS = (
    "set", "samples", "distance", "collision", "relevant groups", "irrelevant groups", "mixed groups",
    "colliding items", "of items", "queries", "largest group",
)  # fmt: skip


def rule_table(data: Data, rows: str, setting: Setting) -> tuple[Table, dict[str, tuple[int, int]]]:
    """The published rule against the real numbers; and by distance, the collisions and the real ties among them."""
    lines, numbers = [], {}
    for distance in DISTANCES:
        pairs = published_rule(distances_of(data, distance), data.relevant, data.eps)
        ties = real_ties(Rankings(data.embeddings, distance=distance, threads=setting.threads), pairs)
        count = int(pairs.colliding.sum())
        numbers[distance] = count, ties
        marks = pairs.kind
        lines.append(
            [
                data.name, rows, distance, data.eps, count, int((marks == Kind.RELEVANT).sum()),
                int((marks == Kind.IRRELEVANT).sum()), int(pairs.with_itself.sum()), int((pairs.gap == 0).sum()), ties,
                1 - ties / count if count else np.nan,
            ]
        )  # fmt: skip
    columns = (
        "set", "samples", "distance", "e", "collisions", "relevant", "irrelevant", "with the query itself",
        "equal in float64", "ties of the real numbers", "share that are no ties",
    )  # fmt: skip
    caption = "The published rule on SciPy's float64 distances: pairs of neighbours in rank closer together than e."
    return Table("published-rule", caption, columns, lines), numbers


def count_table(data: Data, rows: str, setting: Setting, short_types: Sequence[str] = ()) -> Table:
    """Collision groups by distance: exact, of SciPy's float64 distances, rounded to shorter types, and within e."""
    lines = []
    rules: list[tuple[str, dict[str, Any]]] = [("exact", {})]
    rules += [(f"{name} distance", {"ties": Rounded(name, of="distance")}) for name in short_types]
    rules += [(f"within {data.eps:g}", {"within": data.eps})]
    for rule, how in rules:
        counted = collisions(data.embeddings, data.labels, distance=DISTANCES, threads=setting.threads, **how)
        lines += [_count_row(data, rows, distance, rule, counted[distance]) for distance in counted]
    for distance in DISTANCES:
        rounded = collisions_of_distances(distances_of(data, distance), data.relevant, leave_one_out=True)
        lines.append(_count_row(data, rows, distance, "float64 distance (SciPy)", rounded.counts))
    caption = "Collision groups, the query itself left out. A group has two items or more; only a mixed one can matter."
    return Table("counts", caption, _COUNT_COLUMNS, lines)


def _count_row(data: Data, rows: str, distance: str, rule: str, counts: Counts) -> list[Any]:
    together = counts.together
    groups = [kind.groups for kind in (counts.relevant, counts.irrelevant, counts.mixed)]
    numbers = (together.items, counts.n_place, together.queries, together.largest)
    return [data.name, rows, distance, rule, *groups, *numbers]
