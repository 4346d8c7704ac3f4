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
        retrieved = rng.choice(documents, int(rng.integers(1, 20)), replace=False)
        scores = rng.integers(0, 4, len(retrieved)) / 4 if ties else rng.normal(size=len(retrieved)).astype(np.float32)
        results[query] = {str(each): float(score) for each, score in zip(retrieved, scores, strict=True)}
    qrels |= {"q0": {"d0": 2, "d1": 1}, "not searched": {"d0": 1}}
    return qrels, results | {"not judged": {"d0": 1.0}}


def theirs(qrels: Any, results: Any, ignore_identical_ids: bool) -> dict[str, float]:
    """Return the values that BEIR makes of those of pytrec_eval."""
    import pytrec_eval

    if ignore_identical_ids:
        results = {query: {d: score for d, score in row.items() if d != query} for query, row in results.items()}
    names = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P"}
    cutoffs = ",".join(map(str, K_VALUES))
    rows = pytrec_eval.RelevanceEvaluator(qrels, {f"{name}.{cutoffs}" for name in names.values()}).evaluate(results)
    return {
        f"{key}@{k}": round(sum(row[f"{name}_{k}"] for row in rows.values()) / len(rows), 5)
        for key, name in names.items()
        for k in K_VALUES
    }


@needs("pytrec_eval")
@pytest.mark.parametrize("ignore", [True, False])
@pytest.mark.parametrize("ties", [False, True])
def test_theirs_are_the_values_without_ties_and_else_within_the_bounds(ties: bool, ignore: bool) -> None:
    widths = []
    for seed in range(25):
        qrels, results = tables(seed, ties)
        four = beir.evaluate(qrels, results, K_VALUES, ignore)
        assert [next(iter(each)) for each in four] == ["NDCG@1", "MAP@1", "Recall@1", "P@1"]
        values = four[0] | four[1] | four[2] | four[3]
        widths.append(widest(values, theirs(qrels, results, ignore), 1.1e-5))
    assert max(widths) > 0.1 if ties else max(widths) == 0


def custom(qrels: Any, results: Any, metric: str, k: int, sign: int) -> float:
    """Average one of BEIR's other measures by its loops, for the worst or the best order of tied documents."""
    total = 0.0
    judged = {each for row in qrels.values() for each in row}
    for query, row in results.items():
        relevant = {each for each, grade in qrels[query].items() if grade > 0}
        if metric == "hole":
            relevant = set(row) - judged
        top = sorted(row, key=lambda each: (-row[each], -sign * (each in relevant)))[:k]
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
def test_custom_measures(metric: str, name: str) -> None:
    for seed in range(10):
        qrels, results = tables(seed, ties=True)
        del results["not judged"]
        values = beir.evaluate_custom(qrels, results, K_VALUES, metric)
        assert list(values) == [f"{name}@{k}{end}" for end in ("", "_lower", "_upper") for k in K_VALUES]
        for k in K_VALUES:
            assert values[f"{name}@{k}_lower"] == pytest.approx(custom(qrels, results, metric, k, -1), abs=1e-5)
            assert values[f"{name}@{k}_upper"] == pytest.approx(custom(qrels, results, metric, k, 1), abs=1e-5)
            assert values[f"{name}@{k}_lower"] <= values[f"{name}@{k}"] <= values[f"{name}@{k}_upper"]


@pytest.mark.parametrize(
    ("name", "key"), [("MRR@k", "MRR"), ("r_cap", "R_cap"), ("Hole@k", "Hole"), ("ACC", "Accuracy")]
)
def test_their_names_of_measures(name: str, key: str) -> None:
    """One document that is relevant and retrieved, and so no hole."""
    values = beir.evaluate_custom({"q": {"a": 1}}, {"q": {"a": 1.0}}, [1], name)
    assert values == dict.fromkeys((f"{key}@1{end}" for end in ("", "_lower", "_upper")), float(key != "Hole"))


def test_arguments_stay_as_they_are() -> None:
    qrels, results = {"q": {"q": 1, "a": 1}}, {"q": {"q": 1.0, "a": 0.5, "b": 0.5}}
    before = copy.deepcopy((qrels, results))
    assert beir.evaluate(qrels, results, [1])[2] == {"Recall@1": 0.25, "Recall@1_lower": 0.0, "Recall@1_upper": 0.5}
    assert (qrels, results) == before
    assert beir.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, [1])[0]["NDCG@1"] == 0.0  # nothing relevant, as in BEIR


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"q": {"a": 1}}, {"q": ["a"]}, [1]), "results must be a dictionary of dictionaries, but is dict"),
        (({"q": {"a": 1}}, {"q": {"a": 1.0}}, []), "k_values must hold at least one cutoff"),
        (({"q": {"a": 1}}, {"q": {"a": 1.0}}, "10"), "k_values must be a list of cutoffs"),
        (({"q": {"a": 1}}, {"p": {"a": 1.0}}, [1]), "qrels and results must have a query in common"),
        (({"q": {"a": 1}}, {"q": {"a": 1.0}}, [1], "nope"), "metric must be one of mrr, recall_cap, hole, accuracy"),
        (({"q": {"a": 1}}, {}, [1], "hole"), "results must have queries of the qrels only, but is empty"),
        (({"q": {"a": 1}}, {"p": {"a": 1.0}}, [1], "mrr"), "results must have queries of the qrels only, but has 'p'"),
    ],
)
def test_refused(arguments: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        (beir.evaluate if len(arguments) == 3 else beir.evaluate_custom)(*arguments)
