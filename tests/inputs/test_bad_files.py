"""Files that lie about their size, hide a mistake or hold numbers that float64 does not: one line, and no warning."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs import written
from numpy.testing import assert_array_equal

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs.predictions import read_predictions
from deadheat.inputs.samples import read
from deadheat.support import scratch

ODD = 2**53 + 1  # the first integer that float64 does not hold


def refusal(path: Path, *labels: Path, **options: Any) -> str:
    """What is said of a file after its name."""
    message = written.refusal(FileError, read, path, *labels, **options)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def npy(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    """The beginning of a file in NumPy's format."""
    header = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


@pytest.fixture(params=["npy", "npz"])
def save(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Write the bytes of an array, by itself or in an archive, and return its path and that of labels."""

    def to(content: bytes) -> tuple[Path, Path]:
        (tmp_path / "labels.txt").write_text("a\nb\n")
        path = tmp_path / f"a.{request.param}"
        if request.param == "npy":
            path.write_bytes(content)
        else:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("embeddings.npy", content)
        return path, tmp_path / "labels.txt"

    return to


SHORTER = "cannot be read; truncated or damaged? its shape {} needs "
SHAPES = dict.fromkeys([(2**62 - 1, 8), (2**40, 3), (3, 3)], SHORTER)
SHAPES |= dict.fromkeys([(-1, 3), (2, -3), (0, 2**63), (2**64, 2)], "its shape {} is none that an array can have")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_that_is_not_that_of_the_numbers(save: Any, shape: tuple[int, int], tmp_path: Path) -> None:
    assert SHAPES[shape].format(shape) in refusal(*save(npy(shape) + bytes(48)))
    np.save(tmp_path / "rows.npy", np.ones((2, 2)))
    (tmp_path / "labels.npy").write_bytes(npy(shape, "<i8") + bytes(16))
    said = written.refusal(FileError, read, tmp_path / "rows.npy", tmp_path / "labels.npy")
    assert SHAPES[shape].format(shape) in said.removeprefix(f"{tmp_path / 'labels.npy'} ")


def test_an_archive_that_unpacks_to_more_than_there_is_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, embeddings=np.zeros((1000, 500)), labels=np.arange(1000) % 7)
    assert read(path).embeddings.shape == (1000, 500)  # as long as there is room for it
    monkeypatch.setattr(scratch, "available_memory", lambda: 3_000_000)
    said = refusal(path)
    assert said.startswith(" array 'embeddings' unpacks from ")
    assert said.endswith("more than there is memory (0.0 GB): save it as a .npy file, which stays on disk")
    with zipfile.ZipFile(path) as archive:
        assert max(entry.file_size / entry.compress_size for entry in archive.infolist()) > 100


def test_an_archive_of_what_could_be_data_is_left_to_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(0).integers(0, 3, (300, 200)).astype(np.float64)
    np.savez_compressed(tmp_path / "a.npz", embeddings=rows, labels=np.arange(300) % 7)
    monkeypatch.setattr(scratch, "available_memory", lambda: 1000)
    assert_array_equal(read(tmp_path / "a.npz").embeddings, rows)


def test_nothing_is_unpacked_to_find_an_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = np.array([{}], dtype=object)
    np.savez(tmp_path / "a.npz", rows=np.ones((2, 3)), cube=np.ones((2, 2, 2)), classes=np.array([1, 2]), odd=objects)
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("damaged.npy", b"nonsense")
    loaded: list[str] = []
    whole = np.lib.npyio.NpzFile.__getitem__

    def watched(archive: Any, key: str) -> Any:
        loaded.append(key)
        return whole(archive, key)

    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", watched)
    assert read(tmp_path / "a.npz").labels.tolist() == [1, 2]
    assert loaded == ["rows", "classes"]


def test_too_little_memory_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", embeddings=np.ones((2, 3)), labels=[1, 2])

    def fail(*_: object) -> None:
        raise MemoryError("Unable to allocate 8 GiB")

    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", fail)
    with pytest.raises(MemoryError, match=r"a\.npz array 'embeddings': Unable to allocate 8 GiB"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("cell", [str(ODD), str(-ODD), f"+{ODD}", "9" * 400, "9" * 5000])
def test_an_integer_in_text_is_never_rounded(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"label,x\na,1\nb,{cell}\n")
    assert refusal(path).startswith(f", line 3, column 'x': '{cell[:37]}")
    assert refusal(path).endswith("is an integer too large to be exact in float64")


def test_numbers_in_text_that_are_exact_or_measured_are_taken(tmp_path: Path) -> None:
    cells = [str(2**53), str(2**60), str(-(2**70)), "9007199254740993.0", "1e300", "0.1"]
    (tmp_path / "a.csv").write_text("label,x\n" + "".join(f"a,{cell}\n" for cell in cells))
    assert read(tmp_path / "a.csv").embeddings.ravel().tolist() == [float(cell) for cell in cells]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('label,x\na,1\n"b,2\nc,3\nd,4\n', 3),
        ('label,x\r\na,1\r\n"b,2\r\nc,3\r\n', 3),
        ('label,x\n"two\nlines",1\n"and\n""two","2\nc,3\n', 5),
        ('label,x\n5"b,2\n"c,3', 3),
        ('"label\n', 1),
    ],
)
def test_an_unclosed_quote_is_named_where_it_opens(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    assert refusal(path) == f", line {line}: the quote that opens here is not closed"
    path = tmp_path / "a.tsv"
    path.write_bytes(text.replace(",", "\t").encode())
    assert refusal(path) == f", line {line}: the quote that opens here is not closed"


def test_a_quote_that_swallows_a_large_file_is_named_where_it_opens(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for end in ("", '"\n'):
        path.write_text('label,x\na,1\n"b,' + "2\nc,3\n" * 50_000 + end)
        assert refusal(path).startswith(", line 3: the quote that opens here is not closed")
    path.write_text('label,x\na,1\n"b"c,2\n')
    assert refusal(path) == ", line 3: ',' expected after '\"'"


@pytest.mark.parametrize("column", ["1_0", "٣", True, 1.0, "9" * 5000])
def test_a_column_is_a_name_or_a_plain_number(tmp_path: Path, column: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(",".join(map(str, range(12))) for _ in range(2)))
    assert refusal(path, label_column=column, header=False).startswith(" has no column ")


def test_predictions_of_a_subset_and_a_split(tmp_path: Path) -> None:
    path, splits = tmp_path / "p.json", {"test": {"q": {"a": 0.5}}, "dev": {"q": {"a": 1.0}}}
    path.write_text(json.dumps({"mteb_model_meta": {}, "en": splits}))
    assert read_predictions(path, split="test") == splits["test"]
    said = "split must be one of those in the file, test, dev, but is not given"
    assert written.refusal(InvalidValueError, read_predictions, path) == said
    said = "subset must be one of those in the file, en, but is 'de'"
    assert written.refusal(InvalidValueError, read_predictions, path, subset="de") == said
