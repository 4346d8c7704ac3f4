"""The counting pass: in come embeddings, scores or runs with who is relevant, out go tie profiles and rankings."""

from deadheat.counting.profiling import profile
from deadheat.counting.scored import profile_run, profile_scores

__all__ = ["profile", "profile_run", "profile_scores"]
