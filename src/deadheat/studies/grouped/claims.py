"""What the paper says of its Table 2, judged by the table and by what sampling leaves of such gaps."""

from __future__ import annotations

import math
from itertools import pairwise

from deadheat import split_half
from deadheat.studies import published
from deadheat.studies.grouped.populations import CLUSTERED, DISTANCE, GROUP_SIZE, LEVEL, LEVEL_TEXT, MEASURE, Extent
from deadheat.studies.study import Finding, Mark, Outcome, Setting

_CLASSES = 100  # of CIFAR-100: there cannot be more in either set
_SEED = 13


def by_claims(setting: Setting, extent: Extent) -> Outcome:
    """The sentence against the numbers, and the margin of error of such a gap."""
    setting.say("  claims about Table 2")
    gaps = [row.gap_grouped for row in published.DROPOUTS.values()]
    steps = [abs(later - earlier) for earlier, later in pairwise(gaps)]
    return Outcome([_approaches_zero(gaps), _margin(setting, extent, steps)])


def _approaches_zero(gaps: list[float]) -> Finding:
    """Approaching zero would make each absolute gap at most the one before."""
    nearest = min(zip(map(abs, gaps), published.DROPOUTS, strict=True))
    return Finding(
        "Table 2: the grouped gap as dropout grows",
        f"{', '.join(f'{gap:g}' for gap in gaps)} points; nearest to 0 at dropout {nearest[1]:g}",
        Mark.of(all(abs(later) <= abs(earlier) for earlier, later in pairwise(gaps))),
        '"the gap slowly approaches zero"',
        "arXiv:2306.13357, text; values of its Table 2",
        "it grows up to dropout 0.7, and changes its sign where train and test both fall; deadheat reproduce dropout "
        "has the gaps of networks that are trained here, with intervals",
    )


def _margin(setting: Setting, extent: Extent, steps: list[float]) -> Finding:
    """What sampling leaves of a gap of two sets of 100 classes: made here, and by the bounds of Table 1."""
    embeddings, labels = CLUSTERED.draw(2 * _CLASSES, _SEED)
    halves = split_half(
        embeddings, labels, group_size=GROUP_SIZE, measure=MEASURE, splits=extent.halves, distance=DISTANCE,
        threads=setting.threads,
    )  # fmt: skip
    margins = halves.margins(confidence_level=LEVEL, method="normal")
    printed = {name: margin_by_table(name) for name in ("CARS196", "CUB200")}
    shown = ", ".join(f"{margin:.1f} ({name})" for name, margin in printed.items())
    return Finding(
        f"margin of error ({LEVEL_TEXT}) of a gap between two sets of {_CLASSES} classes",
        f"{100 * math.fsum(margins) / len(margins):.1f} points, made classes",
        Mark.OTHER_DATA,
        f"{shown} points: the bounds on the difference of halves, for {_CLASSES // GROUP_SIZE} groups in each",
        published.GROUPED_TABLE_1,
        "Table 2 prints no errors; from one dropout to the next its gap changes by "
        f"{', '.join(f'{step:.1f}' for step in steps)} points",
    )


def margin_by_table(name: str) -> float:
    """The printed bound on the difference of halves for as many groups as 100 classes have: z σ √(2/n)."""
    row = published.TEST_SETS[name]
    n_half = row.n_class // 2 // GROUP_SIZE
    return row.bound_on_difference[0] * math.sqrt(n_half / (_CLASSES // GROUP_SIZE))
