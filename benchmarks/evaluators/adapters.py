"""Evaluators by name: those that people use, each called as its documentation shows it, or ``module:function``.

In come arrays, out goes one number. A row of `ADAPTERS` has a name such as ``torchmetrics:map``; the library is
imported when its function is first called, and nothing of it is changed. Documents that need an id are numbered in the
order in which they come, so that ids say no more than the order does.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evaluators.audit import EvaluatorAudit, EvaluatorSurvey, audit_evaluator
from benchmarks.evaluators.bench import Evaluator
from deadheat import from_scores
from deadheat.errors import InvalidValueError, MissingPackageError
from deadheat.reports.evaluating import evaluate
from deadheat.support.arrays import Array
from deadheat.support.lazy import difflib


class Adapter(NamedTuple):
    """A function of somebody's library: how to call it, what is called, and what its makers made it for."""

    name: str
    package: str  # as installed, for the version and for what to install
    form: str  # of the inputs: "embeddings", "scores", "query" or "candidates"
    called: str
    use: str
    fn: Evaluator

    @property
    def version(self) -> str | None:
        """The version installed; None if it is not there."""
        try:
            return importlib.metadata.version(self.package) if self.package else None
        except importlib.metadata.PackageNotFoundError:
            return None


def locate(name: str, form: str | None = None) -> Adapter:
    """The evaluator of a name; of the caller's own, neither package nor use is known.

    Raises
    ------
    InvalidValueError
        If there is none.
    MissingPackageError
        If it is in the table, and its library is not installed.

    Examples
    --------
    >>> locate("math:hypot", form="query").form
    'query'
    >>> locate("math:hypo")
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: evaluator must name what is there, but math has no 'hypo'
    """
    if name in ADAPTERS:
        row = ADAPTERS[name]
        if row.version is None:
            raise MissingPackageError(f"{name} needs {row.package}: pip install {row.package}", name=row.package)
        return row
    module, _, path = name.partition(":")
    try:
        if module and path:
            return Adapter(name, "", form or "embeddings", "", "", _attribute(module, path))
    except InvalidValueError:
        if all(known.partition(":")[0] != module for known in ADAPTERS):
            raise
    near = difflib.get_close_matches(name, ADAPTERS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(ADAPTERS)}"
    raise InvalidValueError("evaluator", f"must be a name in the table or module:function, but is {name!r}; {hint}")


def audit_row(row: Adapter, **options: Any) -> EvaluatorAudit:
    """The audit of an evaluator, with its form, name and version."""
    return audit_evaluator(row.fn, form=row.form, name=row.name, version=row.version, **options)


def survey(**options: Any) -> EvaluatorSurvey:
    """Audits of every evaluator in the table whose library is installed, side by side."""
    installed = [row for row in ADAPTERS.values() if row.version is not None]
    missing = tuple(name for name, row in ADAPTERS.items() if row not in installed)
    return EvaluatorSurvey([audit_row(row, **options) for row in installed], missing)


def _attribute(module: str, path: str) -> Any:
    """Return what a module has under a name, with dots for what is inside."""
    try:
        result: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        rule = f"must be in a module that is there, but there is no {error.name!r}"
        raise InvalidValueError("evaluator", rule) from None
    for part in path.split("."):
        if not hasattr(result, part):
            raise InvalidValueError("evaluator", f"must name what is there, but {module} has no {path!r}")
        result = getattr(result, part)
    if not callable(result):
        raise InvalidValueError("evaluator", f"must be callable, but {module}:{path} is not")
    return result


_module = importlib.import_module  # `locate` and `survey` know whether it is installed


# ---------------------------------------------------------------------------------------------------------------------
# of embeddings and labels, leave one out


def _numpy_argsort(embeddings: Array, labels: Array) -> float:
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = embeddings / np.where(norms > 0, norms, 1)
    scores = unit @ unit.T
    np.fill_diagonal(scores, -np.inf)
    order = np.argsort(-scores, axis=1)[:, :-1]
    hits = labels[order] == labels[:, None]
    precision = np.cumsum(hits, axis=1) / np.arange(1, len(labels))
    return _mean((precision * hits).sum(axis=1) / hits.sum(axis=1))


