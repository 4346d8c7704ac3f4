"""Measures inside groups of equally many classes, and the gap between two sets measured so."""

from deadheat.analyses.grouped.gap import GeneralizationGap, generalization_gap
from deadheat.analyses.grouped.grouping import GroupedReport, grouped

__all__ = ["GeneralizationGap", "GroupedReport", "generalization_gap", "grouped"]
