"""A score of what is junk may be -inf, +inf or NaN, wherever scores are given; any other is refused, in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh

Values = tuple[float, float, float]
JUNK, RELEVANT = np.array([False, False, True, False]), np.array([True, False, False, False])


def bounds(task: dh.Task) -> Values:
    result = dh.evaluate(task, "MRR")["MRR"]
    return result.lower, result.expected, result.upper


def of_scores(row: Any, junk: Any, **how: Any) -> Values:
    return bounds(dh.from_scores(row[None], RELEVANT[None], junk=junk, **how))


def of_links(row: Any, junk: Any, **how: Any) -> Values:
    return bounds(
        dh.from_candidates(row[None, 1:], positive_scores=row[:1], junk=None if junk is None else junk[1:], **how)
    )


def of_shared_links(row: Any, junk: Any, **how: Any) -> Values:
    return bounds(dh.from_candidates(row[1:], positive_scores=row[:1], junk=None if junk is None else junk[1:], **how))


def of_candidates(row: Any, junk: Any, **how: Any) -> Values:
    return bounds(dh.from_candidates(row[None], positive_columns=[0], junk=junk, **how))


def of_neighbors(row: Any, junk: Any) -> Values:
    ids = np.where(np.zeros(4, dtype=bool) if junk is None else junk, -1, np.arange(4))
    best = np.argsort(-np.nan_to_num(row), kind="stable")
    return bounds(dh.from_neighbors(ids[None, best], row[None, best], relevant=[{0}], n_gallery=4, cut_ties=False))


def of_a_run(row: Any, junk: Any, **how: Any) -> Values:
    listed = {f"d{d}": float(score) for d, score in enumerate(row) if junk is None or not junk[d]}
    return bounds(dh.from_run({"q": listed}, {"q": {"d0": 1}}, **how))


def of_torchmetrics(row: Any, junk: Any, **how: Any) -> Values:
    import torch

    from deadheat.integrations.torchmetrics import ScoredRetrieval

    target = torch.tensor(np.where(False if junk is None else junk, -1, RELEVANT))
    metric = ScoredRetrieval("MRR", ignore_index=-1, **how)
    metric.update(torch.tensor(row), target.long(), torch.zeros(4, dtype=torch.long))
    result = {name: value.item() for name, value in metric.compute().items()}
    return result["MRR_lower"], result["MRR"], result["MRR_upper"]


def of_a_reranker(row: Any, junk: Any, **how: Any) -> Values:
    from deadheat.integrations.sentence_transformers_reranking import TieAwareCrossEncoderRerankingEvaluator

    kept = [d for d in range(1, 4) if junk is None or not junk[d]]
    sample = {"query": "q", "positive": ["d0"], "negative": [f"d{d}" for d in kept]}
    model = Mock(predict=lambda pairs, **options: np.array([row[int(document[1:])] for _, document in pairs]))
    result = TieAwareCrossEncoderRerankingEvaluator([sample], **how)(model)
    return result["mrr@10_lower"], result["mrr@10"], result["mrr@10_upper"]


theirs = pytest.mark.filterwarnings("ignore::DeprecationWarning")
OWN = {
    "scores": (of_scores, r"^scores must be finite, but holds \S+ in row 0, column 2; to leave an item out, use junk$"),
    "links": (
        of_links,
        r"^scores must be finite, but holds \S+ in row 0, column 1; to leave an item out, use junk$",
    ),
    "links of all": (of_shared_links, r"^scores must be finite, .* column 1; to leave an item out, use junk$"),
    "candidates": (of_candidates, r"^scores must be finite, .* row 0, column 2; to leave an item out, use junk$"),
    "a run": (
        of_a_run,
        r"^run, query 'q', document 'd2': score must be finite, .*; leave out documents that are junk$",
    ),
}
CASES = [
    *(pytest.param(*case, id=name) for name, case in OWN.items()),
    pytest.param(of_torchmetrics, r"^`preds` must be finite, but holds \S+; to leave an item out, use ignore_index$",
                 id="torchmetrics", marks=needs("torchmetrics")),
    pytest.param(of_a_reranker, "^scores of the model must be finite, but 1 of 4 are not; leave out candidates",
                 id="reranker", marks=[needs("sentence_transformers"), theirs]),
]  # fmt: skip


HALF, THIRD = (0.5, 0.75, 1.0), (1 / 3, np.nan, 1.0)


@pytest.mark.parametrize("odd", [-np.inf, np.inf, np.nan])
@pytest.mark.parametrize(("evaluated", "message"), CASES)
@pytest.mark.parametrize(("ties", "expected"), [("exact", HALF), ("float16", HALF), (dh.Tolerance(0.25), THIRD)])
def test_what_is_junk_may_have_any_score(
    evaluated: Callable[..., Values], message: str, odd: float, ties: Any, expected: Values
) -> None:
    """As the mask of a recommender, or the padding of a batch; the same value as without the item."""
    row = np.array([0.5, 0.5, odd, 0.25])
    np.testing.assert_array_equal(evaluated(row, JUNK, ties=ties), expected)
    with pytest.raises(ValueError, match=message):
        evaluated(row, None, ties=ties)


def test_what_an_index_did_not_return_may_have_any_score() -> None:
    for odd in (-np.inf, np.inf, np.nan):
        assert of_neighbors(np.array([0.5, 0.5, odd, 0.25]), JUNK) == (0.5, 0.75, 1)
