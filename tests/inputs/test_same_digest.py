"""One set of samples through every public function: the same digest, as a file, an array or a column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import zarr
from safetensors.numpy import save_file

import deadheat as dh

RNG = np.random.default_rng(0)
ROWS = RNG.integers(-9, 10, (200, 5)).astype(np.float32) / 8  # which bfloat16 and float16 hold, with many ties
LABELS = RNG.integers(0, 9, 200)
FRAME = {"embedding": list(ROWS), "label": LABELS}


def text(path: Path, between: str) -> Path:
    lines = [[label, *row] for label, row in zip(LABELS.tolist(), ROWS.tolist(), strict=True)]
    path.write_text("\n".join(between.join(map(str, line)) for line in [["label", *"vwxyz"], *lines]))
    return path


def npy(path: Path) -> tuple[Path, Path]:
    np.save(path, ROWS)
    np.save(path.with_stem("labels"), LABELS)
    return path, path.with_stem("labels")


def fortran(path: Path) -> tuple[Path, Any]:
    np.save(path, np.asfortranarray(ROWS))
    return path, LABELS


def safetensors(path: Path, kind: Any) -> Path:
    save_file({"embeddings": ROWS.astype(kind), "labels": LABELS}, path)
    return path


def hdf5(path: Path, **options: Any) -> Path:
    with h5py.File(path, "w") as file:
        file.create_dataset("features", data=ROWS, **options)
        file["y"] = LABELS
    return path


def zarred(path: Path) -> Path:
    group = zarr.open_group(path, mode="w")
    group.create_array("embeddings", data=ROWS, chunks=(64, 2))
    group.create_array("labels", data=LABELS)
    return path


def done(write: Callable[..., Any], *arguments: Any, path: Path, **options: Any) -> Path:
    """The path that something was written to."""
    write(*arguments, **options)
    return path


FUNCTIONS: dict[str, Callable[[Path], Any]] = {
    "lists": lambda _: (ROWS.tolist(), LABELS.tolist()),
    "float32": lambda _: (ROWS, LABELS),
    "float64, big end first": lambda _: (ROWS.astype(">f8"), LABELS.astype(">u2")),
    "float16, column after column": lambda _: (np.asfortranarray(ROWS.astype(np.float16)), LABELS),
    "bfloat16": lambda _: (ROWS.astype(ml_dtypes.bfloat16), LABELS),
    "two parts": lambda _: ([ROWS[:71], ROWS[71:].astype(np.float64)], [LABELS[:71], LABELS[71:]]),
    "memory map": lambda folder: (np.load(npy(folder / "a.npy")[0], mmap_mode="r"), LABELS),
    "pandas": lambda _: (pd.DataFrame(FRAME)["embedding"], pd.DataFrame(FRAME)["label"]),
    "pandas columns": lambda _: (pd.DataFrame(ROWS), pd.Series(LABELS)),
    "polars": lambda _: (pl.DataFrame(FRAME)["embedding"], pl.DataFrame(FRAME)["label"]),
    "polars columns": lambda _: (pl.DataFrame(ROWS), pl.Series(LABELS)),
    "pyarrow": lambda _: (pa.table(FRAME)["embedding"], pa.table(FRAME)["label"]),
    ".npz": lambda folder: done(np.savez, folder / "a.npz", x=ROWS, y=LABELS, path=folder / "a.npz"),
    ".npz, compressed": lambda folder: done(
        np.savez_compressed, folder / "a.npz", x=ROWS, y=LABELS, path=folder / "a.npz"
    ),
    ".npy": lambda folder: npy(folder / "a.npy"),
    ".npy, column after column": lambda folder: fortran(folder / "a.npy"),
    ".csv": lambda folder: text(folder / "a.csv", ","),
    ".tsv": lambda folder: text(folder / "a.tsv", "\t"),
    ".parquet": lambda folder: done(
        pyarrow.parquet.write_table, pa.table(FRAME), folder / "a.parquet", path=folder / "a.parquet"
    ),
    ".feather": lambda folder: done(
        pyarrow.feather.write_feather, pa.table(FRAME), str(folder / "a.feather"), path=folder / "a.feather"
    ),
    ".arrow": lambda folder: done(pl.DataFrame(FRAME).write_ipc, folder / "a.arrow", path=folder / "a.arrow"),
    ".arrow stream": lambda folder: done(
        pl.DataFrame(FRAME).write_ipc_stream, folder / "a.arrow", path=folder / "a.arrow"
    ),
    ".safetensors": lambda folder: safetensors(folder / "a.safetensors", np.float32),
    ".safetensors, bfloat16": lambda folder: safetensors(folder / "a.safetensors", ml_dtypes.bfloat16),
    ".h5": lambda folder: hdf5(folder / "a.h5"),
    ".hdf5, compressed": lambda folder: hdf5(folder / "a.hdf5", chunks=(17, 3), compression="gzip", shuffle=True),
    ".zarr": lambda folder: zarred(folder / "a.zarr"),
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_digest_does_not_depend_on_the_function(function: str, tmp_path: Path) -> None:
    given = FUNCTIONS[function](tmp_path)
    given = given if isinstance(given, tuple) else (given,)
    for distance in ("cosine", "euclidean"):
        expected = dh.profile(ROWS, LABELS, distance=distance)
        assert expected.ties.mixed_groups > 10
        assert dh.profile(*given, distance=distance).digest() == expected.digest()
        against = dh.profile(ROWS, LABELS, ROWS, LABELS, distance=distance).digest()
        assert dh.profile(ROWS, LABELS, *given, distance=distance).digest() == against
