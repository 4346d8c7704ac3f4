"""Scores of candidates, as link prediction and rerankers have them: the neighbour's own arithmetic, and deadheat's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import deadheat as dh
from benchmarks.cases import Case
from benchmarks.data import Array
from benchmarks.results import Row, timed
from benchmarks.rivals import installed
from benchmarks.timing import Clock

LEVELS = 8
_N_RELEVANT = 5
_SEED = 0


def measure(case: Case, clock: Clock) -> Row:
    """Both by turns, in as many threads as each takes."""
    clock.tick("generating the data")
    rng = np.random.default_rng(_SEED)
    shape = (case.n, case.dim)
    scores = rng.integers(0, LEVELS, shape) if case.data == f"{LEVELS} levels" else rng.standard_normal(shape)
    return timed(case, clock.by_turns(WORKS[case.yardstick](scores.astype(np.float32), rng, clock.threads)))


def _link_prediction(negatives: Array, rng: np.random.Generator, threads: int) -> dict[str, Callable[[], object]]:
    """OGB's `Evaluator` for hits and reciprocal ranks takes the mean of the first and the last rank."""
    positives = rng.permutation(negatives.ravel()[: len(negatives)])

    def ogb() -> tuple[float, ...]:
        first = (negatives > positives[:, None]).sum(axis=1)
        last = (negatives >= positives[:, None]).sum(axis=1)
        ranks = 0.5 * (first + last) + 1
        return (*(float((ranks <= k).mean()) for k in (1, 3, 10)), float((1 / ranks).mean()))

    def deadheat() -> object:
        task = dh.from_candidates(negatives, positive_scores=positives, threads=threads)
        return dh.link_prediction(task, ["Hits@1", "Hits@3", "Hits@10", "MRR"])

    return {"yardstick": ogb, "evaluate": deadheat}


def _reranking(scores: Array, rng: np.random.Generator, threads: int) -> dict[str, Callable[[], object]]:
    """The evaluators of sentence-transformers go query by query, with two measures of scikit-learn."""
    sklearn: Any = installed("sklearn.metrics")
    relevant = np.zeros(scores.shape, dtype=bool)
    relevant[np.arange(len(scores))[:, None], rng.integers(0, scores.shape[1], (len(scores), _N_RELEVANT))] = True

    def sentence_transformers() -> object:
        values = []
        for row, hits in zip(scores, relevant, strict=True):
            result = np.flatnonzero(hits[np.argsort(-row)[:10]])
            reciprocal = 1 / (result[0] + 1) if len(result) else 0.0
            ndcg = sklearn.ndcg_score([hits], [row], k=10)
            values.append((reciprocal, ndcg, sklearn.average_precision_score(hits, row)))
        return np.mean(values, axis=0)

    def deadheat() -> object:
        task = dh.from_scores(scores, relevant, threads=threads)
        return dh.evaluate(task, ["MRR@10", "nDCG@10", "mAP"])

    return {"yardstick": sentence_transformers, "evaluate": deadheat}


KINDS = ("continuous", f"{LEVELS} levels")
WORKS = {"OGB's arithmetic": _link_prediction, "sentence-transformers' arithmetic": _reranking}
