"""Leaderboards: ranks and swaps against definitions, letters against p-values adjusted by hand, the forms they take."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deadheat as dh
from deadheat import Report, TieProfile, compare, evaluate, leaderboard
from deadheat.analyses.board import letters_for
from deadheat.analyses.leaderboard import Leaderboard
from deadheat.reports.statistics import joint
from deadheat.reports.statistics.permutation import holm
from deadheat.reports.tables import raised

# A query is (closer, tied): one relevant item, in a group of `tied` items behind `closer` others.
Query = tuple[int, int]
QUERIES = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=5, max_size=5)


def values(closer: int, tied: int) -> tuple[float, float]:
    """The lower and the upper reciprocal rank."""
    return 1 / (closer + tied), 1 / (closer + 1)


def report(queries: list[Query], measures: str = "MRR", **options: Any) -> Report:
    profile = TieProfile.from_groups([[(k, 0, tied, 1)] for k, tied in queries], n_ranked=[6] * len(queries))
    return evaluate(profile, measures, **{"labels": np.arange(len(queries)), **options})


SYSTEMS = {
    "late": [(2, 1)] * 12,
    "sure": [(0, 1)] * 12,
    "torn": [(0, 1)] * 6 + [(0, 2)] * 6,
    "even": [(0, 1)] * 10 + [(1, 1)] * 2,
}


def board(**options: Any) -> Leaderboard:
    return leaderboard({name: report(queries, "MRR, Hit@1") for name, queries in SYSTEMS.items()}, **options)


def test_ranks_are_by_the_lower_bound_of_the_first_measure() -> None:
    result = board()
    # lower MRR: sure 1, even 11/12, torn 9/12, late 1/3
    assert list(result) == ["sure", "even", "torn", "late"]
    assert result.ranks == {"sure": 1, "even": 2, "torn": 3, "late": 4}
    assert (result.measures, result.by, len(result)) == (("MRR", "Hit@1"), "lower", 4)
    assert result["torn"]["MRR"].lower == 0.75
    # torn reaches 1 at best, which is more than even's 11/12, and no more than sure's
    assert result.could_swap == (("even", "torn"),)
    assert list(board(by="upper")) == ["sure", "torn", "even", "late"]
    assert board(by="upper").ranks == {"sure": 1, "torn": 1, "even": 3, "late": 4}
    assert list(board(measures="Hit@1, MRR", by="expected"))[:2] == ["sure", "even"]


@settings(max_examples=40, deadline=None)
@given(st.lists(QUERIES, min_size=2, max_size=4), st.sampled_from(["lower", "expected", "upper"]))
def test_swaps_are_what_some_tie_breaking_does(systems: list[list[Query]], by: Any) -> None:
    """A mark stands at both systems of a swap, unless the ties of one leave much undecided, and nowhere else."""
    reports = {f"s{i}": report(queries) for i, queries in enumerate(systems)}
    result = leaderboard(reports, by=by, n_resamples=9)
    values = [getattr(result[name]["MRR"], by) for name in result]
    assert values == sorted(values, reverse=True)
    shrunk = 1 - 2.0**-47  # equal means may differ by rounding
    assert list(result.ranks.values()) == [1 + sum(shrunk * other > value for other in values) for value in values]
    ends = [(result[name]["MRR"].lower, result[name]["MRR"].upper) for name in result]
    worlds = [dict(zip(result, world, strict=True)) for world in itertools.product(*ends)]
    swaps = [(a, b) for a, b in itertools.combinations(result, 2) if any(world[b] > world[a] for world in worlds)]
    assert list(result.could_swap) == swaps
    marked = [pair for pair in swaps if not result.left_open.keys() & set(pair)]
    assert list(result.left_open) == [name for name, (low, high) in zip(result, ends, strict=True) if high - low >= 0.1]
    for name, (_, rank, *_) in zip(result, result.tables()[0].rows, strict=True):
        assert ("~" in rank) == any(name in pair for pair in marked)
        ranks = {sum(world[other] > world[name] for other in result) for world in worlds}
        assert "~" not in rank or len(ranks) > 1


def test_the_order_in_which_reports_are_given_changes_nothing() -> None:
    boards = (leaderboard({name: report(SYSTEMS[name]) for name in names}, n_resamples=99)
              for names in itertools.permutations(SYSTEMS))  # fmt: skip
    assert len({json.dumps(each.to_dict()) for each in boards}) == 1


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_is_the_largest_bonferroni_over_all_sets_of_hypotheses_that_hold_one(pvalues: list[float]) -> None:
    # closed testing: a hypothesis is rejected when every set that holds it is, each by Bonferroni's test
    adjusted, every = holm({**dict(enumerate(pvalues)), "none": math.nan}), range(len(pvalues))
    assert list(adjusted) == [*every, "none"]
    assert math.isnan(adjusted["none"])
    for i in every:
        sets = [s for r in every for s in itertools.combinations(every, r + 1) if i in s]
        assert adjusted[i] == max(min(1.0, len(s) * min(pvalues[j] for j in s)) for s in sets)
    assert holm({}) == {}


def test_letters_are_joint_tests_of_the_lower_bounds() -> None:
    result = board()
    guaranteed = {name: np.array([values(*query)[0] for query in SYSTEMS[name]]) for name in result}
    p = joint.adjusted_pvalues(np.stack([*guaranteed.values()]), 9999, 0)
    for (i, a), (j, b) in itertools.permutations(enumerate(result), 2):
        assert result.pvalue(a, b) == min(p[i, j], p[j, i])
        assert (b in result.ahead_of(a)) == (p[i, j] < 0.05)
    assert result.ahead_of("sure") == ("torn", "late")
    assert result.ahead_of("even") == result.ahead_of("torn") == ("late",)
    assert result.ahead_of("sure", by="upper") == ("late",), "torn may be as good"
    assert result.comparison("torn", "sure").names == ("sure", "torn")
    assert result.comparison("sure", "torn")["MRR"].ahead == "A"
    assert result.rank_intervals == {"sure": (1, 2), "even": (1, 3), "torn": (2, 3), "late": (4, 4)}
    assert board(confidence_level=0.99).ahead_of("sure") == ("late",)
    assert board(confidence_level=0.9999).ahead_of("torn") == ()


def test_two_systems_are_tested_as_compare_tests_them() -> None:
    result = leaderboard({name: report(SYSTEMS[name]) for name in ("sure", "torn")})
    assert result.pvalue("sure", "torn") == compare(result["sure"], result["torn"])["MRR"].pvalue == 2 / 2**6


def test_a_collapsed_system_is_below_all_and_changes_no_rank() -> None:
    """Every item ties in `zero`: it is named once, no other rank is marked, and letters stand over it."""
    systems = SYSTEMS | {"zero": [(0, 6)] * 12}
    result = leaderboard({name: report(queries) for name, queries in systems.items()})
    assert list(result)[-1] == "zero"
    assert all("zero" in result.ahead_of(name) for name in SYSTEMS)
    assert "~" not in str(result)
    assert result.left_open == {"torn": 0.25, "zero": pytest.approx(5 / 6)}
    assert "Ties leave undecided: 25 points of torn; 83 points of zero." in lines(result)


def test_expected_values_that_are_the_other_way_are_named() -> None:
    result = leaderboard({"plain": report([(2, 1)] * 12), "tied": report([(0, 4)] * 12)})
    assert result.ahead_of("plain") == ("tied",)  # 1/3, and 1/4 to 1, on average 25/48
    assert result.ahead_of("tied", by="expected") == ("plain",)
    assert "By the expected values, tied is ahead of plain." in lines(result)
    assert list(leaderboard(result.reports, by="expected")) == ["tied", "plain"]


def test_the_data_has_a_row_for_each_system_and_measure_with_its_ranks() -> None:
    result = board()
    rows = [(name, measure) for name in result for measure in result.measures]
    data = result.columns()
    assert [*zip(data["system"], data["measure"], strict=True)] == rows
    assert [*data["rank"]] == [result.ranks[name] for name, _ in rows]
    ends = [*zip(data["best_rank"], data["worst_rank"], strict=True)]
    assert ends == [tuple(result.rank_intervals[name]) for name, _ in rows]
    assert any(best < worst for best, worst in ends)
    assert [*data["upper"]] == [result.reports[name][measure].upper for name, measure in rows]


def test_boards_of_any_size_have_letters() -> None:
    """Holm over 1,225 pairs of 999 flips could not go below 1."""
    rng = np.random.default_rng(0)
    common = rng.integers(0, 3, 100)
    systems = {
        f"s{i:02}": report([(int(k) + (i >= 25), 1) for k in np.maximum(0, common - (rng.random(100) < 0.3))])
        for i in range(50)
    }
    result = leaderboard(systems, n_resamples=999)
    better, worse = set(list(systems)[:25]), set(list(systems)[25:])
    assert set(list(result)[:25]) == better
    assert all(worse <= set(result.ahead_of(name)) for name in better)
    assert all(result.rank_intervals[name].best > 25 for name in worse)
    assert "ᵇᵃ⁻ᵇᶻ" in str(result), "letters of many are runs"
    close = leaderboard({f"s{i}": report([(0, 1)] * (2 * i) + [(1, 1)] * (60 - 2 * i)) for i in range(30)})
    assert re.search(r"Ranks (\d+ to \d+, ){3}\d+ to \d+ and \d+ more blocks are not separable: no pair", str(close))


def test_another_measure_can_put_a_lower_rank_ahead() -> None:
    slow, quick = [(1, 1)] * 12, [(0, 1)] * 6 + [(5, 1)] * 6
    result = leaderboard({"slow": report(slow, "MRR"), "quick": report(quick, "MRR")}, measures="Hit@2, Hit@1")
    assert list(result) == ["slow", "quick"]
    assert (result.ahead_of("slow"), result.ahead_of("quick")) == (("quick",), ())
    assert (result.ahead_of("slow", "Hit@1"), result.ahead_of("quick", "success@1")) == ((), ("slow",))


def test_intervals_are_those_of_the_reports() -> None:
    result = board(confidence_level=0.8, n_resamples=500, seed=4)
    assert result.interval("torn") == result["torn"].interval("MRR", confidence_level=0.8, n_resamples=500, seed=4)
    assert result.interval("torn").unit == "class"
    by_query = board(resample="query", n_resamples=500)
    assert by_query.interval("torn", "Hit@1") == result["torn"].interval("Hit@1", resample="query", n_resamples=500)
    assert by_query.test.resample == "query"
    one, other = report(SYSTEMS["late"]), report(SYSTEMS["sure"], labels=None)
    assert leaderboard({"one": one, "other": other}).test.resample == "query", "not all classes are known"


def lines(result: Leaderboard) -> list[str]:
    return [" ".join(line.split()) for line in str(result).splitlines()]


def test_text() -> None:
    assert lines(board()) == [
        "system rank ranks (95 %) MRR (%) 95 % interval Hit@1 (%)",
        "a sure 1 1-2 100.00ᶜᵈ [73.54, 100.00] 100.00ᵈ",
        "b even 2 1-3 91.67ᵈ [79.17, 100.00] 83.33ᵈ",
        "c torn 3 2-3 87.50 [75.00, 100.00]ᵈ [58.33, 91.67] 75.00 [50.00, 100.00]",
        "d late 4 4 33.33 [24.51, 50.98] 0.00",
        "",
        "Ranked and tested by the lower bounds of MRR; tests over 12 classes.",
        "Per cent; expected [lower, upper] over all tie-breakings; the interval is of the lower bounds.",
        "Raised letters: significantly ahead of that system (p < 0.05, adjusted for 6 pairs by step-down max-T).",
        "Ranks 1 to 2 and 2 to 3 are not separable: no pair within them is significantly different.",
        "Ties leave undecided: 25 points of torn.",
    ]
    assert "87.5 [75.0, 100.0]ᵈ" in board().to_text(digits=1)
    assert r"100.00\textsuperscript{d}" in board().to_latex()
    assert board().to_latex().isascii(), "letters that every engine sets"
    for part in ("rank: by the lower value of MRR", "adjusted by step-down max-T", "9999 resamples"):
        assert part in board().explain()
    certain = leaderboard({name: report(SYSTEMS[name]) for name in ("sure", "late")})
    assert lines(certain)[-4:] == [
        "Ranked and tested by MRR; tests over 12 classes.",
        "Per cent; no tie changes any value.",
        "Raised letters: significantly ahead of that system (p < 0.05, adjusted for 1 pair by step-down max-T).",
        "Every pair of systems is separated.",
    ]


def test_the_interval_is_of_the_value_that_ranks() -> None:
    for by in ("lower", "expected", "upper"):
        result = board(by=by)
        ends = [getattr(result.interval(name), by) for name in result]
        assert [row[4] for row in result.tables()[0].rows] == [each.shown() for each in ends]
        measures = [each["measures"]["MRR"]["interval"] for each in result.to_dict()["systems"]]
        assert measures == [list(each) for each in ends]
        assert result.columns()["low"][::2] == [each.low for each in ends]


def test_what_to_beware_of_is_said() -> None:
    few = leaderboard({name: report(queries[:4]) for name, queries in SYSTEMS.items()})
    assert lines(few)[-2:] == [
        "Only 4 classes: with fewer than about 10 neither intervals nor p-values can be trusted.",
        "No difference can be significant here, for the smallest p is 0.12: there are too few units.",
    ]
    assert lines(board(n_resamples=15))[-1] == (
        "No difference can be significant here, for the smallest p is 0.062: raise n_resamples."
    )
    bare = leaderboard({name: report(queries, labels=None) for name, queries in SYSTEMS.items()})
    assert lines(bare)[-1].startswith("No labels are known, so each query counts as independent;")
    many = leaderboard({str(i): report([(0, 2)] + [(0, 1)] * 11) for i in range(4)})
    assert many.ranks == dict.fromkeys("0123", 1)
    assert "~ ties alone could swap 0 and 1; 0 and 2; 0 and 3; 1 and 2; and 2 more pairs." in lines(many)


def test_letters_are_distinct_for_any_number_of_systems() -> None:
    for n in (2, 25, 26, 700):
        result = letters_for(n)
        assert len(set(result)) == n
        assert len(set(map(len, result))) == 1
        assert len(raised(result[:2])) == 2 * len(result[0]) + (len(result[0]) > 1)


def test_a_tolerance_has_bounds_and_no_expected_value() -> None:
    points, labels = np.random.default_rng(3).normal(size=(24, 4)), np.arange(24) % 12
    reports = {
        str(n): dh.evaluate(points[:, :n], labels, ties=dh.Tolerance(1e-3), measures="mAP") for n in (4, 2)
    }  # fmt: skip
    result = leaderboard(reports)
    shown = [result.interval(name).lower.shown() for name in "42"]
    assert [row[4] for row in result.tables()[0].rows] == shown
    assert result.ahead_of("4") == ("2",)
    assert json.loads(result.to_json())["systems"][0]["measures"]["mAP"]["expected"] is None
    with pytest.raises(ValueError, match=r'^by must be "lower" or "upper", because \'4\' has no expected values$'):
        leaderboard(reports, by="expected")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="nope"):
        board().pvalue("sure", "late", "nope")
    with pytest.raises(ValueError, match=r"^name must be one of .*, but is 'nobody'"):
        board()["nobody"]
    with pytest.raises(ValueError, match=r"^b must be another system than a, but both are 'sure'"):
        board().comparison("sure", "sure")


def test_json_has_systems_and_pairs() -> None:
    result = board(n_resamples=99)
    content = json.loads(result.to_json())
    assert [(system["name"], system["rank"]) for system in content["systems"]] == list(result.ranks.items())
    assert (content["could_swap"], content["test"]["correction"]) == ([["even", "torn"]], "step-down max-T")
    pair = content["pairs"][0]
    assert (pair["a"], pair["b"]) == ("sure", "even")
    assert pair["pvalue_adjusted"]["MRR"] == result.pvalue("sure", "even")
    assert result.columns()["low"][1] == result.interval("sure", "Hit@1").expected.low
