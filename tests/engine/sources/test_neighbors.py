"""Profiles of the neighbours that an index returned, against every complete ranking that begins with them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import cache
from itertools import chain, groupby, permutations, product
from statistics import mean
from typing import Any

import graded_queries
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat import from_neighbors
from deadheat.measures import per_query, std

NAMES = [*("mAP", "mAP@2", "MAP@R", "P@1", "P@3", "Recall@2", "Hit@2", "MRR", "F1@3", "R-Precision", "AUC", "mINP"),
         *("mAP(over='hits')@2", "mAP(over='hits')@3", "mAP(over='possible')@3", "RBP", "All@3", "bpref")]  # fmt: skip
GAINS = ["nDCG", "nDCG@2", "nDCG(dcg='exp-log2')@3", "ERR@3"]


@cache
def value(name: str, ranking: tuple[int, ...]) -> Any:
    return graded_queries.value(name, ranking, [])


def nearest(scores: Sequence[int], k: int, rng: random.Random) -> list[int]:
    """The k best items, ties broken at random."""
    return sorted(range(len(scores)), key=lambda item: (-scores[item], rng.random()))[:k]


def heads(items: list[int], scores: Sequence[int]) -> Iterator[list[int]]:
    """All orders of some items in which no score rises."""
    ranked = sorted(items, key=lambda item: -scores[item])
    groups = [list(group) for _, group in groupby(ranked, key=lambda item: scores[item])]
    for orders in product(*map(permutations, groups)):
        yield list(chain(*orders))


def oracle(
    returned: list[int], scores: Sequence[int], grades: Sequence[int], name: str, cut_ties: bool
) -> tuple[Any, Any, Any]:
    """Least, expected and largest value over all complete rankings; expected is None if the rest's order matters."""
    missing = [item for item in range(len(scores)) if item not in returned]
    last = min((scores[item] for item in returned), default=None)
    tail = [*missing, *(i for i in returned if scores[i] == last and missing and cut_ties)]
    head = [item for item in returned if item not in tail]
    means, values = set(), []
    for end in permutations(tail):
        of_end = [value(name, tuple(grades[i] for i in (*start, *end))) for start in heads(head, scores)]
        values += of_end
        means.add(mean(of_end))
    return min(values), means.pop() if len(means) == 1 else None, max(values)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("cut_ties", [True, False])
def test_bounds_are_those_of_all_complete_rankings(graded: bool, cut_ties: bool) -> None:
    rng = random.Random(2 * graded + cut_ties)
    names = NAMES + GAINS if graded else NAMES + GAINS[:1]
    unknown = known = 0
    for _ in range(25):
        n = rng.randint(1, 5)
        scores = [rng.randint(0, 3) for _ in range(n)]
        grades = [rng.choice((0, 1, 2) if graded else (0, 1)) for _ in range(n)]
        if not any(grades):
            continue
        returned = nearest(scores, rng.randint(1, n), rng)
        relevant = {item: grade for item, grade in enumerate(grades) if grade}
        profile = from_neighbors(
            [returned], [[scores[i] for i in returned]], relevant=[relevant], n_gallery=n, cut_ties=cut_ties
        ).profile
        whole = dh.from_scores([scores], [grades]).profile
        for name in names:
            least, expected, most = oracle(returned, scores, grades, name, cut_ties)
            lower, mean_value, upper = (values[0] for values in per_query(profile, name))
            assert graded_queries.close(lower, least, 1e-15), (name, returned, scores, grades)
            assert graded_queries.close(upper, most, 1e-15), (name, returned, scores, grades)
            if least == least:
                if expected is None:
                    assert np.isnan(mean_value)
                    assert np.isnan(std(profile, name)[0])
                    unknown += 1
                else:
                    assert graded_queries.close(mean_value, Fraction(expected), 1e-15), (name, returned, scores, grades)
                    known += 1
            if cut_ties:  # the truth is one of these rankings
                truth = [values[0] for values in per_query(whole, name)]
                assert not lower > truth[0]
                assert not upper < truth[2]
    assert unknown > 10
    assert known > 30


