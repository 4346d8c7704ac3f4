"""What "tied" means: in come scores and their bounds, out go groups of relevant items and the cuts between them."""

from deadheat.ties.rules import Cuts, Exact, Groups, Member, Relevant, Rounded, Ties, Tolerance, make

__all__ = ["Cuts", "Exact", "Groups", "Member", "Relevant", "Rounded", "Ties", "Tolerance", "make"]
