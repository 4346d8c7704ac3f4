"""The adapters of `python -m benchmarks.evaluators`, on a small version of the table in docs/who-can-be-hacked.md."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from benchmarks.evaluators.adapters import ADAPTERS
from benchmarks.evaluators.audit import EvaluatorAudit, audit_evaluator

pytestmark = pytest.mark.slow  # they import other libraries
PAGE = Path(__file__).parents[3] / "docs" / "who-can-be-hacked.md"
INSTALLED = [name for name, row in ADAPTERS.items() if row.version is not None]
CLASSES, SIZE = 5, 6

# Of a tie, by the libraries' own documentation or as measured; what is not here depends on how some sort is made.
BY_PLACE = ("pytorch-metric-learning:map", "sentence-transformers:map", "ir_measures:map", "pytrec_eval:map")
INVARIANT = {
    "deadheat:map": "lower bound",
    "deadheat:map-expected": "expectation",
    "tie-aware-retrieval-metrics:map": "expectation",
    "tie-aware-retrieval-metrics:map-minimum": "lower bound",
    "torchmetrics:ndcg": "expectation",
    "scikit-learn:ndcg": "expectation",
    "scikit-learn:roc_auc": "expectation",
    "scikit-learn:average_precision": "neither bound nor expectation",
    "copairs:map": "neither bound nor expectation",  # the upper one, but for similarities rounded to float32
    "pykeen:mrr": "neither bound nor expectation",
    "pykeen:mrr-optimistic": "upper bound",
    "pykeen:mrr-pessimistic": "lower bound",
    "pykeen:hits@10": "neither bound nor expectation",
    "ogb:mrr": "neither bound nor expectation",
    "ogb:hits@10": "neither bound nor expectation",
    "ogb:hits@20": "lower bound",
    "tgb:mrr": "neither bound nor expectation",
}
MEASURES = {
    "map_at_r": "MAP@R", "ndcg": "nDCG", "roc_auc": "AUC", "mrr": "MRR", "mrr-optimistic": "MRR",
    "mrr-pessimistic": "MRR", "mrr@10": "MRR@10", "hits@10": "Hit@10", "hits@20": "Hit@20",
}  # fmt: skip


@cache
def audit(name: str) -> EvaluatorAudit:
    row = ADAPTERS[name]
    return audit_evaluator(row.fn, form=row.form, name=name, n_classes=CLASSES, class_size=SIZE)


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.filterwarnings("ignore")
def test_an_adapter_computes_what_it_says(name: str) -> None:
    result = audit(name)
    wanted = MEASURES.get(name.partition(":")[2], "mAP")
    assert [each.partition(",")[0] for each in result.definitions][:1] == [wanted]
    assert "error" not in [each.name for each in result.findings if each.severity == "serious"]
    if name in INVARIANT:
        assert result.ties == INVARIANT[name]
    else:
        assert result.ties == "by order"
        assert not result.passes()
    inside = [
        each.truth.lower - 1e-6 <= each.value <= each.truth.upper + 1e-6 for each in result.empty.by_order.values()
    ]
    assert all(inside)


@pytest.mark.parametrize("name", [name for name in BY_PLACE if name in INSTALLED])
@pytest.mark.filterwarnings("ignore")
def test_sorting_by_place_or_id_is_worth_what_exploit_says(name: str) -> None:
    extremes = dh.exploit(dh.Task(np.zeros((CLASSES * SIZE, 1)), np.repeat(np.arange(CLASSES), SIZE)))
    values = {order: each.value for order, each in audit(name).empty.by_order.items()}
    assert values["sorted by class"] == pytest.approx(extremes.highest.value, abs=1e-6)
    assert values["interleaved"] == pytest.approx(extremes.lowest.value, abs=1e-6)


def test_the_page_has_every_adapter_its_call_and_its_use() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for row in ADAPTERS.values():
        rows = 3 if row.name == "mteb:mrr@10" else 2  # before and after
        assert len(re.findall(rf"^\| {re.escape(row.name)} ", text, flags=re.MULTILINE)) == rows, row.name
        assert f"`{row.called}`" in text, row.name
        assert row.use in text, row.name
