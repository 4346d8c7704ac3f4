"""Reports: in come profiles and measures, out go means with their bounds, as numbers, tables and files."""

from deadheat.reports.summary import Report, Result, evaluate, measure

__all__ = ["Report", "Result", "evaluate", "measure"]
