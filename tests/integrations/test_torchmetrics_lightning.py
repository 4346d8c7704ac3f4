"""The callback for Lightning of the page: logs what one evaluation says, and is silent in the sanity check."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torchmetrics", reason="needs torchmetrics: pip install -r tests/integrations/requirements-all.txt")
lightning = pytest.importorskip(
    "lightning", reason="needs lightning: pip install -r tests/integrations/requirements-all.txt"
)

import torch
from lightning.pytorch.plugins.environments import LightningEnvironment

import deadheat as dh
from deadheat.integrations.torchmetrics import EmbeddingRetrieval

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "torchmetrics.md"
pytestmark = pytest.mark.filterwarnings("ignore::Warning:lightning")


def callback() -> Any:
    """The class that the page shows."""
    examples = doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"lightning": lightning}
    exec(next(example.source for example in examples if example.source.startswith("class Evaluation")), names)
    return names["Evaluation"]


class Counting(EmbeddingRetrieval):
    n_computed = 0

    def compute(self) -> dict[str, torch.Tensor]:
        Counting.n_computed += 1
        return super().compute()


class Embedder(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        return self.layer(batch[0]).square().mean()

    def validation_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        return self.layer(batch[0]).round()  # with ties

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def test_each_epoch_is_logged_and_the_sanity_check_is_not() -> None:
    torch.manual_seed(0)
    images, labels = 3 * torch.randn(50, 3), torch.arange(50) % 4
    dataset = torch.utils.data.TensorDataset(images, labels, torch.arange(50))
    loader = torch.utils.data.DataLoader(dataset, batch_size=8)
    metric, module = Counting("mAP", distance="euclidean"), Embedder()
    trainer = lightning.Trainer(
        callbacks=[callback()(metric)], max_epochs=2, accelerator="cpu", plugins=[LightningEnvironment()],
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(module, loader, loader)
    assert Counting.n_computed == 2
    with torch.no_grad():
        report = dh.evaluate(module.layer(images).round(), labels, measures="mAP", distance="euclidean")
    logged = {name: value.item() for name, value in trainer.callback_metrics.items()}
    assert logged["val/mAP_lower"] < logged["val/mAP_upper"]
    assert logged == pytest.approx({
        "val/mAP": report["mAP"].expected, "val/mAP_lower": report["mAP"].lower, "val/mAP_upper": report["mAP"].upper
    }, abs=1e-7)  # fmt: skip
