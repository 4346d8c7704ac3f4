"""Comparisons of two reports against enumeration in fractions: every swap, and every way for the ties to fall."""

from __future__ import annotations

import itertools
import json
import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat import Report, TieProfile, evaluate
from deadheat.analyses.comparison import Comparison, compare
from deadheat.reports.statistics import permutation
from deadheat.reports.statistics.intervals import mean_intervals

# A query is (closer, tied): one relevant item, in a group of `tied` items behind `closer` others. RR is one of
# 1/(closer + 1), ..., 1/(closer + tied), each as likely.
Query = tuple[int, int]
QUERIES = st.tuples(st.integers(0, 3), st.integers(1, 3))
PAIRS = st.lists(st.tuples(QUERIES, QUERIES), min_size=1, max_size=4)
ALTERNATIVES = ["two-sided", "greater", "less"]
EITHER_WAY = operator.ge, operator.le


def report(queries: list[Query | None], measures: Any = "MRR", ids: Any = None, **options: Any) -> Report:
    """The report on such queries; None is a singleton."""
    groups = [[] if query is None else [(query[0], 0, query[1], 1)] for query in queries]
    profile = TieProfile.from_groups(groups, n_ranked=[6] * len(groups))
    if ids is not None:
        profile = TieProfile(**{f: getattr(profile, f) for f in FIELDS}, query_ids=tuple(ids))
    return evaluate(profile, measures, **options)


FIELDS = ("offsets", "closer", "closer_relevant", "tied", "tied_relevant", "n_ranked", "n_relevant")


def values(query: Query) -> list[Fraction]:
    return [Fraction(1, query[0] + rank) for rank in range(1, query[1] + 1)]


def swap_test(differences: list[Fraction], alternative: str) -> Fraction:
    """The paired permutation test, by every swap."""
    sums = [sum(map(operator.mul, signs, differences)) for signs in itertools.product([1, -1], repeat=len(differences))]
    more, less = (Fraction(sum(map(than, sums, itertools.repeat(sum(differences)))), len(sums)) for than in EITHER_WAY)
    return {"greater": more, "less": less, "two-sided": min(Fraction(1), 2 * min(more, less))}[alternative]


def pair_of_reports(pairs: list[tuple[Query, Query]]) -> tuple[Report, Report]:
    return report([a for a, _ in pairs]), report([b for _, b in pairs])


@settings(max_examples=100, deadline=None)
@given(PAIRS, st.sampled_from(ALTERNATIVES), st.sampled_from(["lower", "expected", "upper"]))
def test_exact_p_values_means_and_counts(pairs: list[tuple[Query, Query]], alternative: Any, by: Any) -> None:
    result = compare(*pair_of_reports(pairs), alternative=alternative, by=by)["MRR"]
    assert result.is_exact
    expected = [sum(values(a)) / a[1] - sum(values(b)) / b[1] for a, b in pairs]
    choices = [[x - y for x in values(a) for y in values(b)] for a, b in pairs]
    lower, upper = list(map(min, choices)), list(map(max, choices))
    tested = {
        "lower": [min(values(a)) - min(values(b)) for a, b in pairs],
        "expected": expected,
        "upper": [max(values(a)) - max(values(b)) for a, b in pairs],
    }[by]
    assert result.pvalue == swap_test(tested, alternative) <= result.pvalue_worst_case
    assert abs(Fraction(result.tested) - sum(tested) / len(pairs)) <= Fraction(1, 10**15)
    for got, exact in ((result.lower, lower), (result.expected, expected), (result.upper, upper)):
        mean = sum(exact) / len(pairs)
        assert abs(Fraction(got) - mean) <= Fraction(1, 10**15)
        assert (got == 0) == (mean == 0)
    assert result.winner == ("A" if sum(lower) > 0 else "B" if sum(upper) < 0 else None)
    signs = [{(x > 0) - (x < 0) for x in choice} for choice in choices]
    counts = *(signs.count({sign}) for sign in (1, -1, 0)), sum(len(sign) > 1 for sign in signs)
    assert (result.n_wins_a, result.n_wins_b, result.n_equal, result.n_open) == counts
    assert result.n_pair == len(pairs)
    if len(pairs) == 4:  # too many ways for the ties to fall
        return
    largest = max(swap_test(list(fall), alternative) for fall in itertools.product(*choices))
    if alternative == "two-sided" and result.pvalue_worst_case == 1:
        assert result.winner is None or largest == 1
    else:
        assert result.pvalue_worst_case == largest


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.randoms(use_true_random=False))
def test_order_and_exchange(pairs: list[Any], random: Any) -> None:
    shuffled = random.sample(pairs, len(pairs))
    reports = pair_of_reports(pairs), pair_of_reports(shuffled), reversed(pair_of_reports(pairs))
    result, again, back = (compare(*pair)["MRR"] for pair in reports)
    assert (again.lower, again.expected, again.upper) == (result.lower, result.expected, result.upper)
    assert (-back.upper, -back.expected, -back.lower) == (result.lower, result.expected, result.upper)
    for other in (again, back):
        assert (other.pvalue, other.pvalue_worst_case) == (result.pvalue, result.pvalue_worst_case)
    counts = result.n_wins_b, result.n_wins_a, result.n_open, result.n_equal
    assert (back.n_wins_a, back.n_wins_b, back.n_open, back.n_equal) == counts
    assert (back.a, back.b) == (result.b, result.a)


