"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from deadheat.counting import profile
from deadheat.profiles import TieProfile
from deadheat.ties import Rounded, Tolerance

__all__ = ["Rounded", "TieProfile", "Tolerance", "profile"]
__version__ = "0.1.0"
