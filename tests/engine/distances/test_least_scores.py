"""Where exact scores lie that are shifted by a tolerance, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rationals import SignedRoot, dot

from deadheat.engine.distances import registry as distance_registry

SHIFTS = [0.0, 1.0, -1.0, 0.25, -0.25, 1e-9, -1e-9, 2.0, -3.0, 0.1, -0.1, 5e-324, -5e-324, 1e300, -1e300, 17.5]


def closeness(name, q, x):
    """As signed roots."""
    if name == "hamming":
        return SignedRoot.of(Fraction(-sum((int(a) ^ int(b)).bit_count() for a, b in zip(q, x, strict=True))))
    q, x = (list(map(Fraction, row.tolist())) for row in (q, x))
    differences = [a - b for a, b in zip(q, x, strict=True)]
    if name == "euclidean":
        square = dot(differences, differences)
        return SignedRoot(-(square > 0), square.numerator, square.denominator)
    return SignedRoot.of(dot(q, x) if name == "inner_product" else -sum(map(abs, differences)))


@pytest.mark.parametrize("unit", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("name", ["euclidean", "inner_product", "cityblock", "hamming"])
def test_least_scores_separate_what_is_above_a_shifted_threshold_from_what_is_below(name, unit):
    rng = np.random.default_rng(3)
    if name == "hamming":
        rows = rng.integers(0, 256, (9, 1), dtype=np.uint64)
    else:
        rows = np.concatenate([rng.integers(-2, 3, (8, 3)), [[4, 0, 0]]]) * unit
    source = rows if name == "hamming" else distance_registry.opened(rows, name, "embeddings")
    distance = distance_registry.find(name).between(source, source, False)
    assert distance.levels[-1].exact
    query, column = (index.ravel() for index in np.indices((9, len(distance.columns))))
    scores = distance.scores.pair_scores(query, column)
    items = distance.columns.item_of_column[column]
    known = [closeness(name, rows[i], rows[j]) for i, j in zip(query, items, strict=True)]
    for shift in SHIFTS:
        for above in (False, True):
            least = distance.least_scores(query, scores, shift, above)
            for p in range(0, len(query), 4):
                for other in np.flatnonzero(query == query[p]):
                    side = known[other].compare(known[p], Fraction(shift))
                    assert (scores[other] >= least[p]) == (side > 0 or (side == 0 and not above)), (shift, above)


def test_least_scores_are_unknown_where_scores_are_not_exact():
    rows = np.random.default_rng(0).standard_normal((5, 3))
    for name in ("cosine", "euclidean", "inner_product", "cityblock"):
        source = distance_registry.opened(rows, name, "embeddings")
        distance = distance_registry.find(name).between(source, source, False)
        assert distance.least_scores(np.arange(5), np.zeros(5), 0.5, False) is None