def test_sums_that_differ_by_rounding_alone_are_equal() -> None:
    # 1/2 - 1/3 and 1/3 - 1/6 are 1/6, and 1/6 - 1/2 is -1/3: a sum of 0, which floats miss
    pairs = [((1, 1), (2, 1)), ((2, 1), (5, 1)), ((5, 1), (1, 1))]
    result = compare(*pair_of_reports(pairs))["MRR"]
    assert math.fsum(result.per_query.expected) != 0
    assert (result.lower, result.upper, result.winner) == (0, 0, None)
    assert result.pvalue == result.pvalue_worst_case == 1
    assert compare(*pair_of_reports(pairs), alternative="greater")["MRR"].pvalue == Fraction(5, 8)


def test_values_that_differ_by_rounding_alone_are_equal() -> None:
    # all of 5 relevant items in front, as one group and one by one: AP is 1 and is computed in two ways
    together = TieProfile.from_groups([[(7, 0, 5, 5)]], n_ranked=[20])
    one_by_one = TieProfile.from_groups([[(7 + i, i, 1, 1) for i in range(5)]], n_ranked=[20])
    result = compare(evaluate(together, "AP"), evaluate(one_by_one, "AP"))["AP"]
    assert (result.n_equal, result.n_wins_a, result.n_wins_b, result.n_open) == (1, 0, 0, 0)
    assert result.pvalue == 1


def test_random_swaps_are_a_slow_loop_with_the_same_draws() -> None:
    rng = np.random.default_rng(0)
    row = rng.normal(0.3, 1, 16)
    result = permutation.tails(row[None], float(np.abs(row).sum()), 999, seed=8)[0]
    bits = np.unpackbits(np.frombuffer(np.random.default_rng(8).bytes(2 * 999), dtype=np.uint8)).reshape(999, 16)
    signed = [math.fsum(d if keep else -d for d, keep in zip(np.sort(row), kept, strict=True)) for kept in bits]
    assert result.at_least == (1 + sum(total >= math.fsum(row) for total in signed)) / 1000
    assert result.at_most == (1 + sum(total <= math.fsum(row) for total in signed)) / 1000


