"""BEIR's dictionaries: against pytrec_eval, which BEIR uses, and against a reimplementation of BEIR's own loops."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs, widest

from deadheat.integrations import beir

K_VALUES = [1, 3, 10]


def tables(seed: int, ties: bool) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Random qrels with grades, and results that miss some queries and some relevant documents."""
    rng = np.random.default_rng(seed)
    documents = [f"d{i}" for i in range(25)] + [f"q{i}" for i in range(3)]
    qrels, results = {}, {}
    for query in (f"q{i}" for i in range(int(rng.integers(2, 9)))):
        judged = rng.choice(documents, int(rng.integers(1, 8)), replace=False)
        qrels[query] = {str(each): int(rng.integers(-1, 4)) for each in judged}
        found = rng.choice(documents, int(rng.integers(1, 20)), replace=False)
        scores = rng.integers(0, 4, len(found)) / 4 if ties else rng.normal(size=len(found)).astype(np.float32)
        results[query] = {str(each): float(score) for each, score in zip(found, scores, strict=True)}
    qrels["q0"] = {"d0": 2, "d1": 1}
    results["not judged"] = {"d0": 1.0}
    qrels["not searched"] = {"d0": 1}
    return qrels, results


def theirs(qrels: Any, results: Any, ignore_identical_ids: bool) -> dict[str, float]:
    """What BEIR makes of pytrec_eval."""
    import pytrec_eval

    results = copy.deepcopy(results)
    if ignore_identical_ids:
        for query in results:
            results[query].pop(query, None)
    names = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P"}
    cuts = ",".join(map(str, K_VALUES))
    found = pytrec_eval.RelevanceEvaluator(qrels, {f"{name}.{cuts}" for name in names.values()}).evaluate(results)
    return {
        f"{key}@{k}": round(sum(row[f"{name}_{k}"] for row in found.values()) / len(found), 5)
        for key, name in names.items()
        for k in K_VALUES
    }


@needs("pytrec_eval")
@pytest.mark.parametrize("ignore", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_equal_without_ties(seed: int, ignore: bool) -> None:
    qrels, results = tables(seed, ties=False)
    four = beir.evaluate(qrels, results, K_VALUES, ignore)
    assert [next(iter(each)) for each in four] == ["NDCG@1", "MAP@1", "Recall@1", "P@1"]
    found = four[0] | four[1] | four[2] | four[3]
    assert widest(found, theirs(qrels, results, ignore), 1.1e-5) == 0


@needs("pytrec_eval")
def test_around_theirs_with_ties() -> None:
    widths = []
    for seed in range(25):
        qrels, results = tables(seed, ties=True)
        four = beir.evaluate(qrels, results, K_VALUES)
        widths.append(widest(four[0] | four[1] | four[2] | four[3], theirs(qrels, results, True), 1.1e-5))
    assert max(widths) > 0.1


def best_first(row: dict[str, float], qrels_row: dict[str, int], sign: int) -> list[str]:
    """The order that is worst or best for what is relevant."""
    return sorted(row, key=lambda each: (-row[each], -sign * (qrels_row.get(each, 0) > 0)))


def custom(qrels: Any, results: Any, metric: str, k: int, sign: int) -> float:
    """BEIR's loops for one order of tied documents."""
    total = 0.0
    judged = {each for row in qrels.values() for each in row}
    for query, row in results.items():
        relevant = {each for each, grade in qrels[query].items() if grade > 0}
        if metric == "hole":
            relevant = set(row) - judged
        top = best_first(row, dict.fromkeys(relevant, 1), sign)[:k]
        hits = [rank for rank, each in enumerate(top, 1) if each in relevant]
        if metric == "mrr":
            total += 1 / hits[0] if hits else 0
        elif metric == "recall_cap":
            total += len(hits) / min(k, len(relevant)) if relevant else 0
        else:
            total += len(hits) / k if metric == "hole" else bool(hits)
    return total / len(qrels)


@pytest.mark.parametrize(
    ("metric", "name"), [("mrr", "MRR"), ("recall_cap", "R_cap"), ("hole", "Hole"), ("accuracy", "Accuracy")]
)
@pytest.mark.parametrize("seed", range(10))
def test_custom_measures(seed: int, metric: str, name: str) -> None:
    qrels, results = tables(seed, ties=True)
    del results["not judged"]
    found = beir.evaluate_custom(qrels, results, K_VALUES, metric)
    assert list(found) == [f"{name}@{k}{end}" for end in ("", "_lower", "_upper") for k in K_VALUES]
    for k in K_VALUES:
        assert found[f"{name}@{k}_lower"] == pytest.approx(custom(qrels, results, metric, k, -1), abs=1e-5)
        assert found[f"{name}@{k}_upper"] == pytest.approx(custom(qrels, results, metric, k, 1), abs=1e-5)
        assert found[f"{name}@{k}_lower"] <= found[f"{name}@{k}"] <= found[f"{name}@{k}_upper"]


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("MRR", "MRR"),
        ("MRR@k", "MRR"),
        ("r_cap", "R_cap"),
        ("Hole@k", "Hole"),
        ("top_k_acc", "Accuracy"),
        ("ACC", "Accuracy"),
    ],
)
def test_their_names_of_measures(name: str, called: str) -> None:
    """One document that is relevant and retrieved, and so no hole."""
    found = beir.evaluate_custom({"q": {"a": 1}}, {"q": {"a": 1.0}}, [1], name)
    assert found == dict.fromkeys((f"{called}@1{end}" for end in ("", "_lower", "_upper")), float(called != "Hole"))


def test_arguments_stay_as_they_are() -> None:
    qrels, results = {"q": {"q": 1, "a": 1}}, {"q": {"q": 1.0, "a": 0.5, "b": 0.5}}
    before = copy.deepcopy((qrels, results))
    found = beir.evaluate(qrels, results, [1])[2]
    assert (qrels, results) == before
    assert found == {"Recall@1": 0.25, "Recall@1_lower": 0.0, "Recall@1_upper": 0.5}
    assert beir.evaluate(qrels, results, [1], ignore_identical_ids=False)[2]["Recall@1"] == 0.5


def test_a_query_without_a_relevant_document_counts_as_0_there_too() -> None:
    assert beir.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, [1])[0]["NDCG@1"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], {}, [1]), "qrels must be a dictionary of dictionaries, but is list"),
        (({"q": {"a": 1}}, {"q": ["a"]}, [1]), "results must be a dictionary of dictionaries"),
        (({"q": {"a": 1}}, {"q": {"a": 1.0}}, []), "k_values must hold at least one cutoff"),
        (({"q": {"a": 1}}, {"q": {"a": 1.0}}, "10"), "k_values must be a list of cutoffs"),
        (({"q": {"a": 1}}, {"q": {"a": 1.0}}, [0]), "k_values must be"),
        (({"q": {"a": 1}}, {"q": {"a": float("nan")}}, [1]), "must be finite"),
        (({"q": {"a": 1}}, {"p": {"a": 1.0}}, [1]), "qrels and results must have a query in common"),
        (({"q": {"a": 1}}, {"q": {"a": 1.0}}, [1], "nope"), "metric must be one of mrr, recall_cap, hole, accuracy"),
        (({"q": {"a": 1}}, {}, [1], "hole"), "results must have queries of the qrels only, but is empty"),
        (({"q": {"a": 1}}, {"p": {"a": 1.0}}, [1], "mrr"), "results must have queries of the qrels only, but has 'p'"),
    ],
)
def test_refused(arguments: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        (beir.evaluate if len(arguments) == 3 else beir.evaluate_custom)(*arguments)
