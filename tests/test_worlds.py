"""Every ranking of up to four items with every measure of the catalogue; `python -m tests.worlds` goes on to seven."""

from __future__ import annotations

from math import comb

import pytest
import worlds


@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_every_ranking_has_the_values_of_all_its_orders(n: int) -> None:
    kinds = [1]  # of rankings of 0, 1, ... items: a last group of any size, and its grades as a multiset
    for m in range(1, n + 1):
        kinds.append(sum(comb(size + 2, 2) * kinds[m - size] for size in range(1, m + 1)))
    for name in worlds.names(n):
        assert worlds.check(name, n) >= kinds[n] * len(worlds.MISSING), name


def test_every_family_of_the_catalogue_is_there() -> None:
    checked = {name.partition("@")[0] for name in worlds.names(2)}
    assert {row.name for row in worlds.FAMILIES} <= checked | {"MAP@R", "MnR", "Judged"}
