"""sentence-transformers: evaluators of retrieval, with bounds that no order of the documents can change.

Only the ranking differs from the originals, of dense, sparse and multi-vector encoders; the constructor, the encoding,
the keys and the model card are inherited. The ranking is a tie profile for each score function; `reports` and `results`
have the values of all queries after a call.

    queries, corpus ──embed_inputs──> embeddings
    built-in function, one vector a text ──exact distances──────────────────────> profile ──> measures, original keys
    MaxSim, any other function           ──the function, some queries at a time─> profile ──> measures, original keys
"""

from __future__ import annotations

import csv
import io
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.engine.counting.card.device import open_card
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.judged import profile_of_judged
from deadheat.engine.sources.scores import from_scores
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.conversion import card_of, on_host
from deadheat.inputs.sparse import is_sparse
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.reports.result import ENDS, Result, over_min_of_k_and_relevant
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require

NEEDS = "sentence-transformers", "deadheat.integrations.sentence_transformers"
_similarity = require("sentence_transformers.util.similarity", *NEEDS)
_torch = require("torch", *NEEDS)
_Theirs: Any = require("sentence_transformers.sentence_transformer.evaluation", *NEEDS).InformationRetrievalEvaluator
_Sparse: Any = require("sentence_transformers.sparse_encoder.evaluation", *NEEDS).SparseInformationRetrievalEvaluator
_multi_vector: Any = require("sentence_transformers.multi_vector_encoder.evaluation", *NEEDS)

_DISTANCES = {"cosine": "cosine", "dot": "inner_product", "euclidean": "euclidean", "manhattan": "cityblock"}
_MEASURES = {"accuracy": "Hit", "precision": "P", "recall": "Recall", "ndcg": "nDCG", "mrr": "MRR", "map": "mAP"}
_BLOCK_SCORES = 1 << 24  # scores of a function in memory at once

logger = logging.getLogger(__name__)


