"""Metrics whose value is one number: what torchmetrics' wrappers and Lightning's `self.log` need."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torchmetrics = pytest.importorskip(
    "torchmetrics", reason="needs torchmetrics: pip install -r tests/integrations/requirements-all.txt"
)

import torch
from torchmetrics import MetricCollection
from torchmetrics.wrappers import BootStrapper, MetricTracker, MinMaxMetric

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
def test_the_smallest_and_the_largest_value(case: Case) -> None:
    make, epochs = case
    wrapped, known = MinMaxMetric(make(value="lower")), [each["lower"] for each in triples(case)]
    for number, epoch in enumerate(epochs):
        wrapped._base_metric.reset()
        wrapped.update(*epoch)
        values, seen = wrapped.compute(), known[: number + 1]
        assert [values[name].item() for name in ("raw", "min", "max")] == [seen[-1], min(seen), max(seen)]


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


def test_resampled_items() -> None:
    """Of the wrapped metric what its items, drawn by the same numbers, are without a wrapper."""
    make, (epoch, *_) = of_scores()
    wrapped = BootStrapper(make(value="expected"), num_bootstraps=4, raw=True, quantile=0.5)
    torch.manual_seed(3)
    wrapped.update(*epoch)
    torch.manual_seed(3)
    found = wrapped.compute()
    for value in found["raw"]:
        drawn = torch.arange(60).repeat_interleave(torch.distributions.Poisson(1).sample((60,)).long())
        assert value.item() == make()(*(column[drawn] for column in epoch))["mAP"].item()
    assert found["std"] > 0
    assert found["mean"].item() == found["raw"].mean().item()


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


@CASES
def test_plots_of_numbers_are_torchmetrics_own(case: Case) -> None:
    pytest.importorskip("matplotlib")
    make, epochs = case
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


# Lightning ----------------------------------------------------------------------------------------------------------

lightning: Any = pytest.importorskip(
    "lightning", reason="needs lightning: pip install -r tests/integrations/requirements-all.txt"
)


class Embedder(lightning.LightningModule):
    """Logs a metric as Lightning's pages do: the object itself, in `validation_step`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.metric = EmbeddingRetrieval("mAP", distance="euclidean", value="lower")
        sides = {side: EmbeddingRetrieval("mAP", distance="euclidean", value=side) for side in SIDES[1:]}
        self.others = MetricCollection(sides, prefix="val/")
        self.seen: list[float] = []

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        return self.layer(batch[0]).square().mean()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        embeddings = self.layer(batch[0]).round()  # with ties
        self.metric.update(embeddings, *batch[1:])
        self.log("val/lower", self.metric)
        self.others.update(embeddings, *batch[1:])
        self.log_dict(self.others)

    def on_validation_epoch_end(self) -> None:
        if not self.trainer.sanity_checking:
            self.seen.append(self.metric.compute().item())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.2)


@pytest.mark.filterwarnings("ignore::Warning:lightning")
def test_lightning_logs_the_metric_and_keeps_the_best_checkpoint(tmp_path: Path) -> None:
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
    from lightning.pytorch.plugins.environments import LightningEnvironment

    torch.manual_seed(0)
    images, labels = 3 * torch.randn(50, 3), torch.arange(50) % 4
    dataset = torch.utils.data.TensorDataset(images, labels, torch.arange(50))
    loader, module = torch.utils.data.DataLoader(dataset, batch_size=8), Embedder()
    best = ModelCheckpoint(tmp_path, monitor="val/lower", mode="max")
    trainer = lightning.Trainer(
        callbacks=[best, EarlyStopping("val/lower", mode="max", patience=9)], max_epochs=4, accelerator="cpu",
        plugins=[LightningEnvironment()], logger=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(module, loader, loader)
    assert len(set(module.seen)) > 1  # epochs differ
    assert best.best_model_score is not None
    assert best.best_model_score.item() == max(module.seen)
    report = dh.evaluate(module.layer(images).round().detach(), labels, measures="mAP", distance="euclidean")
    logged = {name: value.item() for name, value in trainer.callback_metrics.items()}
    assert logged == {f"val/{side}": getattr(report["mAP"], side) for side in SIDES}  # of the last epoch: it was reset
    assert logged["val/lower"] == module.seen[-1]
    fresh = Embedder()
    fresh.load_state_dict(torch.load(best.best_model_path, weights_only=True)["state_dict"])
    kept = dh.evaluate(fresh.layer(images).round().detach(), labels, measures="mAP", distance="euclidean")
    assert kept["mAP"].lower == max(module.seen)
