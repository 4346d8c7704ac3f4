"""Vectors in the files of TEXMEX and big-ann-benchmarks: the same rows as in memory, and no claim is believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import FileError
from deadheat.inputs import limits
from deadheat.inputs.formats import keyed, vectors
from deadheat.inputs.ground_truth import read_neighbors
from deadheat.inputs.samples import open_rows

ROWS = np.random.default_rng(0).integers(0, 5, (30, 6))
LABELS = np.arange(30) % 4


def write(path: Path, rows: Any) -> None:
    kind = np.dtype(vectors.TYPES[path.suffix])
    rows = np.asarray(rows).astype(kind)
    if path.suffix.endswith("vecs"):
        dims = np.full((len(rows), 1), rows.shape[1], dtype="<i4").view(np.uint8)
        path.write_bytes(np.hstack([dims, rows.view(np.uint8)]).tobytes())
    else:
        path.write_bytes(np.array(rows.shape, dtype="<u4").tobytes() + rows.tobytes())


@pytest.mark.parametrize("ending", vectors.TYPES)
def test_rows_are_those_in_memory(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed, "PIECE", 100)  # bytes: a few rows
    path = tmp_path / f"a{ending}"
    write(path, ROWS)
    np.testing.assert_array_equal(open_rows(path, "embeddings").whole(), ROWS)
    expected = dh.evaluate(ROWS, LABELS, distance="euclidean")
    assert dh.evaluate(path, LABELS, distance="euclidean").profile == expected.profile
    if ending in (".ivecs", ".fvecs", ".ibin", ".fbin"):
        kind = "ids" if ending[1] == "i" else "distances"
        np.testing.assert_array_equal(getattr(read_neighbors(path), kind), ROWS)


def claims(*numbers: int, kind: str = "<u4") -> bytes:
    return np.array(numbers, dtype=kind).tobytes()


@pytest.mark.parametrize(
    ("ending", "content", "said"),
    [
        (
            ".fbin",
            claims(2**31, 2**31) + bytes(64),
            "must have 18446744073709551624 bytes, for its head says 2147483648 ro",
        ),
        (".u8bin", claims(4, 4) + bytes(15), "must have 24 bytes, for its head says 4 rows of 4 numbers, but has 23"),
        (".i8bin", claims(0, 4), "must have 8 bytes, for its head says 0 rows of 4 numbers, but has 8"),
        (".ibin", b"123", "must have 8 bytes, for it has no head, but has 3"),
        (".fvecs", b"", "must be rows of one dim, but it has no row, and the file has 0 bytes"),
        (".fvecs", claims(-1, kind="<i4"), "its first row says a dim of -1, and the file has 4 bytes"),
        (".fvecs", claims(2**31 - 1) + bytes(64), "its first row says a dim of 2147483647, and the file has 68 bytes"),
        (".ivecs", claims(1, 5, 2, 5), ", row 1: must have the dim of the first, 1, but has 2"),
        (".bvecs", claims(4, 5, 4, 5)[:-1], "its first row says a dim of 4, and the file has 15 bytes"),
    ],
)
def test_claims_are_compared_with_the_file(ending: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(content)
    with pytest.raises(FileError, match=said):
        open_rows(path, "embeddings")
    if ending[1] in "if" and ending[2] != "8":
        with pytest.raises(FileError, match=said):
            read_neighbors(path)


@pytest.mark.parametrize("ending", [".fbin", ".bvecs"])
def test_a_file_that_is_mostly_holes_and_one_with_too_many_columns_are_refused(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = limits.Limits(unpacked=1 << 16, text=1 << 16, ratio=100, columns=64, lines=50, members=9, nesting=4)
    monkeypatch.setattr(limits, "ORDINARY", low)
    path = tmp_path / f"a{ending}"
    write(path, np.zeros((1, 65)))
    with pytest.raises(FileError, match="must have at most 64 columns, but has 65"):
        open_rows(path, "embeddings")
    dim = 4 if ending == ".bvecs" else 1
    n_byte = 1 << 22
    with path.open("wb") as file:
        file.write(claims(dim) if ending == ".bvecs" else claims((n_byte - 8) // 4, dim))
        file.truncate(n_byte)
    with path.open("rb") as file:
        has_holes = limits.bytes_held(file) < n_byte // 200
    if has_holes:
        with pytest.raises(FileError, match="save it uncompressed"):
            open_rows(path, "embeddings")
