"""Collisions: in come embeddings and labels, out goes which neighbours of a query are equally far, or nearly so.

    collisions                  of embeddings: rank by rank for one distance, as counts alone for several
    collisions_of_distances     of a matrix of distances, whose numbers are compared as they are
    Collisions, CollisionTable  what these return: `Counts` of each `Kind`, one `Count` each

    rank              1    2    3    4    5    6    7    8
    distance         .1   .2   .2   .3   .4   .4   .4   .5
    label             a    a    b    a    b    b    b    a      of a query with label a
    kind              ·    m    m    ·    i    i    i    ·      mixed, irrelevant

A group that collides is all relevant, all irrelevant, or mixed, and only a mixed one can change a measure. A profile
counts the mixed groups without any of this; what is here shows where they are, and the others too.
"""

from deadheat.analyses.collisions.finding import collisions
from deadheat.analyses.collisions.given import collisions_of_distances
from deadheat.analyses.collisions.results import Collisions, CollisionTable, Count, Counts, Kind

__all__ = ["CollisionTable", "Collisions", "Count", "Counts", "Kind", "collisions", "collisions_of_distances"]