def _pytorch_metric_learning(embeddings: Array, labels: Array, metric: str, k: str | None) -> float:
    calculators = _module("pytorch_metric_learning.utils.accuracy_calculator")
    torch = _module("torch")
    calculator = calculators.AccuracyCalculator(include=(metric,), k=k or len(labels) - 1, device=torch.device("cpu"))
    given = torch.from_numpy(np.ascontiguousarray(embeddings)), torch.from_numpy(np.ascontiguousarray(labels))
    return float(calculator.get_accuracy(*given)[metric])


def _copairs(embeddings: Array, labels: Array) -> float:
    metadata = _module("pandas").DataFrame({"label": labels})
    rules = {"pos_sameby": ["label"], "pos_diffby": [], "neg_sameby": [], "neg_diffby": ["label"]}
    result = _module("copairs.map").average_precision(metadata, embeddings, **rules, progress_bar=False)
    return float(result["average_precision"].mean())


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


# ---------------------------------------------------------------------------------------------------------------------
# of matrices of scores and relevance


def _ids(letter: str, n: int) -> list[str]:
    """As many ids, whose order as text is their order."""
    return [f"{letter}{number:07d}" for number in range(n)]


def _run(scores: Array) -> dict[str, dict[str, float]]:
    """Rows of scores as a run, with ids in the order of queries and items."""
    queries, items = _ids("q", len(scores)), _ids("d", scores.shape[1])
    return {query: dict(zip(items, row, strict=True)) for query, row in zip(queries, scores.tolist(), strict=True)}


def _qrels(relevant: Array) -> dict[str, dict[str, int]]:
    """Return what is relevant, as judgements; what is not is not listed."""
    items = _ids("d", relevant.shape[1])
    rows = zip(_ids("q", len(relevant)), relevant, strict=True)
    return {query: {items[item]: 1 for item in np.flatnonzero(row)} for query, row in rows}


def _sentence_transformers(scores: Array, relevant: Array) -> float:
    evaluation = _module("sentence_transformers.sentence_transformer.evaluation")
    n, run, qrels = scores.shape[1], _run(scores), _qrels(relevant)
    texts = dict.fromkeys(_ids("d", n), "")
    judged = {query: set(row) for query, row in qrels.items()}
    evaluator = evaluation.InformationRetrievalEvaluator(dict.fromkeys(run, ""), texts, judged, map_at_k=[n])
    hits = [
        [{"corpus_id": item, "score": score} for item, score in run[query].items()] for query in evaluator.queries_ids
    ]
    return float(evaluator.compute_metrics(hits)["map@k"][n])


def _torchmetrics(scores: Array, relevant: Array, metric: str) -> float:
    torch, retrieval = _module("torch"), _module("torchmetrics.retrieval")
    indexes = np.repeat(np.arange(len(scores)), scores.shape[1])
    given = [torch.from_numpy(np.ascontiguousarray(each.ravel())) for each in (scores, relevant)]
    return float(getattr(retrieval, metric)()(*given, indexes=torch.from_numpy(indexes)))


def _ranx(scores: Array, relevant: Array) -> float:
    ranx = _module("ranx")
    return float(ranx.evaluate(ranx.Qrels(_qrels(relevant)), ranx.Run(_run(scores)), "map"))


def _ir_measures(scores: Array, relevant: Array) -> float:
    ir_measures = _module("ir_measures")
    return float(ir_measures.calc_aggregate([ir_measures.AP], _qrels(relevant), _run(scores))[ir_measures.AP])


def _pytrec_eval(scores: Array, relevant: Array) -> float:
    evaluator = _module("pytrec_eval").RelevanceEvaluator(_qrels(relevant), {"map"})
    return _mean(each["map"] for each in evaluator.evaluate(_run(scores)).values())


def _tie_aware(scores: Array, relevant: Array, value: str) -> float:
    given = {"scores": scores.tolist(), "is_relevant": relevant.tolist()}
    n = scores.shape[1]
    return float(getattr(_module("trm").evaluate(**given, metrics=["map"], k_list=[n]).metrics["map"][n], value))


def _deadheat(scores: Array, relevant: Array, value: str) -> float:
    return float(getattr(evaluate(from_scores(scores, relevant), "mAP")["mAP"], value))


# ---------------------------------------------------------------------------------------------------------------------
# of matrices in which each query has one positive