def test_random_swaps_come_near_the_exact_test_and_are_never_zero() -> None:
    rng = np.random.default_rng(3)
    a, b = (report([(int(k), int(m)) for k, m in rng.integers((0, 1), (4, 3), (12, 2))]) for _ in "ab")
    exact, drawn = compare(a, b, n_resamples=4096)["MRR"], compare(a, b, n_resamples=4095)["MRR"]
    assert (exact.is_exact, drawn.is_exact) == (True, False)
    for p, q in ((exact.pvalue, drawn.pvalue), (exact.pvalue_worst_case, drawn.pvalue_worst_case)):
        assert 0.02 < p <= 1
        assert abs(p - q) < 5 * math.sqrt(2 * p / 4096)
    assert drawn.pvalue == compare(a, b, n_resamples=4095)["MRR"].pvalue
    seeds = [compare(a, b, n_resamples=500, seed=seed)["MRR"].pvalue for seed in (0, 1)]
    assert seeds[0] != seeds[1]
    result = compare(report([(0, 1)] * 40), report([(3, 1)] * 40), n_resamples=99)["MRR"]
    assert result.pvalue == result.pvalue_worst_case == 0.02


def test_batches_of_swaps_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    row = np.random.default_rng(0).normal(0.1, 1, 16)
    whole = permutation.tails(row[None], 16.0, 500, 0)
    monkeypatch.setattr(permutation, "_AT_ONCE", 64)
    assert permutation.tails(row[None], 16.0, 500, 0) == whole
    few = np.array([[1.0, 2, 4]])
    assert permutation.tails(few, 7.0, 500, 0) == [(1.0, 0.125)]


A = [(0, 1), (0, 2), (1, 1), (0, 1), None, (2, 1)]
B = [(1, 1), (0, 2), (0, 1), (3, 1), (0, 1), (2, 2)]
LABELS = ["x", "y", "y", "x", "x", "z"]
# A - B per query, lower, expected and upper; the fifth is left out
LOWER = [0.5, -0.5, -0.5, 0.75, math.nan, 0.0]
EXPECTED = [0.5, 0.0, -0.5, 0.75, math.nan, 1 / 3 - 7 / 24]
UPPER = [0.5, 0.5, -0.5, 0.75, math.nan, 1 / 3 - 1 / 4]


def test_pairs_without_a_value_are_left_out() -> None:
    result = compare(report(A), report(B))["MRR"]
    np.testing.assert_array_equal(result.per_query.lower, LOWER)
    np.testing.assert_allclose(result.per_query.expected, EXPECTED, atol=1e-16)
    np.testing.assert_array_equal(result.per_query.upper, UPPER)
    assert (result.n_pair, result.n_left_out) == (5, 1)
    assert result.a.lower == math.fsum([1, 0.5, 0.5, 1, 1 / 3]) / 5
    assert result.b.lower == math.fsum([0.5, 0.5, 1, 0.25, 0.25]) / 5  # without the pair of the singleton of A
    assert result.lower == (0.5 - 0.5 - 0.5 + 0.75) / 5
    assert (result.n_wins_a, result.n_wins_b, result.n_open, result.n_equal) == (2, 1, 2, 0)
    filled = compare(report(A, singletons="zero"), report(B, singletons="zero"))["MRR"]
    assert filled.per_query.upper[4] == -1
    assert (filled.n_pair, filled.n_left_out) == (6, 0)


def test_whole_classes_are_swapped_and_drawn() -> None:
    a, b = report(A, labels=LABELS), report(B, labels=LABELS)
    result = compare(a, b, resample="class", seed=3)["MRR"]
    sums = [Fraction(5, 4), Fraction(-1, 2), Fraction(1, 24)]  # of classes x, y, z
    assert result.tested_by("expected").pvalue == swap_test(sums, "two-sided")
    assert result.pvalue == swap_test([Fraction(5, 4), Fraction(-1, 2), Fraction(1, 12)], "two-sided")
    assert result.pvalue_worst_case == swap_test([Fraction(5, 4), Fraction(-1), Fraction(0)], "two-sided")
    classes = np.array([0, 1, 1, 0, 0, 2])
    assert compare(a, b, seed=3)["MRR"].to_dict() == result.to_dict()  # as no gallery of its own is known
    assert result.interval() == mean_intervals(LOWER, EXPECTED, UPPER, classes=classes, method="percentile", seed=3)
    assert result.interval().n == 3
    assert result.lower == compare(a, b, resample="query")["MRR"].lower  # the mean is over queries still
    given_labels = compare(report(A), report(B), resample="class", labels=LABELS, seed=3)["MRR"]
    assert given_labels.to_dict() == result.to_dict()


