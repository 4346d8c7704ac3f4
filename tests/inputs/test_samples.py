"""Embeddings and labels from any container, the same in Python and in the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from inputs.written import SAVE, refusal, saved

import deadheat as dh
from deadheat.errors import FileError, InputError
from deadheat.inputs.files import natural
from deadheat.inputs.samples import open_labels, open_pair, open_samples

POINTS = np.array([[0.0, 1.0], [1.0, 0.5], [-1.0, 2.0], [5.0, 4.0]])
NUMBERS = np.array([7, 8, 7, 8])
WORDS = np.array(["a", "b", "a", "b"])


# the same from every format


@pytest.mark.parametrize("labels", [NUMBERS, WORDS], ids=["numbers", "words"])
@pytest.mark.parametrize("kind", SAVE)
def test_a_file_holds_both(kind: str, labels: np.ndarray, tmp_path: Path) -> None:
    labels = NUMBERS if kind == "safetensors" else labels  # which has no text
    whole = saved(kind, tmp_path / "whole", POINTS, labels)
    cuts = [slice(1), slice(1, 4)]
    parts = [saved(kind, tmp_path / f"part-{k}", POINTS[cut], labels[cut]) for k, cut in enumerate(cuts)]
    expected, against = dh.Task(POINTS, labels).profile, dh.Task(POINTS, labels, POINTS, labels).profile
    for given in (whole, str(whole), f"{tmp_path}/part-*{SAVE[kind][0]}", parts, list(map(str, parts))):
        samples = open_samples(given)
        np.testing.assert_array_equal(samples.embeddings.read(0, 4), POINTS)
        np.testing.assert_array_equal(samples.labels, labels)
        assert samples.labels.dtype.kind == labels.dtype.kind
        assert dh.Task(given).profile.digest() == expected.digest()
        assert dh.Task(POINTS, given).profile == expected  # as files of labels
        assert dh.Task(given, labels).profile == expected  # as files of embeddings
    assert dh.Task(whole, gallery=parts).profile == against
    assert dh.Task(POINTS, labels, whole, labels).profile == against
    assert dh.evaluate(whole, gallery=whole, measures="mAP")["mAP"].lower == dh.evaluate(against, "mAP")["mAP"].lower


# labels 7 and "7"


def test_labels_in_files_are_text_in_all_as_soon_as_in_one(tmp_path: Path) -> None:
    numbers = saved("npz", tmp_path / "numbers", POINTS, NUMBERS)
    (tmp_path / "labels-1.txt").write_text("7\n8\n")
    (tmp_path / "labels-2.txt").write_text("07\nx\n")
    mixed = tmp_path / "labels-?.txt"
    assert open_labels(mixed, "labels").tolist() == ["7", "8", "07", "x"]
    for given in ((numbers, None, POINTS, mixed), (POINTS, mixed, numbers), (numbers, None, numbers, mixed)):
        query, items = open_pair(*given)[:2]
        assert items is not None
        assert {query.labels.dtype.kind, items.labels.dtype.kind} == {"U"}
    pair = open_pair(numbers, None, POINTS, mixed)
    assert pair.query.labels.tolist() == ["7", "8", "7", "8"]
    one_kind = dh.Task(POINTS, pair.query.labels, POINTS, ["7", "8", "07", "x"]).profile
    assert dh.Task(numbers, None, POINTS, mixed).profile == one_kind
    assert open_pair(numbers, None, numbers).query.labels.dtype.kind == "i"


@pytest.mark.parametrize("side", ["query", "gallery", "both"])
def test_arrays_of_labels_are_compared_as_what_they_are(side: str, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("7\nx\n7\nx\n")
    np.save(tmp_path / "numbers.npy", NUMBERS)
    query = NUMBERS if side in ("query", "both") else tmp_path / "numbers.npy"
    items = ["7", "x", "7", "x"] if side in ("gallery", "both") else tmp_path / "words.txt"
    said = "labels and gallery_labels must be of the same kind, but are integers and text: str() makes text of integers"
    assert refusal(TypeError, dh.Task, POINTS, query, POINTS, items).startswith(said)


def test_labels_that_are_neither_are_refused_also_with_text(tmp_path: Path) -> None:
    np.save(tmp_path / "halves.npy", NUMBERS / 2)
    (tmp_path / "words.txt").write_text("3.5\nx\n4.0\nx\n")
    said = refusal(TypeError, open_pair, POINTS, tmp_path / "halves.npy", POINTS, tmp_path / "words.txt")
    assert said.startswith("labels must be integers or strings, ")
    assert said.endswith(" float64 and holds another number in row 0")


# what is refused


@pytest.mark.parametrize("embeddings", [POINTS, POINTS.tolist(), [POINTS, POINTS], [POINTS, "a.npz"], []])
def test_labels_must_be_given_with_arrays(embeddings: object) -> None:
    assert refusal(TypeError, open_samples, embeddings) == "labels must be given: only files can hold labels too"


def test_a_gallery_without_labels_must_be_files_that_hold_them(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", POINTS)
    said = refusal(FileError, open_pair, POINTS, NUMBERS, tmp_path / "a.npy")
    assert said.endswith("a.npy holds embeddings only: give a file of labels too")


def test_labels_are_counted_against_the_rows_of_all_files(tmp_path: Path) -> None:
    files = [saved("npz", tmp_path / name, POINTS, NUMBERS) for name in "ab"]
    np.savez(files[1], embeddings=POINTS, labels=NUMBERS[:3])
    message = "^gallery_labels must have one entry per row of gallery, but got 7 labels for 8 rows$"
    with pytest.raises(InputError, match=message) as caught:
        open_pair(POINTS, NUMBERS, files)
    assert caught.value.argument == "gallery_labels"
    np.savez(files[1], embeddings=POINTS, labels=np.zeros((2, 2), dtype=int))
    with pytest.raises(
        InputError, match=r"^labels: .*b\.npz must be one-dimensional, but has shape \(2, 2\)$"
    ) as caught:
        open_samples(files)
    assert (caught.value.argument, caught.value.file) == ("labels", str(files[1]))


# the files that a pattern fits come in natural order, and which one that was is said


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
        assert report.profile == dh.Task(shards, labels, distance="euclidean").profile
        files = tuple(str(tmp_path / f"emb-{part}.npy") for part in range(12))
        assert report.files["embeddings"] == files
        assert json.loads(report.to_json())["files"]["embeddings"] == [*files]
        shown = "emb-0.npy, emb-1.npy, emb-2.npy, emb-3.npy, emb-4.npy, ..., emb-11.npy."
        assert f"embeddings: 12 files in this order: {shown}" in str(report).splitlines()
        assert list(report.files) == ["embeddings", "labels"][: 1 + isinstance(given, Path)]


def test_what_somebody_has_ordered_is_not_shown(shards: np.ndarray, tmp_path: Path) -> None:
    paths = [tmp_path / f"emb-{part}.npy" for part in (3, 1)]
    for rows in (paths, shards[:4], tmp_path / "emb-1*0.npy"):
        labels = np.zeros(2 if isinstance(rows, Path) else 4, dtype=int)
        report = dh.evaluate(rows, labels, distance="euclidean")
        assert report.files == {}
        assert "in this order" not in str(report)
