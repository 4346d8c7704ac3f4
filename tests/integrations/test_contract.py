"""Every integration gives the value of the task: one ranking full of ties, in the form that each library has it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from integrations import models
from integrations.needs import needs

import deadheat as dh
from deadheat.reports.result import ENDS

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of Transformers, SWIG and the parser of ir_measures
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state", "ignore:Sparse invariant checks"),
]
RNG = np.random.default_rng(0)
LABELS, ITEM_LABELS = np.arange(8) % 3, np.arange(12) % 3
QUERIES = RNG.integers(-2, 3, (8, 4)).astype(np.float32)
ITEMS = RNG.integers(-60, 61, (5, 4))[RNG.integers(0, 5, 12)].astype(np.float32)  # five distinct rows: most items tie
SCORES = QUERIES @ ITEMS.T
RELEVANT = LABELS[:, None] == ITEM_LABELS
RUN = {f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(SCORES)}
QRELS = {f"q{q}": {f"d{d}": int(mark) for d, mark in enumerate(row)} for q, row in enumerate(RELEVANT)}
COUNTING = "deadheat.engine.counting.card.device.open_card"
TIES = ["exact", "bfloat16", dh.Tolerance(9)]
Values = dict[str, Any]


def embedding_metric(ties: Any) -> Values:
    import torch

    from deadheat.integrations.torchmetrics import EmbeddingRetrieval

    metric = EmbeddingRetrieval("mAP, nDCG@3, Hit@1", distance="inner_product", ties=ties)
    for rows in (slice(0, 5), slice(5, 12)):
        if rows.start < len(QUERIES):
            metric.update(torch.tensor(QUERIES[rows]), torch.tensor(LABELS[rows]), role="query")
        metric.update(torch.tensor(ITEMS[rows]), ITEM_LABELS[rows].tolist(), role="gallery")
    return {name: value.item() for name, value in metric.compute().items()}


def score_metric(ties: Any) -> Values:
    import torch

    from deadheat.integrations.torchmetrics import ScoredRetrieval

    metric, indexes = ScoredRetrieval("mAP, nDCG@3, R-Precision", ties=ties), torch.arange(8)[:, None].expand(8, 12)
    for rows in (slice(0, 3), slice(3, 8)):
        metric.update(torch.tensor(SCORES[rows]), torch.tensor(RELEVANT[rows]), indexes[rows])
    return {name: value.item() for name, value in metric.compute().items()}


def calculator(ties: Any) -> Values:
    from pytorch_metric_learning.distances import DotProductSimilarity
    from pytorch_metric_learning.utils.inference import CustomKNN

    from deadheat.integrations.pytorch_metric_learning import AccuracyCalculator

    ours = AccuracyCalculator(
        exclude=("NMI", "AMI"), knn_func=CustomKNN(DotProductSimilarity(normalize_embeddings=False)),
        kmeans_func=print, k=None,
    )  # fmt: skip
    names = {
        "precision_at_1": "Hit@1", "r_precision": "R-Precision", "mean_average_precision": "mAP",
        "mean_average_precision_at_r": "MAP@R", "mean_reciprocal_rank": "MRR",
    }  # fmt: skip
    values = ours.get_accuracy(QUERIES, LABELS, ITEMS, ITEM_LABELS)
    return {name + end: values[metric + end] for metric, name in names.items() for end in ENDS}


def retrieval_evaluator(make: Callable[[dict[str, Any]], Any], prefix: str, kind: str) -> Callable[[Any], Values]:
    def values(ties: Any) -> Values:
        import torch

        from deadheat.integrations import sentence_transformers

        evaluator = getattr(sentence_transformers, f"TieAware{kind}InformationRetrievalEvaluator")(
            {query: query for query in QRELS}, {document: document for document in RUN["q0"]},
            {query: {d for d, grade in row.items() if grade} for query, row in QRELS.items()},
            corpus_chunk_size=5, ties=ties,
        )  # fmt: skip
        rows = [*QUERIES, *ITEMS]
        result = evaluator(make(dict(zip([*QRELS, *RUN["q0"]], map(torch.tensor, rows), strict=True))))
        names = {"map@100": "mAP", "mrr@10": "MRR@10", "ndcg@10": "nDCG@10", "recall@3": "Recall@3"}
        return {name + end: result[f"{prefix}_{metric}{end}"] for metric, name in names.items() for end in ENDS}

    return values


def reranker(ties: Any) -> Values:
    from deadheat.integrations.sentence_transformers_reranking import TieAwareCrossEncoderRerankingEvaluator

    model = models.Pairs({(query, document): score for query, row in RUN.items() for document, score in row.items()})
    return of_samples(TieAwareCrossEncoderRerankingEvaluator, model, ties)


def embedding_reranker(ties: Any) -> Values:
    import torch
    from sentence_transformers.util import dot_score

    from deadheat.integrations.sentence_transformers_reranking import TieAwareRerankingEvaluator

    rows = dict(zip([*QRELS, *RUN["q0"]], map(torch.tensor, [*QUERIES, *ITEMS]), strict=True))
    return of_samples(TieAwareRerankingEvaluator, models.Encoder(rows), ties, similarity_fct=dot_score)


def of_samples(kind: Any, model: Any, ties: Any, **options: Any) -> Values:
    samples = [
        {"query": query, "positive": [d for d in row if row[d]], "negative": [d for d in row if not row[d]]}
        for query, row in QRELS.items()
    ]
    values = kind(samples, at_k=3, ties=ties, **options)(model)
    names = {"map": "mAP", "mrr@3": "MRR@3", "ndcg@3": "nDCG@3"}
    return {name + end: values[metric + end] for metric, name in names.items() for end in ENDS}


def provider(ties: Any) -> Values:
    import ir_measures

    from deadheat.integrations import ir_measures as ours

    names = {"AP": "mAP", "RR": "MRR", "nDCG@3": "nDCG@3", "R@3": "Recall@3", "Rprec": "R-Precision"}
    plain = {metric: ir_measures.parse_measure(metric) for metric in names}
    ends = {"": lambda measure: measure, "_lower": ours.lower, "_upper": ours.upper}
    asked = {name + end: side(plain[metric]) for metric, name in names.items() for end, side in ends.items()}
    values = ours.DeadheatProvider(ties).calc_aggregate(asked.values(), QRELS, RUN)
    return {name: values[measure] for name, measure in asked.items()}


def beir(ties: Any) -> Values:
    from deadheat.integrations.beir import evaluate, evaluate_custom

    ndcg, average_precision, recall, precision = evaluate(QRELS, RUN, [3])
    names = {"MRR@3": "MRR@3", "Accuracy@3": "Hit@3", "NDCG@3": "nDCG@3", "MAP@3": "mAP@3", "P@3": "P@3"}
    values = {**ndcg, **average_precision, **recall, **precision}
    values |= evaluate_custom(QRELS, RUN, [3], "mrr") | evaluate_custom(QRELS, RUN, [3], "top_k_acc")
    return {name + end: values[metric + end] for metric, name in names.items() for end in ENDS}


def mteb(n_documents: int | None) -> Callable[[Any], Values]:
    def values(ties: Any) -> Values:
        from deadheat.integrations.mteb import evaluate_predictions

        report = evaluate_predictions(RUN, QRELS, n_documents=n_documents, measures="ndcg_at_3, map_at_10, mrr_at_10")
        return {name + end: getattr(report[name], which) for name in report for end, which in ENDS.items()}

    return values


DENSE, SPARSE, TOKENS = (
    lambda rows: models.Encoder(rows, "dot"),
    lambda rows: models.Sparse(rows, "dot"),
    lambda rows: models.Tokens({text: row[None] for text, row in rows.items()}, "maxsim"),
)
OF_MODELS = needs("sentence_transformers")
INTEGRATIONS = {  # a function from the rule of ties to values by our names, the mark, and whether it takes a rule
    "torchmetrics, embeddings": (embedding_metric, needs("torchmetrics"), True),
    "torchmetrics, scores": (score_metric, needs("torchmetrics"), True),
    "pytorch-metric-learning": (calculator, needs("pytorch_metric_learning", "faiss"), False),
    "sentence-transformers": (retrieval_evaluator(DENSE, "dot", ""), OF_MODELS, True),
    "sentence-transformers, sparse": (retrieval_evaluator(SPARSE, "dot", "Sparse"), OF_MODELS, True),
    "sentence-transformers, tokens": (retrieval_evaluator(TOKENS, "maxsim", "MultiVector"), OF_MODELS, True),
    "cross-encoder": (reranker, OF_MODELS, True),
    "encoder as reranker": (embedding_reranker, OF_MODELS, True),
    "ir_measures": (provider, needs("ir_measures", "pytrec_eval"), False),
    "beir": (beir, (), False),
    "mteb, retrieval": (mteb(12), (), False),
    "mteb, reranking": (mteb(None), (), False),
}
CASES = [
    pytest.param(values, rule, id=f"{name}, {rule}", marks=marks)
    for name, (values, marks, has_rule) in INTEGRATIONS.items()
    for rule in (TIES if has_rule else TIES[:1])
]


@pytest.mark.parametrize(("values", "ties"), CASES)
def test_values_are_those_of_the_task(values: Callable[[Any], Values], ties: Any) -> None:
    result = values(ties)
    task = dh.Task(QUERIES, LABELS, ITEMS, ITEM_LABELS, distance="inner_product", ties=ties)
    names = [name for name in result if not name.endswith(("_lower", "_upper"))]
    report = dh.evaluate(task, names)
    wanted = {name + end: getattr(report[name], which) for name in names for end, which in ENDS.items()}
    digits = 5 if values is beir else 13  # BEIR rounds, and a mean of some libraries is their own
    assert {key: round(value, digits) for key, value in result.items()} == pytest.approx(
        {key: round(value, digits) for key, value in wanted.items()}, rel=0, abs=0, nan_ok=True
    )
    assert any(report[name].lower < report[name].upper for name in names)


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("ir_measures", "ir-measures"), ("pytorch_metric_learning", "pytorch-metric-learning"),
        ("sentence_transformers", "sentence-transformers"), ("torchmetrics", "torchmetrics"),
    ],
)  # fmt: skip
def test_one_line_says_what_to_install(name: str, package: str) -> None:
    code = f"import sys; sys.modules['{name}'] = None; import deadheat.integrations.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    library = package if package == "sentence-transformers" else name
    line = f"deadheat.integrations.{name} needs {library}: pip install 'deadheat[{package}]'"
    assert done.stderr.splitlines()[-1] == f"deadheat.errors.MissingPackageError: {line}"


CARDS = [  # the integration, and the names by which it asks for the card of its rows, and opens it
    pytest.param(embedding_metric, "deadheat.inputs.conversion.card_of", COUNTING, id="torchmetrics",
                 marks=needs("torchmetrics")),
    pytest.param(calculator, "deadheat.integrations.pytorch_metric_learning.card_of", COUNTING,
                 id="pytorch-metric-learning", marks=needs("pytorch_metric_learning", "faiss")),
    pytest.param(INTEGRATIONS["sentence-transformers"][0], "deadheat.integrations.sentence_transformers.card_of",
                 "deadheat.integrations.sentence_transformers.open_card", id="sentence-transformers", marks=OF_MODELS),
]  # fmt: skip


@pytest.mark.parametrize(("values", "asks", "opens"), CARDS)
def test_rows_on_a_card_are_counted_there(
    values: Callable[[Any], Values], asks: str, opens: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of the card is passed on; that there is none here leaves the counting to the core."""
    opened: list[Any] = []
    wanted = values("exact")
    monkeypatch.setattr(asks, lambda rows: "cuda:3")
    monkeypatch.setattr(opens, opened.append)
    assert values("exact") == wanted
    assert set(opened) == {"cuda:3"}
