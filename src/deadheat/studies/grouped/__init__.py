"""The study of grouped measures: in comes a setting, out come values, coverage and cost by the number of classes."""

from deadheat.studies.grouped.study import STUDY

__all__ = ["STUDY"]
