"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from deadheat.counting import profile
from deadheat.profiles import TieProfile
from deadheat.scored import profile_run, profile_scores
from deadheat.summary import Report, Result, evaluate, measure
from deadheat.ties import Rounded, Tolerance

__all__ = [
    "Report",
    "Result",
    "Rounded",
    "TieProfile",
    "Tolerance",
    "evaluate",
    "measure",
    "profile",
    "profile_run",
    "profile_scores",
]
__version__ = "0.1.0"
