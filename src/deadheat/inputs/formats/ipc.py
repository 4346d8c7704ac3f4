"""Arrow's own files, as Feather's and those of Hugging Face's datasets are: batch after batch. It needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deadheat.errors import FileError
from deadheat.inputs.formats import columns
from deadheat.support.extras import require

PIECE = 4 << 20  # bytes that are handed on at once, about

_FILE, _OLD = b"ARROW1", b"FEA1"  # what begins otherwise is a stream, or nothing


@contextmanager
def _opened(path: Path) -> Iterator[columns.Columns]:
    """An open file, of which nothing but the schema has been read."""
    pyarrow = require("pyarrow", "arrow", f"{path}: reading Arrow")
    with open(path, "rb") as file:
        start = file.read(len(_FILE))
    if start.startswith(_OLD):
        raise FileError(path, " is in Feather's first format, which is no longer read: write it anew")
    with columns.errors(path, "Arrow"), pyarrow.memory_map(str(path)) as source:
        reader = _reader(source, start)
        schema = reader.schema
    yield columns.Columns(schema, lambda names: _batches(path, schema, names, start))


def _reader(source: Any, start: bytes, **options: Any) -> Any:
    """What reads a file, or a stream in a file."""
    ipc = require("pyarrow.ipc", "arrow", "reading Arrow")
    settings = ipc.IpcReadOptions(**options)
    return (ipc.open_file if start == _FILE else ipc.open_stream)(source, options=settings)


def _batches(path: Path, schema: Any, names: Sequence[str], start: bytes) -> Iterator[Any]:
    """Batches of about `PIECE` bytes each, with columns of these names; of the others nothing is unpacked."""
    wanted = [schema.get_field_index(name) for name in names]
    pyarrow = require("pyarrow", "arrow", f"{path}: reading Arrow")
    with columns.errors(path, "Arrow"), pyarrow.memory_map(str(path)) as source:
        reader = _reader(source, start, included_fields=wanted)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if start == _FILE else iter(reader)
        for batch in batches:
            batch.validate(full=True)  # of lists that end beyond their numbers, before anybody follows them
            step = max(1, PIECE * len(batch) // max(1, batch.nbytes))
            yield from (batch.slice(first, step) for first in range(0, len(batch), step))


READER = columns.Reader(_opened)
