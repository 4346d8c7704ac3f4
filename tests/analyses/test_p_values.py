"""p-values of AP: every order by brute force in fractions, random ones near to it, and the example of copairs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import deadheat as dh
from deadheat.analyses import p_values as module


def of_ranks(ranks: Any) -> Fraction:
    return sum((Fraction(a, rank) for a, rank in enumerate(sorted(ranks), 1)), Fraction(0)) / len(ranks)


def every(n_relevant: int, n_ranked: int) -> list[Fraction]:
    return [of_ranks(ranks) for ranks in combinations(range(1, n_ranked + 1), n_relevant)]


def three(scores: Any, relevant: Any) -> list[Fraction]:
    """Lower, expected and upper AP of one query: all orders of all items that descend."""
    result, places = [], range(len(scores))

    def orders(left: list[int], ranks: list[int], at: int) -> None:
        if not left:
            result.append(of_ranks(ranks))
            return
        best = max(scores[i] for i in left)
        for i in [i for i in left if scores[i] == best]:
            orders([j for j in left if j != i], [*ranks, at] if relevant[i] else ranks, at + 1)

    orders(list(places), [], 1)
    return [min(result), sum(result, Fraction(0)) / len(result), max(result)]


def adjusted(p: list[float]) -> list[float]:
    """Benjamini and Hochberg: the least of p m / rank over all p that are no smaller."""
    ascending = sorted(p)
    return [min(min(1.0, each * len(p) / (i + 1)) for i, each in enumerate(ascending) if each >= value) for value in p]


def data(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    relevant = np.zeros((8, 6), dtype=bool)
    for row, n in zip(relevant, [0, 1, 1, 2, 2, 3, 5, 6], strict=True):
        row[rng.choice(6, n, replace=False)] = True
    return rng.integers(0, 3, (8, 6)), relevant


@pytest.mark.parametrize("seed", range(3))
def test_each_query_against_every_order(seed: int) -> None:
    scores, relevant = data(seed)
    result = dh.p_values(dh.from_scores(scores, relevant), by="query")
    p, q, rows = result.per_row["p"], result.per_row["q"], result.columns()
    assert rows["query"] == list(range(1, 8))
    for i, query in enumerate(range(1, 8)):
        null = every(int(relevant[query].sum()), 6)
        share = [float(Fraction(sum(each >= value for each in null), len(null)))
                 for value in three(scores[query], relevant[query])]  # fmt: skip
        assert [p.upper[i], p.expected[i], p.lower[i]] == share
    for of_p, of_q in zip(p, q, strict=True):
        assert_allclose(of_q, adjusted(of_p.tolist()), rtol=1e-15)
    assert "p is exact (all orders enumerated) in 7 of 7 rows." in str(result)


def test_classes_of_equal_numbers_have_one_order() -> None:
    """The mean of a class against every order of one query, as in copairs."""
    rng = np.random.default_rng(1)
    scores, relevant = rng.integers(0, 4, (4, 6)), np.array([[1, 1, 0, 0, 0, 0]] * 4)
    task = dh.from_profile(dh.from_scores(scores, relevant).profile, ["b", "a", "b", "a"])
    result, null = dh.p_values(task), every(2, 6)
    assert result.rows == {"class": ["a", "b"], "queries": [2, 2]}
    for index, members in enumerate(([1, 3], [0, 2])):
        means = [sum(each) / 2 for each in zip(*(three(scores[i], relevant[i]) for i in members), strict=True)]
        share = [float(Fraction(sum(each >= mean for each in null), len(null))) for mean in means]
        assert [result.per_row["p"].upper[index], result.per_row["p"].expected[index]] == share[:2]
        assert result.per_row["p"].lower[index] == share[2]


def test_classes_of_several_numbers_are_drawn() -> None:
    """Two queries of (1, 3) and one of (2, 4): the first two share an order, and the third has its own."""
    scores = [[3, 2, 1, 0], [2, 3, 1, 0], [1, 3, 2, 0]]
    relevant, junk = [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]], np.array([[0, 0, 0, 1]] * 2 + [[0] * 4], dtype=bool)
    task = dh.from_profile(dh.from_scores(scores, relevant, junk=junk).profile, [7, 7, 7])
    mean = (Fraction(1) + Fraction(1, 2) + of_ranks([2, 3])) / 3
    exact = [2 * a + b >= 3 * mean for a, b in product(every(1, 3), every(2, 4))]
    share, n = sum(exact) / len(exact), 20_000
    result = dh.p_values(task, n_resamples=n, seed=5)
    assert result.per_row["mAP"].lower[0] == pytest.approx(float(mean), rel=1e-15)
    assert abs(result.per_row["p"].lower[0] - share) < 5 * (share * (1 - share) / n) ** 0.5
    assert 1 < share * len(exact) < len(exact)
    note = (
        "exact (all orders enumerated) in 0 of 1 rows, and estimated from 20,000 random orders (seed 5) in the others."
    )
    assert note in str(result)


def test_random_orders_are_all_equally_likely_and_add_the_observed_one() -> None:
    values, counts = np.unique(module._drawn(2, 5, 50_000, 0), return_counts=True)
    exact, shares = np.unique(np.array(every(2, 5), dtype=float), return_counts=True)
    assert_allclose(values, exact, rtol=1e-15)
    assert (np.abs(counts / 50_000 - shares / 10) < 5 * 0.5 / 50_000**0.5).all()
    task = dh.from_scores([range(30, 0, -1)], [[1] * 5 + [0] * 25])  # the best order of 142,506
    result = dh.p_values(task, by="query", n_resamples=999, seed=3)
    assert result.per_row["p"].lower[0] == 1 / 1000
    again = dh.p_values(task, by="query", n_resamples=999, seed=3)
    assert_array_equal(result.per_row["p"], again.per_row["p"])
    assert result.per_row["p"].lower[0] > dh.p_values(task, by="query", n_resamples=150_000).per_row["p"].lower[0]


def test_the_worst_order_of_all_has_p_1_however_its_sum_is_rounded() -> None:
    for n_relevant in range(1, 8):
        task = dh.from_scores(np.zeros((1, 12)), [[1] * n_relevant + [0] * (12 - n_relevant)])
        p = dh.p_values(task, by="query").per_row["p"]
        assert p.upper[0] == 1
        assert p.lower[0] == 1 / len(every(n_relevant, 12))


def test_profiles_of_cells() -> None:
    """Twenty constant controls and two compounds of five replicates; copairs prints mAP 1 and p = 0.0001."""
    metadata = {"compound": ["DMSO"] * 20 + ["a"] * 5 + ["b"] * 5, "control": [*range(20), *[-1] * 10]}
    task = dh.Task.from_metadata(
        np.ones((30, 8)), metadata, positives={"same": ["compound", "control"]},
        negatives={"different": ["compound", "control"]},
    )  # fmt: skip
    value = dh.evaluate(task, "mAP")["mAP"]
    assert value.summary() == "mAP 26.72 [10.89, 100.00] %"
    result = dh.p_values(task)
    assert result.rows == {"class": ["('a', -1)", "('b', -1)"], "queries": [5, 5]}
    lower, expected, upper = three_of_constant(4, 24)
    null = every(4, 24)
    for index in range(2):
        p = Fraction(sum(value >= expected for value in null), len(null))
        assert (result.per_row["p"].lower[index], result.per_row["p"].upper[index]) == (1 / 10626, 1)
        assert result.per_row["p"].expected[index] == float(p)
    assert (float(lower), float(upper)) == (pytest.approx(value.lower, rel=1e-15), 1)


@pytest.mark.slow
def test_copairs_agrees_where_nothing_ties(tmp_path: Any) -> None:
    copairs, pandas = pytest.importorskip("copairs.map"), pytest.importorskip("pandas")
    rng, every = np.random.default_rng(0), np.arange(200)
    metadata = pandas.DataFrame({"compound": rng.integers(0, 15, 200), "plate": rng.integers(0, 4, 200)})
    metadata["control"] = metadata["compound"] == 0
    metadata["reference"] = np.where(metadata["control"], every, -1)
    rows, same, different = rng.normal(size=(200, 20)), ["compound", "reference"], ["control", "reference"]
    theirs = copairs.average_precision(metadata, rows, same, ["plate"], ["plate"], different, progress_bar=False)
    task = dh.Task.from_metadata(
        rows, metadata, positives={"same": same, "different": "plate"},
        negatives={"same": "plate", "different": different},
    )  # fmt: skip
    with_positives = theirs["n_pos_pairs"] > 0
    values = dh.evaluate(task, "mAP")["mAP"].per_query
    assert_array_equal(values.lower, values.upper)
    assert_array_equal(with_positives, ~np.isnan(values.lower))
    assert_allclose(values.lower[with_positives], theirs["average_precision"][with_positives], rtol=1e-6)
    options = {"null_size": 100_000, "threshold": 0.05, "seed": 0, "progress_bar": False, "cache_dir": tmp_path}
    result = copairs.mean_average_precision(theirs[with_positives], ["compound"], **options)
    ours = dh.p_values(dh.from_profile(task.profile, metadata["compound"]))
    assert ours.rows["class"] == result["compound"].tolist()
    assert np.abs(ours.per_row["p"].lower - result["p_value"]).max() < 0.01
    assert np.abs(ours.per_row["q"].lower - result["corrected_p_value"]).max() < 0.02


def three_of_constant(n_relevant: int, n_ranked: int) -> tuple[Fraction, Fraction, Fraction]:
    null = every(n_relevant, n_ranked)
    return min(null), sum(null, Fraction(0)) / len(null), max(null)


def test_a_tolerance_has_no_expectation() -> None:
    task = dh.Task([[0], [1], [2], [4]], [0, 1, 0, 1], distance="cityblock", ties=dh.Tolerance(1))
    result = dh.p_values(task)
    assert np.isnan([result.per_row["p"].expected, result.per_row["q"].expected]).all()
    assert (result.per_row["p"].lower < result.per_row["p"].upper).all()
