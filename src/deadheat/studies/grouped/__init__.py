"""The study of grouped measures: number of classes, coverage of intervals, gaps where there are none, models, cost.

In come made populations and, where they are given, files of embeddings; out go pictures, tables and findings.
"""

from __future__ import annotations

from deadheat.studies import published
from deadheat.studies.data import IMAGE_SETS
from deadheat.studies.grouped import populations
from deadheat.studies.grouped.claims import by_claims
from deadheat.studies.grouped.cost import by_cost
from deadheat.studies.grouped.coverage import by_coverage
from deadheat.studies.grouped.halves import by_table
from deadheat.studies.grouped.models import by_models
from deadheat.studies.grouped.populations import (
    CLUSTERED,
    FULL,
    GROUP_SIZE,
    MEASURE,
    QUICK,
    RANDOM,
    Extent,
    Known,
    percent,
)
from deadheat.studies.grouped.sizes import by_chance, by_file, by_null_gap, by_size
from deadheat.studies.study import Outcome, Setting, Study, joined

_SOURCE = published.GROUPED
_ABOUT = (
    "Hit@1, which metric learning calls Recall@1, falls as classes are added, so that it does not compare between sets "
    "with different numbers of them. Grouped, it is taken inside groups of 10 classes and averaged: it stays where it "
    "is, costs less, and comes with an interval. The paper's data sets are taken as files; everything else is drawn "
    "here, from populations whose value is known."
)


def run(setting: Setting) -> Outcome:
    """Run the parts one after another and put what they find together."""
    extent = QUICK if setting.quick else FULL
    setting.say(f"  the populations' values, from {extent.large} groups each")
    known = populations.value_in_groups(CLUSTERED, extent.large)
    parts = [
        by_chance(populations.value_in_groups(RANDOM, extent.large)),
        by_size(setting, extent, known),
        by_table(setting, extent),
        by_coverage(setting, extent, known),
        by_null_gap(setting, extent),
        by_models(setting, extent),
        by_claims(setting, extent),
        by_cost(setting, extent),
        *(by_file(setting, name, stem) for name, stem in IMAGE_SETS.items()),
    ]
    return joined(parts, _text(known, extent))  # each part concludes for itself


def _text(known: Known, extent: Extent) -> list[str]:
    m = CLUSTERED.samples
    return [
        f"Made populations have {m} samples a class in {CLUSTERED.dim} dimensions and Euclidean distance. Random: "
        f"labels mean nothing, so that the expected {MEASURE} inside a group is ({m} - 1) / ({GROUP_SIZE} x {m} - 1). "
        "Clustered: classes are clouds of different sizes round normally distributed centres. Its value inside a group "
        f"was taken once from {extent.large:,} groups: {percent(known.value)}, with a standard error of "
        f"{100 * known.error:.2f} points.",
        "The paper's data sets are not part of deadheat. Beside its Table 1 stand made sets with as many classes, "
        "which show the same effect with other values. By its section 3.2 the mean of N groups is normal with variance "
        "σ²/N, so that its bound must be the value + z σ/√N, and the bound on the difference of two halves twice as "
        "far from 0 as that bound is from the value.",
    ]


STUDY = Study(
    name="grouped",
    question="Grouped Recall@K: cost, intervals, and the number of classes",
    title="Grouped Recall@K: the number of classes, intervals, and cost",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/studies/grouped.md",
    run=run,
    needs=("scipy",),
)