def test_mean_differences_of_queries_do_not_depend_on_their_units() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 9, 200)
    a, b = (report([*zip(rng.integers(0, 4, 200).tolist(), [1] * 200, strict=True)], labels=labels) for _ in range(2))
    of_queries, of_classes = (compare(a, b, resample=unit)["MRR"] for unit in ("query", "class"))
    for name in ("lower", "expected", "upper", "tested"):
        assert getattr(of_queries, name) == getattr(of_classes, name), name


def test_mean_over_classes() -> None:
    a, b = (report(queries, average="class", labels=LABELS) for queries in (A, B))
    result = compare(a, b)["MRR"]
    means = [Fraction(5, 8), Fraction(-1, 4), Fraction(1, 24)]
    assert result.expected == pytest.approx(float(sum(means) / 3), abs=1e-16)
    assert result.tested_by("expected").pvalue == swap_test(means, "two-sided")
    assert result.a.expected == pytest.approx((1 + (0.75 + 0.5) / 2 + 1 / 3) / 3)
    assert "Means, tests and intervals are over 3 classes, by the lower bounds." in str(compare(a, b))


def test_interval_with_other_settings() -> None:
    result = compare(report(A), report(B), confidence_level=0.8, n_resamples=500, seed=9)["MRR"]
    asked = result.interval(method="t", confidence_level=0.5)
    assert asked == mean_intervals(*result.per_query, confidence_level=0.5, method="t")
    assert result.interval(seed=3) == mean_intervals(
        *result.per_query, confidence_level=0.8, method="percentile", n_resamples=500, seed=3
    )
    assert result.interval() is result.interval()
    with pytest.raises(ValueError, match=r"^confidence_level must lie strictly between 0 and 1, but is 0$"):
        result.interval(confidence_level=0)


def test_wilcoxon_by_hand() -> None:
    # differences 1/2, 2/3, 3/4 in favour of A: of the 8 signs of the ranks one has a sum of 6, one of 0
    result = compare(report([(0, 1)] * 4), report([(1, 1), (2, 1), (3, 1), (0, 1)]))["MRR"]
    assert result.wilcoxon() == 0.25
    assert math.isnan(compare(report(A), report(A))["MRR"].wilcoxon())


def test_bounds_without_an_expectation() -> None:
    fields = {name: getattr(report([(0, 2), (1, 1)]).profile, name) for name in FIELDS}
    comparison = compare(report([(0, 1), (0, 1)]), evaluate(TieProfile(**fields, bounds_only=True), "MRR"))
    result = comparison["MRR"]
    assert (result.lower, result.upper) == (0.25, 0.5)
    by_expected = result.tested_by("expected")
    assert np.isnan([result.expected, by_expected.pvalue, result.interval().expected.low, by_expected.wilcoxon()]).all()
    assert result.pvalue == swap_test([Fraction(1, 2), Fraction(1, 2)], "two-sided")
    assert result.pvalue_worst_case == swap_test([Fraction(0), Fraction(1, 2)], "two-sided") == 1
    without = compare(comparison.a, comparison.b, by="expected")
    assert without.false_discovery() == {}
    assert json.loads(without.to_json())["measures"]["MRR"]["pvalue"] is None
    assert [*without.tables()[0].rows[0][1:6]] == ["100.00", "[50.00, 75.00]", "[25.00, 50.00]", "-", "-"]


