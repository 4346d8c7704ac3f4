"""Times of other programs for the same rows and labels, each as its documentation shows it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.data import Array, Arrays, Unavailable

Work = Callable[[], object]


def _argsort(case: Case, arrays: Arrays, threads: int) -> Work:
    """Average precision of each query from a sort of its row, as scripts do it; ties fall as they may."""

    def work() -> float:
        unit = _unit(arrays.query)
        values = []
        for query, row in enumerate(unit):
            scores = unit @ row
            scores[query] = -np.inf
            order = np.argsort(-scores)[:-1]
            hit = arrays.query_labels[order] == arrays.query_labels[query]
            ranks = np.flatnonzero(hit) + 1
            values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
        return float(np.mean(values))

    return work


def _sklearn(case: Case, arrays: Arrays, threads: int) -> Work:
    average_precision = installed("sklearn.metrics").average_precision_score

    def work() -> float:
        unit = _unit(arrays.query)
        scores = unit @ unit.T
        others = ~np.eye(len(unit), dtype=bool)
        labels = arrays.query_labels
        return float(
            np.mean([
                average_precision(labels[others[query]] == labels[query], scores[query, others[query]])
                for query in range(len(unit))
            ])
        )  # fmt: skip

    return work


def _faiss(case: Case, arrays: Arrays, threads: int) -> Work:
    """The nearest R of each query alone, R the size of the classes; nothing is measured with them."""
    faiss: Any = installed("faiss")

    def work() -> None:
        faiss.omp_set_num_threads(threads)
        unit = _unit(arrays.query)
        index = faiss.IndexFlatIP(case.dim)
        index.add(unit)
        index.search(unit, min(case.class_size, len(unit)))

    return work


def _pytorch_metric_learning(case: Case, arrays: Arrays, threads: int) -> Work:
    """MAP@R and precision at 1, which it computes from a search of faiss."""
    torch, faiss = installed("torch"), installed("faiss")
    accuracy_calculator: Any = installed("pytorch_metric_learning.utils.accuracy_calculator")
    names = ("mean_average_precision_at_r", "precision_at_1")
    calculator = accuracy_calculator.AccuracyCalculator(include=names, k="max_bin_count", device=torch.device("cpu"))
    rows, labels = torch.from_numpy(_unit(arrays.query)), torch.from_numpy(np.asarray(arrays.query_labels))

    def work() -> None:
        torch.set_num_threads(threads)
        faiss.omp_set_num_threads(threads)
        calculator.get_accuracy(rows, labels)

    return work


def _torchmetrics(case: Case, arrays: Arrays, threads: int) -> Work:
    """Mean average precision of all pairs, each with the number of its query."""
    torch, torchmetrics = installed("torch"), installed("torchmetrics")
    labels = torch.from_numpy(np.asarray(arrays.query_labels))
    rows, n = torch.from_numpy(_unit(arrays.query)), len(labels)
    others = ~torch.eye(n, dtype=torch.bool)

    def work() -> float:
        torch.set_num_threads(threads)
        metric = torchmetrics.retrieval.RetrievalMAP()
        numbers = torch.arange(n)[:, None].expand(n, n)
        metric.update((rows @ rows.T)[others], (labels[:, None] == labels)[others], indexes=numbers[others])
        return float(metric.compute())

    return work


def _ranx(case: Case, arrays: Arrays, threads: int) -> Work:
    """Mean average precision of a run and its judgements, as dictionaries."""
    ranx: Any = installed("ranx")
    names = [f"d{number}" for number in range(len(arrays.query))]

    def work() -> float:
        unit = _unit(arrays.query)
        scores = unit @ unit.T
        run, judged = {}, {}
        for query, name in enumerate(names):
            run[name] = dict(zip(names, scores[query].tolist(), strict=True))
            del run[name][name]
            same_label = np.flatnonzero(arrays.query_labels == arrays.query_labels[query])
            judged[name] = {names[item]: 1 for item in same_label if item != query}
        return float(ranx.evaluate(ranx.Qrels.from_dict(judged), ranx.Run.from_dict(run), "map"))

    return work


def _unit(rows: Array) -> Array:
    """Rows divided by their norms."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def installed(name: str) -> ModuleType:
    """A module that need not be there."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise Unavailable(f"{name.split('.')[0]} is not installed") from None


RIVALS: dict[str, Callable[[Case, Arrays, int], Work]] = {
    "NumPy product and argsort": _argsort,
    "scikit-learn average_precision_score": _sklearn,
    "faiss exact search, top R": _faiss,
    "pytorch-metric-learning AccuracyCalculator": _pytorch_metric_learning,
    "torchmetrics RetrievalMAP": _torchmetrics,
    "ranx evaluate": _ranx,
}
