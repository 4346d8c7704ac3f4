"""Vector indexes as they are installed: what each returns, in its own conventions, and how much of it is right."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.measures import per_query

NAMES = ["mAP", "nDCG@5", "P@3", "Hit@1", "Recall@5", "mINP", "MRR"]
DISTANCE = {"euclidean": "l2", "inner_product": "ip"}


def of_faiss(base: Any, queries: Any, k: int, distance: str) -> tuple[Any, Any, dict[str, Any]]:
    faiss = pytest.importorskip("faiss")
    index = (faiss.IndexFlatL2 if distance == "euclidean" else faiss.IndexFlatIP)(base.shape[1])
    index.add(base)
    scores, ids = index.search(queries, k)
    return ids, scores, {"order": "ascending" if distance == "euclidean" else "descending"}


def of_hnswlib(base: Any, queries: Any, k: int, distance: str) -> tuple[Any, Any, dict[str, Any]]:
    hnswlib = pytest.importorskip("hnswlib")
    index = hnswlib.BFIndex(DISTANCE[distance], base.shape[1])
    index.init_index(max_elements=len(base))
    index.add_items(base, np.arange(len(base)))
    ids, far = index.knn_query(queries, k)
    return ids, far, {"order": "ascending"}


def of_usearch(base: Any, queries: Any, k: int, distance: str) -> tuple[Any, Any, dict[str, Any]]:
    usearch = pytest.importorskip("usearch.index")
    index = usearch.Index(ndim=base.shape[1], metric="l2sq" if distance == "euclidean" else "ip", dtype="f32")
    index.add(np.arange(len(base)), base)
    matches = index.search(queries, k, exact=True)
    return np.atleast_2d(matches.keys), np.atleast_2d(matches.distances), {
        "order": "ascending", "counts": np.atleast_1d(matches.counts)
    }  # fmt: skip


SEARCHES = [
    pytest.param(of_faiss, marks=needs("faiss"), id="faiss"),
    pytest.param(of_hnswlib, marks=needs("hnswlib"), id="hnswlib"),
    pytest.param(of_usearch, marks=needs("usearch"), id="usearch"),
]


def made(kind: str, n: int, dim: int, rng: np.random.Generator) -> Any:
    return (rng.integers(-1, 2, (n, dim)) if kind == "ties" else rng.standard_normal((n, dim))).astype(np.float32)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("distance", ["euclidean", "inner_product"])
@pytest.mark.parametrize("kind", ["ties", "floats"])
def test_bounds_hold_for_the_whole_ranking(search: Any, distance: str, kind: str) -> None:
    """Of exact searches, cut at any k, ties or not; small integers, so that their float32 is exact."""
    rng = np.random.default_rng([len(distance), len(kind)])
    for k in (1, 3, 10, 40):
        base, queries = made(kind, 40, 4, rng), made(kind, 15, 4, rng)
        labels, of_base = rng.integers(0, 5, 15), rng.integers(0, 5, 40)
        ids, scores, options = search(base, queries, k, distance)
        result = dh.from_neighbors(ids, scores, labels, of_base, **options).profile
        truth = dh.Task(queries, labels, base, of_base, distance=distance).profile
        if k == 40:
            assert result == truth
        for name in NAMES:
            got, want = per_query(result, name), per_query(truth, name)
            defined = ~np.isnan(want.lower)
            assert (got.lower <= want.lower)[defined].all()
            assert (got.upper >= want.upper)[defined].all()
            known = ~np.isnan(got.expected)
            assert_array_equal(got.expected[known], want.expected[known])
        assert_array_equal(result.n_relevant, truth.n_relevant)
        recall = dh.index_recall(ids, queries, base, k, distance=distance)["index"]
        assert_array_equal(recall.per_query, np.ones(15))


@pytest.mark.parametrize("search", SEARCHES)
def test_leave_one_out(search: Any) -> None:
    rng = np.random.default_rng(1)
    base, labels = made("ties", 30, 3, rng), rng.integers(0, 4, 30)
    ids, scores, options = search(base, base, 11, "euclidean")
    result = dh.from_neighbors(ids, scores, labels, labels, exclude=np.arange(30), **options).profile
    truth = dh.Task(base, labels, distance="euclidean").profile
    assert_array_equal(result.n_ranked, truth.n_ranked)
    assert_array_equal(result.n_relevant, truth.n_relevant)
    got, want = per_query(result, "mAP"), per_query(truth, "mAP")
    assert ((got.lower <= want.lower) | np.isnan(want.lower)).all()
    assert ((got.upper >= want.upper) | np.isnan(want.lower)).all()


@pytest.mark.parametrize("search", [SEARCHES[0], SEARCHES[2]])
def test_short_rows(search: Any) -> None:
    """More neighbours than there are items: faiss fills up with -1, usearch counts; hnswlib raises by itself."""
    rng = np.random.default_rng(2)
    base, queries = made("ties", 5, 3, rng), made("ties", 4, 3, rng)
    labels, of_base = rng.integers(0, 2, 4), np.array([0, 1, 0, 1, 0])
    ids, scores, options = search(base, queries, 8, "euclidean")
    assert ids.shape[1] in (5, 8)
    truth = dh.Task(queries, labels, base, of_base, distance="euclidean").profile
    assert dh.from_neighbors(ids, scores, labels, of_base, **options).profile == truth
    recall = dh.index_recall(ids, queries, base, 8, distance="euclidean", counts=options.get("counts"))
    assert recall["index"].recall == 1


@needs("faiss")
def test_a_range_search_cuts_no_tie() -> None:
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(3)
    base, queries = made("ties", 40, 3, rng), made("ties", 6, 3, rng)
    index = faiss.IndexFlatL2(3)
    index.add(base)
    ends, far, ids = index.range_search(queries, 2.5)
    parts = [slice(begin, end) for begin, end in pairwise(ends.tolist())]
    orders = [np.argsort(far[part], kind="stable") for part in parts]
    rows, distances = ([of[part][order] for part, order in zip(parts, orders, strict=True)] for of in (ids, far))
    labels, of_base = rng.integers(0, 3, 6), rng.integers(0, 3, 40)
    result = dh.from_neighbors(rows, distances, labels, of_base, order="ascending", cut_ties=False).profile
    assert result.n_ordered is not None
    assert_array_equal(result.n_ordered, [len(row) for row in rows])
    truth = dh.Task(queries, labels, base, of_base, distance="euclidean").profile
    assert result.ties.mixed_groups <= truth.ties.mixed_groups
    assert_array_equal(per_query(result, "P@1").lower, per_query(truth, "P@1").lower)