def test_all_returned_is_the_profile_of_the_scores() -> None:
    rng = np.random.default_rng(0)
    scores, relevant = rng.integers(0, 5, (20, 30)), rng.integers(0, 3, (20, 30))
    order = np.argsort(-scores, axis=1, kind="stable")
    given = [dict(enumerate(row.tolist())) for row in relevant]
    profile = from_neighbors(order, np.take_along_axis(scores, order, 1), relevant=given, n_gallery=30).profile
    assert profile == dh.from_scores(scores, relevant).profile
    assert profile.n_ordered is None


@pytest.mark.parametrize("seed", range(8))
def test_several_labels(seed: int) -> None:
    """Against the relevant ids written out; the first row of each has no label."""
    rng = np.random.default_rng(seed)
    labels, of_items = rng.random((9, 5)) < 0.3, rng.random((25, 5)) < 0.3
    labels[0], of_items[0] = False, False
    scores = np.sort(rng.integers(0, 6, (9, 8)), axis=1)[:, ::-1]
    ids = np.array([rng.permutation(25)[:8] for _ in range(9)])
    itself = rng.integers(-1, 25, 9) if seed % 2 else None
    relevant = [np.flatnonzero(row).tolist() for row in labels.astype(int) @ of_items.T.astype(int)]
    expected = from_neighbors(ids, scores, relevant=relevant, n_gallery=25, exclude=itself).profile
    sets = [[set(np.flatnonzero(row).tolist()) for row in matrix] for matrix in (labels, of_items)]
    for given in ((labels, of_items), sets):
        assert from_neighbors(ids, scores, *given, exclude=itself).profile == expected
    one, items = rng.integers(0, 4, 9), rng.integers(0, 4, 25)
    hot = from_neighbors(ids, scores, np.eye(4)[one], np.eye(4)[items], exclude=itself).profile
    assert hot.digest() == from_neighbors(ids, scores, one, items, exclude=itself).profile.digest()


@pytest.mark.parametrize("k", [1, 3, 10, 29])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_labels(k: int, leave_one_out: bool) -> None:
    rng = np.random.default_rng(k)
    rows, labels = rng.integers(0, 3, (30, 2)), rng.integers(0, 6, 30)
    distances = np.abs(rows[:, None] - rows[None]).sum(axis=2)
    order = np.argsort(distances, axis=1, kind="stable")[:, : k + leave_one_out]
    nearest, itself = np.take_along_axis(distances, order, 1), np.arange(30) if leave_one_out else None
    profile = from_neighbors(order, nearest, labels, labels, order="ascending", exclude=itself).profile
    with np.errstate(all="ignore"):
        truth = dh.Task(rows, labels, *(() if leave_one_out else (rows, labels)), distance="cityblock").profile
    assert_array_equal(profile.n_ranked, truth.n_ranked)
    assert_array_equal(profile.n_relevant, truth.n_relevant)
    for name in ("mAP", "P@3", "nDCG@5", "mINP"):
        low, mid, high = per_query(profile, name)
        true_low, true_mid, true_high = per_query(truth, name)
        defined, known = ~np.isnan(true_low), ~np.isnan(mid)
        assert (low[defined] <= true_low[defined]).all()
        assert (high[defined] >= true_high[defined]).all()
        assert_array_equal(mid[known], true_mid[known])


# Exact distances in place of scores -----------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock", "inner_product"])
def test_exact_distances_give_the_ties_of_the_profile(distance: str) -> None:
    rng = np.random.default_rng(len(distance))
    gallery, queries = rng.integers(-2, 3, (40, 3)), rng.integers(-2, 3, (9, 3))
    labels, gallery_labels = rng.integers(0, 4, 9), rng.integers(0, 4, 40)
    everything = np.array([rng.permutation(40) for _ in range(9)])
    exactly = {"embeddings": queries, "gallery": gallery, "distance": distance}
    profile = from_neighbors(everything, None, labels, gallery_labels, **exactly).profile
    assert profile == dh.Task(queries, labels, gallery, gallery_labels, distance=distance).profile
    relevant = [np.flatnonzero(gallery_labels == label) for label in labels]
    some = from_neighbors(everything[:, :5], None, labels, gallery_labels, **exactly).profile
    assert some == from_neighbors(everything[:, :5], relevant=relevant, **exactly).profile


