"""Link prediction against every arrangement of the ties in fractions, and its rules for what it is given."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import deadheat as dh

NAMES = ("MR", "MRR", "Hits@1", "Hits@2", "Hits@3")
INDEXES = ("AMR", "AMRI", "adjusted MRR", "adjusted Hits@1", "adjusted Hits@2")
SCORES = st.integers(0, 2)
QUERIES = st.lists(st.tuples(SCORES, st.lists(st.tuples(SCORES, st.booleans()), max_size=4)), min_size=1, max_size=4)
READ = {
    "MR": lambda rank: Fraction(rank),
    "MRR": lambda rank: Fraction(1, rank),
    **{f"Hits@{k}": lambda rank, k=k: Fraction(int(rank <= k)) for k in (1, 2, 3)},
}


def every_rank(positive: int, negatives: list[int]) -> list[int]:
    """The rank of the positive in every arrangement of all candidates that sorts the scores."""
    items = [positive, *negatives]
    orders = permutations(range(len(items)))
    return [order.index(0) + 1 for order in orders if all(items[i] >= items[j] for i, j in pairwise(order))]


def padded(queries: list[tuple[int, list[tuple[int, bool]]]]) -> tuple[Any, Any, Any]:
    """The arguments of `from_candidates`; what fills up short lists is junk, and so is what is known."""
    width = max(len(negatives) for _, negatives in queries)
    scores, junk = np.full((len(queries), width), np.nan), np.ones((len(queries), width), dtype=bool)
    for row, (_, negatives) in enumerate(queries):
        for column, (score, known) in enumerate(negatives):
            scores[row, column], junk[row, column] = score, known
    return np.array([float(positive) for positive, _ in queries]), scores, junk


@given(QUERIES, st.data())
def test_every_measure_is_that_of_all_arrangements(queries: Any, data: st.DataObject) -> None:
    def drawn(one: Any) -> Any:
        return data.draw(st.lists(one, min_size=len(queries), max_size=len(queries)))

    weights, relations, macro = drawn(st.integers(1, 3)), drawn(st.sampled_from("ab")), data.draw(st.booleans())
    positives, negatives, junk = padded(queries)
    task = dh.from_candidates(negatives, positive_scores=positives, junk=junk)
    result = dh.link_prediction(task, NAMES + INDEXES, weights=weights, relations=relations if macro else None)
    kept = [(score, [s for s, known in negatives if not known]) for score, negatives in queries]
    ranks = [every_rank(*query) for query in kept]
    shares = [Fraction(weight) for weight in weights]
    if macro:
        of_relation = {r: sum(w for w, each in zip(weights, relations, strict=True) if each == r) for r in relations}
        shares = [Fraction(w, of_relation[r]) for w, r in zip(weights, relations, strict=True)]

    def mean(values: Any) -> Fraction:
        return sum((value * share for value, share in zip(values, shares, strict=True)), Fraction(0)) / sum(shares)

    for name in NAMES:
        values = [[READ[name](rank) for rank in each] for each in ranks]
        truth = mean(map(min, values)), mean(sum(v) / len(v) for v in values), mean(map(max, values))
        np.testing.assert_allclose(result[name], [float(each) for each in truth], rtol=1e-14)
        chance = mean(sum(map(READ[name], range(1, len(c) + 2))) / (len(c) + 1) for _, c in kept)
        if name == "MR":
            np.testing.assert_allclose(result["AMR"], [float(each / chance) for each in truth], rtol=1e-14)
        index = "AMRI" if name == "MR" else f"adjusted {name}"
        if index in INDEXES:
            adjusted = [float((each - chance) / (1 - chance)) if chance != 1 else math.nan for each in truth]
            ordered = adjusted[:: -1 if name == "MR" else 1]
            np.testing.assert_allclose(result[index], ordered, rtol=1e-12, atol=1e-14)
    for name in NAMES + INDEXES:
        lower, expected, upper = result[name]
        assert np.isnan(lower) or lower <= expected <= upper


@pytest.mark.parametrize(("n_tied", "digits", "expected", "hits"), [(1000, 4, 0.0075, 0.010), (21, 3, 0.174, 0.476)])
def test_the_numbers_of_a_constant_scorer(n_tied: int, digits: int, expected: float, hits: float) -> None:
    """The reciprocal of the mean rank would be 0.0020 and 0.091, with no hit."""
    result = dh.link_prediction(dh.from_ranks([1], [n_tied], 1000), ["MRR", "Hits@10"])
    assert (round(result["MRR"].expected, digits), round(result["Hits@10"].expected, 3)) == (expected, hits)


@pytest.mark.parametrize("order", ["descending", "ascending"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, np.uint8])
def test_four_ways_to_the_same_profile(order: Any, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    scores, at = rng.integers(0, 4, (700, 9)).astype(dtype), rng.integers(0, 9, 700)
    own = np.arange(9) == at[:, None]
    junk = (rng.random((700, 9)) < 0.3) & ~own
    truth = dh.from_scores(scores, own, junk=junk, order=order).profile
    assert dh.from_candidates(scores, positive_columns=at, junk=junk | own, order=order, threads=3).profile == truth
    negatives, known = (each[~own].reshape(700, 8) for each in (scores, junk))
    assert (
        dh.from_candidates(negatives, positive_scores=scores[own], junk=known, order=order, threads=1).profile == truth
    )
    assert dh.from_ranks(truth.closer + 1, truth.closer + truth.tied, truth.n_ranked).profile == truth
    for few in (None, rng.random(8) < 0.5):  # negatives that all queries share
        shared, repeated = (
            dh.from_candidates(these, positive_scores=scores[own], junk=few, order=order).profile
            for these in (negatives[0], np.tile(negatives[0], (700, 1)))
        )
        assert shared == repeated


@pytest.mark.parametrize("n_negative", [65_535, 65_536])  # how a row is counted changes here
def test_rows_of_tens_of_thousands_are_counted_in_full(n_negative: int) -> None:
    profile = dh.from_candidates(np.full((3, n_negative), 2), positive_scores=[1, 2, 3]).profile
    assert_array_equal(profile.closer, [n_negative, 0, 0])
    assert_array_equal(profile.tied, [1, n_negative + 1, 1])


def test_large_integers_stay_what_they_are() -> None:
    profile = dh.from_candidates([[2**60 + 1, 2**60 - 1]], positive_scores=[2**60]).profile
    assert (profile.closer.tolist(), profile.tied.tolist()) == ([1], [1])


def test_a_cutoff_has_as_many_digits_as_elsewhere() -> None:
    task = dh.from_ranks([2**33], [2**33], 2**40)
    result = dh.link_prediction(task, [f"Hits@{2**33 - 1}", f"Hits@{2**33}"])
    assert [mean.expected for mean in result.means.values()] == [0, 1]
    with pytest.raises(ValueError, match=r"^the cutoff of Hit@k must be an integer from 1 to 2\*\*53, but got"):
        dh.link_prediction(task, f"Hits@{2**53 + 1}")


def test_the_order_of_the_queries_changes_no_bit() -> None:
    rng = np.random.default_rng(5)
    profile = dh.from_candidates(rng.integers(0, 9, (3000, 30)), positive_scores=rng.integers(0, 9, 3000)).profile
    relations, weights = rng.integers(0, 7, 3000), rng.random(3000)
    one, other = (
        dh.link_prediction(profile[some], relations=relations[some], weights=weights[some])
        for some in (np.arange(3000), rng.permutation(3000))
    )
    assert one.means == other.means


def test_a_result_as_people_read_it() -> None:
    task = dh.from_ranks([1, 1, 2], [1, 4, 2], [4, 4, 4])
    result = dh.link_prediction(task, ["Hits@1", "adjusted Hits@9"], relations=["a", "a", "b"])
    assert "3 queries of 2 relations, averaged; the positive ties with another candidate in 1." in str(result)
    assert result.to_dict()["measures"]["adjusted Hits@9"] == {"lower": None, "expected": None, "upper": None}
    assert result.columns()["expected"][0] == 0.3125
    assert result.per_query["Hits@1"].expected.tolist() == [1, 0.25, 0]
    assert np.isnan(dh.link_prediction(task.profile[:0], ["MR"])["MR"].lower)
    with pytest.raises(ValueError, match=r"must be one of Hits@1, adjusted Hits@9, but is 'MRR'"):
        result["MRR"]
