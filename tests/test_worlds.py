"""Small worlds, whole: rankings, rows, label sets, differences. `python -m tests.worlds` goes on to larger ones."""

from __future__ import annotations

from math import comb

import pytest
import world_differences
import world_rows
import world_sets
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


@pytest.mark.parametrize("distance", world_rows.NUMBERS)
def test_all_triples_of_rows_of_one_float8_number(distance: str) -> None:
    pytest.importorskip("ml_dtypes")
    half_way = [world_rows.Rounded("bfloat16")] if distance == "cityblock" else []  # between two values of the type
    for ties in ("exact", world_rows.Tolerance(0.1), *half_way):
        assert world_rows.check("float8_e4m3fn", distance, ties) == 254**3


@pytest.mark.parametrize("ties", ["exact", world_rows.Rounded("float16"), world_rows.Tolerance(0.5)], ids=str)
def test_all_triples_of_rows_of_eight_bits(ties: object) -> None:
    assert world_rows.check("bits", "jaccard", ties) == 256**3


@pytest.mark.parametrize("distance", [*world_rows.NUMBERS, pytest.param("correlation", marks=pytest.mark.slow)])
def test_all_triples_of_rows_of_two_4_bit_numbers(distance: str) -> None:
    pytest.importorskip("ml_dtypes")
    first = next(ties for ties in world_rows.meanings("float4", distance) if ties != "exact")
    assert world_rows.check("float4", distance, first) == 256**3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float4", "bits"])
def test_all_triples_by_every_distance_and_meaning_of_tied(name: str) -> None:
    pytest.importorskip("ml_dtypes")
    for case in world_rows.cases((name,)):
        assert world_rows.check(*case) == len(world_rows.world(name).rows) ** 3


@pytest.mark.slow
@pytest.mark.parametrize("distance", world_rows.NUMBERS)
def test_some_queries_of_two_float8_numbers_against_all_rows(distance: str) -> None:
    pytest.importorskip("ml_dtypes")
    for ties in ("exact", *world_rows.SHORT):
        assert world_rows.check_pairs(distance, ties, 77) == 64 * 253**2


@pytest.mark.parametrize("n", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_all_label_sets_with_every_rule_of_relevance(n: int) -> None:
    labellings = list(world_sets.labellings(n, up_to_names=True))
    assert 6 * len(labellings) >= 8**n
    for i, sets in enumerate(labellings):
        for j, rule in enumerate(world_sets.RULES):
            world_sets.check(sets, rule, world_sets.FORMS[(i + j) % 3])


TIED = world_differences.GRID + world_differences.TIED


@pytest.mark.parametrize(
    ("n", "kinds", "number"),
    [(6, world_differences.GRID, 210), (2, TIED, 78), pytest.param(4, TIED, 1365, marks=pytest.mark.slow)],
)
def test_all_paired_differences_have_the_p_values_of_all_swaps(n: int, kinds: list, number: int) -> None:
    assert sum(world_differences.check(each) > 0 for each in world_differences.worlds(n, kinds)) == number
