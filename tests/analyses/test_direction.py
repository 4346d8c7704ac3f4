"""Measures of which less is better: with one relevant item among n, the rank is n - (n - 1) AUC, so both must agree."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import InputError

N_ITEM = 9


def report(seed: int, n_query: int = 12, within: int = 3) -> dh.Report:
    """One relevant item for each query, at one of the first places of a group."""
    rng, queries = random.Random(seed), []
    for _ in range(n_query):
        closer, tied = rng.randrange(within), rng.choice((1, 1, 2, 3))
        queries.append([(closer, 0, tied, 1)])
    profile = dh.TieProfile.from_groups(queries, n_ranked=[N_ITEM] * n_query)
    return dh.evaluate(profile, "AUC, MnR", labels=[f"c{i // 2}" for i in range(n_query)])


def as_auc(rank: float) -> float:
    return (N_ITEM - rank) / (N_ITEM - 1)


@pytest.mark.parametrize(("by", "alternative", "seeds"), [
    (by, alternative, [(0, 1), (3, 2), (5, 6)][(i + j) % 3])
    for i, by in enumerate(("lower", "expected", "upper"))
    for j, alternative in enumerate(("two-sided", "greater", "less"))
])  # fmt: skip
def test_a_comparison_of_ranks_is_that_of_areas(seeds: tuple[int, int], alternative: Any, by: Any) -> None:
    a, b = report(seeds[0]), report(seeds[1], within=5)
    compared = dh.compare(a, b, by=by, alternative=alternative, resample="query")
    area, rank = compared["AUC"], compared["MnR"]
    of_both = ("pvalue", "pvalue_worst_case", "ahead", "ahead_worst_case", "winner", "n_wins_a", "n_wins_b", "n_open")
    for name in of_both:
        assert getattr(area, name) == getattr(rank, name), name
    assert rank.drop == pytest.approx((N_ITEM - 1) * area.drop)
    assert rank.tested == pytest.approx(-(N_ITEM - 1) * area.tested)
    assert rank.wilcoxon() == pytest.approx(area.wilcoxon())
    low, high = rank.tested_interval
    assert sorted(-(N_ITEM - 1) * end for end in area.tested_interval) == pytest.approx([low, high])
    decision = compared.gate()
    assert decision.pvalues["AUC"] == decision.pvalues["MnR"]
    assert decision.detectable["MnR"] == pytest.approx((N_ITEM - 1) * decision.detectable["AUC"])


@pytest.mark.parametrize("by", ["lower", "expected", "upper"])
def test_a_board_of_ranks_is_that_of_areas(by: Any) -> None:
    reports = {name: report(seed, within=within) for name, seed, within in (("a", 0, 5), ("b", 1, 1), ("c", 2, 3))}
    areas, ranks = (dh.leaderboard(reports, measures=name, by=by, resample="query") for name in ("AUC", "MnR"))
    assert list(areas) == list(ranks)
    assert areas.ranks == ranks.ranks
    assert areas.could_swap == ranks.could_swap
    assert areas.rank_intervals == ranks.rank_intervals
    for name in areas:
        assert areas.ahead_of(name) == ranks.ahead_of(name)
        assert reports[name]["AUC"].lower == pytest.approx(as_auc(reports[name]["MnR"].upper))
    assert ranks.left_open == {}
    text = str(ranks)
    assert "MnR (ranks)" in text
    assert "of which less is better" in text
    assert "Per cent" not in text
    assert ranks.columns()["lower"][0] == reports[next(iter(ranks))]["MnR"].lower


def test_tables_of_several_units() -> None:
    a, b = report(0), report(1)
    lines = str(a).splitlines()
    assert lines[0].split() == ["measure", "lower", "expected", "upper"]
    assert [line.split("  ")[0] for line in lines[1:3]] == ["AUC (%)", "MnR (ranks)"]
    assert a.to_dict()["measures"]["MnR"]["unit"] == "ranks"
    assert "lower" not in a.to_dict()["units"]
    assert dh.evaluate(a.profile, "MnR").to_dict()["units"]["lower"] == "ranks"
    assert str(a["MnR"]).endswith("] ranks")
    assert "0 to 100 %" in a._repr_html_()
    text = str(dh.compare(a, b))
    assert "by the lower bounds, or the upper bounds where less is better" in text
    assert "tested" in text.splitlines()[0]
    assert "by upper" in str(dh.compare(a, b, measures="MnR")).splitlines()[0]
    assert str(a["MnR"].interval()).splitlines()[-2].startswith("95 % intervals (ranks): percentile")
    worst = a.worst(3, measures="MnR").per_row["MnR"]
    assert worst.expected[0] == np.nanmax(a["MnR"].per_query.expected)
    classes = a.by_class(measures="MnR").per_row["MnR"].expected
    assert (np.diff(classes) <= 0).all()


def test_gates_in_ranks() -> None:
    better, worse = report(0, within=1), report(1, within=6)
    compared = dh.compare(better, worse, measures="MnR")
    decision = compared.gate()
    assert not decision.passed
    assert "significantly worse" in decision.verdict()
    assert "ranks" in decision.verdict()
    assert compared.gate(10, "drop").passed
    assert dh.compare(worse, better, measures="MnR").gate().passed
    with pytest.raises(InputError, match="MnR has no worst value"):
        compared.gate(0.5, "worse")
    with pytest.raises(InputError, match="MnR has no worst value"):
        compared.gate(rule="as_good")
    with pytest.raises(InputError, match="margin must be 0 for measures in different units"):
        dh.compare(better, worse).gate(0.1, "drop")
    assert "fall by more than 0 points or 0 ranks from A" in dh.compare(better, worse).gate().verdict()


@pytest.mark.parametrize(("name", "singletons"), [("MnR", "zero"), ("MnR", "one"), ("DCG", "one"), ("EF@0.5", "one")])
def test_a_query_without_a_relevant_item_has_no_value_in_another_unit(name: str, singletons: Any) -> None:
    profile = dh.TieProfile.from_groups([[(0, 0, 1, 1)], []], n_ranked=[2, 2])
    with pytest.raises(InputError, match=f"singletons must be 'skip' for {name}"):
        dh.evaluate(profile, name, singletons=singletons)
    assert dh.evaluate(profile, "DCG", singletons="zero")["DCG"].lower == 0.5
