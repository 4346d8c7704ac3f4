"""Evaluators that rank one positive among candidates, on stand-ins that compute the rule which each library publishes.

The rules were read in MTEB 2.18.18 and 2.26.24, BEIR 2.2.0, PyKEEN 1.11.1, OGB 1.3.6 and TGB 2.3.0, from which the rows
of docs/who-can-be-hacked.md come; those that are installed are audited by test_adapters.py.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from benchmarks.evaluators import cases
from benchmarks.evaluators.adapters import ADAPTERS
from benchmarks.evaluators.audit import EvaluatorAudit, audit_evaluator

PAGE = Path(__file__).parents[3] / "docs" / "who-can-be-hacked.md"


def first_and_last(positives: Any, others: Any) -> tuple[Any, Any]:
    """The optimistic and the pessimistic rank of each positive."""
    better, no_worse = others > positives[:, None], others >= positives[:, None]
    return better.sum(1) + 1, no_worse.sum(1) + 1


def sorted_rank(by_id: bool) -> Any:
    """MRR@k of the sorted items: by score alone, which keeps the order of equal ones, or by score and id."""

    def mrr(qrels: Any, results: Any, k_values: list[int]) -> dict[str, Any]:
        values = []
        for query, scores in results.items():
            items = sorted(scores.items(), key=lambda item: (item[1], item[0]) if by_id else item[1], reverse=True)
            hits = [1 / (rank + 1) for rank, (item, _) in enumerate(items[: k_values[0]]) if item in qrels[query]]
            values.append(hits[0] if hits else 0.0)
        return {f"MRR@{k_values[0]}": values}

    return mrr


def rounded_mean(qrels: Any, results: Any, k_values: list[int]) -> dict[str, float]:
    """The same as BEIR has it: a mean of five decimals."""
    return {name: round(float(np.mean(each)), 5) for name, each in sorted_rank(False)(qrels, results, k_values).items()}


class OGB:
    def __init__(self, name: str) -> None:
        self.shared = {"ogbl-wikikg2": None, "ogbl-ddi": 20}[name]

    def eval(self, given: dict[str, Any]) -> dict[str, Any]:
        """Shared negatives: those whose score is above that of the 20th. Own negatives: the mean rank."""
        positives, others = given["y_pred_pos"].numpy(), given["y_pred_neg"].numpy()
        if self.shared is not None:
            assert others.ndim == 1
            return {"hits@20": float(np.mean(positives > np.sort(others)[-self.shared]))}
        rank = np.mean(first_and_last(positives, others), axis=0)
        return {"mrr_list": 1 / rank, "hits@10_list": rank <= 10}


class TGB:
    def __init__(self, name: str) -> None:
        assert name == "tgbl-wiki"

    def eval(self, given: dict[str, Any]) -> dict[str, Any]:
        """1 / the mean rank, as OGB."""
        rank = np.mean(first_and_last(given["y_pred_pos"], given["y_pred_neg"]), axis=0)
        return {name: np.mean(1 / rank) for name in given["eval_metric"]}


class PyKEEN:
    def process_scores_(self, batch: None, target: str, scores: Any, true_scores: Any) -> None:
        """Scores hold the positive too."""
        first, last = first_and_last(true_scores.numpy()[:, 0], scores.numpy())
        self.ranks = {"optimistic": first, "pessimistic": last - 1, "realistic": (first + last - 1) / 2}

    def finalize(self) -> PyKEEN:
        return self

    def get_metric(self, name: str) -> float:
        both, kind, metric = name.split(".")
        assert both == "both"
        return float(np.mean(1 / self.ranks[kind] if metric == "mrr" else self.ranks[kind] <= 10))


STAND_INS = {
    "mteb._evaluators.retrieval_metrics": SimpleNamespace(mrr=sorted_rank(by_id=True)),
    "beir.retrieval.custom_metrics": SimpleNamespace(mrr=rounded_mean),
    "ogb.linkproppred": SimpleNamespace(Evaluator=OGB),
    "tgb.linkproppred.evaluate": SimpleNamespace(Evaluator=TGB),
    "pykeen.evaluation": SimpleNamespace(RankBasedEvaluator=PyKEEN),
}
BEFORE = "mteb._evaluators.retrieval_metrics", SimpleNamespace(mrr=sorted_rank(by_id=False))  # MTEB to 2.18.18
COUNTED = {
    "mteb:mrr@10": ("MRR@10", "by order"),
    "beir:mrr@10": ("MRR@10", "by order"),
    "pykeen:mrr": ("MRR", "neither bound nor expectation"),
    "pykeen:mrr-optimistic": ("MRR", "upper bound"),
    "pykeen:mrr-pessimistic": ("MRR", "lower bound"),
    "pykeen:hits@10": ("Hit@10", "neither bound nor expectation"),
    "ogb:mrr": ("MRR", "neither bound nor expectation"),
    "ogb:hits@10": ("Hit@10", "neither bound nor expectation"),
    "ogb:hits@20": ("Hit@20", "lower bound"),
    "tgb:mrr": ("MRR", "neither bound nor expectation"),
}


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    for name, module in STAND_INS.items():
        monkeypatch.setitem(sys.modules, name, module)


def audit(name: str) -> EvaluatorAudit:
    return audit_evaluator(ADAPTERS[name].fn, form="candidates", name=name, n_classes=5, class_size=6)


@pytest.mark.parametrize("name", COUNTED)
def test_what_ties_count_as(name: str) -> None:
    result = audit(name)
    assert (result.definitions, result.ties) == ((f"{COUNTED[name][0]}, the highest score first",), COUNTED[name][1])
    by_order = {"sample order", "empty system", "sample order with ties", "place in the list"}
    serious = {"by order": by_order, "upper bound": {"empty system"}}.get(result.ties, set())
    assert {each.name for each in result.of("serious")} == serious


def test_every_evaluator_of_one_positive_has_a_stand_in() -> None:
    assert set(COUNTED) == {name for name, row in ADAPTERS.items() if row.form == "candidates"}


def test_a_mean_rank_is_named_by_more_than_a_system_that_knows_nothing() -> None:
    """If everything ties, the mean rank misses the cutoff, as the last rank does: Hits@10 is 0, the lower bound."""
    result = audit("ogb:hits@10")
    assert result.empty.highest.value == result.truth.lower == 0
    assert result.empty.few_levels.truth is not None
    assert result.empty.few_levels.value > result.empty.few_levels.truth.lower


def test_which_place_in_the_list_a_constant_scorer_profits_from(monkeypatch: pytest.MonkeyPatch) -> None:
    def places() -> tuple[float, float]:
        given = (cases.same_relevant(50, 1, first=first) for first in (True, False))
        return tuple(ADAPTERS["mteb:mrr@10"].fn(case.first, case.second) for case in given)  # type: ignore[return-value]

    assert places() == (0, 1)  # by id, descending: the last id of the list is first among equals
    monkeypatch.setitem(sys.modules, *BEFORE)
    assert places() == (1, 0)  # the order of the file: issue 5092


def page_rows(name: str) -> list[list[str]]:
    """The cells of the rows of an evaluator in the first table."""
    lines = re.findall(rf"^\| {re.escape(name)} .*$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if len(row) > 5]


def values(name: str) -> list[str]:
    """Return what a random system has in the orders of the table, per cent."""
    labels, maker = np.repeat(np.arange(10), 100), cases.MAKERS["candidates"]
    orders = cases.orders(labels, 0, 0)
    shown = ["sorted by class", "half sorted", "half sorted, reversed", "interleaved"]
    given = [maker.case(order, maker.empty(labels), labels, orders[order]) for order in shown]
    return [f"{100 * ADAPTERS[name].fn(case.first, case.second):.2f}" for case in given]


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
def test_the_page_has_the_values_of_each(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = page_rows(name)
    if name == "mteb:mrr@10":
        before, *rows = rows
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, *BEFORE)
            assert before[7:11] == values(name)
    (row,) = rows
    assert row[7:11] == values(name)
    measure, counted = COUNTED[name]
    result = dh.evaluate(dh.from_ranks([1], [999], 999), measure)[measure]
    lower, expected, upper = (f"{100 * end:.2f}" for end in (result.lower, result.expected, result.upper))
    assert [row[1], *row[3:5]] == [counted, expected, f"[{lower}, {upper}]"]
