"""The tie profile: in come the integers of a counting pass, out go profiles to keep, hash, slice, add and measure."""

from deadheat.profiles.compact import CompactGroups
from deadheat.profiles.parts import at_level, in_parts, judged_at_level
from deadheat.profiles.profile import TieProfile, Ties
from deadheat.support.arrays import Int64

__all__ = ["CompactGroups", "Int64", "TieProfile", "Ties", "at_level", "in_parts", "judged_at_level"]
