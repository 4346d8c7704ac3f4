"""Metrics whose value is one number: what torchmetrics' wrappers need."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import pytest
from integrations.needs import require

require("torchmetrics")

import torch
from torchmetrics import MetricCollection
from torchmetrics.wrappers import MetricTracker

from deadheat.integrations.torchmetrics import EmbeddingRetrieval, ScoredRetrieval

KEYS = {"lower": "mAP_lower", "expected": "mAP", "upper": "mAP_upper"}
RNG, NUMBERS = torch.Generator().manual_seed(0), torch.arange(60)
CASES: dict[str, Any] = {  # a metric, and three epochs full of ties
    "scores": (
        partial(ScoredRetrieval, "mAP"),
        [(torch.randint(1, 4, (60,), generator=RNG) / 4, NUMBERS % 6 == 0, NUMBERS // 6) for _ in range(3)],
    ),
    "embeddings": (
        partial(EmbeddingRetrieval, "mAP", distance="euclidean"),
        [(torch.randint(0, 3, (60, 2), generator=RNG).float(), NUMBERS % 4) for _ in range(3)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_value_alone_and_in_wrappers(name: str) -> None:
    make, epochs = CASES[name]
    sides: dict[str, Any] = {side: make(value=side) for side in KEYS}
    collection = MetricCollection({side: make(value=side) for side in KEYS}, prefix="val/")
    single = MetricTracker(make(value="lower"))
    several = MetricTracker(MetricCollection({side: make(value=side) for side in KEYS}))
    known = []
    for epoch in epochs:
        triple = make()(*epoch)
        known.append({side: triple[key].item() for side, key in KEYS.items()})
        assert known[-1]["lower"] < known[-1]["expected"] < known[-1]["upper"]
        for side, metric in sides.items():
            metric.reset()
            step = metric(*epoch)
            assert (step.shape, step.dtype) == ((), torch.float64)
            result = step.item(), metric.compute().item(), getattr(metric.report()["mAP"], side)
            assert result == (known[-1][side],) * 3
        collection.reset()
        collection.update(*epoch)
        assert len(collection.compute_groups) == 1  # rows are kept once
        assert {key: value.item() for key, value in collection.compute().items()} == {
            f"val/{side}": value for side, value in known[-1].items()
        }
        for tracker in (single, several):
            tracker.increment()
            tracker.update(*epoch)
    best = max(range(3), key=lambda number: known[number]["lower"])
    assert single.best_metric(return_step=True) == (known[best]["lower"], best)
    assert several.best_metric() == {side: max(each[side] for each in known) for side in KEYS}
    assert single.compute_all().tolist() == [each["lower"] for each in known]
    width, twice = make(value="upper") - make(value="lower"), make(value="expected") * 2
    for metric in (width, twice):
        metric.update(*epochs[0])
    assert width.compute().item() == known[0]["upper"] - known[0]["lower"]
    assert twice.compute().item() == twice(*epochs[0]).item() == 2 * known[0]["expected"]


@pytest.mark.parametrize(("action", "value"), [("skip", "nan"), ("neg", "0.0")])
def test_without_a_query_the_number_is_nan(action: str, value: str) -> None:
    metric = ScoredRetrieval("mAP", value="lower", empty_target_action=action)
    metric.update(torch.tensor([1.0, 2.0]), torch.tensor([0, 0]), torch.tensor([0, 1]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert str(metric.compute().item()) == value
    assert any("every measure is NaN" in str(warning.message) for warning in caught) == (action == "skip")
    with pytest.raises(ValueError, match="value must be left out for several measures"):
        ScoredRetrieval("mAP, MRR", value="lower")


def test_plots_of_numbers_are_torchmetrics_own() -> None:
    pytest.importorskip("matplotlib")
    make, epochs = CASES["scores"]
    metric = make(value="lower")
    steps = [metric(*epoch) for epoch in epochs]
    _, ax = metric.plot(steps)
    assert [line.get_ydata().tolist() for line in ax.get_lines()][:1] == [[step.item() for step in steps]]