class TieAwareInformationRetrievalEvaluator(_Theirs):  # type: ignore[misc]
    """sentence-transformers' InformationRetrievalEvaluator with a lower bound, the expectation and an upper bound.

    The original ranks tied documents by their id, so that ids affect the score of a model whose embeddings coincide.
    Here every key holds the exact expectation over all orders of tied documents, with the worst and the best next to
    it: ``cosine_ndcg@10``, ``cosine_ndcg@10_lower``, ``cosine_ndcg@10_upper``. `primary_metric` is a lower bound; a
    trainer selects by it with ``metric_for_best_model="eval_cosine_ndcg@10_lower"``.

    Parameters
    ----------
    queries, corpus : dict of id to text
    relevant_docs : dict of query id to set of document ids
        Queries without a relevant document are excluded.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        The meaning of tied, see `deadheat.Task`; keyword only.
    threads : int, optional
        For counting, by default as many as there are processors; keyword only.
    bounds : iterable of str, optional
        The metrics whose bounds are among the keys and in the file, such as ``["ndcg@10", "map@100"]``, by default all;
        keyword only. nDCG at the last cutoff, whose lower bound is `primary_metric`, always has bounds. `results` and
        `reports` have all bounds.
    *args, **kwargs
        Parameters of the original, in the same order: `corpus_chunk_size`, `mrr_at_k`, `ndcg_at_k`, `accuracy_at_k`,
        `precision_recall_at_k`, `map_at_k`, `show_progress_bar`, `batch_size`, `name`, `write_csv`, `truncate_dim`,
        `score_functions`, `main_score_function`, `query_prompt`, `query_prompt_name`, `corpus_prompt`,
        `corpus_prompt_name`, `write_predictions`.

    Attributes
    ----------
    reports : dict of str to Report
        After a call, for each score function: means, per-query values, intervals and the tie profile.
    results : dict of str to Result
        The same by metric key, such as ``results["cosine_map@100"].per_query.lower``, in the order of `queries_ids`;
        `.interval()` is a confidence interval.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If an option is not as described, embeddings are not finite, or, when called, no query has a relevant document.

    Notes
    -----
    Ties: for the built-in functions (cosine, dot, euclidean, manhattan) documents tie when their distances to the query
    are equal as real numbers. For any other function `ties` is about its scores, and equal documents need not tie, as
    a float32 product may give them different bits.

    ``map@k`` divides by min(k, R), as in the original; `deadheat`'s ``mAP@k`` divides by R, the number of relevant
    documents. ``recall@k`` is the share of the relevant documents found, ``accuracy@k`` is deadheat's Hit@k.

    All embeddings of the corpus are in memory during the comparison; the original keeps one chunk.

    Examples
    --------
    >>> evaluator = TieAwareInformationRetrievalEvaluator(
    ...     queries={"q": "a cat"}, corpus={"d1": "a cat sleeps", "d2": "stock prices"}, relevant_docs={"q": {"d1"}}
    ... )
    >>> evaluator.greater_is_better, evaluator.primary_metric
    (True, None)
    """

    write_csv: bool
    primary_metric: str | None
    score_functions: Any
    score_function_names: list[str]

    def __init__(
        self,
        queries: dict[Any, Any],
        corpus: dict[Any, Any],
        relevant_docs: dict[Any, set[Any]],
        *args: Any,
        ties: str | Ties = "exact",
        threads: int | None = None,
        bounds: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self._options = CountingOptions.checked(ties=ties, threads=threads)
        super().__init__(queries, corpus, relevant_docs, *args, **kwargs)
        for name in ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k"):
            cutoffs = getattr(self, name)
            if not isinstance(cutoffs, (list, tuple)) or not cutoffs:
                raise InvalidTypeError(name, f"must be a list of at least one cutoff, but is {cutoffs!r}")
            for cutoff in cutoffs:
                checks.positive_integer(cutoff, name)
        self._names_are_of_model = self.score_functions is None
        if self.score_functions is not None and not all(map(callable, self.score_functions.values() or [None])):
            raise InvalidTypeError("score_functions", f"must be functions by name, but is {self.score_functions!r:.80}")
        known = [f"{key}@{k}" for key, k in self._keys]
        if isinstance(bounds, str) or not isinstance(bounds, Iterable | None):
            raise InvalidTypeError("bounds", f"must be a list of metrics, such as ['ndcg@10'], but is {bounds!r}")
        asked = known if bounds is None else [checks.choice(each, known, "bounds") for each in bounds]
        self._bounded = {*asked, f"ndcg@{max(self.ndcg_at_k)}"}
        self.reports: dict[str, Report] = {}
        self.results: dict[str, Result] = {}

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1, *args: Any, **kwargs: Any
    ) -> dict[str, float]:
        """Return the metrics for a model, each with ``_lower`` and ``_upper``, as fractions."""
        if self._names_are_of_model and model.similarity_fn_name not in (self.score_functions or ()):
            self.score_functions, self.primary_metric = None, None  # before 6.2 the first model's would be kept
            self.score_function_names, self.csv_headers = [], ["epoch", "steps"]
        write_csv, self.write_csv = self.write_csv, False  # the original would write no bounds
        try:
            metrics: dict[str, float] = super().__call__(model, output_path, epoch, steps, *args, **kwargs)
        finally:
            self.write_csv = write_csv
        if write_csv and output_path is not None:
            os.makedirs(output_path, exist_ok=True)
            append_row(Path(output_path) / self.csv_file, {"epoch": epoch, "steps": steps} | self._columns())
        return metrics

    @plain_floats
    def compute_all_metrics(
        self, model: Any, corpus_model: Any = None, corpus_embeddings: Any = None, output_path: str | None = None
    ) -> dict[str, dict[str, dict[int, float]]]:
        """Return the values by k for each score function and metric, also for ``ndcg@k_lower`` and ``ndcg@k_upper``."""
        if not self.queries_ids or not self.corpus_ids:
            got = f"{len(self.queries_ids)} queries with a relevant document and {len(self.corpus_ids)} documents"
            raise InvalidValueError("queries and corpus", f"must have at least one of each, but got {got}")
        main = self.main_score_function
        if main is not None and main.value not in self.score_functions:
            names = ", ".join(self.score_functions)
            raise InvalidValueError("main_score_function", f"must be one of {names}, but is {main.value}")
        queries = self.embed_inputs(
            model, self.queries, encode_fn_name="query", prompt_name=self.query_prompt_name, prompt=self.query_prompt
        )
        chunks = list(self._chunks(corpus_model or model)) if corpus_embeddings is None else [corpus_embeddings]
        if corpus_embeddings is not None and isinstance(self, _Sparse):  # otherwise `embed_inputs` does
            self._record_sparsity_stats(corpus_model or model, corpus_embeddings, "corpus")
        measures = [f"{_MEASURES[key]}@{k}" for key, k in self._keys]
        self.reports = {}
        for name, function in self.score_functions.items():
            distance = distance_of(name if self._names_are_of_model else function)
            profile = self._profile(function, distance, queries, chunks)
            self.reports[name] = evaluate(profile, measures, threads=self._options.threads)
        self.results = {}
        for name, report in self.reports.items():
            for key, k in self._keys:
                result = report[f"{_MEASURES[key]}@{k}"]
                values = over_min_of_k_and_relevant(result, k) if key == "map" else result
                self.results[self._key(name, f"{key}@{k}")] = values
        scores = {name: self._scores(name) for name in self.reports}
        if not self.primary_metric:  # of the score function for which it is highest
            k = max(self.ndcg_at_k)
            best = max(sorted(scores), key=lambda name: scores[name]["ndcg@k_lower"][k])
            self.primary_metric = f"{best if main is None else main.value}_ndcg@{k}_lower"
        for name, report in self.reports.items():
            logger.info("Score-Function: %s\n%s", name, report)
        if self.write_predictions and output_path is not None:  # the original writes them, in its order
            lists = isinstance(chunks[0], list)  # of token embeddings
            whole = [each for chunk in chunks for each in chunk] if lists else _torch.cat(chunks)
            super().compute_all_metrics(model, corpus_embeddings=whole, output_path=output_path)
        return scores

    compute_metrices = compute_all_metrics

    def output_scores(self, scores: Any) -> None:
        """Do nothing: the report, with bounds, has been logged."""

    def _profile(
        self, function: Callable[..., Any], distance: str | None, queries: Any, chunks: list[Any]
    ) -> TieProfile:
        """Return the tie profile of all queries against the chunks of the corpus."""
        relevant = {query: set(self.relevant_docs[query]) for query in self.queries_ids}
        rows = [row for row in map(_rows, (queries, *chunks)) if row is not None]
        if distance is None or len(rows) <= len(chunks):
            profile = self._profile_of_function(function, queries, chunks, relevant)
        else:
            card = open_card(card_of(queries) or "cpu")
            options = replace(self._options, distance=distance, progress=self.show_progress_bar, device=card)
            sparse = is_sparse(chunks[0])
            corpus = _torch.cat([each.to_sparse_coo() for each in chunks]) if sparse else np.concatenate(rows[1:])
            opened = options.open(rows[0], corpus)
            grades = {query: dict.fromkeys(items, 1) for query, items in relevant.items()}
            profile = profile_of_judged(opened, grades, list(relevant), self.corpus_ids, options)
        return replace(profile, query_ids=tuple(map(str, relevant)), check=False)

    def _profile_of_function(
        self, function: Callable[..., Any], queries: Any, chunks: list[Any], relevant: dict[Any, set[Any]]
    ) -> TieProfile:
        at = {document: column for column, document in enumerate(self.corpus_ids)}
        ids, parts, step = list(relevant), [], max(1, _BLOCK_SCORES // len(at))
        for start in range(0, len(ids), step):
            some = _some(queries, start, min(start + step, len(ids)))
            scores = np.concatenate(
                [np.asarray(on_host(function(some, _on_device_of(some, chunk)), "scores")) for chunk in chunks], axis=1
            )
            marks = np.zeros(scores.shape, dtype=np.bool_)
            for row, query in enumerate(ids[start : start + step]):
                marks[row, [at[each] for each in relevant[query] if each in at]] = True
            task = from_scores(scores, marks, ties=self._options.rule, threads=self._options.threads)
            parts.append(task.profile)
        n_relevant = np.array([len(relevant[query]) for query in ids], dtype=np.int64)
        return replace(TieProfile.joined(parts), n_relevant=n_relevant, check=False)

    def _chunks(self, model: Any) -> Iterator[Any]:
        """Yield the embeddings of the corpus on the CPU, in chunks of documents."""
        for start in range(0, len(self.corpus), self.corpus_chunk_size):
            embeddings = self.embed_inputs(
                model, self.corpus[start : start + self.corpus_chunk_size], encode_fn_name="document",
                prompt_name=self.corpus_prompt_name, prompt=self.corpus_prompt,
            )  # fmt: skip
            yield embeddings.cpu() if _torch.is_tensor(embeddings) else embeddings

    @property
    def _keys(self) -> list[tuple[str, int]]:
        both = self.precision_recall_at_k
        cutoffs = self.accuracy_at_k, both, both, self.ndcg_at_k, self.mrr_at_k, self.map_at_k
        return [(key, k) for key, each in zip(_MEASURES, cutoffs, strict=True) for k in each]

    def _ends(self, metric: str) -> dict[str, str]:
        return {end: which for end, which in ENDS.items() if not end or metric in self._bounded}

    def _scores(self, function: str) -> dict[str, dict[int, float]]:
        """Return the values of a score function as in the original `compute_all_metrics`, then their bounds."""
        scores: dict[str, dict[int, float]] = {f"{key}@k{end}": {} for end in ENDS for key in _MEASURES}
        for key, k in self._keys:
            for end, which in self._ends(f"{key}@{k}").items():
                scores[f"{key}@k{end}"][k] = getattr(self.results[self._key(function, f"{key}@{k}")], which)
        return scores

    def _key(self, function: str, metric: str) -> str:
        return f"{self.name}_{function}_{metric}" if self.name else f"{function}_{metric}"

    def _columns(self) -> dict[str, float]:
        """Return the columns of the file after epoch and steps: those of the original, then the bounds."""
        columns = {}
        others = getattr(self, "sparsity_stats", {})  # which have no bounds
        for end in ENDS:
            for column in self.csv_headers[2:]:
                name, _, metric = column.rpartition("-")
                if column in others:
                    columns[column] = others[column]
                elif which := self._ends(metric.lower()).get(end):
                    columns[column + end] = getattr(self.results[self._key(name, metric.lower())], which)
        return columns


class TieAwareSparseInformationRetrievalEvaluator(TieAwareInformationRetrievalEvaluator, _Sparse):  # type: ignore[misc]
    """sentence-transformers' SparseInformationRetrievalEvaluator, with lower bound, expectation and upper bound.

    It is `TieAwareInformationRetrievalEvaluator` with `max_active_dims` in place of `truncate_dim`; keys such as
    `avg_flops` have no bounds. Ties are exact for the built-in functions: rows are made dense some at a time; for dot,
    of the dimensions that queries and corpus share. A function of your own takes the time of the original.

    Examples
    --------
    >>> TieAwareSparseInformationRetrievalEvaluator({}, {}, {}, max_active_dims=64).description
    'Tie Aware Sparse Information Retrieval'
    """


class TieAwareMultiVectorInformationRetrievalEvaluator(
    TieAwareInformationRetrievalEvaluator,
    _multi_vector.MultiVectorInformationRetrievalEvaluator,  # type: ignore[misc]
):
    """sentence-transformers' MultiVectorInformationRetrievalEvaluator, with lower bound, expectation and upper bound.

    It is `TieAwareInformationRetrievalEvaluator` with `chunk_elements` and without `truncate_dim`. Documents with equal
    scores of the model's MaxSim tie; it is called for as many queries at a time as have about 16 million scores.

    Examples
    --------
    >>> TieAwareMultiVectorInformationRetrievalEvaluator({}, {}, {}, chunk_elements=10_000_000).description
    'Tie Aware Multi Vector Information Retrieval'
    """


def append_row(path: Path, row: dict[str, float]) -> None:
    """Append a line to a file, with new columns if needed, which are empty in earlier lines."""
    rows: list[dict[str, Any]] = [row]
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            rows = [*csv.DictReader(file), row]
    columns = list(dict.fromkeys(column for each in rows for column in each))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def distance_of(function: str | Callable[..., Any]) -> str | None:
    """Return the distance of a built-in function or its name; None for anything else."""
    if isinstance(function, str):
        return _DISTANCES.get(function)
    theirs = {name: _similarity.SimilarityFunction.to_similarity_fn(name) for name in _DISTANCES}
    return next((_DISTANCES[name] for name, known in theirs.items() if known is function), None)


def _rows(embeddings: Any) -> Any:
    """Return embeddings as an array of the same numbers, or sparse as they are; None unless they are a matrix."""
    if getattr(embeddings, "ndim", 0) != 2:
        return None
    return embeddings if is_sparse(embeddings) else np.asarray(on_host(embeddings, "embeddings"))


def _some(queries: Any, start: int, stop: int) -> Any:
    """Return a range of the queries; sparse tensors cannot be sliced."""
    if _torch.is_tensor(queries) and queries.is_sparse:
        return queries.index_select(0, _torch.arange(start, stop, device=queries.device))
    return queries[start:stop]


def _on_device_of(queries: Any, chunk: Any) -> Any:
    """Return a chunk of the corpus on the device of the queries."""
    return chunk.to(queries.device) if _torch.is_tensor(chunk) and _torch.is_tensor(queries) else chunk
