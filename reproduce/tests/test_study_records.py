"""The study of records: p-values against enumerated pairings, fused ranks against fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from reproduce import records as study


@pytest.mark.parametrize(("better", "worse", "n"), [(7, 4, 9), (5, 5, 9), (9, 0, 9), (3, 1, 4), (0, 0, 3)])
def test_p_values_are_the_ends_over_all_pairings_of_the_questions(better: int, worse: int, n: int) -> None:
    pvalues = []
    for both in range(worse + 1):
        won, lost = better - both, worse - both
        if won >= 0 and both + won + lost <= n:
            tail = sum(comb(won + lost, i) for i in range(min(won, lost) + 1))
            pvalues.append(min(1.0, 2 * tail / 2 ** (won + lost)))
    assert study.pvalues(better, worse, n) == pytest.approx((min(pvalues), max(pvalues)))


def test_a_lead_is_the_smallest_that_is_significant() -> None:
    for right, whatever in product((30, 45), (False, True)):
        drop = study.least_difference(right, 50, whatever)
        below, above = (study.pvalues(right, right - each, 50)[whatever] for each in (drop - 1, drop))
        assert above < study.LEVEL <= below


def test_fused_scores_order_and_tie_as_fractions_do() -> None:
    n, depth = study.N_SESSION, 7
    ranks = np.array(list(product(range(1, n + 1), repeat=2)))
    sums = [sum(Fraction(1, study.K + rank) for rank in pair if rank <= depth) for pair in ranks.tolist()]
    dense = {value: place for place, value in enumerate(sorted(set(sums)))}
    assert study.fused(ranks, depth).tolist() == [dense[value] for value in sums]
    assert study.fused(np.array([[1, 3], [3, 1], [2, 2]]), n).tolist()[0] == study.fused(np.array([3, 1]), n)
