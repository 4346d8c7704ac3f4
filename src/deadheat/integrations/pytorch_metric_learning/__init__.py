"""pytorch-metric-learning: its `AccuracyCalculator` with lower bound, expectation and upper bound of each metric.

    query, reference ──rankings──> a distance of deadheat's ──┐
    their labels ──labels──> numbers of classes ──────────────┴──> TieProfile ──metrics──> calculator ──> dictionary

What has no exact equal here is left to the library's own code, and a warning says so once.
"""

from deadheat.support.extras import require

require("pytorch_metric_learning", "pytorch-metric-learning", "deadheat.integrations.pytorch_metric_learning")

from deadheat.integrations.pytorch_metric_learning.calculator import AccuracyCalculator

__all__ = ["AccuracyCalculator"]
