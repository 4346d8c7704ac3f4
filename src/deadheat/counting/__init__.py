"""The counting pass: in come embeddings, scores or runs with who is relevant, out go tie profiles and rankings."""

from deadheat.counting.options import CountingOptions
from deadheat.counting.own_gallery import queries_in_gallery
from deadheat.counting.profiling import profile, profile_of, profile_pair

__all__ = ["CountingOptions", "profile", "profile_of", "profile_pair", "queries_in_gallery"]