def test_no_pair_at_all() -> None:
    result = compare(report([None, (0, 1)]), report([(0, 1), None]))["MRR"]
    assert (result.n_pair, result.n_left_out, result.winner) == (0, 2, None)
    values = result.lower, result.expected, result.pvalue, result.pvalue_worst_case, result.interval().lower.low
    assert all(map(math.isnan, values))


def test_queries_are_matched_by_their_ids() -> None:
    a, b = report(A, ids="pqrstu"), report(B, ids="pqrstu")
    order = [3, 0, 5, 2, 4, 1]
    moved = report([B[i] for i in order], ids=["pqrstu"[i] for i in order])
    assert compare(a, moved).to_dict()["measures"] == compare(a, b).to_dict()["measures"]
    assert compare(report(A), b).to_dict()["measures"] == compare(a, b).to_dict()["measures"]


def test_a_query_of_one_report_is_left_out_if_nothing_is_relevant_to_it() -> None:
    a, b = report(A, ids="pqrstu"), report([*B, None], ids=["p", "q", "r", "s", "t", "u", "v"])
    result = compare(a, b)["MRR"]
    np.testing.assert_array_equal(result.per_query.lower, LOWER)
    assert (result.n_pair, result.n_left_out) == (5, 2)
    back = compare(b, a)["MRR"]
    assert math.isnan(back.per_query.lower[6])
    assert (back.n_pair, back.n_left_out) == (5, 2)
    with pytest.raises(ValueError, match=r"^a and .* of those with a value 1 only in b \('v', \.\.\.\)$"):
        compare(report(A, ids="pqrstu", singletons="zero"), report([*B, None], ids="pqrstuv", singletons="zero"))


def test_equal_classes_under_other_names_are_the_same() -> None:
    a, b = report(A, labels=LABELS), report(B, labels=[7, 1, 1, 7, 7, 3])
    assert compare(a, b, resample="class")["MRR"].interval().n == 3


def test_other_queries_and_bad_arguments_are_refused() -> None:
    a, b, with_ids, with_labels = report(A), report(B), report(A, ids="pqrstu"), report(A, labels=LABELS)
    lacking = r"of those with a value 1 only in a \('p', \.\.\.\) and 2 only in b \('v', \.\.\.\)$"
    two_names = r"^names must be two strings that are not empty, but is "
    for one, other, options, message in (
        (a, report(B[:5]), {}, r"^a and b must be of the same queries, but have 6 and 5$"),
        (with_ids, report(B[:5]), {}, r"but have 6 and 5, and only one of them has query_ids$"),
        (with_ids, report([*B[1:], (0, 1), (0, 1)], ids="qrstuvw"), {}, lacking),
        (
            report(A, ids="ppqrst"),
            report(B, ids="pqrstu"),
            {},
            r"^a must have distinct query_ids to be matched by",
        ),
        (with_labels, report(B, labels=LABELS[::-1]), {}, r"in the same order, but their labels differ$"),
        (with_labels, report(B, labels=["x"] * 6), {}, r"in the same order, but their labels differ$"),
        (a, report(B, singletons="one"), {}, r"must have the same singletons, but have 'skip' and 'one'$"),
        (
            a,
            report(B, average="class", labels=LABELS),
            {},
            r"the same average, but have 'query' and 'class'$",
        ),
        (a, report(B, "Hit@1"), {}, r"must show a measure in common, .* but they show MRR and Hit@1$"),
        (a, b, {"resample": "class"}, r'^resample="class" needs labels, one for each query$'),
        (a, b, {"alternative": "more"}, r"^alternative must be one of two-sided, greater, less, but is 'more'$"),
        (a, b, {"method": "t"}, r"^method must be one of percentile, BCa, but is 't'$"),
        (a, b, {"n_resamples": 0}, "^n_resamples must "),
        (a, b, {"confidence_level": 1.5}, "^confidence_level must "),
        (a, b, {"seed": -3}, "^seed must "),
        (a, b, {"names": ("a", "a")}, r"^names must be two different ones, but both are 'a'$"),
        (a, report(B[:5]), {"names": ("new", "old")}, r"^new and old must be of the same queries, but have 6 and 5$"),
        (a, b.profile, {}, r"^b must be a Report, a result .*, or a dictionary of arrays, but is TieProfile$"),
        *((a, b, {"names": names}, two_names) for names in ("ab", ["a"], ["a", ""], [1, 2])),
    ):
        with pytest.raises(TypeError if message == two_names or "TieProfile" in message else ValueError, match=message):
            compare(one, other, **options)
    with pytest.raises(ValueError, match="wtf"):
        compare(a, b)["wtf"]