# Ids and conventions --------------------------------------------------------------------------------------------------


def test_ids_are_what_they_are() -> None:
    """Ids that are equal as floats, strings, and large ones of 64 bits without a sign."""
    plain = from_neighbors([[0, 1], [2, 0]], [[5, 4], [3, 3]], [0, 1], [0, 1, 1]).profile
    for names in ([2**63 + 1, 2**63 + 2, 2**64 - 1], [2**53, 2**53 + 1, -7], ["a", "b", "é"]):
        ids = [[names[0], names[1]], [names[2], names[0]]]
        by_label = from_neighbors(ids, [[5, 4], [3, 3]], [0, 1], [0, 1, 1], gallery_ids=names).profile
        given = from_neighbors(ids, [[5, 4], [3, 3]], relevant=[names[:1], set(names[1:])], n_gallery=3).profile
        assert by_label == given == plain
        assert from_neighbors(np.array(ids), [[5, 4], [3, 3]], [0, 1], [0, 1, 1], gallery_ids=names).profile == plain


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_short_rows(dtype: type) -> None:
    """As faiss has them, with -1; as usearch has them, with counts; and as rows of their own lengths."""
    judged = {"labels": [0, 1], "gallery_labels": [0, 1, 1], "order": "ascending"}
    plain = from_neighbors([[2, 0], [1]], [[1.0, 2.0], [0.5]], **judged).profile
    padding = -1 if np.issubdtype(dtype, np.signedinteger) else 77
    ids, far = np.array([[2, 0], [1, padding]]).astype(dtype), [[1.0, 2.0], [0.5, np.inf]]
    for counts in ([2, 1], None) if padding == -1 else ([2, 1],):
        assert from_neighbors(ids, far, counts=counts, **judged).profile == plain
    assert plain.n_ordered is not None
    assert plain.n_ordered.tolist() == [1, 0]
    nothing = from_neighbors([[], [1]], [[], [0.5]], **judged).profile
    assert (nothing[0].closer.tolist(), nothing[0].tied.tolist()) == ([0], [3])


def test_a_relevant_id_that_the_gallery_does_not_have_is_never_found() -> None:
    profile = from_neighbors([["b"]], [[1.0]], relevant=[{"a": 2, "x": 1}], gallery_ids=["a", "b"]).profile
    assert (profile.n_relevant.tolist(), profile.tied_relevant.tolist()) == ([2], [1])
    assert per_query(profile, "Recall@2").upper == [0.5]


def test_the_query_itself_is_dropped() -> None:
    """Returned or not, relevant or not; the threshold is that of all that came back."""
    given = {"relevant": [{"q", "a"}, {"b"}], "gallery_ids": ["q", "a", "b", "p"]}
    profile = from_neighbors([["q", "a"], ["a", "b"]], [[3, 2], [3, 3]], exclude=["q", "p"], **given).profile
    assert profile.n_ranked.tolist() == [3, 3]
    assert profile.n_relevant.tolist() == [1, 1]
    assert profile.tied.tolist() == [3, 3]
    assert from_neighbors([["a"]], [[3]], relevant=[["a"]], n_gallery=4, exclude=[None]).profile.n_ranked.tolist() == [
        4
    ]
    own_last = from_neighbors([["a", "q"]], [[3, 2]], relevant=[["a"]], n_gallery=4, exclude=["q"]).profile
    assert own_last.tied.tolist() == [1]  # what was not returned is no nearer than the query itself, at 2


