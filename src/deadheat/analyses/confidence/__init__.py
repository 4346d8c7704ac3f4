"""Evaluation of a model's confidence in its embeddings, by the measures of its queries.

In come a value and a confidence for each query; out come curves, areas, accuracies and correlations. Values are arrays,
`Triple`, or a `Result` such as ``report["Hit@1"]``; a query without a value (NaN) is left out and counted. "Confidence"
is always the model's. The level of an interval of a mean is a ``confidence_level``, which is unrelated.

Equal confidences are ties, like equal distances: where their order matters, there are three values. Sums are exact and
rounded once, so that they are bitwise independent of the order of the queries. What needs SciPy or arviz-stats raises
ModuleNotFoundError without it, with the command that installs it.
"""

from deadheat.analyses.confidence.hits import Calibration, ConfidenceAccuracy, calibration, confidence_accuracy
from deadheat.analyses.confidence.regions import (
    CredibleRecall,
    HighestDensity,
    credible_recall,
    highest_density_interval,
    normal_credible_recall,
)
from deadheat.analyses.confidence.rejecting import ConfidenceReport, RejectCurve, confidence_report, error_reject_curve
from deadheat.analyses.confidence.targets import (
    RankCorrelation,
    annotation_entropy,
    distribution_entropy,
    label_entropy,
    norms,
    rank_correlation,
)

__all__ = [
    "Calibration",
    "ConfidenceAccuracy",
    "ConfidenceReport",
    "CredibleRecall",
    "HighestDensity",
    "RankCorrelation",
    "RejectCurve",
    "annotation_entropy",
    "calibration",
    "confidence_accuracy",
    "confidence_report",
    "credible_recall",
    "distribution_entropy",
    "error_reject_curve",
    "highest_density_interval",
    "label_entropy",
    "normal_credible_recall",
    "norms",
    "rank_correlation",
]


def __dir__() -> list[str]:
    return __all__
