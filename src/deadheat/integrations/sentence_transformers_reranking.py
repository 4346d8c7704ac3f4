"""Evaluators of reranking, with a tie profile in place of the ranking of the candidates.

samples ──candidates, positives marked──> scores of the model, or exact distances ──> profile ──> measures by key
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.judged import profile_of_judged
from deadheat.engine.sources.keyed import profile_lists
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import EQUAL, ScoreTies
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.conversion import on_host
from deadheat.integrations.sentence_transformers import NEEDS, append_row, distance_of
from deadheat.reports.report import Report
from deadheat.reports.result import ENDS, Result
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require

_CrossEncoder: Any = require("sentence_transformers.cross_encoder.evaluation", *NEEDS).CrossEncoderRerankingEvaluator
_Encoder: Any = require("sentence_transformers.sentence_transformer.evaluation", *NEEDS).RerankingEvaluator
_torch = require("torch", *NEEDS)

logger = logging.getLogger(__name__)


class _Bounded:
    """The common base of both evaluators: keys, model card and file, each with the bounds."""

    at_k: int
    name: str
    samples: Sequence[dict[str, Any]]
    write_csv: bool
    csv_file: str
    primary_metric: str
    report: Report | None
    results: dict[str, Result]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        checks.positive_integer(self.at_k, "at_k")
        self.primary_metric = f"ndcg@{self.at_k}_lower"
        self.report, self.results = None, {}

    @property
    def _measures(self) -> dict[str, str]:
        """The name in deadheat of each metric."""
        return {"map": "mAP", f"mrr@{self.at_k}": f"MRR@{self.at_k}", f"ndcg@{self.at_k}": f"nDCG@{self.at_k}"}

    def _deliver(
        self, model: Any, profile: TieProfile, base: TieProfile | None, path: str | None, epoch: int, steps: int
    ) -> dict[str, float]:
        """Return the metrics by key, and write them to the model card and the file."""
        self.report = self._report_of(profile)
        prefix = f"{self.name}_" if self.name else ""
        self.results = {prefix + key: self.report[name] for key, name in self._measures.items()}
        logger.info("%s on %s\n%s", type(self).__name__, self.name or "the samples", self.report)
        metrics = shown = _values(self.report, self._measures)
        if base is not None:
            before = _values(self._report_of(base), self._measures)
            shown = {key: f"{value:.4f} ({value - before[key]:+.4f})" for key, value in metrics.items()}
            metrics = metrics | {f"base_{key}": before[key] for key in self._measures}
        if path is not None and self.write_csv:
            os.makedirs(path, exist_ok=True)
            columns = {f"{key.upper()}{end}": metrics[key + end] for end in ENDS for key in self._measures}
            append_row(Path(path) / self.csv_file, {"epoch": epoch, "steps": steps} | columns)
        theirs: Any = self
        theirs.store_metrics_in_model_card_data(model, theirs.prefix_name_to_metrics(shown, self.name), epoch, steps)
        named: dict[str, float] = theirs.prefix_name_to_metrics(metrics, self.name)
        return named

    def _report_of(self, profile: TieProfile) -> Report:
        """Return the report on a profile; 0, as in the original, if no query at all has a relevant candidate."""
        return Report(profile, tuple(self._measures.values()), "zero")

    def _require_samples(self) -> None:
        if not self.samples:
            raise InvalidValueError("samples", "must hold at least one query with candidates, but there is none")


class TieAwareCrossEncoderRerankingEvaluator(_Bounded, _CrossEncoder):  # type: ignore[misc]
    """sentence-transformers' CrossEncoderRerankingEvaluator with a lower bound, the expectation and an upper bound.

    The original ranks by one sort, in which equal scores are in the reverse order of the candidates, with the positives
    first. Here every key holds the exact expectation over all orders of tied candidates, with the worst and the best
    order next to it: ``ndcg@10``, ``ndcg@10_lower``, ``ndcg@10_upper``.
    `primary_metric` is a lower bound: ``metric_for_best_model="eval_ndcg@10_lower"``.

    Parameters
    ----------
    samples : list of dict
        With "query", "positive", and either "negative" or "documents".
    scores : {"activations", "logits"}
        Rank by the output of `model.predict`, or by the logits before the model's activation: a sigmoid makes large
        logits equal, in float32 from 17 on, in bfloat16 from 6. Keyword only.
    ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
        As in `deadheat.from_scores`. Keyword only.
    *args, **kwargs
        Parameters of the original, in the same order: `at_k`, `always_rerank_positives`, `name`, `prompt_name`,
        `batch_size`, `show_progress_bar`, `write_csv`, `mrr_at_k`.

    Attributes
    ----------
    report : Report
        After a call: means, per-query values, intervals and the tie profile.
    results : dict of str to Result
        The same by metric key, such as ``results["mrr@10"].per_query.lower``, in the order of `samples`.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If an option is not as described or, when called, a sample lacks a key or the model's scores are not one finite
        number for each pair.

    Notes
    -----
    Ties: candidates with equal scores tie, unless `ties` says otherwise. The ranking before (``base_map`` and so on) is
    that of `documents`, without ties.

    With ``always_rerank_positives=False``, a positive that is not among `documents` was never found, before reranking
    and after: it counts in `n_relevant` and in no tie group, as in a run, since behind all others it would still earn
    precision. The original has it there before (``base_map``) and drops it after, which gives 1.0 where the others come
    first. With ``always_rerank_positives=True`` such positives are reranked too, and come last in the ranking before.

    ``map`` is the expectation of average precision over orders; the original uses scikit-learn's, which is over
    thresholds and with ties can lie outside the bounds. A query without a relevant candidate counts 0, as in the
    original.

    Examples
    --------
    >>> evaluator = TieAwareCrossEncoderRerankingEvaluator(
    ...     [{"query": "cats?", "positive": ["a cat"], "negative": ["a dog", "an owl"]}], name="pets"
    ... )
    >>> evaluator.primary_metric, evaluator.csv_file
    ('ndcg@10_lower', 'CrossEncoderRerankingEvaluator_pets_results_@10.csv')
    """

    def __init__(
        self, samples: Any, *args: Any, scores: Literal["activations", "logits"] = "activations",
        ties: str | Ties = "exact", **kwargs: Any,
    ) -> None:  # fmt: skip
        self._scores, self._ties = checks.choice(scores, ("activations", "logits"), "scores"), ScoreTies.checked(ties)
        super().__init__(samples, *args, **kwargs)

    @plain_floats
    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the metrics for a model, each with ``_lower`` and ``_upper``, as fractions."""
        self._require_samples()
        asked = [_Sample.of(sample, self.always_rerank_positives, i) for i, sample in enumerate(self.samples)]
        scores = self._predicted(model, asked)
        profile = _profiled(scores, [each.relevant for each in asked], [each.missing for each in asked], self._ties)
        given = [each for each in asked if each.before is not None]
        base = None
        if given:
            before = [each.before or [] for each in given]
            falling = np.concatenate([np.arange(len(each), 0.0, -1.0) for each in before])
            base = _profiled(falling, before, [each.missing for each in given])
        return self._deliver(model, profile, base, output_path, epoch, steps)

    def _predicted(self, model: Any, asked: list[_Sample]) -> NDArray[Any]:
        """Return the scores of all candidates of all queries, (n_pair,)."""
        pairs = [[each.query, document] for each in asked for document in each.documents]
        if not pairs:
            return np.zeros(0)
        raw = {"activation_fn": _torch.nn.Identity()} if self._scores == "logits" else {}
        scores = model.predict(
            pairs, prompt_name=self.prompt_name, batch_size=self.batch_size, convert_to_numpy=True,
            show_progress_bar=self.show_progress_bar, **raw,
        )  # fmt: skip
        return _checked(np.asarray(scores), len(pairs))


