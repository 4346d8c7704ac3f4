"""A gap that is none: two sets of different size from one population.

In comes a setting; out comes a part of the study.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from deadheat import plots
from deadheat.analyses.grouped import Gap
from deadheat.plots import style
from deadheat.statistics import intervals
from deadheat.studies.grouped import populations
from deadheat.studies.grouped.extent import GROUPED, LEVEL_TEXT, PLAIN, Extent, ends
from deadheat.studies.grouped.populations import CLUSTERED, LEVEL, MEASURE
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table

_CLASSES = (200, 50)


def by_null_gap(setting: Setting, extent: Extent) -> Outcome:
    """The gap between two sets with different numbers of classes, both from one population."""
    setting.say(f"  gaps of {_CLASSES[0]} to {_CLASSES[1]} classes of one population")
    pairs = populations.null_gaps(CLUSTERED, _CLASSES, extent.null_draws)
    sides = {PLAIN: [plain for _, plain in pairs], GROUPED: [inside for inside, _ in pairs]}
    figure = style.figure(5.6, 2.8)
    plots.gap_histogram({name: [gap.expected for gap in gaps] for name, gaps in sides.items()}, ax=figure.subplots())
    caption = (
        f"The gap in {MEASURE} between {_CLASSES[0]} and {_CLASSES[1]} classes of the clustered population, "
        f"{extent.null_draws} draws. There is none to be found."
    )
    columns = ["what", "draw", "gap", "low", "high", "bound"]
    rows = [
        [name, number, gap.expected, *ends(gap.interval(confidence_level=LEVEL)), gap.bound(confidence_level=LEVEL)]
        for name, gaps in sides.items()
        for number, gap in enumerate(gaps)
    ]
    return Outcome(
        [_null_finding(name, gaps) for name, gaps in sides.items()],
        [Picture("gaps", caption, figure)],
        [Table("gaps", "Gaps between two sets of one population", columns, rows)],
    )


def _null_finding(name: str, gaps: Sequence[Gap]) -> Finding:
    values = [gap.expected for gap in gaps]
    mean, error = math.fsum(values) / len(values), intervals.standard_error(values)
    expected = [gap.interval(confidence_level=LEVEL).expected for gap in gaps]
    held = sum(interval.low <= 0 <= interval.high for interval in expected)
    agrees = abs(mean) <= 3 * error and populations.binomial(held, len(gaps), LEVEL).high >= LEVEL
    return Finding(
        f"gap of {_CLASSES[0]} to {_CLASSES[1]} classes of one population, {name}",
        f"{100 * mean:.2f} points (s.e. {100 * error:.2f}); {held} of {len(gaps)} {LEVEL_TEXT} intervals hold 0",
        Mark.AGREES if agrees else Mark.DIFFERS,
        "0 points",
        "by construction",
        "" if agrees else "the set with more classes has more to be mistaken for",
    )
