"""What "tied" means: in come scores and their bounds, out go groups of relevant items and the cuts between them."""

from deadheat.ties.registry import make
from deadheat.ties.rounded import Rounded
from deadheat.ties.rule import Cuts, Exact, Groups, Relevant, Ties
from deadheat.ties.tolerance import Tolerance

__all__ = ["Cuts", "Exact", "Groups", "Relevant", "Rounded", "Ties", "Tolerance", "make"]
