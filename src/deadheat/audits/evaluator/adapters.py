"""Evaluators that people use, each called as its documentation shows it: in come arrays, out goes one number.

A row a function, by a name such as ``torchmetrics:map``. The library is imported when its function is first called, and
nothing of it is changed. Documents that need an id are numbered in the order in which they come, so that ids say no
more than the order does.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from deadheat.audits.evaluator.calling import Evaluator
from deadheat.counting.scored import profile_scores
from deadheat.errors import InvalidValueError
from deadheat.reports import measure
from deadheat.support.arrays import Array
from deadheat.support.extras import require
from deadheat.support.lazy import difflib

_OWN_USE = "final evaluation: bounds and expectation over all ways to break ties"


class Adapter(NamedTuple):
    """A function of somebody's library: how to call it, what is called, and what its makers made it for."""

    name: str
    package: str  # as installed, for the version and for what to install
    form: str  # of the inputs: "embeddings", "scores" or "query"
    called: str
    use: str
    fn: Evaluator

    @property
    def version(self) -> str | None:
        """The version installed; None if it is not there."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


ADAPTERS: dict[str, Adapter] = {}


def adapter(name: str, package: str, form: str, called: str, use: str) -> Callable[[Evaluator], Evaluator]:
    """Make a function known by a name."""

    def known(fn: Evaluator) -> Evaluator:
        ADAPTERS[name] = Adapter(name, package, form, called, use, fn)
        return fn

    return known


def find(name: str) -> Adapter:
    """The adapter of this name, or an error that lists them."""
    if name not in ADAPTERS:
        near = difflib.get_close_matches(name, ADAPTERS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(ADAPTERS)}"
        raise InvalidValueError("evaluator", f"must be a name in the table or module:function, but is {name!r}; {hint}")
    return ADAPTERS[name]


def _module(name: str) -> Any:
    return require(name, "neighbours", "this evaluator")


def _run(scores: Array) -> dict[str, dict[str, float]]:
    """Rows of scores as a run, with ids in the order of queries and items."""
    queries, items = _ids("q", len(scores)), _ids("d", scores.shape[1])
    return {query: dict(zip(items, row, strict=True)) for query, row in zip(queries, scores.tolist(), strict=True)}


def _qrels(relevant: Array) -> dict[str, dict[str, int]]:
    """What is relevant, as judgements; what is not is not listed."""
    items = _ids("d", relevant.shape[1])
    rows = zip(_ids("q", len(relevant)), relevant, strict=True)
    return {query: {items[item]: 1 for item in np.flatnonzero(row)} for query, row in rows}


def _ids(letter: str, n: int) -> list[str]:
    """As many ids, whose order as text is their order."""
    return [f"{letter}{number:07d}" for number in range(n)]


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


# ---------------------------------------------------------------------------------------------------------------------
# of embeddings and labels, leave one out


@adapter(
    "numpy:argsort", "numpy", "embeddings",
    "np.argsort(-scores) of cosine similarities in float32, and AP from that order",
    "what scripts beside a paper do",
)  # fmt: skip
def numpy_argsort(embeddings: Array, labels: Array) -> float:
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = embeddings / np.where(norms > 0, norms, 1)
    scores = unit @ unit.T
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1)[:, :-1]
    hits = labels[order] == labels[:, None]
    precision = np.cumsum(hits, axis=1) / np.arange(1, len(labels))
    return _mean((precision * hits).sum(axis=1) / hits.sum(axis=1))


def _pytorch_metric_learning(embeddings: Array, labels: Array, metric: str, k: Any) -> float:
    calculators = _module("pytorch_metric_learning.utils.accuracy_calculator")
    torch = _module("torch")
    calculator = calculators.AccuracyCalculator(include=(metric,), k=k, device=torch.device("cpu"))
    given = torch.from_numpy(np.ascontiguousarray(embeddings)), torch.from_numpy(np.ascontiguousarray(labels))
    return float(calculator.get_accuracy(*given)[metric])


_METRIC_LEARNING = "monitors training of embeddings and compares losses; distances of trained models rarely tie"


@adapter(
    "pytorch-metric-learning:map", "pytorch-metric-learning", "embeddings",
    "AccuracyCalculator(k=n - 1).get_accuracy: mean_average_precision", _METRIC_LEARNING,
)  # fmt: skip
def pytorch_metric_learning_map(embeddings: Array, labels: Array) -> float:
    return _pytorch_metric_learning(embeddings, labels, "mean_average_precision", len(labels) - 1)


@adapter(
    "pytorch-metric-learning:map_at_r", "pytorch-metric-learning", "embeddings",
    'AccuracyCalculator(k="max_bin_count").get_accuracy: mean_average_precision_at_r', _METRIC_LEARNING,
)  # fmt: skip
def pytorch_metric_learning_map_at_r(embeddings: Array, labels: Array) -> float:
    return _pytorch_metric_learning(embeddings, labels, "mean_average_precision_at_r", "max_bin_count")


@adapter(
    "sentence-transformers:map", "sentence-transformers", "scores",
    "InformationRetrievalEvaluator(map_at_k=[n]).compute_metrics: map@k",
    "monitors training of text retrievers, where documents have ids of their own",
)  # fmt: skip
def sentence_transformers_map(scores: Array, relevant: Array) -> float:
    evaluation = _module("sentence_transformers.sentence_transformer.evaluation")
    n, run, qrels = scores.shape[1], _run(scores), _qrels(relevant)
    texts = dict.fromkeys(_ids("d", n), "")
    judged = {query: set(row) for query, row in qrels.items()}
    evaluator = evaluation.InformationRetrievalEvaluator(dict.fromkeys(run, ""), texts, judged, map_at_k=[n])
    hits = [
        [{"corpus_id": item, "score": score} for item, score in run[query].items()] for query in evaluator.queries_ids
    ]
    return float(evaluator.compute_metrics(hits)["map@k"][n])


# ---------------------------------------------------------------------------------------------------------------------
# of matrices of scores and relevance


def _torchmetrics(metric: str, scores: Array, relevant: Array) -> float:
    torch, retrieval = _module("torch"), _module("torchmetrics.retrieval")
    indexes = np.repeat(np.arange(len(scores)), scores.shape[1])
    given = [torch.from_numpy(np.ascontiguousarray(each.ravel())) for each in (scores, relevant)]
    return float(getattr(retrieval, metric)()(*given, indexes=torch.from_numpy(indexes)))


_TORCHMETRICS_USE = "metrics of probabilities, updated batch by batch while a model trains"


@adapter("torchmetrics:map", "torchmetrics", "scores", "RetrievalMAP()", _TORCHMETRICS_USE)
def torchmetrics_map(scores: Array, relevant: Array) -> float:
    return _torchmetrics("RetrievalMAP", scores, relevant)


@adapter("torchmetrics:ndcg", "torchmetrics", "scores", "RetrievalNormalizedDCG()", _TORCHMETRICS_USE)
def torchmetrics_ndcg(scores: Array, relevant: Array) -> float:
    return _torchmetrics("RetrievalNormalizedDCG", scores, relevant)


@adapter(
    "ranx:map", "ranx", "scores", 'evaluate(qrels, run, "map")',
    "evaluates and compares runs of search engines, whose documents have ids and mostly distinct scores",
)  # fmt: skip
def ranx_map(scores: Array, relevant: Array) -> float:
    ranx = _module("ranx")
    return float(ranx.evaluate(ranx.Qrels(_qrels(relevant)), ranx.Run(_run(scores)), "map"))


_TREC_USE = (
    "evaluates runs as trec_eval does, whose rule for equal scores (by document id) is documented and repeatable"
)


@adapter("ir_measures:map", "ir_measures", "scores", "calc_aggregate([AP], qrels, run)", _TREC_USE)
def ir_measures_map(scores: Array, relevant: Array) -> float:
    ir_measures = _module("ir_measures")
    return float(ir_measures.calc_aggregate([ir_measures.AP], _qrels(relevant), _run(scores))[ir_measures.AP])


@adapter(
    "pytrec_eval:map", "pytrec_eval-terrier", "scores", 'RelevanceEvaluator(qrels, {"map"}).evaluate(run)', _TREC_USE
)
def pytrec_eval_map(scores: Array, relevant: Array) -> float:
    evaluator = _module("pytrec_eval").RelevanceEvaluator(_qrels(relevant), {"map"})
    return _mean(each["map"] for each in evaluator.evaluate(_run(scores)).values())


def _tie_aware(scores: Array, relevant: Array) -> Any:
    trm, n = _module("trm"), scores.shape[1]
    return trm.evaluate(scores=scores.tolist(), is_relevant=relevant.tolist(), metrics=["map"], k_list=[n]).metrics[
        "map"
    ][n]


_TIE_AWARE_USE = "reports expectation and range of retrieval scores served in few bits"


@adapter(
    "tie-aware-retrieval-metrics:map", "tie-aware-retrieval-metrics", "scores",
    'trm.evaluate(metrics=["map"], k_list=[n]): expected', _TIE_AWARE_USE,
)  # fmt: skip
def tie_aware_map(scores: Array, relevant: Array) -> float:
    return float(_tie_aware(scores, relevant).expected)


@adapter(
    "tie-aware-retrieval-metrics:map-minimum", "tie-aware-retrieval-metrics", "scores",
    'trm.evaluate(metrics=["map"], k_list=[n]): minimum', _TIE_AWARE_USE,
)  # fmt: skip
def tie_aware_map_minimum(scores: Array, relevant: Array) -> float:
    return float(_tie_aware(scores, relevant).minimum)


@adapter("deadheat:map", "deadheat", "scores", 'measure(profile_scores(...), "mAP"): lower', _OWN_USE)
def deadheat_map(scores: Array, relevant: Array) -> float:
    return measure(profile_scores(scores, relevant), "mAP")["mAP"].lower


@adapter("deadheat:map-expected", "deadheat", "scores", 'measure(profile_scores(...), "mAP"): expected', _OWN_USE)
def deadheat_map_expected(scores: Array, relevant: Array) -> float:
    return measure(profile_scores(scores, relevant), "mAP")["mAP"].expected


# ---------------------------------------------------------------------------------------------------------------------
# of one query at a time


_SKLEARN_USE = "metrics of classifiers: thresholds of a score, where equal scores are decided together"


@adapter("scikit-learn:average_precision", "scikit-learn", "query", "average_precision_score", _SKLEARN_USE)
def sklearn_average_precision(scores: Array, relevant: Array) -> float:
    return float(_module("sklearn.metrics").average_precision_score(relevant, scores))


@adapter("scikit-learn:roc_auc", "scikit-learn", "query", "roc_auc_score", _SKLEARN_USE)
def sklearn_roc_auc(scores: Array, relevant: Array) -> float:
    return float(_module("sklearn.metrics").roc_auc_score(relevant, scores))


@adapter(
    "scikit-learn:ndcg", "scikit-learn", "query", "ndcg_score", "rankings with graded relevance; ties are averaged",
)  # fmt: skip
def sklearn_ndcg(scores: Array, relevant: Array) -> float:
    return float(_module("sklearn.metrics").ndcg_score(relevant[None], scores[None]))
