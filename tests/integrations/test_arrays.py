"""Tensors of PyTorch and columns of Hugging Face's datasets: the same digest as their numbers in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh
from deadheat.errors import InputError

RNG = np.random.default_rng(0)
ROWS = RNG.integers(-9, 10, (80, 5)).astype(np.float32) / 8
LABELS = RNG.integers(0, 9, 80)
WORDS = np.array(list("abcdefghi"))[LABELS].tolist()
DIGEST = dh.Task(ROWS, LABELS).profile.digest()


def refusal(*arguments: Any) -> str:
    with pytest.raises(InputError) as caught:
        dh.Task(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@needs("torch")
@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "bfloat16"])
def test_tensors_of_every_float(kind: str) -> None:
    import torch

    rows, labels = torch.tensor(ROWS).to(getattr(torch, kind)), torch.tensor(LABELS)
    forms = [
        rows, rows.clone().requires_grad_(), (rows.clone().requires_grad_() * 1), rows.T.contiguous().T, rows[:, :],
        rows.repeat_interleave(2, dim=0)[::2], [rows[:33], rows[33:]], list(rows), tuple(rows),
        torch.nn.Parameter(rows.clone()),
    ]  # fmt: skip
    for form in forms:
        assert dh.Task(form, labels).profile.digest() == DIGEST
    assert dh.Task([rows[:33], rows[33:]], [labels[:33], labels[33:]]).profile.digest() == DIGEST
    with torch.inference_mode():
        assert dh.Task(rows * 1, labels.to(torch.int32)).profile.digest() == DIGEST
    assert dh.evaluate(rows, labels, rows, labels).profile == dh.Task(ROWS, LABELS, ROWS, LABELS).profile


@needs("torch")
def test_every_bfloat16_is_the_float32_of_the_same_number() -> None:
    import torch

    from deadheat.inputs.conversion import plain

    patterns = np.arange(-(2**15), 2**15).astype(np.int16)
    tensor = torch.from_numpy(patterns).view(torch.bfloat16)
    by_hand = (patterns.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    kept = np.isfinite(by_hand)
    assert np.array_equal(plain(tensor, "x")[kept].view(np.uint32), by_hand[kept].view(np.uint32))


@needs("torch")
def test_tensors_of_integers_and_bits() -> None:
    import torch

    for kind in (torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.int64):
        codes = torch.tensor(np.abs(ROWS * 8).astype(np.int64)).to(kind)
        assert dh.Task(codes, LABELS).profile == dh.Task(codes.to(torch.int64).numpy(), LABELS).profile
    for codes in (torch.tensor(ROWS > 0), torch.tensor(np.packbits(ROWS > 0, axis=1))):
        expected = dh.Task(codes.numpy(), LABELS, distance="hamming").profile
        assert dh.Task(codes, LABELS, distance="hamming").profile == expected
    assert dh.Task(ROWS, torch.tensor(LABELS > 4)).profile == dh.Task(ROWS, LABELS > 4).profile


@needs("torch")
def test_tensors_that_are_refused() -> None:
    import torch

    rows = torch.tensor(ROWS).bfloat16()
    bad = rows.clone()
    bad[7, 3] = float("inf")
    assert refusal(bad, LABELS) == "embeddings must be finite, but holds inf in row 7, column 3"
    assert refusal(rows, rows[:, 0]).startswith("labels must be integers or strings, but has dtype float32")
    assert refusal(rows.to(torch.complex64), LABELS).startswith("embeddings must hold real numbers")
    assert refusal(rows[0], LABELS).startswith("embeddings must be two-dimensional")
    assert "row 1 has 4 entries and row 0 has 5" in refusal([rows[0], rows[1, :4]], [0, 0])


@needs("torch")
def test_bfloat16_by_dlpack_alone_is_refused() -> None:
    import torch

    class Exported:
        def __dlpack__(self, **options: Any) -> Any:
            return torch.tensor(ROWS).bfloat16().__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    assert refusal(Exported(), LABELS).startswith("embeddings must be an array that NumPy can take, but DLPack says")


@needs("torch", "safetensors")
def test_safetensors_as_pytorch_writes_them(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    for kind in (torch.float32, torch.float16, torch.bfloat16):
        save_file(
            {"embeddings": torch.tensor(ROWS).to(kind), "labels": torch.tensor(LABELS)}, tmp_path / "a.safetensors"
        )
        assert dh.Task(tmp_path / "a.safetensors").profile.digest() == DIGEST


@needs("datasets")
@pytest.mark.parametrize("kind", ["lists", "fixed", "array"])
@pytest.mark.parametrize("form", [None, "numpy", "arrow", "pandas", "polars", "torch"])
def test_columns_of_datasets(kind: str, form: str | None) -> None:
    from datasets import Array2D, ClassLabel, Dataset, Features, List, Value

    if form is not None:
        pytest.importorskip({"arrow": "pyarrow"}.get(form, form))
    feature = {"lists": List(Value("float32")), "fixed": List(Value("float32"), length=5), "array": Value("float64")}
    columns = {"e": ROWS.tolist(), "y": LABELS, "words": WORDS, "c": LABELS}
    features = {"e": feature[kind], "y": Value("int64"), "words": Value("string"), "c": ClassLabel(num_classes=9)}
    if kind == "array":
        columns["e"], features["e"] = ROWS[:, None].tolist(), Array2D((1, 5), "float32")
        dataset = Dataset.from_dict(columns, features=Features(features))
        assert refusal(dataset["e"], LABELS).startswith("embeddings must ")  # a matrix in each row
        return
    dataset = Dataset.from_dict(columns, features=Features(features)).with_format(form)
    assert dh.Task(dataset["e"], dataset["y"]).profile.digest() == DIGEST
    assert dh.Task(dataset["e"], dataset["c"]).profile.digest() == DIGEST
    assert dh.Task(ROWS, dataset["words"]).profile == dh.Task(ROWS, WORDS).profile
    order = RNG.permutation(80)
    shuffled = dataset.select(order)
    assert dh.Task(shuffled["e"], shuffled["y"]).profile == dh.Task(ROWS[order], LABELS[order]).profile


@needs("datasets")
def test_datasets_with_a_transform_give_what_it_makes() -> None:
    from datasets import Dataset

    dataset = Dataset.from_dict({"e": ROWS.tolist()}).with_transform(
        lambda batch: {"e": [[-x for x in row] for row in batch["e"]]}
    )
    assert dh.Task(dataset["e"], LABELS, ROWS, LABELS).profile == dh.Task(-ROWS, LABELS, ROWS, LABELS).profile


@needs("datasets")
def test_what_is_missing_from_a_dataset() -> None:
    from datasets import Dataset

    dataset = Dataset.from_dict({"e": [[1.0, 2.0], None, [3.0, 4.0]], "y": [0, 0, None]})
    assert refusal(dataset["e"], [0, 0, 1]) == "embeddings must have no missing values, but row 1 has one"
    assert refusal(ROWS[:3], dataset["y"]) == "labels must have no missing values, but row 2 has one"
