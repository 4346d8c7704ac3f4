"""The checks of a submission, one row each: in comes the evidence, out come findings, mostly none.

A new check is a function of the evidence and its row here; its thresholds are in `limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from deadheat.audits.finding import Finding
from deadheat.audits.submission.checks import labels, rows, scores
from deadheat.audits.submission.evidence import Evidence

Check = Callable[[Evidence], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    scores.ties,
    scores.sample_order,
    scores.dtypes,
    scores.near_ties,
    scores.noise,
    scores.chance,
    scores.undefined,
    scores.queries_in_gallery,
    rows.zero,
    rows.faint,
    rows.constant,
    rows.across_classes,
    rows.inside_classes,
    rows.dead_dimensions,
    rows.saturated,
    rows.few_levels,
    labels.in_runs,
    labels.without_relevant,
    labels.imbalance,
)
