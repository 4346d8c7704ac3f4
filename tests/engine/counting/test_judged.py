"""Relevance that was judged: the profile of embeddings is that of their exact scores, whoever is relevant to whom."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deadheat import Cluster, Task, Tolerance, evaluate
from deadheat.errors import NotInGalleryWarning

pytestmark = pytest.mark.filterwarnings("ignore::deadheat.errors.NotInGalleryWarning")  # most cases lack a document


def case(seed: int, n_grade: int) -> tuple[Any, ...]:
    """Embeddings on a small grid, so that ties are common and scores are exact; judgements that overlap at random."""
    rng = np.random.default_rng(seed)
    n_query, n_gallery, dim = rng.integers(1, 9), rng.integers(1, 40), rng.integers(1, 4)
    queries, gallery = (rng.integers(-2, 3, (n, dim)).astype(float) for n in (n_query, n_gallery))
    judged = rng.integers(0, n_grade + 1, (n_query, n_gallery)) * (rng.random((n_query, n_gallery)) < rng.random())
    query_ids, gallery_ids = ([f"{name}{i}" for i in range(n)] for name, n in (("q", n_query), ("d", n_gallery)))
    qrels = {
        query: dict(zip(gallery_ids, row.tolist(), strict=True)) for query, row in zip(query_ids, judged, strict=True)
    }
    return queries, gallery, qrels, query_ids, gallery_ids, judged


SCORES = {
    "inner_product": lambda q, g: q @ g.T,
    "euclidean": lambda q, g: -np.square(q[:, None] - g[None]).sum(axis=2),
    "cityblock": lambda q, g: -np.abs(q[:, None] - g[None]).sum(axis=2),
}


@pytest.mark.parametrize("distance", SCORES)
@pytest.mark.parametrize("n_grade", [1, 3])
def test_profile_of_exact_scores(n_grade: int, distance: str) -> None:
    for seed in range(20):
        queries, gallery, qrels, query_ids, gallery_ids, judged = case(seed, n_grade)
        found = Task.from_judged(queries, gallery, qrels, query_ids, gallery_ids, distance=distance).profile
        assert found == Task.from_scores(SCORES[distance](queries, gallery), judged).profile, seed
        assert found.query_ids == tuple(query_ids)


def large(seed: int, n_query: int, n_gallery: int, n_grade: int) -> tuple[Any, ...]:
    """Points on a grid, and judgements of about one pair in twenty; some queries have none."""
    rng = np.random.default_rng(seed)
    queries, gallery = (rng.integers(-3, 4, (n, 5)).astype(np.float32) for n in (n_query, n_gallery))
    query_ids, gallery_ids = [f"q{i}" for i in range(n_query)], [f"q{i}" for i in range(n_gallery)]
    qrels = {
        query: {f"q{item}": int(rng.integers(0, n_grade + 1)) for item in rng.choice(n_gallery, n_gallery // 20)}
        for query in query_ids[: n_query - 3]
    }
    return queries, gallery, qrels | {"q0": {"elsewhere": 1}}, query_ids, gallery_ids


@pytest.mark.parametrize("ties", ["exact", "float16"])
@pytest.mark.parametrize("n_grade", [1, 3])
def test_workers_count_the_same(n_grade: int, ties: str) -> None:
    case = large(n_grade, 60, 400, n_grade)
    given = {"distance": "euclidean", "ties": ties, "ignore_identical_ids": True}
    alone = Task.from_judged(*case, **given).profile
    with ThreadPoolExecutor(2) as threads:
        for tasks in (1, 5):
            cluster = Cluster(threads, tasks=tasks)
            found = Task.from_judged(*case, **given, executor=cluster).profile
            assert found == alone
            assert (found.digest(), found.query_ids) == (alone.digest(), alone.query_ids)
            assert cluster.summary is not None
            assert cluster.summary.tasks == tasks


def test_processes_count_the_same_in_tasks_of_equal_size(tmp_path: Path) -> None:
    """Two million pairs were one task."""
    queries, gallery, *rest = large(7, 1000, 2000, 2)
    np.save(tmp_path / "gallery.npy", gallery)
    alone = Task.from_judged(queries, gallery, *rest).profile
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        cluster = Cluster(executor)
        assert Task.from_judged(queries, tmp_path / "gallery.npy", *rest, executor=cluster).profile == alone
    assert cluster.summary is not None
    assert cluster.summary.tasks == 2
    assert (cluster.summary.retries, cluster.summary.pairs) == (0, 996 * 2000)  # four queries have nothing here


def test_nothing_is_relevant_for_workers_either() -> None:
    with ThreadPoolExecutor(2) as threads:
        given = [[1.0]], [[1.0], [2.0]], {"q": {"a": 0}}, ["q"], ["a", "b"]
        assert Task.from_judged(*given, executor=threads).profile == Task.from_judged(*given).profile


def test_qrels_without_a_query_are_refused() -> None:
    said = r"query_ids and qrels must have a query in common, but query_ids are 1 .'q'. and the qrels have 1 .'other'."
    with pytest.raises(ValueError, match=said):
        Task.from_judged([[1.0]], [[1.0], [2.0]], {"other": {"a": 1}}, ["q"], ["a", "b"])


def test_labels_as_judgements() -> None:
    rng = np.random.default_rng(0)
    queries, gallery = rng.normal(size=(30, 6)), rng.normal(size=(90, 6))
    labels, gallery_labels = rng.integers(0, 5, 30), rng.integers(0, 5, 90)
    ids, gallery_ids = [f"q{i}" for i in range(30)], [f"d{i}" for i in range(90)]
    qrels = {
        name: {item: 1 for item, other in zip(gallery_ids, gallery_labels, strict=True) if other == label}
        for name, label in zip(ids, labels, strict=True)
    }
    by_label = Task(queries, labels, gallery, gallery_labels).profile
    for threads in (1, 3):
        assert Task.from_judged(queries, gallery, qrels, ids, gallery_ids, threads=threads).profile == by_label


@pytest.mark.parametrize(("n_grade", "seed"), [(1, 0), (1, 1), (2, 2), (2, 3), (2, 4)])
def test_identical_ids(n_grade: int, seed: int) -> None:
    """As in BEIR: the query's own document is not ranked, but counts as relevant if it was judged so."""
    queries, gallery, qrels, query_ids, gallery_ids, judged = case(seed, n_grade)
    named = dict(zip(gallery_ids, query_ids, strict=False))
    gallery_ids = [named.get(item, item) for item in gallery_ids]
    qrels = {query: {named.get(item, item): grade for item, grade in row.items()} for query, row in qrels.items()}
    found = Task.from_judged(
        queries, gallery, qrels, query_ids, gallery_ids, distance="inner_product", ignore_identical_ids=True
    ).profile
    expected = Task.from_scores(queries @ gallery.T, judged, junk=np.eye(*judged.shape, dtype=np.bool_)).profile
    for name in ("closer", "closer_relevant", "tied", "tied_relevant", "n_ranked"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.n_relevant, (judged > 0).sum(axis=1))


