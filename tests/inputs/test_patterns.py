"""The files that a pattern fits come in natural order, and which one that was is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from deadheat.inputs.files import natural


@pytest.fixture
def shards(tmp_path: Path) -> np.ndarray:
    """Twelve files of two rows each, which are of one class and far from all others, and of their labels."""
    rows = np.repeat(np.arange(12.0), 2)[:, None] * 10 + np.tile([0.0, 1.0], 12)[:, None]
    for part in range(12):
        np.save(tmp_path / f"emb-{part}.npy", rows[2 * part : 2 * part + 2])
        np.save(tmp_path / f"labels-{part}.npy", [part, part])
    return rows


def test_natural_order() -> None:
    names = ["a", "a-1", "a-2", "a-010", "a-10", "a-10b2", "a-10b10", "b-1", "10/1", "9/2"]
    assert sorted(names, key=natural) == ["9/2", "10/1", "a", "a-1", "a-2", "a-010", "a-10", "a-10b2", "a-10b10", "b-1"]


def test_rows_and_labels_in_the_order_of_their_numbers_belong_together(shards: np.ndarray, tmp_path: Path) -> None:
    labels = np.repeat(np.arange(12), 2)
    for given in (labels, tmp_path / "labels-*.npy"):
        report = dh.evaluate(tmp_path / "emb-*.npy", given, distance="euclidean")
        assert report["mAP"].lower == 1
        assert report.profile == dh.profile(shards, labels, distance="euclidean")


def test_the_order_is_shown(shards: np.ndarray, tmp_path: Path) -> None:
    labels = np.repeat(np.arange(12), 2)
    report = dh.evaluate(tmp_path / "emb-*.npy", labels, distance="euclidean")
    assert list(report.files) == ["embeddings"]
    assert report.files["embeddings"] == tuple(str(tmp_path / f"emb-{part}.npy") for part in range(12))
    shown = (
        "embeddings: 12 files in this order: emb-0.npy, emb-1.npy, emb-2.npy, emb-3.npy, emb-4.npy, ..., emb-11.npy."
    )
    assert shown in str(report).splitlines()
    assert json.loads(report.to_json())["files"] == {"embeddings": list(report.files["embeddings"])}


def test_what_somebody_has_ordered_is_not_shown(shards: np.ndarray, tmp_path: Path) -> None:
    paths = [tmp_path / f"emb-{part}.npy" for part in (3, 1)]
    for rows in (paths, shards[:4], tmp_path / "emb-1*0.npy"):
        labels = np.zeros(2 if isinstance(rows, Path) else 4, dtype=int)
        report = dh.evaluate(rows, labels, distance="euclidean")
        assert report.files == {}
        assert "in this order" not in str(report)
