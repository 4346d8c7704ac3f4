"""The study of confidence: in comes a setting, out come what confidences are worth, with bounds."""

from deadheat.studies.confidence.study import STUDY

__all__ = ["STUDY"]