def test_what_is_not_in_the_gallery_counts() -> None:
    qrels = {"q": {"a": 1, "elsewhere": 2}, "not embedded": {"a": 1}}
    with pytest.warns(NotInGalleryWarning, match="^1 of 2 relevant documents of the qrels is not in gallery_ids: no"):
        found = Task.from_judged([[1.0]], [[1.0], [1.0]], qrels, ["q"], ["a", "b"]).profile
    assert found.relevant_by_grade is not None
    assert (found.n_relevant.tolist(), found.relevant_by_grade.tolist()) == ([2], [[1, 1]])
    assert evaluate(found, "Recall@2")["Recall@2"].expected == 0.5


def test_coarse_ties_and_tolerances() -> None:
    rng = np.random.default_rng(0)
    queries, gallery = rng.normal(size=(5, 8)), rng.normal(size=(300, 8))
    ids, gallery_ids = list("abcde"), [f"d{i}" for i in range(300)]
    qrels = {query: {f"d{i}": 1 for i in range(0, 300, 7)} for query in ids}
    exact, coarse = (
        evaluate(Task.from_judged(queries, gallery, qrels, ids, gallery_ids, ties=ties).profile, "mAP")["mAP"]
        for ties in ("exact", "bfloat16")
    )
    assert exact.lower == exact.upper
    assert coarse.lower < coarse.upper
    graded = {query: {"d0": 2} for query in ids}
    assert Task.from_judged(queries, gallery, qrels, ids, gallery_ids, ties=Tolerance(0.1)).profile.bounds_only
    with pytest.raises(ValueError, match="ties must have tie groups where relevance is graded"):
        Task.from_judged(queries, gallery, graded, ids, gallery_ids, ties=Tolerance(0.1))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query_ids": ["q", "q"]}, "query_ids must hold each id once, but holds 'q' again"),
        ({"query_ids": ["q"]}, "query_ids must have one entry per row, but got 1 ids for 2 rows"),
        ({"gallery_ids": [1, 2]}, "gallery_ids must be strings, but holds 1"),
        ({"qrels": {}}, "qrels must hold at least one query"),
        ({"distance": "cosin"}, "did you mean 'cosine'"),
        ({"gallery": [[1.0, 2.0]], "gallery_ids": ["a"]}, "same dim"),
        ({"queries": [[np.nan], [0.0]]}, "must be finite"),
    ],
)
def test_refused(changed: dict[str, Any], message: str) -> None:
    given = {"queries": [[1.0], [2.0]], "gallery": [[1.0], [3.0]], "qrels": {"q": {"a": 1}}}
    given |= {"query_ids": ["q", "r"], "gallery_ids": ["a", "b"]}
    with pytest.raises((ValueError, TypeError), match=message):
        Task.from_judged(**given | changed)
