"""Every analysis of embeddings takes a file that holds their labels too, and gives what it gives for the arrays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import confidence

POINTS = np.random.default_rng(0).integers(-4, 5, (24, 3)).astype(np.float32)
LABELS = np.arange(24) % 6

ANALYSES: dict[str, Callable[..., Any]] = {
    "grouped": lambda x, y=None: dh.grouped(x, y, group_size=2, distance="euclidean").to_dict(),
    "gap": lambda x, y=None: dh.generalization_gap(x, y, x, y, group_size=2, distance="euclidean").to_dict(),
    "gap, gallery": lambda x, y=None: dh.generalization_gap(
        x, y, x, y, train_gallery=x, train_gallery_labels=y, test_gallery=x, test_gallery_labels=y, group_size=2
    ).to_dict(),
    "halves": lambda x, y=None: dh.split_half(x, y, x, y, group_size=2).to_dict(),
    "collisions, gallery": lambda x, y=None: dh.collisions(x, y, x, y, distance=["cosine", "euclidean"]).to_dict(),
    "quantization": lambda x, y=None: dh.quantization.compare_formats(x, y, x, y, formats=["int8", "1 bit"]).to_dict(),
    "label_entropy": lambda x, y=None: confidence.label_entropy(x, y, 3, distance="euclidean").tolist(),
    "norms": lambda x, y=None: confidence.norms(x).tolist(),
}


@pytest.mark.parametrize("name", ANALYSES)
def test_labels_may_be_in_the_file_of_the_embeddings(name: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "samples.npz", embeddings=POINTS, labels=LABELS)
    assert ANALYSES[name](tmp_path / "samples.npz") == ANALYSES[name](POINTS, LABELS)


@pytest.mark.parametrize("name", [name for name in ANALYSES if name != "norms"])
def test_an_array_needs_labels(name: str) -> None:
    with pytest.raises((TypeError, ValueError), match="labels must be given"):
        ANALYSES[name](POINTS)