def _mteb(scores: Array, relevant: Array) -> float:
    metrics = _module("mteb._evaluators.retrieval_metrics")
    return _mean(metrics.mrr(_qrels(relevant), _run(scores), [10])["MRR@10"])


def _beir(scores: Array, relevant: Array) -> float:
    return float(_module("beir.retrieval.custom_metrics").mrr(_qrels(relevant), _run(scores), [10])["MRR@10"])


def _links(scores: Array, relevant: Array) -> dict[str, Array]:
    """The dictionary that OGB and TGB take."""
    positive = np.asarray(relevant, dtype=bool)
    return {"y_pred_pos": scores[positive], "y_pred_neg": scores[~positive].reshape(len(scores), -1)}


def _ogb(scores: Array, relevant: Array, data_set: str, metric: str) -> float:
    evaluator, torch = _module("ogb.linkproppred").Evaluator(data_set), _module("torch")
    tensors = {name: torch.from_numpy(values) for name, values in _links(scores, relevant).items()}
    if metric.endswith("_list"):
        return float(evaluator.eval(tensors)[metric].mean())
    rows = zip(tensors["y_pred_pos"], tensors["y_pred_neg"], strict=True)  # negatives are shared by those of a call
    return _mean(evaluator.eval({"y_pred_pos": one[None], "y_pred_neg": others})[metric] for one, others in rows)


def _tgb(scores: Array, relevant: Array) -> float:
    evaluator = _module("tgb.linkproppred.evaluate").Evaluator("tgbl-wiki")
    return float(evaluator.eval({**_links(scores, relevant), "eval_metric": ["mrr"]})["mrr"])


def _pykeen(scores: Array, relevant: Array, metric: str) -> float:
    torch, evaluator = _module("torch"), _module("pykeen.evaluation").RankBasedEvaluator()
    positives = _links(scores, relevant)["y_pred_pos"][:, None]
    evaluator.process_scores_(None, "tail", torch.from_numpy(scores), torch.from_numpy(positives))
    return float(evaluator.finalize().get_metric(metric))


# ---------------------------------------------------------------------------------------------------------------------
# of one query at a time


def _sklearn(scores: Array, relevant: Array, metric: str) -> float:
    given = (relevant[None], scores[None]) if metric == "ndcg" else (relevant, scores)
    return float(getattr(_module("sklearn.metrics"), f"{metric}_score")(*given))


# ---------------------------------------------------------------------------------------------------------------------

_METRIC_LEARNING = "monitors training of embeddings and compares losses; distances of trained models rarely tie"
_TORCHMETRICS = "metrics of probabilities, updated batch by batch while a model trains"
_TREC = "evaluates runs as trec_eval does, whose rule for equal scores (by document id) is documented and repeatable"
_TIE_AWARE = "reports expectation and range of retrieval scores served in few bits"
_OWN = "final evaluation: bounds and expectation over all ways to break ties"
_LINKS = "link prediction, where each positive is ranked among its negatives; scores are meant to be distinct"
_KNOWLEDGE_GRAPHS = "knowledge graphs: optimistic, pessimistic and realistic (mean) ranks of each positive"
_SKLEARN = "metrics of classifiers: thresholds of a score, where equal scores are decided together"

