"""A file format is one row of a table: what a toy format needs to be read everywhere, and the rows that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs.written import refusal

import deadheat as dh
from deadheat.errors import FileError
from deadheat.inputs.files import EMBEDDINGS, LABELS, Content
from deadheat.inputs.formats.registry import FORMATS, FileFormat
from deadheat.inputs.samples import open_labels, open_rows

POINTS = np.array([[0.0], [1.0], [-1.0], [5.0]])
WORDS = np.array(["a", "a", "b", "b"])


def embeddings(path: Path) -> Content:
    """The toy's embeddings: all words of a line but the first."""
    return np.array([line.split()[1:] for line in path.read_text().splitlines()], dtype=np.float32)


def labels(path: Path) -> np.ndarray:
    return np.array([line.split()[0] for line in path.read_text().splitlines()])


def in_pieces(path: Path) -> Iterator[np.ndarray]:
    for line in path.read_text().splitlines():
        yield np.array([line.split()[1:]], dtype=np.float32)


def toy(rows: Callable[[Path], Content] = embeddings, **row: Any) -> FileFormat:
    """The toy's row of the table, with another reader of the embeddings."""
    readers: dict[str, Any] = {"embeddings": rows, "labels": labels}
    return FileFormat(read=lambda path, layout, parts: [readers[part](path) for part in parts], **row)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the points in one toy file and in two, and the toy format in the table."""
    FORMATS[".toy"] = toy()
    lines = [f"{word} {point[0]}\n" for word, point in zip(WORDS, POINTS, strict=True)]
    for name, part in (("points", lines), ("part-1", lines[:1]), ("part-2", lines[1:])):
        (tmp_path / f"{name}.toy").write_text("".join(part))
    yield tmp_path
    del FORMATS[".toy"]


def test_one_row_is_all_that_a_format_takes(folder: Path) -> None:
    expected = dh.Task(POINTS, WORDS, distance="euclidean").profile
    parts = [folder / "part-1.toy", folder / "part-2.toy"]
    for path in (folder / "points.toy", f"{folder}/part-*.toy", parts):
        read = dh.read(path)  # type: ignore[arg-type]
        np.testing.assert_array_equal(read.embeddings, POINTS)
        assert read.embeddings.dtype == np.float32
        np.testing.assert_array_equal(read.labels, WORDS)
        assert dh.Task(path, distance="euclidean").profile == expected
        assert dh.Task(POINTS, path, distance="euclidean").profile == expected  # as the file of labels
        assert dh.Task(path, WORDS, distance="euclidean").profile == expected
        assert str(dh.evaluate(path)).startswith(str(dh.evaluate(POINTS, WORDS)))  # then the order of files
    against = dh.Task(POINTS, WORDS, POINTS, WORDS).profile
    assert dh.Task(folder / "points.toy", gallery=f"{folder}/part-*.toy").profile == against


def test_pieces_and_maps_stay_on_disk(folder: Path) -> None:
    np.save(folder / "points.npy", POINTS)

    def on_disk(path: Path) -> Content:
        return np.load(folder / "points.npy", mmap_mode="r")

    def a_view(path: Path) -> Content:
        np.save(folder / "more.npy", np.concatenate([POINTS[::-1], POINTS]))
        return np.load(folder / "more.npy", mmap_mode="r")[4:]

    for reader, whole in ((embeddings, True), (in_pieces, False), (on_disk, False), (a_view, True)):
        FORMATS[".toy"] = toy(reader)
        source = open_rows(folder / "points.toy", "gallery")
        assert hasattr(source, "array") == whole
        np.testing.assert_array_equal(source.read(0, 4), POINTS)


def test_pieces_that_do_not_fit_together_are_refused(folder: Path) -> None:
    for second in (np.zeros((1, 2)), np.zeros((1, 1), dtype=np.float32)):
        pieces = [np.zeros((3, 1)), second]
        FORMATS[".toy"] = toy(lambda path, pieces=pieces: iter(pieces))  # type: ignore[misc]
        said = refusal(ValueError, open_rows, folder / "points.toy", "gallery")
        assert said.endswith("must be of one dim and one type throughout, but is not from row 3")


def test_a_format_may_lack_what_its_row_says_that_it_lacks(folder: Path) -> None:
    path = folder / "points.toy"
    FORMATS[".toy"] = toy(holds=(EMBEDDINGS, LABELS))
    assert refusal(FileError, dh.evaluate, path).endswith("points.toy holds embeddings only: give a file of labels too")
    of_labels = partial(open_labels, argument="labels")
    for lacking, held, use in (("embeddings", LABELS, dh.evaluate), ("labels", EMBEDDINGS, of_labels)):
        FORMATS[".toy"] = toy(holds=(held,))
        rule = refusal(ValueError, use, path).partition("points.toy must be a file of ")[2]
        assert rule.startswith(f"{lacking} that ends in one of ")
        assert ".parquet, " in rule
