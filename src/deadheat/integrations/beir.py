"""BEIR: `EvaluateRetrieval.evaluate` and `evaluate_custom` of its dictionaries, with bounds, under its names.

qrels, results ──copied, without identical ids──> tie profile ──measures──> {"NDCG@10": …, "NDCG@10_lower": …, …}

BEIR need not be installed: its dictionaries are plain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.run import from_run
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports import evaluating
from deadheat.reports.result import ENDS, Result, over_min_of_k_and_relevant
from deadheat.support import checks

Qrels: TypeAlias = Mapping[str, Mapping[str, float]]  # query id -> document id -> grade
Results: TypeAlias = Mapping[str, Mapping[str, float]]  # query id -> document id -> score
Values: TypeAlias = dict[str, float]

_MEASURES = {"NDCG": "nDCG", "MAP": "mAP", "Recall": "Recall", "P": "P"}
_DIGITS = 5  # to which BEIR rounds


def evaluate(
    qrels: Qrels, results: Results, k_values: Sequence[int], ignore_identical_ids: bool = True
) -> tuple[Values, Values, Values, Values]:
    """Return BEIR's four dictionaries: NDCG, MAP, Recall and P at each k, each with its bounds.

    Parameters
    ----------
    qrels : dict of query id to dict of document id to grade
        As in `deadheat.from_run`; grades of 0 and less are irrelevant.
    results : dict of query id to dict of document id to score
        The retrieved documents; the highest score is the best. Neither dictionary is changed.
    k_values : list of int
        Cutoffs.
    ignore_identical_ids : bool
        Whether to exclude the document with the id of the query.

    Returns
    -------
    tuple of four dicts
        By name, ``"NDCG@10"``, ``"MAP@10"``, ``"Recall@10"`` and ``"P@10"``: the exact expectation over all orders of
        tied documents; with the suffix ``"_lower"`` or ``"_upper"``, of the worst or the best order. Fractions,
        rounded to five digits as BEIR does.

    Notes
    -----
    Ties: documents with equal scores tie; BEIR ranks them by their id, descending, after it has rounded scores to
    float32. Its value lies between the bounds if scores are float32 numbers, as those of a model are.

    The mean is over the queries that are in both. One without a relevant document counts 0, as in BEIR.

    A relevant document that is not in `results` counts among the relevant ones and is never found. `results` usually
    hold the best 1000: where a tie extends beyond them, `deadheat.from_neighbors` has the bounds.

    Examples
    --------
    Documents a and b have the same score, and b is relevant:

    >>> ndcg, _map, recall, precision = evaluate({"q": {"b": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}, [1, 10])
    >>> recall
    {'Recall@1': 0.5, 'Recall@10': 1.0, 'Recall@1_lower': 0.0, 'Recall@10_lower': 1.0, 'Recall@1_upper': 1.0,
    'Recall@10_upper': 1.0}
    >>> ndcg["NDCG@10_lower"], ndcg["NDCG@10"], ndcg["NDCG@10_upper"]
    (0.63093, 0.81546, 1.0)
    """
    cutoffs = _cutoffs(k_values)
    counted = profile(qrels, results, ignore_identical_ids=ignore_identical_ids)
    names = [f"{name}@{k}" for name in _MEASURES.values() for k in cutoffs]
    report = evaluating.evaluate(counted, names, singletons="zero")
    ndcg, average_precision, recall, precision = (
        _values(name, {k: report[f"{ours}@{k}"] for k in cutoffs}) for name, ours in _MEASURES.items()
    )
    return ndcg, average_precision, recall, precision


def profile(qrels: Qrels, results: Results, *, ignore_identical_ids: bool = True) -> TieProfile:
    """Return the tie profile behind `evaluate`, of the queries in both dictionaries, for use in `deadheat.evaluate`.

    Parameters and errors are those of `evaluate`.

    Examples
    --------
    >>> import deadheat
    >>> print(deadheat.evaluate(profile({"q": {"b": 1}}, {"q": {"a": 0.5, "b": 0.5, "q": 1.0}}), "MRR"))
    measure (%)  lower  expected   upper
    MRR          50.00     75.00  100.00
    <BLANKLINE>
    1 query, each with a relevant item.
    Ties between relevant and irrelevant items: 1 group in 1 query, of 2 items.
    """
    _require_tables(qrels, results)
    kept = {query: row for query, row in qrels.items() if query in results}
    if not kept:
        counts = f"{len(qrels)} and {len(results)} queries"
        raise InvalidValueError("qrels and results", f"must have a query in common, but have none among {counts}")
    result = {query: results[query] for query in kept}
    return from_run(without_identical_ids(result) if ignore_identical_ids else result, kept).profile


def evaluate_custom(qrels: Qrels, results: Results, k_values: Sequence[int], metric: str) -> Values:
    """Compute BEIR's other measures with their bounds: MRR, R_cap (capped recall), Hole or Accuracy at each k.

    Parameters
    ----------
    qrels, results, k_values
        As in `evaluate`. Every query of `results` must be in `qrels`.
    metric : {"mrr", "recall_cap", "hole", "accuracy"}
        Or another of BEIR's names for one of them, such as ``"top_k_acc"``; case does not matter.

    Returns
    -------
    dict
        ``"MRR@10"``, ``"MRR@10_lower"``, ``"MRR@10_upper"``, and so on, rounded as in `evaluate`.

    Notes
    -----
    The mean is over the queries of the qrels; those without results count 0.

    R_cap divides the number of relevant documents found by min(k, R). Where nothing is relevant BEIR fails, and here
    the query counts 0. Hole is the share of the first k that are not judged for any query.

    Examples
    --------
    >>> evaluate_custom({"q": {"b": 1}}, {"q": {"a": 0.5, "b": 0.5}}, [1], "mrr")
    {'MRR@1': 0.5, 'MRR@1_lower': 0.0, 'MRR@1_upper': 1.0}
    """
    cutoffs = _cutoffs(k_values)
    kind = checks.choice(metric.lower() if isinstance(metric, str) else metric, _KINDS, "metric", _ALIASES)
    _require_tables(qrels, results)
    unknown = next((query for query in results if query not in qrels), None)
    if unknown is not None or not results:
        given = "is empty" if unknown is None else f"has {unknown!r}"
        raise InvalidValueError("results", f"must have queries of the qrels only, but {given}")
    if kind == "hole":  # what is retrieved and not judged for any query
        judged = {document for row in qrels.values() for document in row}
        qrels = {query: {each: 1 for each in results.get(query, {}) if each not in judged} for query in qrels}
    name, ours = _KINDS[kind]
    if kind == "hole" and not any(qrels.values()):
        return {f"{name}@{k}{end}": 0.0 for end in ENDS for k in cutoffs}
    report = evaluating.evaluate(from_run(results, qrels), [f"{ours}@{k}" for k in cutoffs], singletons="zero")
    values = {k: report[f"{ours}@{k}"] for k in cutoffs}
    if kind == "recall_cap":
        values = {k: over_min_of_k_and_relevant(result, k) for k, result in values.items()}
    return _values(name, values)


_KINDS = {
    "mrr": ("MRR", "MRR"), "recall_cap": ("R_cap", "Recall"), "hole": ("Hole", "P"), "accuracy": ("Accuracy", "Hit"),
}  # fmt: skip
_ALIASES = {
    "mrr@k": "mrr", "mrr_cut": "mrr", "r_cap": "recall_cap", "r_cap@k": "recall_cap", "hole@k": "hole",
    "acc": "accuracy", "top_k_acc": "accuracy", "accuracy@k": "accuracy", "top_k_accuracy": "accuracy",
}  # fmt: skip


def without_identical_ids(results: Results) -> dict[str, dict[str, float]]:
    """Copy results without the document that has the id of its query.

    Examples
    --------
    >>> without_identical_ids({"a": {"a": 1.0, "b": 0.5}})
    {'a': {'b': 0.5}}
    """
    return {query: {each: score for each, score in row.items() if each != query} for query, row in results.items()}


def _values(key: str, results: Mapping[int, Result]) -> Values:
    return {
        f"{key}@{k}{end}": round(getattr(result, which), _DIGITS)
        for end, which in ENDS.items()
        for k, result in results.items()
    }


def _cutoffs(k_values: Any) -> list[int]:
    if isinstance(k_values, str) or not isinstance(k_values, Iterable):
        raise InvalidTypeError("k_values", f"must be a list of cutoffs, but is {k_values!r}")
    cutoffs = [checks.positive_integer(k, "k_values") for k in k_values]
    if not cutoffs:
        raise InvalidValueError("k_values", "must hold at least one cutoff, but is empty")
    return cutoffs


def _require_tables(qrels: Any, results: Any) -> None:
    for name, table in (("qrels", qrels), ("results", results)):
        if not isinstance(table, Mapping) or not all(isinstance(row, Mapping) for row in table.values()):
            raise InvalidTypeError(name, f"must be a dictionary of dictionaries, but is {type(table).__name__}")
