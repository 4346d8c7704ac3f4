"""Metrics whose value is one number: what torchmetrics' wrappers need."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from integrations.needs import require

require("torchmetrics")

import torch
from torchmetrics import MetricCollection
from torchmetrics.wrappers import MetricTracker

import deadheat as dh
from deadheat.integrations.torchmetrics import EmbeddingRetrieval, ScoredRetrieval

SIDES = ("lower", "expected", "upper")
Case = tuple[Callable[..., Any], list[tuple[torch.Tensor, ...]]]


def of_scores() -> Case:
    """Scores of ten queries with ties, in three batches of whole epochs."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randint(1, 4, (3, 60), generator=generator) / 4
    target, indexes = torch.arange(60) % 6 == 0, torch.arange(60) // 6
    return lambda **options: ScoredRetrieval("mAP", **options), [(epoch, target, indexes) for epoch in scores]


def of_embeddings() -> Case:
    """Points on a small grid, three times."""
    generator = torch.Generator().manual_seed(1)
    points = torch.randint(0, 3, (3, 60, 2), generator=generator).float()
    return lambda **options: EmbeddingRetrieval("mAP", distance="euclidean", **options), [
        (epoch, torch.arange(60) % 4) for epoch in points
    ]


CASES = pytest.mark.parametrize("case", [of_scores(), of_embeddings()], ids=["scores", "embeddings"])


def triples(case: Case) -> list[dict[str, float]]:
    """Lower, expected and upper value of each epoch, by the metric whose value is all three."""
    make, epochs = case
    found = [make()(*epoch) for epoch in epochs]
    keys = {"lower": "mAP_lower", "expected": "mAP", "upper": "mAP_upper"}
    values = [{side: each[key].item() for side, key in keys.items()} for each in found]
    assert all(each["lower"] < each["expected"] < each["upper"] for each in values)
    return values


@CASES
@pytest.mark.parametrize("side", SIDES)
def test_the_value_is_one_of_the_three(case: Case, side: str) -> None:
    make, epochs = case
    for epoch, known in zip(epochs, triples(case), strict=True):
        metric = make(value=side)
        step = metric(*epoch)
        assert (step.shape, step.dtype) == ((), torch.float64)
        assert step.item() == metric.compute().item() == getattr(metric.report()["mAP"], side) == known[side]


@CASES
def test_the_best_epoch(case: Case) -> None:
    make, epochs = case
    known = triples(case)
    single = MetricTracker(make(value="lower"))
    several = MetricTracker(MetricCollection({side: make(value=side) for side in SIDES}))
    for epoch in epochs:
        for tracker in (single, several):
            tracker.increment()
            tracker.update(*epoch)
    best = max(range(3), key=lambda number: known[number]["lower"])
    assert single.best_metric(return_step=True) == (known[best]["lower"], best)
    assert several.best_metric() == {side: max(each[side] for each in known) for side in SIDES}
    assert single.compute_all().tolist() == [each["lower"] for each in known]


@CASES
def test_arithmetic_of_metrics(case: Case) -> None:
    make, epochs = case
    known = triples(case)[0]
    width = make(value="upper") - make(value="lower")
    twice = make(value="expected") * 2
    for metric in (width, twice):
        metric.update(*epochs[0])
    assert width.compute().item() == known["upper"] - known["lower"]
    assert twice.compute().item() == twice(*epochs[0]).item() == 2 * known["expected"]


@CASES
def test_a_collection_counts_rows_once_and_names_each_side(case: Case) -> None:
    make, epochs = case
    collection = MetricCollection({side: make(value=side) for side in SIDES}, prefix="val/")
    for epoch, known in zip(epochs, triples(case), strict=True):
        collection.update(*epoch)
        assert len(collection.compute_groups) == 1
        assert {name: value.item() for name, value in collection.compute().items()} == {
            f"val/{side}": value for side, value in known.items()
        }
        collection.reset()


def test_without_a_query_the_number_is_nan() -> None:
    batch = torch.tensor([1.0, 2.0]), torch.tensor([0, 0]), torch.tensor([0, 1])
    for action, value in (("skip", "nan"), ("neg", "0.0")):
        metric = ScoredRetrieval("mAP", value="lower", empty_target_action=action)
        metric.update(*batch)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert str(metric.compute().item()) == value
        assert any("every measure is NaN" in str(warning.message) for warning in caught) == (action == "skip")


def test_plots_of_numbers_are_torchmetrics_own() -> None:
    pytest.importorskip("matplotlib")
    make, epochs = of_scores()
    metric = make(value="lower")
    steps = [metric(*epoch) for epoch in epochs]
    _, ax = metric.plot(steps)
    assert [line.get_ydata().tolist() for line in ax.get_lines()][:1] == [[step.item() for step in steps]]


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: ScoredRetrieval("mAP", value="mean"), "value must be one of lower, expected, upper, but is 'mean'"),
        (lambda: ScoredRetrieval("mAP, MRR", value="lower"), "value must be left out for several measures"),
        (lambda: EmbeddingRetrieval(value="lower"), "value must be left out for several measures"),
        (
            lambda: EmbeddingRetrieval("mAP", ties=dh.Tolerance(0.1), value="expected"),
            "value must be lower or upper under a tolerance",
        ),
    ],
)
def test_refused(make: Any, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        make()
