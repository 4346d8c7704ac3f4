"""The real numbers that scores of a distance stand for."""

from __future__ import annotations

from fractions import Fraction

from rationals import absolute_differences, dot, root

from deadheat.engine.distances import scaling


def fractions(row):
    return [Fraction(value) for value in row.tolist()]


def cosine(q, x):
    squares = dot(q, q) * dot(x, x)
    return dot(q, x) / root(squares) if squares else Fraction(0)


def at_centre(distance, q):
    """The cosine of a query with the common centre."""
    return cosine(q, fractions(scaling.common_centre(distance.query_raw, distance.gallery_raw)))


def true_score(distance, query, item):
    """The real number that a score stands for."""
    q, x, kind = fractions(query), fractions(item), type(distance).__name__
    if kind == "Cosine":
        return cosine(q, x)
    unit = Fraction(distance.unit)
    if kind == "CosineOfTangents":
        return (cosine(q, x) - at_centre(distance, q)) / unit**2
    if kind == "InnerProduct":
        return dot(q, x) / unit**2
    if kind == "Euclidean":
        return dot(q, x) / unit**2 - (dot(x, x) / unit**2 - Fraction(distance.common_offset)) / 2
    if kind == "Cityblock":
        return -absolute_differences(q, x) / unit
    return sum(map(min, q, x)) / unit - (sum(x) / unit - Fraction(distance.common_offset)) / 2
