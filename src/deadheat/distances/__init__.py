"""Distances: in come checked embeddings, out go fast scores with a proven error bound, and the exact closeness."""

from deadheat.distances.distance import (
    DISTANCES,
    Cityblock,
    Columns,
    Cosine,
    Distance,
    Euclidean,
    Hamming,
    InnerProduct,
    Level,
    Workspace,
    make,
    opened,
    outward,
)

__all__ = [
    "DISTANCES",
    "Cityblock",
    "Columns",
    "Cosine",
    "Distance",
    "Euclidean",
    "Hamming",
    "InnerProduct",
    "Level",
    "Workspace",
    "make",
    "opened",
    "outward",
]
