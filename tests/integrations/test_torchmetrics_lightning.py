"""Lightning: a metric that is logged as an object, and the callback of the page, say what one evaluation says."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
from integrations.needs import require

require("torchmetrics", "lightning")

import lightning
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.plugins.environments import LightningEnvironment
from torchmetrics import MetricCollection

import deadheat as dh
from deadheat.integrations.torchmetrics import EmbeddingRetrieval
from deadheat.support.triple import Triple

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "lightning.md"


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
    """Logs metrics of one number as Lightning's pages do: the objects themselves, in `validation_step`."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        sides = {side: EmbeddingRetrieval("mAP", distance="euclidean", value=side) for side in Triple._fields}
        self.metric, self.others = sides.pop("lower"), MetricCollection(sides, prefix="val/")
        self.seen: list[float] = []

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        return self.layer(batch[0]).square().mean()

    def validation_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        embeddings = self.layer(batch[0]).round()  # with ties
        self.metric.update(embeddings, *batch[1:])
        self.log("val/lower", self.metric)
        self.others.update(embeddings, *batch[1:])
        self.log_dict(self.others)
        return embeddings

    def on_validation_epoch_end(self) -> None:
        if not self.trainer.sanity_checking:
            self.seen.append(self.metric.compute().item())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


@pytest.mark.filterwarnings("ignore::Warning:lightning")
def test_each_epoch_is_logged_and_the_best_checkpoint_kept(tmp_path: Path) -> None:
    torch.manual_seed(0)
    images, labels = 3 * torch.randn(50, 3), torch.arange(50) % 4
    dataset = torch.utils.data.TensorDataset(images, labels, torch.arange(50))
    loader, module = torch.utils.data.DataLoader(dataset, batch_size=8), Embedder()
    best = ModelCheckpoint(tmp_path, monitor="val/lower", mode="max")
    stopping = EarlyStopping("val/lower", mode="max", patience=9)
    trainer = lightning.Trainer(
        callbacks=[best, stopping, callback()(Counting("mAP", distance="euclidean"))], max_epochs=4, accelerator="cpu",
        plugins=[LightningEnvironment()], logger=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(module, loader, loader)
    assert Counting.n_computed == 4  # not in the sanity check
    assert len(set(module.seen)) > 1  # epochs differ
    assert best.best_model_score is not None
    assert best.best_model_score.item() == max(module.seen)

    def evaluated(some: Embedder) -> Any:
        rows = some.layer(images).round().detach()
        return dh.evaluate(rows, labels, measures="mAP", distance="euclidean")["mAP"]

    last = evaluated(module)
    assert last.lower < last.upper
    logged = {name: value.item() for name, value in trainer.callback_metrics.items()}
    by_callback = {name: logged.pop(name) for name in ("val/mAP_lower", "val/mAP", "val/mAP_upper")}
    assert logged == {f"val/{side}": getattr(last, side) for side in Triple._fields}  # of the last epoch: it was reset
    assert [*by_callback.values()] == pytest.approx([last.lower, last.expected, last.upper], abs=1e-7)
    fresh = Embedder()
    fresh.load_state_dict(torch.load(best.best_model_path, weights_only=True)["state_dict"])
    assert evaluated(fresh).lower == max(module.seen)
