"""Model cards: what huggingface_hub writes from a report, and reads back, has its values, interval and receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from integrations.needs import require

require("huggingface_hub")

import yaml
from huggingface_hub import EvalResultEntry, ModelCard, ModelCardData, eval_result_entries_to_yaml
from huggingface_hub.repocard_data import model_index_to_eval_results

import deadheat as dh
from deadheat.errors import InvalidTypeError, InvalidValueError, UndefinedError
from deadheat.integrations.huggingface_hub import eval_result, model_index

TASK = dh.Task([[0], [1], [-1], [4], [9], [3]], ["a", "a", "b", "b", "c", "a"], distance="euclidean")
REPORT = dh.evaluate(TASK, "mAP, Hit@1")
ABOUT = {"task_type": "feature-extraction", "dataset_type": "me/toy", "dataset_name": "Toy", "dataset_split": "test"}
ENTRY = {"dataset_id": "me/toy", "task_id": "default"}
TOLERANCE = dh.evaluate(TASK.replace(ties=dh.Tolerance(0.5)), "mAP")


def test_a_model_card_has_every_value_after_a_round_trip(tmp_path: Path) -> None:
    receipt = dh.receipt(TASK, measures="mAP, Hit@1")
    data = ModelCardData(model_name="mine", eval_results=model_index(REPORT, receipt=receipt, **ABOUT))
    ModelCard(f"---\n{data.to_yaml()}\n---\n\n# mine\n").save(tmp_path / "README.md")
    loaded = ModelCard.load(tmp_path / "README.md").data
    name, results = model_index_to_eval_results(loaded.to_dict()["model-index"])
    assert name == "mine"
    assert {result.metric_type: result.metric_value for result in results} == REPORT.scalars()
    ends = [(measure, end) for measure in REPORT for end in ("lower", "expected", "upper")]
    for result, (measure, end) in zip(results, ends, strict=True):
        interval = REPORT.interval(measure)
        assert result.metric_args["interval"] == list(getattr(interval, end))
        assert (result.metric_args["unit"], result.metric_args["n"]) == (interval.unit, interval.n)
        assert result.metric_args["receipt"] == receipt.content["receipt"]
        assert (result.dataset_type, result.dataset_split) == ("me/toy", "test")


def test_an_entry_of_eval_results() -> None:
    receipt = dh.receipt(TASK, measures="mAP")
    entry = eval_result(REPORT, "AP", receipt=receipt, date="2026-01-01", **ENTRY)
    assert isinstance(entry, EvalResultEntry)
    (content,) = yaml.safe_load(yaml.dump(eval_result_entries_to_yaml([entry])))
    assert content["value"] == REPORT["mAP"].lower
    assert content["dataset"] == {"id": "me/toy", "task_id": "default"}
    notes = content["notes"].split("; ")
    assert notes[0] == f"{REPORT['mAP'].summary()}, lower bound"
    assert notes[1].endswith(f": {REPORT.interval('mAP').outer.shown()} %")
    assert notes[-1] == f"receipt sha256:{receipt.content['receipt']}"
    assert any(note.startswith("Only 2 classes") for note in notes)
    assert eval_result(REPORT, "mAP", value="upper", **ENTRY).value == REPORT["mAP"].upper


def test_an_undefined_value_is_not_published() -> None:
    kinds = [each.metric_type for each in model_index(TOLERANCE, **ABOUT)]
    assert kinds == ["mAP_lower", "mAP_upper"]
    with pytest.raises(UndefinedError, match="mAP has no expected value"):
        eval_result(TOLERANCE, "mAP", value="expected", **ENTRY)


@pytest.mark.parametrize(
    ("receipt", "error", "message"),
    [
        (dh.receipt(TASK.replace(distance="cosine")), InvalidValueError, "receipt must be that of the report"),
        (dh.Receipt(dict(dh.receipt(TASK).content) | {"queries": {}}), InvalidValueError, "was changed"),
        ("abc", InvalidTypeError, "receipt must be a receipt"),
    ],
)
def test_a_receipt_that_is_refused(receipt: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model_index(REPORT, receipt=receipt, **ABOUT)


def test_a_value_that_is_refused() -> None:
    with pytest.raises(ValueError, match="value must be one of lower, expected, upper"):
        eval_result(REPORT, "mAP", value="mean", **ENTRY)
