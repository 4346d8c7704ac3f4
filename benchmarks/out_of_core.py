"""A gallery larger than the memory it may take: written to disk in pieces, evaluated in a fresh process.

What counts is everything that the process has resident at most, the interpreter and mapped pages of files included.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import deadheat as dh
from benchmarks import data, fresh, yardsticks
from benchmarks.cases import Case
from benchmarks.results import Row
from benchmarks.timing import Clock

_SHARDS = 8
_PIECE = 25_000  # rows that are generated at a time


def measure(case: Case, clock: Clock) -> Row:
    """Return what is resident at most, and the time, for a gallery in the form that `case.data` names."""
    fresh.require_linux()
    if case.data == "parquet":
        yardsticks.installed("pyarrow")
    with tempfile.TemporaryDirectory(prefix="deadheat-") as folder:
        clock.tick("writing the gallery")
        write(case, Path(folder))
        clock.tick("evaluating in a fresh process")
        settings = {"folder": folder, "form": case.data, "distance": case.distance, "threads": clock.threads}
        result = fresh.run(["-m", "benchmarks.out_of_core"], settings)
    details = {**result, "gallery_bytes": 4 * case.n * case.dim}
    return Row(case, None, result["peak"] / 1e6, "MB", {"evaluate": [result["seconds"]]}, details)


def write(case: Case, folder: Path) -> None:
    """Generate queries, gallery and labels as files of a folder, a piece at a time."""
    rng = np.random.default_rng(0)
    labels = np.arange(case.n) % (case.n // case.class_size)
    np.save(folder / "gallery_labels", labels)
    np.save(folder / "query_labels", rng.choice(labels, case.n_query))
    np.save(folder / "query", rng.standard_normal((case.n_query or 0, case.dim), dtype=np.float32))
    shards = 1 if case.data in ("one .npy", "memmap") else _SHARDS
    ends = [case.n * (shard + 1) // shards for shard in range(shards)]
    for shard, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        path = folder / f"gallery-{shard}"
        pieces = _pieces(end - begin, case.dim, rng)
        if case.data == "parquet":
            _write_parquet(path.with_suffix(".parquet"), pieces)
        else:
            _write_npy(path.with_suffix(".npy"), (end - begin, case.dim), pieces)


def _pieces(rows: int, dim: int, rng: np.random.Generator) -> Iterator[data.Array]:
    for start in range(0, rows, _PIECE):
        yield rng.standard_normal((min(_PIECE, rows - start), dim), dtype=np.float32)


def _write_npy(path: Path, shape: tuple[int, int], pieces: Iterator[data.Array]) -> None:
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for piece in pieces:
            file.write(piece.data)


def _write_parquet(path: Path, pieces: Iterator[data.Array]) -> None:
    """One column of lists, a row group a piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for piece in pieces:
        column = pa.FixedSizeListArray.from_arrays(pa.array(piece.ravel()), piece.shape[1])
        table = pa.table({"embedding": column})
        if writer is None:
            writer = pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _gallery(folder: Path, form: str) -> Any:
    """Return what is handed to `evaluate` as its gallery."""
    paths = sorted(folder.glob("gallery-*"))
    if form == "memmap":
        return np.load(paths[0], mmap_mode="r")
    return paths[0] if form == "one .npy" else paths


def _evaluate(folder: Path, form: str, distance: str, threads: int) -> dict[str, float]:
    """Evaluate once in this process."""
    query, query_labels, gallery_labels = (
        np.load(folder / f"{name}.npy") for name in ("query", "query_labels", "gallery_labels")
    )
    begin = time.perf_counter()
    report = dh.evaluate(
        query, query_labels, _gallery(folder, form), gallery_labels, distance=distance, threads=threads
    )
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "peak": fresh.resident("VmHWM"), "mAP": report["mAP"].lower}


if __name__ == "__main__":
    given = fresh.settings()
    fresh.say(_evaluate(Path(given["folder"]), given["form"], given["distance"], given["threads"]))
