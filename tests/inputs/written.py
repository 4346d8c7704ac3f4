"""Files of every kind that hold embeddings and labels: `saved` writes one, `SAVE` has its ending and its writer.

`refusal` is the one line with which a call is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import zarr
from safetensors.numpy import save_file

from deadheat.errors import DeadheatError

Save = Callable[..., object]  # of a path, rows and labels


def _text(delimiter: str) -> Save:
    def save(path: Path, rows: Any, labels: Any) -> None:
        names = ["label", *(f"x{i}" for i in range(rows.shape[1]))]
        lines = [names, *([label, *row] for label, row in zip(labels.tolist(), rows.tolist(), strict=True))]
        path.write_text("".join(delimiter.join(map(str, line)) + "\n" for line in lines))

    return save


def _table(rows: Any, labels: Any, fixed: bool = False) -> pa.Table:
    flat = pa.array(np.ravel(rows))
    offsets = np.arange(0, len(flat) + 1, rows.shape[1]).astype(np.int32)
    lists = pa.FixedSizeListArray.from_arrays(flat, rows.shape[1]) if fixed else pa.ListArray.from_arrays(offsets, flat)
    return pa.table({"id": np.arange(len(rows)).astype("U"), "vector": lists, "label": labels})


def _parquet(path: Path, rows: Any, labels: Any, **options: Any) -> None:
    pyarrow.parquet.write_table(_table(rows, labels), path, row_group_size=23, **options)


def _parquet_columns(path: Path, rows: Any, labels: Any) -> None:
    pyarrow.parquet.write_table(pa.table({f"x{i}": row for i, row in enumerate(rows.T)} | {"label": labels}), path)


def arrow(path: Path, rows: Any, labels: Any, *, batch: int = 20, **options: Any) -> None:
    table = _table(rows, labels)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema, **options) as writer:
        writer.write_table(table, batch)


def _stream(path: Path, rows: Any, labels: Any) -> None:
    table = _table(rows, labels, fixed=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, 13)


def _feather(path: Path, rows: Any, labels: Any, **options: Any) -> None:
    pyarrow.feather.write_feather(_table(rows, labels, fixed=True), str(path), **options)


def safetensors(path: Path, rows: Any, labels: Any) -> None:
    arrays = {"embeddings": rows, "labels": labels}
    save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, path)


def hdf5(path: Path, rows: Any, labels: Any, *, block: int = 0, **options: Any) -> None:
    with h5py.File(path, "w", userblock_size=block) as file:
        file.create_dataset("embeddings", data=rows, **options)
        file["labels"] = labels.astype(object) if labels.dtype.kind == "U" else labels
        file["name"] = "a model"


def zarred(path: Path, rows: Any, labels: Any, **options: Any) -> None:
    group = zarr.open_group(path, mode="w", zarr_format=options.pop("zarr_format", 3))
    group.create_array("embeddings", data=rows, **({"chunks": (7, 4)} | options))
    group.create_array("labels", data=labels.astype(np.dtypes.StringDType()) if labels.dtype.kind == "U" else labels)


IN_PIECES: dict[str, tuple[str, Save]] = {  # read a piece at a time or mapped, in the type that they have
    "parquet": (".parquet", _parquet),
    "arrow": (".arrow", arrow),
    "arrow, compressed": (".arrow", lambda *a: arrow(*a, options=pa.ipc.IpcWriteOptions(compression="zstd"))),
    "arrow stream": (".arrow", _stream),
    "feather": (".feather", _feather),
    "feather, plain": (".feather", lambda *a: _feather(*a, compression="uncompressed")),
    "safetensors": (".safetensors", safetensors),
    "hdf5": (".h5", hdf5),
    "hdf5, user block": (".h5", lambda *a: hdf5(*a, block=512)),
    "hdf5, chunks": (".hdf5", lambda *a: hdf5(*a, chunks=(7, 4), maxshape=(None, None), compression="gzip")),
    "zarr": (".zarr", zarred),
    "zarr 2": (".zarr", lambda *a: zarred(*a, zarr_format=2)),
    "zarr, shards": (".zarr", lambda *a: zarred(*a, chunks=(3, 6), shards=(6, 6))),
}
OTHERS: dict[str, tuple[str, Save]] = {
    "npz": (".npz", lambda path, rows, labels: np.savez(path, embeddings=rows, labels=labels)),
    "npz, compressed": (".npz", lambda path, rows, labels: np.savez_compressed(path, embeddings=rows, labels=labels)),
    "csv": (".csv", _text(",")),
    "tsv": (".tsv", _text("\t")),
    "parquet, columns": (".parquet", _parquet_columns),
}
SAVE = IN_PIECES | OTHERS


def saved(kind: str, stem: Path, rows: Any, labels: Any) -> Path:
    """The path of a file of this kind."""
    ending, save = SAVE[kind]
    path = stem.with_name(stem.name + ending)
    save(path, rows, labels)
    return path


def refusal(kind: Any, function: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The message, one line of our own, with which a call is refused."""
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert isinstance(caught.value, DeadheatError)
    assert message.strip()
    assert "\n" not in message
    return message
