"""Measures inside groups of equally many classes: reports, the gap of two sets, halves of one, and many models."""

from deadheat.analyses.grouped.correlation import ModelCorrelation, model_correlation
from deadheat.analyses.grouped.gap import Gap
from deadheat.analyses.grouped.generalization import GeneralizationGap, generalization_gap
from deadheat.analyses.grouped.grouping import GroupedReport, grouped
from deadheat.analyses.grouped.halves import SplitHalf, split_half
from deadheat.analyses.grouped.result import GroupedResult
from deadheat.analyses.grouped.trend import GapTrend, gap_trend

__all__ = [
    "Gap",
    "GapTrend",
    "GeneralizationGap",
    "GroupedReport",
    "GroupedResult",
    "ModelCorrelation",
    "SplitHalf",
    "gap_trend",
    "generalization_gap",
    "grouped",
    "model_correlation",
    "split_half",
]
