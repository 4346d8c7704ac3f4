"""What "tied" means: in come scores and their bounds, out go groups of relevant items and the cuts between them."""

from deadheat.ties.exact import Exact
from deadheat.ties.registry import make
from deadheat.ties.rounded import Rounded
from deadheat.ties.rule import Cuts, Groups, Items, Member, Relevant, Ties
from deadheat.ties.tolerance import Tolerance

__all__ = ["Cuts", "Exact", "Groups", "Items", "Member", "Relevant", "Rounded", "Ties", "Tolerance", "make"]
