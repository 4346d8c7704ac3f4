"""What the comparisons of words say.

In come cases and bands; out go findings and the table of sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat.plots import Band
from deadheat.studies.dropout.compared import CLAIM, GROUPED, MEASURE, NOT_AT_HAND, PLAIN, Case, both_gaps, by_kind
from deadheat.studies.dropout.extent import Extent
from deadheat.studies.study import Finding, Mark, Table


def of_cases(cases: Sequence[Case]) -> list[Finding]:
    """Both gaps of every case and dropout, in the first training, and what the cases say together."""
    why = "a stand-in: words rendered here, not the paper's photographs"
    each = [
        Finding(
            f"{case.caption.rstrip('.')}, dropout {row.dropout:g}: gap of {MEASURE}",
            both_gaps(row),
            Mark.STAND_IN,
            NOT_AT_HAND,
            CLAIM,
            why,
        )
        for case in cases
        for row in case.rows
        if row.seed == 0
    ]
    unseen = cases[-1].rows
    away = {kind: sum(s.low > 0 or s.high < 0 for s in sides) for kind, sides in by_kind(unseen).items()}
    open_ties = sum(s.least < s.most for case in cases for row in case.rows for s in (row.plain, row.grouped))
    return [
        *each,
        Finding(
            f"two unseen sets, {len(unseen)} networks: 95 % intervals of the gap that leave out 0",
            f"{PLAIN} {away[PLAIN]}, {GROUPED} {away[GROUPED]}", Mark.STAND_IN,
            "Recall@K depends on the number of classes, the grouped one does not", "arXiv:2306.13357, abstract",
            "neither set was learned, so that there is nothing to overfit: what gap there is comes from the sizes",
        ),
        Finding("comparisons of the words in which ties leave the gap open", str(open_ties), Mark.NEW),
    ]  # fmt: skip


def of_sizes(by_size: dict[str, dict[str, Band]], extent: Extent) -> list[Finding]:
    """How far each measure falls over the sizes, and the gap of sets of the same size."""
    findings = []
    for name, bands in by_size.items():
        for kind in (PLAIN, GROUPED):
            band = bands[f"unseen, {kind}"]
            at, value = np.asarray(band.at), 100 * np.asarray(band.value)
            findings.append(
                Finding(
                    f"{name}, unseen words: {MEASURE} {kind} of {at[0]} and of {at[-1]} words",
                    f"{value[0]:.1f} % and {value[-1]:.1f} %",
                    Mark.STAND_IN,
                    NOT_AT_HAND,
                    "arXiv:2306.13357, the figure of sizes",
                    f"means of {extent.draws} draws",
                )
            )
        gaps = [
            float(np.asarray(bands[f"learned, {kind}"].value)[-1] - np.asarray(bands[f"unseen, {kind}"].value)[-1])
            for kind in (PLAIN, GROUPED)
        ]
        here = f"{PLAIN} {100 * gaps[0]:.1f}, {GROUPED} {100 * gaps[1]:.1f} points"
        why = "sets of the same size compare without groups too, but the gap is that of this size alone"
        findings.append(
            Finding(f"{name}, {extent.sizes[-1]} words each, learned less unseen", here, Mark.STAND_IN, why=why)
        )
    return findings


def size_table(by_size: dict[str, dict[str, Band]]) -> Table:
    rows = [
        [name, *line.split(", "), *row]
        for name, bands in by_size.items()
        for line, band in bands.items()
        for row in np.stack([np.asarray(column, dtype=np.float64) for column in band], axis=1).tolist()
    ]
    columns = ["network", "words", "measure", "number of words", MEASURE, "2.5 % of draws below", "97.5 % below"]
    return Table("size", f"{MEASURE} of random subsets of the words.", columns, rows)
