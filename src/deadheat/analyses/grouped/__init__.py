"""Measures inside groups of equally many classes: in come embeddings and labels, out go reports and the gap of two."""

from deadheat.analyses.grouped.gap import Gap
from deadheat.analyses.grouped.generalization import GeneralizationGap, generalization_gap
from deadheat.analyses.grouped.grouping import GroupedReport, grouped
from deadheat.analyses.grouped.halves import SplitHalf, split_half
from deadheat.analyses.grouped.result import GroupedResult

__all__ = [
    "Gap",
    "GeneralizationGap",
    "GroupedReport",
    "GroupedResult",
    "SplitHalf",
    "generalization_gap",
    "grouped",
    "split_half",
]