_ROWS = (
    Adapter("numpy:argsort", "numpy", "embeddings",
            "np.argsort(-scores) of cosine similarities in float32, and AP from that order",
            "what scripts published with a paper do", _numpy_argsort),
    Adapter("pytorch-metric-learning:map", "pytorch-metric-learning", "embeddings",
            "AccuracyCalculator(k=n - 1).get_accuracy: mean_average_precision", _METRIC_LEARNING,
            partial(_pytorch_metric_learning, metric="mean_average_precision", k=None)),
    Adapter("pytorch-metric-learning:map_at_r", "pytorch-metric-learning", "embeddings",
            'AccuracyCalculator(k="max_bin_count").get_accuracy: mean_average_precision_at_r', _METRIC_LEARNING,
            partial(_pytorch_metric_learning, metric="mean_average_precision_at_r", k="max_bin_count")),
    Adapter("copairs:map", "copairs", "embeddings", "average_precision(meta, feats, ...): average_precision",
            "profiles of cells: replicates among controls, by rules on metadata", _copairs),
    Adapter("sentence-transformers:map", "sentence-transformers", "scores",
            "InformationRetrievalEvaluator(map_at_k=[n]).compute_metrics: map@k",
            "monitors training of text retrievers, where documents have ids of their own", _sentence_transformers),
    Adapter("torchmetrics:map", "torchmetrics", "scores", "RetrievalMAP()", _TORCHMETRICS,
            partial(_torchmetrics, metric="RetrievalMAP")),
    Adapter("torchmetrics:ndcg", "torchmetrics", "scores", "RetrievalNormalizedDCG()", _TORCHMETRICS,
            partial(_torchmetrics, metric="RetrievalNormalizedDCG")),
    Adapter("ranx:map", "ranx", "scores", 'evaluate(qrels, run, "map")',
            "evaluates and compares runs of search engines, whose documents have ids and mostly distinct scores",
            _ranx),
    Adapter("ir_measures:map", "ir_measures", "scores", "calc_aggregate([AP], qrels, run)", _TREC, _ir_measures),
    Adapter("pytrec_eval:map", "pytrec_eval-terrier", "scores", 'RelevanceEvaluator(qrels, {"map"}).evaluate(run)',
            _TREC, _pytrec_eval),
    Adapter("tie-aware-retrieval-metrics:map", "tie-aware-retrieval-metrics", "scores",
            'trm.evaluate(metrics=["map"], k_list=[n]): expected', _TIE_AWARE, partial(_tie_aware, value="expected")),
    Adapter("tie-aware-retrieval-metrics:map-minimum", "tie-aware-retrieval-metrics", "scores",
            'trm.evaluate(metrics=["map"], k_list=[n]): minimum', _TIE_AWARE, partial(_tie_aware, value="minimum")),
    Adapter("deadheat:map", "deadheat", "scores", 'evaluate(from_scores(...), "mAP"): lower', _OWN,
            partial(_deadheat, value="lower")),
    Adapter("deadheat:map-expected", "deadheat", "scores", 'evaluate(from_scores(...), "mAP"): expected', _OWN,
            partial(_deadheat, value="expected")),
    Adapter("mteb:mrr@10", "mteb", "candidates", "retrieval_metrics.mrr(qrels, results, [10])",
            "the benchmark's MRR of retrieval and reranking", _mteb),
    Adapter("beir:mrr@10", "beir", "candidates", "custom_metrics.mrr(qrels, results, [10])",
            "a custom measure of the benchmark, in addition to those of pytrec_eval", _beir),
    *(Adapter(f"pykeen:{name}", "pykeen", "candidates", f'RankBasedEvaluator().finalize(): "both.{metric}"',
              _KNOWLEDGE_GRAPHS, partial(_pykeen, metric=f"both.{metric}"))
      for name, metric in (("mrr", "realistic.mrr"), ("mrr-optimistic", "optimistic.mrr"),
                           ("mrr-pessimistic", "pessimistic.mrr"), ("hits@10", "realistic.hits@10"))),
    Adapter("ogb:mrr", "ogb", "candidates", 'Evaluator("ogbl-wikikg2").eval: mrr_list', _LINKS,
            partial(_ogb, data_set="ogbl-wikikg2", metric="mrr_list")),
    Adapter("ogb:hits@10", "ogb", "candidates", 'Evaluator("ogbl-wikikg2").eval: hits@10_list', _LINKS,
            partial(_ogb, data_set="ogbl-wikikg2", metric="hits@10_list")),
    Adapter("ogb:hits@20", "ogb", "candidates", 'Evaluator("ogbl-ddi").eval: hits@20', _LINKS,
            partial(_ogb, data_set="ogbl-ddi", metric="hits@20")),
    Adapter("tgb:mrr", "py-tgb", "candidates", 'Evaluator("tgbl-wiki").eval: mrr', _LINKS, _tgb),
    *(Adapter(f"scikit-learn:{name}", "scikit-learn", "query", f"{name}_score", use, partial(_sklearn, metric=name))
      for name, use in (("average_precision", _SKLEARN), ("roc_auc", _SKLEARN),
                        ("ndcg", "rankings with graded relevance; ties are averaged"))),
)  # fmt: skip
ADAPTERS = {row.name: row for row in _ROWS}