def test_measures_of_a_comparison() -> None:
    a, b = report(A, ["Hit@1", "MRR", "mAP"]), report(B, ["MRR", "Hit@1"])
    assert compare(a, b).measures == ("Hit@1", "MRR")
    assert list(compare(a, b, measures=["rr", "AP"])) == ["MRR", "mAP"]
    comparison = compare(a, b)
    assert comparison["reciprocal_rank"] is comparison["MRR"]
    assert comparison["P@1"].name == "P@1"


BOTH = ["MRR", "Hit@1"]


def text_of(comparison: Comparison) -> list[str]:
    return [" ".join(line.split()) for line in str(comparison).splitlines()]


def test_text() -> None:
    comparison = compare(report(A, BOTH), report(B, BOTH), resample="query", names=["new", "old"])
    assert text_of(comparison) == [
        "measure (%) new old new - old by lower 95 % interval p worst-case p",
        "MRR 71.67 [66.67, 76.67] 55.83 [50.00, 61.67] 15.83 [5.00, 26.67] 16.67 [-40.00, 70.00] 0.5000 1.0000",
        "Hit@1 50.00 [40.00, 60.00] 30.00 [20.00, 40.00] 20.00 [0.00, 40.00] 20.00 [-80.00, 100.00] 1.0000 1.0000",
        "",
        "Per cent; expected [lower, upper] over all tie-breakings. 5 queries in pairs; 1 without a value in new or old "
        "left out.",
        "Tests and intervals are over queries, by the lower bounds.",
        "No significant difference in MRR and Hit@1 (p < 0.05).",
        "Only 5 queries: with fewer than about 6 neither intervals nor p-values can be trusted.",
    ]
    assert comparison.to_markdown().splitlines()[1].startswith("|:--------------|-----")
    assert "30.0 [20.0, 40.0]" in comparison.to_text(digits=1)


def test_a_number_that_ties_do_not_change_stands_alone() -> None:
    a, b = report([(0, 1)] * 6, labels=[*"abcdef"]), report([(1, 1)] * 6)
    assert text_of(compare(a, b, alternative="greater")) == [
        "measure (%) A B A - B 95 % interval p",
        "MRR 100.00 50.00 50.00 [-18.89, 72.96] 0.0156",
        "",
        "Per cent. 6 queries in pairs.",
        "Tests and intervals are over 6 classes.",
        "A is ahead in MRR (p < 0.05).",
        "Only 6 classes: with fewer than about 10 neither intervals nor p-values can be trusted.",
    ]


def test_nobody_is_called_ahead_by_a_mean_alone() -> None:
    result = compare(report(A), report(B))["MRR"]
    assert (result.winner, result.ahead, result.ahead_worst_case) == ("A", None, None)
    assert result.pvalue == 0.5
    # seven wins and nothing else: p is 2/128; with ties that undo one of them for sure, the worst case is not below .05
    best, second = report([(0, 1)] * 7), report([(1, 1)] * 7)
    sure = compare(best, second)["MRR"]
    assert (sure.ahead, sure.ahead_worst_case, sure.pvalue) == ("A", "A", 2 / 128)
    assert compare(second, best)["MRR"].ahead == "B"
    tied = compare(best, report([*[(1, 1)] * 5, *[(0, 2)] * 2]))
    assert (tied["MRR"].ahead, tied["MRR"].ahead_worst_case) == ("A", None)
    assert "A is ahead in MRR by the lower bounds, but not for every tie-breaking (p < 0.05)." in str(tied)
    assert compare(best, second, confidence_level=0.99)["MRR"].ahead is None


