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
import pyarrow.parquet
import pytest
from safetensors.numpy import save_file

from deadheat.errors import DeadheatError

Save = Callable[..., object]  # of a path, rows and labels


def _text(delimiter: str) -> Save:
    def save(path: Path, rows: Any, labels: Any) -> None:
        names = ["label", *(f"x{i}" for i in range(rows.shape[1]))]
        lines = [names, *([label, *row] for label, row in zip(labels.tolist(), rows.tolist(), strict=True))]
        path.write_text("".join(delimiter.join(map(str, line)) + "\n" for line in lines))

    return save


def parquet(path: Path, rows: Any, labels: Any, *, group: int = 23, **options: Any) -> None:
    flat = pa.array(np.ravel(rows))
    lists = pa.ListArray.from_arrays(np.arange(0, len(flat) + 1, rows.shape[1]).astype(np.int32), flat)
    table = pa.table({"id": np.arange(len(rows)).astype("U"), "vector": lists, "label": labels})
    pyarrow.parquet.write_table(table, path, row_group_size=group, **options)


def _parquet_columns(path: Path, rows: Any, labels: Any) -> None:
    pyarrow.parquet.write_table(pa.table({f"x{i}": row for i, row in enumerate(rows.T)} | {"label": labels}), path)


def safetensors(path: Path, rows: Any, labels: Any) -> None:
    arrays = {"embeddings": rows, "labels": labels}
    save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, path)


def hdf5(path: Path, rows: Any, labels: Any, *, block: int = 0, **options: Any) -> None:
    with h5py.File(path, "w", userblock_size=block) as file:
        file.create_dataset("embeddings", data=rows, **options)
        file["labels"] = labels.astype(object) if labels.dtype.kind == "U" else labels
        file["name"] = "a model"


IN_PIECES: dict[str, tuple[str, Save]] = {  # read a piece at a time or mapped, in the type that they have
    "parquet": (".parquet", parquet),
    "safetensors": (".safetensors", safetensors),
    "hdf5": (".h5", hdf5),
    "hdf5, user block": (".h5", lambda *a: hdf5(*a, block=512)),
    "hdf5, chunks": (".hdf5", lambda *a: hdf5(*a, chunks=(7, 4), maxshape=(None, None), compression="gzip")),
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