class TieAwareRerankingEvaluator(_Bounded, _Encoder):  # type: ignore[misc]
    """sentence-transformers' RerankingEvaluator with a lower bound, the expectation and an upper bound.

    Keys, `primary_metric`, `report` and `results` are those of `TieAwareCrossEncoderRerankingEvaluator`.

    Parameters
    ----------
    samples : list of dict
        With "query", "positive" and "negative"; those without a positive or a negative are excluded, as originally.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        The meaning of tied, see `deadheat.Task`; keyword only.
    *args, **kwargs
        Parameters of the original, in the same order: `at_k`, `name`, `write_csv`, `similarity_fct`, `batch_size`,
        `show_progress_bar`, `use_batched_encoding`, `truncate_dim`, `mrr_at_k`.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If an option is not as described or, when called, no sample is left or embeddings are not finite.

    Notes
    -----
    Ties: for the built-in functions (cosine, dot, euclidean, manhattan) candidates tie when their distances to the
    query are equal as real numbers, whatever a float32 product gives. For any other function, `ties` is about its
    scores.

    Examples
    --------
    >>> evaluator = TieAwareRerankingEvaluator([{"query": "cats?", "positive": "a cat", "negative": "a dog"}], at_k=5)
    >>> evaluator.primary_metric
    'ndcg@5_lower'
    """

    def __init__(self, samples: Any, *args: Any, ties: str | Ties = "exact", **kwargs: Any) -> None:
        self._options = CountingOptions.checked(ties=ties, threads=1)  # candidates are few
        super().__init__(samples, *args, **kwargs)

    @plain_floats
    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the metrics for a model, each with ``_lower`` and ``_upper``, as fractions."""
        self._require_samples()
        distance = distance_of(self.similarity_fct)
        if distance is not None:
            options, profiles = CountingOptions.checked(distance=distance, ties=self._options.rule, threads=1), []
            for n_positive, query, documents in self._embedded(model):
                opened = options.open(on_host(query, "query")[None], on_host(documents, "documents"))
                grades = {0: dict.fromkeys(range(n_positive), 1)}
                profiles.append(profile_of_judged(opened, grades, [0], range(len(documents)), options))
            profile = TieProfile.joined(profiles)
        else:
            lists = [_marked(sample["positive"], sample["negative"]) for sample in self.samples]
            scores = np.concatenate([self._scored(query, documents) for _, query, documents in self._embedded(model)])
            profile = profile_lists(
                _checked(scores, sum(map(len, lists))), *_joined(lists), ScoreTies.checked(self._options.rule)
            )
        return self._deliver(model, profile, None, output_path, epoch, steps)

    def _embedded(self, model: Any) -> Iterator[tuple[int, Any, Any]]:
        """Yield for each sample the number of positives, the query (dim,), and the candidates, positives first."""
        options = {"show_progress_bar": self.show_progress_bar}
        step = len(self.samples) if self.use_batched_encoding else 1
        for start in range(0, len(self.samples), step):
            some = self.samples[start : start + step]
            documents = [document for sample in some for document in [*sample["positive"], *sample["negative"]]]
            asked = [sample["query"] for sample in some]
            queries = self.embed_inputs(model, asked, encode_fn_name="query", **options)
            rows, at = self.embed_inputs(model, documents, encode_fn_name="document", **options), 0
            for query, sample in zip(queries, some, strict=True):
                n = len(sample["positive"]) + len(sample["negative"])
                yield len(sample["positive"]), query, rows[at : at + n]
                at += n

    def _scored(self, query: Any, documents: Any) -> NDArray[Any]:
        scores = np.asarray(on_host(self.similarity_fct(query, documents), "scores"))
        return scores[0] if scores.ndim > 1 else scores


class _Sample(NamedTuple):
    """The candidates of a query, and whether each is relevant."""

    query: Any
    documents: list[Any]
    relevant: list[bool]
    before: list[bool] | None  # of each candidate in the ranking before, where there is one
    missing: int  # positives that are not among the candidates

    @classmethod
    def of(cls, sample: dict[str, Any], with_all: bool, number: int) -> _Sample:
        """Return the candidates of a sample, as in the original."""
        if not {"query", "positive"} <= sample.keys() or len({"negative", "documents"} & sample.keys()) != 1:
            rule = "must each have a 'query', a 'positive' and either a 'negative' or 'documents'"
            raise InvalidValueError(
                "samples", f"{rule}, but sample {number} has {', '.join(map(repr, sample)) or 'none'}"
            )
        positive = [sample["positive"]] if isinstance(sample["positive"], str) else list(sample["positive"])
        if "negative" in sample:
            negative = [sample["negative"]] if isinstance(sample["negative"], str) else list(sample["negative"])
            documents, relevant, before = [*positive, *negative], _marked(positive, negative), None
            missing = 0
        else:
            given = list(sample["documents"])
            result = [document in positive for document in given]
            n_lacking = sum(document not in given for document in positive)
            others = [document for document in given if document not in positive]
            documents = [*positive, *others] if with_all else given
            relevant = _marked(positive, others) if with_all else result
            before = result + [True] * n_lacking if with_all and any(result) else result
            missing = 0 if with_all else n_lacking
        if not any(relevant):  # nothing to find, and so nothing to score
            documents, relevant = [], []
        return cls(sample["query"], documents, relevant, before, missing)


def _marked(positive: Sequence[Any], negative: Sequence[Any]) -> list[bool]:
    return [True] * len(positive) + [False] * len(negative)


def _profiled(scores: NDArray[Any], lists: list[list[bool]], missing: list[int], ties: ScoreTies = EQUAL) -> TieProfile:
    """Return the profile of lists of candidates; `missing` counts the relevant ones that each list lacks."""
    profile = profile_lists(scores, *_joined(lists), ties)
    return replace(profile, n_relevant=profile.n_relevant + np.array(missing, dtype=np.int64))


def _joined(lists: list[list[bool]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate lists to an array of 0 and 1, and return it with their lengths."""
    marks = [mark for each in lists for mark in each]
    return np.array(marks, dtype=np.int64), np.array(list(map(len, lists)), dtype=np.int64)


def _checked(scores: NDArray[Any], n: int) -> NDArray[Any]:
    """Check scores: one finite number for each of n pairs."""
    if scores.size != n or scores.dtype.kind not in "fiu":
        what = f"{scores.dtype} of shape {scores.shape}"
        raise InvalidTypeError("scores of the model", f"must be one number for each of {n} pairs, but are {what}")
    bad = int(n - np.count_nonzero(np.isfinite(scores)))
    if bad:
        rule = f"must be finite, but {bad} of {n} are not; leave out candidates that are junk"
        raise InvalidValueError("scores of the model", rule)
    return scores.reshape(n)


def _values(report: Report, measures: dict[str, str]) -> dict[str, Any]:
    """Return the values of a report by key, then their bounds."""
    return {key + end: getattr(report[name], which) for end, which in ENDS.items() for key, name in measures.items()}
