"""Relevance that was judged: the profile of embeddings is that of their exact scores, for all judgements."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from engine.counting.keyed import in_many_portions

from deadheat import Task, TieProfile, Tolerance, evaluate, from_judged, from_scores


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
        result = from_judged(queries, gallery, qrels, query_ids, gallery_ids, distance=distance).profile
        assert result == from_scores(SCORES[distance](queries, gallery), judged).profile, seed
        assert result.query_ids == tuple(query_ids)


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
def test_workers_count_the_same(n_grade: int, ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    in_many_portions(monkeypatch)
    case = large(n_grade, 60, 400, n_grade)
    junk = np.random.default_rng(0).random((60, 400)) < 0.1
    given = {"distance": "euclidean", "ties": ties, "exclude": case[3:], "junk": junk}
    alone = from_judged(*case, **given).profile
    with ThreadPoolExecutor(2) as threads:
        result = from_judged(*case, **given, executor=threads).profile
    assert (result.digest(), result.query_ids) == (alone.digest(), alone.query_ids)


def test_nothing_is_relevant_for_workers_either() -> None:
    with ThreadPoolExecutor(2) as threads:
        given = [[1.0]], [[1.0], [2.0]], {"q": {"a": 0}}, ["q"], ["a", "b"]
        assert from_judged(*given, executor=threads).profile == from_judged(*given).profile


def test_qrels_without_a_query_are_refused() -> None:
    said = r"query_ids and qrels must have a query in common, but query_ids are 1 .'q'. and the qrels have 1 .'other'."
    with pytest.raises(ValueError, match=said):
        from_judged([[1.0]], [[1.0], [2.0]], {"other": {"a": 1}}, ["q"], ["a", "b"])


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
        assert from_judged(queries, gallery, qrels, ids, gallery_ids, threads=threads).profile == by_label


@pytest.mark.parametrize("n_grade", [1, 3])
@pytest.mark.parametrize("form", ["ids", "rows"])
def test_junk_and_exclude_are_neither_ranked_nor_relevant(n_grade: int, form: str) -> None:
    """As the matrix of scores with the same pairs as junk; ids and arrays say the same."""
    for seed in range(30):
        queries, gallery, qrels, query_ids, gallery_ids, judged = case(seed, n_grade)
        rng = np.random.default_rng(seed)
        mask, own = rng.random(judged.shape) < 0.3, rng.integers(-1, len(gallery), len(queries))
        mask[0, 0], own[0] = True, 0
        junk: Any = {name: [gallery_ids[i] for i in np.flatnonzero(mask[q])] for q, name in enumerate(query_ids)}
        exclude: Any = [gallery_ids[i] if i >= 0 else "none" for i in own], gallery_ids
        if form == "rows":
            junk, exclude = mask, own
        both = mask.copy()
        both[own >= 0, own[own >= 0]] = True
        cases = {"junk": junk}, {"exclude": exclude}, {"junk": junk, "exclude": exclude}
        alone = np.zeros_like(mask)
        alone[own >= 0, own[own >= 0]] = True
        for given, left_out in zip(cases, (mask, alone, both), strict=True):
            result = from_judged(queries, gallery, qrels, query_ids, gallery_ids, distance="euclidean", **given)
            assert counted(result.profile) == by_hand(SCORES["euclidean"](queries, gallery), judged, left_out), seed


def by_hand(scores: Any, judged: Any, left_out: Any) -> list[Any]:
    """For each query the items that are ranked, those that are relevant, and (closer, tied, grades) of each group."""
    rows = []
    for of_query, grades, out in zip(scores.tolist(), judged.tolist(), left_out.tolist(), strict=True):
        ranked = [(score, grade) for score, grade, no in zip(of_query, grades, out, strict=True) if not no]
        at = sorted({score for score, grade in ranked if grade}, reverse=True)
        groups = [
            (sum(s > score for s, _ in ranked), sum(s == score for s, _ in ranked),
             sorted(grade for s, grade in ranked if s == score and grade))
            for score in at
        ]  # fmt: skip
        rows.append((len(ranked), sum(grade > 0 for _, grade in ranked), groups))
    return rows


def counted(profile: TieProfile) -> list[Any]:
    by_grade = profile.tied_relevant[:, None] if profile.tied_by_grade is None else profile.tied_by_grade
    grades = [np.repeat(profile.grades, row).tolist() for row in by_grade]
    groups = list(zip(profile.closer.tolist(), profile.tied.tolist(), grades, strict=True))
    of_queries = [groups[a:b] for a, b in zip(profile.offsets[:-1], profile.offsets[1:], strict=True)]
    return list(zip(profile.n_ranked.tolist(), profile.n_relevant.tolist(), of_queries, strict=True))


def test_queries_with_one_reference() -> None:
    """Composed retrieval: two queries modify image a, which is nearest to both, and is left out of their rankings."""
    queries, gallery, gallery_ids = [[0.0], [0.25]], [[0.0], [1.0], [-1.0]], ["a", "b", "c"]
    qrels = {"redder": {"b": 1}, "smaller": {"c": 1, "a": 1}}
    given = {"distance": "euclidean", "query_ids": list(qrels), "gallery_ids": gallery_ids}
    expected = evaluate(from_judged(queries, gallery, qrels, exclude=(["a", "a"], gallery_ids), **given), "MRR")
    assert expected["MRR"].per_query.lower.tolist() == [0.5, 0.5]
    assert expected["MRR"].per_query.upper.tolist() == [1.0, 0.5]
    assert expected.profile.n_relevant.tolist() == [1, 1]
    for same in ({"exclude": [0, 0]}, {"junk": {query: ["a"] for query in qrels}}):
        assert from_judged(queries, gallery, qrels, **same, **given).profile == expected.profile


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"junk": {"q": [0.5]}}, "an id in junk must be a string or an integer, but is 0.5$"),
        ({"junk": {"q": "a"}}, "junk must be lists of document ids, but is 'a'$"),
        (
            {"junk": {"q": ["x", "y"], "r": []}},
            "junk must name documents of gallery_ids for queries of query_ids, but "
            r"has none for 2 .'q', 'r'., such as 'x'$",
        ),
        ({"junk": {"other": ["a"]}}, "junk must name documents of gallery_ids for queries of query_ids, but has none"),
        ({"junk": [True]}, r"junk must have shape \(2,\) or \(1, 2\), but has shape \(1,\)"),
        (
            {"exclude": {"q": "a"}},
            "exclude must be a row of the gallery for each query, -1 for none, or a pair: the ids",
        ),
        ({"exclude": [2]}, "exclude must hold rows of the gallery, 0 to 1, or -1 for none, but holds 2 for query 0"),
    ],
)
def test_junk_and_exclude_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        from_judged([[1.0]], [[1.0], [2.0]], {"q": {"a": 1}}, ["q"], ["a", "b"], **given)


def test_empty_lists_of_junk_are_none() -> None:
    given = [[1.0]], [[1.0], [2.0]], {"q": {"a": 1}}, ["q"], ["a", "b"]
    assert from_judged(*given, junk={"q": []}).profile.n_ranked == 2


def test_what_is_not_in_the_gallery_counts() -> None:
    qrels = {"q": {"a": 1, "elsewhere": 2}, "not embedded": {"a": 1}}
    result = from_judged([[1.0]], [[1.0], [1.0]], qrels, ["q"], ["a", "b"]).profile
    assert result.relevant_by_grade is not None
    assert (result.n_relevant.tolist(), result.relevant_by_grade.tolist()) == ([2], [[1, 1]])
    assert evaluate(result, "Recall@2")["Recall@2"].expected == 0.5


def test_coarse_ties_and_tolerances() -> None:
    rng = np.random.default_rng(0)
    queries, gallery = rng.normal(size=(5, 8)), rng.normal(size=(300, 8))
    ids, gallery_ids = list("abcde"), [f"d{i}" for i in range(300)]
    qrels = {query: {f"d{i}": 1 for i in range(0, 300, 7)} for query in ids}
    exact, coarse = (
        evaluate(from_judged(queries, gallery, qrels, ids, gallery_ids, ties=ties).profile, "mAP")["mAP"]
        for ties in ("exact", "bfloat16")
    )
    assert exact.lower == exact.upper
    assert coarse.lower < coarse.upper
    assert from_judged(queries, gallery, qrels, ids, gallery_ids, ties=Tolerance(0.1)).profile.bounds_only


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"query_ids": ["q", "q"]}, "query_ids must hold each id once, but holds 'q' again"),
        ({"query_ids": ["q"]}, "query_ids must have one entry per row, but got 1 ids for 2 rows"),
        ({"gallery_ids": [1, 0.5]}, r"gallery_ids\[1\] must be a string or an integer, but is 0.5"),
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
        from_judged(**given | changed)


def test_a_task_whose_unjudged_documents_are_unknown_takes_no_tolerance() -> None:
    task = from_judged([[1.0]], [[1.0], [3.0]], {"q": {"a": 1}}, ["q"], ["a", "b"], unjudged="unknown")
    with pytest.raises(ValueError, match="unjudged must be 'irrelevant' or 'junk' with a tolerance, but is 'unknown'"):
        task.replace(ties=Tolerance(0.1))
