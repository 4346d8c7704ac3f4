"""Distances: in come checked embeddings, out go fast scores with a proven error bound, and the exact closeness."""

from deadheat.distances.cityblock import Cityblock
from deadheat.distances.columns import Columns
from deadheat.distances.cosine import Cosine
from deadheat.distances.distance import Distance, Target
from deadheat.distances.euclidean import Euclidean
from deadheat.distances.hamming import Hamming
from deadheat.distances.inner_product import InnerProduct
from deadheat.distances.intervals import outward
from deadheat.distances.levels import Level
from deadheat.distances.registry import find, make, names, opened, register
from deadheat.distances.workspace import Workspace

__all__ = [
    "Cityblock",
    "Columns",
    "Cosine",
    "Distance",
    "Euclidean",
    "Hamming",
    "InnerProduct",
    "Level",
    "Target",
    "Workspace",
    "find",
    "make",
    "names",
    "opened",
    "outward",
    "register",
]