def test_the_rest_is_explained_on_request() -> None:
    comparison = compare(report(A), report(B), names=("new", "old"), n_resamples=7, alternative="greater")
    text = comparison.explain()
    assert "greater: whether new is better. It swaps the two, as if chance had decided which one is which: 7" in text
    assert text.endswith("Queries won, whatever the ties do:\n  MRR: new 2, old 1; 0 equal, 2 depend on the ties")
    assert "every swap of queries." in compare(report(A), report(B)).explain()


def test_dictionary_and_columns() -> None:
    comparison = compare(report(A, BOTH), report(B, BOTH))
    content, result = json.loads(comparison.to_json()), comparison["MRR"]
    values = {name: getattr(result, name) for name in ("lower", "expected", "upper", "pvalue", "pvalue_worst_case")}
    counts = {"n_wins_a": 2, "n_wins_b": 1, "n_equal": 0, "n_open": 2}
    assert content["measures"]["MRR"] == {
        **values, **counts, "by": "lower", "tested": result.tested, "tested_interval": list(result.tested_interval),
        "a": dict(result.a._asdict()), "b": dict(result.b._asdict()),
        "interval": {name: list(getattr(result.interval(), name)) for name in ("lower", "expected", "upper")},
        "exact": True, "winner": "A", "ahead": None, "ahead_worst_case": None,
        "n_pair": 5, "n_left_out": 1, "n_unit": 5,
    }  # fmt: skip
    assert content["cautions"] == [
        "Only 5 queries: with fewer than about 6 neither intervals nor p-values can be trusted."
    ]
    assert (content["test"]["n_resamples"], content["names"]) == (9999, ["A", "B"])
    columns = comparison.columns()
    assert {name: columns[name][0] for name in (*values, *counts)} == {**values, **counts}
    assert (columns["low"][0], columns["high"][0]) == result.tested_interval
    assert "5 queries in pairs; 1 without a value in A or B left out." in comparison._repr_html_()


def test_adjusted_p_values() -> None:
    comparison = compare(report(A, ["MRR", "Hit@1", "Hit@2"]), report(B, ["MRR", "Hit@1", "Hit@2"]))
    raw = {name: comparison[name].pvalue for name in comparison}
    order = sorted(raw, key=raw.__getitem__)
    for method, factor in (("bh", 1.0), ("by", 1 + 1 / 2 + 1 / 3)):
        adjusted = comparison.false_discovery(method=method)  # type: ignore[arg-type]
        for rank, name in enumerate(order):
            step_up = min(raw[other] * 3 / (i + 1) for i, other in enumerate(order) if i >= rank)
            assert adjusted[name] == pytest.approx(min(1, factor * step_up))
    worst = comparison.false_discovery(worst_case=True, method="bh")
    assert worst["MRR"] >= comparison["MRR"].pvalue_worst_case


def test_the_line_below_the_table_says_which_decides_where_interval_and_test_disagree() -> None:
    a, b = [(0, 1)] * 5 + [(1, 1)] * 2, [(1, 1)] * 7  # MRR 1 and 1/2
    few, many = compare(report(a), report(b)), compare(report(a * 4), report(b * 4))
    assert few["MRR"].interval().expected.low > 0
    assert few["MRR"].pvalue == 0.0625
    assert "No significant difference in MRR (p < 0.05)." in str(few)
    said = "The p-value decides, not the interval, where only one of them calls a difference in MRR significant: "
    assert said in str(few)
    assert many["MRR"].ahead == "A"
    assert "The p-value decides" not in str(many)
