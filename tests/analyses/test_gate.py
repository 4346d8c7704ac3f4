"""Gates: the three readings of "worse" against their tests by hand, adjustments, refusals and cautions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat import Report, TieProfile, compare, evaluate
from deadheat.analyses.gate import Gate
from deadheat.reports.statistics.margins import passing_margin, tango_statistic
from deadheat.reports.statistics.permutation import holm

HIT, SECOND, LAST = (0, 1), (1, 1), (4, 1)  # closer, tied


def report(queries: Any, measures: str = "Hit@1", **options: Any) -> Report:
    profile = TieProfile.from_groups([[(k, 0, tied, 1)] for k, tied in queries], n_ranked=[9] * len(queries))
    return evaluate(profile, measures, **options)


def gate(n_lost: int, n_won: int, n: int, margin: float = 0.0, rule: Any = "worse", **settings: Any) -> Gate:
    """Return the gate where B loses and wins some of n queries that A hits and misses."""
    old = [HIT] * (n - n_won) + [SECOND] * n_won
    new = [SECOND] * n_lost + [HIT] * (n - n_lost)
    return compare(report(old), report(new), **settings).gate(margin, rule)


def test_the_rule_drop_compares_numbers_and_tests_nothing() -> None:
    """Three queries with one relevant item each, tied with others: the least of all means, in fractions."""
    rng = np.random.default_rng(2)
    for _ in range(100):
        systems = [[(int(k), int(tied)) for k, tied in rng.integers([0, 1], [3, 4], (3, 2))] for _ in "ab"]
        means = [
            {sum(each, Fraction(0)) / 3 for each in product(*([Fraction(1, k + i) for i in range(1, n + 1)]
             for k, n in rows))} for rows in systems
        ]  # fmt: skip
        a, b = (report(rows, "RR") for rows in systems)
        for margin in (0.0, 0.125, 0.25):
            for by, end in (("lower", min), ("upper", max)):
                decision = compare(a, b, by=by).gate(margin, "drop")  # type: ignore[arg-type]
                assert decision.failed == (("MRR",) if end(means[0]) - end(means[1]) > margin else ())
                assert math.isnan(decision.pvalues["MRR"])


@pytest.mark.parametrize(("n_lost", "n_won", "p"), [(5, 0, 1 / 32), (4, 0, 1 / 16), (7, 1, 9 / 256), (0, 5, 1)])
def test_the_rule_worse_is_the_one_sided_sign_test_for_hits(n_lost: int, n_won: int, p: float) -> None:
    decision = gate(n_lost, n_won, 40)
    assert decision.pvalues == {"Hit@1": p}
    assert (decision.passed, bool(decision), decision.failed == ()) == (p >= 0.05,) * 3


def test_the_rule_as_good_is_the_score_test_for_hits() -> None:
    for n_lost, n_won, margin in ((2, 1, 0.01), (2, 1, 0.03), (0, 0, 0.02), (6, 0, 0.05)):
        decision = gate(n_lost, n_won, 200, margin, "as_good")
        p = stats.norm.cdf(tango_statistic(n_lost, n_won, 200, margin, 0.5))
        assert decision.pvalues["Hit@1"] == pytest.approx(p)
        assert decision.passed == (p < 0.05)


def test_a_drop_within_noise_passes_one_rule_and_fails_the_two_others() -> None:
    """The complaint: Hit@5 falls by 0.8 points at p = 0.125 (two-sided), and every gate fails."""
    rules = {rule: gate(4, 0, 500, 0.005, rule) for rule in ("drop", "worse", "as_good")}
    assert {rule: each.passed for rule, each in rules.items()} == {"drop": False, "worse": True, "as_good": False}
    assert gate(4, 0, 500, rule="worse").pvalues["Hit@1"] == 1 / 16
    assert gate(4, 0, 500, 0.03, "as_good").passed
    assert not gate(30, 0, 500, 0.005).passed


def test_failing_on_any_measure_is_adjusted_and_passing_in_all_is_not() -> None:
    old, new = [HIT] * 20, [SECOND] * 5 + [HIT] * 15
    a, b = report(old, "Hit@1, Hit@2, MRR"), report(new, "Hit@1, Hit@2, MRR")
    worse = compare(a, b).gate()
    assert worse.pvalues == holm({"Hit@1": 1 / 32, "Hit@2": 1.0, "MRR": 1 / 32})
    assert (worse.passed, worse.failed) == (True, ())  # 3/32
    assert compare(a, b, measures="Hit@1").gate().failed == ("Hit@1",)
    as_good = compare(a, b).gate(0.3, "as_good")
    alone = {name: compare(a, b, measures=name).gate(0.3, "as_good").pvalues[name] for name in a.measures}
    assert as_good.pvalues == alone
    assert as_good.failed == tuple(name for name, p in alone.items() if p >= 0.05) == ("Hit@1",)


def test_the_value_that_is_tested_decides() -> None:
    """All items of B tie: its guaranteed score falls, and its best one does not."""
    a, b = report([SECOND] * 30, "MRR"), report([(0, 3)] * 30, "MRR")
    verdicts = {by: compare(a, b, by=by).gate().passed for by in ("lower", "expected", "upper")}  # type: ignore[arg-type]
    assert verdicts == {"lower": False, "expected": True, "upper": True}


def test_it_says_why_and_what_so_many_queries_show() -> None:
    worse, good, drop = gate(8, 0, 40, 0.05), gate(1, 0, 40, 0.05), gate(1, 0, 40, 0.05, "drop")
    assert worse.verdict() == (
        "B is significantly worse than A: Hit@1 by 20.00 points (p = 0.0439), where 5 points are allowed."
    )
    assert good.verdict().startswith(
        "B passes: no measure is shown to fall by more than 5 points from A (Hit@1 by 2.50"
    )
    assert drop.verdict() == "B passes: no measure falls by more than 5 points from A (Hit@1 by 2.50 points)."
    assert len(drop.notes()) == 1, "nothing is tested, and no power is printed"
    least = 100 * good.detectable["Hit@1"]
    assert good.notes()[1] == (
        f"With 40 queries, the smallest drop that is found in 80 % of such samples: {least:.2f} points of Hit@1."
    )
    as_good = gate(2, 2, 200, 0.03, "as_good")
    assert as_good.detectable["Hit@1"] == passing_margin(as_good.differences["Hit@1"].drops, 0.05)
    assert "is not shown to be as good as A: Hit@1 by 0.00 points" in gate(2, 2, 200, 0.005, "as_good").verdict()
    assert [row[-1] for row in worse.tables()[0].rows] == ["fails"]
    content = worse.to_dict()
    assert (content["rule"], content["passed"], content["failed"], content["by"]) == (
        "worse",
        False,
        ["Hit@1"],
        "lower",
    )


def test_a_level_of_its_own() -> None:
    assert not gate(5, 0, 40).passed
    assert gate(5, 0, 40, confidence_level=0.99).passed
    assert gate(5, 0, 40).detectable["Hit@1"] < gate(5, 0, 40, confidence_level=0.99).detectable["Hit@1"]


def test_leave_one_out_has_a_caution() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), 3)
    points = rng.normal(size=(12, 6))[labels] + rng.normal(size=(36, 6))
    a, b = (evaluate(rows, labels, measures="mAP") for rows in (points, points[:, :3]))
    caution = "Leave one out: where nothing differs, tests over classes reject more often than their level says"
    assert any(note.startswith(caution) for note in compare(a, b).gate().cautions())
    assert not any(note.startswith(caution) for note in compare(a, b).gate(rule="drop").notes())
    separate = [evaluate(rows, labels, rows + 1, labels, measures="mAP") for rows in (points, points[:, :3])]
    assert compare(*separate, resample="class").gate().cautions() == []


def test_evidence_that_a_rare_gain_would_undo_is_named() -> None:
    """All 20 values fall a little; one more query that gains 1 would leave no drop of the mean."""
    for fall, cautions in ((0.04, 1), (0.5, 0)):
        values = {"score": np.full(20, 0.9)}, {"score": np.full(20, 0.9 - fall)}
        decision = compare(*values).gate()
        assert decision.failed == ("score",)
        assert [note.split(":")[0] for note in decision.cautions()] == ["score"] * cautions
        assert compare(*values).gate(rule="drop").cautions() == []
    assert gate(8, 0, 40).cautions() == []  # hits: the sign test is one of the mean


def test_a_system_that_ranked_nothing_or_nothing_judged_is_an_error(tmp_path: Path) -> None:
    qrels, runs = tmp_path / "qrels", []
    qrels.write_text("".join(f"q{i} 0 d0 1\n" for i in range(8)))
    for document in ("d0", "other"):
        path = tmp_path / f"{document}.run"
        path.write_text("".join(f"q{i} Q0 {document} 1 0.5 t\n" for i in range(8)))
        runs.append(evaluate(dh.from_run(path, qrels), "MRR"))
    full, unjudged = runs
    empty = evaluate(TieProfile.from_groups([[]] * 8, [0] * 8, [1] * 8), "MRR")
    assert compare(full, full).gate()
    for new, rule in ((unjudged, "something that is judged"), (empty, "something")):
        for margin, reading in product((0.0, 1.0), ("worse", "drop", "as_good")):
            with pytest.raises(
                ValueError, match=f"^new must rank {rule} for some query, but ranks nothing of the kind"
            ):
                compare(full, new, names=("old", "new")).gate(margin, reading)  # type: ignore[arg-type]


def test_what_cannot_be_decided_is_refused() -> None:
    groups = [(0, 0, 1, 1)]
    a, b = (evaluate(TieProfile.from_groups(rows, [9, 9]), "RR") for rows in ([groups, []], [[], groups]))
    with pytest.raises(ValueError, match="MRR must have a value in A and B for some query"):
        compare(a, b).gate()
    same = report([HIT] * 3)
    with pytest.raises(ValueError, match=r"^margin must be a fraction in \[0, 1\], but is 1\.5"):
        compare(same, same).gate(1.5)
    with pytest.raises(ValueError, match=r"^margin must be finite and not negative, but is -0.1"):
        compare(same, same).gate(-0.1)
    with pytest.raises(ValueError, match="rule must be one of drop, worse, as_good, but is 'upper'"):
        compare(same, same).gate(rule="upper")  # type: ignore[arg-type]
    tolerant = evaluate(np.eye(20), np.arange(20) // 2, ties=dh.Tolerance(0.01), measures="mAP")
    assert compare(tolerant, tolerant).gate()
    with pytest.raises(ValueError, match="mAP must have expected values in A and B for some query"):
        compare(tolerant, tolerant, by="expected").gate()