def listed(relevant: Any, n_gallery: int | None = None) -> dict[str, Any]:
    return {"labels": None, "gallery_labels": None, "relevant": relevant, "n_gallery": n_gallery}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": np.ones((1, 2), np.float32)}, "ids must be integers or strings.*faiss returns scores first"),
        ({"ids": [0, 1]}, r"ids\[0\] must be a row of ids, but is 0"),
        ({"ids": np.arange(2)}, r"ids must be two-dimensional \(n_query, k\), but has shape \(2,\)"),
        ({"ids": [[0, "a"]]}, r"ids\[0\] must be all integers or all strings"),
        ({"ids": [[1, 1]]}, "ids must be distinct in a row, but query 0 has 1 twice"),
        ({"ids": [[0, 9]]}, "ids must be rows of the gallery, 0 to 2, or -1 for nothing, but query 0 has 9"),
        ({"ids": [["a", "b"]]}, "ids must be rows of the gallery, unless gallery_ids says"),
        (
            {"scores": [[1, 2]]},
            'scores must be best first .*query 0 has 1 before 2; order="ascending" is for distances',
        ),
        ({"scores": [[2, 1]], "order": "ascending"}, 'scores must be .* 2 before 1; order="descending" is for simil'),
        ({"scores": [[2, np.nan]]}, "scores must be finite, but query 0 has nan"),
        ({"scores": [[2]]}, "scores must have a score for each id, but got 1 scores for 2 ids of query 0"),
        ({"scores": np.ones((1, 3))}, r"scores must have a score for each id, \(1, 2\), but has shape \(1, 3\)"),
        ({"scores": None}, "scores must be given, or embeddings and gallery in place of them"),
        ({"embeddings": [[1.0]], "gallery": [[1.0]] * 3}, "scores must be given, or embeddings and gallery"),
        ({"gallery_labels": None}, "labels and gallery_labels must be given together, or relevant in place of both"),
        ({"relevant": [[1]]}, "labels and gallery_labels must be given together, or relevant in place of both"),
        ({"n_gallery": 4}, "gallery_labels and n_gallery must be of one size, but are: gallery_labels 3, n_gallery 4"),
        ({"gallery_ids": [1, 2, 3]}, "ids must be among gallery_ids, but query 0 has 0"),
        ({"gallery_ids": [0, 1, 1]}, "gallery_ids must have an id of its own for each row"),
        ({"labels": [0, 0]}, "labels must have one entry per row of ids"),
        ({"labels": [{0}]}, "labels and gallery_labels must both have one label a row, or both several, but labels"),
        ({"gallery_labels": [{0}] * 4, "n_gallery": 3}, "gallery_labels and n_gallery must be of one size, but are: g"),
        ({"exclude": [0, 1]}, "exclude must be one id for each of the 1 queries, but has shape .2,."),
        ({"exclude": [9]}, "exclude must be rows of the gallery, 0 to 2, or -1 for nothing, but query 0 has 9"),
        ({"counts": [3]}, r"counts must be from 0 to the length of a row, but holds \[3\]"),
        ({"order": "up"}, "order must be one of descending, ascending"),
        ({"query_ids": ["a", "b"]}, "query_ids must have one entry per query, but got 2 for 1"),
        (listed([[1]]), "relevant needs n_gallery, or gallery_ids"),
        (listed([[1], [2]], 3), "relevant must have one entry per query, but got 2 for 1 queries"),
        (listed(["ab"], 3), "relevant must be a collection of ids for each query, but is 'ab'"),
        (listed([["x"]], 3), "ids and relevant must be of one kind throughout"),
        (listed([{1: -0.5}], 3), "grades in relevant must be an integer, or a gain of 0, or from 1e-100 "),
        (listed([[7]], 2), "n_gallery must be the number of items there are, but query 0 has more"),
        (listed([[0]], 1), "n_gallery must be the number of items there are, but query 0 has more"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    whole = {"ids": [[0, 1]], "scores": [[2, 1]], "labels": [0], "gallery_labels": [0, 1, 1], **arguments}
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        dh.from_neighbors(**whole)


# Profiles and reports of rankings that were cut -----------------------------------------------------------------------


def cut() -> dh.TieProfile:
    """A query of which all is known that matters, and one of which it is not."""
    return from_neighbors([[3, 1], [0, 4]], [[9, 5], [7, 1]], relevant=[{3, 4}, {0}], n_gallery=5).profile


def test_a_report_says_what_is_not_known() -> None:
    report = dh.evaluate(cut(), ["P@1", "mAP"])
    assert (report["P@1"].lower, report["P@1"].expected, report["P@1"].std) == (1, 1, 0)
    assert (report["mAP"].lower, report["mAP"].upper) == (0.85, 1)
    assert np.isnan([report["mAP"].expected, report["mAP"].std]).all()
    assert_array_equal(report["mAP"].per_query.expected, [np.nan, 1])
    assert_array_equal(report.by_query(measures="mAP").per_row["mAP"].expected, [np.nan, 1])
    assert np.isnan(report["mAP"].interval().expected.low)
    needs = "Needs more neighbours: in 1 query relevant items were not returned or may tie with the last returned"
    assert f"{needs}, so that mAP has bounds and no expected value." in str(report)
    assert "this affects no value shown" in str(dh.evaluate(cut(), "P@1"))
    assert "not returned" not in str(dh.evaluate(cut()[1:], "mAP"))
    with pytest.raises(ValueError, match="has no expected values"):
        dh.leaderboard({"a": report, "b": report}, measures=["mAP"], by="expected")


def test_a_cut_profile_is_kept_and_divided(tmp_path: Any) -> None:
    profile = cut()
    profile.save(tmp_path / "cut.npz")
    assert dh.TieProfile.load(tmp_path / "cut.npz") == profile
    assert profile.digest() != profile.best_completed().digest()
    assert profile[1:].n_ordered.tolist() == [1]
    assert profile.ties.mixed_groups == 0
    assert profile.n_cut == 1


@pytest.mark.parametrize("n_ordered", [[0, 1], [2, 1], [1], [-1, 1], [6, 1]])
def test_numbers_that_no_cut_ranking_has(n_ordered: list[int]) -> None:
    arrays = {each.name: getattr(cut(), each.name) for each in fields(cut())}
    with pytest.raises(ValueError, match="n_ordered must"):
        dh.TieProfile(**arrays | {"n_ordered": n_ordered})


def test_an_index_that_returns_nothing_has_no_scores() -> None:
    nothing = dh.from_neighbors(np.empty((2, 0), int), np.empty((2, 0)), ["a", "b"], ["a", "b", "a"]).profile
    assert nothing == dh.from_neighbors([[], []], [[], []], ["a", "b"], ["a", "b", "a"]).profile
    assert nothing.n_ranked.tolist() == [3, 3]


@pytest.mark.parametrize("name", ["mAP", "RBP", "MAP@R"])
def test_relevant_items_that_were_not_returned_may_differ_in_grade(name: str) -> None:
    """No order of them changes a measure for which grades do not count, though the sums may be rounded in another."""
    grades, returned, scores = [1, 3, 1, 2, 0, 1, 2, 1], [3, 4, 2, 6], [0, 0, 2, 2, 2, 0, 1, 0]
    least, expected, most = oracle(returned, scores, grades, name, True)
    relevant = {item: grade for item, grade in enumerate(grades) if grade}
    profile = from_neighbors([returned], [[2, 2, 2, 1]], relevant=[relevant], n_gallery=8).profile
    lower, mean_value, upper = (values[0] for values in per_query(profile, name))
    assert least < most
    assert graded_queries.close(mean_value, expected, 1e-15)
    assert lower < mean_value < upper


# The set that was returned --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut_ties", [True, False])
@pytest.mark.parametrize("gains", [(0, 1), (0, 1, 2, 4), (0, 0.5, 1, 2.5)])
def test_the_returned_set_is_known_whatever_ties_do(gains: tuple[float, ...], cut_ties: bool, tmp_path: Any) -> None:
    """In fractions, with and without a least gain; kept in a file, and of some queries."""
    rng, names = random.Random(len(gains) + cut_ties), graded_queries.SET_NAMES[1:]
    for _ in range(10):
        n, rows, scores, relevant, expected = 7, [], [], [], {name: [] for name in (*names, "SetR(rel=2)")}
        for _ in range(4):
            grades = [rng.choice(gains) for _ in range(n)]
            rows.append(rng.sample(range(n), rng.randint(0, n)))
            scores.append(sorted((rng.randint(0, 2) for _ in rows[-1]), reverse=True))
            relevant.append({item: grade for item, grade in enumerate(grades) if grade})
            for name in expected:
                least = 2 if "rel" in name else 0
                counted = [grade > 0 and grade >= least for grade in grades]
                missing = [1 for item in range(n) if counted[item] and item not in rows[-1]]
                ranking = tuple(int(counted[item]) for item in rows[-1])
                asked = graded_queries.value(name.partition("(")[0], ranking, missing) if any(counted) else np.nan
                expected[name].append(asked)
        options = {"relevant": relevant, "n_gallery": n, "cut_ties": cut_ties}
        profile = from_neighbors(rows, scores, **options).profile
        profile.save(tmp_path / "kept.npz")
        assert dh.TieProfile.load(tmp_path / "kept.npz") == profile
        for name, values in expected.items():
            for bound in per_query(profile, name):
                assert all(graded_queries.close(*pair, 1e-15) for pair in zip(bound, values, strict=True)), name
            assert_array_equal(per_query(profile[::-1], name).expected, per_query(profile, name).expected[::-1])
            assert_array_equal(std(profile, name), np.where(np.isnan(per_query(profile, name).lower), np.nan, 0))


def test_the_query_itself_is_in_no_set() -> None:
    given = {"relevant": [{"q", "a", "b"}], "gallery_ids": ["q", "a", "b", "p"], "exclude": ["q"]}
    report = dh.evaluate(from_neighbors([["q", "a", "p"]], [[3, 2, 1]], **given), "SetP, SetR")
    assert (report["SetP"].expected, report["SetR"].expected) == (0.5, 0.5)


@pytest.mark.parametrize("cut_ties", [True, False])
def test_the_best_set_has_as_many_items(cut_ties: bool) -> None:
    """Of two that are returned, one is relevant; the other relevant item of the gallery was not returned."""
    given = {"relevant": [{0: 1, 5: 2, 9: 2}], "gallery_ids": range(6), "cut_ties": cut_ties}
    report = dh.evaluate(from_neighbors([[0, 1]], [[2, 1]], **given), "SetP, SetR, SetP(rel=2)")
    assert [result.expected for result in report.values()] == [0.5, 1 / 3, 0]
    assert report.ceilings == {"SetP": 1, "SetR": 2 / 3, "SetP(rel=2)": 0.5}


def test_digests_name_the_set_only_where_it_is_not_the_ordered_part() -> None:
    """The constant was written before profiles had sets."""
    given = {"relevant": [{0: 2, 3: 1}, {1: 1}], "n_gallery": 5}
    plain = from_neighbors([[0, 1], [1, 4]], [[3, 2], [2, 2]], cut_ties=False, **given).profile
    assert plain.returned is None
    assert plain.digest() == "93831dc15cae2f7d8e304671fafaa8bc3a4ee216ae7b687fc9cef2634141fbb6"
    relevant, other = (
        from_neighbors([row], [[1]], relevant=[{0}], n_gallery=5).profile for row in ([0], [1])
    )  # fmt: skip
    assert relevant.digest() != other.digest()
    assert_array_equal([relevant.returned[0], other.returned[0]], [[1, 1], [1, 0]])


@pytest.mark.parametrize("returned", [[[1]], [[1, 2, 0]], [[6, 1]], [[-1, 0]], [[2, 2]], [[0, 1]]])
def test_sets_that_no_search_returns(returned: list[list[int]]) -> None:
    whole = dh.TieProfile.from_groups([[(0, 0, 5, 1)]], n_ranked=[5])
    arrays = {each.name: getattr(whole, each.name) for each in fields(whole)}
    with pytest.raises(ValueError, match="returned must"):
        dh.TieProfile(**arrays | {"n_ordered": [0], "returned": returned})
